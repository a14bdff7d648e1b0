//! From what was asked for to the strategy of the hunt, and what the reader should know about it:
//! for CANNIER, which tests it reruns and classifies, and which pairs it tries, by what models say;
//! for a pull request, the tests it is about: new ones, changed ones, and suspects beside them.

use std::collections::BTreeSet;
use std::path::Path;

use flakeproof_core::{History, HuntedTest, Notice, Region, Suite, SuiteTest, TestId, Thresholds};
use flakeproof_detect::hunt::{Candidates, Strategy};
use flakeproof_learn::cannier;

use super::opinions::{ByFeatures, BySource, ForestSays};
use super::priors::Priors;
use crate::cli::Asked;
use crate::models::model;
use crate::problem::Problem;
use crate::settings::{BALANCED_RERUN, StrategyName, StrategyOptions};
use crate::source::changed_tests::ChangedTests;
use crate::source::source_tests::SourceTest;

/// The strategy of a hunt, and what comes with it.
#[derive(Debug, Default)]
pub(super) struct ChosenStrategy {
    pub(super) strategy: Strategy,
    /// The only tests that are looked at, if not all are.
    pub(super) targets: Option<Targets>,
    /// What the reader should know before it begins: which models steer, and which tests are looked at.
    pub(super) first: Vec<Notice>,
    /// What the reader should know in the end.
    pub(super) notices: Vec<Notice>,
}

/// The strategy where nobody says anything: a plan, if the project has a model of its own.
pub(super) fn usual(folder: &Path) -> StrategyName {
    if model::is_any_in(folder) { StrategyName::Plan } else { StrategyName::Off }
}

impl ChosenStrategy {
    /// Ask the models about the suite. The places of its tests are relative to `root`; models are
    /// looked for in `folder`.
    pub(super) fn choose(
        asked: &Asked,
        suite: &Suite,
        root: &Path,
        folder: &Path,
        history: &dyn History,
    ) -> Result<Self, Problem> {
        if asked.strategy == StrategyOptions::Off {
            return Ok(Self::default());
        }
        let by_source = BySource::ask(suite, root, folder)?;
        let by_features = ByFeatures::ask(suite, folder, history)?;
        let mut chosen = Self {
            first: vec![models(&asked.strategy, &by_source, &by_features)],
            ..Self::default()
        };
        match &asked.strategy {
            StrategyOptions::Off => {}
            StrategyOptions::Cannier { thresholds } => {
                let few = choose(suite, &by_source, &by_features, *thresholds);
                chosen.strategy = Strategy::Cannier(few.candidates);
                chosen.notices = few.notices;
            }
            StrategyOptions::Plan { may_stay_hidden, rates } => {
                let mut priors = Priors::from_opinions(&by_source, &by_features);
                // Without a history nobody is known.
                priors.recall(suite, &history.known_flaky().unwrap_or_default());
                if let Some(base) = &asked.diff {
                    let changed = ChangedTests::since(base, root)?;
                    let targets = Targets::choose(suite, &by_source, &changed);
                    targets.narrow(&mut priors);
                    chosen.first.push(looked_at(&targets, base));
                    chosen.targets = Some(targets);
                }
                chosen.strategy = Strategy::Plan(priors.forecast(suite, rates, *may_stay_hidden));
            }
        }
        chosen.notices.extend(by_source.notices);
        Ok(chosen)
    }
}

fn looked_at(targets: &Targets, base: &str) -> Notice {
    let (all, changed) = (targets.len(), targets.changed());
    let suspects = match all - changed {
        0 => String::new(),
        1 => ", and 1 in the same files looks flaky".to_owned(),
        suspects => format!(", and {suspects} in the same files look flaky"),
    };
    let changed = match changed {
        1 => "1 test was".to_owned(),
        changed => format!("{changed} tests were"),
    };
    Notice {
        what: format!("{changed} added or changed since `{base}`{suspects}"),
        next: "only they are looked at; the others run beside them".into(),
    }
}

fn models(options: &StrategyOptions, by_source: &BySource, by_features: &ByFeatures) -> Notice {
    let questions: &[cannier::Problem] = match options {
        StrategyOptions::Off => &[],
        StrategyOptions::Plan { .. } => &[cannier::Problem::Nod, cannier::Problem::Victim],
        StrategyOptions::Cannier { .. } => &cannier::Problem::ALL,
    };
    let forests = questions.iter().filter_map(|question| by_features.on(*question));
    let mut names = vec![by_source.model.as_str()];
    names.extend(forests.map(|said| said.name.as_str()));
    let (how, next) = match options {
        StrategyOptions::Off => ("nothing", ""),
        StrategyOptions::Cannier { .. } => ("CANNIER", "`--steer off` reruns every test"),
        StrategyOptions::Plan { .. } => ("a plan", "`--steer off` treats every test alike"),
    };
    let say = if names.len() == 1 { "says" } else { "say" };
    let what = format!("{how} steers this hunt, by what {} {say}", names.join(" and "));
    Notice { what, next: next.to_owned() }
}

