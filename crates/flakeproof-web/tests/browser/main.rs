//! The server's pages in a real browser: what people do works, and nothing is asked of anybody else.
//!
//! Where there is no Chromium or no Node, the tests are skipped by name.

#![expect(
    clippy::unwrap_used,
    reason = "what a test needs besides its claim fails it by panicking"
)]

#[path = "../server/overview.rs"]
mod overview;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use flakeproof_core::Overview;
use flakeproof_testkit::{node, skipped};
use flakeproof_web::{
    Error, Limits, Server, Settings, Source, SourceError, Stamp, Stopper, Token, shutdown,
};

const TOKEN: &str = "a-token-nobody-knows";

#[test]
fn the_page_sorts_filters_opens_a_test_and_changes_its_theme() {
    check("page", None);
}

#[test]
fn what_to_fix_first_has_the_rate_that_the_interface_answers() {
    check("first", None);
}

#[test]
fn a_link_to_a_test_opens_it() {
    check("link", None);
}

#[test]
fn the_page_of_the_api_is_whole_in_itself() {
    check("api", None);
}

#[test]
fn a_browser_that_was_given_the_token_goes_on_without_it() {
    check("token", Some(TOKEN));
}

/// An overview that stays as it is.
struct Still(Overview);

impl Source for Still {
    fn stamp(&self) -> Result<Stamp, SourceError> {
        Ok(Stamp(String::new()))
    }

    fn overview(&self) -> Result<Overview, SourceError> {
        Ok(self.0.clone())
    }
}

/// A server that runs as long as this lives.
struct Serving {
    address: SocketAddr,
    stopper: Stopper,
    server: Option<JoinHandle<Result<(), Error>>>,
}

impl Serving {
    fn start(token: Option<&str>) -> Self {
        let token = token.map(|token| Token::parse(token).unwrap());
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let settings = Settings { address, token, limits: Limits::default() };
        let server = Server::bind(settings).unwrap();
        let address = server.address();
        let (stopper, shutdown) = shutdown();
        let source = Still(overview::overview(200));
        let server = Some(std::thread::spawn(move || server.serve(source, shutdown)));
        Self { address, stopper, server }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(server) = self.server.take() {
            let _ = server.join();
        }
    }
}

/// Serve, and look at it in the browser; skip by name where there is none.
fn check(scenario: &str, token: Option<&str>) {
    let (modules, chromium) = match tools() {
        Ok(tools) => tools,
        Err(why) => return skipped::note(&format!("the server in a browser: {scenario}"), &why),
    };
    let serving = Serving::start(token);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/check.mjs");
    let output = Command::new("node")
        .arg(script)
        .args([scenario, &format!("http://{}", serving.address), overview::FLAKY, TOKEN])
        .args([modules, chromium])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn tools() -> Result<(PathBuf, PathBuf), String> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let chromium = names.into_iter().find_map(on_path).ok_or("there is no Chromium")?;
    on_path("node").ok_or("there is no Node")?;
    // The same as the report's own tests use, so that it is installed once.
    let modules = node::modules(&["playwright-core@1.65.0", "axe-core@4.14.0"])?;
    Ok((modules, chromium))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
