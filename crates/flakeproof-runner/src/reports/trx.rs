//! Visual Studio's test results (TRX), the only report that `dotnet test` writes by itself.

use std::io::{self, BufRead};
use std::time::Duration;

use flakeproof_core::Outcome;

use super::reported::{self, Issues, LONGEST_NAME, LONGEST_TEXT, ReportedFailure, ReportedTest};
use super::xml::{Piece, Pieces, Tag, Texts};

/// Read what follows the opening `TestRun`.
pub(super) fn read<R: BufRead>(
    mut pieces: Pieces<R>,
    issues: &mut Issues,
    sink: &mut dyn FnMut(ReportedTest),
) -> io::Result<()> {
    let mut test: Option<(ReportedTest, usize)> = None;
    let mut into = Into::Nothing;
    let mut depth = 0_usize;
    loop {
        let texts = if into == Into::Nothing { Texts::Skipped } else { Texts::Wanted };
        match pieces.next(texts)? {
            None => break,
            Some(Piece::Open(tag)) => {
                depth += 1;
                match (tag.name(), &test) {
                    (b"UnitTestResult", None) => test = Some((result_of(tag), depth)),
                    (name, Some(_)) => into = Into::of(name),
                    (_, None) => {}
                }
            }
            Some(Piece::Close) => {
                into = Into::Nothing;
                if let Some((whole, _)) = test.take_if(|(_, at)| *at == depth) {
                    sink(whole);
                }
                depth = depth.saturating_sub(1);
            }
            Some(Piece::Text(text)) => {
                if let Some((test, _)) = &mut test {
                    into.append(test, &text);
                }
            }
        }
    }
    if let Some((test, _)) = test {
        issues.serious(pieces.offset(), format!("the report ends inside of `{}`", test.name));
    }
    Ok(())
}

/// Where text belongs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Into {
    Message,
    Trace,
    Output,
    Nothing,
}

impl Into {
    fn of(name: &[u8]) -> Self {
        match name {
            b"Message" => Self::Message,
            b"StackTrace" => Self::Trace,
            b"StdOut" | b"StdErr" => Self::Output,
            _ => Self::Nothing,
        }
    }

    fn append(self, test: &mut ReportedTest, text: &str) {
        let into = match self {
            Self::Message => &mut test.failure.get_or_insert_default().message,
            Self::Trace => &mut test.failure.get_or_insert_default().text,
            Self::Output => &mut test.output,
            Self::Nothing => return,
        };
        reported::append(into, text, LONGEST_TEXT);
    }
}

fn result_of(tag: Tag<'_>) -> ReportedTest {
    let mut test = ReportedTest::named("");
    for (name, value) in tag.attributes() {
        match name {
            b"testName" => {
                test.name = value.into_owned();
                reported::cut(&mut test.name, LONGEST_NAME);
            }
            b"duration" => test.duration = clock(&value),
            b"outcome" => test.outcome = outcome_of(&value),
            _ => {}
        }
    }
    if test.outcome.is_failure() {
        test.failure = Some(ReportedFailure::default());
    }
    test
}

/// Only what is known to be good is good.
fn outcome_of(word: &str) -> Outcome {
    match word {
        "Passed" | "PassedButRunAborted" | "Completed" | "Warning" => Outcome::Passed,
        "NotExecuted" | "NotRunnable" | "Inconclusive" | "Pending" => Outcome::Skipped,
        "Timeout" => Outcome::TimedOut,
        "Error" | "Aborted" | "Disconnected" => Outcome::Errored,
        _ => Outcome::Failed,
    }
}

/// A duration as a clock shows it: `00:00:01.2345678`.
fn clock(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    for part in text.split(':') {
        total = total * 60.0 + part.parse::<f64>().ok()?;
    }
    Duration::try_from_secs_f64(total).ok()
}
