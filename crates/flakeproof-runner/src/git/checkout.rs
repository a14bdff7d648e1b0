//! The code of another revision, checked out beside the project.
//!
//! A small repository of its own in a temporary folder borrows the objects of the project's: nothing
//! of the project is written, not even a reference. Files that git ignores and that tests may use come
//! along: small ones as copies, installed packages as links, and so does what lies beside the project.
//! What a build left behind does not: it was made from other code. A process of its own removes the
//! folder when this one ends, however it ends.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Child;

use super::program::{Failure, ask};
use super::repository::Repository;
use crate::system::{janitor, link, time_of_last_change};

/// Ignored files that come along as copies have at most so many bytes together.
const MOST_COPIED: u64 = 64 * 1024 * 1024;

/// So many files and folders beside the project are linked.
const MOST_SIBLINGS: usize = 1_000;

/// Folders and files that a build, a cache or this program made from the code at hand.
const MADE_FROM_CODE: [&str; 18] = [
    ".flakeproof",
    ".gradle",
    ".hypothesis",
    ".mypy_cache",
    ".nox",
    ".nyc_output",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    "__pycache__",
    "bin",
    "build",
    "coverage",
    "dist",
    "htmlcov",
    "obj",
    "out",
    "target",
];

/// How names of files with code end that may be made of other code, or compiled.
const CODE_ENDINGS: [&str; 25] = [
    "cjs", "cs", "dll", "dylib", "ex", "exs", "go", "groovy", "java", "js", "jsx", "kt", "kts",
    "mjs", "mts", "node", "php", "pm", "py", "pyd", "rb", "rs", "so", "ts", "tsx",
];

/// A revision, checked out in a folder that goes away with this.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
    /// Folders of the project that are used in place of copies.
    linked: Vec<PathBuf>,
    /// The project's own files among the copies of what git ignores, as they stand below the root.
    files_from_the_head: RefCell<Vec<PathBuf>>,
    /// What git ignores and is too new to come along, and where it would go.
    left_behind: RefCell<Vec<(PathBuf, PathBuf)>>,
    janitor: Child,
    folder: tempfile::TempDir,
}

/// Why a revision cannot be checked out.
#[derive(Debug, thiserror::Error)]
pub enum NoCheckout {
    /// git does not do it.
    #[error("the base cannot be checked out: {reason}")]
    GitFailed {
        /// What git said.
        reason: String,
    },
    /// The system does not do it.
    #[error("the base cannot be checked out: {0}")]
    Io(#[from] io::Error),
    /// There is more than is worth copying.
    #[error("the files that git ignores are too large to be copied beside the project")]
    TooLarge,
    /// Packages that are installed in the project are links to its own code.
    #[error("{path} is the project's own code, installed: the base would run that of the head")]
    OwnCode {
        /// The link or the copy.
        path: String,
    },
}

impl From<Failure> for NoCheckout {
    fn from(failure: Failure) -> Self {
        Self::GitFailed { reason: failure.reason() }
    }
}

impl Repository {
    /// Check a revision out beside the project, for as long as the result lives. Files that git ignores come along,
    /// but for those that are newer than the first of the changed files: they may be made of them.
    ///
    /// # Errors
    /// When git or the system refuses, or the ignored files cannot come along.
    pub fn check_out(&self, revision: &str, changed: &[String]) -> Result<Checkout, NoCheckout> {
        let folder = tempfile::Builder::new().prefix("flakeproof-base-").tempdir()?;
        let janitor = janitor(folder.path())?;
        // Tests may look at the name of their folder.
        let name = self.root().file_name().unwrap_or("project".as_ref());
        let root = folder.path().canonicalize()?.join(name);
        let mut checkout = Checkout::at(root, janitor, folder);
        self.borrow_objects(&checkout.root)?;
        ask(&checkout.root, &["checkout", "-q", "--detach", revision])?;
        let times = changed.iter().filter_map(|path| last_changed(&self.root().join(path)));
        self.bring_ignored(&mut checkout, times.min())?;
        self.link_siblings(&mut checkout)?;
        Ok(checkout)
    }

