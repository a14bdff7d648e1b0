//! Each lever with a test that fails for it and one that does nothing: the right one is named, and no
//! other.

use flakeproof_testkit::{python, skipped};

use super::shell::{cause_in_shell, suite};
use super::{is_not_tried, named};

/// The lever is named for a test with this body, and nothing else.
fn is_caused_by(claim: &str, body: &str, lever: &str, value: &str) {
    let project = suite(&format!("pollutes() {{ state=dirty; }}\ntest_a() {{ {body}; }}"));
    let idle = if lever == "umask" { "terminal=40 columns" } else { "umask=000" };
    let ran = cause_in_shell(&project, "test_a", &format!("{lever}={value},{idle}"));
    if is_not_tried(&ran, lever) {
        skipped::note(claim, &format!("the lever {lever} is not allowed here"));
        return;
    }
    assert_eq!(named(&ran), [lever], "{}", ran.text());
    assert_eq!(ran.json["answer"], "caused by", "{}", ran.text());
    assert_eq!(ran.json["exit_code"], 1);
    assert_eq!(ran.output.status.code(), Some(1));
    assert_eq!(ran.json["levers"][0]["plain"]["failed"], 0);
}

macro_rules! causes {
    ($($name:ident $lever:literal $value:literal $body:literal)*) => {
        $(#[test]
        fn $name() {
            is_caused_by(stringify!($name), $body, $lever, $value);
        })*
    };
}

causes! {
    the_day_of_a_moment_is_caused_by_the_zone "zone" "Asia/Kolkata"
        r#"[ "$(date -d @1700000000 +%d)" = 14 ]"#
    an_encoding_is_caused_by_the_locale "locale" "C in ASCII"
        r#"[ "$(locale charmap)" = UTF-8 ]"#
    the_width_of_a_text_is_caused_by_the_terminal "terminal" "40 columns"
        r#"[ "${COLUMNS:-80}" -ge 80 ]"#
    another_behaviour_in_ci_is_caused_by_ci "ci" "set"
        r#"[ -z "$CI" ]"#
    settings_of_a_user_are_caused_by_the_home "home" "an empty folder"
        r#"[ -n "$(ls -A "$HOME")" ]"#
    a_place_for_temporary_files_is_caused_by_it "temp" "an empty folder"
        r#"[ "$(dirname "$(mktemp -u)")" -ef /tmp ]"#
    rights_of_a_file_are_caused_by_the_umask "umask" "077"
        r#"rm -f made; : > made; [ "$(stat -c %A made | cut -c 5)" = r ]"#
    open_files_are_caused_by_their_limit "descriptors" "256 open files"
        r#"[ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge 300 ]"#
    two_workers_are_caused_by_one_core "one-core" "one core"
        r#"[ "$(grep -c Cpus_allowed_list:.*[,-] /proc/self/status)" = 1 ]"#
    a_loopback_is_caused_by_the_network "no-network" "nothing at all"
        "grep -q 127.0.0.1 /proc/net/fib_trie"
    a_file_of_a_fixed_name_is_caused_by_a_copy "beside-itself" "a copy at the same time"
        "mkdir locked && sleep 0.3 && rmdir locked"
    a_polluted_test_is_caused_by_the_order "order" "after those before it in the suite"
        r#"[ "$state" != dirty ]"#
    a_date_that_expires_is_caused_by_the_clock "clock" "2039-06-15 12:00:00"
        r#"[ "$(date +%Y)" -lt 2039 ]"#
    much_memory_is_caused_by_its_limit "memory" "1024 MiB of memory"
        r#"[ "$(ulimit -v)" = unlimited ] || [ "$(ulimit -v)" -gt 2000000 ]"#
    a_signal_that_is_not_heard_is_caused_by_who_ignores_it
        "signals" "Ctrl-C like a background job"
        "heard=; trap 'heard=yes' INT; kill -INT $$; [ -n \"$heard\" ]"
    a_name_that_is_looked_up_is_caused_by_no_dns "no-dns" "no name at all"
        "getent hosts localhost"
    a_rename_that_fails_is_caused_by_the_call "slow-calls" "rename refused"
        "rm -f made renamed; : > made; mv made renamed"
    // A process that was stopped is told so when it goes on: that needs no clock. It has to take longer
    // than the rest of a stop that it was started in.
    a_stop_is_caused_by_the_quota "quota" "10 ms of every 100 ms"
        "trap 'was_stopped=yes' CONT; for i in $(seq 600000); do [ -z \"$was_stopped\" ] || return 1; done"
}

#[test]
fn an_order_of_a_set_is_caused_by_the_seed_of_hashes() {
    // Without `site` an interpreter starts in the time of a few shells.
    let tests =
        r#"test_a() { PYTHON -S -c 'assert next(iter(set("abcdefghij"))) not in "abcd"'; }"#;
    let tests = tests.replace("PYTHON", &python::usual().to_string_lossy());
    let ran = cause_in_shell(&suite(&tests), "test_a", "hash-seed");
    assert_eq!(named(&ran), ["hash-seed"], "{}", ran.text());
    assert_eq!(ran.json["category"], "unordered_collections");
    let command = ran.json["command"].as_str().unwrap_or_default();
    assert!(command.starts_with("PYTHONHASHSEED="), "{command}");
}

#[test]
fn a_user_namespace_is_not_taken_for_the_network() {
    let tests = "test_a() { set -- $(cat /proc/self/uid_map); [ \"$3\" != 1 ]; }";
    let ran = cause_in_shell(&suite(tests), "test_a", "no-network");
    if is_not_tried(&ran, "no-network") {
        skipped::note("a_user_namespace_is_not_taken_for_the_network", "no user namespaces");
        return;
    }
    assert_eq!(named(&ran), [""; 0], "{}", ran.text());
    assert!(ran.text().contains("the test fails with its control, too"), "{}", ran.text());
}

#[test]
fn chance_is_blamed_on_no_lever() {
    let one_in_three = "[ $(($(od -An -N2 -tu2 /dev/urandom) % 3)) != 0 ]";
    let every_other_time = "[ ! -e mark ] && { : > mark; return 0; }; rm mark; false";
    for body in [one_in_three, every_other_time] {
        let project = suite(&format!("test_a() {{ {body}; }}"));
        let ran = cause_in_shell(&project, "test_a", "zone,terminal,umask");
        assert_eq!(named(&ran), [""; 0], "{}", ran.text());
        assert_eq!(ran.json["answer"], "none", "{}", ran.text());
        assert_eq!(ran.output.status.code(), Some(5));
    }
}

#[test]
fn the_most_open_files_that_are_too_few_are_found() {
    let ran = cause_in_shell(
        &suite("test_a() { [ \"$(ulimit -n)\" -gt 100 ]; }"),
        "test_a",
        "descriptors",
    );
    assert_eq!(named(&ran), ["descriptors"], "{}", ran.text());
    assert_eq!(ran.json["levers"][0]["value"], "100 open files", "{}", ran.text());
}
