//! Commands that start a runner: resolved, or refused before anything runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use flakeproof_testkit::{Project, node, python, skipped};

use crate::node_orders::with;
use crate::{SHORT, flakeproof, has, project, run, run_shortly};

const JEST: &str = "test('adds', () => {});\ntest('fails', () => { throw new Error('no'); });\n\
                    test('sees npm', () => { if (!process.env.npm_package_name && \
                    !process.env.npm_execpath && !process.env.YARN_WRAP_OUTPUT && \
                    !process.env.npm_config_user_agent) throw new Error('no npm'); });\n";

/// Every recipe of these leaves a trace, so that a test sees that none was run.
const TRACE: &str = "trace";

fn assert_refused(project: &Project, verb: &str, command: &[&str], words: &[&str]) {
    let ran = flakeproof(project, verb, &[], command);
    let text = ran.text();
    assert_eq!(ran.code(), Some(2), "{command:?}: {text}");
    for word in words {
        assert!(text.contains(word), "{command:?}: `{word}` is not in:\n{text}");
    }
    assert!(!project.path().join(TRACE).exists(), "{command:?} was run: {text}");
}

#[test]
fn a_script_of_npm_is_run_as_the_command_in_it() {
    let test = "a_script_of_npm_is_run_as_the_command_in_it";
    let Some(project) = with(&[node::JEST], test) else { return };
    let package = r#"{"name": "shop", "private": true, "scripts": {"test": "SHOP=1 jest --ci"}}"#;
    project.write("package.json", package);
    project.write(
        "a.test.js",
        &format!("{JEST}test('shop', () => {{ expect(process.env.SHOP).toBe('1'); }});\n"),
    );
    project.write("b.test.js", "test('other', () => {});\n");
    let ran = run_shortly(&project, &["npm", "test", "--", "a.test"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    assert_eq!(ran.outcome("a.test.js::adds"), "passed", "{}", ran.text());
    assert_eq!(ran.outcome("a.test.js::shop"), "passed");
    assert_eq!(ran.outcome("a.test.js::sees npm"), "passed");
    assert_eq!(ran.verdict("a.test.js::fails"), "unknown");
    assert!(
        !ran.json.to_string().contains("b.test.js"),
        "only what is selected runs: {}",
        ran.text()
    );
    assert!(ran.text().contains("`SHOP=1 jest --ci` of package.json"), "{}", ran.text());
    assert!(ran.text().contains("env SHOP=1 npx jest --ci"), "{}", ran.text());
}

#[test]
fn a_script_of_node_keeps_what_npm_sets_up() {
    if !has("npm", "a_script_of_node_keeps_what_npm_sets_up") {
        return;
    }
    let package = r#"{"name": "shop", "scripts": {"test": "node --test a.test.js"}}"#;
    let body = "require('node:test')('a | b', () => {\n  \
                if (!process.env.PATH.includes('node_modules/.bin')) throw new Error('path');\n  \
                if (process.env.npm_package_name !== 'shop') throw new Error('name');\n});\n";
    let project = project().file("package.json", package).file("a.test.js", body);
    let ran = run(&project, &["npm", "test"]);
    assert_eq!(
        (ran.code(), ran.outcome("a.test.js::a | b")),
        (Some(0), "passed"),
        "{}",
        ran.text()
    );
}

#[test]
fn scripts_of_yarn_and_pnpm_are_run_through_them() {
    let test = "scripts_of_yarn_and_pnpm_are_run_through_them";
    let Some(project) = with(&[node::JEST], test) else { return };
    let package = r#"{"name": "shop", "private": true, "scripts": {"test": "jest --ci"}}"#;
    project.write("package.json", package);
    project.write("a.test.js", JEST);
    for (manager, version) in [("yarn", "yarn@1"), ("pnpm", "pnpm@9")] {
        let Some(tools) = with(&[version], test) else { continue };
        let bin = tools.path().join("node_modules/.bin");
        let ran = with_path(&project, &bin, &[manager, "test"]);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&ran.stdout),
            String::from_utf8_lossy(&ran.stderr)
        );
        assert_eq!(ran.status.code(), Some(1), "{text}");
        assert!(text.contains("3 tests") && text.contains("2 passed"), "{manager}: {text}");
        assert!(text.contains("a.test.js::fails"), "{manager}: {text}");
    }
}

