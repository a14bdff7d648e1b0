//! Comparisons of a test that an order decides which the language leaves open: of a set that the test
//! itself puts into a list or a text.
//!
//! What a test compares may be a promise of the code. Only an order that the test itself takes from a
//! set is nobody's promise, and whether it is a set is for a run to say: each comparison comes with a
//! [`witness`](crate::OpenOrder::witness) that makes the test tell the type. Its stricter twin, an
//! assertion that lacks an element, must fail: what is compared without order is still compared.

use std::ops::Range;

use tree_sitter::Node;

use super::addition::Addition;
use super::file::{PythonFile, Style, TestFunction};
use crate::Change;
use crate::edit::{indentation, line_start};
use crate::open_order::{OpenOrder, SAW, Sorted};

/// Assertions of unittest that compare two things in order.
const EQUAL: [&str; 5] =
    ["assertEqual", "assertEquals", "assertListEqual", "assertSequenceEqual", "assertTupleEqual"];

/// The comparisons of a test that an open order may decide, in the order of the text.
#[must_use]
pub fn open_orders(file: &PythonFile, test: &TestFunction) -> Vec<OpenOrder> {
    let Some(body) = file.body_of(test) else { return Vec::new() };
    let reading = Reading { file, test, body };
    let mut found = Vec::new();
    let mut waiting = vec![body];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "function_definition" | "class_definition" | "lambda" => continue,
            "assert_statement" | "call" => found.extend(reading.comparison(node)),
            _ => {}
        }
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
    }
    found.sort_by_key(|it| it.line);
    found
}

struct Reading<'f> {
    file: &'f PythonFile,
    test: &'f TestFunction,
    body: Node<'f>,
}

/// What the order of a collection was made into.
enum Made<'f> {
    /// A list or a tuple of its elements, by this text.
    Elements(String),
    /// Its text.
    Text,
    /// Its elements with this between them.
    Joined(&'f str),
    /// Nothing that is known: what is compared comes in an order already.
    AsItIs,
}

/// One side of a comparison that depends on an order.
struct Side<'f> {
    /// The collection.
    collection: Node<'f>,
    made: Made<'f>,
    /// The statement that asks for the order.
    statement: Node<'f>,
}

