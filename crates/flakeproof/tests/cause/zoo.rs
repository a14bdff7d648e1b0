//! Tests of the zoo of causes, each under its right lever and one that does nothing.

use std::path::{Path, PathBuf};

use flakeproof_testkit::{Project, Ran, skipped};

use super::{cause, named, plain_surroundings, project};

/// A copy of the zoo.
fn zoo() -> Project {
    let place =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo/causes/pytest");
    let mut project = Project::new(env!("CARGO_BIN_EXE_flakeproof"));
    for path in files_below(&place) {
        let name = path.strip_prefix(&place).expect("it is below").to_string_lossy().into_owned();
        project = project.file(&name, &std::fs::read_to_string(&path).expect("a text"));
    }
    project
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the zoo is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let kept = paths.filter(|it| !it.ends_with("__pycache__"));
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    kept.flat_map(below).collect()
}

/// Whether the report says that a lever cannot be tried here.
fn is_not_tried(ran: &Ran, lever: &str) -> bool {
    let not_tried = ran.json["not_tried"].as_array().cloned().unwrap_or_default();
    not_tried.iter().any(|it| it["name"] == lever)
}

/// The lever is named for the test, and nothing else.
fn is_caused_by(test: &str, lever: &str, value: &str) {
    let ran = cause(&zoo(), test, &format!("{lever}={value},umask=000"));
    if is_not_tried(&ran, lever) {
        skipped::note(test, &format!("the lever {lever} is not allowed here"));
        return;
    }
    assert_eq!(named(&ran), [lever], "{}", ran.text());
    assert_eq!(ran.json["answer"], "caused by", "{}", ran.text());
    assert_eq!(ran.json["exit_code"], 1);
    assert_eq!(ran.output.status.code(), Some(1));
    assert_eq!(ran.json["levers"][0]["plain"]["failed"], 0);
}

macro_rules! causes {
    ($($name:ident $test:literal $lever:literal $value:literal)*) => {
        $(#[test]
        fn $name() {
            is_caused_by($test, $lever, $value);
        })*
    };
}

causes! {
    the_day_of_a_moment_is_caused_by_the_zone
        "test_zone_day_of_a_payment" "zone" "Asia/Kolkata"
    an_encoding_is_caused_by_the_locale
        "test_locale_reads_a_name_with_an_umlaut" "locale" "C in ASCII"
    a_help_text_is_caused_by_the_terminal
        "test_terminal_help_text" "terminal" "40 columns"
    another_behaviour_in_ci_is_caused_by_ci
        "test_ci_uploads_nothing" "ci" "set"
    a_place_for_temporary_files_is_caused_by_it
        "test_temp_is_on_the_usual_disk" "temp" "an empty folder"
    rights_of_a_file_are_caused_by_the_umask
        "test_umask_report_is_readable_by_others" "umask" "077"
    open_files_are_caused_by_their_limit
        "test_descriptors_opens_all_parts" "descriptors" "256 open files"
    two_workers_are_caused_by_one_core
        "test_one_core_workers_for_each_side" "one-core" "one core"
    a_loopback_is_caused_by_the_network
        "test_no_network_talks_to_itself" "no-network" "nothing at all"
    a_fixed_port_is_caused_by_a_copy
        "test_beside_itself_fixed_port" "beside-itself" "a copy at the same time"
    a_polluted_test_is_caused_by_the_order
        "test_order_victim_pays_in_dollars" "order" "after those before it in the suite"
    a_date_that_expires_is_caused_by_the_clock
        "test_clock_certificate_is_valid" "clock" "2039-06-15 12:00:00"
}

#[test]
fn an_order_of_a_set_is_caused_by_the_seed_of_hashes() {
    let ran = cause(&zoo(), "test_hash_seed_first_of_ten_tags", "hash-seed");
    assert_eq!(named(&ran), ["hash-seed"], "{}", ran.text());
    assert_eq!(ran.json["category"], "unordered_collections");
    let command = ran.json["command"].as_str().unwrap_or_default();
    assert!(command.starts_with("PYTHONHASHSEED="), "{command}");
}

#[test]
fn a_user_namespace_is_not_taken_for_the_network() {
    let ran = cause(&zoo(), "test_user_namespace_is_not_the_network", "no-network");
    if is_not_tried(&ran, "no-network") {
        skipped::note("a_user_namespace_is_not_taken_for_the_network", "no user namespaces");
        return;
    }
    assert_eq!(named(&ran), [""; 0], "{}", ran.text());
    assert!(ran.text().contains("the test fails with its control, too"), "{}", ran.text());
}

#[test]
fn chance_is_blamed_on_no_lever() {
    for test in ["test_nothing_fails_one_time_in_three", "test_nothing_fails_every_other_time"] {
        let ran = cause(&zoo(), test, "zone,terminal,umask");
        assert_eq!(named(&ran), [""; 0], "{}", ran.text());
        assert_eq!(ran.json["answer"], "none", "{}", ran.text());
        assert_eq!(ran.output.status.code(), Some(5));
    }
}

#[test]
fn the_answer_is_kept_and_explained() {
    let zoo = zoo();
    let test = "test_zone_day_of_a_payment";
    cause(&zoo, test, "zone=Asia/Kolkata");
    let mut explain = zoo.flakeproof(&["explain", test]);
    let explained = plain_surroundings(&mut explain).output().expect("flakeproof starts");
    let text = String::from_utf8_lossy(&explained.stdout).into_owned();
    assert!(text.contains("caused by zone"), "{text}");
    assert!(text.contains("TZ=Asia/Kolkata"), "{text}");
}

#[test]
fn the_most_open_files_that_are_too_few_are_found() {
    let tests = "
import os
def test_many():
    files = [open(os.devnull) for _ in range(100)]
    for file in files:
        file.close()
def test_few():
    pass
";
    let ran = cause(&project(tests), "test_many", "descriptors");
    assert_eq!(named(&ran), ["descriptors"], "{}", ran.text());
    let value = ran.json["levers"][0]["value"].as_str().unwrap_or_default().to_owned();
    let limit: u32 = value.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    assert!((101..256).contains(&limit), "100 files and those of the runner: {value}");
}
