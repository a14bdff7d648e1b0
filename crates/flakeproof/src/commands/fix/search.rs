//! The search for a patch: ideas from the evidence, each tried by running the failing order with it.

use std::collections::BTreeSet;

use flakeproof_core::{LeftBehind, LeftKind, PatchProof, Tally, TestId, TriedPatch};
use flakeproof_fix::java::Sources;
use flakeproof_fix::python::{PythonFile, restores_in_file};
use flakeproof_fix::{
    Change, Editable, PatchedFile, Proposal, Surround, Transplant, Wanted, check, patched,
};

use super::copies::{Copies, Stop, is_java, modules_of, passed};
use super::fewest::fewest;
use super::ideas::{fixture_name, is_generated, put_back, said, values, words};
use super::proof::Failing;
use crate::view::FixProgress;

/// So many things that a test leaves behind are looked at one by one.
const MOST_THINGS: usize = 16;
/// So many sets of polluters are looked at.
const MOST_SETS: usize = 12;
/// So many cleaners or state-setters are tried.
const MOST_DONORS: usize = 3;
/// From so many polluters in one file on, a fixture of the file is shorter.
const MANY: usize = 3;

/// A patch that is proven.
pub(super) struct Found {
    pub(super) proposal: Proposal,
    pub(super) proof: PatchProof,
}

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) failing: &'a Failing,
    pub(super) copies: &'a Copies<'a>,
    pub(super) progress: &'a FixProgress,
    /// How the test fares without a patch.
    pub(super) without: Tally,
    pub(super) tried: Vec<TriedPatch>,
}

/// Where the statements of a donor go.
#[derive(Clone, Copy)]
enum Form {
    /// To the beginning of the test, or of each test of its class.
    AtTheBeginning,
    /// Into a fixture: a test whose own fixtures fail needs it before them.
    BeforeTheFixtures,
    /// The same without what the donor's own fixtures patch for it.
    AndUndone,
}

/// What a polluter, or a state-setter, leaves behind.
struct Pollution {
    test: TestId,
    left: Vec<LeftBehind>,
}

