//! A case at work: its project on disk, and the real program on it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flakeproof_testkit::surroundings;
use serde_json::Value;

use super::case::{Case, Place, Step, Word};

/// How long one run may take: some ten times what Maven needs on a quiet machine.
const LIMIT: Duration = Duration::from_secs(900);

/// What every project of every runner keeps out of version control.
const IGNORED: &str =
    "__pycache__/\n.pytest_cache/\nnode_modules/\ntarget/\n.flakeproof/\n*.egg-info/\n/.venv/\n";

/// What the projects of one runner need.
#[derive(Debug, Default)]
pub(crate) struct Tools {
    /// Folders of programs, found before all others.
    pub(crate) path: Vec<PathBuf>,
    /// Packages of Node, found by every project.
    pub(crate) modules: Option<PathBuf>,
    /// Whether projects have a home folder of their own.
    pub(crate) has_own_home: bool,
}

/// Run a case; give what is not as it must be.
pub(crate) fn hear(case: &Case, folder: &Path, tools: &Tools) -> Result<(), String> {
    let temporary = match case.expected.place {
        Place::Home => None,
        Place::Tmp => Some(tempfile::tempdir().map_err(|error| error.to_string())?),
    };
    let root = temporary.as_ref().map_or(folder, |it| it.path()).to_path_buf();
    let scene = Scene { root, tools };
    let result = scene.prepare().and_then(|()| scene.hear(case));
    let tidied = scene.steps(&case.after);
    let is_kept = std::env::var_os("COURT_KEEP").is_some();
    if result.is_ok() && tidied.is_ok() && !is_kept {
        let _ = std::fs::remove_dir_all(&scene.root);
        let _ = std::fs::remove_dir_all(scene.beside().root);
    }
    result.and(tidied)
}

/// The folders of one case: `project`, and beside it `home` and `scratch`.
struct Scene<'a> {
    root: PathBuf,
    tools: &'a Tools,
}

/// A command that ended.
struct Ended {
    code: Option<i32>,
    text: String,
}

impl<'a> Scene<'a> {
    fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    /// Empty folders.
    fn prepare(&self) -> Result<(), String> {
        let _ = std::fs::remove_dir_all(&self.root);
        for folder in ["project", "home", "scratch"] {
            make_folder(&self.root.join(folder))?;
        }
        if let Some(modules) = &self.tools.modules {
            std::os::unix::fs::symlink(modules, self.root.join("node_modules"))
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn hear(&self, case: &Case) -> Result<(), String> {
        let expected = &case.expected;
        self.git(&["init", "-q", "-b", "main"])?;
        self.write(".git/info/exclude", IGNORED)?;
        self.steps(&case.before)?;
        self.commit("before")?;
        if expected.history {
            let command = expected.before_command.as_ref().unwrap_or(&expected.command).list();
            let folder = expected.before_folder.as_ref().unwrap_or(&expected.folder);
            for _ in 0..expected.before_runs {
                let (arguments, variables) =
                    (&expected.before_arguments, &expected.before_environment);
                let (ended, _) = self.flakeproof(folder, arguments, &command, variables)?;
                if !ended.code.is_some_and(|code| expected.before_exit.has(&code)) {
                    return Err(format!(
                        "before the change it ends with {:?}, not with {:?}\n{}",
                        ended.code, expected.before_exit, ended.text
                    ));
                }
            }
        }
        self.steps(&case.change)?;
        if expected.commit {
            self.commit("change")?;
        }
        if expected.plain {
            self.fails_plainly(case)?;
        }
        let command = expected.command.list();
        let (folder, variables) = (&expected.folder, &expected.environment);
        for _ in 1..expected.runs {
            self.flakeproof(folder, &expected.arguments, &command, variables)?;
        }
        let (ended, report) = self.flakeproof(folder, &expected.arguments, &command, variables)?;
        let wrong = differences(case, &ended, &report);
        match wrong.is_empty() {
            true => Ok(()),
            false => Err(format!("{}\n{}", wrong.join("\n"), ended.text)),
        }
    }

    /// A copy of this scene, for what must not be seen in it.
    fn beside(&self) -> Scene<'a> {
        let mut root = self.root.clone().into_os_string();
        root.push("-plain");
        Scene { root: root.into(), tools: self.tools }
    }

    /// The command itself must fail: only then does the case show anything.
    fn fails_plainly(&self, case: &Case) -> Result<(), String> {
        let copy = self.beside();
        let _ = std::fs::remove_dir_all(&copy.root);
        let status = Command::new("cp").arg("-a").arg(&self.root).arg(&copy.root).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err("the project cannot be copied".to_owned());
        }
        let command = case.expected.command.list();
        let Some((program, arguments)) = command.split_first() else {
            return Err("the command is empty".to_owned());
        };
        let mut plain = copy.command(program, &case.expected.folder);
        plain.args(arguments).envs(&case.expected.environment);
        let ended = copy.end(plain, "plain")?;
        match ended.code {
            Some(0) => {
                Err(format!("the command itself does not fail after the change\n{}", ended.text))
            }
            _ => Ok(()),
        }
    }

