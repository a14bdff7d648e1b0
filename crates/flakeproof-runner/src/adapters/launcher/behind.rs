//! What stands behind a typed command: the runner, and the words that start it.

use std::path::Path;

use flakeproof_core::Notice;

use super::front::{end_of_fronts, program_name};
use super::package_script::{self, Called};
use super::{recipe, refusal};
use crate::adapter::Result;
use crate::adapters::{Known, of_command};

/// A command whose runner is known.
pub(in crate::adapters) struct Behind {
    /// The adapter for the runner.
    pub(in crate::adapters) known: &'static Known,
    /// The command that names the runner: the one that was typed, or what a script holds.
    pub(in crate::adapters) command: Vec<String>,
    /// What the reader should know, where it is not the one that was typed.
    pub(in crate::adapters) notice: Option<Notice>,
}

/// The runner behind a command that is typed in a folder.
///
/// # Errors
/// When nobody knows the runner, or when the command does more than start one. Nothing was run.
pub(in crate::adapters) fn look_behind(command: &[String], folder: &Path) -> Result<Behind> {
    let (front, rest) = command.split_at(end_of_fronts(command));
    let typed = rest.first().map_or("", |word| program_name(word));
    if front.iter().any(|word| word == "npm") && !front.iter().any(|word| word == "--") {
        return Err(refusal::npm_keeps_options(rest));
    }
    match package_script::called(rest) {
        Called::Script(call) => {
            let script = call.resolve(folder)?;
            let command = [front, &script.command].concat();
            return match of_command(&command) {
                Some(known) => Ok(Behind { known, command, notice: script.notice() }),
                None => Err(refusal::unknown(&command)),
            };
        }
        Called::Unclear(why) => return Err(refusal::unclear_script(rest, &why)),
        Called::NoScript => {}
    }
    if let Some(recipe) = recipe::find(typed, rest, folder) {
        return Err(refusal::hidden(rest, recipe));
    }
    if let Some(error) = refusal::of_program(typed, rest) {
        return Err(error);
    }
    // What a program in front is told about is no runner: `uv run --with pytest …`.
    match (of_command(command), of_command(rest)) {
        (Some(known), Some(behind)) if known.name == behind.name => {
            Ok(Behind { known, command: command.to_vec(), notice: None })
        }
        _ => Err(refusal::unknown(command)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::{Blame, Error};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// What is behind a command in a folder with these files.
    fn behind(files: &[(&str, &str)], command: &str) -> Result<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        look_behind(&words(command), folder.path()).map(|it| it.command.join(" "))
    }

    fn refused(files: &[(&str, &str)], command: &str) -> (String, String) {
        match behind(files, command) {
            Err(Error::Explained { blame: Blame::Usage, what, next, details }) => {
                (format!("{what}\n{details}"), next)
            }
            other => panic!("`{command}` is not refused: {other:?}"),
        }
    }

    #[test]
    fn a_runner_that_is_named_stays_as_it_is_typed() {
        for command in [
            "pytest -q",
            "python3.12 -m pytest",
            "uv run --with x pytest",
            "poetry run pytest tests",
            "pipenv run python -m pytest",
            "hatch run pytest",
            "env A=1 npx jest",
            "xvfb-run -a pytest",
            "some-wrapper pytest",
            "yarn jest --ci",
            "pnpm exec vitest run",
            "npx mocha --exit",
            "npm exec -- jest",
            "./gradlew test",
            "mvn -q test",
            "cargo nextest run",
            "go test ./...",
        ] {
            assert_eq!(behind(&[("package.json", "{}")], command).unwrap(), command);
        }
    }

    #[test]
    fn a_script_of_one_command_is_that_command() {
        let bin = ("node_modules/.bin/jest", "");
        for (script, command, behind_it) in [
            ("jest", "npm test", "npx jest"),
            ("jest --ci", "npm t -- -t add", "npx jest --ci -t add"),
            ("jest", "npm run -s test a.test.js", "npx jest a.test.js"),
            ("NODE_ENV=test jest", "npm test", "env NODE_ENV=test npx jest"),
            ("cross-env A=1 jest", "npm test", "npx cross-env A=1 jest"),
            ("node --test", "npm test", "npm run --silent env -- node --test"),
            ("npx jest", "npm test", "npx jest"),
            ("npm run unit -- --ci", "npm test", "npx jest --unit --ci"),
            ("jest", "yarn test --ci", "yarn run jest --ci"),
            ("node --test", "yarn run test", "yarn node --test"),
            ("jest", "pnpm test", "pnpm exec jest"),
            ("jest", "uv run npm test", "uv run npx jest"),
        ] {
            let json = format!(r#"{{"scripts": {{"test": "{script}", "unit": "jest --unit"}}}}"#);
            let files = [("package.json", json.as_str()), bin, ("node_modules/.bin/cross-env", "")];
            assert_eq!(behind(&files, command).unwrap(), behind_it, "{command}: {script}");
        }
    }

    #[test]
    fn a_script_that_does_more_is_refused_with_its_text_and_the_command_in_it() {
        let bin = ("node_modules/.bin/jest", "");
        let more = r#"{"scripts": {"test": "eslint . && jest --ci"}}"#;
        let (what, next) = refused(&[("package.json", more), bin], "npm test");
        assert!(what.contains("eslint . && jest --ci"), "{what}");
        assert!(next.contains("`-- npx jest --ci`"), "{next}");
        let before = r#"{"scripts": {"pretest": "tsc", "test": "jest"}}"#;
        let (what, next) = refused(&[("package.json", before), bin], "npm test");
        assert!(what.contains("pretest") && next.contains("`-- npx jest`"), "{what} {next}");
        let other = r#"{"scripts": {"test": "react-scripts test"}}"#;
        assert!(refused(&[("package.json", other)], "npm test").0.contains("react-scripts test"));
        let hiding = r#"{"scripts": {"test": "concurrently jest eslint"}}"#;
        assert!(refused(&[("package.json", hiding)], "yarn test").0.contains("concurrently jest"));
        let round = r#"{"scripts": {"test": "npm run test"}}"#;
        refused(&[("package.json", round)], "npm test");
    }

    #[test]
    fn a_script_that_is_not_there_is_answered_with_those_that_are() {
        let files = [("package.json", r#"{"scripts": {"unit": "jest"}}"#)];
        assert!(refused(&files, "npm test").0.contains("no script `test`"));
        assert!(refused(&files, "npm test").1.contains("unit"));
        assert!(refused(&[], "npm test").0.contains("package.json"));
        assert!(refused(&files, "npm --workspaces test").0.contains("--workspaces"));
        assert!(refused(&files, "npm exec jest").1.contains("`-- npx jest`"));
    }

    #[test]
    fn a_recipe_is_shown_with_the_command_in_it() {
        let makefile = "all:\n\techo hi\n\ncheck: build\n\t@pytest -q tests\n\techo done\n";
        let (what, next) = refused(&[("Makefile", makefile)], "make check");
        assert!(what.contains("pytest -q tests"), "{what}");
        assert!(next.contains("`-- pytest -q tests`"), "{next}");
        let with_variables = "check:\n\t$(PYTHON) -m pytest\n";
        let (what, next) = refused(&[("Makefile", with_variables)], "make check");
        assert!(what.contains("$(PYTHON) -m pytest") && next.contains("--adapter pytest"));
        refused(&[], "make check");
    }

    #[test]
    fn an_environment_of_tox_is_made_by_tox_and_its_command_is_typed() {
        let ini =
            "[tox]\nenv_list = py311, py312\n[testenv]\ncommands =\n    pytest {posargs:tests}\n";
        let (what, next) = refused(&[("tox.ini", ini)], "tox -e py312");
        assert!(what.contains("pytest {posargs:tests}"), "{what}");
        assert!(next.contains("`-- .tox/py312/bin/pytest tests`"), "{next}");
        assert!(next.contains("tox -e py312 --notest"), "{next}");
        let (what, next) = refused(&[("tox.ini", ini)], "uv run tox");
        assert!(what.contains("py311, py312") && next.contains("tox -e py311"), "{what} {next}");
        let (_, next) = refused(&[("tox.ini", ini)], "python -m tox -e py311 -- -k a");
        assert!(next.contains("`-- .tox/py311/bin/pytest -k a`"), "{next}");
    }

    #[test]
    fn a_session_of_nox_is_made_by_nox_and_its_command_is_typed() {
        let file = "import nox\n@nox.session\ndef tests(session):\n    session.install('.')\n    \
                    session.run('pytest', '-q', *session.posargs)\n";
        let (what, next) = refused(&[("noxfile.py", file)], "nox -s tests");
        assert!(what.contains("session.run('pytest', '-q', *session.posargs)"), "{what}");
        assert!(next.contains("nox -s tests --install-only"), "{next}");
        assert!(next.contains(".nox/tests/bin/python -m pytest"), "{next}");
    }

    #[test]
    fn what_nobody_knows_is_refused_with_the_runners_that_are_known() {
        for command in [
            "python manage.py test",
            "python -m unittest",
            "./run-tests.sh",
            "npx vitest",
            "bun test",
            "bun run test",
            "uv run --with pytest python manage.py test",
            "poetry run cargo test",
            "hatch run test",
            "docker compose run web pytest",
            "sh -c pytest",
            "true",
        ] {
            let (what, next) = refused(&[], command);
            let text = format!("{what}\n{next}");
            assert!(text.contains("`--"), "`{command}` gets no way out: {text}");
        }
        assert!(refused(&[], "npx vitest").1.contains("`-- npx vitest run`"));
        assert!(refused(&[], "./run-tests.sh").1.contains("go test"));
        assert!(refused(&[], "python manage.py test").1.contains("pytest"));
    }
}
