//! Comparisons of a test that an order decides which the JVM leaves open: of a set or a map that the test
//! itself puts into a list or a text.
//!
//! Types that are declared say little (`Set` may be a `LinkedHashSet`, whose order is promised), so that
//! each comparison comes with a [`witness`](crate::OpenOrder::witness) that makes the test tell the class.

use std::ops::Range;

use tree_sitter::Node;

use super::addition::Addition;
use super::file::{JavaFile, TestMethod};
use super::imports::Names;
use crate::Change;
use crate::edit::{indentation, line_start};
use crate::open_order::{OpenOrder, SAW, Sorted};

/// The comparisons of a test that an open order may decide, in the order of the text.
#[must_use]
pub fn open_orders(file: &JavaFile, test: &TestMethod) -> Vec<OpenOrder> {
    let Some(method) = file.method_of(test) else { return Vec::new() };
    let reading = Reading { file, method };
    let mut found = Vec::new();
    let mut waiting = vec![method];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "lambda_expression" | "class_body" => continue,
            "method_invocation" if file.part(node, "name") == "assertEquals" => {
                found.extend(reading.comparison(node));
            }
            _ => {}
        }
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
    }
    found.sort_by_key(|it| it.line);
    found
}

struct Reading<'f> {
    file: &'f JavaFile,
    method: Node<'f>,
}

/// What the order of a collection was made into.
enum Made<'f> {
    /// A list of its elements.
    List,
    /// Its text, `[a, b]` or `{a=1, b=2}`.
    Text,
    /// Its elements with this between them, and the method that joins them.
    Joined(&'f str),
    /// Nothing that is known: what is compared comes in an order already.
    AsItIs,
}

/// One side of a comparison that depends on an order.
struct Side<'f> {
    collection: Node<'f>,
    made: Made<'f>,
    /// The expression to write in another way.
    whole: Node<'f>,
}

/// A part of the file, and what is to stand there.
type Replaced = (Range<usize>, String);

