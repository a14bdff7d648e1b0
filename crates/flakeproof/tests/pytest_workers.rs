//! pytest-xdist: its number of workers is honoured, its workers are not started.

use flakeproof_testkit::{Project, Ran, python, skipped};

/// A project with pytest-xdist, or a note that there is none.
fn project(test: &str) -> Option<Project> {
    match python::with("python3", &["pytest==8.3.5", "pytest-xdist==3.6.1"]) {
        Ok(python) => Some(Project::new(env!("CARGO_BIN_EXE_flakeproof")).with_python(python)),
        Err(why) => {
            skipped::note(test, &why);
            None
        }
    }
}

/// Two files whose tests see each other's process only if they share it.
const SEES: &str = "import os\ndef test_pid(): open(f'pid-{os.getpid()}', 'w').close()\n";

fn processes(project: &Project) -> usize {
    let entries = std::fs::read_dir(project.path()).expect("a folder");
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let found: Vec<String> = names.filter(|name| name.starts_with("pid-")).collect();
    found.iter().for_each(|name| std::fs::remove_file(project.path().join(name)).expect("removed"));
    found.len()
}

fn assert_shared(ran: &Ran, project: &Project, expected: usize, notice: &str) {
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    assert!(ran.text().contains(notice), "`{notice}` is not in:\n{}", ran.text());
    assert_eq!(processes(project), expected, "{}", ran.text());
}

#[test]
fn the_number_of_workers_is_that_of_environments_wherever_it_is_said() {
    let test = "the_number_of_workers_is_that_of_environments_wherever_it_is_said";
    let Some(project) = project(test) else { return };
    let project = project.file("test_a.py", SEES).file("test_b.py", SEES);
    let ran = project.run(&[], &["-n", "2"]);
    assert_shared(&ran, &project, 2, "`-n 2` of pytest-xdist is run as `-j 2`");
    let ran = project.run(&["-j", "1"], &["-n", "2"]);
    assert_shared(&ran, &project, 1, "`-j 1` stands in for `-n 2`");
    let ran = project.run(&[], &["--numprocesses", "8", "--maxprocesses=2"]);
    assert_shared(&ran, &project, 2, "`-j 2`");
    let ran = project.run(&[], &["-n", "2", "--dist", "loadgroup"]);
    assert_shared(&ran, &project, 1, "in one process");
    let ran = project.run(&[], &["-n", "0"]);
    assert_shared(&ran, &project, 1, "2 passed");
    assert!(!ran.text().contains("xdist"), "{}", ran.text());
    for (file, text) in [
        ("pytest.ini", "[pytest]\naddopts = -n 2 --dist loadfile\n"),
        ("tox.ini", "[pytest]\naddopts = -n2\n"),
        ("setup.cfg", "[tool:pytest]\naddopts = --dist load --tx 2*popen\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-n 2'\n"),
    ] {
        project.write(file, text);
        assert_shared(&project.run(&[], &[]), &project, 2, "is run as `-j 2`");
        std::fs::remove_file(project.path().join(file)).expect("removed");
    }
}

#[test]
fn as_many_as_the_machine_has_cores_and_the_project_may_decide() {
    let Some(project) = project("as_many_as_the_machine_has_cores_and_the_project_may_decide")
    else {
        return;
    };
    let conftest = "def pytest_xdist_auto_num_workers(config): return 3\n";
    let project =
        project.file("test_a.py", SEES).file("test_b.py", SEES).file("conftest.py", conftest);
    project.write("pytest.ini", "[pytest]\naddopts = -n auto\n");
    assert_shared(
        &project.run(&[], &[]),
        &project,
        2,
        "`-n auto` of pytest-xdist is run as `-j 3`",
    );
}

