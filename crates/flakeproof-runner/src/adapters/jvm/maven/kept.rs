//! A build that need not be done again: nothing has changed that it reads or that it made.
//!
//! Maven takes seconds to find that out. Here it is known from the files alone, by what the system
//! tells of their last change, which nobody can set: all files of the project, the jars on the class path,
//! the settings and the POMs above; and by the content of what was built. That is enough only for goals that depend on nothing else, and
//! for dependencies that never change; in any doubt Maven builds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::super::JvmSession;
use super::super::project::{Built, Module};
use super::{modules_of, record};
use crate::adapters::Builds;
use crate::folders::cache_folder;
use crate::levers::Intervention;
use crate::shell::digest;
use crate::system::witness_of;

/// A build counts for so long: what the time of day decides in it is not seen.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Builds that nobody asked for in so long are forgotten.
const FORGOTTEN: Duration = Duration::from_secs(7 * 24 * 3600);
/// More files than this are not looked through.
const MOST_FILES: usize = 100_000;
/// Variables that say nothing of how a program works.
const VOLATILE: [&str; 4] = ["_", "OLDPWD", "PWD", "SHLVL"];
/// Words of a command with which Maven reads what is not looked at here.
const UNFIT_WORDS: [&str; 12] = [
    "-U",
    "--update-snapshots",
    "-f",
    "--file",
    "-s",
    "--settings",
    "-gs",
    "--global-settings",
    "-t",
    "--toolchains",
    "-gt",
    "--global-toolchains",
];
/// Folders of version control, and of our own.
const SKIPPED: [&str; 4] = [".flakeproof", ".git", ".hg", ".svn"];
/// Goals, by plugin, that read the project's files, its dependencies and nothing else.
const PLAIN_GOALS: [(&str, &[&str]); 14] = [
    ("animal-sniffer", &["check"]),
    ("build-helper", &["add-resource", "add-source", "add-test-resource", "add-test-source"]),
    ("bundle", &["manifest"]),
    ("checkstyle", &["check", "checkstyle"]),
    ("compiler", &["compile", "testCompile"]),
    ("enforcer", &["enforce"]),
    ("formatter", &["format", "validate"]),
    ("jar", &["jar", "test-jar"]),
    ("license", &["check", "update-file-header"]),
    ("plugin", &["descriptor"]),
    ("resources", &["resources", "testResources"]),
    ("source", &["jar", "jar-no-fork"]),
    ("surefire", &["test"]),
    ("toolchains", &["toolchain"]),
];

/// A build that is as it was left.
#[derive(Debug)]
pub(in super::super) struct KeptBuild {
    folder: PathBuf,
    fingerprint: String,
}

/// What is written down of a build.
#[derive(Debug, Serialize, Deserialize)]
struct Stamp {
    fingerprint: String,
    /// Where the program lay that stood in for `java`.
    home: String,
    volatile: BTreeMap<String, String>,
}

/// A build about to be done, as far as it may be kept.
#[derive(Debug)]
pub(super) struct Beginning {
    folder: PathBuf,
    inputs: String,
}

/// What the command built before, if it would do the same again.
pub(super) fn find(session: &JvmSession, own: &BTreeMap<String, String>) -> Option<Built> {
    let folder = place(session, own)?;
    let file = folder.join("stamp.json");
    let text = std::fs::read_to_string(&file).ok()?;
    let age = std::fs::metadata(&file).ok()?.modified().ok()?.elapsed().ok()?;
    let stamp: Stamp = serde_json::from_str(&text).ok().filter(|_| age < LONGEST)?;
    let then = own.clone().into_iter().chain(stamp.volatile).collect();
    let records = record::read_all(&folder.join("forks"));
    let mut built = modules_of(&records, &session.root, &then, &stamp.home);
    let found = fingerprint(&inputs(&session.root)?, &built.modules, &session.root)?;
    if built.modules.is_empty() || found != stamp.fingerprint {
        return None;
    }
    built.kept = Some(KeptBuild { folder, fingerprint: found });
    Some(built)
}

