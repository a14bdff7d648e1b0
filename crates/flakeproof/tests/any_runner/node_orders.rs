//! Orders of tests in mocha, jest, vitest and node:test, and tests that make it hard.

use flakeproof_testkit::{Project, Ran, campaign, node, skipped};

use crate::{flakeproof, project, run};

/// A project with these packages, or a note that there is none.
pub(crate) fn with(packages: &[&str], test: &str) -> Option<Project> {
    let modules = node::modules(packages).map_err(|why| skipped::note(test, &why)).ok()?;
    let project = project();
    std::os::unix::fs::symlink(modules, project.path().join("node_modules")).expect("a link");
    Some(project.file("package.json", "{}"))
}

/// So many of these, others each day: hunts of every version take minutes together.
fn todays<T: Copy>(all: &[T], part: usize) -> Vec<T> {
    campaign::today(all.len(), part).into_iter().map(|at| all[at]).collect()
}

fn hunt(project: &Project, command: &[&str]) -> Ran {
    let options = ["--seed", "3", "--steer", "off", "--orders", "6", "--max-reruns", "2"];
    flakeproof(project, "hunt", &options, command)
}

/// The kind of a test in the report of a hunt, and those that make it so.
fn kind<'r>(ran: &'r Ran, id: &str) -> (&'r str, Vec<&'r str>) {
    let tests = ran.json["tests"].as_array().expect("a report");
    let test = tests.iter().find(|test| test["id"] == id);
    let test = test.expect("the test is in the report");
    let all = ["polluters", "setters"].into_iter().filter_map(|key| test[key].as_array());
    let tests = all.flatten().filter_map(|some| some.as_array()).flatten();
    (test["kind"].as_str().unwrap_or("none"), tests.filter_map(|it| it.as_str()).collect())
}

/// Tests of one file; `%` stands for what imports the runner's functions. The victim comes before its
/// polluter, the brittle test after its setter, so that all pass in the suite's own order.
const SHARED: &str = "%\nlet currency = 'EUR';\nlet customer;\n\
    describe('money', () => {\n  \
    it('victim', () => { if (currency !== 'EUR') throw new Error('it is ' + currency); });\n  \
    it('polluter', () => { currency = 'USD'; });\n});\n\
    describe('people', () => {\n  \
    it('setter', () => { customer = 'ada'; });\n  \
    it('brittle', () => { customer.toUpperCase(); });\n});\n\
    describe('shelf', () => {\n  const shelf = [];\n  before_all(() => { shelf.push(1); });\n  \
    it('first', () => {});\n  \
    it('is set up once', () => { if (shelf.length !== 1) throw new Error('set up again'); });\n});\n";

fn shared(imports: &str, before_all: &str) -> String {
    SHARED.replacen('%', imports, 1).replace("before_all", before_all)
}

fn assert_found(ran: &Ran, file: &str) {
    let id = |test: &str| format!("{file}::{test}");
    let wanted = [
        ("money > victim", "victim", vec![id("money > polluter")]),
        ("people > brittle", "brittle", vec![id("people > setter")]),
        ("money > polluter", "none", vec![]),
        ("shelf > is set up once", "none", vec![]),
    ];
    for (test, is, by) in wanted {
        let by: Vec<&str> = by.iter().map(String::as_str).collect();
        assert_eq!(kind(ran, &id(test)), (is, by), "{test}: {}", ran.text());
    }
}

#[test]
fn a_hunt_in_mocha_finds_victims_and_brittle_tests() {
    let test = "a_hunt_in_mocha_finds_victims_and_brittle_tests";
    for version in todays(&["mocha@10", node::MOCHA], 1) {
        let Some(project) = with(&[version], test) else { return };
        let project = project.file("test/a.js", &shared("", "before"));
        let ran = hunt(&project, &["npx", "mocha"]);
        assert_found(&ran, "test/a.js");
    }
}

#[test]
fn a_hunt_in_mocha_finds_what_files_share() {
    let test = "a_hunt_in_mocha_finds_what_files_share";
    let Some(project) = with(&[node::MOCHA], test) else { return };
    let project = project
        .file(
            "test/a.js",
            "it('victim', () => { if (process.env.SHOP) throw new Error('open'); });\n",
        )
        .file("test/b.js", "it('polluter', () => { process.env.SHOP = 'open'; });\n");
    let ran = hunt(&project, &["npx", "mocha"]);
    let found = kind(&ran, "test/a.js::victim");
    assert_eq!(found, ("victim", vec!["test/b.js::polluter"]), "{}", ran.text());
}

#[test]
fn a_hunt_in_jest_finds_victims_and_brittle_tests() {
    let test = "a_hunt_in_jest_finds_victims_and_brittle_tests";
    for version in todays(&[node::JEST, "jest@30"], 1) {
        let Some(project) = with(&[version], test) else { return };
        let project = project.file("a.test.js", &shared("jest.retryTimes(3);", "beforeAll"));
        let ran = hunt(&project, &["npx", "jest"]);
        assert_found(&ran, "a.test.js");
        assert!(ran.text().contains("retries of jest are off"), "{}", ran.text());
    }
}

