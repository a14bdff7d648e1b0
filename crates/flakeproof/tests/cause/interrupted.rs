//! Experiments that end early: by Ctrl-C, and by a kill that nobody can hear.

use std::path::Path;
use std::time::{Duration, Instant};

use super::named;
use super::shell::{COMMAND, cause_in_shell, suite};

/// A test that signals flakeproof, which started its guard, when it runs for the `at`th time.
fn signalling(signal: &str, at: u32) -> String {
    format!(
        r#"
test_a() {{
    times=$(($(cat count 2>/dev/null || echo 0) + 1))
    echo $times > count
    if [ $times = {at} ]; then
        guard=$$
        until grep -q __guard /proc/$guard/cmdline; do
            guard=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$guard/status)
        done
        sleep 1000 &
        echo "$$ $!" > pids
        kill -{signal} "$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$guard/status)"
        wait
    fi
    [ -z "$CI" ]
}}"#
    )
}

#[test]
fn ctrl_c_prints_what_was_learned_and_resume_goes_on() {
    let project = suite(&signalling("INT", 9));
    let first = cause_in_shell(&project, "test_a", "zone,terminal,ci");
    assert_eq!(first.output.status.code(), Some(130), "{}", first.text());
    assert_eq!(first.json["end"], "interrupted");
    assert!(first.json["levers"].as_array().is_some_and(|it| !it.is_empty()), "{}", first.text());
    let resumed = super::plain_surroundings(
        project
            .flakeproof(&["cause", "test_a", "--levers", "zone,terminal,ci", "--resume", "--"])
            .args(COMMAND),
    )
    .output()
    .expect("flakeproof starts");
    let text = String::from_utf8_lossy(&resumed.stdout).into_owned();
    assert!(text.contains("caused by ci"), "{text}");
    assert!(!text.contains("was interrupted"), "there is one to take up: {text}");
}

#[test]
fn a_killed_experiment_leaves_no_process_behind_whatever_the_lever() {
    for lever in [
        "quota",
        "load",
        "scheduling",
        "slow-calls",
        "one-core",
        "no-network",
        "beside-itself",
        "clock",
    ] {
        // The first run under the lever comes among the first five.
        for at in [4, 5] {
            let project = suite(&signalling("KILL", at));
            let ran = cause_in_shell(&project, "test_a", lever);
            let pids = std::fs::read_to_string(project.path().join("pids")).unwrap_or_default();
            if pids.is_empty() {
                assert!(!named(&ran).contains(&lever.to_owned()));
                continue;
            }
            for pid in pids.split_whitespace() {
                assert!(is_gone_soon(pid), "{lever}: {pid} is still there, {}", state(pid));
            }
        }
    }
}

fn is_gone_soon(pid: &str) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    while Instant::now() < deadline {
        if !Path::new(&format!("/proc/{pid}")).exists() || state(pid) == "Z" {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

fn state(pid: &str) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after = stat.rsplit_once(')').map(|(_, after)| after.trim().to_owned()).unwrap_or_default();
    after.split(' ').next().unwrap_or_default().to_owned()
}
