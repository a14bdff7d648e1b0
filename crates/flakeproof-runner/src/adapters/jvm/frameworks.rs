//! The test frameworks on a class path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::jar;

/// The parts of the worker that need a framework, and the class by which it is known to be there.
const UNITS: [(&str, &str); 6] = [
    ("dynamic56", "org/junit/jupiter/api/extension/InvocationInterceptor.class"),
    ("dynamic58", "org/junit/jupiter/api/extension/DynamicTestInvocationContext.class"),
    ("junit4", "org/junit/runner/Request.class"),
    ("jupiter", "org/junit/jupiter/api/extension/ExecutionCondition.class"),
    ("platform", "org/junit/platform/launcher/Launcher.class"),
    ("testng", "org/testng/TestNG.class"),
];

/// Packages of the frameworks and of what their own classes need.
const PACKAGES: [&str; 8] = [
    "junit/",
    "org/apiguardian/",
    "org/hamcrest/",
    "org/jspecify/",
    "org/junit/",
    "org/opentest4j/",
    "org/testng/",
    "com/beust/jcommander/",
];

/// What of the frameworks is on a class path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frameworks {
    /// Parts of the worker that can be compiled.
    pub(super) units: BTreeSet<&'static str>,
    /// All entries with something of a framework in them.
    pub(super) jars: Vec<PathBuf>,
    /// Jars with nothing else in them that can stand in front of the class path: nothing before
    /// them there has classes of their packages.
    pub(super) movable: Vec<PathBuf>,
}

impl Frameworks {
    /// Look through a class path.
    pub(super) fn on(class_path: &[PathBuf]) -> Self {
        let mut found = Self { units: BTreeSet::new(), jars: Vec::new(), movable: Vec::new() };
        let mut is_mixed_before = false;
        for entry in class_path {
            let content = Content::of(entry);
            found.units.extend(&content.units);
            if !content.has_framework {
                continue;
            }
            found.jars.push(entry.clone());
            if content.is_pure && !is_mixed_before {
                found.movable.push(entry.clone());
            }
            is_mixed_before |= !content.is_pure;
        }
        if !found.units.contains("platform") {
            // They are for the launcher of the platform.
            for unit in ["jupiter", "dynamic56", "dynamic58"] {
                found.units.remove(unit);
            }
        }
        if found.units.contains("dynamic58") {
            found.units.remove("dynamic56");
        }
        found
    }
}

/// What an entry of a class path holds.
struct Content {
    units: Vec<&'static str>,
    has_framework: bool,
    /// Whether every class is a framework's.
    is_pure: bool,
}

impl Content {
    fn of(entry: &Path) -> Self {
        if entry.is_dir() {
            let has = |below: &str| entry.join(below).exists();
            let units = UNITS.into_iter().filter(|(_, class)| has(class)).map(|(unit, _)| unit);
            return Self {
                units: units.collect(),
                has_framework: PACKAGES.into_iter().any(has),
                is_pure: false,
            };
        }
        let names = jar::names(entry);
        let classes = || names.iter().filter(|name| is_class(name));
        let is_framework = |name: &&String| PACKAGES.iter().any(|it| name.starts_with(it));
        let has = |class: &str| names.iter().any(|name| name == class);
        Self {
            units: UNITS
                .into_iter()
                .filter(|(_, class)| has(class))
                .map(|(unit, _)| unit)
                .collect(),
            has_framework: classes().any(|name| is_framework(&name)),
            is_pure: classes().all(|name| is_framework(&name)),
        }
    }
}

/// Whether a file of a jar is a class that programs see by its name.
fn is_class(name: &str) -> bool {
    name.ends_with(".class") && !name.starts_with("META-INF/") && name != "module-info.class"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_with_classes_of_its_own_in_the_frameworks_packages_keeps_its_order() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir_all(folder.path().join("org/junit")).expect("made");
        let found = Frameworks::on(&[folder.path().to_path_buf(), "/nowhere/junit.jar".into()]);
        assert_eq!(found.jars, [folder.path()]);
        assert!(found.movable.is_empty());
    }

    #[test]
    fn module_descriptions_and_versions_for_newer_javas_belong_to_nobody() {
        assert!(is_class("org/junit/Test.class"));
        assert!(!is_class("META-INF/versions/9/module-info.class"));
        assert!(!is_class("module-info.class"));
        assert!(!is_class("META-INF/LICENSE.md"));
    }
}