#[test]
fn a_hunt_in_vitest_finds_victims_and_brittle_tests() {
    let test = "a_hunt_in_vitest_finds_victims_and_brittle_tests";
    for version in todays(&["vitest@2", node::VITEST, "vitest@4"], 1) {
        let Some(project) = with(&[version], test) else { return };
        let imports = "import { beforeAll, describe, it } from 'vitest';";
        let project = project.file("a.test.ts", &shared(imports, "beforeAll"));
        let ran = hunt(&project, &["npx", "vitest", "run"]);
        assert_found(&ran, "a.test.ts");
    }
}

/// vitest says of a promise that nobody waits for only that the run failed, not by which test.
#[test]
fn an_error_beside_all_tests_makes_no_victim() {
    let test = "an_error_beside_all_tests_makes_no_victim";
    let Some(project) = with(&[node::VITEST], test) else { return };
    let body = "import { it } from 'vitest';\nit('first', () => {});\n\
                it('rejects', () => { Promise.reject(new Error('nobody waits')); });\n\
                it('last', () => {});\n";
    let project = project.file("a.test.ts", body);
    let ran = hunt(&project, &["npx", "vitest", "run"]);
    let tests = ran.json["tests"].as_array().expect("a report");
    let blamed: Vec<&str> = tests.iter().filter_map(|it| it["kind"].as_str()).collect();
    assert!(blamed.is_empty(), "{blamed:?}: {}", ran.text());
}

/// A polluter that leaves something behind in every way that can be seen, for each runner.
#[test]
fn a_hunt_tells_what_a_polluter_leaves_behind() {
    let test = "a_hunt_tells_what_a_polluter_leaves_behind";
    let (common, esm) =
        ("const shop = require('./shop.js');", "import * as shop from './shop.js';");
    let by_node = format!("const {{ it }} = require('node:test');\n{common}");
    let by_vitest = format!("import {{ it }} from 'vitest';\n{esm}");
    let runners = [
        (node::MOCHA, &["npx", "mocha", "a.test.js"][..], "a.test.js", common),
        (node::JEST, &["npx", "jest"], "a.test.js", common),
        (node::MOCHA, &["node", "--test"], "a.test.js", &by_node),
        (node::VITEST, &["npx", "vitest", "run"], "a.test.mjs", &by_vitest),
        ("vitest@4", &["npx", "vitest", "run"], "a.test.mjs", &by_vitest),
    ];
    for (package, command, file, imports) in todays(&runners, 2) {
        let Some(project) = with(&[package], test) else { return };
        let body = format!(
            "{imports}\nit('victim', () => {{ if (shop.cart().length > 0) throw new Error('full'); }});\n\
             it('polluter', () => {{ shop.cart().push('apple'); shop.settings.open = true;\n  \
             globalThis.customer = 'ada'; process.env.CURRENCY = 'USD';\n  \
             process.on('SIGUSR2', () => {{}}); }});\n"
        );
        let shop = "const items = [];\nconst settings = { open: false };\n";
        let shop = match file.ends_with("mjs") {
            true => format!("{shop}export const cart = () => items;\nexport {{ settings }};\n"),
            false => format!("{shop}exports.cart = () => items;\nexports.settings = settings;\n"),
        };
        let project = project.file(file, &body).file("shop.js", &shop);
        let ran = hunt(&project, command);
        let id = format!("{file}::victim");
        let tests = ran.json["tests"].as_array().expect("a report");
        let victim = tests.iter().find(|it| it["id"] == id.as_str()).expect("the victim");
        let left: Vec<String> = victim["left_behind"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| format!("{} {}", it["kind"].as_str().unwrap(), it["name"].as_str().unwrap()))
            .collect();
        let wanted = [
            "attribute globalThis.customer",
            "attribute shop.js.settings",
            "variable CURRENCY",
            "listener of process for SIGUSR2",
        ];
        assert_eq!(left, wanted, "{command:?}: {}", ran.text());
    }
}

/// The Node of this machine, and those of these versions that npm has.
fn nodes(versions: &[&str]) -> Vec<String> {
    let fetched = versions.iter().filter_map(|version| {
        let modules = node::modules(&[&format!("node@{version}")]).ok()?;
        Some(modules.join("node/bin/node").to_string_lossy().into_owned())
    });
    ["node".to_owned()].into_iter().chain(fetched).collect()
}

#[test]
fn a_hunt_in_node_test_finds_victims_and_brittle_tests() {
    let (by_require, by_import) = (
        "const { before, describe, it } = require('node:test');",
        "import { before, describe, it } from 'node:test';",
    );
    for node in nodes(&todays(&["22", "24"], 1)) {
        for (file, imports) in todays(&[("a.test.js", by_require), ("a.test.mjs", by_import)], 1) {
            let project = project().file(file, &shared(imports, "before"));
            let ran = hunt(&project, &[&node, "--test"]);
            assert_found(&ran, file);
        }
    }
}