impl Search<'_> {
    /// A patch for a victim: in its polluters, else in the victim.
    pub(super) fn victim(&mut self, cleaners: &[TestId]) -> Result<Option<Found>, Stop> {
        let sets: Vec<Vec<TestId>> = self
            .failing
            .orders
            .iter()
            .filter_map(|order| order.split_last().map(|(_, before)| before.to_vec()))
            .filter(|set| !set.is_empty())
            .collect();
        let mut surround = Surround::default();
        let mut polluted: Vec<Vec<Pollution>> = Vec::new();
        for set in sets.iter().take(MOST_SETS) {
            self.copies.may_go_on()?;
            polluted.push(self.look_at(set, &mut surround)?);
        }
        if let Some(found) = self.in_files(&sets, &polluted, &surround)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.in_polluters(&sets, &polluted, &surround)? {
            return Ok(Some(found));
        }
        if let Some(found) = self.statements_of(cleaners, "heals it")? {
            return Ok(Some(found));
        }
        let things: Vec<LeftBehind> =
            polluted.iter().flatten().flat_map(|it| self.ranked(it, &surround)).collect();
        self.in_the_test(&things, Wanted::Before, &surround)
    }

    /// A patch for a brittle test: what its state-setters leave behind, else statements of them.
    pub(super) fn brittle(&mut self, setters: &[Vec<TestId>]) -> Result<Option<Found>, Stop> {
        let mut surround = Surround::default();
        let mut things: Vec<LeftBehind> = Vec::new();
        if let Some(set) = setters.first() {
            let polluted = self.look_at(set, &mut surround)?;
            things.extend(polluted.iter().flat_map(|it| self.ranked(it, &surround)));
        }
        let (modules, others): (Vec<LeftBehind>, Vec<LeftBehind>) =
            things.into_iter().partition(|it| it.kind == LeftKind::Module);
        if let Some(found) = self.in_the_test(&modules, Wanted::After, &surround)? {
            return Ok(Some(found));
        }
        let donors: Vec<TestId> = setters
            .iter()
            .filter_map(|set| match set.as_slice() {
                [one] => Some(one.clone()),
                _ => None,
            })
            .collect();
        if let Some(found) = self.statements_of(&donors, "sets up what it relies on")? {
            return Ok(Some(found));
        }
        self.in_the_test(&others, Wanted::After, &surround)
    }

    /// What each test of a set leaves behind; what cannot be told is nothing.
    fn look_at(&self, set: &[TestId], surround: &mut Surround) -> Result<Vec<Pollution>, Stop> {
        match self.copies.without.left_behind(set) {
            Ok((left, state)) => {
                surround.python.modules.extend(modules_of(&state));
                let is_static = |it: &LeftBehind| it.kind == LeftKind::StaticField;
                if surround.java.is_empty() && left.iter().flatten().any(is_static) {
                    surround.java = Sources::new(self.copies.java_sources());
                }
                let pollution = |(test, left): (&TestId, Vec<LeftBehind>)| Pollution {
                    test: test.clone(),
                    left,
                };
                Ok(set.iter().zip(left).map(pollution).collect())
            }
            Err(Stop::Interrupted) => Err(Stop::Interrupted),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// What a test leaves behind, what it names itself first.
    fn ranked(&self, pollution: &Pollution, surround: &Surround) -> Vec<LeftBehind> {
        let editable = self.editable(&pollution.test).ok();
        let text = editable.as_ref().map(Editable::text).unwrap_or_default();
        let rank = |thing: &LeftBehind| {
            let mut names = thing.name.rsplit(['.', '$']);
            let last = names.next().unwrap_or(&thing.name);
            // Of a static field, tests name the class.
            let owner = names.next().filter(|_| thing.kind == LeftKind::StaticField);
            let is_named = text.contains(last) || owner.is_some_and(|it| text.contains(it));
            let is_foreign = thing.kind == LeftKind::StaticField && !surround.java.declare(thing);
            let kind = match thing.kind {
                LeftKind::Attribute
                | LeftKind::Variable
                | LeftKind::WorkingDirectory
                | LeftKind::SystemProperty
                | LeftKind::RuntimeDefault => 0,
                LeftKind::StaticField
                | LeftKind::Logger
                | LeftKind::ImportPath
                | LeftKind::SignalHandler => 1,
                LeftKind::Module => 2,
                LeftKind::File => 3,
                LeftKind::Thread
                | LeftKind::WarningsFilter
                | LeftKind::Listener
                | LeftKind::Handle => 4,
            };
            (is_foreign, !is_named, kind)
        };
        let mut things = pollution.left.clone();
        things.sort_by_key(rank);
        things.truncate(MOST_THINGS);
        things
    }

    fn editable(&self, test: &TestId) -> Result<Editable, String> {
        let missing = || {
            format!(
                "the source of {test} is not in the project: it is generated, or of another one"
            )
        };
        let file = self.copies.file_of(test).ok_or_else(missing)?;
        let text = self.copies.text(&file).ok_or_else(missing)?;
        if is_generated(&file, &text) {
            return Err(format!("{file} is generated: change what it is made from"));
        }
        Editable::find(&file, text, test).map_err(|why| why.to_string())
    }

    /// Put back what many polluters of a file leave behind, by one fixture of the file.
    fn in_files(
        &mut self,
        sets: &[Vec<TestId>],
        polluted: &[Vec<Pollution>],
        surround: &Surround,
    ) -> Result<Option<Found>, Stop> {
        if sets.len() < MANY || sets.len() > polluted.len() {
            return Ok(None);
        }
        let last = |set: &Vec<TestId>| set.last().and_then(|it| self.copies.file_of(it));
        let files: BTreeSet<Option<String>> = sets.iter().map(last).collect();
        let Some(first) = polluted.first().and_then(|it| it.last()) else { return Ok(None) };
        for thing in self.ranked(first, surround) {
            let idea = format!(
                "put back {} after each test of {}: {} tests there leave it changed{}",
                words(&thing),
                files.iter().flatten().cloned().collect::<Vec<_>>().join(" and "),
                sets.len(),
                values(&thing)
            );
            let Some(forms) = self.fixtures(&thing, &files, surround) else { continue };
            for patched in forms {
                let proposal = Proposal { idea: idea.clone(), files: patched };
                if self.passes_with(&proposal, &self.failing.orders)?.is_ok() {
                    let changed: Vec<TestId> =
                        sets.iter().filter_map(|set| set.last().cloned()).take(1).collect();
                    if let Some(found) = self.prove(proposal, &changed)? {
                        return Ok(Some(found));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Every form of a fixture that puts a thing back, in each of these files.
    fn fixtures(
        &self,
        thing: &LeftBehind,
        files: &BTreeSet<Option<String>>,
        surround: &Surround,
    ) -> Option<Vec<Vec<PatchedFile>>> {
        let mut by_form: Vec<Vec<PatchedFile>> = Vec::new();
        for path in files {
            // A class of Java is one place for all its tests anyway.
            let path = path.as_ref().filter(|it| !is_java(it))?;
            let text = self.copies.text(path)?;
            let file = PythonFile::parse(path, text.clone()).ok()?;
            let name = format!("restore_{}", fixture_name(&thing.name));
            let doc = format!("Put back {} after each test.", words(thing).replace('`', ""));
            for (at, form) in restores_in_file(thing, &file, &surround.python).iter().enumerate() {
                let after = file.with_fixture(&name, &doc, form)?;
                by_form.resize_with(by_form.len().max(at + 1), Vec::new);
                let before = text.clone();
                by_form[at].push(PatchedFile { path: path.clone(), before, after });
            }
        }
        by_form.retain(|it| it.len() == files.len());
        Some(by_form)
    }

    /// Put back what each set of polluters leaves behind, where it was changed.
    fn in_polluters(
        &mut self,
        sets: &[Vec<TestId>],
        polluted: &[Vec<Pollution>],
        surround: &Surround,
    ) -> Result<Option<Found>, Stop> {
        let mut smallest: Vec<(TestId, Vec<LeftBehind>, Change)> = Vec::new();
        for (set, polluted) in sets.iter().zip(polluted) {
            let order: Vec<TestId> =
                set.iter().cloned().chain([self.failing.test.clone()]).collect();
            // A polluter that is mended already, because it belongs to another set, too.
            let is_known = smallest.iter().any(|(test, ..)| {
                set.contains(test) || set.iter().any(|it| self.are_of_one_class(test, it))
            });
            if is_known
                && self.passes_with(&self.joined(&smallest), std::slice::from_ref(&order))?.is_ok()
            {
                continue;
            }
            match self.restore_after(set, polluted, &order, surround)? {
                Some(found) => smallest.push(found),
                None => return Ok(None),
            }
        }
        if smallest.is_empty() || sets.len() > polluted.len() {
            return Ok(None);
        }
        // All that a polluter changes at one place is put back together: it has other victims, too.
        let whole: Vec<_> =
            smallest.iter().map(|it| self.with_neighbours(it, polluted, surround)).collect();
        for chosen in [whole, smallest] {
            let proposal = self.joined(&chosen);
            let changed: Vec<TestId> = chosen.iter().map(|(test, ..)| test.clone()).collect();
            if self.passes_with(&proposal, &self.failing.orders)?.is_ok()
                && let Some(found) = self.prove(proposal, &changed)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether what is put back after one test is put back after the other, too.
    fn are_of_one_class(&self, one: &TestId, other: &TestId) -> bool {
        let class = |test: &TestId| test.as_str().split_once('#').map(|(it, _)| it.to_owned());
        class(one).is_some_and(|it| Some(it) == class(other))
    }

    /// What to put back in one test of a set, so that the victim passes after it.
    fn restore_after(
        &mut self,
        set: &[TestId],
        polluted: &[Pollution],
        order: &[TestId],
        surround: &Surround,
    ) -> Result<Option<(TestId, Vec<LeftBehind>, Change)>, Stop> {
        let mut firsts: Vec<(TestId, LeftBehind, Change)> = Vec::new();
        for pollution in polluted.iter().rev() {
            let editable = match self.editable(&pollution.test) {
                Ok(editable) => editable,
                Err(why) => {
                    let idea = format!("put back what {} leaves behind", pollution.test);
                    self.tried.push(TriedPatch { idea, why_not: why });
                    continue;
                }
            };
            for thing in self.ranked(pollution, surround) {
                let idea = put_back(std::slice::from_ref(&thing), &pollution.test);
                let mut why_not = match surround.java.declare(&thing) {
                    _ if thing.kind != LeftKind::StaticField => {
                        "there is no idiom that puts it back"
                    }
                    true => "its class offers nothing that puts it back",
                    false => "its class is not one of the project",
                }
                .to_owned();
                for form in editable.restores(&thing, surround) {
                    let key = (pollution.test.clone(), vec![thing.clone()], form.clone());
                    match self
                        .passes_with(&self.joined(std::slice::from_ref(&key)), &[order.to_vec()])?
                    {
                        Ok(()) => return Ok(Some(key)),
                        Err(why) => why_not = why,
                    }
                    if !firsts.iter().any(|(test, it, _)| *test == key.0 && *it == thing) {
                        firsts.push((key.0, thing.clone(), form));
                    }
                }
                self.tried.push(TriedPatch { idea, why_not });
            }
        }
        if polluted.iter().all(|it| it.left.is_empty()) {
            let names: Vec<&str> = set.iter().map(TestId::as_str).collect();
            self.tried.push(TriedPatch {
                idea: format!("put back what {} leaves behind", names.join(" and ")),
                why_not: "what it leaves behind is not seen".to_owned(),
            });
        }
        self.all_together(firsts, order)
    }

    /// Several things put back in one test, made fewer as long as the victim passes.
    fn all_together(
        &mut self,
        firsts: Vec<(TestId, LeftBehind, Change)>,
        order: &[TestId],
    ) -> Result<Option<(TestId, Vec<LeftBehind>, Change)>, Stop> {
        let Some((test, ..)) = firsts.first() else { return Ok(None) };
        let test = test.clone();
        let of_one: Vec<(LeftBehind, Change)> =
            firsts.into_iter().filter(|it| it.0 == test).map(|(_, it, form)| (it, form)).collect();
        if of_one.len() < 2 {
            return Ok(None);
        }
        let joined = |chosen: &[(LeftBehind, Change)]| {
            let things = chosen.iter().map(|(thing, _)| thing.clone()).collect();
            (test.clone(), things, joined_change(chosen))
        };
        let found = fewest(of_one, &mut |chosen| {
            let key = joined(chosen);
            let proposal = self.joined(std::slice::from_ref(&key));
            Ok(self.passes_with(&proposal, &[order.to_vec()])?.is_ok())
        })?;
        Ok(found.map(|it| joined(&it)))
    }

    /// The same with everything else that the polluter changes at the same place.
    fn with_neighbours(
        &self,
        (test, things, addition): &(TestId, Vec<LeftBehind>, Change),
        polluted: &[Vec<Pollution>],
        surround: &Surround,
    ) -> (TestId, Vec<LeftBehind>, Change) {
        let owner = |thing: &LeftBehind| {
            thing.name.rsplit_once('.').map(|(owner, _)| (thing.kind, owner.to_owned()))
        };
        // What is made anew needs nothing put back.
        let owners: BTreeSet<_> = match addition.idea() {
            Some(_) => BTreeSet::new(),
            None => things.iter().filter_map(owner).collect(),
        };
        let (mut things, mut all) = (things.clone(), addition.clone());
        let Ok(editable) = self.editable(test) else { return (test.clone(), things, all) };
        let left = polluted.iter().flatten().filter(|it| it.test == *test).flat_map(|it| &it.left);
        for thing in left {
            let is_beside = owner(thing).is_some_and(|it| owners.contains(&it));
            if thing.kind == LeftKind::Attribute
                && is_beside
                && !things.contains(thing)
                && let Some(form) = editable.restores(thing, surround).into_iter().next()
            {
                all = all.and(form);
                things.push(thing.clone());
            }
        }
        (test.clone(), things, all)
    }

    /// A proposal that adds something to each of these tests.
    fn joined(&self, chosen: &[(TestId, Vec<LeftBehind>, Change)]) -> Proposal {
        let ideas: Vec<String> =
            chosen.iter().map(|(test, things, change)| said(things, test, change)).collect();
        let changes: Vec<(TestId, Change)> =
            chosen.iter().map(|(test, _, change)| (test.clone(), change.clone())).collect();
        self.proposal(ideas.join("; "), &changes)
    }

    /// A proposal; without files where two changes are of the same lines.
    fn proposal(&self, idea: String, changes: &[(TestId, Change)]) -> Proposal {
        let editable =
            |(test, change): &(TestId, Change)| Some((self.editable(test).ok()?, change.clone()));
        let changes: Vec<(Editable, Change)> = changes.iter().filter_map(editable).collect();
        Proposal { idea, files: patched(&changes).unwrap_or_default() }
    }

    /// Statements of a test that heals the victim, or that a brittle test relies on, at its beginning.
    fn statements_of(&mut self, donors: &[TestId], does: &str) -> Result<Option<Found>, Stop> {
        let test = self.failing.test.clone();
        for donor in donors.iter().take(MOST_DONORS) {
            let idea = format!("begin with what {donor} does, which {does}");
            let sides = self.editable(donor).and_then(|one| Ok((one, self.editable(&test)?)));
            let (from, to) = match sides {
                Ok(sides) => sides,
                Err(why_not) => {
                    self.tried.push(TriedPatch { idea, why_not });
                    continue;
                }
            };
            let Some(transplant) = Transplant::new(&from, &to) else { continue };
            let mut why_not = "its statements are not what matters".to_owned();
            let mut is_told = false;
            for form in [Form::AtTheBeginning, Form::BeforeTheFixtures, Form::AndUndone] {
                let write = |change: Change| match form {
                    Form::AtTheBeginning => {
                        Some(self.proposal(idea.clone(), &[(test.clone(), change)]))
                    }
                    Form::BeforeTheFixtures => in_a_fixture(&idea, &from, &to, change),
                    Form::AndUndone => match change {
                        Change::Python(addition) => {
                            in_a_fixture(&idea, &from, &to, Change::Python(addition.and_undone()?))
                        }
                        Change::Java(_) => None,
                    },
                };
                let proposal = self.fewest_statements(&transplant, &write, &mut why_not)?;
                let Some(proposal) = proposal else { continue };
                is_told = true;
                if let Some(found) = self.prove(proposal, std::slice::from_ref(&test))? {
                    return Ok(Some(found));
                }
            }
            if !is_told {
                self.tried.push(TriedPatch { idea, why_not });
            }
        }
        Ok(None)
    }

    /// The fewest statements of a test with which the failing one passes, in a form.
    fn fewest_statements(
        &self,
        transplant: &Transplant<'_>,
        form: &dyn Fn(Change) -> Option<Proposal>,
        why_not: &mut String,
    ) -> Result<Option<Proposal>, Stop> {
        let order = self.failing.orders.first().cloned().unwrap_or_default();
        let chosen = fewest(transplant.statements(), &mut |chosen: &[usize]| {
            let proposal = match transplant.with(chosen) {
                Ok(change) => form(change),
                Err(why) => {
                    *why_not = why.to_string();
                    None
                }
            };
            let Some(proposal) = proposal else { return Ok(false) };
            let passes = self.passes_with(&proposal, std::slice::from_ref(&order))?;
            if let Err(why) = &passes {
                why_not.clone_from(why);
            }
            Ok(passes.is_ok())
        })?;
        Ok(chosen.and_then(|it| form(transplant.with(&it).ok()?)))
    }

    /// Give the test itself what it relies on.
    fn in_the_test(
        &mut self,
        things: &[LeftBehind],
        wanted: Wanted,
        surround: &Surround,
    ) -> Result<Option<Found>, Stop> {
        let test = self.failing.test.clone();
        let idea = |thing: &LeftBehind| match (wanted, thing.kind) {
            (Wanted::After, LeftKind::Module) => {
                format!("import `{}`, which the test relies on without importing it", thing.name)
            }
            _ => format!("begin with {} as the test expects it{}", words(thing), values(thing)),
        };
        let editable = match self.editable(&test) {
            Ok(editable) => editable,
            Err(why_not) if !things.is_empty() => {
                let idea = "set the test up with what it relies on".to_owned();
                self.tried.push(TriedPatch { idea, why_not });
                return Ok(None);
            }
            Err(_) => return Ok(None),
        };
        let mut firsts: Vec<(LeftBehind, Change)> = Vec::new();
        for thing in things {
            if firsts.iter().any(|(known, _)| known == thing) {
                continue;
            }
            let mut why_not = "its value cannot be written down".to_owned();
            for form in editable.resets(thing, wanted, surround) {
                let proposal = self.proposal(idea(thing), &[(test.clone(), form.clone())]);
                match self.passes_with(&proposal, &self.failing.orders)? {
                    Ok(()) => {
                        if let Some(found) = self.prove(proposal, std::slice::from_ref(&test))? {
                            return Ok(Some(found));
                        }
                        why_not.clear();
                    }
                    Err(why) => why_not = why,
                }
                firsts.push((thing.clone(), form));
            }
            if !why_not.is_empty() {
                self.tried.push(TriedPatch { idea: idea(thing), why_not });
            }
        }
        let joined = |chosen: &[(LeftBehind, Change)]| {
            let ideas: Vec<String> = chosen.iter().map(|(thing, _)| idea(thing)).collect();
            (ideas.join("; "), joined_change(chosen))
        };
        if firsts.len() < 2 {
            return Ok(None);
        }
        let found = fewest(firsts, &mut |chosen| {
            let (idea, all) = joined(chosen);
            let proposal = self.proposal(idea, &[(test.clone(), all)]);
            Ok(self.passes_with(&proposal, &self.failing.orders)?.is_ok())
        })?;
        let Some(found) = found else { return Ok(None) };
        let (idea, all) = joined(&found);
        let proposal = self.proposal(idea, &[(test.clone(), all)]);
        self.prove(proposal, &[test])
    }

    /// Whether the test passes once in each of these orders with a patch, and everything before it, too.
    fn passes_with(
        &self,
        proposal: &Proposal,
        orders: &[Vec<TestId>],
    ) -> Result<Result<(), String>, Stop> {
        self.copies.may_go_on()?;
        self.progress.trying(&proposal.idea);
        if proposal.files.iter().any(|it| it.before == it.after) || proposal.files.is_empty() {
            return Ok(Err("it changes nothing".to_owned()));
        }
        for file in &proposal.files {
            if let Err(why) = check(&file.path, &file.after) {
                return Ok(Err(why.to_string()));
            }
        }
        let _patch = match self.copies.put(&proposal.files)? {
            Ok(written) => written,
            Err(why) => return Ok(Err(why)),
        };
        for order in orders {
            self.copies.may_go_on()?;
            let outcomes = self.copies.with.outcomes(order)?;
            for (test, execution) in order.iter().zip(&outcomes) {
                if passed(execution.as_ref()) {
                    continue;
                }
                let failure = execution.as_ref().and_then(|it| it.failure.as_ref());
                let message = failure.map_or("", |it| it.message.as_str());
                let whose = if *test == self.failing.test { "it" } else { test.as_str() };
                let still = if *test == self.failing.test { "still fails" } else { "fails then" };
                return Ok(Err(match message {
                    "" => format!("{whose} does not run with it"),
                    message => format!("{whose} {still}: {message}"),
                }));
            }
        }
        Ok(Ok(()))
    }

    fn prove(&mut self, proposal: Proposal, changed: &[TestId]) -> Result<Option<Found>, Stop> {
        self.progress.proving(&proposal.idea);
        let mut once: Vec<TestId> = changed.to_vec();
        once.dedup();
        match self.failing.prove(&proposal, &once, self.without, self.copies)? {
            Ok(proof) => Ok(Some(Found { proposal, proof })),
            Err(why_not) => {
                self.tried.push(TriedPatch { idea: proposal.idea, why_not });
                Ok(None)
            }
        }
    }
}

/// What a donor does, in a fixture for all tests of a file.
fn in_a_fixture(idea: &str, from: &Editable, to: &Editable, change: Change) -> Option<Proposal> {
    let (Editable::Python(_, donor), Editable::Python(file, _)) = (from, to) else { return None };
    let Change::Python(addition) = change else { return None };
    let name = format!("set_up_as_{}", donor.name.trim_start_matches("test_"));
    let doc = format!("Set up what tests here rely on, as {} does.", donor.name);
    let after = file.with_fixture(&name, &doc, &addition)?;
    let (path, before) = (file.path.clone(), file.text.clone());
    Some(Proposal { idea: idea.to_owned(), files: vec![PatchedFile { path, before, after }] })
}

/// Several changes of one test together. There is at least one.
fn joined_change(chosen: &[(LeftBehind, Change)]) -> Change {
    let mut all = chosen.iter().map(|(_, form)| form.clone());
    let first = all.next().unwrap_or_else(Change::nothing);
    all.fold(first, Change::and)
}
