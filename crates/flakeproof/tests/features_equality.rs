//! Covered lines beside coverage.py, and their changes beside `git log -L`, on real suites.

use std::path::{Path, PathBuf};
use std::process::Command;

use flakeproof_testkit::{Project, campaign, python, skipped};
use serde_json::Value;

/// What tells the lines of each test, independently.
const COVERAGE: [&str; 2] = ["coverage==7.6.1", "pytest-cov==5.0.0"];

/// The interpreters with a trace function, and with `sys.monitoring`: one of them each day.
const INTERPRETERS: [&str; 3] = ["python3.11", "python3.12", "python3.13"];

/// Whether the reference is asked about changes, too: git answers for one line at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Changes {
    Compared,
    LeftOut,
}

#[test]
fn covered_lines_and_changes_of_accessify_are_those_of_coverage_and_git() {
    agrees_on("accessify", Changes::Compared);
}

#[test]
fn covered_lines_of_riemann_are_those_of_coverage() {
    agrees_on("riemann-tx", Changes::LeftOut);
}

fn agrees_on(name: &str, changes: Changes) {
    let Some(subject) = subject(name) else {
        return skipped::note(&format!("features of {name}"), "there is no ../shared/subjects");
    };
    for interpreter in campaign::today(INTERPRETERS.len(), 1).into_iter().map(|at| INTERPRETERS[at])
    {
        if let Err(why) = agrees_with(&subject, interpreter, changes) {
            skipped::note(&format!("features of {name} on {interpreter}"), &why);
        }
    }
}

/// Compare on one interpreter, or say why it cannot be done here.
fn agrees_with(subject: &Value, interpreter: &str, changes: Changes) -> Result<(), String> {
    let pins = subject["pins"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let packages: Vec<&str> = pins.chain(COVERAGE).collect();
    let python = python::with(interpreter, &packages)?;
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof")).with_python(python);
    let source = source_of(subject, &project)?;
    give_history(&project, &source);
    let run = subject["run"].as_str().unwrap_or_default();
    let arguments: Vec<&str> = run.split(' ').skip_while(|word| *word != "pytest").collect();
    let expected = reference(&project, &arguments[1..], changes);
    let measured = measured(&project, &arguments[1..]);
    let tests = measured["tests"].as_array().expect("tests");
    assert!(tests.len() > 40, "{measured:#}");
    for test in tests {
        let (id, features) = (test["test"].as_str().unwrap_or_default(), &test["features"]);
        let mut names = vec!["covered_lines", "source_covered_lines"];
        names.extend((changes == Changes::Compared).then_some("covered_changes"));
        for name in names {
            let reference = expected[id][name].as_f64();
            assert_eq!(features[name].as_f64(), reference, "{name} of {id} on {interpreter}");
        }
    }
    Ok(())
}

/// The entry of a suite in the list of subjects, where that list is.
fn subject(name: &str) -> Option<Value> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3)?;
    let list = std::fs::read(workspace.join("shared/subjects/python.json")).ok()?;
    let list: Value = serde_json::from_slice(&list).ok()?;
    let entries = ["subjects", "more_suites"].into_iter().flat_map(|key| list[key].as_array());
    entries.flatten().find(|entry| entry["name"] == name).cloned()
}

/// Unpack the published source into the project; gives its Python files with their content.
fn source_of(subject: &Value, project: &Project) -> Result<Vec<(String, String)>, String> {
    let name = subject["name"].as_str().unwrap_or_default();
    let version = subject["version"].as_str().unwrap_or_default();
    let archives = python::target().join("subjects").join(format!("{name}-{version}"));
    if archive_in(&archives).is_none() {
        let wanted = format!("{name}=={version}");
        let download = ["-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:"];
        let output = Command::new(project.python())
            .args(download)
            .args([&wanted, "-d"])
            .arg(&archives)
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(format!("{wanted} cannot be downloaded"));
        }
    }
    let archive = archive_in(&archives).ok_or("no archive was downloaded")?;
    let unpacked = Command::new("tar")
        .args(["--no-same-owner", "--strip-components=1", "-xzf"])
        .arg(&archive)
        .current_dir(project.path())
        .status();
    match unpacked {
        Ok(status) if status.success() => Ok(python_files(project.path(), project.path())),
        other => Err(format!("{} cannot be unpacked: {other:?}", archive.display())),
    }
}

fn archive_in(folder: &Path) -> Option<PathBuf> {
    let mut entries = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    entries.find(|path| path.to_string_lossy().ends_with(".tar.gz"))
}

fn python_files(folder: &Path, root: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files = Vec::new();
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            files.extend(python_files(&path, root));
        } else if path.extension().is_some_and(|extension| extension == "py") {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy();
            files.push((name.into_owned(), std::fs::read_to_string(&path).expect("a file")));
        }
    }
    files
}

/// Give the project a past: earlier versions need not run, only differ.
fn give_history(project: &Project, source: &[(String, String)]) {
    let versions: [fn(usize, &str) -> Option<String>; 3] = [
        |at, line| (at % 7 != 3).then(|| line.to_owned()),
        |at, line| Some(if at % 5 == 1 { format!("{line} ") } else { line.to_owned() }),
        |at, line| Some(if at % 11 < 2 { format!("# {at}\n{line}") } else { line.to_owned() }),
    ];
    project.write(".gitignore", "__pycache__\n.flakeproof\n.pytest_cache\n");
    for version in versions {
        for (name, content) in source {
            let lines = content.lines().enumerate().filter_map(|(at, line)| version(at, line));
            project.write(name, &(lines.collect::<Vec<_>>().join("\n") + "\n"));
        }
        project.commit();
    }
    source.iter().for_each(|(name, content)| project.write(name, content));
    project.commit();
}

/// What coverage.py and git say.
fn reference(project: &Project, arguments: &[&str], changes: Changes) -> Value {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/features_reference/coverage_of_tests.py");
    let mut command = Command::new(project.python());
    command.arg(script).args((changes == Changes::Compared).then_some("--changes"));
    let output = command.args(arguments).current_dir(project.path()).output().expect("python runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let read = serde_json::from_slice(&output.stdout);
    assert!(read.is_ok(), "{read:?}\n{stderr}");
    read.unwrap_or_default()
}

/// What `flakeproof features` says.
fn measured(project: &Project, arguments: &[&str]) -> Value {
    let python = project.python();
    let output = project
        .flakeproof(&["features", "--output-format", "json", "--", &python, "-m", "pytest"])
        .args(arguments)
        .output()
        .expect("flakeproof runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let read = serde_json::from_slice(&output.stdout);
    assert!(read.is_ok(), "{read:?}\n{stderr}");
    read.unwrap_or_default()
}
