//! The search for a patch where an experiment, or a hunt with shuffled orders, showed what makes the test
//! fail: an order that the language leaves open, the zone, the locale, the seed of random numbers.
//!
//! An assertion is made weaker only where the order that it compares is nobody's promise: where the test
//! itself takes it from a set or a map of hashes, which the test is made to tell. What the code under test
//! hands over in an order may be a promise that it breaks, and stays as it is.

use flakeproof_core::{LeverName, PatchProof, Tally, TriedPatch};
use flakeproof_fix::{
    Change, Editable, OrderOf, Pin, Proposal, Sorted, check, order_of, patched, type_seen,
};

use super::copies::{Copies, Stop, passed};
use super::ideas::is_generated;
use super::proof::Failing;
use super::search::Found;
use crate::view::FixProgress;

/// So many seeds of random numbers are tried.
const MOST_SEEDS: usize = 3;
/// Locales that are the same for everybody, in Python.
const PYTHON_LOCALES: [&str; 2] = ["C.UTF-8", "C"];
/// And in Java.
const JAVA_LOCALES: [&str; 2] = ["ROOT", "US"];

/// What was shown to decide whether the test passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decides {
    /// The order of what is hashed.
    HashOrder,
    /// The time zone.
    Zone,
    /// The locale.
    Locale,
    /// The seed of random numbers.
    Seed,
}

impl Decides {
    /// What a lever is about; `None` where nothing about a test is changed for it.
    pub(super) fn of(lever: LeverName) -> Option<Self> {
        match lever {
            LeverName::HashSeed => Some(Self::HashOrder),
            LeverName::Zone => Some(Self::Zone),
            LeverName::Locale => Some(Self::Locale),
            LeverName::Seed => Some(Self::Seed),
            _ => None,
        }
    }
}

/// A search under way.
pub(super) struct Caused<'a> {
    pub(super) failing: &'a Failing,
    pub(super) copies: &'a Copies<'a>,
    pub(super) progress: &'a FixProgress,
    /// How the test fares without a patch, as it used to fail.
    pub(super) without: Tally,
    pub(super) tried: Vec<TriedPatch>,
}

