//! What Surefire gave to a JVM that it started, and the module that it tells of.
//!
//! That is its class path and arguments, without those that are Surefire's own, and its test
//! classes. Up to 2.11 Surefire finds these inside its JVM, by patterns: here they are found in the
//! same way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::super::project::{Framework, Module, Sharing};
use super::super::selection::{Selection, is_like};
use super::properties;

/// Properties that the capture itself puts on Maven's command line, from where Surefire hands them
/// to the tests.
pub(super) const OWN_PROPERTIES: [(&str, &str); 5] = [
    ("maven.test.failure.ignore", "true"),
    ("failIfNoTests", "false"),
    ("surefire.failIfNoSpecifiedTests", "false"),
    ("jvm", ""),
    (GOAL_LOGGER, "info"),
];

/// What tells Maven's goals, by which a build is known to be plain, also where Maven shall be quiet.
pub(super) const GOAL_LOGGER: &str =
    "org.slf4j.simpleLogger.log.org.apache.maven.cli.event.ExecutionEventLogger";

/// One start of a JVM, as `fork.sh` wrote it down.
#[derive(Debug)]
pub(super) struct Record {
    /// When it happened.
    time: SystemTime,
    java: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    /// Surefire's own configuration.
    configuration: BTreeMap<String, String>,
    /// System properties of the tests.
    properties: BTreeMap<String, String>,
    /// The options that Surefire put into a file, for projects with a `module-info`.
    arguments_file: String,
}

/// All records in a folder, in the order in which they happened.
pub(super) fn read_all(folder: &Path) -> Vec<Record> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut records: Vec<Record> = entries.filter_map(|entry| read(&entry.path())).collect();
    records.sort_by_key(|record| record.time);
    records
}