impl<'f> Reading<'f> {
    fn text(&self, node: Node<'_>) -> &'f str {
        self.file.text.get(node.byte_range()).unwrap_or_default()
    }

    fn comparison(&self, node: Node<'f>) -> Option<OpenOrder> {
        let arguments = node.child_by_field_name("arguments")?;
        let mut cursor = arguments.walk();
        let all: Vec<Node<'f>> = arguments.named_children(&mut cursor).collect();
        // A message may stand before both or behind them, and TestNG has what is expected last.
        let pairs = all.windows(2).flat_map(|it| [(it[0], it[1]), (it[1], it[0])]);
        pairs.filter_map(|(expected, actual)| self.open_order(actual, expected)).next()
    }

    fn arguments(&self, node: Node<'f>) -> Vec<Node<'f>> {
        let Some(arguments) = node.child_by_field_name("arguments") else { return Vec::new() };
        let mut cursor = arguments.walk();
        arguments.named_children(&mut cursor).collect()
    }

    fn side(&self, node: Node<'f>, depth: u8) -> Option<Side<'f>> {
        let made = |collection, made| Some(Side { collection, made, whole: node });
        match node.kind() {
            "method_invocation" => {
                let arguments = self.arguments(node);
                let object = node.child_by_field_name("object");
                match (self.file.part(node, "name"), object, arguments.as_slice()) {
                    ("toString", Some(object), []) => made(object, Made::Text),
                    ("valueOf", Some(of), [only]) if self.text(of) == "String" => {
                        made(*only, Made::Text)
                    }
                    ("copyOf", Some(of), [only]) if self.text(of) == "List" => {
                        made(*only, Made::List)
                    }
                    ("join", Some(of), [between, only]) if self.text(of) == "String" => {
                        made(*only, Made::Joined(plain_string(self.text(*between))?))
                    }
                    _ => made(node, Made::AsItIs),
                }
            }
            "object_creation_expression" => {
                let of = self.file.part(node, "type");
                let of = of.split('<').next().unwrap_or(of);
                match self.arguments(node).as_slice() {
                    [only] if matches!(of, "ArrayList" | "LinkedList") => made(*only, Made::List),
                    _ => None,
                }
            }
            // A name that is used for the comparison alone.
            "identifier" if depth == 0 => {
                let value = self.declared_once(self.text(node))?;
                let side = self.side(value, 1)?;
                match side.made {
                    Made::AsItIs | Made::List => Some(Side { whole: node, ..side }),
                    Made::Text | Made::Joined(_) => Some(side),
                }
            }
            _ => None,
        }
    }

    /// The value of a local name that is given one, and is used once after that.
    fn declared_once(&self, name: &str) -> Option<Node<'f>> {
        let (mut value, mut uses) = (None, 0);
        let mut waiting = vec![self.method];
        while let Some(node) = waiting.pop() {
            if node.kind() == "variable_declarator" && self.file.part(node, "name") == name {
                value = node.child_by_field_name("value");
            }
            if node.kind() == "identifier" && self.text(node) == name {
                uses += 1;
            }
            let mut cursor = node.walk();
            waiting.extend(node.named_children(&mut cursor));
        }
        value.filter(|_| uses == 2)
    }

    fn open_order(&self, actual: Node<'f>, expected: Node<'f>) -> Option<OpenOrder> {
        let side = self.side(actual, 0)?;
        let mut names = Names::new(self.file);
        let collection = self.text(side.collection);
        let mut forms: Vec<(Vec<Replaced>, Vec<Replaced>)> = Vec::new();
        let replaced = |node: Node<'_>, text: String| (node.byte_range(), text);
        match side.made {
            Made::List => {
                let literals = self.distinct_literals(expected)?;
                let (set, arrays) =
                    (names.of_type("java.util.HashSet"), names.of_type("java.util.Arrays"));
                // A list that has a name is not what it was made of.
                let from = match side.whole.kind() {
                    "identifier" => self.text(side.whole),
                    _ => collection,
                };
                let now = |all: &[&str]| {
                    let wanted = match all.len() == literals.len() {
                        true => self.text(expected).to_owned(),
                        false => format!("{arrays}.asList({})", all.join(", ")),
                    };
                    vec![
                        replaced(expected, format!("new {set}<>({wanted})")),
                        replaced(side.whole, format!("new {set}<>({from})")),
                    ]
                };
                if literals.len() > 1 {
                    forms.push((now(&literals), now(&literals[1..])));
                }
            }
            Made::Text => {
                let wanted = plain_string(self.text(expected))?;
                let (holder, open, close) = match wanted.chars().next()? {
                    '[' => (names.of_type("java.util.TreeSet"), '[', ']'),
                    '{' => (names.of_type("java.util.TreeMap"), '{', '}'),
                    _ => return None,
                };
                let inside = wanted.strip_prefix(open)?.strip_suffix(close)?;
                for parts in sorted(inside, ", ") {
                    let now = |parts: &[&str]| {
                        vec![
                            replaced(expected, format!("\"{open}{}{close}\"", parts.join(", "))),
                            replaced(
                                side.whole,
                                format!("new {holder}<>({collection}).toString()"),
                            ),
                        ]
                    };
                    forms.push((now(&parts), now(&parts[1..])));
                }
            }
            Made::Joined(between) => {
                let wanted = plain_string(self.text(expected))?;
                let holder = names.of_type("java.util.TreeSet");
                for parts in sorted(wanted, between) {
                    let now = |parts: &[&str]| {
                        let joined =
                            format!("String.join(\"{between}\", new {holder}<>({collection}))");
                        vec![
                            replaced(expected, format!("\"{}\"", parts.join(between))),
                            replaced(side.whole, joined),
                        ]
                    };
                    forms.push((now(&parts), now(&parts[1..])));
                }
            }
            // Nothing is changed for that; a run tells what it is.
            Made::AsItIs => {
                self.distinct_literals(expected)?;
            }
        }
        let imports = names.needed();
        let as_change = |replaced: Vec<Replaced>| {
            Change::Java(Addition { replaced, imports: imports.clone(), ..Addition::default() })
        };
        let statement = self.statement(side.collection)?;
        let at = line_start(&self.file.text, statement.start_byte());
        let inside = indentation(&self.file.text, statement.start_byte());
        // The compiler would refuse what stands behind a plain `throw`.
        let tells = format!(
            "{inside}if (true) throw new AssertionError(\"{SAW}\" + \
             ((Object) {collection}).getClass().getName() + \".\");\n"
        );
        Some(OpenOrder {
            line: actual.start_position().row + 1,
            collection: collection.to_owned(),
            witness: Change::Java(Addition {
                replaced: vec![(at..at, tells)],
                ..Addition::default()
            }),
            forms: forms
                .into_iter()
                .map(|(all, lacking)| Sorted {
                    change: as_change(all),
                    lacking: as_change(lacking),
                })
                .collect(),
        })
    }

    /// The arguments of a list that the test writes down, where they are literals and no two are the same.
    fn distinct_literals(&self, node: Node<'f>) -> Option<Vec<&'f str>> {
        let of = node.child_by_field_name("object").map(|it| self.text(it));
        let is_list = node.kind() == "method_invocation"
            && matches!(
                (of, self.file.part(node, "name")),
                (Some("Arrays"), "asList")
                    | (Some("List" | "ImmutableList"), "of")
                    | (None, "asList")
            );
        if !is_list {
            return None;
        }
        let all = self.arguments(node);
        let texts: Vec<&str> = all.iter().map(|it| self.text(*it)).collect();
        let is_literal = |it: &Node<'_>| {
            it.kind().ends_with("_literal") || it.kind() == "true" || it.kind() == "false"
        };
        let mut once = texts.clone();
        once.sort_unstable();
        once.dedup();
        (all.iter().all(is_literal) && once.len() == texts.len() && !texts.is_empty())
            .then_some(texts)
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
}

/// The parts of a text as a sorted collection has them: by their text, and by their value where they are
/// numbers; none where there is but one.
fn sorted<'t>(text: &'t str, between: &str) -> Vec<Vec<&'t str>> {
    let mut parts: Vec<&str> = text.split(between).collect();
    if parts.len() < 2 {
        return Vec::new();
    }
    let key = |it: &&'t str| it.split('=').next().unwrap_or(it).to_owned();
    parts.sort_by_key(key);
    let mut all = vec![parts.clone()];
    let numbers: Option<Vec<i64>> = parts.iter().map(|it| key(it).parse().ok()).collect();
    if numbers.is_some() {
        parts.sort_by_key(|it| key(it).parse::<i64>().unwrap_or_default());
        all.push(parts);
    }
    all
}

/// What is between the quotes of a string without escapes.
fn plain_string(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains(['\\', '"'])).then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(body: &str) -> Vec<(String, Vec<String>, String)> {
        let text = format!(
            "package pay;\n\nimport java.util.HashSet;\nimport java.util.Set;\nimport \
             org.junit.jupiter.api.Test;\n\nclass PayTest {{\n    @Test\n    void tags() {{\n{body}    \
             }}\n}}\n"
        );
        let file = JavaFile::parse("PayTest.java", text.as_str()).unwrap();
        let test = file.test(&"pay.PayTest#tags".into()).unwrap();
        let lines = |change: &Change| {
            let Change::Java(addition) = change else { panic!("it is of Java") };
            let with = file.with(&[(test.clone(), addition.clone())]).unwrap();
            crate::check("PayTest.java", &with).unwrap();
            let is_new = |it: &&str| !text.contains(*it) && !it.starts_with("import");
            with.lines().filter(is_new).collect::<Vec<_>>().join("\n").trim().to_owned()
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
        let found = changed("        assertEquals(\"[b, a]\", tags.toString());\n");
        assert_eq!(found[0].1, ["assertEquals(\"[a, b]\", new TreeSet<>(tags).toString());"]);
        assert!(found[0].2.contains("((Object) tags).getClass().getName()"), "{found:?}");
        let found =
            changed("        assertEquals(List.of(\"b\", \"a\"), new ArrayList<>(shop.tags()));\n");
        let says =
            "assertEquals(new HashSet<>(List.of(\"b\", \"a\")), new HashSet<>(shop.tags()));";
        assert_eq!((found[0].0.as_str(), found[0].1[0].as_str()), ("shop.tags()", says));
        let found = changed("        assertEquals(\"{10=b, 9=a}\", String.valueOf(map));\n");
        assert_eq!(found[0].1[1], "assertEquals(\"{9=a, 10=b}\", new TreeMap<>(map).toString());");
        let found = changed("        assertEquals(\"b;a\", String.join(\";\", tags));\n");
        assert_eq!(found[0].1, ["assertEquals(\"a;b\", String.join(\";\", new TreeSet<>(tags)));"]);
    }

    #[test]
    fn what_comes_in_an_order_is_only_looked_at() {
        let found = changed("        assertEquals(List.of(\"b\", \"a\"), shop.tags());\n");
        assert_eq!((found[0].0.as_str(), found[0].1.len()), ("shop.tags()", 0));
        let twice = "        assertEquals(List.of(\"a\", \"a\"), new ArrayList<>(tags));\n";
        assert_eq!(changed(twice), [], "a set would not notice that one is missing");
        assert_eq!(changed("        assertEquals(3, tags.size());\n"), []);
    }
}
