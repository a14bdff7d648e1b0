//! What proves a patch: the test passes where it used to fail, its neighbours fare as before, and the tests
//! that were changed still notice a fault.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use flakeproof_core::{
    Execution, ExitCode, FaultNoticed, FixEnd, FixTest, FixVerdict, FormerRate, Isolation,
    LeverValue, Outcome, PatchProof, Shuffle, Tally, TestId,
};
use flakeproof_detect::cause::UnderLever;
use flakeproof_detect::verify::{Claim, verify};
use flakeproof_fix::Proposal;
use flakeproof_fix::java::mentions;
use flakeproof_fix::mutants::{Mutant, mutants};
use flakeproof_fix::python::PythonFile;

use super::copies::{Copies, Copy, Stop, Written, is_java, passed};

/// So often the test must fail without the patch in a copy, or nothing can be proven there.
const FAILURES: u32 = 3;
/// At most so often it is run for that, where it fails by chance.
const MOST_RUNS: u32 = 30;
/// So often each side runs its neighbours, in turns.
const TURNS: u32 = 2;
/// And so often where something differs.
const MOST_TURNS: u32 = 4;
/// So many faults are tried for each changed test.
const MOST_FAULTS: usize = 8;

/// What the test that is mended needs to be run as it used to fail.
pub(super) struct Failing {
    /// The test.
    pub(super) test: TestId,
    /// The orders in which it fails, itself last.
    pub(super) orders: Vec<Vec<TestId>>,
    /// An order in which it passes.
    pub(super) passing: Vec<TestId>,
    /// What decided the orders that the language leaves open where it failed, if not the runtime.
    pub(super) shuffle: Option<Shuffle>,
    /// The lever that makes it fail, where that is what does.
    pub(super) under: Option<LeverInForce>,
    /// Other values of the lever that was shown to matter: a patch must hold under them, too.
    pub(super) others: Vec<LeverInForce>,
    /// How often it failed.
    pub(super) was: FormerRate,
    /// How sure a proof must be.
    pub(super) confidence: f64,
}

/// A lever, ready to be pulled in any of the copies.
pub(super) struct LeverInForce {
    pub(super) value: LeverValue,
    pub(super) under: UnderLever,
}

/// What an attempt to prove a patch came to.
pub(super) type Proven = Result<PatchProof, String>;

impl Failing {
    /// How the test fares without a patch, as it used to fail. An error is why it cannot be mended here.
    pub(super) fn fails_in_a_copy(
        &self,
        copies: &Copies<'_>,
    ) -> Result<Result<Tally, String>, Stop> {
        let mut tally = Tally::default();
        let mut count = |execution: Option<&Execution>| match execution.map(|it| it.outcome) {
            Some(Outcome::Skipped) | None => tally,
            Some(outcome) => {
                tally.count(outcome.is_failure());
                tally
            }
        };
        if self.is_of_an_order() {
            for order in self.orders.iter().cycle().take(FAILURES as usize) {
                copies.may_go_on()?;
                count(copies.without.outcomes(order)?.last().and_then(Option::as_ref));
            }
        } else {
            let enough = FixTest::new(self.was.rate, self.confidence, 1).needed();
            for _ in 0..enough.clamp(FAILURES, MOST_RUNS) {
                copies.may_go_on()?;
                if count(self.run_in(&copies.without)?.as_ref()).failures >= FAILURES {
                    break;
                }
            }
        }
        Ok(match tally {
            Tally { runs: 0, .. } => Err("it does not run in a copy of the project".to_owned()),
            Tally { failures: 0, runs } => Err(format!(
                "in a copy of the project it passed {runs} of {runs} times where it used to fail"
            )),
            tally => Ok(tally),
        })
    }

    /// Whether other tests before it are what makes it fail.
    fn is_of_an_order(&self) -> bool {
        self.under.is_none() && self.others.is_empty() && self.shuffle.is_none()
    }

