//! Small steps through a syntax tree, none of which recurses.
//!
//! Trees of hostile files are a million levels deep, so nothing here may use the stack for depth,
//! and nothing may ask a node for its parent, which tree-sitter finds by searching from the root.

use std::cell::RefCell;
use std::num::NonZeroU16;

use rustc_hash::FxHashMap;
use tree_sitter::{Language, Node};

/// The bytes and rows of one or more neighbouring nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) first_line: u32,
    pub(crate) last_line: u32,
}

impl Extent {
    pub(crate) fn new(node: Node<'_>) -> Self {
        Self::between(node, node)
    }

    /// From the start of one node to the end of another behind it.
    pub(crate) fn between(first: Node<'_>, last: Node<'_>) -> Self {
        let (start, end) = (first.start_position(), last.end_position());
        // A node that ends with a line break ends on the line before.
        let last_row = if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row };
        Self {
            start: first.start_byte(),
            end: last.end_byte().max(first.start_byte()),
            first_line: line(start.row),
            last_line: line(last_row.max(start.row)),
        }
    }

    pub(crate) fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// The line, counted from 1, of a row counted from 0.
pub(crate) fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}

/// The text a node covers.
pub(crate) fn text_of<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// The numbers that a grammar has for the names of fields.
type FieldNumbers = FxHashMap<(Language, usize, usize), Option<NonZeroU16>>;

thread_local! {
    /// Those that were looked up: a name is compared with all others of its grammar to find its number.
    static FIELD_NUMBERS: RefCell<FieldNumbers> = RefCell::default();
}

/// Children by the names that the grammar gives them.
pub(crate) trait Fields<'t> {
    /// The first child of this name.
    fn field(self, name: &'static str) -> Option<Node<'t>>;
}

impl<'t> Fields<'t> for Node<'t> {
    fn field(self, name: &'static str) -> Option<Self> {
        let language = self.language();
        // What is written once in this program stays where it is.
        let key = (Language::clone(&language), name.as_ptr().addr(), name.len());
        let number = FIELD_NUMBERS.with_borrow_mut(|numbers| {
            *numbers.entry(key).or_insert_with(|| language.field_id_for_name(name))
        });
        self.child_by_field_id(number?.get())
    }
}

/// All children of a node, in order.
pub(crate) fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

/// The first child of one of these kinds.
pub(crate) fn child_of_kind<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| kinds.contains(&child.kind()))
}

/// Visit a node and everything below it, in the order of the text.
pub(crate) fn for_each_below<'t>(node: Node<'t>, mut visit: impl FnMut(Node<'t>)) {
    let mut cursor = node.walk();
    loop {
        visit(cursor.node());
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

/// The first place where the text does not follow the grammar.
pub(crate) fn first_error(root: Node<'_>) -> Option<Node<'_>> {
    if !root.has_error() {
        return None;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() || !node.has_error() || !cursor.goto_first_child() {
            return Some(node);
        }
        while !cursor.node().has_error() && !cursor.node().is_missing() {
            if !cursor.goto_next_sibling() {
                return Some(node);
            }
        }
    }
}

/// Nodes still to be read, each in the place it was found in.
///
/// Takes the role of the call stack in a walk that would otherwise recurse.
pub(crate) struct Agenda<'t, Place> {
    waiting: Vec<(Node<'t>, Place)>,
}

impl<'t, Place: Copy> Agenda<'t, Place> {
    pub(crate) fn new() -> Self {
        Self { waiting: Vec::new() }
    }

    /// Read the children of a node next, first child first.
    pub(crate) fn descend(&mut self, node: Node<'t>, place: Place) {
        let mut cursor = node.walk();
        self.push(node.children(&mut cursor).map(|child| (child, place)));
    }

    /// Read these nodes next, the first one first.
    pub(crate) fn push(&mut self, nodes: impl IntoIterator<Item = (Node<'t>, Place)>) {
        let from = self.waiting.len();
        self.waiting.extend(nodes);
        if let Some(new) = self.waiting.get_mut(from..) {
            new.reverse();
        }
    }

    pub(crate) fn next(&mut self) -> Option<(Node<'t>, Place)> {
        self.waiting.pop()
    }
}

/// Keeps track of the place inside an `ERROR` node, where braces lie open and unjoined.
pub(crate) struct Braces<Place> {
    /// Where the next piece belongs.
    pub(crate) here: Place,
    outer: Vec<Place>,
    named: Option<Place>,
}

impl<Place: Copy> Braces<Place> {
    pub(crate) fn new(here: Place) -> Self {
        Self { here, outer: Vec::new(), named: None }
    }

    /// The next brace opens this place.
    pub(crate) fn name(&mut self, place: Place) {
        self.named = Some(place);
    }

    pub(crate) fn see(&mut self, kind: &str) {
        match kind {
            "{" => {
                self.outer.push(self.here);
                self.here = self.named.take().unwrap_or(self.here);
            }
            "}" => self.here = self.outer.pop().unwrap_or(self.here),
            _ => {}
        }
    }
}
