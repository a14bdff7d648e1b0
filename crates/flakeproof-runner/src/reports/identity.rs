//! Which test a report means: one id, whatever wrote the report.
//!
//! The ids are those that the program's own adapters use, so that a run under `flakeproof run` and
//! a report of the same test by its own runner meet in the history. Nothing but the report says
//! which runner wrote it, so the form of the names has to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use flakeproof_core::{IdRules, TestId};

use super::reported::ReportedTest;

/// The id of a test that a report tells of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The id, as the rules leave it.
    pub id: TestId,
    /// The id before the rules, where they changed it.
    pub raw: Option<TestId>,
    /// Whether the runner cannot report two tests under this id, so that a second one is a second
    /// attempt at the same test.
    pub is_unique: bool,
}

impl Identity {
    /// The id of a test. Without rules, its parameters stay as they are.
    #[must_use]
    pub fn assign(test: &ReportedTest, rules: Option<&IdRules>, places: &mut Places) -> Self {
        let file = test.file.as_deref().filter(|file| !file.is_empty());
        let file = file.map(|file| places.relative(file));
        let (prefix, name, is_unique) = named(test, file.as_deref());
        let raw = format!("{prefix}{name}");
        let normal = rules.map(|rules| rules.normal(&name));
        match normal {
            Some(normal) if *normal != *name => Self {
                id: TestId::from(format!("{prefix}{normal}")),
                raw: Some(TestId::from(raw)),
                is_unique,
            },
            _ => Self { id: TestId::from(raw), raw: None, is_unique },
        }
    }
}

/// What stands before the name, the name, and whether they are unique in their runner.
fn named(test: &ReportedTest, file: Option<&str>) -> (String, String, bool) {
    let ReportedTest { class, name, suite, id, .. } = test;
    if let (Some(id), Some(true)) = (id, file.map(|file| file.ends_with(".rb"))) {
        return (id.clone(), String::new(), false);
    }
    if is_go(test) {
        let package = if class.is_empty() { suite } else { class };
        return (format!("{package}."), name.clone(), true);
    }
    if is_python(test, file) {
        return (python(class, file), name.clone(), false);
    }
    let own_file = [class, suite].into_iter().find(|text| is_script(text)).map(String::as_str);
    if let Some(file) = file.filter(|file| is_script(file)).or(own_file) {
        return (format!("{}::", file.trim_start_matches("./")), title(test, file), false);
    }
    if class == "test" {
        return (String::new(), title(test, ""), false);
    }
    if file.is_some_and(|file| file.ends_with(".php")) && !class.is_empty() {
        return (format!("{class}::"), name.clone(), false);
    }
    if class.is_empty() || class == name || name.ends_with(&format!(" {class}")) {
        let place = file.or(Some(suite)).filter(|place| !place.is_empty() && place != name);
        let place = place.filter(|_| class.is_empty());
        return (place.map(|place| format!("{place}::")).unwrap_or_default(), name.clone(), false);
    }
    if is_jvm(class) {
        return (format!("{class}#"), jvm_name(class, name), false);
    }
    match file {
        Some(file) => (format!("{}::", file.trim_start_matches("./")), title(test, file), false),
        // Groups of a script, as TAP and CTRF tell of them.
        None if suite.is_empty() || class.contains(' ') => (String::new(), title(test, ""), false),
        None => (format!("{}::", rust_target(class, name)), name.clone(), false),
    }
}

/// Go tests are named `TestX`, in a package whose last part is in lower case.
fn is_go(test: &ReportedTest) -> bool {
    let package = if test.class.is_empty() { &test.suite } else { &test.class };
    let last = package.rsplit(['/', '.']).next().unwrap_or_default();
    let kinds = ["Test", "Benchmark", "Example", "Fuzz"];
    let is_test = kinds.iter().any(|kind| {
        let rest = test.name.strip_prefix(kind);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_lowercase()))
    });
    is_test
        && test.file.is_none()
        && last.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && !package.contains([' ', '#', ':'])
        && (test.class.is_empty() || test.class == test.suite || package.contains('/'))
}

fn is_python(test: &ReportedTest, file: Option<&str>) -> bool {
    if let Some(file) = file {
        return file.ends_with(".py");
    }
    let is_module =
        |part: &str| part.starts_with("test_") || (part.ends_with("_test") && part.len() > 5);
    let is_word =
        |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    !test.class.is_empty()
        && test.class.split('.').all(is_word)
        && (test.suite == "pytest" || test.class.split('.').any(is_module))
}

