//! INTERSECT (thesis, section 3 and Figure 3.2): does a failing test touch the change?
//!
//! A test that passed before, and that fails without touching anything that changed since, fails
//! for another reason than the code: it is unrelated. The thesis takes every non-intersection as
//! proof. This module is sound or silent (DESIGN §4.3): a change that the measurement cannot see, a
//! process it cannot follow or a different environment makes it say nothing, and say why.

use std::path::Path;

use flakeproof_core::{
    BlindSpot, Change, ChangeStatus, ChangedFile, Dependencies, FunctionUse, LineRange,
};

use crate::build_files::{self, Content, Decides};

/// What is known about the world when a test's dependencies are compared with the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What changed in the code.
    pub change: Change,
    /// What changed around it since the test passed: runtime, packages. One sentence each.
    pub new_surroundings: Vec<String>,
    /// Environment variables that have another value than when the test passed.
    pub new_variables: Vec<String>,
    /// Files that the test depends on, that are under no version control, and that changed.
    pub unversioned: Vec<String>,
    /// A file that the test uses, and that may have been made of what changed: it is of the project and under no
    /// version control, or of another work tree.
    pub maybe_made_of_it: Option<String>,
}

impl Facts {
    /// Whether no test could notice what changed: nobody but people reads it.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        let is_one = |file: &ChangedFile| build_files::content(&file.path) == Content::ForPeople;
        self.change.files.iter().all(is_one)
    }
}

/// Whether a test touches the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contact {
    /// It depends on these changed files.
    Touches(Vec<String>),
    /// It depends on none of the changed files, and all of them could be seen.
    Disjoint,
    /// It cannot be said.
    Silent(String),
}

/// Variables that the runtime or the C library reads itself, where no measurement sees it.
const ALWAYS_READ: [&str; 17] = [
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NO_COLOR",
    "PATH",
    "PWD",
    "PYTHONHASHSEED",
    "PYTHONPATH",
    "PY_COLORS",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];
const ALWAYS_READ_PREFIXES: [&str; 8] =
    ["GO", "JAVA", "LC_", "LD_", "NODE", "PYTEST_", "PYTHON", "SSL_"];

/// Variables that number the shells, and those that the runner sets for each test.
const NEVER_COUNTS: [&str; 4] = ["OLDPWD", "PYTEST_CURRENT_TEST", "SHLVL", "_"];

/// Whether a test with these dependencies touches the change.
#[must_use]
pub fn contact(dependencies: &Dependencies, facts: &Facts) -> Contact {
    let change = &facts.change;
    let touched: Vec<String> = change
        .files
        .iter()
        .filter(|file| is_touched(dependencies, &change.root, file))
        .map(|file| file.path.clone())
        .collect();
    if !touched.is_empty() {
        return Contact::Touches(touched);
    }
    match what_cannot_be_seen(dependencies, facts) {
        Some(reason) => Contact::Silent(reason),
        None => Contact::Disjoint,
    }
}

fn is_touched(dependencies: &Dependencies, root: &str, file: &ChangedFile) -> bool {
    let path = Path::new(root).join(&file.path);
    let text = path.to_string_lossy();
    match file.status {
        ChangeStatus::Deleted => is_listed(dependencies, &path),
        ChangeStatus::Added => is_used(dependencies, &text) || is_listed(dependencies, &path),
        ChangeStatus::Special => is_used(dependencies, &text),
        ChangeStatus::Modified if dependencies.opened.contains(&*text) => true,
        ChangeStatus::Modified if dependencies.code.contains(&*text) => {
            match (dependencies.functions.get(&*text), &file.lines) {
                (Some(functions), Some(lines)) => {
                    // A file that differs in no line differs in a way that lines do not show.
                    lines.is_empty() || lines.iter().any(|it| !is_in_idle_body(functions, *it))
                }
                _ => true,
            }
        }
        ChangeStatus::Modified => false,
    }
}

