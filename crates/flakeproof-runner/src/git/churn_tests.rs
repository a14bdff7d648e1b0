//! Churn beside what `git log -L` says about each line.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::sandbox::Sandbox;
use super::*;

/// How often each line of a file changed, by our account.
fn ours(sandbox: &Sandbox, commits: u32, name: &str) -> Vec<u64> {
    let repository = sandbox.repository();
    let churn = repository.churn(commits, &["*.py"]).expect("an answer of git");
    let file = repository.root().join(name);
    (1..=count_lines(&file)).map(|line| churn.of(&file, &Lines::from_iter([line]))).collect()
}

/// The same by git's account, one line at a time.
fn gits(sandbox: &Sandbox, commits: u32, name: &str) -> Vec<u64> {
    let count: u32 =
        sandbox.git(&["rev-list", "--count", "--first-parent", "HEAD"]).trim().parse().unwrap();
    let range = if commits < count { format!("HEAD~{commits}..HEAD") } else { "HEAD".to_owned() };
    (1..=count_lines(&sandbox.path(name)))
        .map(|line| {
            let lines = format!("-L{line},{line}:{name}");
            let question = ["log", "-s", "--format=%H", "--first-parent", &lines, &range];
            sandbox.git(&question).lines().count() as u64
        })
        .collect()
}

fn assert_agrees(sandbox: &Sandbox, commits: u32, name: &str) {
    assert_eq!(ours(sandbox, commits, name), gits(sandbox, commits, name), "{name}");
}

#[test]
fn lines_that_no_commit_has_did_not_change() {
    let sandbox = Sandbox::with([("a.py", "1\n2\n3\n"), ("b.py", "1\n")]);
    sandbox.commit([("a.py", "1\ntwo\n3\n")]);
    sandbox.write("a.py", "new\n1\ntwo\nthree\n");
    sandbox.write("c.py", "1\n");
    assert_eq!(ours(&sandbox, 75, "a.py"), [0, 1, 2, 0]);
    assert_eq!(ours(&sandbox, 75, "b.py"), [1]);
    assert_eq!(ours(&sandbox, 75, "c.py"), [0]);
}

#[test]
fn a_file_is_followed_through_renames_and_edits_of_the_work_tree() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\n";
    let sandbox = Sandbox::with([("a.py", text)]);
    sandbox.git(&["mv", "a.py", "b.py"]);
    sandbox.commit([("b.py", &text.replace("two", "2"))]);
    assert_agrees(&sandbox, 75, "b.py");
    sandbox.git(&["mv", "b.py", "with space.py"]);
    assert_eq!(ours(&sandbox, 75, "with space.py"), [1, 2, 1, 1, 1, 1]);
}

#[test]
fn files_that_swap_their_names_keep_their_history() {
    let (first, second) = ("a\nb\nc\nd\ne\nf\n", "1\n2\n3\n4\n5\n6\n");
    let sandbox = Sandbox::with([("a.py", first), ("b.py", second)]);
    sandbox.commit([("a.py", "a\nb\nc\nd\ne\nF\n")]);
    sandbox.git(&["mv", "a.py", "c.py"]);
    sandbox.git(&["mv", "b.py", "a.py"]);
    sandbox.git(&["mv", "c.py", "b.py"]);
    sandbox.commit([]);
    assert_agrees(&sandbox, 75, "a.py");
    assert_agrees(&sandbox, 75, "b.py");
}

#[test]
fn only_the_last_commits_count_and_a_merge_is_one_of_them() {
    let sandbox = Sandbox::with([("a.py", "1\n2\n3\n4\n")]);
    sandbox.git(&["checkout", "-q", "-b", "topic"]);
    sandbox.commit([("a.py", "one\n2\n3\n4\n")]);
    sandbox.commit([("a.py", "One\n2\n3\n4\n")]);
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.commit([("a.py", "1\n2\n3\nfour\n")]);
    sandbox.git(&["merge", "-q", "--no-edit", "topic"]);
    assert_eq!(ours(&sandbox, 75, "a.py"), [2, 1, 1, 2]);
    for commits in 1..4 {
        assert_agrees(&sandbox, commits, "a.py");
    }
}

#[test]
fn a_shallow_clone_and_a_repository_without_a_commit_have_less_to_tell() {
    let origin = Sandbox::with([("a.py", "1\n2\n")]);
    origin.commit([("a.py", "1\ntwo\n")]);
    origin.commit([("a.py", "1\nTwo\n")]);
    assert_agrees(&origin.cloned(&["--depth=2"]), 75, "a.py");
    assert_eq!(Sandbox::empty().repository().churn(75, &["*.py"]), Ok(Churn::default()));
}

/// An edit of a file of numbered words: replace this many lines at a place by this many new ones.
type Edit = (usize, usize, usize);

fn edited(lines: &mut Vec<String>, (place, gone, new): Edit, fresh: &mut u32) {
    let start = place % (lines.len() + 1);
    let end = (start + gone).min(lines.len());
    let added = (0..new).map(|_| {
        *fresh += 1;
        // Few different lines, so that hunks can be drawn in more than one way.
        format!("{}", *fresh % 5)
    });
    let added: Vec<String> = added.collect();
    lines.splice(start..end, added);
}

fn text(lines: &[String]) -> String {
    lines.iter().fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "{line}");
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_line_changed_as_often_as_git_says(
        commits in prop::collection::vec(
            prop::collection::vec((0..12usize, 0..4usize, 0..4usize), 1..3), 1..8),
        last in 1..9u32,
    ) {
        let sandbox = Sandbox::empty();
        let (mut lines, mut fresh) = (Vec::new(), 0);
        for edits in commits {
            edits.into_iter().for_each(|edit| edited(&mut lines, edit, &mut fresh));
            sandbox.commit([("a.py", &text(&lines))]);
        }
        prop_assert_eq!(ours(&sandbox, last, "a.py"), gits(&sandbox, last, "a.py"));
    }
}
