//! Tests that are known to be flaky: as a list, and one of them in full: how often it fails, who
//! makes it fail, and how to see that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use flakeproof_core::{
    Cause, Cluster, FlakyKind, HuntedTest, KnownFlaky, Scores, Standing, TestDetail, TestId,
    TestScore,
};
use flakeproof_report::{ClusterDocument, words};
use serde_json::{Value, json};

use super::terminal::{self, CHANCE, DIM, STRONG, count};
use crate::session::listed::ListedHistory;

/// Print the list for people.
pub(crate) fn known_flaky(list: &List<'_>) {
    let _ = terminal::out(&listed(list, 0..usize::MAX));
}

/// A part of the list for people, as it is printed, with how many tests there are in all.
#[cfg(feature = "mcp")]
pub(crate) fn known_flaky_part(list: &List<'_>, part: std::ops::Range<usize>) {
    let _ = terminal::out(&listed(list, part));
}

/// Print the list for programs.
pub(crate) fn known_flaky_json(list: &List<'_>) {
    super::verbatim(&format!("{:#}\n", as_json(list)));
}

fn as_json(list: &List<'_>) -> Value {
    let with_owners = |score: &&TestScore| {
        let mut row = json!(score);
        row["owners"] = json!(list.history.owners(&score.test));
        row
    };
    let scores = list.scores;
    json!({
        "schema": 1,
        "tests": list.flaky.iter().map(Line::as_json).collect::<Vec<_>>(),
        "latent": list.latent.iter().copied().map(cause_as_json).collect::<Vec<_>>(),
        "broken": list.broken.iter().map(with_owners).collect::<Vec<_>>(),
        "mended": list.mended.iter().map(with_owners).collect::<Vec<_>>(),
        "clusters": list.clusters.iter().map(|it| ClusterDocument::new(it)).collect::<Vec<_>>(),
        "outages": scores.outages.len(),
    })
}

/// A flaky test, by what hunts and runs know about it.
pub(crate) struct Line<'k> {
    pub(crate) score: &'k TestScore,
    pub(crate) hunted: Option<&'k KnownFlaky>,
    pub(crate) cause: Option<&'k Cause>,
    pub(crate) owners: &'k [String],
    formerly: &'k [TestId],
}

/// The tests that need work, those first that fail every time.
pub(crate) struct List<'k> {
    pub(crate) broken: Vec<&'k TestScore>,
    pub(crate) flaky: Vec<Line<'k>>,
    pub(crate) latent: Vec<&'k Cause>,
    mended: Vec<&'k TestScore>,
    clusters: Vec<&'k Cluster>,
    scores: &'k Scores,
    history: &'k ListedHistory,
    owner: Option<&'k str>,
}

impl<'k> List<'k> {
    /// What hunts, runs and experiments come to, about the tests of one owner if one is named.
    pub(crate) fn new(history: &'k ListedHistory, owner: Option<&'k str>) -> Self {
        let scores = &history.scores;
        let is_owned = |test: &TestId| {
            owner.is_none_or(|owner| {
                history.owners(test).iter().any(|it| it.eq_ignore_ascii_case(owner))
            })
        };
        let of_standing = |standing| -> Vec<&'k TestScore> {
            scores.standing(standing).filter(|score| is_owned(&score.test)).collect()
        };
        let all = lines(history);
        let mut latent = latent(&all, history);
        latent.retain(|cause| is_owned(&cause.test));
        let flaky = all.into_iter().filter(|line| is_owned(&line.score.test)).collect();
        let of_owner = |cluster: &&Cluster| cluster.tests.iter().any(is_owned);
        Self {
            broken: of_standing(Standing::Broken),
            flaky,
            latent,
            mended: of_standing(Standing::Mended),
            clusters: history.clusters.iter().filter(of_owner).collect(),
            scores,
            history,
            owner,
        }
    }
}

