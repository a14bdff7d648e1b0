//! Who must not be answered, is not, and requests that try to get at something else do not.

use std::time::Duration;

use flakeproof_web::{Error, Limits, Server, Settings, Token};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::overview::overview;
use crate::scene::Scene;

const TOKEN: &str = "a-token-nobody-knows";

/// Ways out of a folder, if there were one.
const WAYS_OUT: [&str; 14] = [
    "/../../../../etc/passwd",
    "/..%2f..%2f..%2fetc%2fpasswd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/%252e%252e/etc/passwd",
    "//etc/passwd",
    "/./etc/passwd",
    "/etc/passwd%00.html",
    "/%00",
    "/..\\..\\windows\\win.ini",
    "/c:/windows/win.ini",
    "/api/v1/../../../etc/passwd",
    "/api/openapi.json/../../../Cargo.toml",
    "/file:///etc/passwd",
    "/.flakeproof/history.db",
];

fn guarded() -> Scene {
    Scene::with(overview(0), Some(Token::parse(TOKEN).unwrap()), Limits::default())
}

#[test]
fn a_strangers_name_is_not_answered() {
    let scene = Scene::open(overview(0));
    for host in ["evil.example", "localhost.evil.example:80", "192.168.0.1", ""] {
        let answer = scene.ask("GET", "/", &[("host", host)]);
        assert_eq!(answer.status, 421, "{host}");
        assert!(!answer.text().contains("shop"), "{host}");
    }
    assert_eq!(scene.ask("GET", "/", &[("host", "localhost")]).status, 200);
    assert_eq!(scene.ask("GET", "http://evil.example/", &[]).status, 421);
    assert_eq!(scene.send(b"GET / HTTP/1.0\r\n\r\n").unwrap().status, 400);
}

#[test]
fn nothing_but_reading_is_allowed() {
    let scene = Scene::open(overview(0));
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get"] {
        for path in ["/", "/api/v1/tests", "/nothing"] {
            let answer = scene.ask(method, path, &[]);
            assert_eq!((answer.status, answer.header("allow")), (405, "GET, HEAD"), "{method}");
        }
    }
}

#[test]
fn without_the_token_nothing_is_told() {
    let scene = guarded();
    for path in ["/", "/api", "/api/openapi.json", "/api/v1/overview", "/health", "/nothing"] {
        let answer = scene.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"flakeproof\"");
    }
    for wrong in ["Bearer", "Bearer ", "Bearer a-token-nobody-know", "Basic a-token-nobody-knows"] {
        assert_eq!(scene.ask("GET", "/", &[("authorization", wrong)]).status, 401, "{wrong}");
    }
    assert_eq!(scene.get("/?token=wrong").status, 401);
}

#[test]
fn the_token_opens_as_a_header_and_once_in_the_address() {
    let scene = guarded();
    let bearer = format!("Bearer {TOKEN}");
    assert_eq!(scene.ask("GET", "/", &[("authorization", &bearer)]).status, 200);
    let given = scene.get(&format!("/?token={TOKEN}"));
    assert_eq!((given.status, given.header("location")), (303, "/"));
    let cookie = given.header("set-cookie").split(';').next().unwrap().to_owned();
    assert_eq!(scene.ask("GET", "/", &[("cookie", &cookie)]).status, 200);
}

#[test]
fn nothing_is_served_to_others_without_a_token() {
    let address = "0.0.0.0:0".parse().unwrap();
    let settings = Settings { address, ..Settings::default() };
    assert!(matches!(Server::bind(settings.clone()), Err(Error::Exposed { .. })));
    let token = Some(Token::make().unwrap());
    assert!(Server::bind(Settings { token, ..settings }).is_ok());
}

#[test]
fn an_address_that_is_taken_is_said() {
    let scene = Scene::open(overview(0));
    let settings = Settings { address: scene.address, ..Settings::default() };
    assert!(matches!(Server::bind(settings), Err(Error::Listen { .. })));
}

#[test]
fn no_path_is_a_file() {
    let scene = Scene::open(overview(0));
    for path in WAYS_OUT {
        let answer = scene.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("root:"), "{path}");
    }
    for way in WAYS_OUT {
        let id = way.trim_start_matches('/');
        let answer = scene.get(&format!("/api/v1/tests/{id}"));
        // One of the ids in the history is such a path, and what is told of it is its history.
        let is_test = answer.status == 200 && answer.text().contains("\"timeline\"");
        assert!(answer.status == 404 || is_test, "{way}: {}", answer.status);
        assert!(!answer.text().contains("root:"), "{way}");
    }
}

#[test]
fn a_request_that_is_none_is_refused_and_the_next_is_answered() {
    let limits = Limits { head_time: Duration::from_secs(3), ..Limits::default() };
    let scene = Scene::with(overview(0), None, limits);
    let requests: [&[u8]; 8] = [
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: local\0host\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    ];
    for request in requests {
        let mut closing = request.to_vec();
        closing.extend(b"\r\n\r\n");
        let status = scene.send(&closing).map(|answer| answer.status);
        assert!(status.is_none_or(|status| (400..500).contains(&status)), "{request:?} {status:?}");
    }
    assert_eq!(scene.get("/health").status, 200);
}

#[test]
fn whatever_is_asked_the_server_goes_on_and_blames_the_client() {
    let scene = Scene::open(overview(0));
    let part = prop_oneof![
        Just("/api/v1/tests".to_owned()),
        Just("/..".to_owned()),
        Just("?sort=cost&limit=".to_owned()),
        "%[0-9a-f]{2}",
        "[!-~]{0,12}",
    ];
    let path = prop::collection::vec(part, 0..6).prop_map(|parts| format!("/{}", parts.concat()));
    let mut runner = TestRunner::new(ProptestConfig { cases: 200, ..ProptestConfig::default() });
    let ran = runner.run(&path, |path| {
        let answer = scene.get(&path);
        prop_assert!(answer.status < 500, "{} {:?}", path, answer);
        prop_assert_eq!(answer.header("set-cookie"), "");
        Ok(())
    });
    ran.unwrap();
}