/// `tests.test_a.TestB` as pytest writes it: `tests/test_a.py::TestB::`.
///
/// A class that inherits its tests is in another file than they are, and the file of a test is the
/// latter; the id has the former.
fn python(class: &str, file: Option<&str>) -> String {
    let parts: Vec<&str> = class.split('.').filter(|part| !part.is_empty()).collect();
    let stem = file.map(|file| file.trim_end_matches(".py"));
    let stem = stem.and_then(|file| file.rsplit('/').next());
    let in_file = stem.and_then(|stem| parts.iter().rposition(|part| *part == stem));
    let is_class = |part: &&str| part.starts_with(|c: char| c.is_uppercase());
    let (module, classes) = match (in_file, file) {
        (Some(at), Some(file)) => (file.to_owned(), &parts[at + 1..]),
        (None, Some(file)) if parts.is_empty() => (file.to_owned(), &parts[..0]),
        (_, Some(_) | None) => {
            let at = parts.iter().skip(1).position(is_class).map_or(parts.len(), |at| at + 1);
            (format!("{}.py", parts[..at].join("/")), &parts[at..])
        }
    };
    let mut prefix = format!("{module}::");
    for class in classes {
        prefix.push_str(class);
        prefix.push_str("::");
    }
    prefix
}

fn is_script(path: &str) -> bool {
    const ENDINGS: [&str; 13] = [
        ".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".rb", ".feature",
        ".sh", ".t",
    ];
    !path.contains(char::is_whitespace) && ENDINGS.iter().any(|ending| path.ends_with(ending))
}

/// The groups around a test and its name; runners put either or both into the class.
fn title(test: &ReportedTest, file: &str) -> String {
    let ReportedTest { class, name, suite, .. } = test;
    let path = file.trim_start_matches("./");
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let own_name = path.rsplit('/').next().unwrap_or(path);
    let groups = match class.as_str() {
        // node:test writes this for every test, and the group as the suite.
        "test" => suite,
        class => class.strip_prefix(own_name).map_or(class, |it| it.trim_start_matches(" > ")),
    };
    let says_no_more = groups.is_empty()
        || groups == name
        || groups.trim_start_matches("./") == path
        || groups == stem.replace('/', ".")
        || name.ends_with(groups)
        || name.starts_with(&groups.replace(" > ", " "));
    if says_no_more { name.clone() } else { format!("{groups} > {name}") }
}

/// A class of the JVM or of .NET: parts joined by dots, the last in upper case.
fn is_jvm(class: &str) -> bool {
    let last = class.rsplit('.').next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-' | '+');
    class.chars().all(is_part)
        && (last.starts_with(|c: char| c.is_uppercase()) || class.contains('.'))
}

/// `adds()` and `adds{int}[1]` are `adds` and `adds(int)[1]`.
fn jvm_name(class: &str, name: &str) -> String {
    let own = name.strip_prefix(class).and_then(|rest| rest.strip_prefix('.')).unwrap_or(name);
    let own = own.strip_suffix("()").unwrap_or(own);
    match own.split_once('{') {
        Some((method, rest)) if !method.is_empty() && !method.contains(' ') => {
            format!("{method}({}", rest.replacen('}', ")", 1))
        }
        _ => own.to_owned(),
    }
}

/// `web::api` as nextest names the target `tests/api.rs` of `web`.
fn rust_target(class: &str, name: &str) -> String {
    let is_path = |text: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-' | '/'))
    };
    match class.split_once("::") {
        Some((package, target)) if is_path(class) && is_path(name) && !target.contains("::") => {
            match target.split_once('/') {
                Some(("example", name)) => format!("{package}/examples/{name}"),
                Some(("bench", name)) => format!("{package}/benches/{name}"),
                Some((kind, name)) => format!("{package}/{kind}/{name}"),
                None => format!("{package}/tests/{target}"),
            }
        }
        _ => class.to_owned(),
    }
}

/// Finds the files that reports name in the project they belong to.
#[derive(Debug, Default)]
pub struct Places {
    folders: Vec<PathBuf>,
    /// What was found already: reports name few files and many tests.
    known: HashMap<String, String>,
}

/// So many files are remembered.
const MOST_KNOWN: usize = 100_000;

impl Places {
    /// Files of the project in the first of these folders; the others are names that it had where
    /// the tests ran.
    #[must_use]
    pub fn new(folders: Vec<PathBuf>) -> Self {
        Self { folders, known: HashMap::new() }
    }

    /// The path relative to the project, with slashes; as it is where it lies outside.
    pub fn relative(&mut self, file: &str) -> String {
        if let Some(known) = self.known.get(file) {
            return known.clone();
        }
        let found = self.find(file);
        if self.known.len() < MOST_KNOWN {
            self.known.insert(file.to_owned(), found.clone());
        }
        found
    }