/// Whether the folder of a file is listed.
fn is_listed(dependencies: &Dependencies, file: &Path) -> bool {
    let folder = file.parent().map(Path::to_string_lossy);
    folder.is_some_and(|folder| dependencies.listed.contains(&*folder))
}

fn is_used(dependencies: &Dependencies, path: &str) -> bool {
    dependencies.code.contains(path) || dependencies.opened.contains(path)
}

/// Whether a change of these lines stays inside the body of a function that did not run.
///
/// Signatures, decorators, defaults and everything at the level of a module or class run on
/// import. A function inside another counts by its own: the innermost body around the change
/// decides. The first line of a body never counts as idle: the signature may share it, and a
/// docstring is there on import. A deletion (count 0) never does either: which of several equal
/// lines are gone is git's choice, and with them a whole function may be gone that stood there.
fn is_in_idle_body(functions: &[FunctionUse], range: LineRange) -> bool {
    if range.count == 0 {
        return false;
    }
    let last = range.first.saturating_add(range.count - 1);
    functions
        .iter()
        .filter(|function| function.body <= range.first && last <= function.end)
        .max_by_key(|function| function.body)
        .is_some_and(|innermost| !innermost.ran && innermost.body < range.first)
}

/// The first thing that stands in the way of saying "it touches nothing that changed".
fn what_cannot_be_seen(dependencies: &Dependencies, facts: &Facts) -> Option<String> {
    if let Some(surroundings) = facts.new_surroundings.first() {
        return Some(surroundings.clone());
    }
    if let Some(variable) = facts.new_variables.iter().find(|name| counts(dependencies, name)) {
        return Some(format!(
            "the environment variable {variable} differs from the run in which it passed"
        ));
    }
    if let Some(file) = facts.unversioned.first() {
        return Some(format!("{file} is under no version control and is newer than the pass"));
    }
    if let Some(file) = facts.maybe_made_of_it.as_ref().filter(|_| !facts.is_for_people()) {
        return Some(format!(
            "{file} is not under the version control of this project and may be made of what changed"
        ));
    }
    let unseen = dependencies.blind_spots.iter().find_map(|spot| match spot {
        BlindSpot::Process { program } => {
            Some(format!("it starts another program ({program}), whose files are not seen"))
        }
        BlindSpot::Server { address } => Some(format!(
            "it asks a server that was there before ({address}), whose files are not seen"
        )),
        BlindSpot::Scan { scanner } => {
            Some(format!("{scanner} reads compiled code without running it, which is not seen"))
        }
        // A file that git does not know may have changed, whatever git says of the others.
        BlindSpot::Opens if facts.change.base.is_known_to_pass() => {
            Some("which files it opens is not followed here".to_owned())
        }
        BlindSpot::Caches if facts.change.base.is_known_to_pass() => {
            Some("what its runner keeps in caches is not followed".to_owned())
        }
        BlindSpot::NativeCode { library } if facts.change.base.is_known_to_pass() => {
            Some(format!("native code ({}) may open files unseen", short(library)))
        }
        BlindSpot::NativeCode { .. } | BlindSpot::Opens | BlindSpot::Caches => None,
        // Of some files only.
        BlindSpot::Installed { .. } => None,
    });
    if unseen.is_some() {
        return unseen;
    }
    let root = Path::new(&facts.change.root);
    facts.change.files.iter().find_map(|file| why_invisible(dependencies, root, file))
}

fn counts(dependencies: &Dependencies, variable: &str) -> bool {
    if NEVER_COUNTS.contains(&variable) {
        return false;
    }
    ALWAYS_READ.contains(&variable)
        || ALWAYS_READ_PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
        || dependencies.variables.contains(variable)
        || dependencies.variables.contains("*")
}

