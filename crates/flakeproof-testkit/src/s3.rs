//! A real S3 server for tests, on a port of its own, with a bucket `team`.
//!
//! It ends with its standard input, and so with this process, however that ends.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::{python, skipped};

const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/s3_server.py");

/// A server that is running.
#[derive(Debug)]
pub struct Server {
    process: Child,
    told: Value,
}

impl Server {
    /// Start one; `None` where its packages cannot be had, which is noted for the test that asks.
    ///
    /// # Panics
    /// When it does not say where it is.
    #[must_use]
    pub fn start(test: &str) -> Option<Self> {
        let packages = ["moto[server,s3,iam]==5.1.14", "boto3"];
        let python = match python::with("python3", &packages) {
            Ok(python) => python,
            Err(why) => {
                skipped::note(test, &why);
                return None;
            }
        };
        let mut command = Command::new(python);
        command.arg(SERVER).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("it starts");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("it says where it is");
        let told = serde_json::from_str(&line).expect("JSON");
        Some(Self { process, told })
    }

    /// The variables by which a client finds the server as this user: `reader` may do everything,
    /// `writer` may only add.
    #[must_use]
    pub fn variables(&self, user: &str) -> [(&'static str, String); 4] {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        [
            ("AWS_ENDPOINT_URL", text(&self.told["endpoint"])),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", text(&self.told[user][0])),
            ("AWS_SECRET_ACCESS_KEY", text(&self.told[user][1])),
        ]
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
