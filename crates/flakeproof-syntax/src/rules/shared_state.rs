//! Variables that outlive a test: changed by one test and read by another.

use super::rule::{Finding, Rule};
use super::scene::{Deed, Part, Scene, Step};
use super::value::{bare, name_of, receiver_of};
use crate::Language;
use crate::flow::{Expression, Function, Operation, Role, Unit};

/// A variable of the file that this test gives a value and another test only reads.
pub(super) fn shared_state(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let hooks: Vec<&Step<'_>> = scene.steps.iter().filter(|step| step.part != Part::Test).collect();
    for step in scene.steps.iter().filter(|step| step.part == Part::Test && step.frame == 0) {
        let Some(name) = written(step) else { continue };
        if !is_shared(scene, name) || is_local(scene, name) {
            continue;
        }
        // Made anew around each test.
        let in_hooks =
            hooks.iter().any(|hook| written(hook) == Some(name) || line_mentions(hook, name));
        if in_hooks {
            continue;
        }
        if let Some(reader) = reader_of(scene, name) {
            found.push(Finding {
                line: step.span().line,
                rule: Rule::SharedState,
                message: format!("`{name}` is changed here, and `{reader}` reads it"),
            });
            return;
        }
    }
}

fn line_mentions(step: &Step<'_>, name: &str) -> bool {
    let line = step.file.text.lines().nth((step.span().line as usize).saturating_sub(1));
    line.is_some_and(|line| has_word(line, name))
}

/// The variable a step gives a value as a whole, or adds to.
fn written<'p>(step: &Step<'p>) -> Option<&'p str> {
    match step.deed {
        Deed::Bind { targets, value, .. } => {
            value?;
            let target = bare(targets.first()?);
            let root = match target {
                Expression::Name(span) => *span,
                Expression::Combine { operation: Operation::Index, operands, .. } => {
                    match bare(operands.first()?) {
                        Expression::Name(span) => *span,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            Some(step.file.text_of(root))
        }
        Deed::Call { call, .. } => {
            let is_change = matches!(
                name_of(step.file, call),
                "append" | "add" | "push" | "fetch_add" | "store" | "extend" | "insert"
            );
            match bare(receiver_of(call)?) {
                Expression::Name(span) if is_change => Some(step.file.text_of(*span)),
                _ => None,
            }
        }
        Deed::Assert { .. } => None,
    }
}

/// Whether a name is a variable that all tests of the file share.
fn is_shared(scene: &Scene<'_>, name: &str) -> bool {
    let file = scene.file;
    let in_file = file.fields.iter().any(|field| file.text_of(field.name) == name);
    match file.language {
        Language::Java => {
            let fields = file.types.iter().flat_map(|class| &class.fields);
            fields.filter(|field| file.text_of(field.name) == name).any(|field| {
                let before = file.text.get(..field.name.start as usize).unwrap_or_default();
                before
                    .rsplit(['\n', ';', '{', '}'])
                    .next()
                    .is_some_and(|line| line.contains("static"))
            })
        }
        Language::Kotlin
        | Language::JavaScript
        | Language::TypeScript
        | Language::Go
        | Language::Rust
        | Language::Python => in_file,
        Language::CSharp | Language::Ruby => false,
    }
}

/// Whether the test has a variable of its own of this name.
fn is_local(scene: &Scene<'_>, name: &str) -> bool {
    let own = scene.file.text_of(scene.function.span);
    if scene.function.parameters.iter().any(|it| scene.file.text_of(it.name) == name) {
        return true;
    }
    match scene.file.language {
        // Assigned in a function, a name is local unless it is said to be global.
        Language::Python => {
            let binds = own.lines().any(|line| {
                let line = line.trim_start();
                line.strip_prefix(name).is_some_and(|rest| {
                    rest.trim_start().starts_with('=') && !rest.trim_start().starts_with("==")
                })
            });
            binds && !own.contains(&format!("global {name}"))
        }
        Language::Go => own.lines().any(|line| {
            line.split_once(":=").is_some_and(|(left, _)| has_word(left, name))
                || line.contains(&format!("var {name} "))
        }),
        Language::JavaScript | Language::TypeScript => {
            ["const ", "let ", "var "].iter().any(|word| own.contains(&format!("{word}{name}")))
        }
        Language::Rust => {
            let words = ["let ", "let mut ", "const ", "static "];
            words.iter().any(|word| own.contains(&format!("{word}{name}")))
        }
        Language::Java | Language::Kotlin => false,
        Language::CSharp | Language::Ruby => true,
    }
}

/// Another test of the file that reads a variable and never gives it a value.
fn reader_of<'p>(scene: &Scene<'p>, name: &str) -> Option<&'p str> {
    let file: &'p Unit = scene.file;
    let is_other = |function: &&Function| {
        matches!(function.role, Role::Test(_)) && function.span != scene.function.span
    };
    let reads = |function: &&Function| {
        let text = file.text_of(function.span);
        has_word(text, name) && !gives_value(text, name)
    };
    file.functions.iter().filter(is_other).find(reads).map(|function| function.name.as_str())
}

/// Whether a text gives a variable a value, has one of its own or clears it.
fn gives_value(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let rest = text.get(at + name.len()..).unwrap_or_default();
        let is_word = !before
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '\''))
            && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let after = rest.trim_start();
        let assigns =
            (after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>"))
                || after.starts_with(":=")
                || after.starts_with("+=")
                || after.starts_with("++")
                || [
                    ".clear",
                    ".reset",
                    ".length = 0",
                    ".delete",
                    ".set(",
                    ".store(",
                    ".append(",
                    ".add(",
                    ".push(",
                    ".put(",
                    "[",
                ]
                .iter()
                .any(|it| rest.starts_with(it));
        let declares = ["let ", "const ", "var ", "let mut ", "(", ", ", "val "]
            .iter()
            .any(|it| before.ends_with(it))
            && !before.ends_with(") (")
            && ["let ", "const ", "var ", "let mut ", "val "].iter().any(|it| before.ends_with(it));
        is_word && (assigns || declares)
    })
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let rest = text.get(at + word.len()..).unwrap_or_default();
        !before
            .ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"' | '\'' | '$'))
            && !rest
                .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '"' | '\''))
    })
}