/// Why a changed file could matter to a test without being seen.
fn why_invisible(dependencies: &Dependencies, root: &Path, file: &ChangedFile) -> Option<String> {
    let path = &file.path;
    match (file.status, role(dependencies, path)) {
        (ChangeStatus::Deleted, _) => {
            Some(format!("{path} was deleted, and a file that is gone cannot be seen in use"))
        }
        (ChangeStatus::Special, _) => {
            Some(format!("{path} is not an ordinary file (a submodule, a link or a new mode)"))
        }
        (_, Role::Build) => Some(format!("{path} decides how the code is built or configured")),
        _ if may_be_installed(dependencies, &root.join(path)) => Some(format!(
            "{path} is outside of what is built here, and may be in an installed copy"
        )),
        (_, Role::Code) => why_code_is_invisible(dependencies, &root.join(path), path),
        (ChangeStatus::Added, Role::Resource) => {
            Some(format!("{path} is new, and a test may look whether it exists"))
        }
        (ChangeStatus::Modified, Role::Resource) if is_prepared(dependencies, root, path) => {
            Some(format!("{path} changed, and is read before the tests begin"))
        }
        (ChangeStatus::Modified, Role::Resource) if copy_in_use(dependencies, path).is_some() => {
            copy_in_use(dependencies, path)
                .map(|copy| format!("{path} changed, and {copy} may be a copy of it"))
        }
        (ChangeStatus::Modified, Role::Resource) if may_be_sized(dependencies, root, path) => {
            Some(format!("{path} changed, and its folder is listed, which may tell its size"))
        }
        (ChangeStatus::Modified, Role::Resource) => why_resource_is_invisible(dependencies, path),
    }
}

/// Why a changed file that is not opened could matter to a test.
fn why_resource_is_invisible(dependencies: &Dependencies, path: &str) -> Option<String> {
    let unseen = dependencies.blind_spots.iter().find_map(|spot| match spot {
        BlindSpot::NativeCode { library } => Some(format!(
            "{path} changed, and native code ({}) may open files unseen",
            short(library)
        )),
        BlindSpot::Opens => {
            Some(format!("{path} changed, and which files a test opens is not followed here"))
        }
        BlindSpot::Process { .. }
        | BlindSpot::Server { .. }
        | BlindSpot::Scan { .. }
        | BlindSpot::Installed { .. }
        | BlindSpot::Caches => None,
    });
    let is_compiled_in = dependencies.followed.contains(".rs");
    unseen.or_else(|| match build_files::content(path) {
        Content::Script => {
            Some(format!("{path} changed, and may run before the tests begin, which is not seen"))
        }
        Content::Key => Some(format!("{path} changed, and native code reads such files unseen")),
        Content::Data if is_compiled_in => {
            Some(format!("{path} changed, and a build script may make code of it"))
        }
        // What is made of others is code or data, and is seen in use.
        Content::ForPeople | Content::Code | Content::Data => None,
    })
}

/// Whether the size and time of a file may be known from the list of its folder. Elsewhere the system tells who asks.
fn may_be_sized(dependencies: &Dependencies, root: &Path, path: &str) -> bool {
    dependencies.followed.contains(".py")
        && build_files::content(path) != Content::ForPeople
        && is_listed(dependencies, &root.join(path))
}

/// Whether a file may be part of something that was built elsewhere and installed.
fn may_be_installed(dependencies: &Dependencies, file: &Path) -> bool {
    dependencies.blind_spots.iter().any(|spot| match spot {
        BlindSpot::Installed { but } => !but.iter().any(|folder| file.starts_with(folder)),
        _ => false,
    })
}

/// A file in use that has the name of a changed one: installers copy data files too.
fn copy_in_use<'d>(dependencies: &'d Dependencies, path: &str) -> Option<&'d String> {
    let name = Path::new(path).file_name()?;
    dependencies.opened.iter().find(|opened| Path::new(opened).file_name() == Some(name))
}

/// How names of folders end into which packages are installed.
const INSTALLED: [&str; 2] = ["-packages/", "/node_modules/"];

