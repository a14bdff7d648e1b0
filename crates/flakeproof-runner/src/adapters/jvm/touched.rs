//! What a test in a fresh JVM depends on, from the log of the classes that it loaded.
//!
//! As in the thesis (section 3), at the granularity of classes: a class counts from the moment the
//! JVM loads it. Which files it opens, the system tells where it can be asked; what the build reads may
//! be in what the JVM loads, in another form.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use flakeproof_core::{BlindSpot, Dependencies};

use super::class_file::{self, ClassFile};
use crate::opens::Opens;

/// Endings of source files whose use is seen. Scala's compiler copies code in more ways than the
/// class files tell, so a change of its files is left undecided.
const FOLLOWED: [&str; 3] = [".java", ".kt", ".groovy"];

/// Classes that start other programs.
const STARTERS: [&str; 2] = ["java.lang.ProcessImpl", "java.lang.UNIXProcess"];

/// Classes that read compiled code without loading it, and what people call them.
const SCANNERS: [(&str, &str); 7] = [
    ("com.google.common.reflect.ClassPath", "Guava's ClassPath"),
    ("io.github.classgraph.ClassGraph", "ClassGraph"),
    ("org.jboss.jandex.Indexer", "Jandex"),
    ("org.objectweb.asm.ClassReader", "ASM"),
    ("org.reflections.Reflections", "Reflections"),
    (
        "org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider",
        "Spring's component scan",
    ),
    ("org.springframework.core.type.classreading.SimpleMetadataReader", "Spring"),
];

/// What is the same for all measurements of a module.
#[derive(Debug)]
pub(super) struct Compiled {
    folders: Vec<PathBuf>,
    root: PathBuf,
    /// Source files from which a compiler copies values or code into others.
    copied: BTreeSet<String>,
    /// Whether code of the project takes part in compiling it.
    has_processor: bool,
}

impl Compiled {
    /// Look through the compiled classes of a module's class path.
    pub(super) fn find(folders: Vec<PathBuf>, root: &Path, sources: &Sources) -> Self {
        let services = "META-INF/services/javax.annotation.processing.Processor";
        let has_processor = folders.iter().any(|folder| folder.join(services).is_file());
        let copied = folders.iter().flat_map(|folder| copied_below(folder, sources)).collect();
        Self { folders, root: root.to_path_buf(), copied, has_processor }
    }

    /// What a JVM depends on that wrote this log.
    pub(super) fn dependencies(&self, log: &str, sources: &Sources) -> Dependencies {
        let mut found = Dependencies {
            variables: BTreeSet::from(["*".to_owned()]),
            followed: FOLLOWED.map(str::to_owned).into(),
            copied: self.copied.clone(),
            ..Dependencies::default()
        };
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        let mut scanners: BTreeSet<&str> = BTreeSet::new();
        let mut starts_programs = false;
        for (class, place) in log.lines().filter_map(|line| line.split_once(" source: ")) {
            starts_programs |= STARTERS.contains(&class);
            let scanner = SCANNERS.iter().find(|(name, _)| *name == class);
            scanners.extend(scanner.map(|(_, name)| name));
            match self.written_in(class, place, sources) {
                Written::Elsewhere => {}
                Written::Here(files) => {
                    found.code.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
                }
                Written::Unknown => drop(unknown.insert(class.to_owned())),
            }
        }
        found.blind_spots.push(BlindSpot::Opens);
        if starts_programs {
            found.blind_spots.push(BlindSpot::Process { program: "unknown".into() });
        }
        if self.has_processor {
            scanners.insert("an annotation processor of the project");
        }
        let scanners = scanners.into_iter().map(str::to_owned);
        let unknown =
            unknown.into_iter().map(|class| format!("{class}, whose source is not found,"));
        let all = scanners.chain(unknown.take(1));
        found.blind_spots.extend(all.map(|scanner| BlindSpot::Scan { scanner }));
        found
    }

