//! Which tests belong together: where one is flaky, its neighbours are more likely to be.

use flakeproof_core::TestId;

use crate::source::source_tests::without_parameters;

/// The group of all tests.
const SUITE: &str = "suite";

/// The groups of a test, the outermost first: suite, folder, file, and class if it has one.
pub(super) fn of(test: &TestId) -> Vec<String> {
    let id = without_parameters(test.as_str());
    let (file, names) = id.split_once("::").unwrap_or((id, ""));
    let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
    let mut kin = vec![SUITE.to_owned(), format!("{folder}/"), file.to_owned()];
    kin.extend(names.rsplit_once("::").map(|(class, _)| format!("{file}::{class}")));
    kin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_stands_in_its_class_its_file_its_folder_and_the_suite() {
        let kin = of(&"tests/a/test_x.py::TestA::test_b[1::2]".into());
        let class = "tests/a/test_x.py::TestA";
        assert_eq!(kin, ["suite", "tests/a/", "tests/a/test_x.py", class]);
    }

    #[test]
    fn a_test_without_a_class_stands_in_its_file() {
        assert_eq!(of(&"test_x.py::test_b".into()), ["suite", "./", "test_x.py"]);
    }
}