/// The tests that fail under a lever, and of which nothing else shows that they are flaky or broken.
fn latent<'k>(lines: &[Line<'_>], history: &'k ListedHistory) -> Vec<&'k Cause> {
    let is_listed = |test: &TestId| {
        lines.iter().any(|line| line.score.test == *test)
            || history.scores.standing(Standing::Broken).any(|score| score.test == *test)
    };
    let causes = history.causes.iter();
    causes.filter(|it| it.failing_under().is_some() && !is_listed(&it.test)).collect()
}

/// What makes a test fail, in two words: `caused by zone`.
fn caused(cause: &Cause) -> Option<String> {
    Some(format!("{} {}", cause.answer, cause.lever()?.name))
}

fn cause_as_json(cause: &Cause) -> Value {
    let lever = cause.lever();
    json!({
        "id": cause.test,
        "answer": cause.answer,
        "lever": lever.map(|it| it.name),
        "value": lever.map(|it| &it.value),
        "category": cause.category,
        "sentence": words::cause(cause),
        "command": cause.command,
    })
}

/// The flaky tests, those that a hunt explains first, then by what they cost.
fn lines(history: &ListedHistory) -> Vec<Line<'_>> {
    let by_id: BTreeMap<&TestId, &KnownFlaky> =
        history.hunted.iter().map(|known| (&known.test.id, known)).collect();
    let caused = history.causes.iter().filter(|it| it.answer.is_cause());
    let caused: BTreeMap<&TestId, &Cause> = caused.map(|it| (&it.test, it)).collect();
    let flaky = history.scores.standing(Standing::Flaky).map(|score| Line {
        score,
        hunted: by_id.get(&score.test).copied(),
        cause: caused.get(&score.test).copied(),
        owners: history.owners(&score.test),
        formerly: history.renames.formerly(&score.test),
    });
    let mut lines: Vec<Line<'_>> = flaky.collect();
    lines.sort_by(|one, other| {
        let weight = |line: &Line<'_>| (line.hunted.is_some(), line.score.cost);
        weight(other).cmp(&weight(one))
    });
    lines
}

impl Line<'_> {
    /// Kind, rate, day, and what it depends on or costs.
    fn columns(&self) -> [String; 4] {
        let score = self.score;
        let kind = self.hunted.and_then(|known| known.test.kind).map_or("flaky", FlakyKind::word);
        let seen = self.hunted.map_or_else(|| last_failed(score).to_owned(), day);
        let influence = self.hunted.map(|known| influence(&known.test)).unwrap_or_default();
        let cause = self.cause.and_then(caused).map(|it| format!("  {it}")).unwrap_or_default();
        let rest =
            influence + &cause + &self.burnt() + &owned(self.owners) + &former(self.formerly);
        [kind.to_owned(), words::rate(score), seen, rest]
    }

    /// What it cost, where it did.
    fn burnt(&self) -> String {
        let cost = self.score.cost;
        if cost.is_zero() { String::new() } else { format!("  {} burnt", words::burnt(cost)) }
    }

    fn as_json(&self) -> Value {
        let score = self.score;
        let mut value = self
            .hunted
            .map_or_else(|| json!({ "kind": null, "last_seen": score.last_failed }), known_as_json);
        if let Some(members) = value.as_object_mut() {
            let rated = score.rated();
            members.insert("id".to_owned(), json!(score.test));
            members.insert("rate".to_owned(), json!(score.rate));
            members.insert("runs".to_owned(), json!(rated.runs));
            members.insert("failures".to_owned(), json!(rated.failures));
            members.insert("history".to_owned(), json!(score));
            members.insert("cause".to_owned(), json!(self.cause.map(cause_as_json)));
            members.insert("owners".to_owned(), json!(self.owners));
            members.insert("formerly".to_owned(), json!(self.formerly));
        }
        value
    }
}

/// The columns of a broken test.
fn broken_columns(score: &TestScore, history: &ListedHistory) -> [String; 4] {
    let since = words::since(score).unwrap_or_default();
    let formerly = former(history.renames.formerly(&score.test));
    let rest = owned(history.owners(&score.test)) + &formerly;
    ["broken".to_owned(), since, last_failed(score).to_owned(), rest]
}

