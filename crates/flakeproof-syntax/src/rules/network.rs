//! The network: ports that somebody else may hold, and machines that may not answer.

use super::rule::{Finding, Rule};
use super::scene::{Part, Scene};
use super::value::{
    arguments_of, bare, follows_word, is_any, name_of, number, path, quoted, start_of,
};
use crate::Language;
use crate::flow::{Expression, Operation, Unit};

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    fixed_port(scene, found);
    remote_host(scene, found);
}

fn fixed_port(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for (_, step, call, _) in scene.calls() {
        if step.part == Part::After || step.in_raises {
            continue;
        }
        let path = path(step.file, call);
        let lower = path.to_ascii_lowercase();
        if lower.contains("mock") || lower.contains("fake") || lower.contains("stub") {
            continue;
        }
        if let Some(port) = listened_port(step.file, call, &path) {
            found.push(Finding {
                line: call.span().line,
                rule: Rule::FixedPort,
                message: format!("port {port} may be taken"),
            });
            return;
        }
    }
}

/// The port a call listens on, where it is written there and is not 0.
fn listened_port(file: &Unit, call: &Expression, path: &str) -> Option<u32> {
    let name = name_of(file, call);
    let arguments = arguments_of(call);
    let listens = match file.language {
        Language::Python => {
            is_any(
                path,
                &[
                    "bind",
                    "HTTPServer",
                    "TCPServer",
                    "UDPServer",
                    "ThreadingHTTPServer",
                    "start_server",
                    "create_server",
                    "make_server",
                    "ThreadingTCPServer",
                ],
            ) || (name == "listen" && arguments.len() <= 2)
                || is_any(path, &["app.run", "uvicorn.run", "web.run_app"])
        }
        Language::Java | Language::Kotlin => {
            matches!(name, "ServerSocket" | "WireMockServer" | "DatagramSocket")
                || (name == "bind" && !path.starts_with("bind"))
                || (name == "create" && is_any(path, &["HttpServer.create", "HttpsServer.create"]))
                || (name == "start" && path.contains("MockWebServer"))
                || name == "addHttpListener"
        }
        Language::JavaScript | Language::TypeScript => name == "listen",
        Language::Go => is_any(
            path,
            &["net.Listen", "http.ListenAndServe", "net.ListenPacket", "net.ListenTCP"],
        ),
        Language::Rust => is_any(
            path,
            &["TcpListener.bind", "UdpSocket.bind", "Server.bind", "std.net.TcpListener.bind"],
        ),
        Language::CSharp | Language::Ruby => false,
    };
    if !listens {
        return None;
    }
    arguments.iter().find_map(|it| port_in(file, it, 0))
}

fn port_in(file: &Unit, expression: &Expression, depth: u32) -> Option<u32> {
    let expression = bare(expression);
    if let Some(port) = number(file, expression) {
        let is_port = port.fract() == 0.0 && (1024.0..65536.0).contains(&port);
        // `listen(server, backlog=1024)`.
        let is_named = follows_word(file, start_of(expression), "backlog=");
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is a port"
        )]
        return (is_port && !is_named).then_some(port as u32);
    }
    if let Some(text) = quoted(file, expression) {
        // In Python, what is bound by a text is no socket.
        if file.language == Language::Python {
            return None;
        }
        let (host, port) = text.rsplit_once(':')?;
        if host.contains(':') && !host.starts_with('[') {
            return None;
        }
        let port: u32 = port.parse().ok().filter(|port| (1..65536).contains(port))?;
        return (!host.contains('/')).then_some(port);
    }
    match expression {
        Expression::Combine { operation: Operation::Gather, operands, .. } if depth < 3 => {
            operands.iter().find_map(|it| port_in(file, it, depth + 1))
        }
        Expression::Call { arguments, .. } if depth < 3 => {
            let name = name_of(file, expression);
            matches!(name, "InetSocketAddress" | "from" | "new")
                .then(|| arguments.iter().find_map(|it| port_in(file, it, depth + 1)))
                .flatten()
        }
        _ => None,
    }
}

