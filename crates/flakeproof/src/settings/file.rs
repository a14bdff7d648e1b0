//! The configuration file: where it is and what it says, in layers where everything may be missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flakeproof_runner::adapters::command::Profiles;
use serde::Deserialize;

use super::store::StoreName;
use super::strategy::StrategyName;
use super::values::{
    Dependencies, FlakyResult, HumanDuration, Isolate, Limit, OrderName, Pattern, Polluters,
    Reporter, Share,
};
use crate::problem::Problem;

/// What makes a folder the root of a project, besides a configuration of ours.
const PROJECT_FILES: [&str; 13] = [
    ".git",
    "pyproject.toml",
    "pytest.ini",
    "setup.cfg",
    "setup.py",
    "tox.ini",
    "settings.gradle",
    "settings.gradle.kts",
    "mvnw",
    "Cargo.lock",
    "go.mod",
    "package.json",
    "composer.json",
];

/// A configuration file that was read, or the knowledge that there is none.
#[derive(Debug)]
pub(crate) struct ConfigurationFile {
    /// The project's folder: the file's, or the nearest that looks like one.
    pub(crate) project: PathBuf,
    path: Option<PathBuf>,
    settings: RawSettings,
    profiles: BTreeMap<String, RawSettings>,
    runners: Profiles,
    predict: PredictTable,
}

/// Which rules `predict` and `explain` follow: `[predict]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct PredictTable {
    /// Only these.
    #[serde(default)]
    pub(crate) select: Vec<String>,
    /// None of these.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
}

/// A file that belongs to many tools.
#[derive(Debug, Deserialize)]
struct SharedFile {
    tool: Option<Tools>,
}

#[derive(Debug, Deserialize)]
struct Tools {
    flakeproof: Option<FileSettings>,
}

impl ConfigurationFile {
    /// Read the named file, or look for one from this folder upwards.
    pub(crate) fn find(named: Option<&Path>, folder: &Path) -> Result<Self, Problem> {
        if let Some(path) = named {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Problem::usage(
                    format!("the configuration file {} cannot be read: {error}", path.display()),
                    "check the path after `--config`",
                )
            })?;
            return Self::parse(path, folder.to_path_buf(), &text);
        }
        for candidate in folder.ancestors() {
            for name in ["flakeproof.toml", ".config/flakeproof.toml", "pyproject.toml"] {
                let path = candidate.join(name);
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                if name != "pyproject.toml" || text.contains("[tool.flakeproof") {
                    return Self::parse(&path, candidate.to_path_buf(), &text);
                }
            }
            // A project that says nothing is not configured by what lies above it.
            if PROJECT_FILES.iter().any(|name| candidate.join(name).exists()) {
                return Ok(Self::absent(candidate));
            }
        }
        Ok(Self::absent(folder))
    }

    fn absent(project: &Path) -> Self {
        Self {
            project: project.to_path_buf(),
            path: None,
            settings: RawSettings::default(),
            profiles: BTreeMap::new(),
            runners: Profiles::new(),
            predict: PredictTable::default(),
        }
    }

    fn parse(path: &Path, project: PathBuf, text: &str) -> Result<Self, Problem> {
        let is_shared = path.file_name().is_some_and(|name| name == "pyproject.toml");
        let parsed = if is_shared {
            toml::from_str::<SharedFile>(text)
                .map(|file| file.tool.and_then(|tools| tools.flakeproof).unwrap_or_default())
        } else {
            toml::from_str::<FileSettings>(text)
        };
        let (settings, profiles, runners, predict) =
            parsed.map(FileSettings::into_layers).map_err(|error| {
                Problem::usage(
                format!("the configuration file {} is not valid", path.display()),
                "mend the marked line, or see `flakeproof run --help` for the names of all options",
            )
            .with_details(error.to_string())
            })?;
        Ok(Self { project, path: Some(path.to_path_buf()), settings, profiles, runners, predict })
    }

    /// The file's layer, with a profile over it.
    pub(crate) fn layer(&self, profile: Option<&str>) -> Result<RawSettings, Problem> {
        let Some(name) = profile else { return Ok(self.settings.clone()) };
        match self.profiles.get(name) {
            Some(profile) => Ok(profile.clone().over(self.settings.clone())),
            None => {
                let place = self.path.as_ref().map_or_else(
                    || "there is no configuration file".to_owned(),
                    |path| format!("{} has {}", path.display(), self.profiles()),
                );
                Err(Problem::usage(
                    format!("there is no profile `{name}`: {place}"),
                    format!("add a table [profile.{name}], or leave out `--profile`"),
                ))
            }
        }
    }

    /// Where it is, if there is one.
    pub(crate) fn place(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The runners that the file describes.
    pub(crate) fn runners(&self) -> Profiles {
        self.runners.clone()
    }

    /// What the file says about rules.
    pub(crate) fn predict(&self) -> &PredictTable {
        &self.predict
    }

    fn profiles(&self) -> String {
        match self.profiles.len() {
            0 => "no profile".to_owned(),
            _ => self.profiles.keys().cloned().collect::<Vec<_>>().join(", "),
        }
    }
}