/// The columns of a test that fails under a lever only.
fn latent_columns(cause: &Cause, owners: &[String]) -> [String; 4] {
    let cause = caused(cause).unwrap_or_default();
    ["latent".to_owned(), String::new(), String::new(), format!("  {cause}{}", owned(owners))]
}

/// Who owns a test, where somebody does.
fn owned(owners: &[String]) -> String {
    if owners.is_empty() { String::new() } else { format!("  {}", owners.join(" ")) }
}

/// What a test was called before, where it was renamed.
fn former(formerly: &[TestId]) -> String {
    formerly.first().map_or_else(String::new, |former| format!("  (formerly {former})"))
}

/// The day on which a test last failed.
pub(crate) fn last_failed(score: &TestScore) -> &str {
    date(score.last_failed.as_deref().unwrap_or(&score.last_seen))
}

/// Print all that hunts know about a test.
pub(crate) fn known_test(known: &KnownFlaky) {
    let mut text = String::new();
    if let Some(kind) = known.test.kind {
        let sentence = words::flaky_kind(kind);
        let (word, what) = sentence.split_once(": ").unwrap_or((kind.word(), sentence));
        let (word, seen) = (word.to_uppercase(), day(known));
        let _ = writeln!(text, "{CHANCE}{word}{CHANCE:#} {DIM}{what}; hunted {seen}{DIM:#}");
    }
    flaky(&mut text, &known.test, true, usize::MAX);
    text.push('\n');
    let _ = terminal::out(&text);
}

/// Print what runs say about a test that failed: how often, in which ways, and the latest verdict with
/// its evidence.
/// What is to be said besides comes last.
pub(crate) fn failed_test(score: &TestScore, detail: &TestDetail, besides: &[String]) {
    let _ = terminal::out(&failed(score, detail, besides));
}

fn failed(score: &TestScore, detail: &TestDetail, besides: &[String]) -> String {
    let mut text = String::new();
    let word = score.standing.word().to_uppercase();
    let _ = writeln!(text, "{CHANCE}{word}{CHANCE:#} {STRONG}{}{STRONG:#}", score.test.shown());
    let said = [words::since(score), Some(words::score(score)), words::repeats(score)];
    for sentence in said.into_iter().flatten() {
        let _ = writeln!(text, "      {sentence}");
    }
    for failure in detail.failures.iter().take(MOST_WAYS) {
        let (message, last) = (shortened(&failure.message), date(&failure.last));
        let runs = count(failure.times as usize, "run");
        let _ = writeln!(text, "      in {runs}: {message} {DIM}(last {last}){DIM:#}");
    }
    if let Some(finding) = detail.findings.first() {
        let (verdict, day) = (finding.verdict.word(), date(&finding.started));
        let _ = writeln!(text, "      the run of {day} called it {verdict}:");
        for evidence in &finding.evidence {
            let _ = writeln!(text, "      {DIM}·{DIM:#} {}", words::evidence(evidence));
        }
    }
    for sentence in besides {
        let _ = writeln!(text, "      {sentence}");
    }
    text.push('\n');
    text
}

/// So many ways in which a test failed are told.
const MOST_WAYS: usize = 3;

/// The day of a time stamp.
fn date(stamp: &str) -> &str {
    stamp.split('T').next().unwrap_or_default()
}

/// A known flaky test for programs.
pub(crate) fn known_as_json(known: &KnownFlaky) -> Value {
    let test = &known.test;
    let (telling, rate) = (test.telling(), test.rate());
    json!({
        "id": test.id,
        "kind": test.kind,
        "rate": { "mean": rate.mean, "low": rate.low, "high": rate.high },
        "runs": telling.runs,
        "failures": telling.failures,
        "baseline": test.baseline,
        "shuffled": test.shuffled,
        "alone": test.alone,
        "last_seen": known.hunt.started,
        "hunt": known.hunt.id,
        "location": test.location,
        "polluters": test.polluters,
        "setters": test.setters,
        "cleaners": test.cleaners,
        "left_behind": test.left_behind,
        "failure": test.failure.as_ref().map(|failure| &failure.message),
        "reproduce": test.reproduction.as_ref().map(|it| &it.command),
    })
}