fn read(record: &Path) -> Option<Record> {
    let time = std::fs::metadata(record.join("complete")).ok()?.modified().ok()?;
    let text = |name: &str| {
        let bytes = std::fs::read(record.join(name)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let words = |name| {
        let text = text(name).unwrap_or_default();
        text.split('\0').map(str::to_owned).collect::<Vec<_>>()
    };
    let mut arguments = words("arguments");
    arguments.pop();
    let pairs = words("environment").into_iter().filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    let mut found = Record {
        time,
        java: text("java")?.into(),
        folder: text("folder")?.trim_end_matches('\n').into(),
        arguments,
        environment: pairs.collect(),
        configuration: BTreeMap::new(),
        properties: BTreeMap::new(),
        arguments_file: String::new(),
    };
    read_files(&record.join("files"), &mut found)?;
    Some(found)
}

/// Read the files that its arguments name.
fn read_files(folder: &Path, found: &mut Record) -> Option<()> {
    for file in std::fs::read_dir(folder).ok()?.flatten() {
        let text = String::from_utf8_lossy(&std::fs::read(file.path()).ok()?).into_owned();
        let name = file.file_name().to_string_lossy().into_owned();
        match name {
            name if name.starts_with("surefireargs") => found.arguments_file = text,
            name if name.starts_with("surefire") => {
                let read = properties::parse(&text);
                match read.contains_key("providerConfiguration") {
                    true => found.configuration = read,
                    false => found.properties = read,
                }
            }
            _ => {}
        }
    }
    Some(())
}

impl Record {
    fn configured(&self, key: &str) -> &str {
        self.configuration.get(key).map_or("", String::as_str)
    }

    /// The values of `key0`, `key1` and so on.
    fn numbered(&self, key: &str) -> Vec<String> {
        let get = |at: usize| self.configuration.get(&format!("{key}{at}")).cloned();
        (0..).map_while(get).collect()
    }

    /// The module's folder below that of the command.
    pub(super) fn name(&self, root: &Path) -> String {
        let base = self.properties.get("basedir").map_or(&*self.folder, Path::new);
        let real = base.canonicalize().unwrap_or_else(|_| base.to_path_buf());
        let below = real.strip_prefix(root).map(Path::to_path_buf);
        let name =
            below.unwrap_or_else(|_| real.file_name().map(PathBuf::from).unwrap_or_default());
        name.to_string_lossy().into_owned()
    }

    /// Methods that were asked for in a way that is not understood here.
    pub(super) fn obscure_methods(&self) -> Vec<String> {
        let (_, obscure) = Selection::of_surefire(self.configured("requestedTest"));
        // Of classes alone, Surefire has made its choice already.
        obscure.into_iter().filter(|part| part.contains('#')).collect()
    }

    /// Why its tests cannot be run here, if so.
    pub(super) fn why_left_out(&self) -> Option<String> {
        if self.configured("reportsDirectory").ends_with("failsafe-reports") {
            let why = "integration tests of the Failsafe plugin need what the build sets up around \
                       them, and were left out";
            return Some(why.to_owned());
        }
        let suites = self.numbered("testSuiteXmlFiles");
        (!suites.is_empty()).then(|| {
            format!(
                "the TestNG suites in {} are not followed, and were left out",
                suites.join(", ")
            )
        })
    }

    /// The module that it tells of; `own` are our own variables.
    pub(super) fn module(
        &self,
        name: String,
        own: &BTreeMap<String, String>,
        java_home: &str,
    ) -> Module {
        let (selection, _) = Selection::of_surefire(self.configured("requestedTest"));
        let is_per_class = !self.configured("forkTestSet").is_empty();
        Module {
            name,
            folder: self.folder.clone(),
            java: self.java.clone(),
            options: self.options(),
            properties: self.system_properties(java_home),
            variables: self.variables(own, java_home),
            class_path: self.class_path(),
            framework: self.framework(),
            classes: self.classes(),
            groups: self.configured("groups").to_owned(),
            excluded_groups: self.configured("excludegroups").to_owned(),
            parameters: properties::parse(self.configured("configurationParameters")),
            selection,
            sharing: if is_per_class { Sharing::OneClass } else { Sharing::All },
        }
    }

    /// Options of the JVM: all that stands before what Surefire adds for itself.
    fn options(&self) -> Vec<String> {
        let mut options = Vec::new();
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "-jar" => break,
                "-cp" | "-classpath" | "--class-path" => drop(arguments.next()),
                main if main.starts_with("org.apache.maven.surefire.") => break,
                file if file.starts_with('@') && file.contains("surefireargs") => break,
                // A debugger that nobody attaches would be waited for.
                debug if debug.starts_with("-agentlib:jdwp") || debug.starts_with("-Xrunjdwp") => {}
                _ => options.push(argument.clone()),
            }
        }
        let wants_assertions = self.configured("enableAssertions") == "true";
        if wants_assertions && !options.iter().any(|option| option.starts_with("-ea")) {
            options.push("-ea".to_owned());
        }
        options
    }

    fn system_properties(&self, java_home: &str) -> BTreeMap<String, String> {
        let is_ours = |name: &str, value: &str| {
            OWN_PROPERTIES.iter().any(|(own, given)| {
                *own == name && (*given == value || value.starts_with(java_home))
            })
        };
        // The folder in which the JVM starts decides; set later, it would not count either.
        let kept = self
            .properties
            .iter()
            .filter(|(name, value)| *name != "user.dir" && !is_ours(name, value));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// What differs from our own variables, without what the capture put in.
    fn variables(
        &self,
        own: &BTreeMap<String, String>,
        java_home: &str,
    ) -> BTreeMap<String, Option<String>> {
        let mut variables: BTreeMap<String, Option<String>> = self
            .environment
            .iter()
            .filter(|(name, value)| own.get(*name) != Some(*value))
            .map(|(name, value)| (name.clone(), Some(value.clone())))
            .collect();
        let removed = own.keys().filter(|name| !self.environment.contains_key(*name));
        variables.extend(removed.map(|name| (name.clone(), None)));
        if self.environment.get("JAVA_HOME").is_some_and(|home| home.starts_with(java_home)) {
            let home = self.java.parent().and_then(Path::parent);
            let home = home.map(|home| home.to_string_lossy().into_owned());
            variables.insert("JAVA_HOME".to_owned(), home);
        }
        if let Some(Some(line)) = variables.get_mut("MAVEN_CMD_LINE_ARGS") {
            let words = line.split(' ').filter(|word| !is_ours(word, java_home));
            *line = words.collect::<Vec<_>>().join(" ");
        }
        variables
    }

    /// The class path of the tests, and what the provider adds of the frameworks behind it.
    fn class_path(&self) -> Vec<PathBuf> {
        let mut entries: Vec<PathBuf> = Vec::new();
        let of_provider = self.numbered("surefireClassPathUrl.");
        let of_provider = of_provider.into_iter().filter(|entry| !is_surefires_own(entry));
        let all = self.numbered("classPathUrl.").into_iter();
        for entry in all.chain(module_path(&self.arguments_file)).chain(of_provider) {
            let entry = PathBuf::from(entry);
            if !entries.contains(&entry) && !is_surefires_own(&entry.to_string_lossy()) {
                entries.push(entry);
            }
        }
        entries
    }

    fn framework(&self) -> Framework {
        let provider = self.configured("providerConfiguration");
        if provider.contains("testng") || self.has_only_testng() {
            Framework::Testng
        } else if provider.contains("junitplatform") {
            Framework::Platform
        } else {
            Framework::Junit4
        }
    }

    /// Whether TestNG is all that there is: from 3.6 on, Surefire runs it through the JUnit
    /// Platform, where the rows of a data provider have no names.
    fn has_only_testng(&self) -> bool {
        let entries = self.numbered("classPathUrl.");
        let has = |begin: &str| {
            let names = entries.iter().filter_map(|entry| entry.rsplit('/').next());
            names.into_iter().any(|name| name.starts_with(begin))
        };
        has("testng-") && !has("junit-")
    }

    /// The classes that Surefire found, in the order in which it runs them.
    fn classes(&self) -> Vec<String> {
        let mut classes = self.numbered("tc.");
        let alone = self.configured("forkTestSet");
        if classes.is_empty() && !alone.is_empty() {
            classes.push(alone.to_owned());
        }
        if classes.is_empty() {
            let folder = Path::new(self.configured("testClassesDirectory"));
            let excludes: Vec<String> = self.numbered("excludes").iter().map(as_written).collect();
            classes = classes_below(folder, &self.numbered("includes"), &excludes);
        }
        match self.configured("runOrder") {
            "alphabetical" => classes.sort(),
            "reversealphabetical" => {
                classes.sort();
                classes.reverse();
            }
            _ => {}
        }
        classes
    }
}

/// A pattern with the ending that Surefire leaves out where it means inner classes: `**/*$*`.
fn as_written(pattern: &String) -> String {
    let has_ending = pattern.ends_with(".java") || pattern.ends_with(".class");
    if has_ending { pattern.clone() } else { format!("{pattern}.java") }
}

/// Whether a word of Maven's command line is one that the capture adds.
fn is_ours(word: &str, java_home: &str) -> bool {
    OWN_PROPERTIES.iter().any(|(name, value)| {
        let begin = format!("-D{name}=");
        word.strip_prefix(&*begin)
            .is_some_and(|given| given == *value || given.starts_with(java_home))
    })
}

/// Whether a jar is part of Surefire rather than of the project or its test framework.
fn is_surefires_own(entry: &str) -> bool {
    entry.contains("/org/apache/maven/surefire/")
}

/// The entries of module path and class path in a file of options.
fn module_path(arguments: &str) -> Vec<String> {
    let mut lines = arguments.lines().map(|line| line.trim().trim_matches('"'));
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        if matches!(line, "--module-path" | "-p" | "--class-path" | "-cp" | "-classpath") {
            let value = lines.next().unwrap_or_default();
            entries.extend(value.split(':').filter(|it| !it.is_empty()).map(str::to_owned));
        }
    }
    entries
}

