//! Which functions of the project run when some of them do, as far as calls can be resolved.

use rustc_hash::FxHashSet;

use super::call::Target;
use super::index::{Project, TypeId};
use crate::flow::Declared;

/// How far calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReachLimits {
    /// The most calls in one another.
    pub hops: u8,
    /// The most functions, the nearest kept.
    pub functions: usize,
}

impl Default for ReachLimits {
    fn default() -> Self {
        Self { hops: 5, functions: 400 }
    }
}

/// A function that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The function.
    pub function: Declared,
    /// How many calls away it is; 0 for where the search began.
    pub hops: u8,
}

impl Project {
    /// The functions that these reach, themselves included, nearest first, then in the order of
    /// the calls.
    #[must_use]
    pub fn reach(&self, from: &[Declared], limits: ReachLimits) -> Vec<Reached> {
        self.reach_on(from, None, limits)
    }

    /// The functions a test reaches, run in a class: its own, or one that inherits it.
    ///
    /// What sets it up and tears it down counts as the test itself.
    #[must_use]
    pub fn reach_of_test(
        &self,
        test: Declared,
        class: Option<&str>,
        limits: ReachLimits,
    ) -> Vec<Reached> {
        let class = class.and_then(|class| self.find_class(class)).or_else(|| self.owner(test));
        let mut from = vec![test];
        from.extend(self.test_hooks(test, class).iter());
        self.reach_on(&from, class, limits)
    }

    fn reach_on(
        &self,
        from: &[Declared],
        class: Option<TypeId>,
        limits: ReachLimits,
    ) -> Vec<Reached> {
        let mut search = Search::new(self, class, limits);
        for function in from {
            search.add(*function, 0);
        }
        if let Some(class) = class {
            search.create(class, 1);
        }
        let mut at = 0;
        while let Some(Reached { function, hops }) = search.found.get(at).copied() {
            at += 1;
            if hops < limits.hops {
                for target in self.calls(function).iter() {
                    search.call(target, hops + 1);
                }
            }
        }
        search.found
    }
}

/// A search in breadth. What is found keeps the order of hops because callers do.
struct Search<'p> {
    project: &'p Project,
    class: Option<TypeId>,
    limits: ReachLimits,
    found: Vec<Reached>,
    seen: FxHashSet<Declared>,
    created: FxHashSet<TypeId>,
}

impl<'p> Search<'p> {
    fn new(project: &'p Project, class: Option<TypeId>, limits: ReachLimits) -> Self {
        Self {
            project,
            class,
            limits,
            found: Vec::new(),
            seen: FxHashSet::default(),
            created: FxHashSet::default(),
        }
    }

    fn add(&mut self, function: Declared, hops: u8) {
        let is_full = self.found.len() >= self.limits.functions;
        if !is_full && self.project.function(function).is_some() && self.seen.insert(function) {
            self.found.push(Reached { function, hops });
        }
    }

    fn call(&mut self, target: &Target, hops: u8) {
        for function in self.project.runs(target, self.class) {
            self.add(function, hops);
        }
        if let Some(class) = target.created {
            self.create(class, hops);
        }
    }

    /// What the first values of a class's fields call, those of its ancestors, and those of the
    /// classes made there.
    fn create(&mut self, class: TypeId, hops: u8) {
        let project = self.project;
        let mut waiting = vec![class];
        while let Some(class) = waiting.pop() {
            if !self.created.insert(class) {
                continue;
            }
            for ancestor in project.lineage(class) {
                let parts = project.class(ancestor).map_or(&[][..], |class| &class.parts);
                for (unit, declaration) in parts {
                    for target in project.calls_of_fields(*unit, Some(*declaration)).iter() {
                        for function in project.runs(target, Some(class)) {
                            self.add(function, hops);
                        }
                        waiting.extend(target.created);
                    }
                }
            }
        }
    }
}
