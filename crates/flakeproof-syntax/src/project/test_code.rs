//! Which functions are test code: written to test, not to be tested.

use crate::Language;
use crate::flow::{Role, Unit};

/// From which byte on a file is test code; nothing if it is none.
pub(super) fn begin(unit: &Unit) -> Option<u32> {
    let holds_tests = unit.functions.iter().any(|function| matches!(function.role, Role::Test(_)));
    if in_test_folder(&unit.path) {
        return Some(0);
    }
    if !holds_tests {
        return None;
    }
    if unit.language != Language::Rust {
        return Some(0);
    }
    // The unit tests of Rust stand in the file of what they test.
    let module = unit.text.find("#[cfg(test)]");
    let first = unit.functions.iter().filter(|f| matches!(f.role, Role::Test(_)));
    let first = first.map(|function| function.span.start).min();
    module.and_then(|at| u32::try_from(at).ok()).or(first)
}

/// Whether a file lies where tests do, or is named as they are.
fn in_test_folder(path: &str) -> bool {
    // `src/main/java/org/acme/test/` holds what others test with.
    if path.contains("src/main/") {
        return false;
    }
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let is_folder = folder.split('/').any(|part| {
        matches!(part, "test" | "tests" | "it" | "spec" | "specs" | "__tests__" | "testing")
            || matches!(part, "integrationTest" | "androidTest" | "testFixtures" | "e2e")
    });
    let stem = file.split('.').next().unwrap_or(file);
    is_folder
        || stem == "conftest"
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || file.contains(".test.")
        || file.contains(".spec.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_folders_and_names_are_known() {
        for path in [
            "core/src/test/java/a/Base.java",
            "tests/conftest.py",
            "pkg/orders_test.go",
            "src/__tests__/a.js",
            "src/a.spec.ts",
        ] {
            assert!(in_test_folder(path), "{path}");
        }
        for path in ["src/main/java/org/acme/test/Kit.java", "src/orders.py", "contest/a.go"] {
            assert!(!in_test_folder(path), "{path}");
        }
    }
}