impl Caused<'_> {
    /// A patch for a test that this decides about; the experiment knows values under which it passed.
    pub(super) fn search(
        &mut self,
        decides: Decides,
        passing: &[&str],
    ) -> Result<Option<(Found, Option<String>)>, Stop> {
        let editable = match self.editable() {
            Ok(editable) => editable,
            Err(why_not) => {
                let idea = "change the test".to_owned();
                self.tried.push(TriedPatch { idea, why_not });
                return Ok(None);
            }
        };
        let pins: Vec<Pin> = match decides {
            Decides::HashOrder => return self.unordered(&editable),
            Decides::Zone => {
                let mut zones = vec!["UTC"];
                // Where this machine's zone makes it fail, others were shown to make it pass.
                zones.extend(passing.iter().filter(|_| self.failing.under.is_none()).take(1));
                zones.dedup();
                zones.into_iter().map(|it| Pin::Zone(it.to_owned())).collect()
            }
            Decides::Locale => {
                let names = match editable {
                    Editable::Python(..) => PYTHON_LOCALES,
                    Editable::Java(..) => JAVA_LOCALES,
                };
                names.map(|it| Pin::Locale(it.to_owned())).into()
            }
            Decides::Seed => {
                let number = |it: &&str| it.strip_prefix("the seed ")?.parse().ok().map(Pin::Seed);
                passing.iter().filter_map(number).take(MOST_SEEDS).collect()
            }
        };
        for pin in pins {
            for change in editable.pins(&pin) {
                let idea = change.idea().unwrap_or("pin it for this test").to_owned();
                let is_pin = idea.starts_with("pin ");
                let proposal = self.proposal(&idea, &editable, &change);
                let Some(found) = self.proven(proposal, None)? else { continue };
                return Ok(Some((found, is_pin.then(|| hides(decides)))));
            }
        }
        Ok(None)
    }

    fn editable(&self) -> Result<Editable, String> {
        let test = &self.failing.test;
        let missing = || format!("the source of {test} is not in the project");
        let file = self.copies.file_of(test).ok_or_else(missing)?;
        let text = self.copies.text(&file).ok_or_else(missing)?;
        if is_generated(&file, &text) {
            return Err(format!("{file} is generated: change what it is made from"));
        }
        Editable::find(&file, text, test).map_err(|why| why.to_string())
    }

    /// Compare without an order what has none.
    fn unordered(&mut self, editable: &Editable) -> Result<Option<(Found, Option<String>)>, Stop> {
        let mut open: Vec<(String, Vec<Sorted>)> = Vec::new();
        for order in editable.open_orders() {
            let idea =
                format!("compare `{}` without an order, at line {}", order.collection, order.line);
            let seen = self.type_of(editable, &order.witness)?;
            let why_not = match seen.as_deref().map(|it| (it, order_of(it))) {
                Some((_, OrderOf::Nobody)) if !order.forms.is_empty() => {
                    open.push((idea, order.forms));
                    continue;
                }
                Some((_, OrderOf::Nobody)) => "no way to compare it is known".to_owned(),
                Some((name, OrderOf::Maker)) => format!(
                    "it is a `{name}`, whose order the code that makes it may promise. If it does, that code \
                     is wrong: let it sort, or keep the order in which things came. If it does not, \
                     compare sorted, or let it give a set"
                ),
                None => "what it is could not be seen".to_owned(),
            };
            self.tried.push(TriedPatch { idea, why_not });
        }
        if open.is_empty() && self.tried.is_empty() {
            self.tried.push(TriedPatch {
                idea: "compare without an order".to_owned(),
                why_not: "no assertion of the test compares all elements of a set or a map of hashes with \
                          what the test writes down; to take one of them, as `next(iter(…))` does, is to \
                          draw a lot: say which one is meant"
                    .to_owned(),
            });
        }
        // Each alone, then all: what is enough with fewer is not changed.
        for (idea, forms) in &open {
            for form in forms {
                let proposal = self.proposal(idea, editable, &form.change);
                let lacking = self.proposal(idea, editable, &form.lacking);
                if let Some(found) = self.proven(proposal, Some(&lacking))? {
                    return Ok(Some((found, None)));
                }
            }
        }
        if open.len() < 2 {
            return Ok(None);
        }
        let ideas: Vec<&str> = open.iter().map(|(idea, _)| idea.as_str()).collect();
        let firsts: Vec<&Sorted> = open.iter().filter_map(|(_, forms)| forms.first()).collect();
        let all = firsts.iter().map(|it| it.change.clone()).reduce(Change::and);
        let Some(all) = all else { return Ok(None) };
        // Each of them must notice on its own that an element is missing.
        for at in 0..firsts.len() {
            let one_lacks = |(index, form): (usize, &&Sorted)| match index == at {
                true => form.lacking.clone(),
                false => form.change.clone(),
            };
            let lacking = firsts.iter().enumerate().map(one_lacks).reduce(Change::and);
            let Some(lacking) = lacking else { return Ok(None) };
            let idea = ideas.join("; ");
            if let Some(why_not) =
                self.notices_nothing(&self.proposal(&idea, editable, &lacking))?
            {
                self.tried.push(TriedPatch { idea, why_not });
                return Ok(None);
            }
        }
        let proposal = self.proposal(&ideas.join("; "), editable, &all);
        Ok(self.proven(proposal, None)?.map(|found| (found, None)))
    }

    /// The type of what is compared, as the test tells it.
    fn type_of(&self, editable: &Editable, witness: &Change) -> Result<Option<String>, Stop> {
        let proposal = self.proposal("look at what is compared", editable, witness);
        let Ok(_put) = self.copies.put(&proposal.files)? else { return Ok(None) };
        let test = std::slice::from_ref(&self.failing.test);
        let ran = self.copies.with.outcomes(test)?.pop().flatten();
        let failure = ran.and_then(|it| it.failure);
        Ok(failure.and_then(|it| type_seen(&it.message).or(type_seen(&it.text)).map(str::to_owned)))
    }

    fn proposal(&self, idea: &str, editable: &Editable, change: &Change) -> Proposal {
        let files = patched(&[(editable.clone(), change.clone())]).unwrap_or_default();
        Proposal { idea: idea.to_owned(), files }
    }

    /// A proof, after a first look, and after the twin that lacks an element was seen to fail.
    fn proven(
        &mut self,
        proposal: Proposal,
        lacking: Option<&Proposal>,
    ) -> Result<Option<Found>, Stop> {
        self.copies.may_go_on()?;
        self.progress.trying(&proposal.idea);
        let why_not = match self.first_look(&proposal)? {
            Some(why_not) => Some(why_not),
            None => match lacking {
                Some(lacking) => self.notices_nothing(lacking)?,
                None => None,
            },
        };
        if let Some(why_not) = why_not {
            self.tried.push(TriedPatch { idea: proposal.idea, why_not });
            return Ok(None);
        }
        self.progress.proving(&proposal.idea);
        let test = self.failing.test.clone();
        match self.failing.prove(&proposal, &[test], self.without, self.copies)? {
            Ok(proof) => match self.under_others(&proposal, proof)? {
                Ok(proof) => Ok(Some(Found { proposal, proof })),
                Err(why_not) => {
                    self.tried.push(TriedPatch { idea: proposal.idea, why_not });
                    Ok(None)
                }
            },
            Err(why_not) => {
                self.tried.push(TriedPatch { idea: proposal.idea, why_not });
                Ok(None)
            }
        }
    }

    /// Why a patch is not worth a proof; `None` if the test passes with it once, as it used to fail.
    fn first_look(&self, proposal: &Proposal) -> Result<Option<String>, Stop> {
        if proposal.files.is_empty() || proposal.files.iter().any(|it| it.before == it.after) {
            return Ok(Some("it cannot be written into this file".to_owned()));
        }
        for file in &proposal.files {
            if let Err(why) = check(&file.path, &file.after) {
                return Ok(Some(why.to_string()));
            }
        }
        let _put = match self.copies.put(&proposal.files)? {
            Ok(put) => put,
            Err(why) => return Ok(Some(why)),
        };
        let ran = self.failing.run_in(&self.copies.with)?;
        if passed(ran.as_ref()) {
            return Ok(None);
        }
        let message = ran.and_then(|it| it.failure).map(|it| it.message);
        Ok(Some(match message {
            Some(message) => format!("it still fails: {message}"),
            None => "it does not run with it".to_owned(),
        }))
    }

    /// Why a comparison is worth nothing: it passes although an element is missing.
    fn notices_nothing(&self, lacking: &Proposal) -> Result<Option<String>, Stop> {
        let put = self.copies.put(&lacking.files)?;
        let Ok(_put) = put else {
            return Ok(Some("whether it notices a missing element cannot be tried".to_owned()));
        };
        let test = std::slice::from_ref(&self.failing.test);
        let ran = self.copies.with.outcomes(test)?.pop().flatten();
        Ok(match ran {
            Some(ran) if ran.outcome.is_failure() => None,
            _ => Some("with it, the test does not notice that an element is missing".to_owned()),
        })
    }

    /// A patch that holds under one value of a lever must hold under the others.
    fn under_others(
        &self,
        proposal: &Proposal,
        proof: PatchProof,
    ) -> Result<Result<PatchProof, String>, Stop> {
        let _put = match self.copies.put(&proposal.files)? {
            Ok(put) => put,
            Err(why) => return Ok(Err(why)),
        };
        let mut under = proof.under.clone();
        for other in &self.failing.others {
            self.copies.may_go_on()?;
            let ran = self.copies.with.under(&other.under, &self.failing.test)?;
            if !passed(ran.as_ref()) {
                let message =
                    ran.and_then(|it| it.failure).map(|it| it.message).unwrap_or_default();
                return Ok(Err(format!("it fails under {}: {message}", other.value)));
            }
            under.push(other.value.to_string());
        }
        Ok(Ok(PatchProof { under, ..proof }))
    }
}

/// What a pin hides, in a sentence.
fn hides(decides: Decides) -> String {
    let (whom, what) = match decides {
        Decides::Zone => ("users in other zones", "the zone"),
        Decides::Locale => ("users in other countries", "the locale"),
        Decides::Seed => ("whoever draws other numbers", "the seed"),
        Decides::HashOrder => ("whoever meets another order", "the order"),
    };
    format!(
        "if the code under test is the cause, and not the test, this hides it from {whom}: see first \
         whether that code should depend on {what} at all"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_hides_something_and_that_is_said() {
        assert!(hides(Decides::Zone).contains("hides it from users in other zones"));
        assert_eq!(Decides::of(LeverName::Load), None, "a wait is never patched blindly");
    }
}
