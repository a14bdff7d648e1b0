//! What changed since a test last passed, in the code and around it.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use flakeproof_core::{Base, Dependencies, History, PassRecord, Surroundings, TestId};
use flakeproof_runner::git::{
    NoBeginning, Repository, is_of_another_work_tree, is_own, is_own_code,
};
use flakeproof_runner::time_of_last_change;

use crate::intersect::Facts;

/// Answers for one run what changed since a test passed.
#[derive(Debug)]
pub struct ChangeSince<'a> {
    repository: &'a Result<Repository, String>,
    named: Option<&'a str>,
    now: Surroundings,
    beginning: &'a Result<Base, NoBeginning>,
    tracked: OnceCell<Result<HashSet<String>, String>>,
    /// The change since one revision, which is asked for again and again.
    since: RefCell<Option<(Base, Result<Facts, String>)>>,
    /// When the run began, in nanoseconds: an edit right after a pass must not share its second.
    begun: i128,
}

impl<'a> ChangeSince<'a> {
    /// Against a named revision, or the last pass of each test.
    pub fn new(
        repository: &'a Result<Repository, String>,
        named: Option<&'a str>,
        now: Surroundings,
        beginning: &'a Result<Base, NoBeginning>,
        begun: jiff::Timestamp,
    ) -> Self {
        let (tracked, since, begun) = (OnceCell::new(), RefCell::new(None), begun.as_nanosecond());
        Self { repository, named, now, beginning, tracked, since, begun }
    }