impl<'f> Reading<'f> {
    fn text(&self, node: Node<'_>) -> &'f str {
        self.file.text.get(node.byte_range()).unwrap_or_default()
    }

    fn comparison(&self, node: Node<'f>) -> Option<OpenOrder> {
        let (sides, called) = match node.kind() {
            "assert_statement" => {
                let compared =
                    node.named_child(0).filter(|it| it.kind() == "comparison_operator")?;
                let mut cursor = compared.walk();
                let operator = compared.children_by_field_name("operators", &mut cursor);
                let operators: Vec<&str> = operator.map(|it| self.text(it)).collect();
                if operators != ["=="] {
                    return None;
                }
                ([compared.named_child(0)?, compared.named_child(1)?], None)
            }
            _ => {
                let function = node.child_by_field_name("function")?;
                let name = function.child_by_field_name("attribute")?;
                let is_own = function.child_by_field_name("object").map(|it| self.text(it));
                if is_own != Some("self") || !EQUAL.contains(&self.text(name)) {
                    return None;
                }
                let arguments = node.child_by_field_name("arguments")?;
                ([arguments.named_child(0)?, arguments.named_child(1)?], Some(name))
            }
        };
        let [one, other] = sides;
        let found = |actual: Node<'f>, expected: Node<'f>| {
            let side = self.side(actual, self.statement(actual)?)?;
            self.open_order(actual, expected, called, &side)
        };
        found(one, other).or_else(|| found(other, one))
    }

    /// The statement around an expression, where it begins its line.
    fn statement(&self, node: Node<'f>) -> Option<Node<'f>> {
        let mut at = node;
        while at.parent()?.kind() != "block" {
            at = at.parent()?;
        }
        let before = &self.file.text[line_start(&self.file.text, at.start_byte())..at.start_byte()];
        before.trim().is_empty().then_some(at)
    }

    /// What a side makes of a collection.
    fn side(&self, node: Node<'f>, statement: Node<'f>) -> Option<Side<'f>> {
        let made = |collection, made| Some(Side { collection, made, statement });
        match node.kind() {
            "parenthesized_expression" => self.side(node.named_child(0)?, statement),
            "list_comprehension" => {
                let inside = self.text(node);
                let inside = inside.get(1..inside.len().checked_sub(1)?)?.trim();
                made(looped_over(node)?, Made::Elements(inside.to_owned()))
            }
            "list" | "tuple" => {
                let only = (node.named_child_count() == 1).then(|| node.named_child(0))??;
                let collection = (only.kind() == "list_splat").then(|| only.named_child(0))??;
                made(collection, Made::Elements(self.text(collection).to_owned()))
            }
            "call" => {
                let function = node.child_by_field_name("function")?;
                let arguments = node.child_by_field_name("arguments")?;
                let only =
                    Some(arguments.named_child(0)).filter(|_| arguments.named_child_count() == 1);
                let Some(only) = only.flatten().filter(|it| !it.kind().contains("argument")) else {
                    return made(node, Made::AsItIs);
                };
                match (function.kind(), self.text(function)) {
                    (_, "list" | "tuple") => made(only, Made::Elements(self.text(only).to_owned())),
                    (_, "str" | "repr") => made(only, Made::Text),
                    ("attribute", _) => {
                        let object = function.child_by_field_name("object")?;
                        let joins = function.child_by_field_name("attribute");
                        match (plain_string(self.text(object)), joins.map(|it| self.text(it))) {
                            (Some(between), Some("join")) if !between.is_empty() => {
                                made(looped_over(only).unwrap_or(only), Made::Joined(between))
                            }
                            _ => made(node, Made::AsItIs),
                        }
                    }
                    _ => made(node, Made::AsItIs),
                }
            }
            "identifier" => {
                let assigned = self.assigned_once(self.text(node))?;
                let side = self.side(assigned, self.statement(assigned)?)?;
                let elements = || Made::Elements(self.text(node).to_owned());
                match side.made {
                    Made::Elements(_) => Some(Side { made: elements(), ..side }),
                    Made::Text | Made::Joined(_) => None,
                    Made::AsItIs => Some(side),
                }
            }
            "attribute" | "subscript" => made(node, Made::AsItIs),
            _ => None,
        }
    }

    /// What a name stands for in the test, where it is given one value once.
    fn assigned_once(&self, name: &str) -> Option<Node<'f>> {
        let mut found = Vec::new();
        let mut waiting = vec![self.body];
        while let Some(node) = waiting.pop() {
            match node.kind() {
                "assignment" => {
                    let left = node.child_by_field_name("left")?;
                    if self.text(left) == name {
                        found.push(node.child_by_field_name("right"));
                    } else if self.names_within(left).contains(&name) {
                        found.push(None);
                    }
                }
                "augmented_assignment" | "for_statement" | "named_expression" => {
                    let left = node.child_by_field_name("left").or(node.named_child(0))?;
                    if self.names_within(left).contains(&name) {
                        found.push(None);
                    }
                }
                _ => {}
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
        match found.as_slice() {
            [only] => *only,
            _ => None,
        }
    }

    fn names_within(&self, node: Node<'f>) -> Vec<&'f str> {
        let mut names = Vec::new();
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if node.kind() == "identifier" {
                names.push(self.text(node));
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
        names
    }

    fn open_order(
        &self,
        actual: Node<'f>,
        expected: Node<'f>,
        called: Option<Node<'f>>,
        side: &Side<'f>,
    ) -> Option<OpenOrder> {
        let mut forms: Vec<Vec<Replaced>> = Vec::new();
        let mut add = |parts: &[(Node<'_>, String)]| {
            let parts = parts.iter().map(|(node, text)| (node.byte_range(), text.clone()));
            forms.push(parts.collect());
        };
        match &side.made {
            Made::Elements(elements) => {
                let other = self.sorted_list(expected)?;
                if let (Some(called), Style::Unittest) = (called, self.test.style) {
                    let counted = "assertCountEqual".to_owned();
                    let whole = self.text(actual).to_owned();
                    add(&[(called, counted.clone()), (actual, whole.clone())]);
                    add(&[(called, counted), (actual, format!("list({whole})[1:]"))]);
                }
                for key in ["", ", key=repr"] {
                    let of_all = match key {
                        "" => elements.clone(),
                        // A generator cannot stand beside another argument.
                        _ if actual.kind() == "list_comprehension" => format!("[{elements}]"),
                        _ => elements.clone(),
                    };
                    let wanted = match (&other, key) {
                        (None, "") => self.text(expected).to_owned(),
                        (None, _) => break,
                        (Some(other), key) => format!("sorted({other}{key})"),
                    };
                    for lacking in ["", "[1:]"] {
                        let all = match lacking {
                            "" => of_all.clone(),
                            _ => format!("list({elements}){lacking}"),
                        };
                        add(&[(actual, format!("sorted({all}{key})")), (expected, wanted.clone())]);
                    }
                }
            }
            Made::Text => {
                let wanted = plain_string(self.text(expected))?;
                let is_set = wanted.starts_with('{') || wanted.starts_with("frozenset({");
                let collection = self.text(side.collection);
                if !is_set || crate::literal::as_python_set(wanted).is_none() {
                    return None;
                }
                for all in [collection.to_owned(), format!("set(list({collection})[1:])")] {
                    add(&[(actual, all), (expected, wanted.to_owned())]);
                }
            }
            Made::Joined(between) => {
                let wanted = plain_string(self.text(expected))?;
                let quote = self.text(expected).chars().next()?;
                let mut parts: Vec<&str> = wanted.split(between).collect();
                parts.sort_unstable();
                let parts: Vec<String> =
                    parts.iter().map(|it| format!("{quote}{it}{quote}")).collect();
                let arguments = actual.child_by_field_name("arguments")?.named_child(0)?;
                let all = match self.text(arguments) {
                    generator if arguments.kind() == "generator_expression" => {
                        generator.trim_start_matches('(').trim_end_matches(')').to_owned()
                    }
                    plain => plain.to_owned(),
                };
                for all in [all.clone(), format!("list({all})[1:]")] {
                    let wanted = format!("[{}]", parts.join(", "));
                    add(&[(actual, format!("sorted({all})")), (expected, wanted)]);
                }
            }
            // Nothing is changed for that; a run tells what it is.
            Made::AsItIs => {
                self.sorted_list(expected)?;
            }
        }
        let as_change = |parts: &Vec<Replaced>| {
            Change::Python(Addition { replaced: parts.clone(), ..Addition::default() })
        };
        let forms = forms
            .chunks_exact(2)
            .map(|pair| Sorted { change: as_change(&pair[0]), lacking: as_change(&pair[1]) })
            .collect();
        let collection = self.text(side.collection).to_owned();
        let inside = indentation(&self.file.text, side.statement.start_byte());
        let at = line_start(&self.file.text, side.statement.start_byte());
        let tells = format!(
            "{inside}raise AssertionError(\"{SAW}\" + type({collection}).__name__ + \".\")\n"
        );
        Some(OpenOrder {
            line: actual.start_position().row + 1,
            collection,
            witness: Change::Python(Addition {
                replaced: vec![(at..at, tells)],
                ..Addition::default()
            }),
            forms,
        })
    }

    /// What `sorted` is called with for an expected list; an inner `None` where it is sorted already, an
    /// outer one where it is nothing that the test writes down itself.
    fn sorted_list(&self, expected: Node<'f>) -> Option<Option<String>> {
        let is_written = |node: Node<'f>| matches!(node.kind(), "list" | "tuple");
        match expected.kind() {
            _ if is_written(expected) => Some(Some(self.text(expected).to_owned())),
            "identifier" => {
                let name = self.text(expected);
                let value = self.assigned_once(name).or_else(|| self.constant(name))?;
                is_written(value).then(|| Some(name.to_owned()))
            }
            "call"
                if expected.child_by_field_name("function").map(|it| self.text(it))
                    == Some("sorted") =>
            {
                Some(None)
            }
            _ => None,
        }
    }

    /// What a name of the file stands for.
    fn constant(&self, name: &str) -> Option<Node<'f>> {
        let root = self.file.root();
        let mut cursor = root.walk();
        let mut values = root.named_children(&mut cursor).filter_map(|it| {
            let assigned = it.named_child(0).filter(|it| it.kind() == "assignment")?;
            let left = assigned.child_by_field_name("left")?;
            (self.text(left) == name).then(|| assigned.child_by_field_name("right"))?
        });
        let value = values.next()?;
        values.next().is_none().then_some(value)
    }
}

/// A part of the file, and what is to stand there.
type Replaced = (Range<usize>, String);

/// What a comprehension with one loop goes over.
fn looped_over(node: Node<'_>) -> Option<Node<'_>> {
    if !matches!(node.kind(), "list_comprehension" | "generator_expression") {
        return None;
    }
    let mut cursor = node.walk();
    let loops = node.named_children(&mut cursor).filter(|it| it.kind() == "for_in_clause");
    let loops: Vec<Node<'_>> = loops.collect();
    match loops.as_slice() {
        [only] => only.child_by_field_name("right"),
        _ => None,
    }
}

/// What is between the quotes of a string that stands for itself.
fn plain_string(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|it| matches!(it, '"' | '\''))?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inside.contains(['\\', quote, '\n'])).then_some(inside)
}

impl PythonFile {
    /// The statements of a test.
    fn body_of(&self, test: &TestFunction) -> Option<Node<'_>> {
        let first = test.statements.first()?;
        let node = self.root().descendant_for_byte_range(first.start, first.end)?;
        let mut at = node;
        while at.kind() != "block" || at.end_byte() < test.statements.last()?.end {
            at = at.parent()?;
        }
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(file: &PythonFile, test: &TestFunction, change: &Change) -> String {
        let Change::Python(addition) = change else { panic!("it is of Python") };
        file.with(&[(test.clone(), addition.clone())]).unwrap()
    }

    fn changed(body: &str) -> Vec<(String, Vec<String>, String)> {
        let text = format!("def test_a():\n{body}");
        let file = PythonFile::parse("t.py", text.as_str()).unwrap();
        let test = file.test(&"t.py::test_a".into()).unwrap();
        let lines = |change: &Change| {
            let changed = with(&file, &test, change);
            crate::check("t.py", &changed).unwrap();
            let new: Vec<&str> = changed.lines().filter(|it| !text.contains(it)).collect();
            new.join("\n").trim().to_owned()
        };
        let all = open_orders(&file, &test).into_iter();
        all.map(|it| {
            let forms = it.forms.iter().map(|form| lines(&form.change)).collect();
            (it.collection.clone(), forms, lines(&it.witness))
        })
        .collect()
    }

    #[test]
    fn the_order_that_a_test_takes_from_a_collection_is_not_compared() {
        let found = changed("    tags = f()\n    assert list(tags) == ['a', 'b']\n");
        assert_eq!(found[0].0, "tags");
        assert_eq!(found[0].1[0], "assert sorted(tags) == sorted(['a', 'b'])");
        assert!(found[0].2.contains("type(tags).__name__"), "{found:?}");
        let found = changed("    names = [x.n for x in f()]\n    assert names == ['a']\n");
        assert_eq!(
            (found[0].0.as_str(), found[0].1[0].as_str()),
            ("f()", "assert sorted(names) == sorted(['a'])")
        );
        let found = changed("    assert [x.n for x in f()] == sorted(['a'])\n");
        assert_eq!(found[0].1, ["assert sorted(x.n for x in f()) == sorted(['a'])"]);
        let found = changed("    assert '{1, 2}' == str(f())\n");
        assert_eq!(found[0].1, ["assert {1, 2} == f()"]);
        let found = changed("    assert ', '.join(f()) == 'b, a'\n");
        assert_eq!(found[0].1, ["assert sorted(f()) == ['a', 'b']"]);
    }

    #[test]
    fn what_comes_in_an_order_is_only_looked_at() {
        let found = changed("    assert shop.tags() == ['a', 'b']\n");
        assert_eq!((found[0].0.as_str(), found[0].1.len()), ("shop.tags()", 0));
        assert_eq!(changed("    assert list(f()) == g()\n"), [], "what it is to be is unknown");
        assert_eq!(changed("    assert next(iter(f())) == 'a'\n"), []);
        assert_eq!(changed("    assert list(f()) != ['a']\n"), []);
    }

    #[test]
    fn unittest_counts_elements() {
        let text = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        \
                    self.assertEqual(list(f()), ['a', 'b'])\n";
        let file = PythonFile::parse("t.py", text).unwrap();
        let test = file.test(&"t.py::T::test_a".into()).unwrap();
        let found = open_orders(&file, &test);
        let whole = with(&file, &test, &found[0].forms[0].change);
        assert!(whole.contains("self.assertCountEqual(list(f()), ['a', 'b'])"), "{whole}");
        let lacking = with(&file, &test, &found[0].forms[0].lacking);
        assert!(lacking.contains("assertCountEqual(list(list(f()))[1:], ['a', 'b'])"), "{lacking}");
    }
}