/// The classes below a folder that some pattern includes and none excludes, by name.
///
/// Patterns are Ant's over source files: `**/*Test.java`.
fn classes_below(root: &Path, includes: &[String], excludes: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(below) = path.strip_prefix(root) else { continue };
            let below = below.to_string_lossy();
            let Some(class) = below.strip_suffix(".class") else { continue };
            let is_any = |patterns: &[String]| patterns.iter().any(|it| matches(it, class));
            if is_any(includes) && !is_any(excludes) {
                found.push(class.replace('/', "."));
            }
        }
    }
    // Folders list their entries in any order; a run must find them in the same one again.
    found.sort();
    found
}

/// Whether a pattern names a class, given as a path without an ending.
fn matches(pattern: &str, class: &str) -> bool {
    let pattern = pattern.strip_suffix(".java").or_else(|| pattern.strip_suffix(".class"));
    let pattern: Vec<&str> = pattern.unwrap_or_default().split('/').collect();
    let path: Vec<&str> = class.split('/').collect();
    is_path_like(&pattern, &path)
}

/// Whether a path is like a pattern in which `**` stands for any number of folders.
fn is_path_like(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            (0..=path.len()).any(|skipped| is_path_like(rest, &path[skipped..]))
        }
        ([first, rest @ ..], [name, below @ ..]) => {
            is_like(first, name) && is_path_like(rest, below)
        }
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn record(configuration: &[(&str, &str)], arguments: &[&str]) -> Record {
        let pairs = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
        };
        Record {
            time: SystemTime::UNIX_EPOCH,
            java: "/jdk/bin/java".into(),
            folder: "/p/a".into(),
            arguments: arguments.iter().map(|&it| it.to_owned()).collect(),
            environment: pairs(&[("JAVA_HOME", "/fake"), ("HOME", "/h"), ("NEW", "1")]),
            configuration: pairs(configuration),
            properties: pairs(&[("basedir", "/p/a"), ("jvm", "/fake/bin/java"), ("x", "y")]),
            arguments_file: String::new(),
        }
    }

    fn module(record: &Record) -> Module {
        let own = BTreeMap::from([("HOME".into(), "/h".into()), ("OLD".into(), "1".into())]);
        record.module(record.name(Path::new("/p")), &own, "/fake")
    }

    #[test]
    fn what_the_capture_added_is_taken_away_again() {
        let module = module(&record(&[], &[]));
        assert_eq!(module.name, "a");
        assert_eq!(module.properties.keys().collect::<Vec<_>>(), ["basedir", "x"]);
        let variable = |name: &str| module.variables.get(name).cloned();
        assert_eq!(variable("JAVA_HOME"), Some(Some("/jdk".into())));
        assert_eq!(variable("NEW"), Some(Some("1".into())));
        assert_eq!(variable("OLD"), Some(None));
        assert_eq!(variable("HOME"), None);
    }

    #[test]
    fn options_are_what_stands_before_surefires_own_words() {
        let jar = ["-Xmx1g", "-Da=b c", "-jar", "/t/surefirebooter1.jar", "/t/surefire1tmp"];
        let with_jar = record(&[("enableAssertions", "true")], &jar);
        assert_eq!(module(&with_jar).options, ["-Xmx1g", "-Da=b c", "-ea"]);
        let path =
            ["-classpath", "/a:/b", "-Xmx1g", "org.apache.maven.surefire.booter.ForkedBooter"];
        assert_eq!(module(&record(&[], &path)).options, ["-Xmx1g"]);
    }

    #[test]
    fn frameworks_that_the_provider_brings_stand_behind_the_projects_own_jars() {
        let found = module(&record(
            &[
                (
                    "providerConfiguration",
                    "org.apache.maven.surefire.junitplatform.JUnitPlatformProvider",
                ),
                ("classPathUrl.0", "/p/a/target/test-classes"),
                ("classPathUrl.1", "/m/junit-jupiter-api.jar"),
                ("surefireClassPathUrl.0", "/m/org/apache/maven/surefire/surefire-api.jar"),
                ("surefireClassPathUrl.1", "/m/junit-platform-launcher.jar"),
                ("surefireClassPathUrl.2", "/m/junit-jupiter-api.jar"),
            ],
            &[],
        ));
        let names: Vec<_> = found.class_path.iter().map(|it| it.to_string_lossy()).collect();
        assert_eq!(
            names,
            [
                "/p/a/target/test-classes",
                "/m/junit-jupiter-api.jar",
                "/m/junit-platform-launcher.jar"
            ]
        );
        assert_eq!(found.framework, Framework::Platform);
    }

    #[test]
    fn testng_alone_is_run_by_itself() {
        let provider = "org.apache.maven.surefire.junitplatform.JUnitPlatformProvider";
        let with = |jars: [&str; 2]| {
            let paths = [("classPathUrl.0", jars[0]), ("classPathUrl.1", jars[1])];
            record(&[&[("providerConfiguration", provider)][..], &paths].concat(), &[]).framework()
        };
        assert_eq!(with(["/m/testng-7.5.1.jar", "/m/a.jar"]), Framework::Testng);
        assert_eq!(with(["/m/testng-7.5.1.jar", "/m/junit-4.13.jar"]), Framework::Platform);
    }

    #[test]
    fn the_module_path_of_a_project_with_modules_becomes_part_of_the_class_path() {
        let file = "--module-path\n\"/p/target/classes:/m/a.jar\"\n--class-path\n\"/m/b.jar\"\n";
        assert_eq!(module_path(file), ["/p/target/classes", "/m/a.jar", "/m/b.jar"]);
    }

    #[test]
    fn two_stars_are_any_folders_and_one_is_a_part_of_a_name() {
        for (pattern, class, is_like) in [
            ("**/*Test.java", "com/acme/FooTest", true),
            ("**/*Test.java", "FooTest", true),
            ("**/*Test.java", "com/acme/TestFoo", false),
            ("com/*/FooTest.java", "com/acme/FooTest", true),
            ("com/*/FooTest.java", "com/acme/deep/FooTest", false),
            ("**/*$*.class", "com/acme/FooTest$Inner", true),
        ] {
            assert_eq!(matches(pattern, class), is_like, "{pattern} {class}");
        }
    }

    #[test]
    fn classes_are_found_below_a_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("a/b")).expect("made");
        for name in ["a/ZTest.class", "a/b/ATest.class", "a/b/ATest$1.class", "a/Other.class"] {
            std::fs::write(folder.path().join(name), "").expect("written");
        }
        let patterns = |text: &str| vec![text.to_owned()];
        let excludes = ["**/*$*.java".to_owned()];
        let found = classes_below(folder.path(), &patterns("**/*Test.java"), &excludes);
        assert_eq!(found, ["a.ZTest", "a.b.ATest"]);
    }
}
