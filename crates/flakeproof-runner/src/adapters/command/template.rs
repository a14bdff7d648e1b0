//! Commands with placeholders, filled.

use super::profile::CommandText;

/// Values of placeholders; each is a list of words.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(Vec<(&'static str, Vec<String>)>);

impl Values {
    /// Add the words of a placeholder.
    pub(super) fn with(mut self, name: &'static str, words: Vec<String>) -> Self {
        self.0.push((name, words));
        self
    }

    /// The words of a command.
    pub(super) fn fill(&self, command: &CommandText) -> Vec<String> {
        match command {
            CommandText::Line(line) => {
                let line = self.filled(line, shell);
                vec!["sh".to_owned(), "-c".to_owned(), line]
            }
            CommandText::Words(words) => {
                words.iter().flat_map(|word| self.fill_word(word)).collect()
            }
        }
    }

    /// The command as a person types it.
    pub(super) fn typed(&self, command: &CommandText) -> String {
        match command {
            CommandText::Line(line) => self.filled(line, shell),
            CommandText::Words(_) => shell(&self.fill(command)),
        }
    }

    /// A path with the placeholders in it.
    pub(super) fn path(&self, path: &str) -> String {
        self.filled(path, |words| words.join(" "))
    }

    /// A placeholder alone becomes as many words as it has; inside of a word it is one.
    fn fill_word(&self, word: &str) -> Vec<String> {
        let alone = word.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let found = self.0.iter().find(|(name, _)| Some(*name) == alone);
        match found {
            Some((_, words)) => words.clone(),
            None => vec![self.filled(word, |words| words.join(" "))],
        }
    }

    /// One pass: what is filled in is not looked at again.
    fn filled(&self, text: &str, join: impl Fn(&[String]) -> String) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        'places: while let Some(at) = rest.find('{') {
            filled.push_str(&rest[..at]);
            rest = &rest[at..];
            for (name, words) in &self.0 {
                let after = rest[1..].strip_prefix(name).and_then(|it| it.strip_prefix('}'));
                if let Some(after) = after {
                    filled.push_str(&join(words));
                    rest = after;
                    continue 'places;
                }
            }
            filled.push('{');
            rest = &rest[1..];
        }
        filled + rest
    }
}

/// Words as a POSIX shell reads them.
pub(super) fn shell(words: &[String]) -> String {
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

    fn words(text: &[&str]) -> Vec<String> {
        text.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_placeholder_is_words_or_part_of_one() {
        let values = Values::default().with("tests", words(&["a b", "c"])).with("none", Vec::new());
        let command = CommandText::Words(words(&["run", "{none}", "{tests}", "--only={tests}"]));
        assert_eq!(values.fill(&command), words(&["run", "a b", "c", "--only=a b c"]));
    }

    #[test]
    fn the_shell_gets_what_it_cannot_misread() {
        let values = Values::default().with("tests", words(&["it's; rm x", "{tests}"]));
        let line = CommandText::Line("run {tests} | awk '{print}' ${HOME}".into());
        let filled = r"run 'it'\''s; rm x' '{tests}' | awk '{print}' ${HOME}";
        assert_eq!(values.fill(&line), words(&["sh", "-c", filled]));
        assert_eq!(values.typed(&line), filled);
    }
}