/// Look at what a build is going to read; `None` if it cannot be kept.
pub(super) fn begin(session: &JvmSession, own: &BTreeMap<String, String>) -> Option<Beginning> {
    Some(Beginning { folder: place(session, own)?, inputs: inputs(&session.root)? })
}

impl Beginning {
    /// Keep what was built, if the same command would do nothing but that again.
    pub(super) fn keep(
        self,
        session: &JvmSession,
        (captures, home): (&Path, &Path),
        own: &BTreeMap<String, String>,
        (built, output): (&Built, &str),
    ) -> Option<KeptBuild> {
        let is_plain = has_only_plain_goals(output) && built.left_out.is_empty();
        if !is_plain || built.modules.is_empty() || inputs(&session.root)? != self.inputs {
            return None;
        }
        let fingerprint = fingerprint(&self.inputs, &built.modules, &session.root)?;
        let is_volatile = |(name, _): &(&String, &String)| VOLATILE.contains(&name.as_str());
        let volatile = own.iter().filter(is_volatile).map(|(name, it)| (name.clone(), it.clone()));
        let stamp = Stamp {
            fingerprint: fingerprint.clone(),
            home: home.to_string_lossy().into_owned(),
            volatile: volatile.collect(),
        };
        write(&self.folder, captures, &serde_json::to_string(&stamp).ok()?).ok()?;
        forget_the_old(self.folder.parent()?);
        Some(KeptBuild { folder: self.folder, fingerprint })
    }
}

impl KeptBuild {
    /// What was kept beside this build under a key.
    pub(in super::super) fn recall(&self, key: &str) -> Option<String> {
        std::fs::read_to_string(self.beside(key)).ok()
    }

    /// Keep something beside this build. What cannot be kept is found out again.
    pub(in super::super) fn keep(&self, key: &str, text: &str) {
        let file = self.beside(key);
        let made = file.with_extension(std::process::id().to_string());
        if std::fs::write(&made, text).is_ok() {
            let _ = std::fs::rename(made, file);
        }
    }

    fn beside(&self, key: &str) -> PathBuf {
        self.folder
            .join(format!("{}.json", digest(format!("{}\0{key}", self.fingerprint).as_bytes())))
    }
}

/// Where the build of a command is kept; `None` if it must be done each time.
fn place(session: &JvmSession, own: &BTreeMap<String, String>) -> Option<PathBuf> {
    let command = &session.request.command;
    let is_unfit = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        UNFIT_WORDS.contains(&name)
    };
    if session.request.builds == Builds::New
        || session.request.in_force.now() != Intervention::Nothing
        || command.iter().any(is_unfit)
    {
        return None;
    }
    let mut words = vec![env!("CARGO_PKG_VERSION").to_owned()];
    words.push(session.root.to_string_lossy().into_owned());
    words.push(command.join("\0"));
    let steady = own.iter().filter(|(name, _)| !VOLATILE.contains(&name.as_str()));
    words.extend(steady.map(|(name, value)| format!("{name}={value}")));
    Some(cache_folder()?.join("flakeproof/builds").join(digest(words.join("\0").as_bytes())))
}

/// Whether Maven told the goals that it ran, and all of them are plain.
fn has_only_plain_goals(output: &str) -> bool {
    let goals = output.lines().filter_map(|line| {
        let rest = line.trim_start_matches("[INFO] ").strip_prefix("--- ")?;
        rest.ends_with("---").then(|| rest.split(' ').next().unwrap_or_default())
    });
    let mut has_tested = false;
    for goal in goals {
        let mut parts = goal.split(':');
        let plugin = parts.next().unwrap_or_default();
        let name = parts.next_back().unwrap_or_default();
        let plugin = plugin.strip_prefix("maven-").unwrap_or(plugin);
        let plugin = plugin.strip_suffix("-plugin").unwrap_or(plugin);
        let plugin = plugin.strip_suffix("-maven").unwrap_or(plugin);
        let known = PLAIN_GOALS.iter().find(|(known, _)| *known == plugin);
        if !known.is_some_and(|(_, names)| names.contains(&name)) {
            return false;
        }
        has_tested |= plugin == "surefire";
    }
    has_tested
}

