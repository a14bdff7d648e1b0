//! One command of a script for the shell, where the shell would do nothing to it but split it.

use super::front::is_assignment;

/// A command without anything that only a shell can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// `NAME=value`, as they stand before it.
    pub(super) variables: Vec<String>,
    /// The program and its arguments.
    pub(super) words: Vec<String>,
}

impl SimpleCommand {
    /// Read a script that is one such command; `None` for anything else: several commands, pipes,
    /// redirections, substitutions, patterns that the shell expands.
    pub(super) fn read(script: &str) -> Option<Self> {
        if needs_a_shell(script) {
            return None;
        }
        let mut words = shlex::split(script.trim())?;
        let count = words.iter().take_while(|word| is_assignment(word)).count();
        let rest = words.split_off(count);
        let sets_path = words.iter().any(|word| word.starts_with("PATH="));
        (!rest.is_empty() && !sets_path).then_some(Self { variables: words, words: rest })
    }

    /// The words that start it without a shell.
    pub(super) fn into_words(self) -> Vec<String> {
        let env = (!self.variables.is_empty()).then(|| "env".to_owned());
        env.into_iter().chain(self.variables).chain(self.words).collect()
    }
}

/// The simple commands among those that a script runs one after another. What is more than that is
/// left out.
pub(super) fn simple_commands(script: &str) -> Vec<SimpleCommand> {
    let parts = script.split(['\n', ';']).flat_map(|line| line.split("&&"));
    parts.filter_map(SimpleCommand::read).collect()
}

/// Whether the shell would do more than split the words.
fn needs_a_shell(script: &str) -> bool {
    let mut quote = None;
    for letter in script.trim().chars() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (Some(_), '$' | '`' | '\\') => return true,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(letter),
            (None, letter) if "&|;<>()$`*?[]{}~#!\\\n".contains(letter) => return true,
            (None, _) => {}
        }
    }
    quote.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_is_split_as_a_shell_splits_it() {
        let read = |script: &str| SimpleCommand::read(script).map(SimpleCommand::into_words);
        let words = |text: &[&str]| Some(text.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(read("jest --ci"), words(&["jest", "--ci"]));
        assert_eq!(read("A=1 B='x y' jest"), words(&["env", "A=1", "B=x y", "jest"]));
        assert_eq!(read("jest \"src/**/a b\""), words(&["jest", "src/**/a b"]));
    }

    #[test]
    fn what_only_a_shell_can_do_is_no_simple_command() {
        for script in [
            "",
            "A=1",
            "PATH=/x jest",
            "lint && jest",
            "jest | tee log",
            "jest > log",
            "jest src/*.js",
            "jest $FILES",
            "jest \"$FILES\"",
            "(jest)",
            "jest 'a",
            "jest &",
            "jest\nmocha",
        ] {
            assert_eq!(SimpleCommand::read(script), None, "{script}");
        }
    }

    #[test]
    fn the_commands_of_a_longer_script_are_found() {
        let found = simple_commands("npm run lint && jest --ci; rm -rf $X");
        let texts: Vec<String> = found.iter().map(|it| it.words.join(" ")).collect();
        assert_eq!(texts, ["npm run lint", "jest --ci"]);
    }
}
