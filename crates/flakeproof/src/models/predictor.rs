//! What a model predicts of tests. For an ensemble: what is read of each in its project's source,
//! and what score that comes to.

use std::borrow::Cow;
use std::sync::OnceLock;

use flakeproof_core::{
    DataPath, DataStep, ModelFacts, Notice, Prediction, Predictions, Reason, SimilarTest,
};
use flakeproof_learn::ensemble::{
    AskedTest, BaseModel, Basis, Ensemble, EnsembleScore, ReadWords, Reading, SourceReader,
};
use flakeproof_learn::flast::{HoldOut, Neighbourhood, Opinion, SharedTerm, TermField};
use flakeproof_learn::knn::Neighbour;
use flakeproof_learn::network::PathWriter;
use flakeproof_syntax::Language;
use flakeproof_syntax::dependence::{ContextualPath, EdgeId, Graph, NodeId, PathLimits};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::smells::SmellReader;
use rayon::prelude::*;

use super::decision::Decision;
use super::model::{Model, ModelSource};
use super::rule_check;
use super::test_reader::TestReader;
use crate::cli::ThresholdChoice;
use crate::source::project_source::ProjectSource;
use crate::source::source_tests::SourceTest;

/// Neighbours told of each test, flaky or not, and flaky ones told of each suspect.
const NEAREST: usize = 3;
const NEAREST_FLAKY: usize = 5;
/// Words told of each neighbour.
const WORDS: usize = 12;

/// Of which tests the flaky neighbours and shared words are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Only of those called flaky, and of others no neighbour at all unless a member weighs them: what a
    /// person reads of them is their number.
    SuspectsAlone,
    /// Only of those called flaky, thousands of others would drown them; of others the nearest tests.
    OfSuspects,
    /// Of all.
    OfEveryTest,
}

/// What a model says about some tests, without what is to be known of their project.
pub(crate) struct Answer {
    pub(crate) model: ModelFacts,
    /// What the reader should know before anything about the project, and behind it.
    pub(crate) before: Vec<Notice>,
    pub(crate) behind: Vec<Notice>,
    /// Whether the model looks at the project at all.
    pub(crate) is_of_project: bool,
    pub(crate) tests: Vec<Prediction>,
}

impl Answer {
    /// With what is to be known of the project.
    pub(crate) fn in_project(self, project: &ProjectSource) -> Predictions {
        let of_project = if self.is_of_project { &project.notices[..] } else { &[] };
        let notices = self.before.into_iter().chain(of_project.iter().cloned()).chain(self.behind);
        Predictions {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tests: self.tests,
            rules: Vec::new(),
            model: self.model,
            notices: notices.collect(),
        }
    }
}

/// What the model says about the tests of a reader, in their order.
pub(crate) fn predict(
    source: &ModelSource,
    model: &Model<'_>,
    reader: &TestReader<'_>,
    decision: &Decision,
    detail: Detail,
) -> Predictions {
    answer(source, model, reader, decision, detail).in_project(reader.source)
}