    /// The same with the files that the JVM opened, where it is known what the build read before.
    pub(super) fn with_opens(
        found: Dependencies,
        opens: Opens,
        read_by_build: BTreeSet<String>,
    ) -> Dependencies {
        let Opens { opened, listed, tellers, .. } = opens;
        let others = found.blind_spots.into_iter().filter(|spot| *spot != BlindSpot::Opens);
        let blind_spots = others.chain(tellers).chain([BlindSpot::Caches]).collect();
        Dependencies { opened, listed, prepared: read_by_build, blind_spots, ..found }
    }

    /// Where a class was written that was loaded from this place.
    fn written_in(&self, class: &str, place: &str, sources: &Sources) -> Written {
        let path = place.strip_prefix("file:").map(Path::new);
        if let Some((folder, compiled)) = class_in(class, &self.folders) {
            let files = sources.files_of_class(class, &compiled, folder);
            return if files.is_empty() { Written::Unknown } else { Written::Here(files) };
        }
        let Some(path) = path else { return Written::Elsewhere };
        if self.folders.iter().any(|folder| path.starts_with(folder)) {
            // Made while the program runs, in a folder of the project.
            return Written::Unknown;
        }
        match path.strip_prefix(&self.root) {
            Ok(below) if is_output(below) => self.written_in_jar(class, path, sources),
            _ => Written::Elsewhere,
        }
    }

    /// A jar that the build makes from another module.
    fn written_in_jar(&self, class: &str, jar: &Path, sources: &Sources) -> Written {
        let (package, name) = class.rsplit_once('.').unwrap_or(("", class));
        let top = name.split('$').next().unwrap_or(name);
        let endings = ["java", "kt", "groovy", "scala"].into_iter();
        let files: Vec<PathBuf> = endings
            .flat_map(|ending| sources.find(package, &format!("{top}.{ending}"), jar))
            .collect();
        if files.is_empty() { Written::Unknown } else { Written::Here(files) }
    }
}

/// Whether a path below the project's root is one that its build writes. Other jars are kept there
/// as they are, and when one of them changes, that is seen as a change of the build.
fn is_output(below: &Path) -> bool {
    below.components().any(|part| ["build", "target"].iter().any(|name| part.as_os_str() == *name))
}

enum Written {
    Here(Vec<PathBuf>),
    /// In the JDK or in a library.
    Elsewhere,
    /// In the project, but where is not known.
    Unknown,
}

/// The source files of classes from which values or code are copied.
fn copied_below(root: &Path, sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
                continue;
            }
            let is_class = path.extension().is_some_and(|ending| ending == "class");
            let bytes = if is_class { std::fs::read(&path).ok() } else { None };
            let Some(class) = bytes.and_then(|bytes| class_file::read_class_file(&bytes)) else {
                continue;
            };
            let Ok(below) = path.strip_prefix(root) else { continue };
            if class.is_copied {
                let name = below.with_extension("").to_string_lossy().replace('/', ".");
                let files = sources.files_of_class(&name, &class, root);
                found.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
            }
        }
    }
    found
}

/// Endings of the files that classes are compiled from.
const ENDINGS: [&str; 4] = ["java", "kt", "groovy", "scala"];

/// The source files of a project, by name.
#[derive(Debug, Default)]
pub(super) struct Sources {
    by_name: HashMap<String, Vec<PathBuf>>,
}

impl Sources {
    /// Find the source files below a folder; generated ones count.
    pub(super) fn below(root: &Path) -> Self {
        let mut sources = Self::default();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() && !name.starts_with('.') && name != "node_modules" {
                    folders.push(entry.path());
                } else if kind.is_file() && is_source(&name) {
                    sources.by_name.entry(name).or_default().push(entry.path());
                }
            }
        }
        for paths in sources.by_name.values_mut() {
            paths.sort();
        }
        sources
    }

    /// The files that a class may have been written in. More than one where it cannot be told.
    pub(super) fn files_of_class(
        &self,
        class: &str,
        compiled: &ClassFile,
        folder: &Path,
    ) -> Vec<PathBuf> {
        let Some(source) = &compiled.source else { return Vec::new() };
        let package = class.rsplit_once('.').map_or("", |(package, _)| package);
        self.find(package, source, folder)
    }

    /// The files of this name in a package, nearest to a folder.
    pub(super) fn find(&self, package: &str, name: &str, near: &Path) -> Vec<PathBuf> {
        let Some(all) = self.by_name.get(name) else { return Vec::new() };
        let end = Path::new(&package.replace('.', "/")).join(name);
        let mut found: Vec<&PathBuf> = all.iter().filter(|path| path.ends_with(&end)).collect();
        if found.is_empty() && !name.ends_with(".java") {
            // Only Java's compiler wants folders to be named after packages.
            found = all.iter().collect();
        }
        let common = |path: &Path| {
            path.components().zip(near.components()).take_while(|(one, other)| one == other).count()
        };
        let nearest = found.iter().map(|path| common(path)).max().unwrap_or_default();
        found.into_iter().filter(|path| common(path) == nearest).cloned().collect()
    }
}