/// Whether a path is that of a changed file as it is installed: beside other packages, with the same name, and
/// where that is a name that many have, in a folder of the same name.
pub(crate) fn is_installed_copy(path: &str, changed: &str) -> bool {
    const OF_MANY: [&str; 5] = ["__init__.py", "__main__.py", "index.js", "index.mjs", "index.ts"];
    let Some(at) = INSTALLED.iter().filter_map(|it| Some(path.rfind(it)? + it.len())).max() else {
        return false;
    };
    let mut installed = path[at..].rsplit('/');
    let mut here = changed.rsplit('/');
    let (name, folders) = (here.next(), (here.next(), installed.clone().nth(1)));
    let is_same_folder = match folders {
        (Some(here), Some(there)) => here == there,
        _ => true,
    };
    name == installed.next() && (is_same_folder || name.is_some_and(|it| !OF_MANY.contains(&it)))
}

fn is_prepared(dependencies: &Dependencies, root: &Path, path: &str) -> bool {
    dependencies.prepared.contains(&*root.join(path).to_string_lossy())
}

/// Why changed source code could matter to a test although none of it was seen to run.
fn why_code_is_invisible(dependencies: &Dependencies, file: &Path, path: &str) -> Option<String> {
    let file = file.to_string_lossy();
    if dependencies.copied.contains(&*file) {
        return Some(format!("the compiler copies constants of {path} into other files"));
    }
    if dependencies.within.as_ref().is_some_and(|within| !within.contains(&*file)) {
        return Some(format!("whether {path} runs was not measured"));
    }
    let copy = dependencies.code.iter().find(|code| is_installed_copy(code, path))?;
    Some(format!("{copy} runs, and may be {path} as it was installed"))
}

/// What a file is to a test run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Source code whose execution is measured.
    Code,
    /// Decides what is built, installed or configured; its effect cannot be seen.
    Build,
    /// Anything else, which matters when it is opened.
    Resource,
}

fn role(dependencies: &Dependencies, path: &str) -> Role {
    let is_followed = dependencies.followed.iter().any(|ending| path.ends_with(ending.as_str()))
        && build_files::content(path) != Content::Script;
    match build_files::decides(path) {
        Some(Decides::Compiled) | None if is_followed => Role::Code,
        Some(_) => Role::Build,
        None => Role::Resource,
    }
}

