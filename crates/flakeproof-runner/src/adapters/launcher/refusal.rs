//! Commands that are refused before anything runs: what was found, and what to type instead.

use super::recipe::Recipe;
use super::simple_command::{SimpleCommand, simple_commands};
use crate::adapter::{Blame, Error};
use crate::shell::shell;

/// The runners that need no description, as people call them.
pub(super) const RUNNERS: &str = "pytest, go test, cargo test, cargo nextest run, mvn, gradle, jest, \
     vitest run, mocha, node --test, rspec, phpunit, ctest, dotnet test";

/// A table that describes a runner, to begin with.
const TABLE: &str = "[runner.mine]\n\
     command = \"COMMAND\"            # the beginning of the command it is for\n\
     run = \"COMMAND {tests}\"        # runs some tests\n\
     all = \"COMMAND\"                # runs all of them\n\
     result = \"junit\"               # or tap, ctrf, go-json, jest-json, rspec-json\n\
     result-path = \"report.xml\"     # where it writes its report";

/// A script of `package.json` that cannot be resolved.
pub(super) struct Script<'a> {
    /// The command that runs it.
    pub(super) typed: &'a [String],
    pub(super) name: &'a str,
    pub(super) text: &'a str,
}

impl Script<'_> {
    fn is(&self, what: &str) -> String {
        let typed = shell(self.typed);
        format!("`{typed}` runs the script `{}` of package.json, {what}", self.name)
    }
}

/// A command whose runner nobody knows.
pub(super) fn unknown(command: &[String]) -> Error {
    let what = format!("it is not known which test runner `{}` starts", shell(command));
    let next = format!(
        "put the runner itself after `--` ({RUNNERS}); if the command starts pytest in the end, \
         say so with `--adapter pytest`; describe any other runner in flakeproof.toml, as above \
         (see `Any other runner` in the guides)"
    );
    usage(what, next, TABLE.replace("COMMAND", &shell(command)))
}

/// A program of which it is known that it is no runner we can drive, and what helps.
pub(super) fn of_program(program: &str, command: &[String]) -> Option<Error> {
    let has = |wanted: &str| command.iter().any(|word| word.rsplit('/').next() == Some(wanted));
    let typed = shell(command);
    let (what, next, details) = match program {
        "docker" | "docker-compose" | "podman" | "kubectl" | "ssh" | "vagrant" => (
            format!("`{program}` runs the tests where flakeproof cannot watch them"),
            "run flakeproof itself there, with the runner after `--`".to_owned(),
            String::new(),
        ),
        "vitest" if !has("run") => (
            format!("`{typed}` would watch for changes and not end"),
            format!("put `-- {}` instead", once_with_vitest(command)),
            String::new(),
        ),
        _ if has("manage.py") && has("test") || has("django-admin") && has("test") => (
            format!(
                "`{typed}` runs the tests with Django's own runner, which flakeproof does not drive"
            ),
            "install pytest-django, set DJANGO_SETTINGS_MODULE, and put `-- pytest` instead; its \
             selection of tests may differ, so compare the numbers once"
                .to_owned(),
            String::new(),
        ),
        _ if has("unittest") => (
            format!("`{typed}` runs the tests with unittest, which flakeproof does not drive"),
            "install pytest, which runs them too, and put `-- python -m pytest` instead; its \
             selection of tests may differ, so compare the numbers once"
                .to_owned(),
            String::new(),
        ),
        _ => return shell_line(program, command),
    };
    Some(usage(what, next, details))
}

fn once_with_vitest(command: &[String]) -> String {
    let rest: Vec<String> =
        command[1..].iter().filter(|word| *word != "--run" && *word != "watch").cloned().collect();
    let words = ["npx", "vitest", "run"].iter().map(|&it| it.to_owned()).chain(rest);
    shell(&words.collect::<Vec<_>>())
}

