//! What makes a test fail, in a sentence that a person can act on.

use flakeproof_core::{Cause, CauseAnswer, LeverName, LeverValue, Tally, TriedLever};

/// What makes a test fail, in one sentence, and what to do about it.
#[must_use]
pub fn cause(cause: &Cause) -> String {
    let text = match (cause.answer, cause.lever()) {
        (CauseAnswer::CausedBy | CauseAnswer::RaisedBy, Some(lever)) => failing(lever),
        (CauseAnswer::StabilisedBy, Some(lever)) => passing(lever),
        _ if cause.always_fails() => format!(
            "fails {} with nothing changed, and no lever makes it pass: it is broken rather than \
             flaky",
            of_runs(cause.plain)
        ),
        (CauseAnswer::NotReproduced, _) => format!(
            "never failed, neither in {} plain runs nor under any lever that was tried",
            cause.plain.runs
        ),
        _ => match suspected(cause) {
            Some(lever) => format!(
                "fails {} with nothing changed; it failed {} {}, which is not proven yet",
                of_runs(cause.plain),
                of_runs(lever.with),
                under(lever.name, &lever.value),
            ),
            None => format!(
                "fails {} with nothing changed, and none of the levers tried makes a difference",
                of_runs(cause.plain)
            ),
        },
    };
    let place = cause.failure.as_ref().and_then(|it| it.location.as_ref());
    match place.filter(|_| cause.answer.is_cause()) {
        Some(place) => format!("{text} (it fails at {place})"),
        None => text,
    }
}

/// The first lever under which a test failed that never did otherwise, where nothing speaks against it:
/// there was no time for a proof.
fn suspected(cause: &Cause) -> Option<&TriedLever> {
    let fails = |it: &&TriedLever| {
        let share = f64::from(it.with.failures) / f64::from(it.with.runs.max(1));
        share > 0.5 && it.plain.failures == 0 && it.remark.is_none()
    };
    cause.levers.iter().filter(|_| cause.plain.failures == 0).find(fails)
}

fn failing(lever: &TriedLever) -> String {
    // What has all but what matters is named as such, lest it is taken for another thing to mend.
    let instead =
        lever.beside.as_ref().map(|it| format!(" (with {it} instead)")).unwrap_or_default();
    format!(
        "fails {} {}, and {} without{instead}: {}",
        of_runs(lever.with),
        under(lever.name, &lever.value),
        of_runs(lever.plain),
        hint(lever.name),
    )
}

fn passing(lever: &TriedLever) -> String {
    format!(
        "fails {} by itself, and {} {}: {}",
        of_runs(lever.plain),
        of_runs(lever.with),
        under(lever.name, &lever.value),
        hint(lever.name),
    )
}

fn of_runs(tally: Tally) -> String {
    format!("{} of {}", tally.failures, tally.runs)
}

/// The circumstances that a lever makes: `when the time zone is Asia/Kolkata`.
#[must_use]
pub fn under_lever(lever: &LeverValue) -> String {
    under(lever.name, &lever.value)
}

/// The circumstances that a lever makes, to stand behind "fails".
fn under(lever: LeverName, value: &str) -> String {
    match lever {
        LeverName::Zone => format!("when the time zone is {value}"),
        LeverName::Locale => format!("in the locale {value}"),
        LeverName::HashSeed => format!("when hashes have the seed {value}"),
        LeverName::Seed => format!("when random numbers come from {value}"),
        LeverName::Order => format!("when it runs {value}"),
        LeverName::Terminal => format!("when the terminal has {value}"),
        LeverName::Ci => format!("with the variables of CI {value}"),
        LeverName::Home => format!("when the home folder is {value}"),
        LeverName::Temp => format!("when temporary files go to {value}"),
        LeverName::Umask => format!("with the umask {value}"),
        LeverName::Descriptors => format!("when it may have no more than {value}"),
        LeverName::Memory => format!("when it may have no more than {value}"),
        LeverName::Signals => format!("when whoever starts it ignores {value}"),
        LeverName::Addresses => format!("when addresses in memory are {value}"),
        LeverName::BesideItself => format!("beside {value} in the same folder"),
        LeverName::OneCore => format!("when it has {value}"),
        LeverName::Quota => format!("when it gets the processor for {value}"),
        LeverName::Load => format!("beside {value}"),
        LeverName::NoNetwork => format!("when the network reaches {value}"),
        LeverName::NoDns => format!("when {value} is found"),
        LeverName::Clock => format!("when the clock says {value}"),
        LeverName::Scheduling => format!("with {value}"),
        LeverName::SlowCalls => format!("with {value}"),
        LeverName::SlowNetwork => format!("when the network takes {value}"),
    }
}

