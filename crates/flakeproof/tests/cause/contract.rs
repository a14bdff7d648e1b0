//! The contract of levers: what each claims to change does change, and nothing else does.
//!
//! A probe writes down all that it sees of its surroundings. The first runs of every experiment are plain;
//! whatever a later one sees that they did not must be what the lever claims.

use std::collections::{BTreeMap, BTreeSet};

use flakeproof_core::LeverName;
use flakeproof_testkit::{Project, skipped};

use super::is_not_tried;
use super::shell::{cause_in_shell, suite};

/// Variables and all else that processes inherit or ask the system for.
const PROBE: &str = r#"
comes_before() { before=yes; }
probe() {
    mkdir -p seen
    LOOK
    {
        env | grep -v '^_=\|^FLAKEPROOF_\|^OLDPWD=\|^SHLVL=' | sed 's/^/env./'
        echo "umask=$(umask)"
        echo "open_files=$(ulimit -n)"
        echo "memory=$(ulimit -v)"
        echo "stack=$(ulimit -s)"
        echo "cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)"
        echo "ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status)"
        echo "blocked=$(sed -n 's/^SigBlk:[[:space:]]*//p' /proc/self/status)"
        echo "niceness=$(nice)"
        echo "personality=$(cat /proc/self/personality)"
        echo "users=$(tr -s ' ' < /proc/self/uid_map)"
        echo "loopback=$(grep -c 127.0.0.1 /proc/net/fib_trie)"
        echo "names=$(getent hosts localhost | wc -l)"
        echo "servers=$(cksum < /etc/resolv.conf)"
        echo "hosts=$(cksum < /etc/hosts)"
        echo "devices=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d '\n ')"
        echo "year=$(date -u +%Y)"
        echo "local_time=$(date -d @1700000000 +%d.%H.%M)"
        echo "encoding=$(locale charmap)"
        echo "before=$before"
        echo "stopped=$was_stopped"
        echo "held=$held"
        echo "busy=$busy"
        echo "waiting=$waiting"
        echo "no_new_privileges=$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' /proc/self/status)"
        echo "filters=$(sed -n 's/^Seccomp_filters:[[:space:]]*//p' /proc/self/status)"
        echo "folder=$PWD"
    } > "seen/$(ls seen | wc -l).$$"
}
comes_after() { before=yes; }
"#;

/// Whether it is stopped and continued meanwhile.
const LOOK_FOR_A_STOP: &str = "trap 'was_stopped=yes' CONT; for i in $(seq 100000); do [ -z \"$was_stopped\" ] || break; done";

/// Whether one of its children is held for a moment, in the state that tracing has.
const LOOK_FOR_A_HOLD: &str = r#"
    children=
    for i in 1 2 3 4 5 6 7 8; do sleep 100 & children="$children $!"; done
    for i in $(seq 1500); do
        for child in $children; do
            read -r _ _ state _ < /proc/$child/stat
            [ "$state" = t ] && held=yes && break 2
        done
    done
    kill $children"#;

