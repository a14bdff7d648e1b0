//! INTERSECT on real projects: what a test touches is seen, and what cannot be seen is said.

#![expect(clippy::panic, reason = "a helper of tests fails a test by panicking")]

use flakeproof_testkit::{Project, Ran, python, skipped};

/// One fresh environment, which measures.
const MEASURED: [&str; 8] =
    ["--retries", "0", "--postponed", "0", "--fresh", "1", "--compare-base", "off"];

/// A test that does `body`, passes at first, and fails when a folder outside the project is there, for
/// which it only asks: nothing of what it uses is seen to change.
fn project(body: &str) -> Project {
    let body = body.replace('\n', "\n    ");
    let content = format!(
        "import os, sys\ndef test_it():\n    {body}\n    assert not os.path.isdir(os.getcwd() + '.broken')\n"
    );
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file(".gitignore", ".flakeproof\n__pycache__\n.pytest_cache\n")
        .file("data/table.txt", "1 2 3\n")
        .file("helper.py", "import product\ndef used(): return product.used()\n")
        .file("product.py", PRODUCT)
        .file("test_a.py", &content)
        .file("unrelated.py", "value = 1\n")
}

const PRODUCT: &str = "
def used():
    one = 1
    return 1

def unused():
    two = 2
    return 2
";

/// Pass once on record, then make a change and fail.
fn fail_after(project: &Project, options: &[&str], change: &[(&str, &str)]) -> Ran {
    fail_after_with(project, options, change, &[])
}

/// Make the test fail without a change of the project.
fn break_outside(project: &Project) {
    let folder = format!("{}.broken", project.path().display());
    std::fs::create_dir(folder).expect("the folder above can be written");
}

fn fail_after_with(
    project: &Project,
    options: &[&str],
    change: &[(&str, &str)],
    variables: &[(&str, &str)],
) -> Ran {
    project.commit();
    let before = project.run_with(&MEASURED, &[], variables);
    assert_eq!(before.outcome("test_it"), "passed", "{}", before.text());
    for (path, content) in change {
        project.write(path, content);
    }
    project.commit();
    break_outside(project);
    let mode: Vec<(&str, &str)> = variables.iter().map(|(name, _)| (*name, "changed")).collect();
    let after = project.run_with(&[&MEASURED[..], options].concat(), &[], &mode);
    assert_eq!(after.outcome("test_it"), "failed", "{}", after.text());
    after
}

/// The evidence of one type.
fn evidence<'a>(ran: &'a Ran, kind: &str) -> &'a serde_json::Value {
    let all = ran.test("test_it")["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().find(|it| it["type"] == kind).unwrap_or_else(|| {
        panic!("no {kind} in {all:?}\n{}", ran.text());
    })
}

fn assert_touches(ran: &Ran, file: &str) {
    assert_eq!(evidence(ran, "intersects")["files"], serde_json::json!([file]));
    assert_eq!(ran.verdict("test_it"), "real", "{}", ran.text());
}

fn assert_disjoint(ran: &Ran) {
    assert_eq!(evidence(ran, "disjoint")["passed_at_base"], true);
    assert_eq!(ran.verdict("test_it"), "unrelated", "{}", ran.text());
}

fn assert_silent(ran: &Ran, reason: &str) {
    let said = evidence(ran, "silent")["reason"].as_str().unwrap_or_default();
    assert!(said.contains(reason), "{said}");
    assert_eq!(ran.verdict("test_it"), "unknown", "{}", ran.text());
}

const NEW_PRODUCT: (&str, &str) = ("product.py", "def used(): return 3\n");
const NEW_UNRELATED: (&str, &str) = ("unrelated.py", "value = 2\n");
const NEW_TABLE: (&str, &str) = ("data/table.txt", "4\n");

#[test]
fn a_module_that_a_helper_imports_is_touched() {
    let project = project("import helper\nhelper.used()");
    assert_touches(&fail_after(&project, &[], &[NEW_PRODUCT]), "product.py");
}