    /// Copy the work tree as it is, changes and new files included, beside the project, for as long as the
    /// result lives.
    ///
    /// # Errors
    /// When git or the system refuses, or the ignored files cannot come along.
    pub fn copy_work_tree(&self) -> Result<Checkout, NoCheckout> {
        let Some(head) = self.commit("HEAD")? else { return Checkout::of_folder(self.root()) };
        let checkout = self.check_out(&head, &[])?;
        let listed = ask(self.root(), &["ls-files", "-co", "--exclude-standard", "-z"])?;
        let mut copies = Copies::up_to(u64::MAX);
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = String::from_utf8_lossy(path);
            let (from, to) = (self.root().join(&*path), checkout.root.join(&*path));
            let is_folder = from.symlink_metadata().is_ok_and(|it| it.is_dir());
            if is_folder || checkout.root.starts_with(&from) {
                continue;
            }
            if to.symlink_metadata().is_ok() {
                fs::remove_file(&to)?;
            }
            if from.symlink_metadata().is_ok() {
                if let Some(above) = to.parent() {
                    fs::create_dir_all(above)?;
                }
                copies.copy(&from, &to)?;
            }
        }
        Ok(checkout)
    }

    fn borrow_objects(&self, root: &Path) -> Result<(), NoCheckout> {
        let objects = ask(self.root(), &["rev-parse", "--git-path", "objects"])?;
        let objects = String::from_utf8_lossy(&objects).trim_end().to_owned();
        let objects = self.root().join(objects).canonicalize()?;
        ask(self.root(), &["init", "-q", &root.to_string_lossy()])?;
        let alternates = root.join(".git/objects/info/alternates");
        fs::write(alternates, format!("{}\n", objects.display()))?;
        // Versions are often made of tags.
        let tags =
            ask(self.root(), &["for-each-ref", "--format=%(objectname) %(refname)", "refs/tags"])?;
        fs::write(root.join(".git/packed-refs"), tags)?;
        Ok(())
    }

    fn bring_ignored(
        &self,
        checkout: &mut Checkout,
        newest: Option<i128>,
    ) -> Result<(), NoCheckout> {
        let question =
            ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let listed = ask(self.root(), &question)?;
        let mut copies = Copies { newest, ..Copies::up_to(MOST_COPIED) };
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = String::from_utf8_lossy(path);
            let path = Path::new(path.trim_end_matches('/'));
            let (from, to) = (self.root().join(path), checkout.root.join(path));
            if is_made_from_code(path) || to.symlink_metadata().is_ok() {
                continue;
            }
            if let Some(above) = to.parent() {
                fs::create_dir_all(above)?;
            }
            // The temporary folder is in the project, and so is what is being made here.
            if checkout.root.starts_with(&from) {
                fs::create_dir(&to)?;
            } else if is_installed(&from) {
                self.refuse_own_code(&from)?;
                link(&from, &to)?;
                checkout.linked.push(from);
            } else {
                copies.copy(&from, &to)?;
            }
        }
        *checkout.left_behind.get_mut() = copies.too_new;
        checkout.note_from_the_head(&copies.files);
        Ok(())
    }

    /// Link what lies beside the project: code and tests may look for it by `..`, and node for packages.
    fn link_siblings(&self, checkout: &mut Checkout) -> Result<(), NoCheckout> {
        let (Some(above), Some(beside)) = (self.root().parent(), checkout.root.parent()) else {
            return Ok(());
        };
        let siblings = fs::read_dir(above)?.filter_map(Result::ok).map(|entry| entry.path());
        let is_beside = |path: &PathBuf| path != self.root() && !beside.starts_with(path);
        for from in siblings.take(MOST_SIBLINGS).filter(is_beside) {
            if let Some(name) = from.file_name() {
                link(&from, &beside.join(name))?;
            }
        }
        let packages = |folder: &Path| folder.join("node_modules");
        let nearest = self.root().ancestors().skip(1).map(packages).find(|it| it.is_dir());
        if let Some(from) = nearest {
            self.refuse_own_code(&from)?;
            if !packages(beside).exists() {
                link(&from, &packages(beside))?;
            }
            checkout.linked.push(from);
        }
        Ok(())
    }

    /// Refuse installed packages that are this project's own.
    fn refuse_own_code(&self, installed: &Path) -> Result<(), NoCheckout> {
        if installed.file_name().is_none_or(|name| name != "node_modules") {
            return Ok(());
        }
        let own = self.package_names()?;
        let mut packages: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(installed)?.filter_map(Result::ok) {
            let is_scope = entry.file_name().to_string_lossy().starts_with('@');
            match fs::read_dir(entry.path()) {
                Ok(scoped) if is_scope => {
                    packages.extend(scoped.filter_map(Result::ok).map(|it| it.path()));
                }
                _ => packages.push(entry.path()),
            }
        }
        for package in packages {
            let target = package.canonicalize().unwrap_or_else(|_| package.clone());
            let is_link_inside = target.starts_with(self.root()) && !target.starts_with(installed);
            let name = package.strip_prefix(installed).unwrap_or(&package).to_string_lossy();
            if is_link_inside || own.iter().any(|own| *own == name) {
                return Err(NoCheckout::OwnCode { path: package.display().to_string() });
            }
        }
        Ok(())
    }

    /// The names of the packages of Node's that this repository has the code of.
    fn package_names(&self) -> Result<Vec<String>, NoCheckout> {
        let listed = ask(self.root(), &["ls-files", "-z", "--", "package.json", "*/package.json"])?;
        let paths = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let name = |path: &[u8]| {
            let path = self.root().join(String::from_utf8_lossy(path).as_ref());
            let package: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
            Some(package.get("name")?.as_str()?.to_owned())
        };
        Ok(paths.filter_map(name).collect())
    }
}