/// The same, without what is to be known of the project.
pub(crate) fn answer(
    source: &ModelSource,
    model: &Model<'_>,
    reader: &TestReader<'_>,
    decision: &Decision,
    detail: Detail,
) -> Answer {
    let tests = reader.tests;
    let texts: Vec<_> = tests.iter().map(SourceTest::text).collect();
    let predictor = Predictor { model, known: OnceLock::new(), decision, detail };
    let asks_all = match model {
        Model::Flast(_) => true,
        Model::Ensemble(ensemble) => {
            detail != Detail::SuspectsAlone || ensemble.listens_to(BaseModel::Neighbours)
        }
    };
    let mut opinions = if asks_all {
        predictor.known().ask_tests(&texts)
    } else {
        vec![Opinion::default(); tests.len()]
    };
    let scored: Vec<ScoredTest> = match model {
        Model::Flast(_) => {
            opinions.iter().map(|opinion| ScoredTest::from_score(opinion.flaky_share)).collect()
        }
        Model::Ensemble(ensemble) => {
            let deserves = |score: f64, basis: Basis| predictor.is_told(score, basis);
            ensemble_scores(source, ensemble, reader, &opinions, &deserves)
        }
    };
    if !asks_all {
        // Nobody weighs what neighbours say: only who is told of in detail needs some.
        let is_told = |at: &usize| predictor.is_told(scored[*at].score, scored[*at].basis);
        let told: Vec<usize> = (0..tests.len()).filter(is_told).collect();
        if !told.is_empty() {
            let asked: Vec<_> = told.iter().map(|at| tests[*at].text()).collect();
            let said = predictor.known().ask_tests(&asked);
            told.iter().zip(said).for_each(|(at, opinion)| opinions[*at] = opinion);
        }
    }
    let predictions_of_texts = scored.iter().filter(|it| it.basis == Basis::Text).count();
    let asked = tests.iter().zip(&opinions).zip(scored);
    let predictions =
        asked.map(|((test, opinion), scored)| predictor.prediction(test, opinion, scored));
    Answer {
        model: facts(source, model, decision),
        before: decision.notices.iter().cloned().chain(foreign(source, tests)).collect(),
        is_of_project: matches!(model, Model::Ensemble(_)),
        behind: only_texts(predictions_of_texts, tests.len()).into_iter().collect(),
        tests: predictions.collect(),
    }
}

/// The score of each test of a reader, in their order, and what it rests on.
pub(crate) fn scores(
    source: &ModelSource,
    model: &Model<'_>,
    reader: &TestReader<'_>,
) -> Vec<(f64, Basis)> {
    let hears_neighbours = match model {
        Model::Flast(_) => true,
        Model::Ensemble(ensemble) => ensemble.listens_to(BaseModel::Neighbours),
    };
    let opinions = if hears_neighbours {
        let texts: Vec<_> = reader.tests.iter().map(SourceTest::text).collect();
        model.neighbourhood().ask_tests(&texts)
    } else {
        vec![Opinion::default(); reader.tests.len()]
    };
    match model {
        Model::Flast(_) => opinions.iter().map(|it| (it.flaky_share, Basis::Project)).collect(),
        Model::Ensemble(ensemble) => {
            let scored = ensemble_scores(source, ensemble, reader, &opinions, &|_, _| false);
            scored.iter().map(|it| (it.score, it.basis)).collect()
        }
    }
}

/// Of some tests nothing but their text was known.
fn only_texts(count: usize, all: usize) -> Option<Notice> {
    (count > 0).then(|| Notice {
        what: format!(
            "{count} of {all} tests were judged by their text alone: no code of the project that they use \
             was found"
        ),
        next: "run `predict` in the folder of the project: with its code, more is seen".to_owned(),
    })
}

/// The model inside the program has seen Java only.
fn foreign(source: &ModelSource, tests: &[SourceTest]) -> Option<Notice> {
    let mut languages: Vec<&str> = tests
        .iter()
        .map(|test| test.language)
        .filter(|language| !rule_check::is_seen(*language))
        .map(Language::name)
        .collect();
    languages.sort_unstable();
    languages.dedup();
    (source.is_shipped() && !languages.is_empty()).then(|| Notice {
        what: format!(
            "the model inside flakeproof learned from Java; nobody measured it on {}",
            languages.join(", ")
        ),
        next: "take its suspects as hints, and train a model on your own tests".to_owned(),
    })
}

struct Predictor<'q, 'm> {
    model: &'q Model<'m>,
    /// Made when neighbours are first asked for.
    known: OnceLock<Neighbourhood<'q, 'm>>,
    decision: &'q Decision,
    detail: Detail,
}

impl<'q, 'm> Predictor<'q, 'm> {
    fn known(&self) -> &Neighbourhood<'q, 'm> {
        self.known.get_or_init(|| self.model.neighbourhood())
    }

