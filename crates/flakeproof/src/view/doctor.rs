//! What can be used here, and what is missing.

use std::fmt::Write as _;
use std::path::PathBuf;

use flakeproof_core::LeverName;
use flakeproof_store::StoreStats;
use serde_json::json;

use super::terminal::{self, BAD, DIM, GOOD, STRONG, count};

/// Everything that was looked at.
pub(crate) struct Checkup {
    /// The version of this program.
    pub(crate) version: &'static str,
    /// Where it is.
    pub(crate) program: Option<PathBuf>,
    /// Other programs of the same name on the path.
    pub(crate) others: Vec<PathBuf>,
    /// The project's folder.
    pub(crate) project: PathBuf,
    /// Its configuration file, if it has one.
    pub(crate) configuration: Option<PathBuf>,
    /// The command that most likely runs its tests.
    pub(crate) command: Vec<String>,
    /// Programs of runners.
    pub(crate) runners: Vec<Found>,
    /// Programs without which something is not seen.
    pub(crate) helpers: Vec<Found>,
    /// How many values of each lever can be tried, or why none can.
    pub(crate) levers: Vec<(LeverName, Result<usize, String>)>,
    /// What is on record.
    pub(crate) history: HistoryFound,
}

/// A program that was looked for.
pub(crate) struct Found {
    /// Its name.
    pub(crate) name: &'static str,
    /// What works with it.
    pub(crate) serves: &'static str,
    /// What it says about its version, if it is there.
    pub(crate) version: Option<String>,
}

/// What is on record.
pub(crate) enum HistoryFound {
    /// Nothing yet; it would be here.
    Missing(String),
    /// It cannot be read, and why.
    Unreadable(String, String),
    /// Runs.
    There(StoreStats),
}

/// Print it for people.
pub(crate) fn checkup(checkup: &Checkup) {
    let _ = terminal::out(&text(checkup));
}

/// Print it for programs.
pub(crate) fn checkup_json(checkup: &Checkup) {
    let found = |it: &Found| json!({ "name": it.name, "serves": it.serves, "version": it.version });
    let levers = checkup.levers.iter().map(|(name, settings)| match settings {
        Ok(values) => json!({ "name": name.to_string(), "values": values }),
        Err(why) => json!({ "name": name.to_string(), "values": 0, "why_not": why }),
    });
    let history = match &checkup.history {
        HistoryFound::Missing(place) => json!({ "file": place, "runs": 0 }),
        HistoryFound::Unreadable(place, why) => json!({ "file": place, "why_not": why }),
        HistoryFound::There(stats) => {
            json!({ "file": stats.place, "runs": stats.runs, "tests": stats.tests, "bytes": stats.bytes })
        }
    };
    let document = json!({
        "schema": 1,
        "version": checkup.version,
        "program": checkup.program,
        "other_installations": checkup.others,
        "project": checkup.project,
        "configuration": checkup.configuration,
        "usual_command": checkup.command,
        "runners": checkup.runners.iter().map(found).collect::<Vec<_>>(),
        "helpers": checkup.helpers.iter().map(found).collect::<Vec<_>>(),
        "levers": levers.collect::<Vec<_>>(),
        "history": history,
    });
    super::verbatim(&format!("{document:#}\n"));
}

fn text(checkup: &Checkup) -> String {
    let mut text = String::new();
    let program = checkup.program.as_ref().map(|it| it.display().to_string()).unwrap_or_default();
    let _ =
        writeln!(text, "{STRONG}flakeproof {}{STRONG:#}  {DIM}{program}{DIM:#}", checkup.version);
    for other in &checkup.others {
        let place = other.display();
        let _ = writeln!(text, "  {BAD}✗{BAD:#} {place} is another one: remove one of the two");
    }
    project(&mut text, checkup);
    programs(&mut text, "Runners", &checkup.runners);
    programs(&mut text, "Helpers", &checkup.helpers);
    levers(&mut text, &checkup.levers);
    text
}

fn project(text: &mut String, checkup: &Checkup) {
    let _ = writeln!(text, "\n{STRONG}Project{STRONG:#}  {}", checkup.project.display());
    match &checkup.configuration {
        Some(file) => line(text, true, "configuration", &file.display().to_string()),
        None => line(text, true, "configuration", "none; `flakeproof init` writes one"),
    }
    match &checkup.history {
        HistoryFound::Missing(place) => {
            line(text, true, "history", &format!("none yet; it will be {place}"));
        }
        HistoryFound::Unreadable(place, why) => {
            line(text, false, "history", &format!("{place}: {why}"));
        }
        HistoryFound::There(stats) => {
            let size = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
            let runs = count(size(stats.runs), "run");
            let tests = count(size(stats.tests), "test");
            line(text, true, "history", &format!("{runs} of {tests}, {}", stats.place));
        }
    }
    let command = checkup.command.join(" ");
    line(text, true, "begin with", &format!("`flakeproof run -- {command}`"));
}

fn programs(text: &mut String, title: &str, programs: &[Found]) {
    let _ = writeln!(text, "\n{STRONG}{title}{STRONG:#}");
    for program in programs {
        match &program.version {
            Some(version) => line(text, true, program.name, version),
            None => line(text, false, program.name, &format!("missing: {}", program.serves)),
        }
    }
}

fn levers(text: &mut String, levers: &[(LeverName, Result<usize, String>)]) {
    let usable: Vec<String> =
        levers.iter().filter(|(_, it)| it.is_ok()).map(|(name, _)| name.to_string()).collect();
    let all = levers.len();
    let title = format!("{} of {all} can be pulled here", usable.len());
    let _ = writeln!(text, "\n{STRONG}Levers of `cause`{STRONG:#}  {title}");
    for (name, settings) in levers {
        if let Err(why) = settings {
            line(text, false, &name.to_string(), why);
        }
    }
}

fn line(text: &mut String, is_well: bool, name: &str, value: &str) {
    let (style, mark) = if is_well { (GOOD, '✓') } else { (BAD, '✗') };
    let _ = writeln!(text, "  {style}{mark}{style:#} {name:<13}  {value}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_what_it_is_for() {
        let found = |name, serves, version: Option<&str>| Found {
            name,
            serves,
            version: version.map(str::to_owned),
        };
        let checkup = Checkup {
            version: "1.2.3",
            program: Some("/usr/bin/flakeproof".into()),
            others: vec!["/home/ada/.local/bin/flakeproof".into()],
            project: "/src/shop".into(),
            configuration: None,
            command: vec!["pytest".into()],
            runners: vec![
                found("python3", "pytest", Some("Python 3.13.1")),
                found("go", "go test", None),
            ],
            helpers: vec![found("strace", "files of Go tests", None)],
            levers: vec![
                (LeverName::ALL[0], Ok(5)),
                (LeverName::ALL[1], Err("there is no `locale`".into())),
            ],
            history: HistoryFound::Missing("/src/shop/.flakeproof/history.db".into()),
        };
        insta::assert_snapshot!(anstream::adapter::strip_str(&text(&checkup)).to_string());
    }
}
