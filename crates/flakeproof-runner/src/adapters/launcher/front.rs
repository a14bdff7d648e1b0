//! Programs that only prepare what surrounds a runner, and stay in front of it.

/// How such a program is called.
struct Front {
    program: &'static str,
    /// One of these must follow it; none where the runner follows at once.
    verbs: &'static [&'static str],
    /// Options whose value is the next word.
    with_values: &'static [&'static str],
    /// Words of its own before the runner, besides options and variables: a time limit.
    operands: usize,
}

const fn front(
    program: &'static str,
    verbs: &'static [&'static str],
    with_values: &'static [&'static str],
) -> Front {
    Front { program, verbs, with_values, operands: 0 }
}

const FRONTS: [Front; 24] = [
    front(
        "uv",
        &["run"],
        &[
            "--with",
            "--with-editable",
            "--with-requirements",
            "--extra",
            "--no-extra",
            "--group",
            "--no-group",
            "--only-group",
            "--env-file",
            "--package",
            "--python",
            "-p",
            "--directory",
            "--project",
            "--index",
            "--index-url",
            "-i",
            "--extra-index-url",
            "--config-file",
            "--cache-dir",
            "-w",
        ],
    ),
    front("poetry", &["run"], &["-C", "--directory", "-P", "--project"]),
    front("pipenv", &["run"], &["--python", "--categories"]),
    front("hatch", &["run"], &["-e", "--env", "-p", "--project"]),
    front("pdm", &["run"], &["-p", "--project", "--venv"]),
    front("rye", &["run"], &["--pyproject"]),
    front("pixi", &["run"], &["-e", "--environment", "--manifest-path"]),
    front("conda", &["run"], &["-n", "--name", "-p", "--prefix", "--cwd"]),
    front("mamba", &["run"], &["-n", "--name", "-p", "--prefix", "--cwd"]),
    front("micromamba", &["run"], &["-n", "--name", "-p", "--prefix", "--cwd"]),
    front("coverage", &["run"], &["--rcfile", "--source", "--include", "--omit", "--data-file"]),
    front("npx", &[], &["-p", "--package", "-w", "--workspace"]),
    front("bunx", &[], &["-p", "--package"]),
    front("pnpm", &["exec", "dlx"], &["-C", "--dir", "--package"]),
    front("yarn", &["exec", "dlx", "node"], &["-p", "--package"]),
    front("npm", &["exec", "x"], &["-p", "--package", "-w", "--workspace"]),
    front("bundle", &["exec"], &["--gemfile"]),
    front("cross-env", &[], &[]),
    front("c8", &[], &["-r", "--reporter", "-o", "--reports-dir", "-n", "--include", "-x"]),
    front("nyc", &[], &["-r", "--reporter", "--report-dir", "-n", "--include", "-x"]),
    front("env", &[], &["-u", "--unset", "-C", "--chdir"]),
    front("nice", &[], &["-n", "--adjustment"]),
    front("xvfb-run", &[], &["-n", "--server-num", "-s", "--server-args", "-e", "-f"]),
    Front {
        program: "timeout",
        verbs: &[],
        with_values: &["-k", "--kill-after", "-s", "--signal"],
        operands: 1,
    },
];

/// Where the command begins that programs of this kind start: 0 where none stands in front.
pub(super) fn end_of_fronts(command: &[String]) -> usize {
    let mut at = 0;
    while let Some(length) = length_of_front(&command[at..]) {
        at += length;
    }
    at
}

/// How many words belong to the program in front, if there is one and something is left.
fn length_of_front(command: &[String]) -> Option<usize> {
    let program = program_name(command.first()?);
    let front = FRONTS.iter().find(|front| front.program == program)?;
    let mut at = 1;
    if !front.verbs.is_empty() {
        at = after_options(command, at, front);
        let verb = command.get(at)?;
        if !front.verbs.contains(&verb.as_str()) {
            return None;
        }
        // `yarn node --test` is node's own command.
        if verb == "node" {
            return Some(at);
        }
        at += 1;
    }
    at = after_options(command, at, front) + front.operands;
    while command.get(at).is_some_and(|word| is_assignment(word)) {
        at += 1;
    }
    (at < command.len()).then_some(at)
}

/// Where the options of a program end.
fn after_options(command: &[String], mut at: usize, front: &Front) -> usize {
    while let Some(word) = command.get(at) {
        if word == "--" {
            return at + 1;
        }
        // A module to run is what the program starts, not an option of it.
        if !word.starts_with('-') || matches!(word.as_str(), "-m" | "--module") {
            return at;
        }
        at += 1 + usize::from(front.with_values.contains(&word.as_str()));
    }
    at
}

/// The file name of a program.
pub(super) fn program_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether a word sets a variable, as a shell and `env` read it.
pub(super) fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        let mut letters = name.chars();
        letters.next().is_some_and(|it| it.is_ascii_alphabetic() || it == '_')
            && letters.all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_front_is_told_from_the_runner_and_its_arguments() {
        for (command, behind) in [
            ("pytest -q", "pytest -q"),
            ("uv run pytest", "pytest"),
            ("uv run --with pytest python manage.py test", "python manage.py test"),
            ("uv --directory a run -m pytest", "-m pytest"),
            ("poetry run make check", "make check"),
            ("hatch -e dev run pytest", "pytest"),
            ("conda run -n base pytest", "pytest"),
            ("env -u A B=1 C=2 npx --no-install jest -t a", "jest -t a"),
            ("timeout -k 5 10m poetry run pytest", "pytest"),
            ("npm exec -- jest --ci", "jest --ci"),
            ("npm run jest", "npm run jest"),
            ("yarn node --test a.js", "node --test a.js"),
            ("yarn test", "yarn test"),
            ("uv sync", "uv sync"),
            ("uv run", "uv run"),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(words[end_of_fronts(&words)..].join(" "), behind, "{command}");
        }
    }
}
