//! Finding test classes by patterns, as Surefire up to 2.11 does inside its JVM.

use std::path::Path;

/// The classes below a folder that some pattern includes and none excludes, by name.
///
/// Patterns are Ant's over source files: `**/*Test.java`.
pub(super) fn classes_below(root: &Path, includes: &[String], excludes: &[String]) -> Vec<String> {
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
            super::super::selection::is_like(first, name) && is_path_like(rest, below)
        }
        ([], [_, ..]) | ([_, ..], []) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
