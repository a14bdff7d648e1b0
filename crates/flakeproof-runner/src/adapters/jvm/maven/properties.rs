//! Java's `.properties` files, as Surefire writes them.

use std::collections::BTreeMap;

/// The properties in a file's text. What cannot be understood is taken as it stands.
pub(super) fn parse(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in logical_lines(text) {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let (key, value) = split(line);
        found.insert(unescaped(key), unescaped(value));
    }
    found
}

/// Lines whose ends are not escaped; the next line's indentation is not part of them.
fn logical_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in text.lines() {
        let is_open = line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
        let part = if is_open { &line[..line.len() - 1] } else { line };
        match lines.last_mut() {
            Some(last) if is_continued => last.push_str(part.trim_start()),
            _ => lines.push(part.to_owned()),
        }
        is_continued = is_open;
    }
    lines
}

/// Key and value, at the first `=`, `:` or white space that is not escaped.
fn split(line: &str) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, character) in line.char_indices() {
        if !is_escaped && matches!(character, '=' | ':' | ' ' | '\t') {
            let rest = line[at..].trim_start();
            let rest = rest.strip_prefix(['=', ':']).unwrap_or(rest);
            return (&line[..at], rest.trim_start());
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    (line, "")
}

fn unescaped(text: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(text.len());
    let mut characters = text.chars();
    let mut buffer = [0; 2];
    while let Some(character) = characters.next() {
        let plain = match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits: String = characters.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).unwrap_or(0xfffd));
                    continue;
                }
                Some(other) => other,
                None => break,
            },
            other => other,
        };
        units.extend_from_slice(plain.encode_utf16(&mut buffer));
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_undone_in_keys_and_values() {
        let text =
            "#surefire\nforkNode=pipe\\://1\na\\ b\\=c=d e\\\n   f\nempty=\n\\u00e9=\\ud83d\\ude00";
        let found = parse(text);
        let get = |key: &str| found.get(key).map(String::as_str);
        assert_eq!(get("forkNode"), Some("pipe://1"));
        assert_eq!(get("a b=c"), Some("d ef"));
        assert_eq!(get("empty"), Some(""));
        assert_eq!(get("é"), Some("😀"));
        assert_eq!(found.len(), 4);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in ".*") {
            parse(&text);
        }

        #[test]
        fn what_java_stores_is_found_again(
            key in "[a-z=: .\\\\]{1,12}", value in "[a-z=: \\\\]{0,12}"
        ) {
            let escape = |text: &str, is_key: bool| text.char_indices().fold(
                String::new(),
                |mut stored, (at, character)| {
                    let needs = matches!(character, '=' | ':' | '\\' | '#' | '!')
                        || (character == ' ' && (is_key || at == 0));
                    if needs {
                        stored.push('\\');
                    }
                    stored.push(character);
                    stored
                },
            );
            let line = format!("{}={}\n", escape(&key, true), escape(&value, false));
            prop_assert_eq!(parse(&line), BTreeMap::from([(key, value)]));
        }
    }
}