#[test]
fn a_module_that_nothing_imports_is_not_touched() {
    let project = project("import helper\nhelper.used()");
    assert_disjoint(&fail_after(&project, &[], &[NEW_UNRELATED]));
}

#[test]
fn a_module_imported_in_a_conftest_is_touched() {
    let project = project("pass").file("conftest.py", "import product\n");
    assert_touches(&fail_after(&project, &[], &[NEW_PRODUCT]), "product.py");
}

#[test]
fn a_module_that_only_another_test_imports_is_not_touched() {
    let project = project("pass").file("test_b.py", "import product\ndef test_b(): pass\n");
    assert_disjoint(&fail_after(&project, &[], &[NEW_PRODUCT]));
}

#[test]
fn an_opened_data_file_is_touched_however_it_is_opened() {
    for body in [
        "open('data/table.txt').read()",
        "os.close(os.open('data/table.txt', os.O_RDONLY))",
        "import pathlib\npathlib.Path('data/table.txt').read_text()",
    ] {
        assert_touches(&fail_after(&project(body), &[], &[NEW_TABLE]), "data/table.txt");
    }
}

#[test]
fn a_source_that_is_read_as_data_is_touched() {
    let options = ["--dependencies", "function"];
    let idle = PRODUCT.replace("return 2", "return 3");
    let change = [("product.py", idle.as_str())];
    for body in [
        "import pkgutil\npkgutil.get_data('product', 'product.py')",
        "import inspect, product\ninspect.getsource(product)",
    ] {
        assert_touches(&fail_after(&project(body), &options, &change), "product.py");
    }
}

#[test]
fn a_file_that_is_only_looked_at_is_touched() {
    let looks = [
        "os.path.getsize('data/table.txt')",
        "os.access('data/table.txt', os.R_OK)",
        "import pathlib; pathlib.Path('data/table.txt').stat()",
        "os.link('data/table.txt', 'other'); open('other').close(); os.remove('other')",
        "os.symlink('data', 'other'); open('other/table.txt').close(); os.remove('other')",
    ];
    for look in looks {
        let ran = fail_after(&project(look), &[], &[NEW_TABLE]);
        assert_touches(&ran, "data/table.txt");
    }
}

#[test]
fn a_data_file_whose_folder_is_listed_silences() {
    let ran = fail_after(&project("os.listdir('data')"), &[], &[NEW_TABLE]);
    assert_silent(&ran, "its folder is listed");
}

#[test]
fn a_data_file_that_is_not_opened_is_not_touched() {
    assert_disjoint(&fail_after(&project("pass"), &[], &[NEW_TABLE]));
}

#[test]
fn a_new_file_in_a_listed_folder_is_touched() {
    for body in ["os.listdir('data')", "import glob\nglob.glob('data/*.txt')"] {
        let ran = fail_after(&project(body), &[], &[("data/new.txt", "x\n")]);
        assert_touches(&ran, "data/new.txt");
    }
}

#[test]
fn a_new_data_file_in_a_folder_that_is_not_listed_silences() {
    assert_silent(&fail_after(&project("pass"), &[], &[("data/new.txt", "x\n")]), "data/new.txt");
}

#[test]
fn another_program_silences() {
    for body in [
        "import subprocess\nsubprocess.run(['true'], check=True)",
        "os.system('true')",
        "pid = os.fork()\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)",
    ] {
        assert_silent(&fail_after(&project(body), &[], &[NEW_UNRELATED]), "starts another program");
    }
}

#[test]
fn a_build_file_silences_by_name() {
    let ran = fail_after(&project("pass"), &[], &[("requirements.txt", "x\n")]);
    assert_silent(&ran, "requirements.txt");
}

