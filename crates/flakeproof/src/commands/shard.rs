//! `flakeproof shard`: print the tests, or files, of one of several machines that share a suite.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use flakeproof_core::{ExitCode, Piece, Suite, SuiteTest, TestId};
use flakeproof_runner::adapters::{self, RunRequest};
use flakeproof_runner::{Adapter, Cancel, Error};
use flakeproof_store::StoreLocation;

use crate::cli::{ShardArguments, ShardFormat};
use crate::problem::{self, Problem};
use crate::session::sharing::{Sharing, known_times};
use crate::session::{Recorder, Start, code_in, current_folder, listen_for_interrupts};
use crate::settings::{ConfigurationFile, RawSettings};
use crate::view;

/// Run the command.
pub(crate) fn run(typed: &ShardArguments) -> Result<ExitCode, Problem> {
    let folder = current_folder()?;
    let variables: BTreeMap<String, String> = std::env::vars().collect();
    let shard = typed.shard.resolve(&variables)?;
    let file = ConfigurationFile::find(None, &folder)?;
    let settings = RawSettings {
        store: typed.store.clone(),
        adapter: typed.adapter.clone(),
        ..RawSettings::default()
    };
    let settings = settings.over(file.layer(None)?);
    let store = match settings.store {
        Some(name) => name.locate(&folder)?,
        None => StoreLocation::Project(file.project.clone()),
    };
    let code = code_in(&folder);
    let (suite, piece) = match &typed.tests {
        Some(list) => (listed(list)?, Piece::Test),
        None => {
            let cancel = listen_for_interrupts(&flakeproof_runner::Waiting::default());
            let request = request(typed, settings.adapter.clone(), &folder, &file, &cancel);
            found(request, &typed.command)?
        }
    };
    let piece = if typed.files { Piece::File } else { piece };
    if let (true, Some(test)) = (typed.files, suite.tests.iter().find(|it| it.location.is_none())) {
        let what = format!("this runner does not say in which file `{}` is", test.id.shown());
        return Err(Problem::usage(what, "leave out `--files`"));
    }
    let recorder = Recorder::open(&store, &folder);
    let mut times = known_times(&**recorder.shared().borrow(), &code.wait(), &variables)?;
    recorder.check_readable()?;
    if typed.tests.is_some() {
        times = times_of_lines(&suite, &times);
    }
    let sharing = Sharing::new(&suite, &times, piece, shard);
    view::shard_notice(&sharing.notice());
    match typed.output_format {
        ShardFormat::Lines if typed.files => view::shard_lines(sharing.own().files()),
        ShardFormat::Lines => {
            view::shard_lines(sharing.own().tests.iter().map(|test| test.id.as_str()));
        }
        ShardFormat::Json => view::shard_json(shard, &sharing.shards, &sharing.plan()),
    }
    Ok(ExitCode::Clean)
}

fn request(
    typed: &ShardArguments,
    adapter: Option<String>,
    folder: &Path,
    file: &ConfigurationFile,
    cancel: &Cancel,
) -> RunRequest {
    let start = Start::now();
    RunRequest {
        command: typed.command.clone(),
        folder: folder.to_path_buf(),
        adapter,
        timeout: None,
        run: start.id(),
        seed: start.seed(),
        is_output_shown: false,
        profiles: file.runners(),
        is_whole_suite_next: false,
        builds: flakeproof_runner::adapters::Builds::New,
        cancel: cancel.clone(),
        in_force: flakeproof_runner::levers::InForce::default(),
    }
}

/// The suite as its runner finds it, and what of it must stay together.
fn found(request: RunRequest, command: &[String]) -> Result<(Suite, Piece), Problem> {
    let adapter: Box<dyn Adapter> = adapters::open(request).map_err(problem::explain)?;
    match adapter.discover() {
        Ok(suite) if suite.tests.is_empty() => Err(problem::no_tests(command)),
        Ok(suite) => Ok((suite, adapter.can().piece)),
        Err(Error::CollectOnly { .. }) => Err(Problem::usage(
            "the command only collects tests",
            "leave out the option that does so after `--`",
        )),
        Err(error) => Err(problem::explain(error)),
    }
}

/// The tests, or files, that somebody lists.
fn listed(list: &Path) -> Result<Suite, Problem> {
    let text = match list == Path::new("-") {
        true => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).map(|_| text)
        }
        false => std::fs::read_to_string(list),
    };
    let text = text.map_err(|error| {
        let what = format!("the list of tests in {} cannot be read: {error}", list.display());
        Problem::usage(what, "check the path after `--tests`")
    })?;
    let mut seen = BTreeSet::new();
    let lines =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty() && seen.insert(*line));
    let tests: Vec<SuiteTest> =
        lines.map(|line| SuiteTest { id: line.into(), location: None }).collect();
    if tests.is_empty() {
        let what = format!("the list of tests in {} is empty", list.display());
        return Err(Problem::new(ExitCode::NoTests, what, "look at the command that writes it"));
    }
    Ok(Suite { tests, problems: Vec::new() })
}

/// What stands between the name of a file, class or package and that of a test in it.
const AFTER_A_FILE: [char; 5] = [':', '[', '#', '.', ' '];

/// How long the test of each line takes, or all tests of the file that it names.
fn times_of_lines(suite: &Suite, known: &BTreeMap<TestId, Duration>) -> BTreeMap<TestId, Duration> {
    let time = |line: &TestId| {
        let own = known.get(line).copied();
        own.or_else(|| {
            let below = known
                .range(line.clone()..)
                .take_while(|(id, _)| id.as_str().starts_with(line.as_str()));
            let in_it = below
                .filter(|(id, _)| id.as_str()[line.as_str().len()..].starts_with(AFTER_A_FILE));
            let times: Vec<Duration> = in_it.map(|(_, time)| *time).collect();
            (!times.is_empty()).then(|| times.iter().sum())
        })
    };
    suite.ids().into_iter().filter_map(|line| Some((line.clone(), time(&line)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_test_or_a_file_with_all_its_tests() {
        let known: BTreeMap<TestId, Duration> = [
            ("a.py::one", 1),
            ("a.py::two", 2),
            ("a.pyc::no", 100),
            ("spec/b_spec.rb[1:1]", 4),
            ("m/shop.TestA", 8),
            ("m/shop/sub.TestB", 16),
            ("C#m", 32),
        ]
        .map(|(id, seconds)| (id.into(), Duration::from_secs(seconds)))
        .into();
        let lines = ["a.py", "a.py::two", "spec/b_spec.rb", "m/shop", "C", "new"];
        let tests = lines.map(|line| SuiteTest { id: line.into(), location: None });
        let suite = Suite { tests: tests.to_vec(), problems: Vec::new() };
        let times = times_of_lines(&suite, &known);
        let seconds = lines.map(|line| times.get(line).map(Duration::as_secs));
        assert_eq!(seconds, [Some(3), Some(2), Some(4), Some(8), Some(32), None]);
    }
}
