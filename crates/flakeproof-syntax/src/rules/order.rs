//! Order where there is none: sets, maps, folders and members of classes compared as sequences.

use super::comparison::{Comparison, Relation};
use super::rule::{Finding, Rule};
use super::scene::{Deed, Scene};
use super::unordered::{is_listing, is_number, is_reflection, is_unordered};
use super::value::{Value, arguments_of, bare, is_any, name_of, path, quoted, receiver_of};
use crate::Language;
use crate::flow::{Expression, Operation, Unit};

/// Says whether a value is where something without order begins.
type IsSource = fn(&Scene<'_>, Value<'_>) -> bool;

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for comparison in scene.comparisons() {
        if comparison.relation == Relation::Equal && !is_orderless(scene, comparison) {
            compared(scene, comparison, found);
        }
    }
}

/// Whether an assertion says itself that order does not matter.
fn is_orderless(scene: &Scene<'_>, comparison: Comparison<'_>) -> bool {
    scene.steps.get(comparison.at).is_some_and(|step| match step.deed {
        Deed::Assert { words, .. } => words.iter().any(|word| {
            let word = step.file.text_of(*word);
            word == "assertCountEqual"
                || word.contains("AnyOrder")
                || word.contains("ElementsMatch")
        }),
        Deed::Bind { .. } | Deed::Call { .. } => false,
    })
}

fn compared<'p>(scene: &Scene<'p>, comparison: Comparison<'p>, found: &mut Vec<Finding>) {
    for (side, other) in comparison.sides() {
        if is_text_of_several(other) && is_unordered_text(scene, side) {
            found.push(Finding {
                line: comparison.line,
                rule: Rule::UnorderedText,
                message: "the members of this text come in any order".to_owned(),
            });
            return;
        }
        let kinds: [(Rule, IsSource, &str); 3] = [
            (
                Rule::UnorderedSequence,
                is_unordered,
                "a set or map has no order, and this compares one",
            ),
            (
                Rule::ListingOrder,
                is_listing,
                "a folder is listed in any order, and this compares one",
            ),
            (
                Rule::ReflectionOrder,
                is_reflection,
                "members are given in any order, and this relies on one",
            ),
        ];
        for (rule, is_source, message) in kinds {
            let is_fixed =
                is_sequence(other) || (rule == Rule::ReflectionOrder && is_indexed(scene, side));
            if is_fixed && comes_from(scene, side, is_source) {
                found.push(Finding { line: comparison.line, rule, message: message.to_owned() });
                return;
            }
        }
    }
}

/// Whether a value is written as a sequence of two or more.
fn is_sequence(value: Value<'_>) -> bool {
    match bare(value.expression) {
        Expression::Combine { operation: Operation::Gather, word, operands } => {
            let word = value.text(*word);
            operands.len() >= 2 && !word.starts_with('{') && !word.starts_with("map[")
        }
        call @ Expression::Call { arguments, .. } => {
            matches!(
                name_of(value.file, call),
                "asList" | "of" | "listOf" | "vec" | "arrayOf" | "list"
            ) && !path(value.file, call).contains("Set")
                && !path(value.file, call).contains("Map")
                && arguments.len() >= 2
        }
        Expression::Literal(_) => quoted(value.file, value.expression).is_some_and(|text| {
            let separators = text.matches([',', ' ', ';', '|', '\n']).count();
            separators >= 1 && text.len() >= 3
        }),
        Expression::Name(_)
        | Expression::Member { .. }
        | Expression::Combine { .. }
        | Expression::Lambda(_) => false,
    }
}

/// Whether a source flows into a sequence without being sorted.
fn comes_from<'p>(scene: &Scene<'p>, value: Value<'p>, is_source: IsSource) -> bool {
    // A set that is compared as a set is fine: it must be made a sequence on the way.
    let mut is_converted = false;
    let mut hit = false;
    scene.walk(value, &mut |piece| {
        if hit {
            return false;
        }
        let expression = bare(piece.expression);
        if is_source(scene, piece) {
            hit = is_converted || gives_sequence(piece);
            return false;
        }
        match expression {
            Expression::Call { .. } => {
                let name = name_of(piece.file, expression);
                let is_set =
                    piece.file.text.get(expression.span().end as usize..).is_some_and(|rest| {
                        rest.starts_with("::<")
                            && rest
                                .split('(')
                                .next()
                                .is_some_and(|it| it.contains("Set") || it.contains("Map"))
                    });
                let converts = converts(name) && !is_set;
                is_converted |= converts && makes_sequence(name);
                converts || keeps(name)
            }
            Expression::Name(span) => {
                let name = piece.text(*span);
                if is_sorted(scene, name, piece.at) {
                    return false;
                }
                if is_collected(scene, name, piece, is_source) {
                    hit = true;
                    return false;
                }
                if let Some(given) = scene.given(name, piece) {
                    if given.is_element {
                        is_converted = true;
                    }
                    let line = line_at(given.value.file, given.value.expression);
                    let is_set = line.contains("HashSet<") && line.contains("collect");
                    let is_ordered = line.contains("BTree");
                    return !is_set && !is_ordered;
                }
                false
            }
            Expression::Combine { operation, word, .. } => {
                let word = piece.text(*word);
                is_converted |= *operation == Operation::Gather && word.starts_with(['[', '(']);
                matches!(operation, Operation::Pass | Operation::Index)
                    || (*operation == Operation::Gather && !word.starts_with('{'))
            }
            Expression::Member { .. } | Expression::Literal(_) | Expression::Lambda(_) => false,
        }
    });
    hit
}

fn line_at<'p>(file: &'p Unit, expression: &Expression) -> &'p str {
    let line = expression.span().line as usize;
    file.text.lines().nth(line.saturating_sub(1)).unwrap_or_default()
}

