//! A fixture that a class of tests shares, made anew for each test: what was `static` is no longer.

use tree_sitter::Node;

use super::addition::Addition;
use super::file::{Framework, JavaFile, TestMethod, mentions};

/// The static fields of a test class that its tests change, and what sets them up, for each test instead of
/// once. None where the framework has one object for all tests.
pub(super) fn per_test(file: &JavaFile, test: &TestMethod, field: &str) -> Option<Addition> {
    let (package, names) = test.framework.annotations()?;
    let class = file.class_of(test)?;
    let is_shared = file.annotation(class, "TestInstance").is_some();
    if test.framework == Framework::Testng || is_shared {
        return None;
    }
    let around: Vec<(Node<'_>, usize)> = file
        .methods(class)
        .filter(|it| file.is(*it, "static"))
        .filter_map(|it| {
            let at = (2..4).find(|at| file.annotation(it, names[*at]).is_some())?;
            Some((it, at))
        })
        .collect();
    let idea = "make what the class sets up anew for each test".to_owned();
    let nouns = vec![field.to_owned()];
    let mut written = Addition { nouns, idea: Some(idea), ..Addition::default() };
    for member in file.members(class) {
        if member.kind() != "field_declaration" || !file.is(member, "static") {
            continue;
        }
        let mut cursor = member.walk();
        let is_meant =
            member.children_by_field_name("declarator", &mut cursor).any(|it: Node<'_>| {
                let name = file.part(it, "name");
                let is_used = || {
                    let texts = around.iter().map(|(method, _)| file.text_of(*method));
                    texts.into_iter().any(|text| mentions(text, name))
                };
                name == field || (!is_constant(file, member, it) && is_used())
            });
        if is_meant {
            without_static(file, member, &mut written);
        }
    }
    for (method, at) in around {
        without_static(file, method, &mut written);
        let (all, each) = (names[at], names[at - 2]);
        let name = file.annotation(method, all)?.child_by_field_name("name")?;
        let is_whole = file.text_of(name).contains('.');
        let each_name = if is_whole { format!("{package}.{each}") } else { each.to_owned() };
        written.replaced.push((name.byte_range(), each_name));
        let change = (format!("{package}.{all}"), format!("{package}.{each}"));
        if !written.replaced_imports.contains(&change) {
            written.replaced_imports.push(change);
        }
    }
    (!written.replaced.is_empty()).then_some(written)
}

/// Take the word `static` away, and the white space behind it.
fn without_static(file: &JavaFile, declaration: Node<'_>, written: &mut Addition) {
    let Some(word) = file.keyword(declaration, "static") else { return };
    let rest = &file.text[word.end_byte()..];
    let space = rest.len() - rest.trim_start_matches(' ').len();
    written.replaced.push((word.start_byte()..word.end_byte() + space, String::new()));
}

/// Whether a field is a value that never changes, and that all tests may share.
fn is_constant(file: &JavaFile, field: Node<'_>, declarator: Node<'_>) -> bool {
    let value = declarator.child_by_field_name("value");
    file.is(field, "final")
        && value.is_some_and(|it| {
            it.kind().ends_with("_literal") || matches!(it.kind(), "true" | "false" | "null")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_made_for_each_test() {
        let text = "import org.junit.BeforeClass;\nimport org.junit.Test;\n\npublic class T {\n    private \
                    final static Context context = new Context();\n    private static Handler handler;\n    \
                    private static final int LIMIT = 3;\n\n    @BeforeClass\n    public static void setUp() \
                    {\n        handler = new Handler(context);\n    }\n\n    @Test\n    public void a() {\n    \
                    }\n}\n";
        let file = JavaFile::parse("T.java", text).unwrap();
        let test = file.test(&"T#a".into()).unwrap();
        let form = per_test(&file, &test, "handler").unwrap();
        assert_eq!(
            file.with(&[(test, form)]).unwrap(),
            "import org.junit.Before;\nimport org.junit.Test;\n\npublic class T {\n    private final \
             Context context = new Context();\n    private Handler handler;\n    private static final int \
             LIMIT = 3;\n\n    @Before\n    public void setUp() {\n        handler = new \
             Handler(context);\n    }\n\n    @Test\n    public void a() {\n    }\n}\n"
        );
    }
}