    /// Whether a test with this score is told of in detail.
    fn is_told(&self, score: f64, basis: Basis) -> bool {
        let probability = self.model.probability(score, basis);
        self.detail == Detail::OfEveryTest || self.decision.is_flaky(score, basis, probability)
    }

    fn prediction(&self, test: &SourceTest, opinion: &Opinion, scored: ScoredTest) -> Prediction {
        let probability = self.model.probability(scored.score, scored.basis);
        let flaky = self.decision.is_flaky(scored.score, scored.basis, probability);
        let in_detail = flaky || self.detail == Detail::OfEveryTest;
        let told = self.told(opinion, in_detail);
        Prediction {
            id: test.id.clone(),
            file: test.file.clone(),
            line: test.first_line,
            end_line: test.last_line,
            language: test.language.name().to_owned(),
            probability,
            flaky,
            category: flaky.then(|| self.category(test, opinion)).flatten(),
            neighbours: told.map(|it| self.similar(test, it, in_detail)).collect(),
            rules: Vec::new(),
            known: None,
            reasons: scored.reasons,
            paths: scored.paths,
        }
    }

    /// The neighbours worth telling: the nearest, and in detail the nearest flaky ones.
    fn told<'o>(
        &self,
        opinion: &'o Opinion,
        in_detail: bool,
    ) -> impl Iterator<Item = &'o Neighbour> {
        let corpus = self.model.corpus();
        let mut flaky_told = 0;
        opinion.neighbours.iter().enumerate().filter_map(move |(rank, neighbour)| {
            let is_told_as_flaky =
                in_detail && corpus.is_flaky(neighbour.row) && flaky_told < NEAREST_FLAKY;
            flaky_told += usize::from(is_told_as_flaky);
            (rank < NEAREST || is_told_as_flaky).then_some(neighbour)
        })
    }

    fn similar(&self, test: &SourceTest, neighbour: &Neighbour, with_words: bool) -> SimilarTest {
        let corpus = self.model.corpus();
        let shared = if with_words {
            self.known().shared_terms(&test.text(), neighbour.row)
        } else {
            Vec::new()
        };
        SimilarTest {
            id: corpus.id(neighbour.row).to_owned(),
            project: corpus.project(neighbour.row).to_owned(),
            similarity: f64::from(neighbour.similarity).clamp(0.0, 1.0),
            flaky: corpus.is_flaky(neighbour.row),
            category: corpus.category(neighbour.row).map(str::to_owned),
            shared: shared.iter().take(WORDS).map(readable).collect(),
        }
    }

    /// The category of its neighbours; where none has one, that of the nearest tests that do.
    fn category(&self, test: &SourceTest, opinion: &Opinion) -> Option<String> {
        let near = self.known().category(opinion).map(|(category, _)| category.to_owned());
        near.or_else(|| {
            let opinions = self.known().ask_categorised(&[test.text()]);
            let category = self.known().category(opinions.first()?)?.0.to_owned();
            Some(category)
        })
    }
}

fn readable(shared: &SharedTerm) -> String {
    match shared.field {
        TermField::Source => shared.term.clone(),
        TermField::Class => format!("{} (class)", shared.term),
        TermField::Package => format!("{} (package)", shared.term),
    }
}

fn facts(source: &ModelSource, model: &Model<'_>, decision: &Decision) -> ModelFacts {
    let (tests, flaky) = model.tests();
    let measured = decision.measured(source);
    let (recipe, projects, data) = model.origin();
    ModelFacts {
        name: source.name(),
        kind: model.kind().to_owned(),
        recipe: recipe.to_owned(),
        tests,
        flaky,
        projects,
        data: data.to_owned(),
        held_out: match model.hold_out() {
            HoldOut::Test => "test",
            HoldOut::Class => "class",
            HoldOut::Project => "project",
        }
        .to_owned(),
        precision: measured.map(|it| it.precision),
        recall: measured.map(|it| it.recall),
        threshold: match decision.choice {
            ThresholdChoice::Balanced => "balanced".to_owned(),
            ThresholdChoice::Careful => "careful".to_owned(),
            ThresholdChoice::Probability(lowest) => lowest.to_string(),
        },
    }
}