fn listed(list: &List<'_>, part: std::ops::Range<usize>) -> String {
    let mut text = String::new();
    let List { broken, flaky: lines, latent, history, .. } = list;
    let broken_rows = broken.iter().map(|score| (&score.test, broken_columns(score, history)));
    let flaky_rows = lines.iter().map(|line| (&line.score.test, line.columns()));
    let latent_rows = latent
        .iter()
        .map(|cause| (&cause.test, latent_columns(cause, history.owners(&cause.test))));
    let rows = broken_rows.chain(flaky_rows).chain(latent_rows);
    table(&mut text, &rows.skip(part.start).take(part.len()).collect::<Vec<_>>());
    if !text.is_empty() {
        text.push('\n');
    }
    let is_first = part.start == 0;
    if is_first {
        list.clusters.iter().take(MOST_CLUSTERS).for_each(|it| together(&mut text, it));
    }
    let also = [(broken.len(), "broken"), (latent.len(), "latent")];
    let also: String = also
        .into_iter()
        .filter(|(tests, _)| *tests > 0)
        .map(|(tests, what)| format!(", {tests} {what}"))
        .collect();
    let of = list.owner.map_or_else(String::new, |owner| format!(" that {owner} owns"));
    if lines.is_empty() {
        let next = match list.owner {
            Some(_) => "`flakeproof list` shows those of all owners",
            None => {
                "`flakeproof hunt -- COMMAND` looks for them, `flakeproof ingest` reads your CI's \
                 reports"
            }
        };
        let _ = writeln!(text, "no flaky test{of} is known in this project{also}; {next}");
    } else {
        let tests = count(lines.len(), "flaky test");
        let next =
            "`flakeproof explain TEST` tells all about one, `flakeproof repro TEST` shows it fail";
        let _ = writeln!(text, "{tests}{of} known{also} {DIM}({next}){DIM:#}");
    }
    others(&mut text, list);
    text
}

/// So many clusters are told, and so many tests of each.
const MOST_CLUSTERS: usize = 10;
const MOST_TOGETHER: usize = 5;

/// Tests that fail together.
fn together(text: &mut String, cluster: &Cluster) {
    let _ = writeln!(text, "{CHANCE}together{CHANCE:#}  {}", words::cluster(cluster));
    for test in cluster.tests.iter().take(MOST_TOGETHER) {
        let _ = writeln!(text, "          {STRONG}{}{STRONG:#}", test.shown());
    }
    let more = cluster.tests.len().saturating_sub(MOST_TOGETHER);
    if more > 0 {
        let _ = writeln!(text, "          {DIM}and {more} more{DIM:#}");
    }
    text.push('\n');
}

/// Rows of tests, each with its four columns.
fn table(text: &mut String, rows: &[(&TestId, [String; 4])]) {
    let width = |column: usize| rows.iter().map(|(_, row)| row[column].chars().count()).max();
    let [kind_width, rate_width, seen_width] =
        [0, 1, 2].map(|column| width(column).unwrap_or_default());
    for (test, [kind, rate, seen, rest]) in rows {
        let _ = writeln!(
            text,
            "{CHANCE}{kind:<kind_width$}{CHANCE:#}  {rate:<rate_width$}  {seen:<seen_width$}  \
             {STRONG}{test}{STRONG:#}{DIM}{rest}{DIM:#}",
        );
    }
}