/// Words of files whose requests are answered by the test itself.
const REPLACED: &[&str] = &[
    "responses",
    "requests_mock",
    "httpretty",
    "respx",
    "vcr",
    "betamax",
    "nock",
    "msw",
    "fetchMock",
    "fetch-mock",
    "MockAgent",
    "setGlobalDispatcher",
    "global.fetch",
    "globalThis.fetch",
    "Mock",
    "mock",
    "monkeypatch",
    "patch(",
    "pook",
    "httptest",
    "RoundTripper",
    "Transport",
    "stub",
    "intercept",
    "Fake",
    "fake",
    "httpbin",
    "respond_with",
    "recorder",
    "pytest_httpx",
    "pytest_httpserver",
];

fn remote_host(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for (_, step, call, _) in scene.calls() {
        if step.part == Part::After || step.in_raises {
            continue;
        }
        let path = path(step.file, call);
        if !asks(step.file, call, &path) {
            continue;
        }
        let host = arguments_of(call).iter().take(2).find_map(|it| host_in(step.file, it));
        if let Some(host) = host {
            if REPLACED.iter().any(|word| scene.file_says(word)) {
                return;
            }
            found.push(Finding {
                line: call.span().line,
                rule: Rule::RemoteHost,
                message: format!("`{host}` is not this machine, and may not answer"),
            });
            return;
        }
    }
}

/// Whether a call speaks with the machine it names.
fn asks(file: &Unit, call: &Expression, path: &str) -> bool {
    let name = name_of(file, call);
    match file.language {
        Language::Python => is_any(
            path,
            &[
                "requests.get",
                "requests.post",
                "requests.head",
                "requests.put",
                "urllib.request.urlopen",
                "urlopen",
                "httpx.get",
                "httpx.post",
                "socket.create_connection",
                "socket.gethostbyname",
                "socket.getaddrinfo",
                "urllib.request.urlretrieve",
            ],
        ),
        Language::Java | Language::Kotlin => {
            is_any(path, &["InetAddress.getByName", "InetAddress.getAllByName", "Jsoup.connect"])
                || (name == "Socket" && arguments_of(call).len() == 2)
        }
        Language::JavaScript | Language::TypeScript => {
            path == "fetch"
                || is_any(path, &["axios.get", "axios.post", "https.get", "http.get", "got"])
        }
        Language::Go => is_any(
            path,
            &[
                "net.http.Get",
                "net.http.Post",
                "net.http.Head",
                "net.Dial",
                "net.LookupHost",
                "net.LookupIP",
                "http.Get",
            ],
        ),
        Language::Rust => {
            is_any(path, &["reqwest.get", "reqwest.blocking.get", "TcpStream.connect", "ureq.get"])
        }
        Language::CSharp | Language::Ruby => false,
    }
}

/// The host outside of this machine that a text names.
fn host_in<'p>(file: &'p Unit, expression: &Expression) -> Option<&'p str> {
    let expression = bare(expression);
    if let Expression::Combine { operation: Operation::Gather, operands, .. } = expression {
        return operands.first().and_then(|it| host_in(file, it));
    }
    let text = quoted(file, expression)?;
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let host = rest.split(['/', ':', '?', '#']).next()?;
    let is_name = host.contains('.') && !host.contains([' ', '{', '%', '$', '<']);
    let is_here = [
        "localhost",
        "127.",
        "0.0.0.0",
        "10.",
        "192.168.",
        "169.254.",
        "192.0.2.",
        "198.51.100.",
        "203.0.113.",
        "240.",
    ]
    .iter()
    .any(|it| host.starts_with(it));
    let is_reserved = [".invalid", ".test", ".example", ".local", ".localhost", ".internal"]
        .iter()
        .any(|it| host.ends_with(it));
    // An address needs no name server, and a name has letters at its end.
    let is_host = host.rsplit('.').next().is_some_and(|last| {
        last.len() >= 2 && last.chars().all(|letter| letter.is_ascii_alphabetic())
    });
    (is_name && !is_here && !is_reserved && is_host).then_some(host)
}