impl Checkout {
    /// Copy a folder that no repository knows, for as long as the result lives.
    ///
    /// # Errors
    /// When the system refuses, or there is more than is worth copying.
    pub fn of_folder(from: &Path) -> Result<Self, NoCheckout> {
        let folder = tempfile::Builder::new().prefix("flakeproof-copy-").tempdir()?;
        let janitor = janitor(folder.path())?;
        let name = from.file_name().unwrap_or("project".as_ref());
        let root = folder.path().canonicalize()?.join(name);
        fs::create_dir(&root)?;
        let mut checkout = Self::at(root, janitor, folder);
        let mut copies = Copies::up_to(MOST_COPIED);
        for entry in fs::read_dir(from)? {
            let name = entry?.file_name();
            let (from, to) = (from.join(&name), checkout.root.join(&name));
            if is_installed(&from) {
                link(&from, &to)?;
                checkout.linked.push(from);
            } else if !is_made_from_code(Path::new(&name)) && !checkout.root.starts_with(&from) {
                copies.copy(&from, &to)?;
            }
        }
        Ok(checkout)
    }

    fn at(root: PathBuf, janitor: Child, folder: tempfile::TempDir) -> Self {
        let (files_from_the_head, left_behind) = Default::default();
        Self { root, linked: Vec::new(), files_from_the_head, left_behind, janitor, folder }
    }

    fn note_from_the_head(&self, files: &[PathBuf]) {
        let own = files.iter().filter(|path| is_own(&self.root, path));
        let own = own.filter_map(|it| Some(it.strip_prefix(&self.root).ok()?.to_path_buf()));
        self.files_from_the_head.borrow_mut().extend(own);
    }

    /// Copy what is newer than the change after all: something seems to be missing. Gives whether there was anything.
    pub fn bring_the_rest(&self) -> bool {
        let rest = self.left_behind.take();
        let copied = rest.iter().filter(|(from, to)| {
            to.parent().is_none_or(|above| fs::create_dir_all(above).is_ok())
                && fs::copy(from, to).is_ok()
        });
        let copied: Vec<PathBuf> = copied.map(|(_, to)| to.clone()).collect();
        self.note_from_the_head(&copied);
        !copied.is_empty()
    }

    /// The folder of the work tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Make an empty folder for temporary files: what the code of the project left in the usual one is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn temporary_folder(&self) -> Result<PathBuf, NoCheckout> {
        let folder = self.folder.path().join("flakeproof-tmp");
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// [Files of the project](is_own) that git ignores and that were copied from it, relative to the root: they may
    /// have been made of other code than this.
    #[must_use]
    pub fn files_from_the_head(&self) -> Vec<PathBuf> {
        self.files_from_the_head.borrow().clone()
    }

