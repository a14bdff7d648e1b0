//! Who must not be answered, is not.

use flakeproof_web::{Error, Limits, Server, Settings, Token};

use crate::overview::overview;
use crate::scene::Scene;

const TOKEN: &str = "a-token-nobody-knows";

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