    fn steps(&self, steps: &[Step]) -> Result<(), String> {
        for step in steps {
            match step {
                Step::Write { path, content } => self.write(path, content)?,
                Step::Delete(path) => std::fs::remove_file(self.project().join(path))
                    .map_err(|error| format!("{path}: {error}"))?,
                Step::Run(script) => {
                    let mut bash = self.command("bash", "");
                    bash.args(["-eu", "-c", script]);
                    let ended = self.end(bash, "script")?;
                    if ended.code != Some(0) {
                        return Err(format!("a script fails\n{script}\n{}", ended.text));
                    }
                }
            }
        }
        Ok(())
    }

    fn write(&self, path: &str, content: &str) -> Result<(), String> {
        let path = self.project().join(path);
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        std::fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))
    }

    fn commit(&self, message: &str) -> Result<(), String> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "--allow-empty", "-m", message])
    }

    fn git(&self, arguments: &[&str]) -> Result<(), String> {
        let mut git = self.command("git", "");
        git.args(arguments);
        let ended = self.end(git, "git")?;
        match ended.code {
            Some(0) => Ok(()),
            _ => Err(format!("git {arguments:?}\n{}", ended.text)),
        }
    }

    /// `flakeproof run ARGUMENTS -- COMMAND`, and its report.
    fn flakeproof(
        &self,
        folder: &str,
        arguments: &[String],
        command: &[String],
        variables: &BTreeMap<String, String>,
    ) -> Result<(Ended, Value), String> {
        let report = self.root.join("report.json");
        let _ = std::fs::remove_file(&report);
        let program = std::env::var_os("COURT_PROGRAM")
            .unwrap_or_else(|| env!("CARGO_BIN_EXE_flakeproof").into());
        let mut run = self.command(program, folder);
        run.args(["run", "--reporter", &format!("json={}", report.display())]);
        // A machine that has other work must not change a verdict; a case may say otherwise.
        run.args(["--evidence-budget", "10m"]).args(arguments);
        run.arg("--").args(command).envs(variables);
        let ended = self.end(run, "flakeproof")?;
        let json = std::fs::read(&report).ok().and_then(|it| serde_json::from_slice(&it).ok());
        Ok((ended, json.unwrap_or(Value::Null)))
    }

    /// A command in a folder of the project, with nothing of this machine's settings in its way.
    fn command(&self, program: impl Into<OsString>, folder: &str) -> Command {
        let mut command = Command::new(program.into());
        surroundings::plain(&mut command).current_dir(self.project().join(folder));
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.tools.path.iter().cloned().chain(std::env::split_paths(&inherited));
        if let Ok(path) = std::env::join_paths(folders) {
            command.env("PATH", path);
        }
        for name in ["PYTHONPATH", "PYTHONHASHSEED", "CARGO_TARGET_DIR", "NODE_PATH", "TZ"] {
            command.env_remove(name);
        }
        for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
            command.env(format!("{name}_NAME"), "court");
            command.env(format!("{name}_EMAIL"), "court@localhost");
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        command.env("GIT_CEILING_DIRECTORIES", &self.root);
        if self.tools.has_own_home {
            command.env("HOME", self.root.join("home"));
        }
        command.env("SCRATCH", self.root.join("scratch"));
        command
    }

    /// Wait for a command, but not for ever; what it prints goes to a file, so that a process it
    /// leaves behind keeps nobody waiting.
    fn end(&self, mut command: Command, name: &str) -> Result<Ended, String> {
        let trouble = |error: std::io::Error| format!("{name}: {error}");
        let path = self.root.join(format!("{name}.out"));
        let file = std::fs::File::create(&path).map_err(trouble)?;
        let also = file.try_clone().map_err(trouble)?;
        command.stdin(Stdio::null()).stdout(file).stderr(also).process_group(0);
        let mut child = command.spawn().map_err(trouble)?;
        let begin = Instant::now();
        let code = loop {
            if let Some(status) = child.try_wait().map_err(trouble)? {
                break status.code();
            }
            if begin.elapsed() > LIMIT {
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                let _ = child.wait();
                return Err(format!("{name} takes longer than {} s", LIMIT.as_secs()));
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let bytes = std::fs::read(&path).map_err(trouble)?;
        Ok(Ended { code, text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

fn make_folder(path: &Path) -> Result<(), String> {
    std::fs::create_dir_all(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Everything in which a run is not as the case expects.
fn differences(case: &Case, ended: &Ended, report: &Value) -> Vec<String> {
    let expected = &case.expected;
    let mut wrong = Vec::new();
    if !ended.code.is_some_and(|code| expected.exit.has(&code)) {
        wrong.push(format!("it ends with {:?}, not with {:?}", ended.code, expected.exit));
    }
    let tests = report["tests"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (id, allowed) in &expected.verdicts {
        let Some(test) = tests.iter().find(|test| is_named(test, id)) else {
            if allowed.has(&Word::NotRun) {
                continue;
            }
            wrong.push(format!("there is no test {id} in the report"));
            continue;
        };
        let verdict = &test["verdict"];
        if !Word::of(verdict).is_some_and(|word| allowed.has(&word)) {
            wrong.push(format!("{id} is called {verdict}, not {allowed:?}"));
        }
    }
    for test in tests.iter().filter(|test| !test["verdict"].is_null()) {
        if !expected.verdicts.keys().any(|id| is_named(test, id)) {
            wrong
                .push(format!("{} is called {}, and should not fail", test["id"], test["verdict"]));
        }
    }
    for text in expected.says.iter().filter(|text| !ended.text.contains(*text)) {
        wrong.push(format!("it does not say: {text}"));
    }
    for text in expected.never_says.iter().filter(|text| ended.text.contains(*text)) {
        wrong.push(format!("it says: {text}"));
    }
    wrong.extend(contradictions(&ended.text));
    wrong
}

/// Whether a test of the report is meant; a `*` stands for what differs between machines.
fn is_named(test: &Value, name: &str) -> bool {
    let id = test["id"].as_str().unwrap_or_default();
    match name.split_once('*') {
        Some((begin, end)) => id.starts_with(begin) && id.ends_with(end),
        None => id == name,
    }
}

/// What is said of one failure and cannot be true together: that it passed in a fresh environment,
/// and that it failed in all of them.
fn contradictions(text: &str) -> Vec<String> {
    let fails_in_all =
        |line: &str| line.contains("never passed in ") && line.contains("in a fresh environment");
    let contradicts = |told: &&str| {
        told.contains("passed in a fresh environment") && told.lines().any(fails_in_all)
    };
    let told = text.split("\n\n").filter(contradicts);
    told.map(|told| format!("it contradicts itself: {told}")).collect()
}

#[test]
fn a_pass_in_a_fresh_environment_contradicts_failing_in_all() {
    let passed = "· passed in a fresh environment (spawn)\n";
    let never = "· never passed in 2 tries, each in a fresh environment";
    let other = "· failed in 2 of 3 fresh environments";
    assert_eq!(contradictions(&format!("{passed}{never}")).len(), 1);
    assert_eq!(contradictions(&format!("{passed}{other}")).len(), 0);
    assert_eq!(contradictions(&format!("{passed}\n{never}")).len(), 0);
}