#[test]
fn a_changed_variable_silences_only_a_test_that_reads_it() {
    let given = [("FLAVOUR", "first")];
    let reads = project("os.environ.get('FLAVOUR')");
    assert_silent(&fail_after_with(&reads, &[], &[NEW_UNRELATED], &given), "FLAVOUR");
    let asks = project("'FLAVOUR' in os.environ");
    assert_silent(&fail_after_with(&asks, &[], &[NEW_UNRELATED], &given), "FLAVOUR");
    let bytes = project("os.environb.get(b'FLAVOUR')");
    assert_silent(&fail_after_with(&bytes, &[], &[NEW_UNRELATED], &given), "FLAVOUR");
    let does_not = project("os.environ.get('HOME')");
    assert_disjoint(&fail_after_with(&does_not, &[], &[NEW_UNRELATED], &given));
}

#[test]
fn native_code_outside_the_interpreter_silences_a_changed_data_file() {
    let packages = ["pytest==8.3.5", "markupsafe==3.0.2"];
    let python = match python::with("python3", &packages) {
        Ok(python) => python,
        Err(why) => {
            return skipped::note(
                "native_code_outside_the_interpreter_silences_a_changed_data_file",
                &why,
            );
        }
    };
    let project = project("import markupsafe._speedups").with_python(python);
    assert_silent(&fail_after(&project, &[], &[NEW_TABLE]), "_speedups");
}

#[test]
fn by_function_only_the_functions_that_ran_are_touched() {
    let options = ["--dependencies", "function"];
    let body = "import helper\nhelper.used()";
    let idle = PRODUCT.replace("return 2", "return 3");
    assert_disjoint(&fail_after(&project(body), &options, &[("product.py", &idle)]));
    let ran = PRODUCT.replace("return 1", "return 3");
    assert_touches(&fail_after(&project(body), &options, &[("product.py", &ran)]), "product.py");
    let signature = PRODUCT.replace("def unused()", "def unused(n=0)");
    let ran = fail_after(&project(body), &options, &[("product.py", &signature)]);
    assert_touches(&ran, "product.py");
}

#[test]
fn code_that_runs_in_a_thread_is_touched() {
    let body = "import threading\n\
        def work(): import product; product.used()\n\
        thread = threading.Thread(target=work); thread.start(); thread.join()";
    let used = PRODUCT.replace("return 1", "return 3");
    let options = ["--dependencies", "function"];
    let ran = fail_after(&project(body), &options, &[("product.py", &used)]);
    assert_touches(&ran, "product.py");
}

#[test]
fn what_a_crashing_test_touched_is_known() {
    let project = project("import helper\nif os.path.isdir(os.getcwd() + '.broken'): os._exit(1)");
    project.commit();
    let _ = project.run(&MEASURED, &[]);
    break_outside(&project);
    project.write(NEW_UNRELATED.0, NEW_UNRELATED.1);
    project.commit();
    let ran = project.run(&MEASURED, &[]);
    assert_eq!(ran.outcome("test_it"), "crashed", "{}", ran.text());
    assert_disjoint(&ran);
}

#[test]
fn an_option_that_was_not_there_when_it_passed_silences() {
    let project = Project::new(env!("CARGO_BIN_EXE_flakeproof"))
        .file("test_a.py", "import warnings\ndef test_it():\n    warnings.warn('old')\n");
    project.commit();
    let before = project.run(&MEASURED, &[]);
    assert_eq!(before.outcome("test_it"), "passed", "{}", before.text());
    let after = project.run(&MEASURED, &["-W", "error"]);
    assert_eq!(after.verdict("test_it"), "unknown", "{}", after.text());
    assert!(after.text().contains("-m pytest -W error`"), "{}", after.text());
}

#[test]
fn a_pass_under_measurement_silences() {
    let project = project("pass");
    project.commit();
    let python = project.python();
    let measure = ["features", "--", &python, "-m", "pytest", "-q", "-p", "no:cacheprovider"];
    let measured = project.flakeproof(&measure).output().expect("flakeproof starts");
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stderr));
    break_outside(&project);
    project.write(NEW_UNRELATED.0, NEW_UNRELATED.1);
    project.commit();
    let ran = project.run(&MEASURED, &["-q", "-p", "no:cacheprovider"]);
    assert_eq!(ran.verdict("test_it"), "unknown", "{}", ran.text());
    assert!(ran.text().contains("it passed with measuring, and this is without"), "{}", ran.text());
}
