//! Tests of the zoos of causes: with each runner the right lever is named, and what is found is kept, and
//! shown. All tests of them under all levers are asked by `evaluation/cause/zoo`.

use std::path::{Path, PathBuf};
use std::process::Command;

use flakeproof_testkit::{Project, node, skipped};

use super::{cause, cause_by, is_not_tried, named, plain_surroundings};

fn place(runner: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo/causes").join(runner)
}

/// A copy of the zoo for a runner.
fn zoo(runner: &str) -> Project {
    let place = place(runner);
    let mut project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    for path in files_below(&place) {
        let name = path.strip_prefix(&place).expect("it is below").to_string_lossy().into_owned();
        project = project.file(&name, &std::fs::read_to_string(&path).expect("a text"));
    }
    project
}

/// What somebody made in the zoo itself is not copied.
const MADE: [&str; 4] = ["__pycache__", "node_modules", "target", ".flakeproof"];

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the zoo is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let kept = paths.filter(|it| !MADE.iter().any(|made| it.ends_with(made)));
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    kept.flat_map(below).collect()
}

/// The levers that may be named for a test, as its zoo says.
fn expected(runner: &str, test: &str) -> Vec<String> {
    let text = std::fs::read_to_string(place(runner).join("expected.toml")).expect("it is there");
    let zoo: toml::Table = toml::from_str(&text).expect("it is TOML");
    let tests = zoo["test"].as_array().expect("a list of tests");
    let known = tests
        .iter()
        .find(|it| it["id"].as_str().is_some_and(|id| id.ends_with(test)))
        .unwrap_or_else(|| unreachable!("the zoo for {runner} does not know {test}"));
    let levers = known["levers"].as_array().expect("a list of levers");
    levers.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// Why a runner cannot be started here; its command if it can.
fn command_of(runner: &str, project: &Project) -> Result<&'static [&'static str], String> {
    let needs = |program: &str, version: &str| {
        let ran = Command::new(program).arg(version).output();
        let is_there = ran.is_ok_and(|it| it.status.success());
        is_there.then_some(()).ok_or_else(|| format!("{program} is not installed"))
    };
    Ok(match runner {
        "go" => needs("go", "version").map(|()| &["go", "test", "./..."])?,
        "cargo" => &["cargo", "test"],
        "jest" => {
            needs("node", "--version")?;
            let modules = node::modules(&[node::JEST])?;
            let link = project.path().join("node_modules");
            std::os::unix::fs::symlink(modules, link).map_err(|error| error.to_string())?;
            &["npx", "jest"]
        }
        "junit5" => needs("mvn", "--version").map(|()| &["mvn", "test"])?,
        other => return Err(format!("there is no zoo for {other}")),
    })
}

/// The right lever is named for a test of a zoo, by one value of it beside one that does nothing.
fn is_found(claim: &str, runner: &str, test: &str, lever: &str, value: &str) {
    let project = zoo(runner);
    let command = match command_of(runner, &project) {
        Ok(command) => command,
        Err(why) => return skipped::note(claim, &why),
    };
    let idle = if lever == "terminal" { "umask=000" } else { "terminal=200 columns" };
    let ran = cause_by(&project, test, &format!("{lever}={value},{idle}"), command);
    if is_not_tried(&ran, lever) {
        return skipped::note(claim, &format!("the lever {lever} is not allowed here"));
    }
    assert_eq!(named(&ran), [lever], "{}", ran.text());
    assert!(expected(runner, test).contains(&lever.to_owned()), "{}", ran.text());
}

macro_rules! finds {
    ($($name:ident $runner:literal $test:literal $lever:literal $value:literal)*) => {
        $(#[test]
        fn $name() {
            is_found(stringify!($name), $runner, $test, $lever, $value);
        })*
    };
}

finds! {
    go_zone "go" "TestZoneDayOfAPayment" "zone" "Asia/Kolkata"
    go_quota "go" "TestQuotaAnswerComesInTime" "quota" "100 ms of every 1000 ms"
    go_descriptors "go" "TestDescriptorsOpensAllParts" "descriptors" "256 open files"
    go_copy "go" "TestBesideItselfFixedPort" "beside-itself" "a copy at the same time"
    go_names "go" "TestNoDNSFindsThisMachine" "no-dns" "no name at all"
    go_network "go" "TestNoNetworkTalksToItself" "no-network" "nothing at all"
    go_slow_network "go" "TestSlowNetworkServerAnswersInTime" "slow-network"
        "100 ms for each step"
    cargo_zone "cargo" "zone_day_of_a_payment" "zone" "Asia/Kolkata"
    cargo_quota "cargo" "quota_answer_comes_in_time" "quota" "100 ms of every 1000 ms"
    cargo_clock "cargo" "clock_certificate_is_valid" "clock" "2039-06-15 12:00:00"
    cargo_copy "cargo" "beside_itself_fixed_temporary_folder" "beside-itself"
        "a copy at the same time"
    cargo_names "cargo" "no_dns_finds_this_machine" "no-dns" "no name at all"
    cargo_disk "cargo" "slow_calls_report_is_on_the_disk_in_time" "slow-calls"
        "fsync delayed by 200 ms"
    jest_zone "jest" "zone: day of a payment" "zone" "Asia/Kolkata"
    jest_clock "jest" "clock: certificate is valid" "clock" "2039-06-15 12:00:00"
    junit_zone "junit5" "zoneDayOfAPayment" "zone" "Asia/Kolkata"
    junit_hashes "junit5" "hashSeedTagsInTheirOrder" "hash-seed" "1"
}

#[test]
fn the_answer_is_kept_and_explained() {
    let zoo = zoo("pytest");
    let test = "test_zone_day_of_a_payment";
    let ran = cause(&zoo, test, "zone=Asia/Kolkata,umask=000");
    assert_eq!(named(&ran), ["zone"], "{}", ran.text());
    let mut explain = zoo.flakeproof(&["explain", test]);
    let explained = plain_surroundings(&mut explain).output().expect("flakeproof starts");
    let text = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(text.contains("caused by zone"), "{text}");
    assert!(text.contains("TZ=Asia/Kolkata"), "{text}");
    assert!(text.contains("KNOWN") && !text.contains("FINE"), "{text}");
}
