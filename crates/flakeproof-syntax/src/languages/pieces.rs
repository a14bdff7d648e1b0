//! Pieces of a file that are parsed once more.
//!
//! A grammar may leave the inside of a macro as loose tokens. Read again on its own, it is code.

use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Range, Tree};

/// Pieces lie in one another at most this deep: each level is parsed once more.
const DEEPEST: u32 = 4;
/// Parser steps, in hundreds, that any piece may take; a byte may take a sixteenth more.
const BASE_EFFORT: usize = 20;

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
        let parser = self.parser.as_deref_mut().filter(|_| self.depth < DEEPEST)?;
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
