//! What a language's rules make of a file: its functions, the scopes they stand in, who is a test,
//! and which of the functions a test runs.
//!
//! This is the whole interface between the languages and the rest: a language turns a syntax tree
//! into an outline and says which nodes are calls; everything else is the same for all. Calls are
//! matched by name and by scope only: no types are known. That misses calls through variables and
//! never follows one out of the file.

use std::collections::{HashMap, HashSet};

use flakeproof_core::TestId;
use tree_sitter::Node;

use crate::tree::{Extent, for_each_below};
use crate::{IssueKind, Layout};

pub(crate) use crate::flow::Role;

/// Scopes deeper than this are not read: nobody writes them, and a test's id would have no end.
const DEEPEST_SCOPE: u32 = 64;

/// A parsed file, as a language's rules see it.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'t, 'a> {
    pub(crate) root: Node<'t>,
    pub(crate) text: &'a str,
    pub(crate) path: &'a str,
    pub(crate) layout: &'a Layout,
}

/// The functions of a file and the scopes they stand in.
pub(crate) struct Outline<'t> {
    scopes: Vec<Scope>,
    pub(crate) functions: Vec<Function<'t>>,
    /// Where scopes lay too deep to be read.
    pub(crate) too_deep: Option<u32>,
}

/// The place of a scope in its outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ScopeId(usize);

impl ScopeId {
    /// The file itself.
    pub(crate) const FILE: Self = Self(0);
}

/// A class, a module, a `describe` block, or the file itself.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) name: String,
    pub(crate) parent: Option<ScopeId>,
    depth: u32,
    /// Names of the classes it is derived from.
    pub(crate) bases: Vec<String>,
    /// Whether what sets up its parent sets it up too.
    pub(crate) shares_set_up: bool,
}

/// A function or a method, or a call that defines a test.
pub(crate) struct Function<'t> {
    pub(crate) name: String,
    pub(crate) scope: ScopeId,
    pub(crate) role: Role,
    /// What is shown of it, annotations included.
    pub(crate) extent: Extent,
    /// Where its calls are looked for.
    pub(crate) node: Node<'t>,
}

/// A place in a function that runs another function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) through: Through<'a>,
}

/// How a call names what it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Through<'a> {
    /// `helper()`: the function of that name in the nearest scope around.
    Name,
    /// `this.helper()`: a function of the caller's own scope or of those it is derived from.
    Itself,
    /// `Other.helper()`: a function of the scope with that name.
    Scope(&'a str),
    /// `def test_x(helper)`: a fixture of that name in the nearest scope around.
    Parameter,
}

impl<'t> Outline<'t> {
    pub(crate) fn new() -> Self {
        Self { scopes: vec![Scope::default()], functions: Vec::new(), too_deep: None }
    }

    /// Enter a scope inside another; nothing when it would lie too deep.
    pub(crate) fn open(&mut self, parent: ScopeId, name: &str, node: Node<'_>) -> Option<ScopeId> {
        let depth = self.scope(parent).depth + 1;
        if depth > DEEPEST_SCOPE {
            self.too_deep.get_or_insert(Extent::new(node).first_line);
            return None;
        }
        let scope =
            Scope { name: name.to_owned(), parent: Some(parent), depth, ..Scope::default() };
        self.scopes.push(scope);
        Some(ScopeId(self.scopes.len() - 1))
    }

    /// Add a function; in broken text one may have no name, and then is none.
    pub(crate) fn add(
        &mut self,
        name: &str,
        scope: ScopeId,
        role: Role,
        extent: Extent,
        node: Node<'t>,
    ) {
        if !name.is_empty() {
            let name = name.to_owned();
            self.functions.push(Function { name, scope, role, extent, node });
        }
    }

    /// The id of a test that is named by where it stands: what begins the id, each scope around the
    /// test, and its own name, with a separator between them.
    pub(crate) fn id(
        &self,
        beginning: &str,
        separator: &str,
        scope: ScopeId,
        name: &str,
    ) -> TestId {
        let mut id = beginning.to_owned();
        for part in self.enclosing(scope).iter().map(String::as_str).chain([name]) {
            id.push_str(separator);
            id.push_str(part);
        }
        TestId::from(id)
    }

