//! What a class of tests sets up once, set up anew for each test.

use tree_sitter::Node;

use super::addition::Addition;
use super::file::{PythonFile, TestFunction};
use crate::edit::{line_start, next_line};

/// What runs once for a class, and what runs for each test.
const PAIRS: [(&str, &str); 4] = [
    ("setUpClass", "setUp"),
    ("tearDownClass", "tearDown"),
    ("setup_class", "setup_method"),
    ("teardown_class", "teardown_method"),
];

/// The set-up of a test's class, and its teardown, for each test instead of once. None where the class has
/// none, or one for each test already.
pub(super) fn per_test(file: &PythonFile, test: &TestFunction) -> Option<Addition> {
    let class = file.class_of(test)?;
    let body = class.child_by_field_name("body")?;
    let mut written = Addition {
        idea: Some("make what the class sets up anew for each test".to_owned()),
        ..Addition::default()
    };
    for (all, each) in PAIRS {
        let Some((outer, function)) = file.definition(body, "function_definition", all) else {
            continue;
        };
        if file.definition(body, "function_definition", each).is_some() {
            return None;
        }
        let of_class = first_parameter(file, function)?;
        if outer.kind() == "decorated_definition" {
            let mut cursor = outer.walk();
            let decorator = outer.named_children(&mut cursor).find(|it| {
                it.kind() == "decorator" && file.text_of(*it).trim() == "@classmethod"
            })?;
            let start = line_start(&file.text, decorator.start_byte());
            let line = start..next_line(&file.text, decorator.end_byte());
            written.replaced.push((line, String::new()));
        }
        let mut waiting = vec![function];
        while let Some(node) = waiting.pop() {
            if node.kind() == "identifier" {
                let text = file.text_of(node);
                if text == of_class {
                    written.replaced.push((node.byte_range(), "self".to_owned()));
                } else if text == all {
                    written.replaced.push((node.byte_range(), each.to_owned()));
                }
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
    }
    (!written.replaced.is_empty()).then_some(written)
}

fn first_parameter<'f>(file: &'f PythonFile, function: Node<'_>) -> Option<&'f str> {
    let parameters = function.child_by_field_name("parameters")?;
    let first = parameters.named_child(0).filter(|it| it.kind() == "identifier")?;
    Some(file.text_of(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_made_for_each_test() {
        let text = "class TestA:\n    FILES = []\n\n    @classmethod\n    def setup_class(cls):\n        \
                    cls.dir = make(cls.FILES)\n\n    @classmethod\n    def teardown_class(cls):\n        \
                    clear(cls.dir)\n\n    def test_a(self):\n        assert self.dir\n";
        let file = PythonFile::parse("t.py", text).unwrap();
        let test = file.test(&"t.py::TestA::test_a".into()).unwrap();
        let form = per_test(&file, &test).unwrap();
        assert_eq!(
            file.with(&[(test, form)]).unwrap(),
            "class TestA:\n    FILES = []\n\n    def setup_method(self):\n        self.dir = \
             make(self.FILES)\n\n    def teardown_method(self):\n        clear(self.dir)\n\n    def \
             test_a(self):\n        assert self.dir\n"
        );
    }

    #[test]
    fn what_calls_the_set_up_above_calls_the_other_one() {
        let text = "class TestA(Base):\n    @classmethod\n    def setUpClass(klass):\n        \
                    super().setUpClass()\n        klass.a = 1\n\n    def test_a(self):\n        pass\n";
        let file = PythonFile::parse("t.py", text).unwrap();
        let test = file.test(&"t.py::TestA::test_a".into()).unwrap();
        let form = per_test(&file, &test).unwrap();
        let with = file.with(&[(test, form)]).unwrap();
        let says = "    def setUp(self):\n        super().setUp()\n        self.a = 1\n";
        assert!(with.contains(says), "{with}");
    }
}
