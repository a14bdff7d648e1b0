//! What a new user does first: look what works, set a project up, and have the shell complete.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use flakeproof_testkit::{Project, python, skipped};
use serde_json::{Value, json};

fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof")).file("pyproject.toml", "[project]\n")
}

fn flakeproof(project: &Project, arguments: &[&str]) -> Output {
    project.flakeproof(arguments).output().expect("the program starts")
}

fn text(output: &Output) -> String {
    let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn init_writes_a_configuration_and_a_job_and_leaves_what_is_there_alone() {
    let project = project().file(".github/dependabot.yml", "version: 2\n");
    let first = flakeproof(&project, &["init", "--yes", "--", "pytest", "-q"]);
    assert!(first.status.success(), "{}", text(&first));
    let written = |path: &str| std::fs::read_to_string(project.path().join(path));
    assert!(written(".github/workflows/flakeproof.yml").expect("a job").contains("pytest -q\n"));
    project.write("flakeproof.toml", "retries = 2\n");
    let again = flakeproof(&project, &["init", "--yes"]);
    assert!(text(&again).contains("flakeproof.toml is there already"), "{}", text(&again));
    assert_eq!(written("flakeproof.toml").expect("a file"), "retries = 2\n");
}

#[test]
fn init_writes_nothing_where_nobody_can_be_asked() {
    let project = project();
    let asked = flakeproof(&project, &["init", "--ci", "gitlab"]);
    assert_eq!(asked.status.code(), Some(2), "{}", text(&asked));
    assert!(text(&asked).contains("--yes"), "{}", text(&asked));
    let looked = flakeproof(&project, &["init", "--ci", "gitlab", "--dry-run"]);
    assert!(looked.status.success() && text(&looked).contains("nothing was written"));
    let there = std::fs::read_dir(project.path()).expect("a folder").count();
    assert_eq!(there, 1, "only pyproject.toml is there");
}

#[test]
fn doctor_tells_what_is_here_and_makes_nothing() {
    let project = project();
    let looked = flakeproof(&project, &["doctor", "--output-format", "json"]);
    let found: Value = serde_json::from_slice(&looked.stdout).expect("a document");
    let named = |list: &str, name: &str| {
        let all = found[list].as_array().expect("a list");
        all.iter().find(|it| it["name"] == name).cloned().expect("it is looked for")
    };
    assert!(named("helpers", "git")["version"].as_str().is_some_and(|it| it.contains("git")));
    assert!(named("levers", "zone")["values"].as_u64().is_some_and(|it| it > 0));
    assert_eq!(found["history"]["runs"], 0);
    assert!(!project.path().join(".flakeproof").exists());
    let shown = text(&flakeproof(&project, &["doctor"]));
    assert!(shown.contains("begin with     `flakeproof run -- pytest`"), "{shown}");
}

#[test]
fn doctor_names_another_installation() {
    let project = project();
    let folder = project.path().join("bin");
    project.write("bin/flakeproof", "#!/bin/sh\n");
    let path = std::env::var("PATH").expect("a path");
    let mut command = project.flakeproof(&["doctor"]);
    let output = command.env("PATH", format!("{}:{path}", folder.display())).output();
    let output = output.expect("the program starts");
    assert!(text(&output).contains("is another one: remove one of the two"), "{}", text(&output));
}

#[test]
fn every_shell_gets_its_completions_and_bash_completes_with_them() {
    let project = project();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish", "nushell"] {
        let printed = flakeproof(&project, &["completions", shell]);
        assert!(printed.status.success() && printed.stdout.len() > 1000, "{shell}");
    }
    let script = flakeproof(&project, &["completions", "bash"]).stdout;
    project.write("completions.bash", &String::from_utf8_lossy(&script));
    let complete = "source completions.bash; COMP_WORDS=(flakeproof veri); COMP_CWORD=1; \
                    _flakeproof flakeproof veri flakeproof; echo ${COMPREPLY[*]}";
    let output = Command::new("bash").args(["-c", complete]).current_dir(project.path()).output();
    let output = output.expect("bash is there");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "verify", "{}", text(&output));
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let project = project();
    let written = flakeproof(&project, &["man", "--output", "man1"]);
    assert!(written.status.success(), "{}", text(&written));
    for page in ["flakeproof.1", "flakeproof-hunt.1", "flakeproof-store-prune.1"] {
        let page = std::fs::read_to_string(project.path().join("man1").join(page));
        assert!(page.expect("a page").contains(".TH "));
    }
}

