//! Which definitions of a variable a use of it may mean.

use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::NodeId;

/// A use after many branches means the latest definitions only, at most these.
const MOST_DEFINITIONS: usize = 6;

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Variable<'p> {
    /// Of one run of one function, by the number of that run.
    Local(u32, &'p str),
    /// Of an object, by the number of that object.
    Field(u32, &'p str),
}

/// The definitions of all variables, at one place of the run.
#[derive(Debug, Default)]
pub(super) struct Environment<'p> {
    known: FxHashMap<Variable<'p>, Vec<NodeId>>,
    /// What was known of a variable before it changed, inside of branches.
    log: Vec<(Variable<'p>, Vec<NodeId>)>,
    branches: usize,
}

/// Where a branch began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(usize);

/// What the variables were at the end of a branch.
pub(super) type Changes<'p> = Vec<(Variable<'p>, Vec<NodeId>)>;

impl<'p> Environment<'p> {
    /// The latest definitions; several after branches, none if there is none.
    pub(super) fn definitions(&self, variable: Variable<'p>) -> &[NodeId] {
        self.known.get(&variable).map_or(&[], Vec::as_slice)
    }

    pub(super) fn knows(&self, variable: Variable<'p>) -> bool {
        self.known.contains_key(&variable)
    }

    /// A new definition takes the place of all before it.
    pub(super) fn define(&mut self, variable: Variable<'p>, node: NodeId) {
        let before = self.known.insert(variable, vec![node]);
        if self.branches > 0 {
            self.log.push((variable, before.unwrap_or_default()));
        }
    }

    /// What was so from the beginning, whichever branch looks at it first.
    pub(super) fn remember(&mut self, variable: Variable<'p>, node: NodeId) {
        self.known.entry(variable).or_insert_with(|| vec![node]);
    }

    /// A branch begins.
    pub(super) fn enter(&mut self) -> Mark {
        self.branches += 1;
        Mark(self.log.len())
    }

    /// A branch ends: everything is as it was before, and what it changed is handed out.
    pub(super) fn leave(&mut self, mark: Mark) -> Changes<'p> {
        self.branches -= 1;
        let mut changes: Changes<'p> = Vec::new();
        let mut seen: FxHashSet<Variable<'p>> = FxHashSet::default();
        let mut undone = self.log.split_off(mark.0.min(self.log.len()));
        while let Some((variable, before)) = undone.pop() {
            let after = self.known.insert(variable, before).unwrap_or_default();
            // The last change is undone first: it is what the branch ends with.
            if seen.insert(variable) {
                changes.push((variable, after));
            }
        }
        changes
    }

    /// From here on a branch may have run: its changes are added to what was.
    pub(super) fn merge(&mut self, changes: Changes<'p>) {
        for (variable, after) in changes {
            let before = self.known.get(&variable).cloned().unwrap_or_default();
            let mut merged: Vec<NodeId> = before.iter().chain(&after).copied().collect();
            merged.sort_unstable();
            merged.dedup();
            let surplus = merged.len().saturating_sub(MOST_DEFINITIONS);
            merged.drain(..surplus);
            self.known.insert(variable, merged);
            if self.branches > 0 {
                self.log.push((variable, before));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: Variable<'static> = Variable::Local(0, "x");

    #[test]
    fn after_a_branch_both_definitions_are_meant() {
        let mut environment = Environment::default();
        environment.define(X, NodeId(1));
        let mark = environment.enter();
        environment.define(X, NodeId(2));
        environment.define(X, NodeId(3));
        assert_eq!(environment.definitions(X), [NodeId(3)]);
        let changes = environment.leave(mark);
        assert_eq!(environment.definitions(X), [NodeId(1)]);
        environment.merge(changes);
        assert_eq!(environment.definitions(X), [NodeId(1), NodeId(3)]);
    }

    #[test]
    fn a_merge_inside_a_branch_is_undone_with_it() {
        let mut environment = Environment::default();
        environment.define(X, NodeId(1));
        let outer = environment.enter();
        let inner = environment.enter();
        environment.define(X, NodeId(2));
        let changes = environment.leave(inner);
        environment.merge(changes);
        let changes = environment.leave(outer);
        assert_eq!(environment.definitions(X), [NodeId(1)]);
        assert_eq!(changes, vec![(X, vec![NodeId(1), NodeId(2)])]);
    }
}
