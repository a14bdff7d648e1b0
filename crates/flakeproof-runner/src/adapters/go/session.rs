//! What all environments of a Go project share: the user's Go, its packages, and their test
//! binaries, each built once and when it is first needed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::flags::GoFlags;
use super::overlay;
use super::process::{OrderFrom, TestProcess};
use crate::adapter::{Error, Result};
use crate::adapters::RunRequest;
use crate::agent::Hub;
use crate::folders::Scratch;
use crate::levers::InForce;
use crate::process::{Death, End, Ended, Instructions, USUAL_CAP, run_to_end};

/// How long the go command may take to answer a question, and to build a binary.
const LONGEST_ANSWER: Duration = Duration::from_secs(120);
const LONGEST_BUILD: Duration = Duration::from_secs(900);
/// The most tests for whose order a seed is looked for: there are n! orders of n tests.
const MOST_WITH_A_SEED: usize = 6;
/// So many seeds are tried, which takes about a second.
const MOST_SEEDS: u32 = 50_000;

/// A Go project under test.
#[derive(Debug)]
pub(super) struct GoSession {
    pub(super) settings: RunRequest,
    pub(super) flags: GoFlags,
    hub: Hub,
    scratch: Scratch,
    started: AtomicU32,
    installed: OnceLock<std::result::Result<Installed, String>>,
    packages: Mutex<HashMap<String, Arc<GoPackage>>>,
    /// Why the first package that could not be built with an order in it could not.
    unbuilt: Mutex<Option<String>>,
    seeds: Mutex<HashMap<Vec<String>, Option<Shuffle>>>,
    /// The first end of a process of the suite that its tests do not explain.
    unexplained: Mutex<Option<String>>,
}

/// The user's Go.
#[derive(Debug)]
pub(super) struct Installed {
    go_root: PathBuf,
    overlay: PathBuf,
    /// What `GOFLAGS` asks of test binaries is in here, too.
    flags: GoFlags,
}

/// A package and its test binaries.
#[derive(Debug)]
pub(super) struct GoPackage {
    pub(super) path: String,
    folder: OnceLock<std::result::Result<PathBuf, String>>,
    ordered: OnceLock<std::result::Result<PathBuf, String>>,
    plain: OnceLock<std::result::Result<PathBuf, String>>,
    covered: OnceLock<std::result::Result<PathBuf, String>>,
}

/// A test binary's kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    /// It takes an order from us.
    Ordered,
    /// As `go test` would build it.
    Plain,
    /// The same, and it tells which lines of the project ran.
    Covered,
}

/// How `go test` is made to run tests of a package in an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shuffle {
    /// It does so by itself.
    Off,
    /// With `-shuffle` and this seed.
    Seed(i64),
}

impl Shuffle {
    /// The option's value.
    pub(super) fn value(self) -> String {
        match self {
            Self::Off => "off".to_owned(),
            Self::Seed(seed) => seed.to_string(),
        }
    }
}

impl GoSession {
    /// Prepare; nothing is started yet.
    pub(super) fn new(settings: RunRequest, flags: GoFlags) -> Result<Self> {
        let scratch = Scratch::new()?;
        let hub = Hub::start(scratch.path())?;
        Ok(Self {
            settings,
            flags,
            hub,
            scratch,
            started: AtomicU32::new(0),
            installed: OnceLock::new(),
            packages: Mutex::default(),
            unbuilt: Mutex::default(),
            seeds: Mutex::default(),
            unexplained: Mutex::default(),
        })
    }

    /// The user's Go, if it can be told an order; if not, why.
    pub(super) fn installed(&self) -> std::result::Result<&Installed, String> {
        self.installed.get_or_init(|| self.look_at_go()).as_ref().map_err(Clone::clone)
    }