    pub(crate) fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0]
    }

    pub(crate) fn scope_mut(&mut self, id: ScopeId) -> &mut Scope {
        &mut self.scopes[id.0]
    }

    /// All scopes but the file itself, in the order in which they were opened.
    pub(crate) fn scopes(&self) -> impl Iterator<Item = (ScopeId, &Scope)> {
        self.scopes.iter().enumerate().skip(1).map(|(index, scope)| (ScopeId(index), scope))
    }

    /// A scope, the one around it, and so on up to the file.
    pub(crate) fn outwards(&self, from: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(from), |&id| self.scope(id).parent)
    }

    /// The names of the scopes a function stands in, outermost first.
    pub(crate) fn enclosing(&self, scope: ScopeId) -> Vec<String> {
        let mut names: Vec<String> = self
            .outwards(scope)
            .filter(|&id| id != ScopeId::FILE)
            .map(|id| self.scope(id).name.clone())
            .collect();
        names.reverse();
        names
    }

    pub(crate) fn issue(&self) -> Option<(IssueKind, u32)> {
        self.too_deep.map(|line| (IssueKind::TooDeep, line))
    }
}

/// A test that reaches more functions than this gives the first ones only, so that a file of
/// thousands of functions that all call one another costs no square of memory.
const MOST_HELPERS: usize = 200;

/// Base classes further away than this are not followed.
const LONGEST_LINEAGE: usize = 16;

/// Tells the calls in a node apart from everything else.
pub(crate) type CallReader = for<'t, 'a> fn(Node<'t>, &'a str, &mut Vec<Call<'a>>);

/// The functions of a file, found by who calls them.
pub(crate) struct Reach<'o, 't, 'a> {
    outline: &'o Outline<'t>,
    text: &'a str,
    read_calls: CallReader,
    by_name: HashMap<ScopeId, HashMap<&'o str, Vec<usize>>>,
    scope_by_name: HashMap<&'o str, ScopeId>,
    /// Each class with the classes of this file it is derived from, nearest first.
    lineages: HashMap<ScopeId, Vec<ScopeId>>,
    around: HashMap<ScopeId, Around>,
    callees: Vec<Option<Vec<usize>>>,
}

/// What runs before and after every test of a scope.
#[derive(Default, Clone)]
struct Around {
    before: Vec<usize>,
    after: Vec<usize>,
}

impl<'o, 't, 'a> Reach<'o, 't, 'a> {
    pub(crate) fn new(outline: &'o Outline<'t>, text: &'a str, read_calls: CallReader) -> Self {
        let mut by_name: HashMap<ScopeId, HashMap<&str, Vec<usize>>> = HashMap::new();
        let mut around: HashMap<_, Around> = HashMap::new();
        for (index, function) in outline.functions.iter().enumerate() {
            match function.role {
                Role::Before => around.entry(function.scope).or_default().before.push(index),
                Role::After => around.entry(function.scope).or_default().after.push(index),
                Role::Test(_) | Role::Fixture | Role::Plain => {}
            }
            let in_scope = by_name.entry(function.scope).or_default();
            in_scope.entry(function.name.as_str()).or_default().push(index);
        }
        let mut scope_by_name = HashMap::new();
        for (id, scope) in outline.scopes() {
            scope_by_name.entry(scope.name.as_str()).or_insert(id);
        }
        let lineages = outline
            .scopes()
            .filter(|(_, scope)| !scope.bases.is_empty())
            .map(|(id, _)| (id, lineage(outline, &scope_by_name, id)))
            .collect();
        let callees = vec![None; outline.functions.len()];
        Self { outline, text, read_calls, by_name, scope_by_name, lineages, around, callees }
    }

