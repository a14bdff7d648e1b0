//! How an ensemble scores tests: what is read of each in its project's source, and what it comes
//! to.

use flakeproof_core::{DataPath, DataStep, Reason};
use flakeproof_learn::ensemble::{BaseModel, Ensemble, EnsembleScore, Reading, SourceReader};
use flakeproof_learn::flast::Opinion;
use flakeproof_learn::network::PathWriter;
use flakeproof_syntax::dependence::{ContextualPath, EdgeId, Graph, NodeId, PathLimits};
use flakeproof_syntax::flow::Declared;
use flakeproof_syntax::project::Project;
use flakeproof_syntax::smells::SmellReader;
use rayon::prelude::*;

use crate::source::project_source::ProjectSource;
use crate::source::source_tests::SourceTest;

/// So many tests are read at a time: the graphs of a large suite are many.
const AT_ONCE: usize = 2000;
/// Reasons and paths told of a test.
const REASONS: usize = 5;
const PATHS: usize = 3;
/// Longer texts of values are cut.
const LONGEST_VALUE: usize = 60;
const LONGEST_LINE: usize = 160;

/// What an ensemble says of a test.
pub(crate) struct ScoredTest {
    pub(crate) score: f64,
    pub(crate) reasons: Vec<Reason>,
    pub(crate) paths: Vec<DataPath>,
}

impl ScoredTest {
    /// A score without reasons.
    pub(crate) fn from_score(score: f64) -> Self {
        Self { score, reasons: Vec::new(), paths: Vec::new() }
    }
}

/// What the ensemble says of the tests, given what their neighbours say. Reasons and paths are told of
/// those whose score deserves it.
pub(crate) fn score(
    ensemble: &Ensemble<'_>,
    source: &ProjectSource,
    tests: &[SourceTest],
    opinions: &[Opinion],
    deserves: &(dyn Fn(f64) -> bool + Sync),
) -> Vec<ScoredTest> {
    let reader = SourceReader::new(&source.project);
    let names = SmellReader::names();
    let scorer = EnsembleScorer { ensemble, source, reader, names, deserves };
    let chunks = tests.chunks(AT_ONCE).zip(opinions.chunks(AT_ONCE));
    chunks.flat_map(|(tests, opinions)| scorer.chunk(tests, opinions)).collect()
}

struct EnsembleScorer<'h, 'm> {
    ensemble: &'h Ensemble<'m>,
    source: &'h ProjectSource,
    reader: SourceReader<'h>,
    names: Vec<String>,
    deserves: &'h (dyn Fn(f64) -> bool + Sync),
}

/// A test with its graph and the paths in it.
struct Drawn {
    graph: Graph,
    paths: Vec<ContextualPath>,
}

impl EnsembleScorer<'_, '_> {
    fn chunk(&self, tests: &[SourceTest], opinions: &[Opinion]) -> Vec<ScoredTest> {
        let declared: Vec<Option<Declared>> =
            tests.iter().map(|test| self.source.find(&test.id)).collect();
        let drawn: Vec<Option<Drawn>> =
            declared.par_iter().map(|declared| declared.map(|it| self.draw(it))).collect();
        let attention = self.attention(&drawn);
        (0..tests.len())
            .into_par_iter()
            .map(|at| {
                let reading = self.read(&tests[at], declared[at]);
                let paths = attention[at].as_ref();
                let said = self.ensemble.score(&opinions[at], &reading, paths.map(|it| it.score));
                let told = (self.deserves)(said.score);
                let drawn = drawn[at].as_ref().zip(paths).filter(|_| told);
                ScoredTest {
                    score: said.score,
                    reasons: if told { self.reasons(&said, &reading) } else { Vec::new() },
                    paths: drawn.map_or_else(Vec::new, |(drawn, opinion)| {
                        self.paths(drawn, &opinion.attention)
                    }),
                }
            })
            .collect()
    }

    fn draw(&self, declared: Declared) -> Drawn {
        let graph = Graph::new(&self.source.project, declared, None);
        let paths = graph.paths(&self.source.project, &PathLimits::default());
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
        let mut writer = PathWriter::new(&self.source.project);
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

    fn read(&self, test: &SourceTest, declared: Option<Declared>) -> Reading {
        let comments = test.language.into();
        match declared {
            Some(declared) => self.reader.read(declared, &test.class, &test.source, comments),
            None => Reading::of_text(&test.source, &test.class, comments),
        }
    }

    /// What smells the most, as far as the ensemble listens to who smells it.
    fn reasons(&self, said: &EnsembleScore, reading: &Reading) -> Vec<Reason> {
        if said.shares.iter().all(|(member, share)| *member != BaseModel::Smells || *share <= 0.0) {
            return Vec::new();
        }
        let smells = self.ensemble.smells(reading);
        let mut reasons: Vec<Reason> = self
            .names
            .iter()
            .zip(smells)
            .filter(|(_, weight)| *weight > 0.05)
            .map(|(what, weight)| Reason { what: what.clone(), weight })
            .collect();
        reasons.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        reasons.truncate(REASONS);
        reasons
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
                steps: steps(&drawn.graph, &self.source.project, path),
            })
            .collect()
    }
}

fn steps(graph: &Graph, project: &Project, path: &ContextualPath) -> Vec<DataStep> {
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

fn place_of(project: &Project, code: Declared) -> Option<String> {
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
