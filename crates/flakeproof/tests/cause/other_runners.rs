//! The same levers reach the processes of every other adapter.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_testkit::{Project, skipped};

use super::{cause_by, named};

fn empty() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

/// Whether a tool is here; if not, the test is noted as skipped.
fn has(tool: &str, test: &str) -> bool {
    let version = if tool == "go" { "version" } else { "--version" };
    let output = std::process::Command::new(tool).arg(version).output();
    let is_here = output.is_ok_and(|it| it.status.success());
    if !is_here {
        skipped::note(test, &format!("{tool} is not installed"));
    }
    is_here
}

#[test]
fn a_go_test_fails_in_another_zone() {
    if !has("go", "a_go_test_fails_in_another_zone") {
        return;
    }
    let project = empty().file("go.mod", "module example.com/pay\n\ngo 1.20\n").file(
        "pay_test.go",
        "package pay\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestDay(t *testing.T) {\n\t\
         if day := time.Unix(1700000000, 0).Format(\"2006-01-02 15:04\"); day != \"2023-11-14 22:13\" {\n\t\t\
         t.Fatalf(\"paid on %s\", day)\n\t}\n}\n\nfunc TestFine(t *testing.T) {}\n",
    );
    let ran =
        cause_by(&project, "TestDay", "zone=Asia/Kolkata,umask,clock", &["go", "test", "./..."]);
    assert_eq!(named(&ran), ["zone"], "{}", ran.text());
    let why = ran.json["not_tried"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("without the C library"), "{why}");
}

#[test]
fn a_cargo_test_fails_with_an_empty_home() {
    let project = empty()
        .file("Cargo.toml", "[package]\nname = \"pay\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
        .file(
            "src/lib.rs",
            "#[test]\nfn has_settings() {\n    let home = std::env::var(\"HOME\").unwrap();\n    \
             assert!(std::fs::read_dir(home).unwrap().next().is_some());\n}\n\n#[test]\nfn is_fine() {}\n",
        );
    let ran = cause_by(&project, "has_settings", "home,umask", &["cargo", "test"]);
    assert_eq!(named(&ran), ["home"], "{}", ran.text());
}

#[test]
fn a_described_runner_fails_in_another_zone() {
    if !has("node", "a_described_runner_fails_in_another_zone") {
        return;
    }
    let project = empty().file(
        "pay.test.mjs",
        "import test from 'node:test';\nimport assert from 'node:assert';\n\
         test('day', () => assert.equal(new Date(1700000000000).getHours(), 22));\n\
         test('fine', () => {});\n",
    );
    let ran =
        cause_by(&project, "day", "zone=Asia/Kolkata,umask", &["node", "--test", "pay.test.mjs"]);
    assert_eq!(named(&ran), ["zone"], "{}", ran.text());
}

/// The contract of the lever `seed`: random numbers are the same with a seed and others without, and no
/// variable is another one but these. What each run drew, and its variables, stand in the file `seen`.
fn only_chance_is_another(project: &Project, command: &[&str], seed: &str, may_change: &[&str]) {
    let ran = cause_by(project, "draws", seed, command);
    assert_eq!(ran.json["answer"], "not reproduced", "{}", ran.text());
    let seen = std::fs::read_to_string(project.path().join("seen")).expect("it is written");
    let runs: Vec<BTreeMap<&str, &str>> = seen
        .split("----\n")
        .map(|run| run.lines().filter_map(|line| line.split_once('=')).collect())
        .filter(|run: &BTreeMap<&str, &str>| run.contains_key("drawn"))
        .collect();
    let is_seeded = |run: &BTreeMap<&str, &str>| {
        run.contains_key("FLAKEPROOF_RANDOM_SEED")
            || run.get("GODEBUG").is_some_and(|it| it.contains("randautoseed=0"))
    };
    let (seeded, plain): (Vec<_>, Vec<_>) = runs.iter().partition(|run| is_seeded(run));
    let drawn = |runs: &[&BTreeMap<&str, &str>]| {
        runs.iter().map(|run| run["drawn"].to_owned()).collect::<BTreeSet<String>>()
    };
    assert!(seeded.len() > 1 && plain.len() > 2, "{}", ran.text());
    assert_eq!(drawn(&seeded).len(), 1, "the same each time: {:?}", drawn(&seeded));
    assert_eq!(drawn(&plain).len(), plain.len(), "others each time: {:?}", drawn(&plain));
    let own = |name: &str| name == "drawn" || name == "_" || may_change.contains(&name);
    for run in &runs {
        for (name, value) in run.iter().filter(|(name, _)| !own(name)) {
            let is_ours = name.starts_with("FLAKEPROOF_") && *name != "FLAKEPROOF_RANDOM_SEED";
            assert!(is_ours || plain[0].get(name) == Some(value), "it also changes {name}");
        }
    }
}

#[test]
fn a_seed_makes_the_numbers_of_go_the_same_and_changes_nothing_else() {
    if !has("go", "a_seed_makes_the_numbers_of_go_the_same_and_changes_nothing_else") {
        return;
    }
    let project = empty().file("go.mod", "module example.com/pay\n\ngo 1.20\n").file(
        "pay_test.go",
        "package pay\n\nimport (\n\t\"fmt\"\n\t\"math/rand\"\n\t\"os\"\n\t\"strings\"\n\t\"testing\"\n)\n\n\
         func Test_draws(t *testing.T) {\n\t\
         seen, _ := os.OpenFile(\"seen\", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)\n\t\
         fmt.Fprintf(seen, \"drawn=%d\\n%s\\n----\\n\", rand.Int63(), strings.Join(os.Environ(), \"\\n\"))\n}\n",
    );
    only_chance_is_another(&project, &["go", "test", "./..."], "seed", &["GODEBUG"]);
}

#[test]
fn a_seed_makes_the_numbers_of_node_the_same_and_changes_nothing_else() {
    if !has("node", "a_seed_makes_the_numbers_of_node_the_same_and_changes_nothing_else") {
        return;
    }
    let project = empty().file(
        "pay.test.mjs",
        "import test from 'node:test';\nimport fs from 'node:fs';\n\
         test('draws', () => {\n  const all = Object.entries(process.env).map(it => it.join('='));\n  \
         fs.appendFileSync('seen', `drawn=${Math.random()}\\n${all.join('\\n')}\\n----\\n`);\n});\n",
    );
    let command = ["node", "--test", "pay.test.mjs"];
    let changes = ["NODE_OPTIONS", "FLAKEPROOF_RANDOM_SEED"];
    only_chance_is_another(&project, &command, "seed=the seed 3", &changes);
}
