//! From compiled classes back to the files they were written in.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::class_file::{self, ClassFile};

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
    pub(super) fn of(&self, class: &str, compiled: &ClassFile, folder: &Path) -> Vec<PathBuf> {
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
        Some((folder.as_path(), class_file::read(&bytes).unwrap_or_default()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