#[test]
fn tests_see_a_worker_of_their_own() {
    let Some(project) = project("tests_see_a_worker_of_their_own") else { return };
    let body = "import os, xdist\n\
                def test_id(worker_id, testrun_uid, request):\n    \
                assert worker_id.startswith('gw') and testrun_uid\n    \
                assert os.environ['PYTEST_XDIST_WORKER'] == worker_id\n    \
                assert xdist.is_xdist_worker(request)\n    \
                open('id-' + worker_id, 'x').close()\n";
    let project = project.file("test_a.py", body).file("test_b.py", body);
    let ran = project.run(&[], &["-n", "2"]);
    assert_eq!(ran.code(), Some(0), "{}", ran.text());
    for id in ["id-gw0", "id-gw1"] {
        assert!(project.path().join(id).exists(), "{id}: {}", ran.text());
    }
    // Without workers they are told so, and the plugins that write reports see no worker.
    let plain = "def test_id(worker_id): assert worker_id == 'master'\n";
    project.write("test_a.py", plain);
    project.write("test_b.py", plain);
    assert_eq!(project.run(&[], &["-n", "0"]).code(), Some(0));
}

#[test]
fn the_users_own_reports_are_written_in_spite_of_workers() {
    let Some(project) = project("the_users_own_reports_are_written_in_spite_of_workers") else {
        return;
    };
    let project = project
        .file("test_a.py", "def test_a(worker_id): assert 0\n")
        .file("test_b.py", "def test_b(): pass\n");
    let ran = project.run(&[], &["-n", "2", "--junitxml=own.xml"]);
    assert_eq!(ran.code(), Some(1), "{}", ran.text());
    let xml = std::fs::read_to_string(project.path().join("own.xml")).expect("a report");
    assert!(xml.contains("test_a") && xml.contains("test_b"), "all of the suite: {xml}");
    let cache = project.path().join(".pytest_cache/v/cache/lastfailed");
    assert!(cache.exists(), "the cache of failures is written");
    assert!(ran.text().contains("-n 1 test_a.py::test_a"), "{}", ran.text());
}

#[test]
fn another_number_of_processes_makes_no_failure_green() {
    let Some(project) = project("another_number_of_processes_makes_no_failure_green") else {
        return;
    };
    // `test_b` fails every time that it shares a process with `test_a`.
    let project = project
        .file("shared.py", "used = []\n")
        .file("test_a.py", "import shared\ndef test_a(): shared.used.append(1)\n")
        .file("test_b.py", "import shared\ndef test_b(): assert not shared.used\n");
    let apart = project.run(&[], &["-n", "2"]);
    assert_eq!(apart.code(), Some(0), "{}", apart.text());
    let together = project.run(&["-j", "1"], &["-n", "2"]);
    assert_eq!(together.code(), Some(1), "{}", together.text());
    assert_ne!(together.verdict("test_b"), "flaky", "{}", together.text());
    let without = project.run(&["--unrelated-result", "pass"], &[]);
    assert_eq!(without.code(), Some(1), "{}", without.text());
}

#[test]
fn a_hunt_uses_the_number_too() {
    let Some(project) = project("a_hunt_uses_the_number_too") else { return };
    let project = project.file("test_a.py", "def test_a(): pass\n");
    project.write("pytest.ini", "[pytest]\naddopts = -n 2\n");
    let python = project.python();
    let output = project
        .flakeproof(&["hunt", "-n", "1", "--orders", "1", "--max-reruns", "2", "--"])
        .args([python.as_str(), "-m", "pytest"])
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("is run as `-j 2`"), "{text}");
}

#[test]
fn workers_elsewhere_are_refused() {
    let Some(project) = project("workers_elsewhere_are_refused") else { return };
    let project = project.file("test_a.py", "def test_a(): pass\n");
    for options in [&["--dist", "load", "--tx", "ssh=nowhere"][..], &["-n", "2", "--dist", "each"]]
    {
        let ran = project.run(&[], options);
        assert_eq!(ran.code(), Some(2), "{}", ran.text());
        assert!(ran.text().contains("pytest-xdist"), "{}", ran.text());
    }
}
