//! Where a whole call stands in the text, of which the form keeps the name only.

use crate::flow::{Expression, Span, Unit};

/// A call whose text is longer than this is known by its beginning.
const LONGEST: usize = 160;

/// The text of a call from what it is called on to its closing bracket: `get(item)`.
pub(super) fn of_call(unit: &Unit, call: &Expression) -> Span {
    let name = call.span();
    let first = leftmost(call);
    let start = if first.start <= name.start { first } else { name };
    let end = closing(unit, name.end as usize).unwrap_or(name.end as usize);
    let longest = start.start as usize + LONGEST;
    let mut end = end.min(longest).max(name.end as usize).min(unit.text.len());
    while !unit.text.is_char_boundary(end) {
        end += 1;
    }
    Span { start: start.start, end: u32::try_from(end).unwrap_or(name.end), line: name.line }
}

fn leftmost(expression: &Expression) -> Span {
    let mut current = expression;
    loop {
        current = match current {
            Expression::Call { receiver: Some(inner), .. } => inner,
            Expression::Member { object, .. } => object,
            other => return other.span(),
        };
    }
}

/// The byte after the bracket that closes the one that follows.
fn closing(unit: &Unit, from: usize) -> Option<usize> {
    let text = unit.text.as_bytes();
    let mut at = from;
    // Type arguments and a macro's mark may stand between name and bracket.
    let mut open = 0_u32;
    loop {
        match text.get(at)? {
            b' ' | b'!' | b'\n' | b'\t' => {}
            b'<' => open += 1,
            b'>' if open > 0 => open -= 1,
            _ if open > 0 && at - from < LONGEST => {}
            _ => break,
        }
        at += 1;
    }
    if *text.get(at)? != b'(' {
        return None;
    }
    let (mut depth, mut quote) = (0_u32, None);
    for (place, byte) in text.iter().enumerate().skip(at).take(LONGEST * 2) {
        match (quote, byte) {
            (Some(open), byte) if open == *byte && text.get(place - 1) != Some(&b'\\') => {
                quote = None;
            }
            (Some(_), _) => {}
            (None, b'"' | b'`') => quote = Some(*byte),
            (None, b'(') => depth += 1,
            (None, b')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}