/// So many tests are read at a time: the graphs of a large suite are many.
const AT_ONCE: usize = 2000;
/// Reasons and paths told of a test.
const REASONS: usize = 5;
const PATHS: usize = 3;
/// Longer texts of values are cut.
const LONGEST_VALUE: usize = 60;
const LONGEST_LINE: usize = 160;

/// What an ensemble says of a test.
struct ScoredTest {
    pub(crate) score: f64,
    pub(crate) basis: Basis,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) paths: Vec<DataPath>,
}

impl ScoredTest {
    /// A score without reasons.
    fn from_score(score: f64) -> Self {
        Self { score, basis: Basis::Project, reasons: Vec::new(), paths: Vec::new() }
    }

    fn without_reasons(said: &EnsembleScore) -> Self {
        Self { basis: said.basis, ..Self::from_score(said.score) }
    }
}

/// What the ensemble says of the tests, given what their neighbours say. Reasons and paths are told of
/// those whose score deserves it.
fn ensemble_scores(
    source: &ModelSource,
    ensemble: &Ensemble<'_>,
    reader: &TestReader<'_>,
    opinions: &[Opinion],
    deserves: &(dyn Fn(f64, Basis) -> bool + Sync),
) -> Vec<ScoredTest> {
    if ensemble.needs_numbers_alone() {
        return scores_by_numbers(source, ensemble, reader, deserves);
    }
    let with_words = ensemble
        .listens_to(BaseModel::Words)
        .then(|| SourceReader::new(reader.source.index(), ReadWords::Yes));
    // What works in parallel itself must not be begun by one of many threads.
    if with_words.is_none() {
        reader.readings();
    }
    if ensemble.network().is_some() {
        reader.source.index();
    }
    let scorer = EnsembleScorer { ensemble, reader, with_words, deserves };
    let chunks = (0..reader.tests.len()).step_by(AT_ONCE);
    chunks.flat_map(|from| scorer.chunk(from, opinions)).collect()
}

/// The same where nothing but the numbers read of each test decides: they are asked about once.
fn scores_by_numbers(
    source: &ModelSource,
    ensemble: &Ensemble<'_>,
    reader: &TestReader<'_>,
    deserves: &(dyn Fn(f64, Basis) -> bool + Sync),
) -> Vec<ScoredTest> {
    let said = reader.scores(&source.digest(), |readings| {
        let near = &Opinion::default();
        let asked = readings.iter().map(|reading| AskedTest { near, reading, paths: None });
        ensemble.scores(&asked.collect::<Vec<_>>())
    });
    let mut scored: Vec<ScoredTest> = said.iter().map(ScoredTest::without_reasons).collect();
    let told = (0..said.len()).filter(|at| deserves(said[*at].score, said[*at].basis));
    let told: Vec<usize> = told.collect();
    if !told.is_empty() {
        let readings = reader.readings();
        let of_told: Vec<(&EnsembleScore, &Reading)> =
            told.iter().map(|at| (&said[*at], &readings[*at])).collect();
        let reasons = reasons(ensemble, &of_told);
        told.iter().zip(reasons).for_each(|(at, reasons)| scored[*at].reasons = reasons);
    }
    scored
}

struct EnsembleScorer<'h, 'm> {
    ensemble: &'h Ensemble<'m>,
    reader: &'h TestReader<'h>,
    /// Reads words, too, where somebody weighs them.
    with_words: Option<SourceReader<'h>>,
    deserves: &'h (dyn Fn(f64, Basis) -> bool + Sync),
}

