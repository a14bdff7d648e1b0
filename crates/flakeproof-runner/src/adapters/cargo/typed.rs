//! Commands that show a failure again, as the user would type them.

use flakeproof_core::TestId;

use super::command::Runner;
use super::found::{Found, Group, Place, Way};
use super::session::Session;
use crate::adapter::LONGEST_COMMAND;

/// The user's command for one test alone.
pub(super) fn for_one(session: &Session, test: &TestId) -> String {
    let place = session.found().ok().and_then(|found| Some((found, found.places.get(test)?)));
    match place {
        Some((found, place)) => shell(&for_places(session, &found.groups[place.group], &[*place])),
        None => shell(&session.settings.command),
    }
}

/// The user's command for some tests in this order; `None` where the harness would not run them so.
pub(super) fn for_order(session: &Session, order: &[TestId]) -> Option<String> {
    let found = session.found().ok()?;
    let places = order.iter().map(|test| found.places.get(test).copied());
    let places = places.collect::<Option<Vec<_>>>()?;
    if places.len() == 1 {
        return order.first().map(|test| for_one(session, test));
    }
    let group = group_of_order(found, &places)?;
    let is_in_order = places.windows(2).all(|two| two[0].index < two[1].index);
    let can_be_run = is_in_order && group.is_shared() && session.command.runner == Runner::Test;
    let command = can_be_run.then(|| shell(&for_places(session, group, &places)))?;
    (command.chars().count() <= LONGEST_COMMAND).then_some(command)
}

/// A command that lists the ids that Rust's own harness knows.
pub(super) fn to_list(session: &Session) -> String {
    let mut words = session.command.cargo(match session.command.runner {
        Runner::Test => &["test"],
        Runner::Nextest => &["nextest", "list"],
    });
    words.extend(session.command.building());
    if session.command.runner == Runner::Test {
        words.extend(["--".to_owned(), "--list".to_owned()]);
    }
    shell(&words)
}

fn group_of_order<'a>(found: &'a Found, places: &[Place]) -> Option<&'a Group> {
    let first = places.first()?;
    let is_one = places.iter().all(|place| place.group == first.group);
    is_one.then(|| &found.groups[first.group])
}

fn for_places(session: &Session, group: &Group, places: &[Place]) -> Vec<String> {
    let command = &session.command;
    let names = places.iter().map(|place| group.tests[place.index].name.as_str());
    let mut words = command.cargo(match command.runner {
        Runner::Test => &["test"],
        Runner::Nextest => &["nextest", "run"],
    });
    words.extend(command.only_building());
    words.extend(["-p".to_owned(), group.package.clone()]);
    words.extend(group.target.options());
    words.push("--".to_owned());
    match &group.way {
        // rustdoc takes names apart at spaces, so the last part has to do: the line.
        Way::Documentation => {
            let last = names.filter_map(|name| name.split_once("(line ")).map(|(_, line)| line);
            words.extend(command.harness.for_any());
            words.extend(last.map(|line| line.split_whitespace().next().unwrap_or("").to_owned()));
        }
        Way::Whole(_) => words.extend(command.harness.typed.iter().cloned()),
        Way::Harness(_) | Way::OwnHarness(_) => words.extend(command.harness.naming(names)),
    }
    if places.len() > 1 {
        words.push("--test-threads=1".to_owned());
    }
    if words.last().is_some_and(|word| word == "--") {
        words.pop();
    }
    words
}

/// Words as a POSIX shell reads them.
pub(super) fn shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_what_was_meant() {
        assert_eq!(quoted("tests::a"), "tests::a");
        assert_eq!(quoted("3)"), "'3)'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
