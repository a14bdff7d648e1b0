//! How the tests of one part of a project are run: what the build tool tells, once.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::selection::Selection;

/// The tests that a build tool would run in one kind of JVM, and that JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Module {
    /// Its folder below that of the command; empty for the project itself.
    pub(super) name: String,
    /// Where its JVM runs.
    pub(super) folder: PathBuf,
    /// The program that runs it.
    pub(super) java: PathBuf,
    /// Options of the JVM.
    pub(super) options: Vec<String>,
    /// System properties.
    pub(super) properties: BTreeMap<String, String>,
    /// Variables on top of our own; `None` removes one.
    pub(super) variables: BTreeMap<String, Option<String>>,
    /// Folders and jars with classes, in order.
    pub(super) class_path: Vec<PathBuf>,
    /// What runs the tests.
    pub(super) framework: Framework,
    /// Classes that may hold tests, in the build tool's order.
    pub(super) classes: Vec<String>,
    /// Tags, categories or groups to run; empty for all.
    pub(super) groups: String,
    /// Those not to run.
    pub(super) excluded_groups: String,
    /// Parameters of the framework.
    pub(super) parameters: BTreeMap<String, String>,
    /// The methods that were asked for.
    pub(super) selection: Selection,
    /// How many classes share a JVM.
    pub(super) sharing: Sharing,
}

/// What runs the tests of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framework {
    /// The JUnit Platform with its engines: Jupiter, Vintage and others.
    Platform,
    /// JUnit 4, and JUnit 3 through it.
    Junit4,
    /// TestNG.
    Testng,
}

/// How many classes share a JVM in the suite's own run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    /// All of a module.
    All,
    /// Each has one of its own.
    OneClass,
}

impl Module {
    /// What the worker is told about its suite.
    pub(super) fn settings(&self) -> serde_json::Value {
        json!({
            "framework": self.framework.word(),
            "classes": self.classes,
            "groups": self.groups,
            "excluded_groups": self.excluded_groups,
            "parameters": self.parameters,
            "methods": [],
            "attempt_property": "flakeproof.attempt",
        })
    }

    /// The folders of the class path: there lies what the project itself compiles.
    pub(super) fn class_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.class_path.iter().filter(|entry| entry.is_dir())
    }
}

impl Framework {
    /// The framework as the worker knows it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Junit4 => "junit4",
            Self::Testng => "testng",
        }
    }
}
