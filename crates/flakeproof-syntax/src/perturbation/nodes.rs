//! A syntax tree as a list, each node with what is above it: no node has to search for its parent.

use std::ops::Range;

use tree_sitter::Node;

/// A node, by its place in the list.
pub(super) type Place = usize;

/// All nodes of a file, in the order of the text.
pub(super) struct Nodes<'t> {
    pub(super) text: &'t str,
    nodes: Vec<Listed<'t>>,
}

struct Listed<'t> {
    node: Node<'t>,
    parent: Option<Place>,
    /// What it is to its parent.
    field: Option<&'t str>,
    /// The body of the class that it is directly in.
    class: Option<Place>,
    /// The place after the last node below it.
    end: Place,
}

impl<'t> Nodes<'t> {
    /// The nodes below a root, which stands first.
    pub(super) fn below(root: Node<'t>, text: &'t str) -> Self {
        let mut nodes: Vec<Listed<'t>> = Vec::new();
        let mut above: Vec<Place> = Vec::new();
        let mut cursor = root.walk();
        loop {
            let parent = above.last().copied();
            let class = parent.and_then(|parent| match is_class_body(nodes[parent].node) {
                true => Some(parent),
                false => nodes[parent].class,
            });
            above.push(nodes.len());
            let (node, field) = (cursor.node(), cursor.field_name());
            nodes.push(Listed { node, parent, field, class, end: 0 });
            if cursor.goto_first_child() {
                continue;
            }
            loop {
                let end = nodes.len();
                if let Some(left) = above.pop() {
                    nodes[left].end = end;
                }
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return Self { text, nodes };
                }
            }
        }
    }

    /// All places.
    pub(super) fn all(&self) -> Range<Place> {
        0..self.nodes.len()
    }

    pub(super) fn kind(&self, place: Place) -> &'t str {
        self.nodes[place].node.kind()
    }

    pub(super) fn bytes(&self, place: Place) -> Range<usize> {
        self.nodes[place].node.byte_range()
    }

    pub(super) fn text(&self, place: Place) -> &'t str {
        self.text.get(self.bytes(place)).unwrap_or_default()
    }

    pub(super) fn parent(&self, place: Place) -> Option<Place> {
        self.nodes[place].parent
    }

    /// What a node is to its parent.
    pub(super) fn field(&self, place: Place) -> Option<&'t str> {
        self.nodes[place].field
    }

    /// The body of the class that a node is directly in.
    pub(super) fn class(&self, place: Place) -> Option<Place> {
        self.nodes[place].class
    }

    /// The nodes directly below one.
    pub(super) fn children(&self, place: Place) -> impl Iterator<Item = Place> {
        let end = self.nodes[place].end;
        let first = Some(place + 1).filter(|first| *first < end);
        std::iter::successors(first, move |it| Some(self.nodes[*it].end).filter(|it| *it < end))
    }

    /// The child that is this to a node.
    pub(super) fn child(&self, place: Place, field: &str) -> Option<Place> {
        self.children(place).find(|child| self.field(*child) == Some(field))
    }

    /// Whether a node is a comment.
    pub(super) fn is_comment(&self, place: Place) -> bool {
        matches!(self.kind(place), "line_comment" | "block_comment")
    }
}

fn is_class_body(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "class_body" | "interface_body" | "enum_body" | "annotation_type_body" | "record_body"
    )
}