    /// What changed since this test passed.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn facts(
        &self,
        history: &dyn History,
        test: &TestId,
        touched: &Dependencies,
    ) -> Result<Facts, String> {
        let repository = self.repository.as_ref().map_err(Clone::clone)?;
        let pass = history.last_pass(test).map_err(|error| error.to_string())?;
        // A named revision stands for the pass on record there, if there is one.
        let pass = pass.filter(|pass| match self.named {
            Some(named) => repository.names(named, pass.tree.revision.as_deref()),
            None => true,
        });
        let base = match (self.named.filter(|_| pass.is_none()), &pass) {
            (Some(revision), _) => Base::Named { revision: revision.to_owned() },
            (None, Some(PassRecord { tree, .. })) => match &tree.revision {
                Some(revision) => Base::PassOnRecord { revision: revision.clone() },
                None => return Err("it passed before the first commit was made".to_owned()),
            },
            (None, None) => self
                .beginning
                .clone()
                .map_err(|why| format!("no run on record has it passing, and {why}"))?,
        };
        let then = pass.as_ref().map(|pass| &pass.tree);
        let change = repository.change_since(base, then).map_err(|error| error.to_string())?;
        let mut facts = Facts {
            change,
            new_surroundings: Vec::new(),
            new_variables: Vec::new(),
            unversioned: Vec::new(),
            maybe_made_of_it: None,
        };
        if let Some(pass) = &pass {
            facts.new_surroundings = new_surroundings(&pass.surroundings, &self.now);
            if !repository.looks_at_modes() {
                let blind = "git is told not to look at the modes of files (core.fileMode)";
                facts.new_surroundings.push(blind.to_owned());
            }
            facts.new_variables = differing(&pass.surroundings.variables, &self.now.variables);
            facts.unversioned = self.newer_and_unversioned(repository, touched, pass)?;
        }
        Ok(facts)
    }

    /// What changed in the code since a revision.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn facts_since(&self, base: Base) -> Result<Facts, String> {
        if let Some((known, facts)) = self.since.borrow().as_ref()
            && *known == base
        {
            return facts.clone();
        }
        let repository = self.repository.as_ref().map_err(Clone::clone)?;
        let change = repository.change_since(base.clone(), None);
        let facts = change.map_err(|error| error.to_string()).map(|change| Facts {
            change,
            new_surroundings: Vec::new(),
            new_variables: Vec::new(),
            unversioned: Vec::new(),
            maybe_made_of_it: None,
        });
        *self.since.borrow_mut() = Some((base, facts.clone()));
        facts
    }

    /// What changed since a revision, for a test that touches this.
    ///
    /// # Errors
    /// Why that is not known.
    pub fn facts_for(&self, base: Base, touched: &Dependencies) -> Result<Facts, String> {
        let maybe_made_of_it = self.used_without_version(touched)?;
        Ok(Facts { maybe_made_of_it, ..self.facts_since(base)? })
    }

    /// A file that a test uses and that may have been made of the project, or belongs to what is edited beside it.
    /// When code was made tells nothing: a pass on record may be one of the change itself. Data that came into
    /// being while this run went on is of its own making.
    fn used_without_version(&self, touched: &Dependencies) -> Result<Option<String>, String> {
        let repository = self.repository.as_ref().map_err(Clone::clone)?;
        let (root, tracked) = (repository.root(), self.tracked(repository)?);
        let is_from_before =
            |path: &Path| last_changed_in_use(path).is_some_and(|time| time < self.begun);
        let mut used = touched.code.iter().chain(&touched.opened);
        let found = used.find(|path| {
            let file = Path::new(path.as_str());
            let is_known = is_tracked(repository, tracked, path) || is_cache(repository, path);
            if is_known || !file.is_file() {
                return false;
            }
            let is_made = is_own_code(root, file) || (is_own(root, file) && is_from_before(file));
            is_made || (touched.code.contains(*path) && is_of_another_work_tree(file, &[root]))
        });
        Ok(found.cloned())
    }

    fn tracked(&self, repository: &Repository) -> Result<&HashSet<String>, String> {
        let files = || repository.tracked_files().map_err(|error| error.to_string());
        self.tracked.get_or_init(files).as_ref().map_err(Clone::clone)
    }

    /// Files that the test depends on, that git does not know, and that are newer than the pass.
    fn newer_and_unversioned(
        &self,
        repository: &Repository,
        touched: &Dependencies,
        pass: &PassRecord,
    ) -> Result<Vec<String>, String> {
        let passed: jiff::Timestamp = pass
            .started
            .parse()
            .map_err(|_| "the time of its last pass is not known".to_owned())?;
        let tracked = self.tracked(repository)?;
        let passed = passed.as_nanosecond();
        let is_in_project = |path: &Path| path.starts_with(repository.root());
        let is_changed = |path: &str| {
            let path = Path::new(path);
            match last_changed_in_use(path) {
                // One that came into being while this run went on is of its own making.
                Some(time) if is_temporary(path) && !is_in_project(path) => {
                    passed < time && time < self.begun
                }
                Some(time) => passed < time,
                None => {
                    let folder = path.parent().filter(|folder| is_in_project(folder));
                    folder.and_then(last_changed).is_some_and(|time| passed < time)
                }
            }
        };
        let used = touched.code.iter().chain(&touched.opened).chain(&touched.listed);
        let used = used.filter(|path| {
            !belongs_to_the_machine(repository, path) && !is_tracked(repository, tracked, path)
        });
        let changed: Vec<String> = used.filter(|path| is_changed(path)).cloned().collect();
        if !changed.is_empty() {
            return Ok(changed);
        }
        // What a test asks of a file without opening it is not seen: none may have changed.
        let ignored = repository.ignored_files(MOST_IGNORED).map_err(|error| error.to_string())?;
        let ignored = ignored.ok_or("there are too many files that git does not know")?;
        let is_newer = |path: &PathBuf| {
            !belongs_to_the_machine(repository, &path.to_string_lossy())
                && last_changed(path).is_some_and(|time| passed < time)
        };
        Ok(ignored
            .into_iter()
            .filter(is_newer)
            .map(|it| it.display().to_string())
            .take(1)
            .collect())
    }
}

/// Whether git knows a file.
fn is_tracked(repository: &Repository, tracked: &HashSet<String>, path: &str) -> bool {
    let below = Path::new(path).strip_prefix(repository.root()).ok().and_then(Path::to_str);
    below.is_some_and(|path| tracked.contains(path))
}

/// More files than this that git does not know are not looked at.
const MOST_IGNORED: usize = 20_000;

