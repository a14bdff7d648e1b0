//! Types and expressions of one file, as another file must write them.

use tree_sitter::Node;

use super::file::JavaFile;
use super::imports::Names;
use super::sources::Type;

/// A type or an expression of a class, as the file of `names` writes it; `None` where it speaks of what
/// cannot be named there. `to` is that file, where the text is an expression.
pub(crate) fn carried(
    node: Node<'_>,
    of: &Type,
    to: Option<&JavaFile>,
    names: &mut Names<'_>,
) -> Option<String> {
    let text = |it: Node<'_>| of.file.text_of(it).to_owned();
    match node.kind() {
        "lambda_expression" | "class_body" | "this" | "super" | "switch_expression" => None,
        "type_identifier" | "scoped_type_identifier" => {
            let written = of.file.text_of(node);
            // A parameter of a generic type.
            if written.len() == 1 {
                return Some(written.to_owned());
            }
            Some(names.of_type(&of.file.qualified(written, &of.names)?))
        }
        "identifier" => named(of.file.text_of(node), of, to?, names),
        "field_access" => {
            let object = node.child_by_field_name("object")?;
            Some(format!("{}.{}", carried(object, of, to, names)?, of.file.part(node, "field")))
        }
        "method_invocation" => {
            let arguments = carried(node.child_by_field_name("arguments")?, of, to, names)?;
            let name = of.file.part(node, "name");
            let object = match node.child_by_field_name("object") {
                Some(object) => carried(object, of, to, names)?,
                None => {
                    let method = of.methods().into_iter().find(|it| it.name() == name)?;
                    if !method.is_static() || !of.shows(method.node, to?) {
                        return None;
                    }
                    names.of_type(&of.qualified)
                }
            };
            Some(format!("{object}.{name}{arguments}"))
        }
        _ if node.child_count() == 0 => Some(text(node)),
        _ => {
            let (mut whole, mut at) = (String::new(), node.start_byte());
            let mut cursor = node.walk();
            for child in node.children(&mut cursor) {
                whole.push_str(&of.file.text[at..child.start_byte()]);
                whole.push_str(&carried(child, of, to, names)?);
                at = child.end_byte();
            }
            whole.push_str(&of.file.text[at..node.end_byte()]);
            Some(whole)
        }
    }
}

/// A name in an expression: a static field of its class, or a type.
fn named(name: &str, of: &Type, to: &JavaFile, names: &mut Names<'_>) -> Option<String> {
    if let Some(variable) = of.variable(name) {
        let is_static = of.file.is(variable.node, "static")
            || variable.node.parent().is_some_and(|it| it.kind() == "interface_body");
        return (is_static && of.shows(variable.node, to))
            .then(|| format!("{}.{name}", names.of_type(&of.qualified)));
    }
    match name.starts_with(char::is_uppercase) {
        true => Some(names.of_type(&of.file.qualified(name, &of.names)?)),
        // The beginning of a qualified name.
        false if matches!(name, "java" | "javax" | "org" | "com" | "net" | "io") => {
            Some(name.to_owned())
        }
        false => None,
    }
}

/// The text of a value in a picture of state as Java, where it is a literal.
pub(crate) fn literal(text: &str) -> Option<String> {
    let is_number = text.parse::<i32>().is_ok() || text.parse::<f64>().is_ok_and(f64::is_finite);
    let is_plain = matches!(text, "null" | "true" | "false");
    if is_plain || (is_number && text.chars().any(|it| it.is_ascii_digit())) {
        return Some(text.to_owned());
    }
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    (!text.ends_with('…')).then(|| format!("\"{}\"", escaped(inside)))
}

/// A text between the quotes of a Java string.
pub(crate) fn escaped(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => all.push_str("\\\\"),
            '"' => all.push_str("\\\""),
            '\n' => all.push_str("\\n"),
            '\r' => all.push_str("\\r"),
            '\t' => all.push_str("\\t"),
            it => all.push(it),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::sources::Sources;
    use super::*;

    #[test]
    fn a_value_is_named_as_the_other_file_must_name_it() {
        let web = "package lib;\n\nimport java.util.*;\n\npublic class Web {\n  public interface \
                   Made { Made USUAL = null; }\n  static Made made = Made.USUAL;\n  private static \
                   int LIMIT = 3;\n  static int now = LIMIT;\n  static List<String> all = new \
                   ArrayList<>();\n}\n";
        let sources = Sources::new([("src/lib/Web.java".to_owned(), web.to_owned())]);
        let of = Type::find(&sources, "lib.Web").unwrap();
        let to = JavaFile::parse("T.java", "package shop;\n\nclass T {}\n").unwrap();
        let value = |name: &str| {
            let mut names = Names::new(&to);
            of.variable(name)?.value_for(&to, &mut names).map(|it| (it, names.needed()))
        };
        assert_eq!(value("made"), Some(("Web.Made.USUAL".into(), vec!["lib.Web".into()])));
        assert_eq!(value("now"), None, "it is private");
        let all = ("new ArrayList<>()".to_owned(), vec!["java.util.ArrayList".to_owned()]);
        assert_eq!(value("all"), Some(all));
    }

    #[test]
    fn only_literals_are_written_down() {
        assert_eq!(literal("\"a\\b\"").as_deref(), Some("\"a\\\\b\""));
        assert_eq!(literal("-3").as_deref(), Some("-3"));
        assert_eq!(literal("null").as_deref(), Some("null"));
        for text in ["ArrayList of 0[]", "inf", "Cart[items=1]", "\"long…"] {
            assert_eq!(literal(text), None, "{text}");
        }
    }
}