    /// Whether a file of the project is used here as it is, because it belongs to an installed package.
    #[must_use]
    pub fn is_linked(&self, path: &Path) -> bool {
        self.linked.iter().any(|folder| path.starts_with(folder))
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // Its end of file tells the janitor; what it does not get to remove, the folder does itself.
        drop(self.janitor.stdin.take());
        let _ = self.janitor.wait();
    }
}

/// When a file last changed, by the system's own account.
fn last_changed(path: &Path) -> Option<i128> {
    Some(time_of_last_change(&path.symlink_metadata().ok()?))
}

/// Whether a path is something that a build, a cache or this program made from the code at hand.
fn is_made_from_code(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        MADE_FROM_CODE.contains(&&*name) || name.ends_with(".egg-info") || name.ends_with(".pyc")
    })
}

/// Whether a file of a work tree holds [own](is_own) code of the project.
#[must_use]
pub fn is_own_code(root: &Path, path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    CODE_ENDINGS.contains(&&*ending) && is_own(root, path)
}

/// Whether a file of a work tree is the project's: neither of a package that is installed there, nor of a
/// submodule, nor what only names a version, as tools write it for each commit.
#[must_use]
pub fn is_own(root: &Path, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut above = path.ancestors().skip(1).take_while(|folder| *folder != root);
    path.starts_with(root)
        && !name.trim_start_matches('_').starts_with("version")
        && !above.any(|folder| is_installed(folder) || folder.join(".git").exists())
}

/// Whether a file is of a work tree of git's that is none of these: somebody may edit it beside them. Tools keep
/// work trees of their own in hidden folders, and packages lie among others.
#[must_use]
pub fn is_of_another_work_tree(path: &Path, known: &[&Path]) -> bool {
    let is_kept_by_tools = path.iter().any(|part| {
        let part = part.to_string_lossy();
        part.starts_with('.') || part == "node_modules" || part.ends_with("-packages")
    });
    let work_tree = path.ancestors().skip(1).find(|folder| folder.join(".git").exists());
    let is_around =
        |folder: &Path| known.iter().any(|it| folder.starts_with(it) || it.starts_with(folder));
    !is_kept_by_tools && work_tree.is_some_and(|it| !is_around(it))
}

/// Whether a folder holds installed packages, which are many and do not depend on the code.
fn is_installed(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == "node_modules")
        || folder.join("pyvenv.cfg").is_file()
}

/// Copies of files and folders.
struct Copies {
    /// So many bytes may still be copied.
    left: u64,
    /// Files that changed later than this are not copied.
    newest: Option<i128>,
    /// The files that were made.
    files: Vec<PathBuf>,
    /// Those that were not, and where they would be.
    too_new: Vec<(PathBuf, PathBuf)>,
}

impl Copies {
    fn up_to(most: u64) -> Self {
        Self { left: most, newest: None, files: Vec::new(), too_new: Vec::new() }
    }

