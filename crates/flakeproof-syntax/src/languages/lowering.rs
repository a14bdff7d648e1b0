//! What lowering to the flow form is in every language: where things stand, who runs when, which
//! statements are being written, and how deep it may go.
//!
//! A language walks its tree with functions that call one another, so depth is counted here: what
//! lies deeper than [`DEEPEST`] is not followed but gathered, name by name, into one value.
//!
//! A grammar may leave the inside of a macro as loose tokens. Read again on its own, as a piece, it
//! is code.

use std::collections::HashMap;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Range, Tree};

use super::shapes::{Link, in_place, span, span_of, without_return};
use crate::flow::{
    Block, Expression, Field, Function, Import, Parameter, Role, Span, Statement, TypeDeclaration,
    Unit,
};
use crate::outline::{Outline, Reading, ScopeId};
use crate::tree::{Extent, text_of};

/// Expressions, statements and classes in one another: nobody writes more.
const DEEPEST: u32 = 200;

/// Pieces lie in one another at most this deep: each level is parsed once more.
const DEEPEST_PIECE: u32 = 4;
/// Parser steps, in hundreds, that any piece may take; a byte may take a sixteenth more.
const BASE_EFFORT: usize = 20;

/// The unit being written, and what writing it needs.
pub(crate) struct Lowering<'t, 'a> {
    pub(crate) reading: Reading<'t, 'a>,
    pub(crate) outline: Outline<'t>,
    pub(crate) unit: Unit,
    /// The class that functions found now belong to.
    pub(crate) owner: Option<u32>,
    /// Outlined functions that were not lowered yet, by where they stand.
    waiting: HashMap<(usize, usize), usize>,
    statements: Vec<Statement>,
    depth: u32,
    pub(super) pieces: Pieces<'a>,
}

/// A function as its outline knows it.
pub(crate) struct Outlined {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) scope: ScopeId,
}

/// What is known of a function before its body is read.
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) returns: Option<Span>,
    pub(crate) marks: Vec<Span>,
    pub(crate) extent: Extent,
}

impl Head {
    /// A function without a name.
    pub(crate) fn lambda(parameters: Vec<Parameter>, node: Node<'_>) -> Self {
        Self {
            name: String::new(),
            role: Role::Plain,
            parameters,
            returns: None,
            marks: Vec::new(),
            extent: Extent::new(node),
        }
    }
}

impl<'t, 'a> Lowering<'t, 'a> {
    pub(crate) fn new(
        reading: Reading<'t, 'a>,
        outline: Outline<'t>,
        unit: Unit,
        pieces: Pieces<'a>,
    ) -> Self {
        let extents = outline.functions.iter().enumerate();
        let waiting = extents.map(|(index, f)| ((f.extent.start, f.extent.end), index)).collect();
        Self {
            reading,
            outline,
            unit,
            owner: None,
            waiting,
            statements: Vec::new(),
            depth: 0,
            pieces,
        }
    }

    /// The unit, its functions in the order of the text.
    pub(crate) fn finish(mut self) -> Unit {
        self.unit.functions.sort_by_key(|function| (function.span.start, function.span.end));
        self.unit
    }