/// Whether the program that started the guard has work of its own to do.
const LOOK_FOR_WORK: &str = r#"
    guard=$$
    until grep -q __guard /proc/$guard/cmdline; do
        guard=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$guard/status)
    done
    program=$(sed -n 's/^PPid:[[:space:]]*//p' /proc/$guard/status)
    for i in 1 2 3 4 5; do
        working=$(cat /proc/$program/task/*/stat 2>/dev/null | sed 's/.*) //' | grep -c '^R')
        [ "$working" -ge 3 ] && busy=yes
    done"#;

/// Whether the kernel has a call of its child wait for somebody's answer.
const LOOK_FOR_A_WAIT: &str = r#"
    : > renamed.$$
    mv renamed.$$ renamed &
    while [ -d /proc/$! ] && [ "$state" != Z ]; do
        read -r place < /proc/$!/wchan
        case $place in seccomp*) waiting=yes ;; esac
        read -r _ _ state _ < /proc/$!/stat
    done 2>/dev/null"#;

/// Whether the kernel has its child wait for somebody's answer when it reaches for the loopback. It finds
/// nobody there.
const LOOK_FOR_A_SLOW_NETWORK: &str = r#"
    bash -c 'exec 3<>/dev/tcp/127.0.0.1/1' 2>/dev/null &
    while [ -d /proc/$! ] && [ "$state" != Z ]; do
        read -r place < /proc/$!/wchan
        case $place in seccomp*) waiting=yes ;; esac
        read -r _ _ state _ < /proc/$!/stat
    done 2>/dev/null"#;

/// What a lever must change, and what it may change besides.
struct Claim {
    lever: LeverName,
    changes: &'static [&'static str],
    may_change: &'static [&'static str],
    look: &'static str,
    /// The only value that is tried; all of them without.
    value: &'static str,
}

impl Claim {
    const fn new(
        lever: LeverName,
        changes: &'static [&'static str],
        may_change: &'static [&'static str],
    ) -> Self {
        Self { lever, changes, may_change, look: ":", value: "" }
    }

    const fn with(self, value: &'static str) -> Self {
        Self { value, ..self }
    }

    const fn looking(self, look: &'static str) -> Self {
        Self { look, ..self }
    }
}

const CLAIMS: [Claim; 22] = [
    Claim::new(LeverName::Zone, &["env.TZ", "local_time"], &[]),
    Claim::new(
        LeverName::Locale,
        &["env.LC_ALL", "encoding"],
        &["env.PYTHONUTF8", "env.PYTHONCOERCECLOCALE"],
    )
    // Others may have to be compiled first, which takes seconds.
    .with("=C in ASCII"),
    Claim::new(LeverName::HashSeed, &["env.PYTHONHASHSEED", "env.PERL_HASH_SEED"], &[]),
    Claim::new(LeverName::Order, &["before"], &[]),
    Claim::new(
        LeverName::Terminal,
        &["env.COLUMNS", "env.TERM", "env.CLICOLOR_FORCE", "env.FORCE_COLOR"],
        // Our own tests have it set already.
        &["env.NO_COLOR"],
    ),
    Claim::new(LeverName::Ci, &["env.CI", "env.GITHUB_ACTIONS"], &[]),
    Claim::new(LeverName::Home, &["env.HOME"], &[]),
    Claim::new(LeverName::Temp, &["env.TMPDIR"], &[]),
    Claim::new(LeverName::Umask, &["umask"], &[]),
    Claim::new(LeverName::Descriptors, &["open_files"], &[]),
    Claim::new(LeverName::Memory, &["memory"], &[]),
    Claim::new(LeverName::Addresses, &["personality"], &[]),
    Claim::new(LeverName::Signals, &["ignored"], &[]),
    Claim::new(LeverName::OneCore, &["cores"], &[]),
    Claim::new(LeverName::Quota, &["stopped"], &[])
        .with("=10 ms of every 100 ms")
        .looking(LOOK_FOR_A_STOP),
    Claim::new(LeverName::Load, &["busy"], &[]).looking(LOOK_FOR_WORK),
    // A network of its own comes with a namespace of users, which is its control.
    Claim::new(LeverName::NoNetwork, &["devices", "loopback"], &["users"]),
    // A lookup is what it changes, and with its files comes a namespace of users, which its control has.
    Claim::new(LeverName::NoDns, &["names", "servers", "hosts"], &["users"]),
    Claim::new(
        LeverName::Clock,
        &["year"],
        &[
            "env.LD_PRELOAD",
            "env.FAKETIME",
            "env.FAKETIME_SHARED",
            "env.FAKETIME_DONT_FAKE_MONOTONIC",
            "env.DONT_FAKE_MONOTONIC",
            "env.NO_FAKE_STAT",
        ],
    ),
    Claim::new(LeverName::SlowCalls, &["waiting"], &["no_new_privileges", "filters"])
        .with("=rename delayed by 200 ms")
        .looking(LOOK_FOR_A_WAIT),
    Claim::new(LeverName::SlowNetwork, &["waiting"], &["no_new_privileges", "filters"])
        .looking(LOOK_FOR_A_SLOW_NETWORK),
    Claim::new(LeverName::Scheduling, &["held"], &[]).looking(LOOK_FOR_A_HOLD),
];

#[test]
fn each_lever_changes_what_it_claims_and_nothing_else() {
    let held: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let halves = CLAIMS.chunks(CLAIMS.len().div_ceil(2));
        let threads: Vec<_> = halves
            .map(|half| scope.spawn(move || half.iter().map(holds).collect::<Vec<_>>()))
            .collect();
        threads.into_iter().flat_map(|it| it.join().expect("it ends")).collect()
    });
    let broken: Vec<String> = held.into_iter().filter_map(Result::err).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Those without a claim here have tests of their own: a copy of a test is no property of a process.
#[test]
fn no_lever_is_forgotten() {
    let claimed: BTreeSet<LeverName> = CLAIMS.iter().map(|it| it.lever).collect();
    // A shell has no random numbers: that one has its contract with runners that have.
    let others = [LeverName::BesideItself, LeverName::Seed];
    let all: BTreeSet<LeverName> = claimed.into_iter().chain(others).collect();
    assert_eq!(all, LeverName::ALL.into_iter().collect());
}

fn holds(claim: &Claim) -> Result<(), String> {
    let lever = claim.lever;
    let project = suite(&PROBE.replace("LOOK", claim.look));
    let ran = cause_in_shell(&project, "probe", &format!("{lever}{}", claim.value));
    if is_not_tried(&ran, lever.word()) {
        skipped::note(&format!("the contract of {lever}"), "it is not allowed here");
        return Ok(());
    }
    let seen = all_seen(&project);
    let (plain, later) = seen.split_at_checked(3).ok_or_else(|| ran.text())?;
    if plain.iter().any(|it| it != &plain[0]) {
        let differing = changed(&plain[0], &plain[1]);
        return Err(format!("{lever}: plain runs differ in {differing:?}"));
    }
    let mut all_changed = BTreeSet::new();
    for one in later {
        all_changed.extend(changed(&plain[0], one));
    }
    let allowed = |key: &String| {
        claim.changes.contains(&key.as_str()) || claim.may_change.contains(&key.as_str())
    };
    if let Some(key) = all_changed.iter().find(|key| !allowed(key)) {
        return Err(format!("{lever} also changes {key}"));
    }
    match claim.changes.iter().find(|key| !all_changed.contains(**key)) {
        Some(key) => Err(format!("{lever} does not change {key}:\n{}", ran.text())),
        None => Ok(()),
    }
}

type Seen = BTreeMap<String, String>;

/// What each run saw, in their order.
fn all_seen(project: &Project) -> Vec<Seen> {
    let entries = std::fs::read_dir(project.path().join("seen")).into_iter().flatten().flatten();
    let number = |name: &str| name.split('.').next().and_then(|it| it.parse::<u32>().ok());
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some((number(&entry.file_name().to_string_lossy())?, entry.path())))
        .collect();
    files.sort();
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    files.into_iter().map(|(_, path)| facts(&read(path))).collect()
}

fn facts(text: &str) -> Seen {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn changed(one: &Seen, other: &Seen) -> BTreeSet<String> {
    let keys = one.keys().chain(other.keys());
    keys.filter(|key| one.get(*key) != other.get(*key)).cloned().collect()
}