fn short(library: &str) -> &str {
    library.rsplit('/').next().unwrap_or(library)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use flakeproof_core::Base;

    use super::*;

    fn set<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
        names.into_iter().map(str::to_owned).collect()
    }

    fn depends_on<const N: usize>(code: [&str; N]) -> Dependencies {
        Dependencies { code: set(code), ..Dependencies::default() }
    }

    fn file(path: &str, status: ChangeStatus) -> ChangedFile {
        ChangedFile { path: path.into(), status, lines: None }
    }

    fn changed(files: Vec<ChangedFile>) -> Facts {
        Facts {
            change: Change {
                base: Base::Named { revision: "main".into() },
                root: "/r".into(),
                files,
            },
            new_surroundings: Vec::new(),
            new_variables: Vec::new(),
            unversioned: Vec::new(),
            maybe_made_of_it: None,
        }
    }

    fn silent_about(contact: &Contact) -> &str {
        match contact {
            Contact::Silent(reason) => reason,
            other => panic!("{other:?} is not silent"),
        }
    }

    #[test]
    fn a_test_that_runs_a_changed_file_touches_the_change() {
        let facts = changed(vec![
            file("a.py", ChangeStatus::Modified),
            file("b.py", ChangeStatus::Modified),
        ]);
        let contact = contact(&depends_on(["/r/a.py", "/r/test_a.py"]), &facts);
        assert_eq!(contact, Contact::Touches(vec!["a.py".into()]));
    }

    #[test]
    fn other_code_is_disjoint() {
        let facts = changed(vec![file("b.py", ChangeStatus::Modified)]);
        assert_eq!(contact(&depends_on(["/r/a.py"]), &facts), Contact::Disjoint);
    }

    #[test]
    fn a_deleted_file_silences_because_its_absence_may_be_the_failure() {
        let facts = changed(vec![file("helper.py", ChangeStatus::Deleted)]);
        let contact = contact(&depends_on(["/r/a.py"]), &facts);
        assert!(silent_about(&contact).contains("helper.py"));
    }

    #[test]
    fn build_and_lock_files_silence() {
        let paths =
            ["pyproject.toml", "poetry.lock", "requirements-dev.txt", "src/fast.pyx", "api.proto"];
        for path in paths {
            let facts = changed(vec![file(path, ChangeStatus::Modified)]);
            let contact = contact(&depends_on(["/r/a.py"]), &facts);
            assert!(silent_about(&contact).contains(path));
        }
    }

    #[test]
    fn a_data_file_counts_when_it_is_opened_and_a_script_in_any_case() {
        let facts = changed(vec![file("data.json", ChangeStatus::Modified)]);
        let mut opens = depends_on(["/r/a.py"]);
        assert_eq!(contact(&opens, &facts), Contact::Disjoint);
        opens.opened = set(["/r/data.json"]);
        assert_eq!(contact(&opens, &facts), Contact::Touches(vec!["data.json".into()]));
        for path in ["scripts/seed.py", "make.sh", "db/seed.sql", "certs/key.pem"] {
            let facts = changed(vec![file(path, ChangeStatus::Modified)]);
            assert!(silent_about(&contact(&opens, &facts)).contains(path));
        }
    }

    #[test]
    fn a_data_file_that_a_build_reads_or_an_installer_copies_silences() {
        let facts = changed(vec![file("src/data.json", ChangeStatus::Modified)]);
        let mut built = depends_on(["/r/a.py"]);
        built.prepared = set(["/r/src/data.json"]);
        assert!(silent_about(&contact(&built, &facts)).contains("before the tests begin"));
        let mut copied = depends_on(["/r/a.py"]);
        copied.opened = set(["/v/site-packages/shop/data.json"]);
        assert!(silent_about(&contact(&copied, &facts)).contains("may be a copy"));
    }

    #[test]
    fn what_is_not_built_may_be_installed() {
        let mut partly = depends_on(["/r/web/a.py"]);
        partly.blind_spots = vec![BlindSpot::Installed { but: vec!["/r/web".into()] }];
        let outside = changed(vec![file("core/b.py", ChangeStatus::Modified)]);
        assert!(silent_about(&contact(&partly, &outside)).contains("installed copy"));
        let inside = changed(vec![file("web/b.py", ChangeStatus::Modified)]);
        assert_eq!(contact(&partly, &inside), Contact::Disjoint);
    }

    #[test]
    fn code_that_is_installed_may_be_what_changed() {
        let site = "/v/lib/python3.11/site-packages";
        for changed in ["src/shop/cart.py", "shop/cart.py", "cart.py", "lib/old/cart.py"] {
            assert!(is_installed_copy(&format!("{site}/shop/cart.py"), changed), "{changed}");
        }
        assert!(is_installed_copy(&format!("{site}/cart.py"), "src/cart.py"));
        assert!(is_installed_copy("/r/node_modules/shop/index.js", "packages/shop/index.js"));
        assert!(is_installed_copy(&format!("{site}/shop/__init__.py"), "src/shop/__init__.py"));
        assert!(!is_installed_copy(&format!("{site}/yaml/__init__.py"), "src/shop/__init__.py"));
        assert!(!is_installed_copy("/usr/lib/python3.11/cart.py", "cart.py"));
        let path = format!("{site}/shop/cart.py");
        let facts = changed(vec![file("src/shop/cart.py", ChangeStatus::Modified)]);
        let contact = contact(&depends_on(["/r/test_a.py", path.as_str()]), &facts);
        assert!(silent_about(&contact).contains("as it was installed"));
    }

    #[test]
    fn native_code_may_read_data_unseen_but_not_run_python() {
        let mut native = depends_on(["/r/a.py"]);
        native.blind_spots =
            vec![BlindSpot::NativeCode { library: "/v/site-packages/cv2.so".into() }];
        let data = changed(vec![file("data.png", ChangeStatus::Modified)]);
        assert!(silent_about(&contact(&native, &data)).contains("cv2.so"));
        let code = changed(vec![file("b.py", ChangeStatus::Modified)]);
        assert_eq!(contact(&native, &code), Contact::Disjoint);
    }

    #[test]
    fn another_program_silences_everything_an_empty_change_too() {
        let mut starts = depends_on(["/r/a.py"]);
        starts.blind_spots = vec![BlindSpot::Process { program: "node".into() }];
        let code = changed(vec![file("b.py", ChangeStatus::Modified)]);
        assert!(silent_about(&contact(&starts, &code)).contains("node"));
        assert!(silent_about(&contact(&starts, &changed(Vec::new()))).contains("node"));
    }

    #[test]
    fn a_new_file_in_a_listed_folder_is_touched() {
        let mut lists = depends_on(["/r/a.py"]);
        lists.listed = set(["/r/plugins"]);
        let facts = changed(vec![file("plugins/new.py", ChangeStatus::Added)]);
        assert_eq!(contact(&lists, &facts), Contact::Touches(vec!["plugins/new.py".into()]));
    }

    #[test]
    fn a_variable_counts_if_it_is_read_or_read_by_everything() {
        let mut facts = changed(Vec::new());
        facts.new_variables = vec!["DATABASE_URL".into(), "SHLVL".into()];
        let mut reads = depends_on(["/r/a.py"]);
        assert_eq!(contact(&reads, &facts), Contact::Disjoint);
        reads.variables = set(["DATABASE_URL"]);
        assert!(silent_about(&contact(&reads, &facts)).contains("DATABASE_URL"));
        for unseen in ["TZ", "PYTEST_ADDOPTS", "COLUMNS", "SSL_CERT_FILE"] {
            facts.new_variables = vec![unseen.into()];
            assert!(silent_about(&contact(&reads, &facts)).contains(unseen));
        }
    }

    #[test]
    fn at_function_granularity_an_idle_body_does_not_count_and_a_signature_does() {
        let mut uses = depends_on(["/r/a.py"]);
        let idle = FunctionUse { body: 11, end: 20, ran: false };
        let ran = FunctionUse { body: 31, end: 40, ran: true };
        uses.functions.insert("/r/a.py".into(), vec![idle, ran]);
        let change_of = |first, count| {
            let mut modified = file("a.py", ChangeStatus::Modified);
            modified.lines = Some(vec![LineRange { first, count }]);
            contact(&uses, &changed(vec![modified]))
        };
        assert_eq!(change_of(12, 3), Contact::Disjoint);
        let touches = Contact::Touches(vec!["a.py".into()]);
        assert_eq!(change_of(10, 1), touches, "the signature of an idle function runs on import");
        assert_eq!(change_of(19, 3), touches, "the change leaves the body");
        assert_eq!(change_of(11, 1), touches, "the signature may share the first line");
        assert_eq!(change_of(12, 0), touches, "a function may have been deleted there");
        assert_eq!(change_of(33, 1), touches, "the function ran");
        assert_eq!(change_of(25, 1), touches, "module level");
        let mut unclear = file("a.py", ChangeStatus::Modified);
        unclear.lines = Some(Vec::new());
        assert_eq!(contact(&uses, &changed(vec![unclear])), touches, "it differs in no line");
    }

    #[test]
    fn the_innermost_function_around_a_change_decides() {
        let outer = |ran| FunctionUse { body: 2, end: 20, ran };
        let inner = |ran| FunctionUse { body: 6, end: 9, ran };
        let at =
            |line, uses: &[FunctionUse]| is_in_idle_body(uses, LineRange { first: line, count: 1 });
        assert!(at(8, &[outer(true), inner(false)]), "it ran around the idle function");
        assert!(!at(12, &[outer(true), inner(false)]));
        assert!(
            !at(6, &[outer(true), inner(false)]),
            "an inner signature runs with the outer body"
        );
        assert!(at(12, &[outer(false), inner(false)]));
    }
}