    /// The functions a test runs, in the order in which they first run, itself left out.
    pub(crate) fn helpers(&mut self, test: usize) -> Vec<usize> {
        let outline = self.outline;
        let Some(function) = outline.functions.get(test) else { return Vec::new() };
        let around = self.around(function.scope);
        let roots: Vec<usize> =
            around.before.into_iter().chain([test]).chain(around.after).collect();

        let mut order: Vec<usize> = Vec::new();
        let mut waiting: Vec<usize> = roots.into_iter().rev().collect();
        let mut seen: HashSet<usize> = HashSet::new();
        while let Some(next) = waiting.pop() {
            if order.len() > MOST_HELPERS {
                break;
            }
            if !seen.insert(next) {
                continue;
            }
            order.push(next);
            waiting.extend(self.callees(next).iter().rev());
        }
        order.retain(|&index| !function.extent.contains(outline.functions[index].extent));
        order
    }

    /// What runs around the tests of a scope: outer scopes and base classes first.
    fn around(&self, scope: ScopeId) -> Around {
        let mut chain = Vec::new();
        for id in self.outline.outwards(scope) {
            chain.extend(self.with_bases(id));
            if !self.outline.scope(id).shares_set_up {
                break;
            }
        }
        let mut found = Around::default();
        for id in chain.iter().rev() {
            found.before.extend(self.around.get(id).into_iter().flat_map(|a| &a.before));
        }
        for id in &chain {
            found.after.extend(self.around.get(id).into_iter().flat_map(|a| &a.after));
        }
        found
    }

    fn with_bases(&self, scope: ScopeId) -> impl DoubleEndedIterator<Item = ScopeId> {
        let lineage = self.lineages.get(&scope).map(Vec::as_slice).unwrap_or_default();
        std::iter::once(scope).chain(lineage.iter().copied())
    }

    fn callees(&mut self, caller: usize) -> &[usize] {
        if self.callees[caller].is_none() {
            let found = self.read_callees(caller);
            self.callees[caller] = Some(found);
        }
        self.callees[caller].as_deref().unwrap_or_default()
    }

    fn read_callees(&self, caller: usize) -> Vec<usize> {
        let function = &self.outline.functions[caller];
        let mut calls = Vec::new();
        for_each_below(function.node, |node| {
            if node.end_byte() > function.extent.start {
                (self.read_calls)(node, self.text, &mut calls);
            }
        });
        let mut found: Vec<usize> = Vec::new();
        let mut known: HashSet<usize> = HashSet::new();
        for call in calls {
            for &callee in self.resolve(function, call) {
                if callee != caller && known.insert(callee) {
                    found.push(callee);
                }
            }
            if found.len() > MOST_HELPERS {
                break;
            }
        }
        found
    }

    fn resolve(&self, caller: &Function<'_>, call: Call<'_>) -> &[usize] {
        let in_class = |scope: ScopeId| {
            self.with_bases(scope).find_map(|id| self.by_name.get(&id)?.get(call.name))
        };
        let found = match call.through {
            Through::Name => self.outline.outwards(caller.scope).find_map(in_class),
            Through::Itself => in_class(caller.scope),
            Through::Scope(name) => self.scope_by_name.get(name).and_then(|&scope| in_class(scope)),
            Through::Parameter => {
                self.outline.outwards(caller.scope).find_map(in_class).filter(|named| {
                    named.iter().all(|&index| {
                        matches!(self.outline.functions[index].role, Role::Fixture | Role::Before)
                    })
                })
            }
        };
        found.map_or(&[], Vec::as_slice)
    }
}

/// The classes of this file that a class is derived from, nearest first.
fn lineage(
    outline: &Outline<'_>,
    by_name: &HashMap<&str, ScopeId>,
    class: ScopeId,
) -> Vec<ScopeId> {
    let mut lineage = vec![class];
    let mut next = 0;
    while let Some(&id) = lineage.get(next) {
        for base in &outline.scope(id).bases {
            if let Some(&base) = by_name.get(base.as_str())
                && !lineage.contains(&base)
                && lineage.len() <= LONGEST_LINEAGE
            {
                lineage.push(base);
            }
        }
        next += 1;
    }
    lineage.split_off(1)
}
