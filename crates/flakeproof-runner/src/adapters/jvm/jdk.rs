//! The Java that runs the tests, and what it can do.

use std::path::{Path, PathBuf};

use crate::adapter::{Blame, Error, Result};

/// A Java installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jdk {
    home: PathBuf,
    /// As it is written in its release file: `17.0.15`, `1.8.0_392`.
    pub(super) version: String,
    /// 8, 11, 17, …
    pub(super) feature: u32,
}

impl Jdk {
    /// The installation that a `java` program belongs to.
    pub(super) fn of(java: &Path) -> Self {
        let real = java.canonicalize().unwrap_or_else(|_| java.to_path_buf());
        let mut home = real.parent().and_then(Path::parent).unwrap_or(Path::new("/")).to_path_buf();
        // Up to Java 8 a JDK holds its own runtime in a folder `jre`.
        if !home.join("bin/javac").is_file()
            && let Some(above) = home.parent().filter(|above| above.join("bin/javac").is_file())
        {
            home = above.to_path_buf();
        }
        let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
        let version = version_in(&release);
        Self { feature: feature_of(&version), version, home }
    }

    /// Its compiler.
    pub(super) fn javac(&self) -> Result<PathBuf> {
        let javac = self.home.join("bin/javac");
        if javac.is_file() {
            return Ok(javac);
        }
        Err(Error::Explained {
            blame: Blame::Usage,
            what: format!("there is no Java compiler in {}", self.home.display()),
            next: "run the build on a JDK, not on a runtime alone: install one and point \
                   JAVA_HOME to it"
                .into(),
            details: String::new(),
        })
    }

    /// What makes jars, if it is there.
    pub(super) fn jar_tool(&self) -> Option<PathBuf> {
        Some(self.home.join("bin/jar")).filter(|tool| tool.is_file())
    }

    /// Whether what classes are loaded can be written to a file.
    pub(super) fn can_log_classes(&self) -> bool {
        self.feature >= 9
    }

    /// Whether an archive of loaded classes can be made.
    pub(super) fn can_archive_classes(&self) -> bool {
        self.feature >= 11
    }

    /// Whether long command lines can be given in a file.
    pub(super) fn can_read_arguments(&self) -> bool {
        self.feature >= 9
    }
}

fn version_in(release: &str) -> String {
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="));
    line.map_or_else(|| "1.8".into(), |value| value.trim().trim_matches('"').to_owned())
}

fn feature_of(version: &str) -> u32 {
    let mut parts = version.split(['.', '-', '+', '_']);
    let first = parts.next().and_then(|part| part.parse().ok());
    match first {
        // Up to 8 the version began with a one.
        Some(1) => parts.next().and_then(|part| part.parse().ok()).unwrap_or(8),
        Some(feature) => feature,
        None => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_all_ages_are_understood() {
        for (version, feature) in
            [("1.8.0_392", 8), ("9", 9), ("17.0.15", 17), ("25-ea", 25), ("21.0.2+13", 21)]
        {
            assert_eq!(feature_of(version), feature, "{version}");
        }
        assert_eq!(version_in("A=\"b\"\nJAVA_VERSION=\"17.0.15\"\n"), "17.0.15");
    }
}
