//! From a hunt in the zoo of JUnit 4 to a proven patch, with the real program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::claims::Claim;

pub(crate) const CLAIMS: &[Claim] =
    claims![a_hunt_finds_a_victim_until_it_is_mended_and_again_when_that_is_undone,];

const POLLUTED: &str = "src/test/java/zoo/T40PollutedStateTest.java";

/// A part of a zoo, copied.
struct Zoo {
    folder: tempfile::TempDir,
    select: &'static str,
}

impl Zoo {
    fn of(framework: &str, select: &'static str) -> Self {
        let zoos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/flaky-zoo");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let from = zoos.join(framework).join("project");
        let copied = Command::new("cp").arg("-r").arg(from).arg(folder.path()).status();
        assert!(copied.is_ok_and(|it| it.success()));
        Self { folder, select }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn flakeproof(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flakeproof"));
        command.args(words).current_dir(self.path()).output().expect("it runs")
    }

    fn hunt(&self, victim: &str) -> Output {
        let options = ["hunt", "--seed", "1", "--victim", victim, "--"];
        self.flakeproof(&[&options[..], &["mvn", "-q", "test", self.select]].concat())
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).expect("it is there")
    }
}

fn says(ran: &Output, code: i32, words: &[&str]) {
    let text =
        [String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr)].concat();
    assert_eq!(ran.status.code(), Some(code), "{text}");
    for word in words {
        assert!(text.contains(word), "{word:?} is not in {text}");
    }
}

fn a_hunt_finds_a_victim_until_it_is_mended_and_again_when_that_is_undone() {
    let zoo = Zoo::of("junit4", "-Dtest=T40PollutedStateTest");
    let victim = "b_victim_of_the_currency";
    says(&zoo.hunt(victim), 1, &["VICTIM (1)", "zoo.Settings.currency"]);
    let before = zoo.read(POLLUTED);
    let expected = [
        "+import org.junit.After;",
        "+    private final String originalCurrency = Settings.currency;",
        "+    public void restoreCurrency() {",
        "put back the static field `zoo.Settings.currency`",
        "a_polluter_switches_currency still fails with a fault in src/main/java/zoo/Settings.java",
        "written to src/test/java/zoo/T40PollutedStateTest.java",
    ];
    says(&zoo.flakeproof(&["fix", victim, "--apply"]), 0, &expected);
    assert!(zoo.read(POLLUTED).contains("Settings.currency = originalCurrency;"));
    says(&zoo.hunt(victim), 0, &[]);
    std::fs::write(zoo.path().join(POLLUTED), before).expect("it is written");
    says(&zoo.hunt(victim), 1, &["VICTIM (1)"]);
}