/// What else the history says, so that nobody takes the list for all of it.
fn others(text: &mut String, list: &List<'_>) {
    const MOST_MENDED: usize = 5;
    let List { mended, scores, .. } = list;
    for score in mended.iter().take(MOST_MENDED) {
        let since = words::since(score).unwrap_or_default();
        let _ = writeln!(text, "{DIM}{since}: {}{DIM:#}", score.test);
    }
    let more = mended.len().saturating_sub(MOST_MENDED);
    let unexplained = scores.standing(Standing::Unexplained).count();
    let told: Vec<String> = [
        (more, "more mended: broken or flaky before, and passing since"),
        (unexplained, "unexplained: failed on code on which they never passed"),
    ]
    .into_iter()
    .filter(|(tests, _)| *tests > 0)
    .map(|(tests, what)| format!("{tests} {what}"))
    .chain((list.clusters.len() > MOST_CLUSTERS).then(|| {
        let more = count(list.clusters.len() - MOST_CLUSTERS, "cluster");
        format!("{more} more of tests that fail together (`--output-format json`)")
    }))
    .chain((!scores.outages.is_empty()).then(|| count(scores.outages.len(), "outage")))
    .collect();
    if !told.is_empty() {
        let _ = writeln!(text, "{DIM}besides: {}{DIM:#}", told.join("; "));
    }
}

/// How many tests, or sets of them, it depends on.
fn influence(test: &HuntedTest) -> String {
    match (test.polluters.len(), test.setters.len()) {
        (0, 0) => String::new(),
        (0, setters) => format!("  {}", count(setters, "state-setter")),
        (polluters, _) => format!("  {}", count(polluters, "polluter")),
    }
}

/// The day of the hunt: the time of day is in the JSON.
pub(super) fn day(known: &KnownFlaky) -> String {
    date(&known.hunt.started).to_owned()
}

/// One flaky test, with what was found out about it, at most so many things of a kind.
pub(super) fn flaky(text: &mut String, test: &HuntedTest, is_cause_sought: bool, most: usize) {
    let _ = writeln!(text, "  {STRONG}{}{STRONG:#}", test.id.shown());
    if test.all().runs > 0 || test.implementation.is_some() {
        line(text, &words::fared(test));
    }
    let sets = |sets: &[Vec<TestId>]| sets.iter().map(|set| words::together(set)).collect();
    let cleaners: Vec<String> = test.cleaners.iter().map(ToString::to_string).collect();
    let causes: Vec<String> = match test.kind {
        Some(FlakyKind::Brittle) => sets(&test.setters),
        Some(FlakyKind::Id) => test.implementation.iter().flat_map(|it| it.calls.clone()).collect(),
        Some(FlakyKind::Victim | FlakyKind::Nod) | None => sets(&test.polluters),
    };
    match test.kind {
        Some(FlakyKind::Victim) if causes.is_empty() && is_cause_sought => {
            line(text, "no test was found that makes it fail each time");
        }
        Some(FlakyKind::Brittle) if causes.is_empty() && is_cause_sought => {
            line(text, "no test was found that makes it pass each time");
        }
        Some(FlakyKind::Brittle) => named(text, "passes after", &causes, most),
        Some(FlakyKind::Id) => named(text, "relies on", &causes, most),
        Some(FlakyKind::Victim | FlakyKind::Nod) | None => {
            named(text, "fails after", &causes, most);
        }
    }
    named(text, "healed by", &cleaners, most);
    let left: Vec<String> = test.left_behind.iter().map(|it| shortened(&it.to_string())).collect();
    named(text, "left behind", &left, most);
    if let Some(failure) = &test.failure {
        line(text, &format!("{DIM}{}{DIM:#}", shortened(&failure.message)));
    }
    if let Some(reproduction) = &test.reproduction {
        let command = typeable(&reproduction.command, &test.id);
        line(text, &format!("reproduce: {STRONG}{command}{STRONG:#}"));
    }
}

/// A command that a person would type: the replay where the framework's own is long.
pub(super) fn typeable(command: &str, test: &TestId) -> String {
    const LONGEST: usize = 240;
    if command.chars().count() <= LONGEST {
        return command.to_owned();
    }
    words::command(&["flakeproof".to_owned(), "repro".to_owned(), test.to_string()])
}