    fn look_at_go(&self) -> std::result::Result<Installed, String> {
        if let Some(obstacle) = &self.flags.obstacle {
            return Err(obstacle.clone());
        }
        let mut words = self.flags.command("env");
        words.extend(
            ["GOROOT", "GOFLAGS", "GOOS", "GOHOSTOS", "GOARCH", "GOHOSTARCH"].map(str::to_owned),
        );
        let ended = self.ask(words, LONGEST_ANSWER).map_err(|error| error.to_string())?;
        let lines: Vec<&str> = ended.stdout.lines().collect();
        let [root, usual, system, own_system, machine, own_machine] = lines.as_slice() else {
            return Err(format!("`go env` does not answer: {}", ended.stderr.trim()));
        };
        if (system, machine) != (own_system, own_machine) {
            return Err(format!("the tests are built for {system}/{machine}"));
        }
        let flags = self.flags.clone().with_usual(usual);
        if let Some(obstacle) = flags.obstacle {
            return Err(format!("GOFLAGS: {obstacle}"));
        }
        let go_root = PathBuf::from(root);
        let overlay = overlay::write(&go_root, self.scratch.path())?;
        Ok(Installed { go_root, overlay, flags })
    }

    /// How often a binary runs each of its tests.
    pub(super) fn rounds(&self) -> usize {
        self.installed().map_or(1, |installed| installed.flags.rounds)
    }

    /// A package by its import path.
    pub(super) fn package(&self, path: &str) -> Arc<GoPackage> {
        let mut packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        let package = packages.entry(path.to_owned()).or_insert_with(|| {
            Arc::new(GoPackage {
                path: path.to_owned(),
                folder: OnceLock::new(),
                ordered: OnceLock::new(),
                plain: OnceLock::new(),
                covered: OnceLock::new(),
            })
        });
        Arc::clone(package)
    }

    /// A process of the suite ended in a way that its tests do not explain.
    pub(super) fn cannot_explain(&self, what: &str) {
        let mut unexplained = self.unexplained.lock().unwrap_or_else(PoisonError::into_inner);
        unexplained.get_or_insert_with(|| what.to_owned());
    }

    /// What the tests of the suite do not explain.
    pub(super) fn unexplained(&self) -> Option<String> {
        self.unexplained.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why some package could not be built with an order in it.
    pub(super) fn unbuilt(&self) -> Option<String> {
        self.unbuilt.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The binary of a package, which is built if it was not yet.
    ///
    /// # Errors
    /// Says why it cannot be built: tests run by `go test` then.
    pub(super) fn binary<'p>(
        &self,
        package: &'p GoPackage,
        kind: Binary,
    ) -> std::result::Result<&'p Path, String> {
        let place = match kind {
            Binary::Ordered => &package.ordered,
            Binary::Plain => &package.plain,
            Binary::Covered => &package.covered,
        };
        let built = place.get_or_init(|| {
            let built = self.build(package, kind);
            if let Err(why) = &built {
                let mut unbuilt = self.unbuilt.lock().unwrap_or_else(PoisonError::into_inner);
                unbuilt.get_or_insert_with(|| format!("{}: {why}", package.path));
            }
            built
        });
        built.as_deref().map_err(Clone::clone)
    }

    fn build(&self, package: &GoPackage, kind: Binary) -> std::result::Result<PathBuf, String> {
        let installed = self.installed()?;
        self.folder_of(package)?;
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let folder = self.scratch.path().join(format!("binary-{number}"));
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let binary = folder.join(format!("{}.test", last_name(&package.path)));
        let mut words = self.flags.command("test");
        words.extend(["-c".to_owned(), "-vet=off".to_owned()]);
        match kind {
            Binary::Ordered => words.push(format!("-overlay={}", installed.overlay.display())),
            Binary::Covered => {
                words.extend(["-covermode=atomic", "-coverpkg=./..."].map(str::to_owned));
            }
            Binary::Plain => {}
        }
        words.extend(["-o".to_owned(), binary.to_string_lossy().into_owned()]);
        words.extend(self.flags.build.iter().cloned());
        words.push(package.path.clone());
        let ended = self.ask(words, LONGEST_BUILD).map_err(|error| error.to_string())?;
        match ended.how == End::Died(Death::Exit(0)) && binary.is_file() {
            true => Ok(binary),
            false => Err(format!("{}\n{}", ended.stdout.trim(), ended.stderr.trim())
                .trim()
                .lines()
                .take(20)
                .collect::<Vec<_>>()
                .join("\n")),
        }
    }

