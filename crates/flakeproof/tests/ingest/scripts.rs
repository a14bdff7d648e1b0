//! Runners of JavaScript.

use flakeproof_testkit::{Project, node, skipped};

use crate::{has, holds, project, ran};

const PACKAGES: [&str; 6] = [
    node::JEST,
    "jest-junit@16.0.0",
    "jest-ctrf-json-reporter@0.0.9",
    "mocha@10.8.2",
    "mocha-junit-reporter@2.2.1",
    "vitest@3.2.4",
];

/// A project in which the packages are installed.
fn with_packages(test: &str) -> Option<Project> {
    if !has("npm", test) {
        return None;
    }
    match node::modules(&PACKAGES) {
        Ok(modules) => {
            let project = project().file("package.json", "{\"private\": true}");
            std::os::unix::fs::symlink(modules, project.path().join("node_modules"))
                .expect("a link can be made");
            Some(project)
        }
        Err(why) => {
            skipped::note(test, &why);
            None
        }
    }
}

const BODY: &str = "describe('math', () => {\n  test('adds', () => {});\n  \
    test('fails', () => { throw new Error('boom'); });\n  test.skip('later', () => {});\n  \
    test.each([1, 2])('row %d', () => {});\n});\n";

#[test]
fn jest_junit_and_ctrf() {
    let Some(project) = with_packages("jest_junit_and_ctrf") else { return };
    let project = project.file("src/a.test.js", BODY).file(
        "jest.config.js",
        "module.exports = { reporters: ['default', ['jest-junit', { outputName: 'jest.xml' }], \
         ['jest-ctrf-json-reporter', { outputDir: 'ctrf', outputFile: 'ctrf.json' }]] };\n",
    );
    let said = ran(&project, &["node_modules/.bin/jest", "--ci"]);
    assert!(said.contains("1 failed, 1 skipped, 3 passed, 5 total"), "{said}");
    holds(&project, "jest.xml", [3, 1, 0, 1], &["math adds", "math row 2"]);
    let expected = ["src/a.test.js::math adds", "src/a.test.js::math fails"];
    holds(&project, "ctrf", [3, 1, 0, 1], &expected);
}

#[test]
fn vitest_junit() {
    let Some(project) = with_packages("vitest_junit") else { return };
    let body = format!("import {{ describe, test }} from 'vitest';\n{BODY}");
    let project = project.file("src/a.test.mjs", &body);
    let vitest = ["node_modules/.bin/vitest", "run", "--reporter=default", "--reporter=junit"];
    let said = ran(&project, &[&vitest[..], &["--outputFile=out/vitest.xml"]].concat());
    assert!(said.contains("1 failed | 3 passed | 1 skipped (5)"), "{said}");
    holds(&project, "out", [3, 1, 0, 1], &["src/a.test.mjs::math > adds"]);
}

#[test]
fn mocha_junit_reporter() {
    let Some(project) = with_packages("mocha_junit_reporter") else { return };
    let body = "describe('math', () => {\n  it('adds', () => {});\n  \
        it('fails', () => { throw new Error('boom'); });\n  it.skip('later', () => {});\n});\n";
    let project = project.file("spec/a.spec.js", body);
    let mocha = ["node_modules/.bin/mocha", "--reporter", "mocha-junit-reporter", "spec/*.js"];
    ran(
        &project,
        &[&mocha[..], &["--reporter-options", "mochaFile=mocha.xml,includePending=true"]].concat(),
    );
    holds(&project, "mocha.xml", [1, 1, 0, 1], &["spec/a.spec.js::math adds"]);
}

const NODE: &str = "const { test, describe } = require('node:test');\ntest('top', () => {});\n\
    describe('math', () => {\n  test('adds', () => {});\n  \
    test('fails', () => { throw new Error('boom'); });\n  test('later', { skip: true }, () => {});\n});\n";

#[test]
fn node_junit_and_tap() {
    if !has("node", "node_junit_and_tap") {
        return;
    }
    let project = project().file("a.test.js", NODE);
    let reporters = ["junit", "tap"].map(|kind| {
        [format!("--test-reporter={kind}"), format!("--test-reporter-destination=node.{kind}")]
    });
    let options: Vec<&str> = reporters.iter().flatten().map(String::as_str).collect();
    ran(&project, &[&["node", "--test"], &options[..], &["a.test.js"]].concat());
    let said = std::fs::read_to_string(project.path().join("node.tap")).expect("a report");
    for line in ["# tests 4", "# pass 2", "# fail 1", "# skipped 1"] {
        assert!(said.contains(line), "{said}");
    }
    holds(&project, "node.junit", [2, 1, 0, 1], &[]);
    holds(&project, "node.tap", [2, 1, 0, 1], &["top", "math > adds", "math > fails"]);
}
