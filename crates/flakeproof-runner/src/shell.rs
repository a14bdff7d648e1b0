//! What a shell hands to a program: the words of a command, quoted as people type them, and the
//! variables, of which only digests are kept: enough to see that one changed, and no secret.

use std::collections::BTreeMap;

/// Words as a POSIX shell reads them.
pub(crate) fn shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a POSIX shell reads it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// So much of a digest tells that a variable changed, but for one case in 65,536, and fits so many texts
/// that nobody finds out which of them a password was: a team's history is read by others, too.
const DIGITS_OF_A_VARIABLE: usize = 4;

/// A digest of each environment variable's value, by name.
pub(crate) fn digests_of_variables() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.into_string().ok()?;
            let is_ours = name.starts_with("FLAKEPROOF");
            let mut digest = digest(value.as_encoded_bytes());
            digest.truncate(DIGITS_OF_A_VARIABLE);
            (!is_ours).then_some((name, digest))
        })
        .collect()
}

/// A short digest.
pub(crate) fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
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