/// What to look for.
fn hint(lever: LeverName) -> &'static str {
    match lever {
        LeverName::Zone => {
            "it takes the local time for that of another zone; set the zone in the test, or work in UTC"
        }
        LeverName::Locale => {
            "it depends on the language or the encoding of the machine; name the locale or the encoding \
             where text is compared, changed in case, formatted or opened"
        }
        LeverName::HashSeed => {
            "it depends on the order of a set or a dictionary; sort, or compare without regard to order"
        }
        LeverName::Seed => {
            "it depends on numbers that are drawn; give what draws them a seed in the test, or check what \
             holds for every draw"
        }
        LeverName::Order => {
            "other tests leave something behind that it depends on; `flakeproof hunt --victim` names them"
        }
        LeverName::Terminal => {
            "it compares text that is laid out or coloured for the terminal; set the width and the colours in the \
             test"
        }
        LeverName::Ci => "something behaves differently in CI; set those variables in the test",
        LeverName::Home => "it reads what a user has at home; give it a home folder of its own",
        LeverName::Temp => {
            "it expects something in the folder for temporary files, or at a fixed place there; make what \
             it needs in a new folder"
        }
        LeverName::Umask => {
            "it compares the rights of files; set them with `chmod` where they matter"
        }
        LeverName::Descriptors => {
            "it has many files open at once, or leaves them open; close each one before the next"
        }
        LeverName::Memory => {
            "it keeps much in memory at once, or asks for more than it needs; take it in parts"
        }
        LeverName::Signals => {
            "it expects to hear a signal that a background job or `nohup` ignores; set what it does with \
             the signal in the test"
        }
        LeverName::Addresses => {
            "it depends on where things lie in memory, such as the order of objects by their address"
        }
        LeverName::BesideItself => {
            "two of it get in each other's way: a fixed port, file or name that both use; let the system \
             choose"
        }
        LeverName::OneCore => {
            "something in it expects that two threads run at once; wait for what the other one does"
        }
        LeverName::Quota | LeverName::Load => {
            "something in it waits for a fixed time, or expects to be fast; wait for the event itself, \
             with a generous deadline"
        }
        LeverName::NoNetwork => {
            "it needs that network; replace the other side by a fake in the test"
        }
        LeverName::NoDns => {
            "it looks up the name of a machine; use the address `127.0.0.1`, or replace the lookup by a \
             fake in the test"
        }
        LeverName::Clock => {
            "it depends on today's date or the time of the day; give the code a clock that the test sets"
        }
        LeverName::Scheduling => {
            "threads race: what one does is not waited for by the other; join it, or guard what they share"
        }
        LeverName::SlowCalls => {
            "something in it expects the system to be fast; wait for the event itself"
        }
        LeverName::SlowNetwork => {
            "something in it expects the network to be fast; wait for the answer itself, with a generous \
             deadline"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cause_is_told_with_its_rates_and_what_to_do() {
        assert_eq!(
            cause(&sample::cause().cause),
            "fails 9 of 9 when the time zone is Asia/Kolkata, and 0 of 9 without: it takes the local \
             time for that of another zone; set the zone in the test, or work in UTC (it fails at \
             tests/test_day.py:12)"
        );
    }

    #[test]
    fn what_is_not_proven_is_told_as_such() {
        let mut none = sample::cause().cause;
        (none.answer, none.plain) = (CauseAnswer::None, Tally { runs: 20, failures: 4 });
        none.levers.clear();
        assert!(
            cause(&none).contains("fails 4 of 20 with nothing changed, and none of the levers")
        );
        none.plain = Tally { runs: 4, failures: 0 };
        none.levers = sample::cause().cause.levers;
        none.levers[0].with = Tally { runs: 2, failures: 2 };
        none.levers[0].plain = Tally { runs: 2, failures: 0 };
        assert!(
            cause(&none).contains("it failed 2 of 2 when the time zone is"),
            "{}",
            cause(&none)
        );
        assert!(cause(&none).contains("not proven yet"));
        none.levers.clear();
        none.plain = Tally { runs: 5, failures: 5 };
        assert!(cause(&none).contains("broken rather than flaky"));
        none.answer = CauseAnswer::NotReproduced;
        none.plain = Tally { runs: 20, failures: 0 };
        assert!(cause(&none).starts_with("never failed, neither in 20 plain runs"));
    }
}