    /// How the test ends in a copy, run once as it used to fail; `None` if it is not reached.
    pub(super) fn run_in(&self, copy: &Copy) -> Result<Option<Execution>, Stop> {
        match (&self.under, self.orders.first()) {
            (Some(lever), _) => copy.under(&lever.under, &self.test),
            (None, Some(order)) => copy.replayed(order, self.shuffle.as_ref()),
            (None, None) => Ok(None),
        }
    }

    /// Prove a patch.
    pub(super) fn prove(
        &self,
        proposal: &Proposal,
        changed: &[TestId],
        without: Tally,
        copies: &Copies<'_>,
    ) -> Result<Proven, Stop> {
        let written = match copies.put(&proposal.files)? {
            Ok(written) => written,
            Err(why) => return Ok(Err(why)),
        };
        let (with, not_excluded) = match self.passes_now(&written, copies)? {
            Ok(proven) => proven,
            Err(why) => return Ok(Err(why)),
        };
        let neighbours = match neighbours(proposal, copies)? {
            Ok(neighbours) => neighbours,
            Err(why) => return Ok(Err(why)),
        };
        drop(written);
        let mut faults = Vec::new();
        for test in changed {
            match self.still_notices(test, proposal, copies)? {
                Ok(noticed) => faults.push(noticed),
                Err(why) => return Ok(Err(why)),
            }
        }
        let Neighbours { unchanged, mended, turns } = neighbours;
        let under = self.under.iter().map(|it| it.value.to_string()).collect();
        Ok(Ok(PatchProof { without, with, not_excluded, unchanged, mended, turns, faults, under }))
    }

    /// Whether the test passes as often as `verify` asks.
    fn passes_now(
        &self,
        written: &Written<'_>,
        copies: &Copies<'_>,
    ) -> Result<Result<(Tally, f64), String>, Stop> {
        let Ok((adapter, _)) = copies.rediscover(written) else {
            return Ok(Err("the suite cannot be collected with it".to_owned()));
        };
        let count = u32::try_from(self.orders.len()).unwrap_or(u32::MAX);
        let runs = FixTest::new(self.was.rate, self.confidence, count);
        let claim = Claim {
            orders: self.orders.clone(),
            control: self.is_of_an_order().then(|| self.passing.clone()),
            shuffle: self.shuffle.clone(),
            under: self.under.as_ref().map(|it| it.under.clone()),
            runs: runs.failing_at_most(self.was.high()),
            // Copies of an interpreter share its hashes.
            isolation: match self.is_of_an_order() {
                true => adapter.can().judging(Isolation::Fork),
                false => Isolation::Spawn,
            },
            budget: copies.budget_left(),
        };
        let begin = std::time::Instant::now();
        let clock = || begin.elapsed();
        let cancel = copies.cancel();
        let verified = verify(&*adapter, &claim, &clock, cancel, &mut |_| ())?;
        let tally = verified.runs.tally();
        Ok(match (verified.verdict, verified.end) {
            (_, FixEnd::Interrupted) => return Err(Stop::Interrupted),
            (Some(FixVerdict::Fixed), _) => Ok((tally, verified.runs.not_excluded())),
            (Some(FixVerdict::StillFlaky | FixVerdict::AlwaysFails), _) => {
                let message = verified.failure.map(|it| it.message).unwrap_or_default();
                Err(format!(
                    "it still fails, {} of {} times: {message}",
                    tally.failures, tally.runs
                ))
            }
            (None, FixEnd::BudgetSpent) => return Err(Stop::BudgetSpent),
            (None, _) => Err("it is not reached with the patch".to_owned()),
        })
    }

