//! What is put into methods and changes nothing: dead code, and comments.

use flakeproof_core::Seed;

use super::Edit;
use super::nodes::{Nodes, Place};

/// Words that no model should take for a sign of anything.
const WORDS: [&str; 12] = [
    "plain", "amber", "meadow", "violin", "saddle", "copper", "walnut", "ribbon", "harbour",
    "lantern", "pebble", "orchard",
];

/// A statement without an effect at the beginning of each method.
pub(super) fn dead_code(nodes: &Nodes<'_>, seed: Seed) -> Vec<Edit> {
    let methods = nodes.all().filter_map(|place| body_of(nodes, place));
    methods
        .map(|body| {
            let start = nodes.bytes(body).start + 1;
            let drawn = seed.split(&start.to_string()).0;
            let name = fresh(nodes.text, word(drawn), start);
            let number = (drawn >> 16) % 1000;
            let code = match (drawn >> 8) % 4 {
                0 => format!("if (false) {{ int {name} = {number} + 1; }}"),
                1 => format!("final long {name} = {number}L * 7L;"),
                2 => format!("for (int {name} = 0; {name} < 0; {name}++) {{ }}"),
                _ => format!("int {name} = {number}; {name} += {number};"),
            };
            Edit { start, end: start, text: format!("\n        {code}\n") }
        })
        .collect()
}

/// A comment before each method, and one at its beginning.
pub(super) fn comments(nodes: &Nodes<'_>, seed: Seed) -> Vec<Edit> {
    let methods = nodes.all().filter_map(|place| Some((place, body_of(nodes, place)?)));
    methods
        .flat_map(|(method, body)| {
            let (before, inside) = (nodes.bytes(method).start, nodes.bytes(body).start + 1);
            let words = |at: usize| {
                let drawn = seed.split(&at.to_string()).0;
                [word(drawn), word(drawn >> 8), word(drawn >> 16)].join(" ")
            };
            [
                Edit { start: before, end: before, text: format!("/* {} */ ", words(before)) },
                Edit { start: inside, end: inside, text: format!(" // {}\n", words(inside)) },
            ]
        })
        .collect()
}

fn word(drawn: u64) -> &'static str {
    WORDS[usize::try_from(drawn % WORDS.len() as u64).unwrap_or_default()]
}

/// The block of a method. Constructors begin with a call of another one.
fn body_of(nodes: &Nodes<'_>, place: Place) -> Option<Place> {
    let is_method = nodes.kind(place) == "method_declaration";
    nodes.child(place, "body").filter(|body| is_method && nodes.kind(*body) == "block")
}

/// A name that is not in the file.
pub(super) fn fresh(text: &str, word: &str, number: usize) -> String {
    let name = format!("{word}{number}");
    if text.contains(&name) { fresh(text, &format!("{word}x"), number) } else { name }
}