fn is_source(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// The class file of a class in one of these folders, and the folder.
pub(super) fn class_in<'a>(
    class: &str,
    folders: impl IntoIterator<Item = &'a PathBuf>,
) -> Option<(&'a Path, ClassFile)> {
    let path = format!("{}.class", class.replace('.', "/"));
    folders.into_iter().find_map(|folder| {
        let bytes = std::fs::read(folder.join(&path)).ok()?;
        Some((folder.as_path(), class_file::read_class_file(&bytes).unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependencies(log: &str) -> Dependencies {
        let compiled = Compiled {
            folders: vec!["/p/target/classes".into()],
            root: "/p".into(),
            copied: BTreeSet::new(),
            has_processor: false,
        };
        compiled.dependencies(log, &Sources::default())
    }

    #[test]
    fn classes_of_the_jdk_and_of_libraries_are_nobodys_source() {
        let found = dependencies(
            "java.lang.Object source: shared objects file\n\
             java.util.Random source: jrt:/java.base\n\
             org.junit.Test source: file:/m2/junit-4.13.2.jar\n",
        );
        assert!(found.code.is_empty());
        assert_eq!(found.blind_spots, [BlindSpot::Opens]);
    }

    #[test]
    fn a_class_of_the_project_without_a_source_is_never_nothing() {
        for place in ["file:/p/target/classes/", "file:/p/a/target/own.jar"] {
            let found = dependencies(&format!("com.acme.Made source: {place}\n"));
            let [BlindSpot::Opens, BlindSpot::Scan { scanner }] = &found.blind_spots[..] else {
                panic!("{:?}", found.blind_spots);
            };
            assert!(scanner.contains("com.acme.Made"), "{scanner}");
        }
    }

    #[test]
    fn other_programs_and_scanners_are_blind_spots() {
        let found = dependencies(
            "java.lang.ProcessImpl source: jrt:/java.base\n\
             org.reflections.Reflections source: file:/m2/reflections.jar\n",
        );
        assert_eq!(found.blind_spots.len(), 3, "{:?}", found.blind_spots);
    }

    fn sources(files: &[&str]) -> (tempfile::TempDir, Sources) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("below the folder")).expect("made");
            std::fs::write(path, "").expect("written");
        }
        let sources = Sources::below(folder.path());
        (folder, sources)
    }

    fn found(files: &[&str], package: &str, name: &str, near: &str) -> Vec<String> {
        let (root, sources) = sources(files);
        let found = sources.find(package, name, &root.path().join(near));
        let below = found.iter().map(|path| path.strip_prefix(root.path()).expect("below"));
        below.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_nearest_file_of_the_package_is_the_source() {
        let files =
            ["a/src/main/java/x/Foo.java", "b/src/main/java/x/Foo.java", "a/src/y/Foo.java"];
        assert_eq!(found(&files, "x", "Foo.java", "b/target/classes"), [files[1]]);
        assert_eq!(found(&files, "y", "Foo.java", "b/target/classes"), [files[2]]);
        assert!(found(&files, "z", "Foo.java", "a/target/classes").is_empty());
    }

    #[test]
    fn kotlin_files_may_lie_anywhere_in_their_module() {
        let files = ["a/src/main/kotlin/Foo.kt", "b/src/main/kotlin/Foo.kt"];
        assert_eq!(found(&files, "com.acme", "Foo.kt", "a/build/classes"), [files[0]]);
    }
}
