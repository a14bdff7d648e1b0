//! Texts of values that are Python: only those can be written into a patch.

/// The text as Python, if it is nothing but literals and containers of them.
///
/// Pictures of state show values as short texts. What they shorten or only name is no Python.
pub(crate) fn as_python(text: &str) -> Option<&str> {
    let is_plain = match text {
        "None" | "True" | "False" | "set()" => true,
        _ => is_literal(text),
    };
    (is_plain && !text.contains('…')).then_some(text)
}

/// The text as Python, if it is a set or a frozen set of literals.
pub(crate) fn as_python_set(text: &str) -> Option<&str> {
    let elements = text.strip_prefix("frozenset(").map_or(Some(text), |it| it.strip_suffix(')'))?;
    let inside = elements.strip_prefix('{')?.strip_suffix('}')?;
    // A dictionary keeps its order.
    (is_literal(&format!("[{inside}]")) && !inside.contains(": ")).then_some(text)
}

fn is_literal(text: &str) -> bool {
    let mut rest = text.trim_start();
    let mut depth = 0_usize;
    let mut has_value = false;
    while let Some(first) = rest.chars().next() {
        let taken = match first {
            '\'' | '"' => match string_length(rest) {
                Some(length) => {
                    has_value = true;
                    length
                }
                None => return false,
            },
            '[' | '{' | '(' => {
                (depth, has_value) = (depth + 1, true);
                1
            }
            ']' | '}' | ')' => {
                if depth == 0 {
                    return false;
                }
                depth -= 1;
                1
            }
            ',' | ':' | ' ' if depth > 0 => 1,
            '0'..='9' | '-' | '.' | 'a'..='z' | 'A'..='Z' => {
                let is_of_word =
                    |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '+' | '_');
                let word = &rest[..rest.find(|it| !is_of_word(it)).unwrap_or(rest.len())];
                if !(matches!(word, "None" | "True" | "False") || is_number(word)) {
                    return false;
                }
                has_value = true;
                word.len()
            }
            _ => return false,
        };
        rest = &rest[taken..];
    }
    has_value && depth == 0
}

fn is_number(word: &str) -> bool {
    word.chars().any(|it| it.is_ascii_digit()) && word.parse::<f64>().is_ok()
}

/// The bytes of the string literal that a text begins with.
fn string_length(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return None,
            it if it == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_literals_are_python() {
        for text in ["None", "[]", "{'a': [1, -2.5]}", "\"it's\"", "(1,)", "set()", "0"] {
            assert_eq!(as_python(text), Some(text), "{text}");
        }
        for text in ["Cart(items=[])", "class a.B", "[1, … 3 more]", "f(1)", "", "'", "1]"] {
            assert_eq!(as_python(text), None, "{text}");
        }
    }
}
