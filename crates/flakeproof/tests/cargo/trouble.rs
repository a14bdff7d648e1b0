//! What is said when there is nothing to run.

use flakeproof_runner::{Blame, Error};

use crate::claims::Claim;
use crate::scene::{Crate, manifest};

pub(crate) const CLAIMS: &[Claim] = claims![
    code_that_does_not_compile_is_shown,
    a_command_that_selects_nothing_says_so,
    a_runner_of_the_projects_own_is_not_passed_over,
    a_folder_without_a_project_is_explained,
    the_program_takes_a_cargo_project_by_itself,
];

fn explained(error: Error) -> (Blame, String, String) {
    match error {
        Error::Explained { blame, what, details, .. } => (blame, what, details),
        other => panic!("{other:?}"),
    }
}

fn code_that_does_not_compile_is_shown() {
    let project = Crate::new("fn broken() -> u8 { \"a\" }\n");
    let (blame, what, details) = explained(project.refusal(&[]));
    assert_eq!(blame, Blame::Runner);
    assert!(what.contains("do not compile"), "{what}");
    assert!(details.contains("mismatched types") && details.contains("src/lib.rs:1"), "{details}");
}

fn a_command_that_selects_nothing_says_so() {
    let project = Crate::new("#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n");
    assert_eq!(explained(project.refusal(&["--lib", "nobody"])).0, Blame::NoTests);
    assert_eq!(explained(project.refusal(&["--no-such-option"])).0, Blame::Usage);
    assert_eq!(explained(project.refusal(&["--test", "nobody"])).0, Blame::Usage);
    assert_eq!(explained(project.refusal(&["--", "--list"])).0, Blame::Usage);
}

fn a_runner_of_the_projects_own_is_not_passed_over() {
    let library = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n";
    let project =
        Crate::new(library).file(".cargo/config.toml", "[target.'cfg(unix)']\nrunner = \"nice\"\n");
    let (blame, what, _) = explained(project.refusal(&[]));
    assert_eq!(blame, Blame::Usage);
    assert!(what.contains("runner"), "{what}");
}

fn a_folder_without_a_project_is_explained() {
    let (blame, what, _) = explained(Crate::empty().refusal(&[]));
    assert_eq!(blame, Blame::Usage);
    assert!(what.contains("cargo"), "{what}");
}

fn the_program_takes_a_cargo_project_by_itself() {
    let library = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn one() {}\n}\n";
    let project = Crate::empty().file("Cargo.toml", &manifest("demo")).file("src/lib.rs", library);
    let run = project.run(&[], &["--lib"]);
    assert_eq!(run.code, Some(0), "{}", run.text);
    assert_eq!(run.told("demo::tests::one")[0], "passed");
    let broken = project.run(&[], &["--test", "nobody"]);
    assert_eq!(broken.code, Some(2), "{}", broken.text);
}