    /// Whether a changed test notices a fault in the code that it runs, with the patch as without.
    fn still_notices(
        &self,
        test: &TestId,
        proposal: &Proposal,
        copies: &Copies<'_>,
    ) -> Result<Result<FaultNoticed, String>, Stop> {
        // A brittle test fails alone, whatever the code does.
        let order = match *test == self.test {
            true => self.passing.clone(),
            false => vec![test.clone()],
        };
        let alone = [test.clone()];
        let mut tried = 0;
        for fault in faults(&order, copies)? {
            copies.may_go_on()?;
            tried += 1;
            let is_noticed_without = {
                let put = Written::put(&copies.without, [(&*fault.path, &*fault.text)])?;
                let Ok(_fault) = put else { continue };
                !passed(copies.without.outcomes(&order)?.last().and_then(Option::as_ref))
            };
            if !is_noticed_without {
                continue;
            }
            let Ok(_patch) = copies.put(&proposal.files)? else { continue };
            let put = Written::put(&copies.with, [(&*fault.path, &*fault.text)])?;
            let Ok(_fault) = put else { continue };
            let place = format!("{}:{}", fault.path, fault.line);
            if passed(copies.with.outcomes(&alone)?.last().and_then(Option::as_ref)) {
                let why = format!("with it, {test} no longer notices a fault in {place}");
                return Ok(Err(why));
            }
            let fault = format!("{place}, `{}` instead of `{}`", fault.is, fault.was);
            return Ok(Ok(FaultNoticed { test: test.clone(), fault: Some(fault), tried }));
        }
        Ok(Ok(FaultNoticed { test: test.clone(), fault: None, tried }))
    }
}

/// Faults in the functions of the project that the last test of an order runs.
fn faults(order: &[TestId], copies: &Copies<'_>) -> Result<Vec<Mutant>, Stop> {
    let tests: BTreeSet<String> =
        copies.without.suite.tests.iter().filter_map(|it| copies.file_of(&it.id)).collect();
    let mut by_file: Vec<Vec<Mutant>> = Vec::new();
    for (file, ran) in copies.without.lines_run(order)? {
        let is_of_tests = tests.contains(&file)
            || file.ends_with("conftest.py")
            || (is_java(&file) && file.contains("src/test/"));
        let Some(text) = copies.text(&file).filter(|_| !is_of_tests) else { continue };
        if let Ok(found) = mutants(&file, &text, &ran)
            && !found.is_empty()
        {
            by_file.push(found);
        }
    }
    // In turns, so that one large file does not hide the others.
    let longest = by_file.iter().map(Vec::len).max().unwrap_or(0);
    let in_turns = (0..longest).flat_map(|at| by_file.iter().filter_map(move |it| it.get(at)));
    Ok(in_turns.take(MOST_FAULTS).cloned().collect())
}

/// How the neighbours of a patch fare.
struct Neighbours {
    unchanged: u32,
    mended: u32,
    turns: u32,
}

/// Whether each test of the files changed, and of all test files that import them, ends as before.
fn neighbours(
    proposal: &Proposal,
    copies: &Copies<'_>,
) -> Result<Result<Neighbours, String>, Stop> {
    let tests = tests_near(proposal, copies);
    let mut seen: BTreeMap<&TestId, [BTreeSet<Option<Outcome>>; 2]> = BTreeMap::new();
    let mut turns = 0;
    loop {
        copies.may_go_on()?;
        for (side, copy) in [&copies.without, &copies.with].into_iter().enumerate() {
            for (test, execution) in tests.iter().zip(copy.outcomes(&tests)?) {
                let outcomes = seen.entry(test).or_default();
                outcomes[side].insert(execution.map(|it| it.outcome));
            }
        }
        turns += 1;
        let is_the_same = seen.values().all(|[without, with]| without == with || passes(with));
        if turns >= MOST_TURNS || (turns >= TURNS && is_the_same) {
            break;
        }
    }
    let (mut unchanged, mut mended) = (0, 0);
    for (test, [without, with]) in &seen {
        if without == with {
            unchanged += 1;
        } else if passes(with) {
            mended += 1;
        } else if with.is_subset(without) || without.is_subset(with) && without.len() > 1 {
            // It varies by chance without the patch, too.
            unchanged += 1;
        } else {
            return Ok(Err(format!(
                "{test} {} without it and {} with it",
                words(without),
                words(with)
            )));
        }
    }
    Ok(Ok(Neighbours { unchanged, mended, turns }))
}

