"""An S3 server on a free port of this machine, for as long as its standard input is open.

It has a bucket `team`, one user who may do everything, and one who may only add objects. The first
line that it prints says where it is and who they are, as JSON.
"""

import json
import os
import sys

os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = "6"

import boto3  # noqa: E402
from moto.iam.access_control import IAMRequestBase  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

ONLY_ADD = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::team/*"}]}
EVERYTHING = {"Version": "2012-10-17", "Statement": [
    {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}


# moto works out another signature than boto3 where a path or a parameter is escaped. Keys and rights are
# checked.
IAMRequestBase.check_signature = lambda self: None


def main():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = "http://{}:{}".format(host, port)
    shared = {"endpoint_url": endpoint, "region_name": "us-east-1",
              "aws_access_key_id": "none", "aws_secret_access_key": "none"}
    iam = boto3.client("iam", **shared)
    told = {"endpoint": endpoint}
    for name, policy in [("reader", EVERYTHING), ("writer", ONLY_ADD)]:
        iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName=name, PolicyDocument=json.dumps(policy))
        key = iam.create_access_key(UserName=name)["AccessKey"]
        told[name] = [key["AccessKeyId"], key["SecretAccessKey"]]
    # From here on every request is checked.
    reader = {**shared, "aws_access_key_id": told["reader"][0], "aws_secret_access_key": told["reader"][1]}
    boto3.client("s3", **reader).create_bucket(Bucket="team")
    print(json.dumps(told), flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