    pub(crate) fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }

    /// What the outline says of the function that stands there, asked once for each.
    pub(crate) fn outlined(&mut self, extent: Extent) -> Option<Outlined> {
        let index = self.waiting.remove(&(extent.start, extent.end))?;
        let function = self.outline.functions.get(index)?;
        let (name, role) = (function.name.clone(), function.role.clone());
        Some(Outlined { name, role, scope: function.scope })
    }

    /// Functions that only the outline found: those the parser could not put together.
    pub(crate) fn unread(&self) -> Vec<(Extent, Node<'t>)> {
        let mut unread: Vec<usize> = self.waiting.values().copied().collect();
        unread.sort_unstable();
        let functions = &self.outline.functions;
        unread.into_iter().filter_map(|at| functions.get(at)).map(|f| (f.extent, f.node)).collect()
    }

    /// Add a function that only the outline found, with what could be read of its body.
    pub(crate) fn add_unread(
        &mut self,
        outlined: Outlined,
        extent: Extent,
        node: Node<'_>,
        body: Vec<Statement>,
    ) {
        let Outlined { name, role, .. } = outlined;
        let head = Head { name, role, extent, ..Head::lambda(Vec::new(), node) };
        let function = self.function(head, body);
        self.unit.functions.push(function);
    }

    /// The class of an outline's scope, declared now if it was not.
    pub(crate) fn owner_of(&mut self, scope: ScopeId, extent: Extent) -> Option<u32> {
        if scope == ScopeId::FILE {
            return None;
        }
        let name = self.outline.enclosing(scope).join(".");
        let known = self.unit.types.iter().position(|known| known.name == name);
        if let Some(index) = known {
            return u32::try_from(index).ok();
        }
        let bases = self.outline.scope(scope).bases.clone();
        Some(self.push_type(name, bases, extent))
    }

    /// Declare a class inside the one that is being read.
    pub(crate) fn declare_type(&mut self, name: &str, bases: Vec<String>, node: Node<'_>) -> u32 {
        let outer = self.owner.and_then(|owner| self.unit.types.get(owner as usize));
        let name = outer.map_or_else(|| name.to_owned(), |outer| format!("{}.{name}", outer.name));
        self.push_type(name, bases, Extent::new(node))
    }

    fn push_type(&mut self, name: String, bases: Vec<String>, extent: Extent) -> u32 {
        let lines = (extent.first_line, extent.last_line);
        self.unit.types.push(TypeDeclaration { name, bases, fields: Vec::new(), lines });
        u32::try_from(self.unit.types.len() - 1).unwrap_or(u32::MAX)
    }

    /// Add a variable to the class that is being read, or to the file.
    pub(crate) fn add_field(&mut self, field: Field) {
        let owner = self.owner.and_then(|owner| self.unit.types.get_mut(owner as usize));
        match owner {
            Some(owner) => owner.fields.push(field),
            None => self.unit.fields.push(field),
        }
    }

    pub(crate) fn add_import(&mut self, name: &str, path: String, is_member: bool) {
        self.unit.imports.push(Import { name: name.to_owned(), path, is_member });
    }

    /// A function of the class that is being read.
    pub(crate) fn function(&self, head: Head, body: Vec<Statement>) -> Function {
        let Head { name, role, parameters, returns, marks, extent } = head;
        Function {
            name,
            owner: self.owner,
            role,
            parameters,
            returns,
            marks,
            span: span_of(extent),
            last_line: extent.last_line,
            body,
        }
    }

    /// Begin a list of statements; the one begun before goes on after [`close`](Self::close).
    pub(crate) fn open(&mut self) -> Vec<Statement> {
        std::mem::take(&mut self.statements)
    }

    /// End a list of statements and go on with the outer one.
    pub(crate) fn close(&mut self, outer: Vec<Statement>) -> Vec<Statement> {
        let mut written = std::mem::replace(&mut self.statements, outer);
        written.shrink_to_fit();
        written
    }

    /// Write a statement.
    pub(crate) fn emit(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Write that a value gets a name.
    pub(crate) fn bind(&mut self, target: Expression, operator: Span, value: Option<Expression>) {
        self.bind_typed(target, None, operator, value);
    }

    pub(crate) fn bind_typed(
        &mut self,
        target: Expression,
        declared: Option<Span>,
        operator: Span,
        value: Option<Expression>,
    ) {
        self.emit(Statement::Bind { targets: vec![target], declared, operator, value });
    }

    /// Write what a function without a name does where it is called at once.
    pub(crate) fn run_now(&mut self, function: Function, arguments: Vec<Expression>) {
        let Function { parameters, body, .. } = function;
        for (parameter, value) in parameters.into_iter().zip(arguments) {
            let Parameter { name, declared } = parameter;
            let operator = Span { start: name.end, ..name };
            self.bind_typed(Expression::Name(name), declared, operator, Some(value));
        }
        let body = body.into_iter().map(without_return).collect();
        self.emit(Statement::Nested { block: Block::Plain, heads: Vec::new(), body });
    }

    /// Write code that is handed to an assertion as what it does; any other value is one to look at.
    pub(crate) fn run_or_keep(&mut self, value: Expression, block: Block) -> Option<Expression> {
        match in_place(value) {
            Ok(body) => {
                self.emit(Statement::Nested { block, heads: Vec::new(), body });
                None
            }
            Err(value) => Some(value),
        }
    }

    /// Write that a chain of calls asserts something about these values.
    pub(super) fn assert_by(
        &mut self,
        links: &[Link<'_>],
        operands: Vec<Expression>,
        node: Node<'_>,
    ) {
        let words = links.iter().map(|link| span(link.name)).collect();
        self.emit(Statement::Assert { words, operands, line: span(node).line });
    }

    /// Go one level deeper; `false`, and no level deeper, at the deepest one.
    pub(crate) fn enter(&mut self) -> bool {
        let may = self.depth < DEEPEST;
        self.depth += u32::from(may);
        may
    }

    pub(crate) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

/// Parses pieces of a file.
#[derive(Default)]
pub(crate) struct Pieces<'p> {
    parser: Option<&'p mut Parser>,
    depth: u32,
}

impl<'p> Pieces<'p> {
    pub(crate) fn new(parser: Option<&'p mut Parser>) -> Self {
        Self { parser, depth: 0 }
    }

    /// The tree of what stands from the start of one node to the end of another, as if nothing
    /// stood around it, with the places it has in the whole text. Nothing when it lies too deep or
    /// asks for too much.
    pub(super) fn parse(&mut self, first: Node<'_>, last: Node<'_>, text: &str) -> Option<Tree> {
        let parser = self.parser.as_deref_mut().filter(|_| self.depth < DEEPEST_PIECE)?;
        let (end, mut end_point) = (last.end_byte(), last.end_position());
        end_point.column += 1;
        let range = Range {
            start_byte: first.start_byte(),
            end_byte: end + 1,
            start_point: first.start_position(),
            end_point,
        };
        parser.set_included_ranges(&[range]).ok()?;
        let length = end.saturating_sub(range.start_byte);
        let mut left = BASE_EFFORT + length / 16;
        let mut progress = |_: &_| match left.checked_sub(1) {
            Some(rest) => {
                left = rest;
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(()),
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let bytes = text.as_bytes();
        // An expression becomes a statement by the sign that is read behind it.
        let mut read = |offset: usize, _| match bytes.get(offset..end) {
            Some(rest) if !rest.is_empty() => rest,
            _ => b";".get(offset.saturating_sub(end)..).unwrap_or_default(),
        };
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        // An empty list means the whole text again, and is never refused.
        parser.set_included_ranges(&[]).ok()?;
        tree
    }

    /// Count a piece in a piece.
    pub(super) fn enter(&mut self) {
        self.depth += 1;
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