    fn folder_of<'p>(&self, package: &'p GoPackage) -> std::result::Result<&'p Path, String> {
        let found = package.folder.get_or_init(|| {
            let mut words = self.flags.command("list");
            words.extend(self.flags.list.iter().cloned());
            words.extend(["-f".to_owned(), "{{.Dir}}".to_owned(), package.path.clone()]);
            let ended = self.ask(words, LONGEST_ANSWER).map_err(|error| error.to_string())?;
            let folder = PathBuf::from(ended.stdout.trim());
            match folder.is_dir() {
                true => Ok(folder),
                false => Err(format!("`go list` does not know it: {}", ended.stderr.trim())),
            }
        });
        found.as_deref().map_err(Clone::clone)
    }

    /// Run the go command to its end. A lever is meant for tests, and not for who compiles them.
    fn ask(&self, command: Vec<String>, limit: Duration) -> Result<Ended> {
        let instructions = self.instructions(command, &self.settings.folder, BTreeMap::new());
        let instructions = Instructions { in_force: InForce::default(), ..instructions };
        run_to_end(&self.hub, &instructions, Some(limit), &self.settings.cancel, |_| {})
    }

    fn instructions(
        &self,
        command: Vec<String>,
        folder: &Path,
        variables: BTreeMap<String, Option<String>>,
    ) -> Instructions {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        Instructions {
            command,
            folder: folder.to_path_buf(),
            variables,
            socket: self.hub.socket().to_path_buf(),
            guard_name: format!("go-{number}"),
            is_shown: false,
            kept: USUAL_CAP,
            in_force: self.settings.in_force.clone(),
        }
    }

    /// Start a package's binary with an order that we give it.
    ///
    /// # Errors
    /// When it cannot be started; it must have been built.
    pub(super) fn start_ordered(
        &self,
        package: &GoPackage,
        names: &[String],
        attempt: u32,
    ) -> Result<TestProcess> {
        self.start(
            package,
            Binary::Ordered,
            &format!("order\n{}\n", names.join("\n")),
            attempt,
            &[],
        )
    }

    /// Start a package's binary as `go test` would.
    ///
    /// # Errors
    /// When it cannot be started; it must have been built.
    pub(super) fn start_plain(
        &self,
        package: &GoPackage,
        names: &[String],
        shuffle: Shuffle,
        attempt: u32,
    ) -> Result<TestProcess> {
        let some = [
            format!("-test.run=^({})$", names.join("|")),
            format!("-test.shuffle={}", shuffle.value()),
        ];
        self.start(package, Binary::Plain, "", attempt, &some)
    }

    /// Start a test of a package alone, watched, with a file for the lines that run.
    ///
    /// # Errors
    /// When it cannot be started; it must have been built.
    pub(super) fn start_covered(
        &self,
        package: &GoPackage,
        name: &str,
        attempt: u32,
        lines: &Path,
    ) -> Result<TestProcess> {
        let options = [
            format!("-test.run=^({name})$"),
            format!("-test.coverprofile={}", lines.to_string_lossy()),
        ];
        Ok(self.start(package, Binary::Covered, "", attempt, &options)?.watched())
    }

    /// A new file for the lines that one process ran.
    pub(super) fn lines_file(&self) -> PathBuf {
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        self.scratch.path().join(format!("lines-{number}"))
    }

    fn start(
        &self,
        package: &GoPackage,
        kind: Binary,
        asked: &str,
        attempt: u32,
        options: &[String],
    ) -> Result<TestProcess> {
        let binary = self.binary(package, kind).map_err(Error::Agent)?;
        let folder = self.folder_of(package).map_err(Error::Agent)?;
        let installed = self.installed().map_err(Error::Agent)?;
        let mut words = self.flags.before.clone();
        words.push(binary.to_string_lossy().into_owned());
        words.extend(
            ["-test.paniconexit0", "-test.v=test2json", "-test.count=1"].map(str::to_owned),
        );
        words.extend(options.iter().cloned());
        words.extend(installed.flags.run.iter().cloned());
        let mut variables = self.variables(installed, folder, attempt);
        let order = match kind {
            Binary::Ordered => {
                variables.insert(overlay::VARIABLE.to_owned(), Some(self.order_file(asked)?));
                OrderFrom::Us
            }
            Binary::Plain | Binary::Covered => OrderFrom::ItsOptions,
        };
        let instructions = self.instructions(words, folder, variables);
        let settings = &self.settings;
        TestProcess::start(&self.hub, &instructions, order, settings.timeout, &settings.cancel)
    }

    /// The file with what is asked for; the same is asked for often.
    fn order_file(&self, asked: &str) -> Result<String> {
        let digest = blake3::hash(asked.as_bytes()).to_hex();
        let path = self.scratch.path().join(format!("asked-{}", &digest[..16]));
        if !path.is_file() {
            let doing = || Error::io("write the order of tests");
            let mut beside =
                tempfile::NamedTempFile::new_in(self.scratch.path()).map_err(doing())?;
            std::io::Write::write_all(&mut beside, asked.as_bytes()).map_err(doing())?;
            beside.persist(&path).map_err(|error| doing()(error.error))?;
        }
        Ok(path.to_string_lossy().into_owned())
    }

    /// The variables that `go test` gives to tests, and ours.
    fn variables(
        &self,
        installed: &Installed,
        folder: &Path,
        attempt: u32,
    ) -> BTreeMap<String, Option<String>> {
        let settings = &self.settings;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = installed.go_root.join("bin");
        let paths = std::iter::once(own).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(paths).unwrap_or(path).to_string_lossy().into_owned();
        let variable = |name: &str, value: String| (name.to_owned(), Some(value));
        BTreeMap::from([
            variable("FLAKEPROOF", "1".to_owned()),
            variable("FLAKEPROOF_ATTEMPT", attempt.to_string()),
            variable("FLAKEPROOF_SEED", settings.seed.to_string()),
            variable("FLAKEPROOF_RUN_ID", settings.run.clone()),
            variable("PWD", folder.to_string_lossy().into_owned()),
            variable("GOROOT", installed.go_root.to_string_lossy().into_owned()),
            variable("PATH", path),
        ])
    }

    /// How `go test` itself can be made to run tests of a package in this order; `None` where that
    /// is not known.
    ///
    /// `-shuffle` shuffles all tests of the package and runs those that are selected. Which seed puts
    /// some of them into a wanted order the binary itself tells: only the user's Go knows how it
    /// shuffles.
    pub(super) fn shuffle_for(
        &self,
        package: &GoPackage,
        names: &[String],
        is_own: bool,
    ) -> Option<Shuffle> {
        // Go runs fuzz targets and examples after all tests, in their own order.
        let is_test = |name: &String| name.starts_with("Test");
        let is_sorted = names.iter().is_sorted_by_key(|name| !is_test(name));
        if is_own {
            return Some(Shuffle::Off);
        }
        let tests: Vec<String> = names.iter().filter(|name| is_test(name)).cloned().collect();
        if !is_sorted || tests.len() < 2 || tests.len() > MOST_WITH_A_SEED {
            return None;
        }
        let key: Vec<String> = std::iter::once(package.path.clone()).chain(tests.clone()).collect();
        let known = |seeds: &Mutex<HashMap<Vec<String>, Option<Shuffle>>>| {
            seeds.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied()
        };
        if let Some(known) = known(&self.seeds) {
            return known;
        }
        let found = self.search_seed(package, &tests);
        self.seeds.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found);
        found
    }

    fn search_seed(&self, package: &GoPackage, tests: &[String]) -> Option<Shuffle> {
        self.binary(package, Binary::Ordered).ok()?;
        let asked = format!("seed {MOST_SEEDS}\n{}\n", tests.join("\n"));
        let mut process = self.start(package, Binary::Ordered, &asked, 1, &[]).ok()?;
        let told = process.told("seed").ok()??;
        told.parse().ok().map(Shuffle::Seed)
    }
}

/// What a package's binary is called: the last part of its path that is no version.
fn last_name(path: &str) -> &str {
    let is_version = |part: &&str| {
        part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut parts = path.rsplit('/');
    let last = parts.next().unwrap_or(path);
    if is_version(&last) { parts.next().unwrap_or(last) } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_is_called_like_its_package() {
        assert_eq!(last_name("example.com/m/shop"), "shop");
        assert_eq!(last_name("example.com/m/v2"), "m");
        assert_eq!(last_name("m"), "m");
    }
}