/// A few of many, below each other.
fn named(text: &mut String, what: &str, all: &[String], most: usize) {
    let width = what.chars().count() + 2;
    for (at, one) in all.iter().take(most).enumerate() {
        let head = if at == 0 { format!("{what}: ") } else { " ".repeat(width) };
        line(text, &format!("{DIM}{head}{DIM:#}{one}"));
    }
    if all.len() > most {
        let more = all.len() - most;
        line(text, &format!("{}{DIM}and {more} more{DIM:#}", " ".repeat(width)));
    }
}

fn line(text: &mut String, words: &str) {
    let _ = writeln!(text, "      {words}");
}

pub(super) fn shortened(message: &str) -> String {
    const LONGEST: usize = 160;
    let message = message.lines().next().unwrap_or_default();
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &message[..end]),
        None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use flakeproof_core::{HuntRecord, Tally, Timeline};

    use super::*;
    use crate::session::ownership::Owned;

    fn known(id: &str, kind: FlakyKind, polluters: usize) -> KnownFlaky {
        let mut test = HuntedTest::new(id.into(), None);
        test.kind = Some(kind);
        test.baseline = Tally { runs: 10, failures: 2 };
        test.shuffled = Tally { runs: 20, failures: 3 };
        test.polluters = vec![vec!["test_p".into()]; polluters];
        let hunt = HuntRecord {
            id: "20261115-101500-abcdef".into(),
            started: "2026-11-15T10:15:00Z".into(),
            command: vec!["pytest".into()],
            fingerprint: String::new(),
            seed: "7".into(),
            settings: String::new(),
            version: "0.2.0".into(),
        };
        KnownFlaky { hunt, test }
    }

    #[test]
    fn each_known_test_is_one_line() {
        let known = [known("a.py::test_a", FlakyKind::Nod, 0), known("b", FlakyKind::Victim, 2)];
        let scores = Scores::new(&Timeline::default(), &known);
        let owned = Owned { file: None, owners: vec!["@shop/payments".into()] };
        let cluster = Cluster {
            tests: vec!["a.py::test_a".into(), "b".into()],
            together: 9,
            any: 11,
            coincidences: 9,
            expected: 0.24,
            chance: 1e-7,
            ..Cluster::default()
        };
        let history = ListedHistory {
            scores,
            hunted: known.to_vec(),
            owned: BTreeMap::from([("b".into(), owned)]),
            clusters: vec![cluster],
            ..ListedHistory::default()
        };
        let text = listed(&List::new(&history, None), 0..usize::MAX);
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }

    #[test]
    fn an_empty_list_says_what_to_run() {
        let history = ListedHistory::default();
        let text = listed(&List::new(&history, None), 0..usize::MAX);
        assert!(text.contains("`flakeproof hunt -- COMMAND`"));
        let text = listed(&List::new(&history, Some("@shop")), 0..usize::MAX);
        assert!(text.contains("no flaky test that @shop owns is known"), "{text}");
    }

    #[test]
    fn an_owner_sees_only_what_is_theirs() {
        let known = [known("a.py::test_a", FlakyKind::Nod, 0), known("b", FlakyKind::Victim, 2)];
        let owned = Owned { file: None, owners: vec!["@Shop/payments".into()] };
        let history = ListedHistory {
            scores: Scores::new(&Timeline::default(), &known),
            hunted: known.to_vec(),
            owned: BTreeMap::from([("b".into(), owned)]),
            ..ListedHistory::default()
        };
        let list = List::new(&history, Some("@shop/PAYMENTS"));
        let tests: Vec<&str> = list.flaky.iter().map(|it| it.score.test.as_str()).collect();
        assert_eq!(tests, ["b"]);
    }

    #[test]
    fn a_command_that_nobody_types_becomes_a_replay() {
        let test = "t.py::test_a[1]".into();
        assert_eq!(typeable("pytest t.py", &test), "pytest t.py");
        let long = "pytest ".repeat(40);
        assert_eq!(typeable(&long, &test), "flakeproof repro 't.py::test_a[1]'");
    }
}