/// Calls that make a sequence of what has no order.
fn makes_sequence(name: &str) -> bool {
    matches!(
        name,
        "list"
            | "tuple"
            | "join"
            | "str"
            | "repr"
            | "ArrayList"
            | "LinkedList"
            | "toString"
            | "toArray"
            | "collect"
            | "toList"
            | "next"
            | "to_vec"
            | "first"
            | "String"
            | "toTypedArray"
            | "joinToString"
            | "enumerate"
    )
}

/// Calls that hand on what they are given, in its order.
fn converts(name: &str) -> bool {
    makes_sequence(name)
}

fn keeps(name: &str) -> bool {
    matches!(
        name,
        "stream"
            | "map"
            | "filter"
            | "iterator"
            | "cloned"
            | "copied"
            | "iter"
            | "into_iter"
            | "keys"
            | "values"
            | "keySet"
            | "entrySet"
            | "unwrap"
            | "items"
            | "flat_map"
            | "filter_map"
            | "asList"
            | "reversed"
            | "into_keys"
            | "into_values"
            | "expect"
            | "get"
            | "getName"
            | "name"
            | "to_string"
            | "to_owned"
    )
}

/// Whether a listing is a sequence as it is.
fn gives_sequence(value: Value<'_>) -> bool {
    matches!(
        name_of(value.file, bare(value.expression)),
        "listdir"
            | "glob"
            | "listFiles"
            | "list"
            | "getDeclaredFields"
            | "getDeclaredMethods"
            | "getMethods"
            | "getFields"
            | "getDeclaredConstructors"
            | "getConstructors"
    )
}

/// Whether a variable was sorted before a step.
fn is_sorted(scene: &Scene<'_>, name: &str, before: usize) -> bool {
    scene.calls().take_while(|(at, ..)| *at <= before).any(|(_, step, call, _)| {
        let called = name_of(step.file, call).to_ascii_lowercase();
        let is_it = |it: &Expression| {
            matches!(bare(it), Expression::Name(span) if step.file.text_of(*span) == name)
        };
        let path = path(step.file, call).to_ascii_lowercase();
        (called.contains("sort") || path.starts_with("sort.") || path.starts_with("slices."))
            && (receiver_of(call).is_some_and(is_it) || arguments_of(call).iter().any(is_it))
    })
}

/// Whether the elements of a source were added to a variable, one after another.
fn is_collected<'p>(scene: &Scene<'p>, name: &str, value: Value<'p>, is_source: IsSource) -> bool {
    let is_it = |file: &Unit, it: &Expression| matches!(bare(it), Expression::Name(span) if file.text_of(*span) == name);
    scene.calls().take_while(|(at, ..)| *at <= value.at).any(|(at, step, call, _)| {
        if !step.in_loop || step.frame != 0 {
            return false;
        }
        let called = name_of(step.file, call);
        let arguments = arguments_of(call);
        let added = match called {
            "append" if step.file.language == Language::Go => arguments
                .split_first()
                .filter(|(first, _)| is_it(step.file, first))
                .map(|(_, rest)| rest),
            "append" | "add" | "push" | "push_str" | "write" => {
                receiver_of(call).filter(|it| is_it(step.file, it)).map(|_| arguments)
            }
            _ => None,
        };
        added.into_iter().flatten().any(|it| {
            let Expression::Name(span) = bare(it) else { return false };
            let piece = Value { expression: bare(it), file: step.file, at };
            let given = scene.given(piece.text(*span), piece).filter(|given| given.is_element);
            given.is_some_and(|given| over(scene, given.value, is_source))
        })
    })
}

/// Whether a loop runs over a source.
fn over<'p>(scene: &Scene<'p>, value: Value<'p>, is_source: IsSource) -> bool {
    let mut hit = false;
    scene.walk(value, &mut |piece| {
        hit |= is_source(scene, piece);
        let goes_on = match bare(piece.expression) {
            call @ Expression::Call { .. } => keeps(name_of(piece.file, call)),
            Expression::Name(_) => true,
            Expression::Combine { operation, .. } => *operation == Operation::Pass,
            _ => false,
        };
        !hit && goes_on
    });
    hit
}

/// Whether one element by its place is what is compared.
fn is_indexed<'p>(scene: &Scene<'p>, value: Value<'p>) -> bool {
    let mut hit = false;
    scene.walk(value, &mut |piece| {
        hit |= matches!(piece.expression, Expression::Combine { operation: Operation::Index, operands, .. }
            if operands.len() == 2 && is_number(piece.file, &operands[1]));
        !hit
    });
    hit
}

/// Whether a text names two members or more.
fn is_text_of_several(value: Value<'_>) -> bool {
    quoted(value.file, value.expression).is_some_and(|text| {
        let members = text.matches([':', '=']).count();
        members >= 2 && text.contains(',') && text.contains('{')
    })
}

/// Whether a value is the text of an object without order.
fn is_unordered_text<'p>(scene: &Scene<'p>, value: Value<'p>) -> bool {
    let call = bare(value.expression);
    let name = name_of(value.file, call);
    let about = match name {
        "toString" | "to_string" => receiver_of(call),
        "writeValueAsString" | "toJson" | "toJSONString" => arguments_of(call).first(),
        _ => None,
    };
    let Some(about) = about else { return false };
    let mut hit = false;
    scene.walk(value.of(about), &mut |piece| {
        let expression = bare(piece.expression);
        let path = path(piece.file, expression);
        hit |= is_unordered(scene, piece)
            || (matches!(expression, Expression::Call { creates: true, .. })
                && is_any(&path, &["org.json.JSONObject"]));
        !hit && matches!(expression, Expression::Name(_) | Expression::Combine { .. })
    });
    hit
}