/// `flakeproof run -- COMMAND` with more programs.
fn with_path(project: &Project, bin: &Path, command: &[&str]) -> std::process::Output {
    let path = std::env::var("PATH").unwrap_or_default();
    project
        .flakeproof(&["run"])
        .args(SHORT)
        .arg("--")
        .args(command)
        .env("PATH", format!("{}:{path}", bin.display()))
        .output()
        .expect("flakeproof starts")
}

#[test]
fn scripts_that_do_more_are_refused_before_anything_runs() {
    let package = format!(
        r#"{{"scripts": {{"test": "touch {TRACE} && jest --ci", "unit": "ava", "pretest": "tsc"}}}}"#
    );
    let project = project().file("package.json", &package);
    let found = format!("touch {TRACE} && jest --ci");
    assert_refused(
        &project,
        "run",
        &["npm", "test"],
        &[&found, "-- npm run --silent env -- jest --ci"],
    );
    assert_refused(&project, "run", &["npm", "run", "unit"], &["ava", "go test"]);
    assert_refused(&project, "hunt", &["yarn", "test"], &[&found, "-- yarn run jest --ci"]);
    assert_refused(&project, "run", &["pnpm", "-r", "test"], &["`-r`"]);
}

#[test]
fn recipes_of_make_tox_and_nox_are_shown_and_not_run() {
    let makefile = format!("check:\n\t@touch {TRACE}\n\t@python -m pytest -q tests\n");
    let tox = format!(
        "[tox]\nenv_list = py311,py312\n[testenv]\ncommands =\n    touch {TRACE}\n    pytest {{posargs}}\n"
    );
    let nox = format!(
        "import nox\nopen('{TRACE}', 'w')\n@nox.session\ndef tests(session):\n    session.run('pytest')\n"
    );
    let project =
        project().file("Makefile", &makefile).file("tox.ini", &tox).file("noxfile.py", &nox);
    assert_refused(&project, "run", &["make", "check"], &["-- python -m pytest -q tests"]);
    assert_refused(&project, "hunt", &["make", "check"], &["-- python -m pytest -q tests"]);
    assert_refused(&project, "run", &["tox"], &["py311, py312", "tox -e py311 --notest"]);
    assert_refused(&project, "run", &["tox", "-e", "py312"], &["-- .tox/py312/bin/pytest"]);
    assert_refused(&project, "run", &["nox"], &["session.run('pytest')", ".nox/tests/bin/python"]);
    let verify = ["verify", "test_a", "--was", "10%", "--", "make", "check"];
    let output = project.flakeproof(&verify).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!project.path().join(TRACE).exists());
}

#[test]
fn what_nobody_knows_is_refused_before_it_runs() {
    let script = format!("touch {TRACE}\n");
    let project = project().file("run.sh", &script).file("manage.py", "open('trace', 'w')\n");
    assert_refused(&project, "run", &["sh", "./run.sh"], &["go test", "[runner.mine]"]);
    let django = ["python", "manage.py", "test"];
    assert_refused(&project, "run", &django, &["Django", "-- pytest"]);
    // Whoever knows better says so.
    let options = ["--adapter", "pytest"];
    let ran = flakeproof(&project, "run", &options, &["sh", "./run.sh"]);
    assert!(project.path().join(TRACE).exists(), "{}", ran.text());
}

/// A Python with a tool and pytest in it.
fn tool(package: &str, test: &str) -> Option<PathBuf> {
    let made = python::with("python3", &["pytest==8.3.5", package]);
    made.map_err(|why| skipped::note(test, &why)).ok()
}

#[test]
fn what_prepares_an_environment_stays_in_front() {
    let test = "what_prepares_an_environment_stays_in_front";
    let Some(python) = tool("uv", test) else { return };
    let bin = python.parent().expect("a folder").to_path_buf();
    let toml = "[project]\nname = \"shop\"\nversion = \"1\"\n";
    let body = "import os\ndef test_a(): assert os.environ['UV']\ndef test_b(): assert 0\n";
    let project = project().file("pyproject.toml", toml).file("test_a.py", body);
    let uv = ["uv", "run", "--no-project", "--python"];
    let command = [&uv[..], &[python.to_str().expect("a path"), "python", "-m", "pytest"]].concat();
    let ran = with_path(&project, &bin, &command);
    let text = String::from_utf8_lossy(&ran.stdout);
    let all = format!("{text}{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!(ran.status.code(), Some(1), "{all}");
    assert!(all.contains("1 passed") && all.contains("test_a.py::test_b"), "{all}");
    let is_uv_here = Command::new(bin.join("uv")).arg("--version").output().is_ok();
    assert!(is_uv_here);
}
