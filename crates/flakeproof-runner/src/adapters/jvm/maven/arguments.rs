//! What Surefire puts into the class path and the arguments of its JVM.

/// Whether a jar is part of Surefire rather than of the project or its test framework.
pub(super) fn is_surefires_own(entry: &str) -> bool {
    entry.contains("/org/apache/maven/surefire/")
}

/// The entries of module path and class path in a file of options.
pub(super) fn module_path(arguments: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_path_of_a_project_with_modules_becomes_part_of_the_class_path() {
        let file = "--module-path\n\"/p/target/classes:/m/a.jar\"\n--class-path\n\"/m/b.jar\"\n";
        assert_eq!(module_path(file), ["/p/target/classes", "/m/a.jar", "/m/b.jar"]);
    }
}