/// Which tests CANNIER looks at, and what the reader should know about it.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) candidates: Candidates,
    pub(super) notices: Vec<Notice>,
}

/// Choose by the forests; where there is none for reruns, by the source. The typed thresholds are
/// those of reruns.
pub(super) fn choose(
    suite: &Suite,
    by_source: &BySource,
    by_features: &ByFeatures,
    typed: Option<Thresholds>,
) -> Chosen {
    let mut chooser = Chooser { by_features, are_papers: Vec::new() };
    let nod = by_features.on(cannier::Problem::Nod);
    let thresholds = typed.unwrap_or_else(|| chooser.thresholds(cannier::Problem::Nod));
    let reruns = match nod {
        Some(said) => regions(said, thresholds),
        None => by_source.flaky.iter().map(|it| thresholds.region(*it)).collect(),
    };
    let candidates = Candidates {
        kinds: chooser.regions(cannier::Problem::NodVsVictim),
        victims: chooser.candidates(cannier::Problem::Victim),
        polluters: chooser.candidates(cannier::Problem::Polluter),
        reruns: None,
    };
    let mut notices: Vec<Notice> = chooser.notice().into_iter().collect();
    notices.extend(believed(suite, &reruns, thresholds));
    Chosen { candidates: Candidates { reruns: Some(reruns), ..candidates }, notices }
}

struct Chooser<'a> {
    by_features: &'a ByFeatures,
    /// Questions for which the paper's thresholds stand in.
    are_papers: Vec<cannier::Problem>,
}

impl Chooser<'_> {
    fn thresholds(&mut self, question: cannier::Problem) -> Thresholds {
        let kept = self.by_features.on(question).and_then(|said| said.thresholds);
        kept.unwrap_or_else(|| {
            self.are_papers.push(question);
            balanced(question)
        })
    }

    fn regions(&mut self, question: cannier::Problem) -> Option<Vec<Region>> {
        let said = self.by_features.on(question)?;
        Some(regions(said, self.thresholds(question)))
    }

    /// Who is not below the threshold.
    fn candidates(&mut self, question: cannier::Problem) -> Option<Vec<bool>> {
        let regions = self.regions(question)?;
        Some(regions.into_iter().map(|region| region != Region::Below).collect())
    }

    fn notice(&self) -> Option<Notice> {
        let words: Vec<&str> = self.are_papers.iter().map(|question| question.word()).collect();
        (!words.is_empty()).then(|| Notice {
            what: format!(
                "no thresholds are kept for {}: those of the CANNIER paper stand in",
                words.join(", ")
            ),
            next:
                "train forests on your own history (`flakeproof train forest`), or give `--lower` \
                   and `--upper`"
                    .into(),
        })
    }
}

/// The balanced points of the paper (Tables 8, 9 and 10).
fn balanced(question: cannier::Problem) -> Thresholds {
    let (lower, upper) = match question {
        cannier::Problem::Nod => BALANCED_RERUN,
        cannier::Problem::NodVsVictim => (0.18, Thresholds::UNREACHED),
        cannier::Problem::Victim => (0.06, Thresholds::UNREACHED),
        cannier::Problem::Polluter => (0.09, Thresholds::UNREACHED),
    };
    Thresholds::new(lower, upper).unwrap_or(Thresholds::RERUN_ALL)
}

/// A test that nobody measured is ambiguous.
fn regions(said: &ForestSays, thresholds: Thresholds) -> Vec<Region> {
    let region = |raw: f64| thresholds.region(raw);
    said.answers.iter().map(|it| it.map_or(Region::Ambiguous, |it| region(it.raw))).collect()
}

/// What a model says without a run is not reported as found.
fn believed(suite: &Suite, reruns: &[Region], thresholds: Thresholds) -> Option<Notice> {
    let above = suite.tests.iter().zip(reruns).filter(|(_, region)| **region == Region::Above);
    let above: Vec<&str> = above.map(|(test, _)| test.id.as_str()).collect();
    let (first, rest) = above.split_first()?;
    let others = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(Notice {
        what: format!(
            "a model says that `{first}`{others} is flaky with at least {}: not rerun, and not called \
             flaky without a run",
            thresholds.upper()
        ),
        next: "`--upper 1.01` reruns them, too".into(),
    })
}

/// Nobody has seen a new test pass before: it is at least so likely flaky.
const NEW: f64 = 0.05;

/// Why a test is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It was added or changed.
    Changed,
    /// It looks flaky, and its file was touched.
    Suspicious,
}

/// The tests that a pull request is about.
#[derive(Debug, Default)]
pub(super) struct Targets {
    /// For each test of the suite, in its order.
    reasons: Vec<Option<Reason>>,
    ids: BTreeSet<TestId>,
}