/// When content, name or rights of a file last changed, by the system's own account, which unlike the
/// time of its content nobody can set. Of a link, that of the link or of what it leads to.
fn last_changed(path: &Path) -> Option<i128> {
    let own = time_of_last_change(&path.symlink_metadata().ok()?);
    Some(std::fs::metadata(path).map_or(own, |target| time_of_last_change(&target).max(own)))
}

/// The same of something that was used. A link to a folder was on the way to a file: what comes and goes
/// in the folder matters to those who list it, and counts there.
fn last_changed_in_use(path: &Path) -> Option<i128> {
    let own = path.symlink_metadata().ok()?;
    match own.is_symlink() && path.is_dir() {
        true => Some(time_of_last_change(&own)),
        false => last_changed(path),
    }
}

/// Whether a file is one of those that come and go, for which every run makes its own.
fn is_temporary(path: &Path) -> bool {
    path.starts_with(std::env::temp_dir())
}

/// Files that belong to the system, and those of the project that every run writes anew.
fn belongs_to_the_machine(repository: &Repository, path: &str) -> bool {
    is_cache(repository, path) || is_below(repository.root(), path, &["coverage", "target"])
}

/// Files of the system, and what tools keep for themselves or make anew whenever its source changes.
fn is_cache(repository: &Repository, path: &str) -> bool {
    const CACHES: [&str; 7] = [
        ".flakeproof",
        ".git",
        ".hypothesis",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "__pycache__",
    ];
    is_below(repository.root(), path, &CACHES)
        || is_of_a_build(repository.root(), Path::new(path))
        || path.contains("/__pycache__/")
        || ["/proc/", "/dev/", "/sys/"].iter().any(|folder| path.starts_with(folder))
}

fn is_below(root: &Path, path: &str, folders: &[&str]) -> bool {
    let below = Path::new(path).strip_prefix(root);
    below.is_ok_and(|below| below.iter().any(|part| folders.iter().any(|name| part == *name)))
}

/// Whether a file is in the `target` of a tool that builds there before it runs tests. Others put there what they
/// generate, too.
fn is_of_a_build(root: &Path, path: &Path) -> bool {
    let mut folders = path.ancestors().skip(1).take_while(|folder| *folder != root);
    path.starts_with(root)
        && folders.any(|folder| {
            let is_built_by = |manifest| folder.with_file_name(manifest).is_file();
            folder.ends_with("target")
                && ["Cargo.toml", "build.sbt", "pom.xml"].into_iter().any(is_built_by)
        })
}

fn new_surroundings(then: &Surroundings, now: &Surroundings) -> Vec<String> {
    let mut differences = Vec::new();
    if then.runtime != now.runtime {
        let only_then = missing_in(&then.runtime, &now.runtime);
        let only_now = missing_in(&now.runtime, &then.runtime);
        differences.push(if only_then.is_empty() {
            format!("it passed without {only_now}")
        } else if only_now.is_empty() {
            format!("it passed with {only_then}, and this is without")
        } else {
            format!("it passed with {only_then}, and this is {only_now}")
        });
    }
    if then.packages != now.packages {
        differences.push("the installed packages differ from the run in which it passed".into());
    }
    // Which files are newer than the pass says nothing of files that were never there.
    match &then.machine {
        Some(machine) if Some(machine) == now.machine.as_ref() => {}
        Some(_) => differences.push(
            "it passed on another machine, where files that git does not know may differ".into(),
        ),
        None => differences.push("on which machine it passed is not on record".into()),
    }
    differences
}

/// What stands in these and not in the others, for people.
fn missing_in(these: &[String], others: &[String]) -> String {
    let missing: Vec<&str> =
        these.iter().filter(|it| !others.contains(it)).map(String::as_str).collect();
    missing.join(", ")
}

/// Names whose value is not the same on both sides.
fn differing(then: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<String> {
    let mut names: Vec<String> = then
        .keys()
        .chain(now.keys())
        .filter(|name| then.get(*name) != now.get(*name))
        .cloned()
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
