//! What has no order: sets and maps, the listing of a folder, the members of a class.

use super::scene::Scene;
use super::value::{Value, bare, is_any, literal_text, name_of, path, receiver_of};
use crate::Language;
use crate::flow::{Expression, Operation, Unit};

/// Whether a value is a set or a map without order.
pub(super) fn is_unordered(_scene: &Scene<'_>, value: Value<'_>) -> bool {
    let expression = bare(value.expression);
    let path = path(value.file, expression);
    match (value.file.language, expression) {
        (
            Language::Python,
            Expression::Combine { operation: Operation::Gather, word, operands },
        ) => {
            value.text(*word) == "{"
                && operands.first().is_some_and(|it| !is_key(value.file, it))
                && !operands.iter().all(|it| is_number(value.file, it))
        }
        (Language::Python, Expression::Call { arguments, .. }) => {
            let of_numbers = arguments.first().is_some_and(|it| match bare(it) {
                Expression::Combine { operands, .. } => {
                    operands.iter().all(|it| is_number(value.file, it))
                }
                _ => false,
            });
            let of_range =
                arguments.first().is_some_and(|it| name_of(value.file, bare(it)) == "range");
            matches!(path.as_str(), "set" | "frozenset")
                && !arguments.is_empty()
                && !of_numbers
                && !of_range
        }
        (Language::Java | Language::Kotlin, Expression::Call { creates, arguments, .. }) => {
            (*creates && is_any(&path, &["HashMap", "HashSet", "ConcurrentHashMap", "Hashtable"]))
                || (is_any(&path, &["Set.of", "Map.of"]) && arguments.len() >= 2)
                || is_any(&path, &["Collectors.toSet"])
                || is_any(&path, &["hashMapOf", "hashSetOf"])
        }
        (Language::Go, Expression::Combine { operation: Operation::Gather, word, .. }) => {
            value.text(*word).starts_with("map[")
        }
        (Language::Go, Expression::Call { arguments, .. }) => {
            path == "make"
                && arguments
                    .first()
                    .is_some_and(|it| value.text(bare(it).span()).starts_with("map["))
        }
        (Language::Rust, Expression::Call { .. }) => is_any(
            &path,
            &[
                "HashMap.new",
                "HashSet.new",
                "HashMap.from",
                "HashSet.from",
                "HashMap.with_capacity",
                "HashMap.from_iter",
                "HashSet.from_iter",
            ],
        ),
        _ => false,
    }
}

/// Whether an element of `{…}` is a key: a `:` follows.
fn is_key(file: &Unit, expression: &Expression) -> bool {
    let end = expression.span().end as usize;
    let rest = file.text.get(end..).unwrap_or_default().trim_start();
    rest.starts_with(':') || !matches!(expression, Expression::Literal(_) | Expression::Name(_))
}

pub(super) fn is_number(file: &Unit, expression: &Expression) -> bool {
    literal_text(file, expression)
        .is_some_and(|text| text.starts_with(|c: char| c.is_ascii_digit() || c == '-'))
}

pub(super) fn is_listing(_scene: &Scene<'_>, value: Value<'_>) -> bool {
    let expression = bare(value.expression);
    if !matches!(expression, Expression::Call { .. }) {
        return false;
    }
    let path = path(value.file, expression);
    let name = name_of(value.file, expression);
    match value.file.language {
        Language::Python => {
            is_any(&path, &["os.listdir", "glob.glob", "os.scandir", "glob.iglob"])
                || name == "iterdir"
                || (name == "glob" && receiver_of(expression).is_some())
        }
        Language::Java | Language::Kotlin => {
            name == "listFiles"
                || is_any(&path, &["Files.list", "Files.newDirectoryStream", "Files.walk"])
        }
        Language::Rust => is_any(&path, &["fs.read_dir", "read_dir"]),
        Language::JavaScript
        | Language::TypeScript
        | Language::Go
        | Language::CSharp
        | Language::Ruby => false,
    }
}

pub(super) fn is_reflection(_scene: &Scene<'_>, value: Value<'_>) -> bool {
    matches!(value.file.language, Language::Java | Language::Kotlin)
        && matches!(
            name_of(value.file, bare(value.expression)),
            "getDeclaredFields"
                | "getDeclaredMethods"
                | "getMethods"
                | "getFields"
                | "getDeclaredConstructors"
                | "getConstructors"
        )
}
