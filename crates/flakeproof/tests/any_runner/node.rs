//! node:test, jest, vitest and Playwright.

use flakeproof_testkit::{assert_says, finish, node};

use crate::node_orders::with;
use crate::{flakeproof, has, project, run, run_shortly};

#[test]
fn node_test_with_suites_subtests_and_a_broken_file() {
    if !has("node", "node_test_with_suites_subtests_and_a_broken_file") {
        return;
    }
    let project = project()
        .file("package.json", "{}")
        .file(
            "a.test.js",
            "const test = require('node:test');\nconst fs = require('fs');\n\
             test('passes', () => {});\n\
             test.describe('suite', () => {\n  test('inner', () => {});\n  \
             test('fails (1 + 1)', () => { throw new Error('boom'); });\n});\n\
             test('parent', async (t) => { await t.test('child', () => {}); });\n\
             test('whole', async (t) => { await t.test('part', () => { throw new Error('apart'); }); });\n\
             test('flaky', () => {\n  if (!fs.existsSync('seen')) { fs.writeFileSync('seen', ''); throw new Error('once'); }\n});\n",
        )
        .file("b.test.js", "const test = require('node:test');\ntest('other', { skip: true }, () => {});\n");
    let ran = run(&project, &["node", "--test", "a.test.js", "b.test.js"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("a.test.js::suite > inner"), "passed");
    assert_eq!(ran.outcome("a.test.js::parent"), "passed");
    assert_eq!(ran.verdict("a.test.js::whole"), "unknown", "{}", ran.text());
    assert!(ran.text().contains("part: Error: apart"), "{}", ran.text());
    assert_eq!(ran.outcome("b.test.js::other"), "skipped");
    assert_eq!(ran.verdict("suite > fails (1 + 1)"), "unknown", "{}", ran.text());
    assert_eq!(ran.verdict("a.test.js::flaky"), "flaky", "{}", ran.text());
}

#[test]
fn playwright_runs_without_a_description() {
    let test = "playwright_runs_without_a_description";
    let Some(project) = with(&[node::PLAYWRIGHT], test) else { return };
    let config = "module.exports = { testDir: './specs', retries: 2, workers: 1,\n  \
                  use: { trace: 'retain-on-failure' }, projects: [{ name: 'small' }] };\n";
    let body = "const { test, expect } = require('@playwright/test');\nconst fs = require('fs');\n\
                test.describe('money', () => {\n  \
                test('adds (1)', { tag: '@quick' }, () => { expect(1 + 1).toBe(2); });\n});\n\
                test('adds (1)', () => {});\n\
                test('is not mended', () => { test.fail(); expect(1).toBe(2); });\n\
                test('flaky', ({}, info) => {\n  const seen = `seen-${info.project.name}`;\n  \
                if (!fs.existsSync(seen)) { fs.writeFileSync(seen, ''); throw new Error('once'); }\n});\n\
                test.skip('later', () => {});\n";
    let project = project.file("playwright.config.js", config).file("specs/a.spec.js", body);
    let patient = ["--evidence-budget", "10m"];
    let ran = flakeproof(&project, "run", &patient, &["npx", "playwright", "test"]);
    let id = |test: &str| format!("small > a.spec.js > {test}");
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert_eq!(ran.outcome(&id("money > adds (1)")), "passed", "{}", ran.text());
    assert_eq!(ran.outcome(&id("is not mended")), "passed", "{}", ran.text());
    assert_eq!(ran.outcome(&id("later")), "skipped", "{}", ran.text());
    assert_eq!(ran.verdict(&id("flaky")), "flaky", "{}", ran.text());
    let broken = "const { test, expect } = require('@playwright/test');\n\
                  test('fails', () => { expect(1).toBe(2); });\n";
    project.write("specs/b.spec.js", broken);
    let ran = run_shortly(&project, &["npx", "playwright", "test", "b.spec.js"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.verdict("small > b.spec.js > fails"), "unknown", "{}", ran.text());
    assert!(ran.text().contains("trace.zip"), "{}", ran.text());
}

#[test]
fn a_node_test_within_a_suite_runs_alone() {
    if !has("node", "a_node_test_within_a_suite_runs_alone") {
        return;
    }
    let project = project().file(
        "a.test.js",
        "const { describe, it } = require('node:test');\nlet count = 0;\n\
         describe('outer', () => {\n  it('one', () => { count += 1; });\n  \
         describe('inner', () => {\n    \
         it('two (2)', () => { if (count > 0) throw new Error('not alone'); });\n  });\n});\n",
    );
    let ran = run(&project, &["node", "--test", "a.test.js"]);
    let attempts = ran.attempts("a.test.js::outer > inner > two (2)");
    assert!(attempts.starts_with("first failed"), "{attempts}");
    assert!(attempts.contains("fresh(spawn) passed"), "{attempts}\n{}", ran.text());
}

#[test]
fn a_flaky_node_test_does_not_excuse_a_hook_that_fails() {
    if !has("node", "a_flaky_node_test_does_not_excuse_a_hook_that_fails") {
        return;
    }
    let project = project().file(
        "a.test.js",
        "const { after, describe, it } = require('node:test');\nconst fs = require('fs');\n\
         const isFirst = !fs.existsSync('seen');\n\
         it('flaky', () => { fs.writeFileSync('seen', ''); if (isFirst) throw new Error('once'); });\n\
         describe('suite', () => {\n  it('passes', () => {});\n  \
         after(() => { if (isFirst) throw new Error('in the hook'); });\n});\n",
    );
    let ran = run(&project, &["node", "--test", "a.test.js"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
}

#[test]
fn a_file_of_node_tests_that_dies_is_never_green() {
    if !has("node", "a_file_of_node_tests_that_dies_is_never_green") {
        return;
    }
    let project = project()
        .file("a.test.js", "require('node:test')('fine', () => {});\n")
        .file("b.test.js", "process.exit(3);\n");
    let ran = run(&project, &["node", "--test", "a.test.js", "b.test.js"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("a.test.js::fine"), "passed");
}

const BODY: &str = "describe('math', () => {\n  test('adds', () => { expect(1 + 1).toBe(2); });\n  \
                    test('fails (really)', () => { expect(1 + 1).toBe(3); });\n  \
                    test.skip('later', () => {});\n});\n";

#[test]
fn jest_by_its_own_json() {
    let Some(project) = with(&[node::JEST], "jest_by_its_own_json") else { return };
    let project = project.file("src/a.test.js", BODY);
    // When it bails out, jest itself writes no report.
    let ran = run_shortly(&project, &["npx", "jest", "--bail"]);
    assert_eq!(ran.outcome("src/a.test.js::math > adds"), "passed", "{}", ran.text());
    assert_eq!(ran.outcome("math > later"), "skipped");
    assert_eq!(ran.verdict("math > fails (really)"), "unknown");
}

#[test]
fn vitest_by_its_own_json() {
    let Some(project) = with(&[node::VITEST], "vitest_by_its_own_json") else { return };
    let head = "import { describe, expect, test } from 'vitest';\n";
    let project = project.file("src/a.test.mjs", &format!("{head}{BODY}"));
    let ran = run_shortly(&project, &["npx", "vitest", "run"]);
    assert_eq!(ran.outcome("src/a.test.mjs::math > adds"), "passed", "{}", ran.text());
    assert_eq!(ran.verdict("math > fails (really)"), "unknown");
}

#[test]
fn what_keeps_jest_from_its_tests_is_told() {
    let test = "what_keeps_jest_from_its_tests_is_told";
    let typescript = "module.exports = { testMatch: ['**/*.test.ts'] };\n";
    for (config, file, body, told) in [
        ("throw new Error('no settings today');\n", "a.test.js", "", "no settings today"),
        (typescript, "a.test.ts", "test('a', () => { const x: number = 1; });\n", "SyntaxError"),
    ] {
        let Some(project) = with(&[node::JEST], test) else { return };
        let project = project.file("jest.config.js", config).file(file, body);
        let ran = run(&project, &["npx", "jest"]);
        assert_eq!(ran.code(), Some(6), "{}", ran.text());
        assert!(ran.text().contains(told), "{}", ran.text());
        assert!(ran.text().contains("run the command yourself"), "{}", ran.text());
    }
}

#[test]
fn a_package_of_a_workspace_uses_the_code_of_its_neighbours() {
    let test = "a_package_of_a_workspace_uses_the_code_of_its_neighbours";
    let Some(project) = with(&[node::JEST], test) else { return };
    let body = "test('a', () => { expect(require('../b').price()).toBe(40); });\n";
    let project = project
        .file("package.json", "{\"private\": true, \"workspaces\": [\"packages/*\"]}")
        .file(".gitignore", "node_modules\n")
        .file("packages/a/package.json", "{\"name\": \"a\"}")
        .file("packages/a/a.test.js", body)
        .file("packages/b/package.json", "{\"name\": \"b\"}")
        .file("packages/b/index.js", "exports.price = () => 40;\n");
    project.commit();
    project.write("packages/b/index.js", "exports.price = () => 41;\n");
    let mut run = project.flakeproof(&["run", "--", "npx", "jest"]);
    let ran = finish(run.current_dir(project.path().join("packages/a")));
    assert_says(&ran, 1, &["REAL      a.test.js::a", "before the change"]);
}