/// A line for a shell may be anything.
fn shell_line(program: &str, command: &[String]) -> Option<Error> {
    let is_shell = matches!(program, "sh" | "bash" | "dash" | "zsh");
    let line = command.get(2).filter(|_| is_shell && command[1] == "-c")?;
    let simple = SimpleCommand::read(line).map(SimpleCommand::into_words);
    let what = format!("`{}` leaves it to a shell what runs", shell(command));
    Some(usage(what, advice(simple.as_deref()), String::new()))
}

/// A command that a file of its own hides.
pub(super) fn hidden(command: &[String], recipe: Recipe) -> Error {
    let what = match recipe.text.is_empty() {
        true => format!("`{}` does what {} says", shell(command), recipe.place),
        false => format!("`{}` does what stands above: {}", shell(command), recipe.place),
    };
    let next = match (recipe.first, recipe.command) {
        (Some(first), Some(command)) => format!(
            "run `{first}` once, set the variables that it sets, and put its own command after the \
             dashes: `-- {command}`"
        ),
        (None, Some(command)) => format!(
            "do what has to be done before it, and put the runner's own command after the dashes: \
             `-- {command}`"
        ),
        (_, None) => advice(None),
    };
    usage(what, next, recipe.text)
}

/// A script that is more than one command.
pub(super) fn more_than_a_command(
    script: &Script<'_>,
    started: &dyn Fn(&SimpleCommand) -> Option<Vec<String>>,
) -> Error {
    let command = simple_commands(script.text).iter().find_map(started);
    let what = script.is("which is more than one command");
    usage(what, advice(command.as_deref()), script.text.to_owned())
}

/// A script with others before and after it.
pub(super) fn not_alone(
    script: &Script<'_>,
    around: &[String],
    command: Option<&[String]>,
) -> Error {
    let what = script.is("and others before or after it");
    usage(what, advice(command), format!("{}: {}\n{}", script.name, script.text, around.join("\n")))
}

/// A script whose command is of no runner that is known.
pub(super) fn script_of_nobody(script: &Script<'_>) -> Error {
    let what = script.is("which starts no runner that is known");
    usage(what, advice(None), script.text.to_owned())
}

/// A script that is not there.
pub(super) fn no_script(typed: &[String], name: &str, names: &[&str]) -> Error {
    let what = format!("`{}`: package.json has no script `{name}`", shell(typed));
    let next = match names {
        [] => format!("put the runner itself after `--`: {RUNNERS}"),
        names => format!("it has {}; or put the runner itself after `--`", names.join(", ")),
    };
    usage(what, next, String::new())
}

/// A folder without a package.
pub(super) fn no_package(typed: &[String], why: &str) -> Error {
    let what = format!("`{}`: package.json in this folder cannot be read ({why})", shell(typed));
    usage(what, "change to the folder of the package, or put the runner itself after `--`", "")
}

/// A call of a script with options that change what is run.
pub(super) fn unclear_script(typed: &[String], why: &str) -> Error {
    let what = format!("it is not known what `{}` runs: {why}", shell(typed));
    usage(what, advice(None), "")
}

/// `npm exec` without dashes.
pub(super) fn npm_keeps_options(rest: &[String]) -> Error {
    let npx: Vec<String> = std::iter::once("npx".to_owned()).chain(rest.iter().cloned()).collect();
    let what = "`npm exec` keeps the options of what it starts for itself";
    usage(what, advice(Some(&npx)), "")
}

/// What to type instead.
fn advice(command: Option<&[String]>) -> String {
    match command {
        Some(words) => format!(
            "do what has to be done before it, and put the runner's own command after the dashes: \
             `-- {}`",
            shell(words)
        ),
        None => format!(
            "put the runner itself after `--` ({RUNNERS}); if the command starts pytest in the \
             end, say so with `--adapter pytest`; any other runner can be described in \
             flakeproof.toml (see `Any other runner` in the guides)"
        ),
    }
}

fn usage(what: impl Into<String>, next: impl Into<String>, details: impl Into<String>) -> Error {
    Error::Explained {
        blame: Blame::Usage,
        what: what.into(),
        next: next.into(),
        details: details.into(),
    }
}