/// What a build reads, as one word; `None` if that is not all known.
fn inputs(root: &Path) -> Option<String> {
    let mut seen = Seen::default();
    seen.sources_below(root)?;
    if parent_may_change(&std::fs::read_to_string(root.join("pom.xml")).ok()?) {
        return None;
    }
    for above in root.ancestors() {
        if above.join(".mvn/extensions.xml").exists() {
            return None;
        }
        seen.file(&above.join("pom.xml"));
        for name in ["maven.config", "jvm.config", "wrapper/maven-wrapper.properties"] {
            seen.file(&above.join(".mvn").join(name));
        }
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    for name in ["settings.xml", "settings-security.xml", "toolchains.xml"] {
        seen.file(&home.join(".m2").join(name));
    }
    seen.file(&home.join(".mavenrc"));
    Some(seen.word())
}

/// That, what was made of it, and what else lies on the class path, as one word.
fn fingerprint(inputs: &str, modules: &[Module], root: &Path) -> Option<String> {
    let mut seen = Seen::default();
    for module in modules {
        seen.file(&module.java.canonicalize().ok()?);
        for entry in &module.class_path {
            if entry.is_dir() {
                // What another build writes there is not known.
                entry.starts_with(root).then_some(())?;
                seen.all_below(entry)?;
                let beside = entry.parent().into_iter();
                let generated = ["generated-sources", "generated-test-sources"];
                for folder in beside.flat_map(|it| generated.map(|name| it.join(name))) {
                    seen.all_below(&folder)?;
                }
            } else {
                let may_change = entry.to_string_lossy().contains("-SNAPSHOT");
                (!may_change || entry.starts_with(root)).then_some(())?;
                seen.file(entry);
            }
        }
    }
    Some(digest(format!("{inputs} {}", seen.word()).as_bytes()))
}

/// Files, and how they were when they were looked at.
#[derive(Debug, Default)]
struct Seen {
    hasher: blake3::Hasher,
    files: usize,
}

impl Seen {
    fn word(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    /// One file, which need not be there.
    fn file(&mut self, path: &Path) {
        let witness = std::fs::metadata(path).ok().and_then(|it| witness_of(&it));
        self.take(path, &witness.unwrap_or_default());
    }

    fn take(&mut self, path: &Path, witness: &str) {
        self.files += 1;
        self.hasher.update(path.as_os_str().as_encoded_bytes()).update(b"\0");
        self.hasher.update(witness.as_bytes()).update(b"\n");
    }

    /// All files below a folder, but what builds make.
    fn sources_below(&mut self, folder: &Path) -> Option<()> {
        let is_module = folder.join("pom.xml").is_file();
        let entries = std::fs::read_dir(folder).ok()?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths {
            let name = path.file_name()?.to_str()?;
            let metadata = std::fs::symlink_metadata(&path).ok()?;
            if metadata.is_dir() {
                let is_made = is_module && name == "target";
                if !is_made && !SKIPPED.contains(&name) {
                    self.sources_below(&path)?;
                }
                continue;
            }
            if metadata.is_symlink() {
                // A folder elsewhere may hold anything.
                (!path.is_dir()).then_some(())?;
                self.file(&path);
            }
            self.take(&path, &witness_of(&metadata)?);
            if name == "pom.xml" && !is_plain(&std::fs::read_to_string(&path).ok()?) {
                return None;
            }
            (self.files <= MOST_FILES).then_some(())?;
        }
        Some(())
    }

    /// All files below a folder, which need not be there, by their content: a build may write anew what
    /// is there.
    fn all_below(&mut self, folder: &Path) -> Option<()> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            self.take(folder, "");
            return Some(());
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths {
            match path.is_dir() {
                true => self.all_below(&path)?,
                false => {
                    self.take(&path, blake3::hash(&std::fs::read(&path).ok()?).to_hex().as_str());
                }
            }
            (self.files <= MOST_FILES).then_some(())?;
        }
        Some(())
    }
}

/// Whether a POM names nothing outside of its project and no dependency that may be another one tomorrow.
fn is_plain(pom: &str) -> bool {
    pom.lines().map(str::trim).all(|line| {
        let is_parent = line.contains("<relativePath>");
        let is_range = ["<version>[", "<version>(", "<version>LATEST", "<version>RELEASE"]
            .iter()
            .any(|begin| line.contains(begin));
        let is_switch = ["<exists>", "<missing>"].iter().any(|tag| {
            line.split(tag).nth(1).is_some_and(|path| {
                path.starts_with('/') || path.contains("${user.") || path.contains("${env.")
            })
        });
        let is_outside = line.contains("../") && !is_parent || line.contains("<systemPath>");
        !(is_range || is_switch || is_outside)
    })
}

/// Whether the parent of a POM is one that may be another one tomorrow.
fn parent_may_change(pom: &str) -> bool {
    let parent = pom.split("<parent>").nth(1).and_then(|rest| rest.split("</parent>").next());
    parent.is_some_and(|parent| parent.contains("-SNAPSHOT"))
}

/// Write beside the final place and rename, so that two runs at once never see half of it.
fn write(folder: &Path, captures: &Path, stamp: &str) -> std::io::Result<()> {
    let parent = folder.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent)?;
    let beside = tempfile::tempdir_in(parent)?;
    let made = beside.path().join("made");
    copy(captures, &made.join("forks"))?;
    std::fs::write(made.join("stamp.json"), stamp)?;
    if folder.exists() {
        std::fs::remove_dir_all(folder)?;
    }
    std::fs::rename(made, folder)
}

