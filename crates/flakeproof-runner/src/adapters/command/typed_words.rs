//! The user's own command, taken apart.

/// A command whose words are told apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TypedWords {
    /// All of it but the tail.
    pub(super) command: Vec<String>,
    /// The program and its options, without what selects tests.
    pub(super) options: Vec<String>,
    /// What selects tests: files, folders, packages.
    pub(super) selectors: Vec<String>,
    /// What the runner hands on to the tests, with the word that begins it.
    pub(super) tail: Vec<String>,
    /// Whether it selects tests by more than where they are.
    pub(super) is_selective: bool,
}

/// Options that select tests by their names, or only some of them.
const BY_NAME: [&str; 7] =
    ["-run", "-skip", "-t", "--testNamePattern", "--test-name-pattern", "--shard", "--onlyChanged"];

/// What is to be known about a runner's arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar {
    /// How many words after the program's own still name what to do: `test` in `go test`.
    pub(super) verbs: &'static [&'static str],
    /// Options whose value is the next word.
    pub(super) with_values: &'static [&'static str],
    /// Options that select tests by name, or that would fight with ours.
    pub(super) selecting: &'static [&'static str],
    /// What begins the tail.
    pub(super) tail: Option<&'static str>,
}

impl TypedWords {
    /// A command of an unknown runner.
    pub(super) fn whole(command: &[String]) -> Self {
        Self { command: command.to_vec(), options: command.to_vec(), ..Self::default() }
    }

    /// Take a command apart whose program ends before `program_end`.
    pub(super) fn of(command: &[String], program_end: usize, grammar: &Grammar) -> Self {
        let tail_at = grammar
            .tail
            .and_then(|tail| command.iter().position(|word| word == tail))
            .unwrap_or(command.len());
        let (head, tail) = command.split_at(tail_at);
        let mut options = head[..program_end.min(head.len())].to_vec();
        let mut selectors = Vec::new();
        let mut is_selective = false;
        let mut words = head[options.len()..].iter().peekable();
        while let Some(verb) = words.next_if(|word| grammar.verbs.contains(&word.as_str())) {
            options.push(verb.clone());
        }
        while let Some(word) = words.next() {
            if !word.starts_with('-') || word == "-" {
                selectors.push(word.clone());
                continue;
            }
            let name = word.split('=').next().unwrap_or(word);
            let has_value = !word.contains('=') && grammar.with_values.contains(&name);
            let value = if has_value { words.next() } else { None };
            match grammar.selecting.contains(&name) {
                true => is_selective |= BY_NAME.contains(&name),
                false => options.extend(std::iter::once(word).chain(value).cloned()),
            }
        }
        Self { command: head.to_vec(), options, selectors, tail: tail.to_vec(), is_selective }
    }
}

/// Where the program's name ends: after the word whose file name is this, followed by the verbs.
pub(super) fn program_end(command: &[String], name: &str, verb: Option<&str>) -> Option<usize> {
    let at = command.iter().position(|word| word.rsplit('/').next() == Some(name))?;
    match verb {
        None => Some(at + 1),
        Some(verb) => (command.get(at + 1).map(String::as_str) == Some(verb)).then_some(at + 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GO: Grammar = Grammar {
        verbs: &[],
        with_values: &["-run", "-tags"],
        selecting: &["-run"],
        tail: Some("-args"),
    };

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_selectors_and_tail_are_told_apart() {
        let command = words("go test -race -tags unit -run TestA ./... -count=2 -args -x y");
        let typed = TypedWords::of(&command, 2, &GO);
        assert_eq!(typed.options, words("go test -race -tags unit -count=2"));
        assert_eq!(typed.selectors, words("./..."));
        assert_eq!(typed.tail, words("-args -x y"));
        assert_eq!(typed.command.len(), 9);
        assert!(typed.is_selective);
        assert!(!TypedWords::of(&words("go test -tags unit ./..."), 2, &GO).is_selective);
    }

    #[test]
    fn a_program_is_found_behind_its_launcher() {
        assert_eq!(program_end(&words("npx jest a"), "jest", None), Some(2));
        assert_eq!(program_end(&words("node_modules/.bin/jest"), "jest", None), Some(1));
        assert_eq!(program_end(&words("go build"), "go", Some("test")), None);
    }
}