/// The shell steps of CI files, by file, with these inputs; `None` where they cannot be read here.
fn steps_of(test: &str, files: &[PathBuf], inputs: &Value) -> Option<BTreeMap<String, Vec<Value>>> {
    let reader = match python::with("python3", &["pyyaml==6.0.3"]) {
        Ok(reader) => reader,
        Err(why) => {
            skipped::note(test, &why);
            return None;
        }
    };
    let read = Command::new(reader)
        .arg(root().join("crates/flakeproof/tests/samples/ci_steps.py"))
        .args(files)
        .arg(inputs.to_string())
        .output()
        .expect("the interpreter starts");
    assert!(read.status.success(), "{}", text(&read));
    Some(serde_json::from_slice(&read.stdout).expect("steps by file"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A project with one test, which passes or fails.
fn with_one_test(assertion: &str) -> Project {
    project()
        .file("pytest.ini", "[pytest]\n")
        .file("test_a.py", &format!("def test_it():\n    assert {assertion}\n"))
}

/// How a test may end, and how a job must end then.
const ENDS: [(&str, Option<i32>); 2] = [("1 == 1", Some(0)), ("1 == 2", Some(1))];

/// The steps of the GitHub Action that a shell runs, with what a job of GitHub's would give them.
#[test]
fn the_shell_steps_of_the_action_end_as_the_tests_did() {
    let name = "the_shell_steps_of_the_action_end_as_the_tests_did";
    let Some(steps) = steps_of(name, &[root().join("action.yml")], &json!({})) else { return };
    let steps = steps.into_values().next().expect("the action");
    for (assertion, wanted) in ENDS {
        let project = with_one_test(assertion);
        let mut code = None;
        for step in &steps {
            if step["name"] == "Comment on the pull request" {
                continue;
            }
            code = run_step(&project, step, code);
        }
        assert_eq!(code, wanted, "{assertion}");
        let report = std::fs::read_to_string(project.path().join("temp/flakeproof.json"));
        assert!(report.expect("a report").contains("test_a.py::test_it"));
    }
}

/// The component, the orb, the examples of the guide, and the jobs that `init` writes.
#[test]
fn the_shell_steps_of_other_services_end_as_the_tests_did() {
    let name = "the_shell_steps_of_other_services_end_as_the_tests_did";
    let written = project();
    let services = ["github", "gitlab", "circleci", "buildkite"];
    for service in services {
        let init = flakeproof(&written, &["init", "--yes", "--ci", service, "--", "pytest", "-q"]);
        assert!(init.status.success(), "{}", text(&init));
    }
    let jobs = [
        ".github/workflows/flakeproof.yml",
        ".gitlab/flakeproof.yml",
        ".circleci/flakeproof.yml",
        ".buildkite/flakeproof.yml",
    ];
    let ours =
        ["templates/flakeproof.yml", "orb/flakeproof.yml", "docs/guides/continuous-integration.md"];
    let files: Vec<PathBuf> = jobs
        .map(|job| written.path().join(job))
        .into_iter()
        .chain(ours.map(|file| root().join(file)))
        .collect();
    let inputs = json!({ "command": "pytest -q", "version": "none" });
    let Some(files) = steps_of(name, &files, &inputs) else { return };
    assert_eq!(files.len(), jobs.len() + ours.len());
    for (file, steps) in files {
        for (assertion, wanted) in ENDS {
            let code = run_job(&with_one_test(assertion), &steps);
            assert_eq!(code, wanted, "{file}: {assertion}");
        }
    }
}

/// Run the steps of a job up to the first that fails, and give its exit code; then those that run always.
fn run_job(project: &Project, steps: &[Value]) -> Option<i32> {
    // Nothing is published yet: the program is on the path, and what would install it finds it there.
    for installer in ["pip", "pipx"] {
        let path = format!("bin/{installer}");
        project.write(&path, "#!/bin/sh\ncommand -v flakeproof >/dev/null\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(project.path().join(path), mode).expect("a new mode");
    }
    let mut code = Some(0);
    for step in steps {
        if code != Some(0) && step["if"] != "always()" {
            continue;
        }
        let mut bash = bash(project, step["script"].as_str().expect("a script"));
        bash.env("GITHUB_STEP_SUMMARY", project.path().join("summary"));
        let own = bash.output().expect("bash is there").status.code();
        code = if code == Some(0) { own } else { code };
    }
    code
}

/// A shell with the program, the project's Python and what is in the project's `bin` on its path, in which
/// failures are reruns of one kind only.
fn bash(project: &Project, script: &str) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_flakeproof"));
    let path = std::env::var_os("PATH").expect("a path");
    let folders = [project.path().join("bin")]
        .into_iter()
        .chain(
            [program, Path::new(&project.python())]
                .map(|it| it.parent().expect("a folder").to_owned()),
        )
        .chain(std::env::split_paths(&path));
    let mut bash = Command::new("bash");
    flakeproof_testkit::surroundings::plain(&mut bash);
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(project.path())
        .env("PATH", std::env::join_paths(folders).expect("a path"))
        .envs([("FLAKEPROOF_FRESH", "1"), ("FLAKEPROOF_RETRIES", "0")])
        .envs([("FLAKEPROOF_POSTPONED", "0"), ("FLAKEPROOF_COMPARE_BASE", "off")]);
    bash
}

/// Run a step of the action in bash as GitHub does; `before` is what the step with an id put out.
fn run_step(project: &Project, step: &Value, before: Option<i32>) -> Option<i32> {
    let temp = project.path().join("temp");
    std::fs::create_dir_all(&temp).expect("a folder");
    let output = temp.join("output");
    let mut bash = bash(project, step["script"].as_str().expect("a script"));
    bash.env("RUNNER_TEMP", &temp)
        .env("GITHUB_OUTPUT", &output)
        .env("VERSION", "none")
        .env("ARGUMENTS", "--fresh 1")
        .env("COMMAND", format!("{} -m pytest -q", project.python()))
        .env("CODE", before.map_or_else(String::new, |code| code.to_string()));
    let ran = bash.output().expect("bash is there");
    if step["id"] == "run" {
        assert!(ran.status.success(), "{}", text(&ran));
        let outputs = std::fs::read_to_string(output).expect("outputs");
        let code = outputs.lines().find_map(|line| line.strip_prefix("exit-code="));
        return code.and_then(|code| code.parse().ok());
    }
    let is_last = step["name"] == "End as the tests did";
    assert!(is_last || ran.status.success(), "{}", text(&ran));
    if is_last { ran.status.code() } else { before }
}