    fn is_too_new(&self, file: &fs::Metadata) -> bool {
        self.newest.is_some_and(|newest| newest < time_of_last_change(file))
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), NoCheckout> {
        let metadata = from.symlink_metadata()?;
        if metadata.is_symlink() {
            link(&fs::read_link(from)?, to)?;
        } else if metadata.is_dir() {
            fs::create_dir_all(to)?;
            for entry in fs::read_dir(from)? {
                let name = entry?.file_name();
                if !is_made_from_code(Path::new(&name)) {
                    self.copy(&from.join(&name), &to.join(&name))?;
                }
            }
        } else if metadata.is_file() {
            self.left = self.left.checked_sub(metadata.len()).ok_or(NoCheckout::TooLarge)?;
            if self.is_too_new(&metadata) {
                self.too_new.push((from.to_path_buf(), to.to_path_buf()));
                return Ok(());
            }
            fs::copy(from, to)?;
            self.files.push(to.to_path_buf());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sandbox::Sandbox;
    use super::*;

    #[test]
    fn a_revision_is_checked_out_beside_the_project_and_goes_away() {
        let sandbox = Sandbox::with([("a.py", "1\n"), (".gitignore", "*.dat\nmade/\ntarget/\n")]);
        let first = sandbox.head();
        sandbox.commit([("a.py", "2\n")]);
        sandbox.write("a.py", "3\n");
        sandbox.write("made.dat", "x");
        sandbox.write("target/made", "x");
        sandbox.write("made/schema.py", "x");
        sandbox.write("made/_version.py", "x");
        sandbox.git(&["tag", "v1"]);
        let index = sandbox.index();
        let root = {
            let checkout = sandbox.repository().check_out(&first, &[]).unwrap();
            let read = |name: &str| fs::read_to_string(checkout.root().join(name)).ok();
            assert_eq!(read("a.py").as_deref(), Some("1\n"));
            assert_eq!(read("made.dat").as_deref(), Some("x"), "tests may use it");
            assert_eq!(read("target/made"), None, "it was made from other code");
            assert_eq!(
                checkout.files_from_the_head(),
                [Path::new("made.dat"), Path::new("made/schema.py")]
            );
            let tagged = ask(checkout.root(), &["rev-parse", "v1^{commit}"]).unwrap();
            assert_eq!(String::from_utf8_lossy(&tagged).trim(), sandbox.head());
            checkout.root().to_path_buf()
        };
        assert!(!root.exists());
        assert_eq!(sandbox.index(), index, "nothing of the project is written");
        let worktrees = ask(sandbox.repository().root(), &["worktree", "list"]).unwrap();
        assert_eq!(String::from_utf8_lossy(&worktrees).lines().count(), 1);
    }

    #[test]
    fn what_is_newer_than_the_change_comes_along_only_where_it_is_missing() {
        let sandbox = Sandbox::with([("a.py", "1\n"), (".gitignore", "*.dat\n")]);
        sandbox.write("old.dat", "x");
        sandbox.write("a.py", "2\n");
        let root = sandbox.repository().root().to_path_buf();
        let changed = last_changed(&root.join("a.py"));
        // The system's clock for this has long ticks.
        while last_changed(&root.join("new.dat")) <= changed {
            sandbox.write("new.dat", "x");
        }
        let checkout = sandbox.repository().check_out(&sandbox.head(), &["a.py".into()]).unwrap();
        assert!(!checkout.root().join("new.dat").exists());
        assert!(checkout.bring_the_rest());
        assert!(checkout.root().join("new.dat").exists());
        assert!(!checkout.bring_the_rest(), "nothing is left");
        assert!(checkout.files_from_the_head().contains(&PathBuf::from("new.dat")));
    }

    #[test]
    fn a_copy_of_the_work_tree_has_its_changes_and_new_files() {
        let sandbox = Sandbox::with([("a.py", "1\n"), ("gone.py", "1\n")]);
        sandbox.write("a.py", "2\n");
        sandbox.write("new/b.py", "3\n");
        sandbox.remove("gone.py");
        let copied = sandbox.repository().copy_work_tree().unwrap();
        let read = |name: &str| fs::read_to_string(copied.root().join(name)).ok();
        assert_eq!(read("a.py").as_deref(), Some("2\n"));
        assert_eq!(read("new/b.py").as_deref(), Some("3\n"));
        assert_eq!(read("gone.py"), None);
        let plain = Checkout::of_folder(&sandbox.path("")).unwrap();
        assert_eq!(fs::read_to_string(plain.root().join("a.py")).unwrap(), "2\n");
    }

    #[test]
    fn installed_packages_are_linked_unless_they_are_the_projects_own() {
        let sandbox = Sandbox::with([
            (".gitignore", "node_modules/\n"),
            ("packages/shop/package.json", "{\"name\": \"@acme/shop\"}"),
        ]);
        sandbox.write("node_modules/lib/index.js", "1");
        let checkout = sandbox.repository().check_out(&sandbox.head(), &[]).unwrap();
        let linked = sandbox.repository().root().join("node_modules");
        assert!(checkout.is_linked(&linked.join("lib/index.js")));
        assert!(checkout.root().join("node_modules/lib/index.js").is_file());
        sandbox.write("node_modules/@acme/shop/index.js", "1");
        let refused = sandbox.repository().check_out(&sandbox.head(), &[]).unwrap_err();
        assert!(refused.to_string().contains("@acme/shop"), "{refused}");
    }
}