/// Whether a test passed each time.
fn passes(outcomes: &BTreeSet<Option<Outcome>>) -> bool {
    outcomes.len() == 1 && outcomes.contains(&Some(Outcome::Passed))
}

fn words(outcomes: &BTreeSet<Option<Outcome>>) -> String {
    let word = |outcome: &Option<Outcome>| match outcome {
        Some(outcome) => outcome.to_string(),
        None => "did not run".to_owned(),
    };
    outcomes.iter().map(word).collect::<Vec<_>>().join(" or ")
}

/// The tests of the files changed, and of all test files that import them, in the suite's order.
fn tests_near(proposal: &Proposal, copies: &Copies<'_>) -> Vec<TestId> {
    let mut near: BTreeSet<String> = proposal.files.iter().map(|it| it.path.clone()).collect();
    let tests = &copies.without.suite.tests;
    let file_of: Vec<Option<String>> = tests.iter().map(|it| copies.file_of(&it.id)).collect();
    let all: BTreeSet<&String> = file_of.iter().flatten().collect();
    let uses: Vec<(&String, Uses)> = all
        .into_iter()
        .filter_map(|file| Some((file, Uses::of(file, copies.text(file)?)?)))
        .collect();
    loop {
        let more: Vec<String> = uses
            .iter()
            .filter(|(file, uses)| !near.contains(*file) && near.iter().any(|it| uses.meet(it)))
            .map(|(file, _)| (*file).clone())
            .collect();
        if more.is_empty() {
            break;
        }
        near.extend(more);
    }
    let is_near =
        |(_, file): &(_, &Option<String>)| file.as_ref().is_some_and(|file| near.contains(file));
    tests.iter().zip(&file_of).filter(is_near).map(|(test, _)| test.id.clone()).collect()
}

/// What a file of tests uses of others.
enum Uses {
    /// The modules that it imports.
    Modules(Vec<String>),
    /// Its text: a class of the same package is named without an import.
    Text(String),
}

impl Uses {
    fn of(file: &str, text: String) -> Option<Self> {
        match is_java(file) {
            true => Some(Self::Text(text)),
            false => Some(Self::Modules(PythonFile::parse(file, text).ok()?.imported_modules())),
        }
    }

    /// Whether they may mean a file.
    fn meet(&self, file: &str) -> bool {
        match self {
            Self::Modules(modules) => {
                modules.iter().any(|module| is_same_module(&module_of(file), module))
            }
            Self::Text(text) => {
                let class = Path::new(file).file_stem().unwrap_or_default().to_string_lossy();
                mentions(text, &class)
            }
        }
    }
}

fn module_of(file: &str) -> String {
    file.trim_end_matches(".py").replace('/', ".")
}

/// Whether an import may mean the module of a file, however its packages are found.
fn is_same_module(file: &str, import: &str) -> bool {
    let import = import.trim_start_matches('.');
    !import.is_empty() && (file == import || file.ends_with(&format!(".{import}")))
}

/// How the program ends after a search.
pub(super) fn exit_of(has_patch: bool, is_interrupted: bool) -> ExitCode {
    match (has_patch, is_interrupted) {
        (_, true) => ExitCode::Interrupted,
        (true, false) => ExitCode::Clean,
        (false, false) => ExitCode::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_meets_a_file_however_its_packages_are_found() {
        assert!(is_same_module("tests.test_shop", "test_shop"));
        assert!(is_same_module("tests.test_shop", ".test_shop"));
        assert!(is_same_module("tests.test_shop", "tests.test_shop"));
        assert!(!is_same_module("tests.test_shop", "shop"));
        assert!(!is_same_module("tests.test_shop", "."));
    }
}
