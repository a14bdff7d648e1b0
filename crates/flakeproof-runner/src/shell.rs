//! Commands as people type them.

/// Words as a POSIX shell reads them.
pub(crate) fn shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_the_shell() {
        assert_eq!(quoted("test_a.py::test_x[a b]"), "'test_a.py::test_x[a b]'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("tests/test_a.py::test_x"), "tests/test_a.py::test_x");
    }
}