/// A test with its graph and the paths in it.
struct Drawn {
    graph: Graph,
    paths: Vec<ContextualPath>,
}

impl EnsembleScorer<'_, '_> {
    /// The scores of the tests from this place on, [`AT_ONCE`] of them.
    fn chunk(&self, from: usize, opinions: &[Opinion]) -> Vec<ScoredTest> {
        let tests = self.reader.tests;
        let places: Vec<usize> = (from..tests.len().min(from + AT_ONCE)).collect();
        // A graph is drawn for who reads it.
        let drawn: Vec<Option<Drawn>> = match self.ensemble.network() {
            Some(_) => {
                let find = |at: &usize| self.reader.find(&tests[*at]);
                places.par_iter().map(|at| find(at).map(|it| self.draw(it))).collect()
            }
            None => places.iter().map(|_| None).collect(),
        };
        let attention = self.attention(&drawn);
        let readings: Vec<Cow<'_, Reading>> = places.par_iter().map(|at| self.read(*at)).collect();
        let asked = places.iter().zip(&readings).zip(&attention);
        let asked = asked.map(|((at, reading), paths)| AskedTest {
            near: &opinions[*at],
            reading,
            paths: paths.as_ref().map(|it| it.score),
        });
        let said = self.ensemble.scores(&asked.collect::<Vec<AskedTest<'_>>>());
        let is_told = |place: &usize| (self.deserves)(said[*place].score, said[*place].basis);
        let told: Vec<usize> = (0..places.len()).filter(is_told).collect();
        let mut scored: Vec<ScoredTest> = said.iter().map(ScoredTest::without_reasons).collect();
        let of_told: Vec<(&EnsembleScore, &Reading)> =
            told.iter().map(|place| (&said[*place], &*readings[*place])).collect();
        let reasons = reasons(self.ensemble, &of_told);
        told.iter().zip(reasons).for_each(|(place, reasons)| scored[*place].reasons = reasons);
        let paths = |place: &usize| {
            let (drawn, opinion) = (drawn[*place].as_ref()?, attention[*place].as_ref()?);
            Some((*place, self.paths(drawn, &opinion.attention)))
        };
        let paths: Vec<_> = told.par_iter().filter_map(paths).collect();
        paths.into_iter().for_each(|(place, paths)| scored[place].paths = paths);
        scored
    }

    fn project(&self) -> &ProjectIndex {
        self.reader.source.index()
    }

    fn draw(&self, declared: Declared) -> Drawn {
        let graph = Graph::new(self.project(), declared, None);
        let paths = graph.paths(self.project(), &PathLimits::default());
        Drawn { graph, paths }
    }

    /// What the network says of each test that has a path.
    fn attention(
        &self,
        drawn: &[Option<Drawn>],
    ) -> Vec<Option<flakeproof_learn::network::NetworkOpinion>> {
        let Some(network) = self.ensemble.network() else {
            return vec![None; drawn.len()];
        };
        let mut writer = PathWriter::new(self.project());
        let written: Vec<Option<u32>> = drawn
            .iter()
            .map(|drawn| drawn.as_ref().filter(|drawn| !drawn.paths.is_empty()))
            .map(|drawn| drawn.map(|drawn| writer.push(&drawn.graph, &drawn.paths)))
            .collect();
        let corpus = writer.into_corpus();
        let asked: Vec<u32> = written.iter().flatten().copied().collect();
        let mut said = network.ask_all(&corpus, &asked).into_iter();
        written.into_iter().map(|test| test.and_then(|_| said.next())).collect()
    }

    /// What is read of the test at this place, with its words where somebody weighs them.
    fn read(&self, at: usize) -> Cow<'_, Reading> {
        let Some(reader) = &self.with_words else {
            return Cow::Borrowed(&self.reader.readings()[at]);
        };
        let test = &self.reader.tests[at];
        let comments = test.language.into();
        Cow::Owned(match self.reader.find(test) {
            Some(declared) => reader.read(declared, &test.class, &test.source, comments),
            None => Reading::of_text(&test.source, &test.class, comments),
        })
    }