/// Groups in groups, a suite that is made later, a test with parts and one with a callback, the default
/// export, and hooks that fail.
const DECLARED: &str = "import test, { after, before, describe, it } from 'node:test';\n\
    let state = 'clean';\n\
    before(() => {});\n\
    describe('outer', async () => {\n  \
    await new Promise((resolve) => setTimeout(resolve, 1));\n  \
    describe('inner', () => {\n    \
    it('victim', (t, done) => { done(state === 'clean' ? null : new Error(state)); });\n  });\n});\n\
    describe('leaves', () => {\n  after(() => { state = 'spoilt'; });\n  \
    it('polluter by its group', () => {});\n});\n\
    test('with parts', async (t) => { await t.test('part', () => {}); });\n\
    test('later', { todo: 'some day' }, () => { throw new Error('not yet'); });\n\
    describe('broken', () => {\n  before(() => { throw new Error('no set-up'); });\n  \
    it('never runs', () => {});\n});\n";

#[test]
fn whatever_node_test_declares_can_be_put_in_order() {
    for node in nodes(&["24"]) {
        let project = project().file("a.test.mjs", DECLARED);
        let ran = hunt(&project, &[&node, "--test"]);
        let id = |test: &str| format!("a.test.mjs::{test}");
        let polluter = id("leaves > polluter by its group");
        let found = kind(&ran, &id("outer > inner > victim"));
        assert_eq!(found, ("victim", vec![polluter.as_str()]), "{}", ran.text());
        for steady in ["leaves > polluter by its group", "with parts", "broken > never runs"] {
            assert_eq!(kind(&ran, &id(steady)).0, "none", "{steady}: {}", ran.text());
        }
    }
}

#[test]
fn a_file_that_waits_for_its_tests_is_left_as_it_is() {
    let body = "import test from 'node:test';\nlet state = 'clean';\n\
                await test('victim', () => { if (state !== 'clean') throw new Error(state); });\n\
                await test('polluter', () => { state = 'spoilt'; });\n";
    let project = project().file("a.test.mjs", body);
    let ran = hunt(&project, &["node", "--test"]);
    assert_eq!(kind(&ran, "a.test.mjs::victim").0, "none", "{}", ran.text());
    assert!(ran.text().contains("waits for a test while it is loaded"), "{}", ran.text());
}

/// Tests that end their process, never end, change the folder, leave something open and print a lot.
const HARD: &str = "it('exits', () => { process.exit(0); });\n\
    it('hangs', () => { for (;;) {} });\n\
    it('goes elsewhere', () => { process.chdir('/'); });\n\
    it('leaves something open', () => { setInterval(() => {}, 1000); });\n\
    it('prints', () => { const line = 'x'.repeat(1 << 20); for (let n = 0; n < 100; n += 1) { \
    process.stdout.write(line); } });\n\
    it('passes', () => {});\n";

#[test]
fn what_tests_do_to_their_process_is_their_own_outcome() {
    let test = "what_tests_do_to_their_process_is_their_own_outcome";
    for (package, command, file) in [
        (node::MOCHA, &["npx", "mocha"][..], "test/a.js"),
        (node::JEST, &["npx", "jest"], "a.test.js"),
        (node::JEST, &["node", "--test"], "b.test.js"),
    ] {
        let Some(project) = with(&[package], test) else { return };
        let imports =
            if command[0] == "node" { "const { it } = require('node:test');\n" } else { "" };
        let project = project
            .file(file, &format!("{imports}{HARD}"))
            .file("flakeproof.toml", "timeout = \"3s\"\n");
        let few = ["--seed", "3", "--steer", "off", "--runs", "1", "--orders", "1"];
        let ran =
            flakeproof(&project, "hunt", &[&few[..], &["--max-reruns", "1"]].concat(), command);
        let id = |test: &str| format!("{file}::{test}");
        for name in ["goes elsewhere", "leaves something open", "prints", "passes"] {
            assert_eq!(kind(&ran, &id(name)).0, "none", "{}", ran.text());
            let tests = ran.json["tests"].as_array().expect("a report");
            let alone =
                tests.iter().find(|it| it["id"] == id(name)).map(|it| &it["alone"]["failures"]);
            assert_eq!(
                alone.and_then(serde_json::Value::as_u64),
                Some(0),
                "{name}: {}",
                ran.text()
            );
        }
    }
}

#[test]
fn mocha_runs_without_a_description() {
    let Some(project) = with(&[node::MOCHA], "mocha_runs_without_a_description") else { return };
    let body = "const fs = require('fs');\ndescribe('math', () => {\n  it('adds (1)', () => {});\n  \
                it('fails', () => { throw new Error('no'); });\n  it('flaky', () => {\n    \
                if (!fs.existsSync('seen')) { fs.writeFileSync('seen', ''); throw new Error('once'); }\n  \
                });\n});\n";
    let package = r#"{"scripts": {"test": "mocha --reporter dot"}}"#;
    let project = project.file("test/a.js", body).file("package.json", package);
    let ran = run(&project, &["npm", "test"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("test/a.js::math > adds (1)"), "passed", "{}", ran.text());
    assert_eq!(ran.verdict("test/a.js::math > fails"), "unknown", "{}", ran.text());
    assert_eq!(ran.verdict("test/a.js::math > flaky"), "flaky", "{}", ran.text());
}