impl Targets {
    /// Of the tests of a suite, those that a change is about.
    pub(super) fn choose(suite: &Suite, by_source: &BySource, changed: &ChangedTests) -> Self {
        let told = by_source.written.iter().zip(&by_source.is_suspicious);
        let tests = suite.tests.iter().zip(told);
        let reason =
            |(test, (written, is_suspicious)): (&SuiteTest, (&Option<SourceTest>, &bool))| {
                match written {
                    Some(written) if changed.holds(written) => Some(Reason::Changed),
                    Some(written) if *is_suspicious && changed.holds_file(&written.file) => {
                        Some(Reason::Suspicious)
                    }
                    Some(_) => None,
                    // A test that is made at run time may come from any line of its file.
                    None => changed.holds_file(file_of(&test.id)).then_some(Reason::Changed),
                }
            };
        Self::with(suite, tests.map(reason).collect())
    }

    fn with(suite: &Suite, reasons: Vec<Option<Reason>>) -> Self {
        let tests = suite.tests.iter().zip(&reasons).filter(|(_, reason)| reason.is_some());
        let ids = tests.map(|(test, _)| test.id.clone()).collect();
        Self { reasons, ids }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// How many of them were added or changed.
    pub(super) fn changed(&self) -> usize {
        self.reasons.iter().filter(|reason| **reason == Some(Reason::Changed)).count()
    }

    /// Nobody asks about the other tests.
    fn narrow(&self, priors: &mut Priors) {
        let likely = priors.flaky.iter_mut().zip(&mut priors.victim);
        for ((flaky, victim), reason) in likely.zip(&self.reasons) {
            match reason {
                Some(Reason::Changed) => *flaky = flaky.max(NEW),
                Some(Reason::Suspicious) => {}
                None => (*flaky, *victim) = (0.0, 0.0),
            }
        }
    }

    /// Whether a finding is the pull request's: about one of these tests, or made by one.
    pub(super) fn concern(&self, test: &HuntedTest) -> bool {
        let mut polluters = test.polluters.iter().flatten();
        self.ids.contains(&test.id) || polluters.any(|polluter| self.ids.contains(polluter))
    }
}

fn file_of(test: &TestId) -> &str {
    let id = test.as_str();
    id.split_once("::").map_or(id, |(file, _)| file)
}

#[cfg(test)]
mod tests {
    use flakeproof_core::SuiteTest;

    use super::*;

    fn suite(ids: [&str; 3]) -> Suite {
        let test = |id: &str| SuiteTest { id: id.into(), location: None };
        Suite { tests: ids.map(test).into(), problems: Vec::new() }
    }

    fn by_source() -> BySource {
        BySource {
            flaky: vec![0.01, 0.3, 0.95],
            written: vec![None, None, None],
            is_suspicious: vec![false; 3],
            model: String::new(),
            notices: Vec::new(),
        }
    }

    #[test]
    fn without_forests_the_source_chooses_reruns_and_nothing_else() {
        let typed = Thresholds::new(0.07, 0.9).ok();
        let chosen = choose(&suite(["a", "b", "c"]), &by_source(), &ByFeatures::default(), typed);
        let regions = vec![Region::Below, Region::Ambiguous, Region::Above];
        assert_eq!(chosen.candidates.reruns, Some(regions));
        assert_eq!((chosen.candidates.kinds, chosen.candidates.victims), (None, None));
        let [notice] = &chosen.notices[..] else { panic!("{:?}", chosen.notices) };
        assert!(notice.what.contains("`c` is flaky with at least 0.9"), "{notice:?}");
    }

    #[test]
    fn tests_that_were_not_measured_stay_candidates() {
        let forests = ByFeatures::default()
            .with(cannier::Problem::Nod, &[Some(0.5), None, Some(0.01)])
            .with(cannier::Problem::Polluter, &[Some(0.5), None, Some(0.01)]);
        let chosen = choose(&suite(["a", "b", "c"]), &by_source(), &forests, None);
        let regions = vec![Region::Ambiguous, Region::Ambiguous, Region::Below];
        assert_eq!(chosen.candidates.reruns, Some(regions));
        assert_eq!(chosen.candidates.polluters, Some(vec![true, true, false]));
        let [notice] = &chosen.notices[..] else { panic!("{:?}", chosen.notices) };
        assert!(notice.what.contains("nod, polluter"), "{notice:?}");
    }

    fn targets() -> Targets {
        Targets::with(
            &suite(["new", "suspect", "old"]),
            vec![Some(Reason::Changed), Some(Reason::Suspicious), None],
        )
    }

    #[test]
    fn only_targets_are_asked_about_and_a_new_test_is_doubted() {
        let mut priors = Priors { flaky: vec![0.01, 0.3, 0.9], victim: vec![0.1, 0.1, 0.1] };
        targets().narrow(&mut priors);
        assert_eq!(priors.flaky, [0.05, 0.3, 0.0]);
        assert_eq!(priors.victim, [0.1, 0.1, 0.0]);
    }

    #[test]
    fn a_victim_of_a_new_test_concerns_the_pull_request() {
        let mut victim = HuntedTest::new("old".into(), None);
        assert!(!targets().concern(&victim));
        victim.polluters = vec![vec!["x".into(), "new".into()]];
        assert!(targets().concern(&victim));
        assert!(targets().concern(&HuntedTest::new("suspect".into(), None)));
    }
}
