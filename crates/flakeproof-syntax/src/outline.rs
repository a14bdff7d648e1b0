//! What a language's rules make of a file: its functions, the scopes they stand in, and who is a
//! test.
//!
//! This is the whole interface between the languages and the rest: a language turns a syntax tree
//! into an outline and says which nodes are calls; everything else is the same for all.

use flakeproof_core::TestId;
use tree_sitter::Node;

pub(crate) use crate::flow::Role;
use crate::tree::Extent;
use crate::{IssueKind, Layout};

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
