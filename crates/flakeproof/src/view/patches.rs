//! What mends a test, as a person reads it: the patch, the idea, the proof, and what to do next.

use std::fmt::Write as _;
use std::time::Duration;

use flakeproof_core::{Applied, PatchFindings, PatchProof, ProvenPatch, TestId, foreign_text};
use flakeproof_report::words;
use indicatif::{ProgressBar, ProgressStyle};

use super::terminal::{self, BAD, DIM, GOOD, OPEN, STRONG, count};

/// So many ideas that came to nothing are told; the rest is counted.
const TRIED: usize = 8;

/// How far a search is, on stderr.
pub(crate) struct FixProgress(ProgressBar);

impl FixProgress {
    /// Begin to mend a test.
    pub(crate) fn start(test: &TestId) -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(format!("copying the project to mend {}", test.shown()));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// An idea is tried.
    pub(crate) fn trying(&self, idea: &str) {
        self.0.set_message(format!("trying: {}", foreign_text::on_one_line(idea)));
    }

    /// An idea works, and is being proven.
    pub(crate) fn proving(&self, idea: &str) {
        self.0.set_message(format!("proving: {}", foreign_text::on_one_line(idea)));
    }

    /// The search is over.
    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Print what mends a test: to stdout, or to stderr where stdout carries data.
pub(crate) fn patches(findings: &PatchFindings, is_stdout_taken: bool) {
    let text = rendered(findings);
    // A reader that went away has all it wanted.
    let _ = if is_stdout_taken { terminal::err(&text) } else { terminal::out(&text) };
}

fn rendered(findings: &PatchFindings) -> String {
    let mut text = String::new();
    let test = findings.test.shown();
    match findings.patches.first() {
        Some(patch) => proven(&mut text, patch, findings),
        None if findings.is_interrupted => {
            let _ = writeln!(text, "{OPEN}interrupted{OPEN:#}: no patch for {test} is proven yet");
        }
        None => {
            let _ = writeln!(text, "{BAD}no patch is proven{BAD:#} for {STRONG}{test}{STRONG:#}");
        }
    }
    if findings.patches.is_empty() {
        tried(&mut text, findings);
        for advice in &findings.advice {
            let _ = writeln!(text, "{advice}");
        }
    }
    for notice in &findings.notices {
        let _ = writeln!(text, "{OPEN}note{OPEN:#}: {}; {}", notice.what, notice.next);
    }
    if findings.patches.is_empty() && !findings.is_interrupted {
        let (repro, explain) = (typed("repro", &findings.test), typed("explain", &findings.test));
        let _ = writeln!(
            text,
            "{DIM}next: `{repro}` shows the failure, `{explain}` what is known{DIM:#}"
        );
    }
    text
}

fn proven(text: &mut String, patch: &ProvenPatch, findings: &PatchFindings) {
    for line in patch.diff.lines() {
        let line = foreign_text::on_one_line(line);
        let _ = match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++") => writeln!(text, "{GOOD}{line}{GOOD:#}"),
            Some(b'-') if !line.starts_with("---") => writeln!(text, "{BAD}{line}{BAD:#}"),
            Some(b'@') => writeln!(text, "{DIM}{line}{DIM:#}"),
            _ => writeln!(text, "{line}"),
        };
    }
    let _ = writeln!(text);
    let idea = foreign_text::on_one_line(&patch.idea);
    let _ = writeln!(text, "{STRONG}idea{STRONG:#}: {idea}");
    if let Some(hides) = &patch.hides {
        let _ = writeln!(text, "{OPEN}note{OPEN:#}: {hides}");
    }
    let _ = writeln!(text, "{GOOD}proven{GOOD:#}:");
    for line in proof_lines(&patch.proof) {
        let _ = writeln!(text, "  {line}");
    }
    if !findings.tried.is_empty() {
        let ideas = count(findings.tried.len(), "other idea");
        let _ = writeln!(text, "{DIM}{ideas} came to nothing first{DIM:#}");
    }
    let again = typed("fix", &findings.test);
    let _ = match &findings.applied {
        Applied::Shown => {
            writeln!(text, "next: `{again} --apply` writes it, `--branch NAME` commits it")
        }
        Applied::Files => {
            writeln!(text, "written to {}; next: look at it and commit it", patch.files.join(", "))
        }
        Applied::Branch { name } => {
            writeln!(text, "committed to the branch `{name}`; next: look at it and merge it")
        }
    };
}

fn proof_lines(proof: &PatchProof) -> Vec<String> {
    let (with, without) = (proof.with, proof.without);
    let passes = u64::from(with.runs - with.failures);
    let mut lines = vec![format!(
        "it passes {} of {} times where it failed {} of {} without the patch; a failure rate below \
         {:.1} % is not excluded",
        words::grouped(passes),
        words::grouped(u64::from(with.runs)),
        without.failures,
        without.runs,
        100.0 * proof.not_excluded,
    )];
    if !proof.under.is_empty() {
        lines.push(format!("it passes under {}, and with nothing changed", proof.under.join(", ")));
    }
    let mended = match proof.mended {
        0 => String::new(),
        1 => " and 1 that failed passes now".to_owned(),
        mended => format!(" and {mended} that failed pass now"),
    };
    let end = if proof.unchanged == 1 { "ends" } else { "end" };
    lines.push(format!(
        "of the files it changes and of those that import them, {} {end} as before{mended} ({} with \
         it and as many without, in turns)",
        count(proof.unchanged as usize, "test"),
        count(proof.turns as usize, "run"),
    ));
    for noticed in &proof.faults {
        let test = noticed.test.shown();
        lines.push(match (&noticed.fault, noticed.tried) {
            (Some(fault), _) => {
                format!("{test} still fails with a fault in {}", foreign_text::on_one_line(fault))
            }
            (None, 0) => format!("{test} runs no code of the project in which to put a fault"),
            (None, tried) => format!(
                "{test} noticed none of {} before, and so cannot miss one now",
                count(tried as usize, "fault")
            ),
        });
    }
    lines
}

/// A command of ours about the test, as a person types it.
fn typed(command: &str, test: &TestId) -> String {
    words::command(&["flakeproof".to_owned(), command.to_owned(), test.to_string()])
}

fn tried(text: &mut String, findings: &PatchFindings) {
    if findings.tried.is_empty() {
        return;
    }
    let _ = writeln!(text, "tried:");
    for tried in findings.tried.iter().take(TRIED) {
        let idea = foreign_text::on_one_line(&tried.idea);
        let why = foreign_text::on_one_line(&tried.why_not);
        let _ = writeln!(text, "  {idea}\n      {DIM}{why}{DIM:#}");
    }
    if let Some(more @ 1..) = findings.tried.len().checked_sub(TRIED) {
        let _ = writeln!(text, "  and {more} more: `--reporter json=FILE` names them");
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{ExitCode, FaultNoticed, FlakyKind, RunFacts, Seed, Tally, TriedPatch};

    use super::*;

    fn findings() -> PatchFindings {
        PatchFindings {
            run: RunFacts {
                id: "1".into(),
                command: vec!["pytest".into()],
                runner: "pytest 8.3.5, Python 3.11.7".into(),
                started: "2026-11-20T10:00:00Z".into(),
                duration: Duration::from_secs(12),
                seed: Seed(7),
                revision: None,
                version: "0.2.0".into(),
            },
            test: "test_shop.py::test_empty".into(),
            kind: Some(FlakyKind::Victim),
            patches: vec![ProvenPatch {
                files: vec!["test_shop.py".into()],
                diff: "--- a/test_shop.py\n+++ b/test_shop.py\n@@ -1,2 +1,3 @@\n-def test_add():\n\
                       +def test_add(monkeypatch):\n+    monkeypatch.setattr(shop, \"X\", shop.X[:])\n"
                    .into(),
                idea: "put back `shop.X` after test_shop.py::test_add".into(),
                hides: None,
                proof: PatchProof {
                    without: Tally { runs: 3, failures: 3 },
                    with: Tally { runs: 9, failures: 0 },
                    not_excluded: 0.283,
                    unchanged: 11,
                    mended: 1,
                    turns: 2,
                    under: Vec::new(),
                    faults: vec![FaultNoticed {
                        test: "test_shop.py::test_add".into(),
                        fault: Some("shop.py:7, `None` instead of `len(X)`".into()),
                        tried: 1,
                    }],
                },
            }],
            tried: Vec::new(),
            advice: Vec::new(),
            applied: Applied::Shown,
            is_interrupted: false,
            notices: Vec::new(),
            exit: ExitCode::Clean,
        }
    }

    fn plain(findings: &PatchFindings) -> String {
        anstream::adapter::strip_str(&rendered(findings)).to_string()
    }

    #[test]
    fn a_patch_comes_with_its_idea_its_proof_and_the_next_step() {
        insta::assert_snapshot!(plain(&findings()));
    }

    #[test]
    fn what_was_tried_in_vain_is_told_with_why() {
        let tried = vec![TriedPatch {
            idea: "put back `shop.X` after test_add".into(),
            why_not: "it still fails: assert [3] == []".into(),
        }];
        insta::assert_snapshot!(plain(&PatchFindings { patches: Vec::new(), tried, ..findings() }));
    }
}
