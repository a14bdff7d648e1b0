//! `flakeproof hunt --provoke`: what only fails under a lever is found, and is not called flaky.

use flakeproof_testkit::{Project, Ran};

use super::plain_surroundings;
use super::shell::{COMMAND, suite};

fn hunt(project: &Project, options: &[&str]) -> Ran {
    let outside = tempfile::tempdir().expect("a temporary folder");
    let report = outside.path().join("report.json");
    let reporter = format!("json={}", report.display());
    let few = ["--runs", "2", "--orders", "2", "--max-reruns", "1", "--seed", "7"];
    let output = plain_surroundings(
        project
            .flakeproof(&["hunt", "--reporter", &reporter])
            .args(few)
            .args(options)
            .arg("--")
            .args(COMMAND),
    )
    .output()
    .expect("flakeproof starts");
    let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
    Ran { output, json: json.unwrap_or_default() }
}

fn latent(ran: &Ran) -> Vec<(String, String)> {
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let all = ran.json["latent"].as_array().cloned().unwrap_or_default();
    all.iter().map(|it| (word(&it["test"]), word(&it["lever"]["name"]))).collect()
}

#[test]
fn what_only_fails_under_a_lever_is_latent_and_not_flaky() {
    let project = suite(
        "of_a_zone() { [ \"$(date -d @1700000000 +%d)\" = 14 ]; }\n\
         stops() { trap 's=1' CONT; for i in $(seq 100000); do [ -z \"$s\" ] || return 1; done; }",
    );
    let ran = hunt(&project, &["--provoke"]);
    let text = ran.text();
    assert_eq!(ran.output.status.code(), Some(0), "none of them is flaky: {text}");
    assert!(latent(&ran).contains(&("of_a_zone".into(), "zone".into())), "{text}");
    assert!(!latent(&ran).iter().any(|(test, _)| test == "is_fine"), "{text}");
    let kinds = ran.json["tests"].as_array().cloned().unwrap_or_default();
    assert!(kinds.iter().all(|it| it["kind"].is_null()), "{text}");
    assert!(text.contains("LATENT"), "{text}");
    // What is proven is kept: the test can be seen to fail at once.
    let mut repro = project.flakeproof(&["repro", "of_a_zone", "-n", "1"]);
    let output = plain_surroundings(&mut repro).output().expect("flakeproof starts");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_hunt_that_provokes_nothing_says_so() {
    let ran = hunt(&suite(""), &["--provoke"]);
    assert_eq!(ran.output.status.code(), Some(0), "{}", ran.text());
    assert_eq!(latent(&ran), []);
    assert!(!ran.text().contains("LATENT"), "{}", ran.text());
}

#[test]
fn without_the_option_nothing_is_provoked() {
    let ran = hunt(&suite("of_a_zone() { [ \"$(date -d @1700000000 +%d)\" = 14 ]; }"), &[]);
    assert_eq!(latent(&ran), []);
}
