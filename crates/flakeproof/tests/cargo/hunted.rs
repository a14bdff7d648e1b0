//! What a hunt finds in a Rust suite.

use serde_json::Value;

use crate::claims::Claim;
use crate::scene::Crate;

pub(crate) const CLAIMS: &[Claim] = claims![a_hunt_finds_victims_of_the_suites_own_order];

const SUITE: &str = r#"
#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    static SHARED: Mutex<Option<u32>> = Mutex::new(None);
    fn shared() -> std::sync::MutexGuard<'static, Option<u32>> {
        SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    #[test] fn a_bystander() {}
    #[test] fn b_polluter() { *shared() = Some(1); }
    #[test] fn c_bystander() {}
    #[test] fn d_victim() { let seen = shared().is_none(); assert!(seen); }
    #[test] fn e_brittle() { let seen = shared().is_some(); assert!(seen); }
    #[test] fn f_broken() { panic!("always") }
}
"#;

fn a_hunt_finds_victims_of_the_suites_own_order() {
    let project = Crate::new(SUITE);
    let report = project.path().join("hunt.json");
    let reporter = format!("json={}", report.display());
    let options =
        ["hunt", "--runs", "3", "--max-reruns", "3", "--steer", "off", "--reporter", &reporter];
    let output = project.flakeproof(&options, &["--lib"]).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let json = std::fs::read(&report).unwrap_or_else(|_| panic!("no report\n{text}"));
    let json: Value = serde_json::from_slice(&json).expect("a report");
    let tests = json["tests"].as_array().cloned().unwrap_or_default();
    let of = |name: &str| {
        let id = format!("demo::tests::{name}");
        tests.iter().find(|test| test["id"] == id.as_str()).cloned().unwrap_or(Value::Null)
    };
    assert_eq!(of("d_victim")["kind"], "victim", "{text}");
    assert_eq!(of("d_victim")["polluters"], serde_json::json!([["demo::tests::b_polluter"]]));
    assert_eq!(of("e_brittle")["kind"], "brittle", "{text}");
    assert_eq!(of("e_brittle")["setters"], serde_json::json!([["demo::tests::b_polluter"]]));
    for steady in ["a_bystander", "b_polluter", "c_bystander", "f_broken"] {
        assert!(of(steady)["kind"].is_null(), "{steady}\n{text}");
    }
    assert!(text.contains("own order"), "{text}");
}
