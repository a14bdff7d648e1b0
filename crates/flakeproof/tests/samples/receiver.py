"""A webhook's receiver: verifies signatures with nothing but the standard library, and says what it was told.

Its arguments are the statuses that it answers with, one for each request; the first line that it
prints is its address, each further one a request as JSON. It ends after as many requests.
"""

import base64
import hashlib
import hmac
import http.server
import json
import sys

SECRET = b"a secret that only two know"


def is_signed(headers, body):
    signed = "{}.{}.".format(headers["webhook-id"], headers["webhook-timestamp"]).encode() + body
    wanted = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(one, "v1," + wanted) for one in given)


class Receiver(http.server.BaseHTTPRequestHandler):
    statuses = [int(status) for status in sys.argv[1:]]

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        told = {"path": self.path, "signed": is_signed(self.headers, body), "id": self.headers["webhook-id"],
                "type": self.headers["content-type"], "body": json.loads(body)}
        self.send_response(self.statuses.pop(0))
        self.send_header("location", "http://127.0.0.1:1/elsewhere")
        self.send_header("content-length", "0")
        self.end_headers()
        print(json.dumps(told), flush=True)

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print("http://127.0.0.1:{}/told".format(server.server_port), flush=True)
while Receiver.statuses:
    server.handle_request()