    fn find(&self, file: &str) -> String {
        let plain = file.replace('\\', "/");
        let plain = plain.strip_prefix("file://").unwrap_or(&plain);
        let path = Path::new(plain);
        if !path.is_absolute() {
            return plain.trim_start_matches("./").to_owned();
        }
        let inside = self.folders.iter().find_map(|folder| path.strip_prefix(folder).ok());
        let inside = inside.map(Path::to_path_buf).or_else(|| self.by_its_end(path));
        inside.map_or_else(|| plain.to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// A path of another machine: the longest end of it that is a file of the project.
    fn by_its_end(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.folders.first()?;
        let parts: Vec<_> = path.components().collect();
        let ends = (1..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        ends.into_iter().find(|end| folder.join(end).is_file())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(suite: &str, class: &str, name: &str, file: Option<&str>) -> String {
        let mut test = ReportedTest::named(name);
        test.suite = suite.into();
        test.class = class.into();
        test.file = file.map(str::to_owned);
        Identity::assign(&test, None, &mut Places::default()).id.to_string()
    }

    #[test]
    fn pytest_with_and_without_files() {
        let expected = "tests/test_a.py::TestB::test_x[1]";
        assert_eq!(id("pytest", "tests.test_a.TestB", "test_x[1]", None), expected);
        let file = Some("tests/test_a.py");
        assert_eq!(id("pytest", "tests.test_a.TestB", "test_x[1]", file), expected);
        assert_eq!(id("unit", "test_a", "test_x", None), "test_a.py::test_x");
        let inherited = Some("tests/base.py");
        assert_eq!(id("pytest", "tests.test_a.TestB", "test_x[1]", inherited), expected);
    }

    #[test]
    fn classes_of_the_jvm() {
        let suite = "com.acme.FooTest";
        assert_eq!(id(suite, "com.acme.FooTest", "adds", None), "com.acme.FooTest#adds");
        assert_eq!(id(suite, "com.acme.FooTest", "adds()", None), "com.acme.FooTest#adds");
        let row = "com.acme.FooTest#adds(int)[1]";
        assert_eq!(id(suite, "com.acme.FooTest", "adds{int}[1]", None), row);
        assert_eq!(id(suite, "com.acme.FooTest", "adds(int)[1]", None), row);
        assert_eq!(id("x", "Acme.FooTests", "Acme.FooTests.Adds", None), "Acme.FooTests#Adds");
    }

    #[test]
    fn go_packages() {
        let package = "example.com/acme/web";
        assert_eq!(id(package, package, "TestA/b", None), "example.com/acme/web.TestA/b");
        assert_eq!(id(package, "", "TestA", None), "example.com/acme/web.TestA");
        assert_eq!(id("web", "web", "TestA", None), "web.TestA");
    }

    #[test]
    fn scripts_have_their_file_first() {
        let expected = "src/a.test.js::math > adds";
        assert_eq!(id("", "math", "adds", Some("src/a.test.js")), expected);
        assert_eq!(id("src/a.test.js", "src/a.test.js", "math > adds", None), expected);
        assert_eq!(id("math", "test", "adds", Some("src/a.test.js")), expected);
        let full = "src/a.test.js::math adds";
        assert_eq!(id("math", "adds", "math adds", Some("src/a.test.js")), full);
        assert_eq!(id("math", "math adds", "math adds", Some("src/a.test.js")), full);
        assert_eq!(id("math", "math adds", "math adds", None), "math adds");
        assert_eq!(id("math", "test", "adds", None), "math > adds");
        let ctrf = "a.test.js > math";
        assert_eq!(id(ctrf, ctrf, "math adds", Some("src/a.test.js")), full);
        let ruby = id("rspec", "spec.a_spec", "Sum adds", Some("./spec/a_spec.rb"));
        assert_eq!(ruby, "spec/a_spec.rb::Sum adds");
    }

    #[test]
    fn other_runners() {
        assert_eq!(id("s", r"App\FooTest", "testA", Some("/x/FooTest.php")), r"App\FooTest::testA");
        assert_eq!(id("Linux", "unit", "unit", None), "unit");
        assert_eq!(id("web", "web", "api::works", None), "web::api::works");
        assert_eq!(id("web::api", "web::api", "works", None), "web/tests/api::works");
        assert_eq!(id("//web:unit", "", "works", None), "//web:unit::works");
        assert_eq!(id("", "", "works", None), "works");
        assert_eq!(id("", "inner", "deep", None), "inner > deep");
    }

    #[test]
    fn rules_change_the_name_and_not_the_place() {
        let mut test = ReportedTest::named("test_x[0x7f3a2b1c0d10]");
        test.file = Some("t/0x7f3a2b1c0d10/test_a.py".into());
        let rules = IdRules::of_run("2026-11-15");
        let identity = Identity::assign(&test, Some(&rules), &mut Places::default());
        assert_eq!(identity.id.as_str(), "t/0x7f3a2b1c0d10/test_a.py::test_x[<address>]");
        let raw = identity.raw.map(|raw| raw.to_string());
        assert_eq!(raw.as_deref(), Some("t/0x7f3a2b1c0d10/test_a.py::test_x[0x7f3a2b1c0d10]"));
    }

    #[test]
    fn paths_of_other_machines_are_found_by_their_end() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.test.js"), "").unwrap();
        let workspace = PathBuf::from("/builds/ours");
        let mut places = Places::new(vec![folder.path().to_path_buf(), workspace]);
        assert_eq!(places.relative("/builds/acme/src/a.test.js"), "src/a.test.js");
        assert_eq!(places.relative("/builds/ours/b.js"), "b.js");
        assert_eq!(places.relative("./c.js"), "c.js");
        assert_eq!(places.relative("/elsewhere/d.js"), "/elsewhere/d.js");
    }
}