/// Copy a folder with the times of its files: records are in the order of theirs.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&path, &copied)?;
        } else {
            std::fs::copy(&path, &copied)?;
            let file = std::fs::File::options().append(true).open(&copied)?;
            file.set_modified(entry.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

fn forget_the_old(all: &Path) {
    let is_old = |path: &Path| {
        let stamp = std::fs::metadata(path.join("stamp.json")).and_then(|it| it.modified());
        stamp
            .is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|it| it > FORGOTTEN))
    };
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        if is_old(&entry.path()) {
            // Somebody else may be faster.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOALS: &str =
        "[INFO] --- maven-resources-plugin:2.6:resources (default-resources) @ a ---
[INFO] --- compiler:3.13.0:testCompile (default-testCompile) @ a ---
[INFO] --- maven-surefire-plugin:2.22.0:test (default-test) @ a ---";

    #[test]
    fn only_builds_of_known_goals_are_kept() {
        assert!(has_only_plain_goals(GOALS));
        assert!(!has_only_plain_goals(""));
        let script = "[INFO] --- maven-antrun-plugin:1.8:run (x) @ a ---";
        assert!(!has_only_plain_goals(&format!("{script}\n{GOALS}")));
        let clean = "[INFO] --- clean:3.2.0:clean (default-clean) @ a ---";
        assert!(!has_only_plain_goals(&format!("{clean}\n{GOALS}")));
    }

    #[test]
    fn a_pom_that_looks_outside_or_may_mean_another_version_tomorrow_is_built_again() {
        assert!(is_plain("<version>1.0</version>\n<relativePath>../pom.xml</relativePath>"));
        assert!(!is_plain("<directory>../shared</directory>"));
        assert!(!is_plain("<version>[1.0,)</version>"));
        assert!(!is_plain("<exists>${user.home}/.here</exists>"));
        assert!(parent_may_change("<parent><version>1-SNAPSHOT</version></parent>"));
        assert!(!parent_may_change("<version>1-SNAPSHOT</version>"));
    }

    #[test]
    fn a_file_that_is_written_again_with_its_old_time_is_seen() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(&path, text).expect("written");
            path
        };
        write("pom.xml", "<project/>");
        let source = write("src/A.java", "class A {}");
        write("target/classes/A.class", "1");
        let before = inputs(folder.path());
        assert!(before.is_some());
        write("target/classes/A.class", "2");
        assert_eq!(inputs(folder.path()), before);
        let time = std::fs::metadata(&source).and_then(|it| it.modified()).expect("a time");
        write("src/A.java", "class B {}");
        let file = std::fs::File::options().append(true).open(&source).expect("opened");
        file.set_modified(time).expect("set");
        assert_ne!(inputs(folder.path()), before);
    }
}