/// The base layer, the profiles over it, and the runners of a file.
type Layers = (RawSettings, BTreeMap<String, RawSettings>, Profiles, PredictTable);

macro_rules! layer {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// One layer of settings: the command line, a profile, or the file itself.
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        pub(crate) struct RawSettings {
            $($(#[$doc])* pub(crate) $name: Option<$kind>,)*
        }

        /// A whole configuration file: the base layer, and profiles that lie over it.
        ///
        /// Spelled out instead of flattened, because flattening loses unknown keys' places.
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(rename_all = "kebab-case", deny_unknown_fields)]
        struct FileSettings {
            #[serde(default)]
            profile: BTreeMap<String, RawSettings>,
            #[serde(default)]
            runner: Profiles,
            #[serde(default)]
            predict: PredictTable,
            $($(#[$doc])* $name: Option<$kind>,)*
        }

        impl FileSettings {
            /// The base layer, the profiles, and the runners that are described.
            fn into_layers(self) -> Layers {
                (RawSettings { $($name: self.$name,)* }, self.profile, self.runner, self.predict)
            }
        }

        impl RawSettings {
            /// This layer, with gaps filled from the one below.
            pub(crate) fn over(self, below: Self) -> Self {
                Self { $($name: self.$name.or(below.$name),)* }
            }
        }
    };
}

layer! {
    retries: u32,
    postponed: u32,
    fresh: u32,
    threshold: Limit,
    max_tests_to_retry: Limit,
    dependencies: Dependencies,
    isolation: Isolate,
    only_rerun: Vec<Pattern>,
    rerun_except: Vec<Pattern>,
    rerun_delay: HumanDuration,
    base: String,
    adapter: String,
    timeout: HumanDuration,
    jobs: u32,
    flaky_result: FlakyResult,
    new_flaky_result: FlakyResult,
    unrelated_result: FlakyResult,
    evidence_budget: HumanDuration,
    compare_base: String,
    reporter: Vec<Reporter>,
    store: StoreName,
    show_runner: bool,
    hunt_runs: u32,
    orders: u32,
    order_kind: Vec<OrderName>,
    max_reruns: u32,
    recheck: Share,
    polluters: Polluters,
    budget: HumanDuration,
    steer: StrategyName,
    lower: f64,
    upper: f64,
    hidden: Share,
}

/// What was typed, if anything was.
pub(crate) fn if_any<T: Clone>(values: &[T]) -> Option<Vec<T>> {
    (!values.is_empty()).then(|| values.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_in(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_mistake_is_shown_with_line_and_column() {
        let folder = tempfile::tempdir().unwrap();
        file_in(folder.path(), "flakeproof.toml", "retries = 2\nthreshold = \"lots\"\n");
        let problem = ConfigurationFile::find(None, folder.path()).unwrap_err();
        assert!(problem.details.contains("line 2, column 13"), "{}", problem.details);
        assert!(problem.details.contains("`lots` is neither"), "{}", problem.details);
    }

    #[test]
    fn an_unknown_key_is_a_mistake_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        file_in(
            folder.path(),
            "pyproject.toml",
            "[tool.other]\na = 1\n[tool.flakeproof]\nretry = 2\n",
        );
        let problem = ConfigurationFile::find(None, folder.path()).unwrap_err();
        assert!(problem.details.contains("line 4, column 1"), "{}", problem.details);
    }

    #[test]
    fn a_profile_lies_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let text = "retries = 2\nfresh = 3\n[profile.ci]\nretries = 5\n";
        file_in(folder.path(), ".config/flakeproof.toml", text);
        let below = folder.path().join("tests/unit");
        std::fs::create_dir_all(&below).unwrap();
        let file = ConfigurationFile::find(None, &below).unwrap();
        assert_eq!(file.project, folder.path());
        let layer = file.layer(Some("ci")).unwrap();
        assert_eq!((layer.retries, layer.fresh), (Some(5), Some(3)));
        assert!(file.layer(Some("nightly")).unwrap_err().what.contains("ci"));
    }

    #[test]
    fn a_runner_is_described_in_a_table_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "[runner.make]\nrun = \"make check T={tests}\"\nresult = \"tap\"\norder = true\n";
        file_in(folder.path(), "flakeproof.toml", text);
        let runners = ConfigurationFile::find(None, folder.path()).unwrap().runners();
        assert!(runners["make"].order && !runners["make"].one_process);
        file_in(folder.path(), "flakeproof.toml", "[runner.make]\nrunn = \"make\"\n");
        let problem = ConfigurationFile::find(None, folder.path()).unwrap_err();
        assert!(problem.details.contains("line 2"), "{}", problem.details);
    }

    #[test]
    fn a_project_is_not_configured_by_a_file_above_it() {
        let folder = tempfile::tempdir().unwrap();
        file_in(folder.path(), "flakeproof.toml", "retries = 9");
        file_in(folder.path(), "inner/pytest.ini", "");
        let inner = folder.path().join("inner");
        let file = ConfigurationFile::find(None, &inner).unwrap();
        assert_eq!((file.project.clone(), file.layer(None).unwrap().retries), (inner, None));
    }
}