    /// The paths with the highest attention.
    fn paths(&self, drawn: &Drawn, attention: &[f32]) -> Vec<DataPath> {
        let mut order: Vec<(f32, &ContextualPath)> =
            attention.iter().copied().zip(&drawn.paths).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        order
            .into_iter()
            .take(PATHS)
            .map(|(attention, path)| DataPath {
                attention: f64::from(attention),
                steps: steps(&drawn.graph, self.project(), path),
            })
            .collect()
    }
}

/// What smells the most in each of these tests, as far as the ensemble listens to who smells it.
fn reasons(ensemble: &Ensemble<'_>, told: &[(&EnsembleScore, &Reading)]) -> Vec<Vec<Reason>> {
    let voice = |said: &EnsembleScore| match said.basis {
        Basis::Text => Some(BaseModel::Text),
        Basis::Project => {
            let voices = [BaseModel::Smells, BaseModel::Text];
            voices.into_iter().find(|member| speaks(said, *member))
        }
    };
    let of = |member: BaseModel| -> Vec<&Reading> {
        let told = told.iter().filter(|(said, _)| voice(said) == Some(member));
        told.map(|(_, reading)| *reading).collect()
    };
    let mut smells = ensemble.smells(&of(BaseModel::Smells)).into_iter();
    let mut cues = ensemble.cues(&of(BaseModel::Text)).into_iter();
    let (names, names_of_test) = (SourceReader::names(), SmellReader::names_of_test());
    let reasons = |(said, _): &(&EnsembleScore, &Reading)| match voice(said) {
        Some(BaseModel::Smells) => strongest(&names, smells.next()),
        Some(_) => strongest(&names_of_test, cues.next()),
        None => Vec::new(),
    };
    told.iter().map(reasons).collect()
}

/// The reasons that weigh most.
fn strongest(names: &[String], weights: Option<Vec<f64>>) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = names
        .iter()
        .zip(weights.unwrap_or_default())
        .filter(|(_, weight)| *weight > 0.05)
        .map(|(what, weight)| Reason { what: what.clone(), weight })
        .collect();
    reasons.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    reasons.truncate(REASONS);
    reasons
}

/// Whether a member adds to the suspicion.
fn speaks(said: &EnsembleScore, member: BaseModel) -> bool {
    said.shares.iter().any(|(it, share)| *it == member && *share > 0.0)
}

fn steps(graph: &Graph, project: &ProjectIndex, path: &ContextualPath) -> Vec<DataStep> {
    let step = |(node, edge): &(NodeId, Option<EdgeId>)| {
        let at = graph.node(*node)?;
        let edge = edge.and_then(|edge| graph.edge(edge));
        let unit = project.units().get(at.unit as usize)?;
        Some(DataStep {
            file: unit.path.clone(),
            line: at.span.line,
            code: line_around(&unit.text, at.span.start as usize),
            value: short(graph.node_text(project, *node)),
            operation: edge
                .map(|edge| edge.operation.texts(project).collect::<Vec<_>>().join(" "))
                .filter(|operation| !operation.is_empty()),
            declared: edge.and_then(|edge| edge.code).and_then(|code| place_of(project, code)),
        })
    };
    path.steps.iter().filter_map(step).collect()
}

fn place_of(project: &ProjectIndex, code: Declared) -> Option<String> {
    let (unit, function) = (project.unit(code)?, project.function(code)?);
    Some(format!("{}:{}", unit.path, function.span.line))
}

/// The line around a place of a text, without the blanks around it.
fn line_around(text: &str, at: usize) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let end = at + after.find('\n').unwrap_or(after.len());
    let line = text.get(start..end).unwrap_or_default().trim();
    line.chars().take(LONGEST_LINE).collect()
}

/// One line, and not too long.
fn short(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
