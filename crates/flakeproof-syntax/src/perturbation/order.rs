//! The methods of each class in another order, each with the comments before it.

use flakeproof_core::Seed;

use super::Edit;
use super::nodes::{Nodes, Place};

/// Put the methods of each class into each other's places.
pub(super) fn edits(nodes: &Nodes<'_>, seed: Seed) -> Vec<Edit> {
    let bodies = nodes.all().filter(|place| nodes.kind(*place) == "class_body");
    bodies
        .filter(|body| !is_in_method(nodes, *body))
        .flat_map(|it| in_body(nodes, it, seed))
        .collect()
}

/// Whether a class is declared in a method, which moves as a whole.
fn is_in_method(nodes: &Nodes<'_>, place: Place) -> bool {
    let mut above = nodes.parent(place);
    while let Some(here) = above {
        if matches!(nodes.kind(here), "method_declaration" | "constructor_declaration" | "block") {
            return true;
        }
        above = nodes.parent(here);
    }
    false
}

fn in_body(nodes: &Nodes<'_>, body: Place, seed: Seed) -> Vec<Edit> {
    let mut begin = nodes.bytes(body).start;
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for member in nodes.children(body).filter(|member| !nodes.is_comment(*member)) {
        let end = nodes.bytes(member).end;
        if nodes.kind(member) == "method_declaration" {
            pieces.push((begin, end));
        }
        begin = end;
    }
    let mut from: Vec<usize> = (0..pieces.len()).collect();
    // Fisher and Yates, by a seed for each step.
    for last in (1..from.len()).rev() {
        let drawn = seed.split(&format!("{} {last}", nodes.bytes(body).start)).0;
        let at = usize::try_from(drawn % (last as u64 + 1)).unwrap_or_default();
        from.swap(last, at);
    }
    let moved = pieces.iter().zip(&from).filter(|(piece, from)| **piece != pieces[**from]);
    moved
        .map(|((start, end), from)| {
            let (first, last) = pieces[*from];
            let text = nodes.text.get(first..last).unwrap_or_default().to_owned();
            Edit { start: *start, end: *end, text }
        })
        .collect()
}
