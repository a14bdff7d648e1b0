//! The imports of a file: how it names a type, and where a further import goes.

use tree_sitter::Node;

use super::file::{JavaFile, is_type};
use crate::edit::{Edits, line_start, next_line};

/// Types that need no import.
const OF_THE_LANGUAGE: [&str; 28] = [
    "AutoCloseable",
    "Boolean",
    "Byte",
    "CharSequence",
    "Character",
    "Class",
    "ClassLoader",
    "Comparable",
    "Double",
    "Enum",
    "Exception",
    "Float",
    "Integer",
    "Iterable",
    "Long",
    "Math",
    "Number",
    "Object",
    "Runnable",
    "RuntimeException",
    "Short",
    "String",
    "StringBuffer",
    "StringBuilder",
    "System",
    "Thread",
    "ThreadLocal",
    "Throwable",
];

/// The names that a file uses for types, and the imports that it still needs.
#[derive(Debug)]
pub(crate) struct Names<'f> {
    file: &'f JavaFile,
    /// Qualified names of types to import.
    needed: Vec<String>,
}

impl<'f> Names<'f> {
    pub(crate) fn new(file: &'f JavaFile) -> Self {
        Self { file, needed: Vec::new() }
    }

    /// The types to import for the names given so far.
    pub(crate) fn needed(self) -> Vec<String> {
        self.needed
    }

    /// How this file names a type, given as `java.util.Locale` or `shop.Cart$Item`.
    pub(crate) fn of_type(&mut self, qualified: &str) -> String {
        let (package, names) = qualified.rsplit_once('.').unwrap_or(("", qualified));
        let whole = qualified.replace('$', ".");
        let mut parts: Vec<&str> = names.split('$').collect();
        if self.file.imported().contains(&whole) {
            return (*parts.last().unwrap_or(&names)).to_owned();
        }
        let top = parts[0];
        parts[0] = "";
        let top_type = if package.is_empty() { top.to_owned() } else { format!("{package}.{top}") };
        if !self.knows(package, top, &top_type) {
            if self.is_taken(top, &top_type) || package.is_empty() {
                return whole;
            }
            self.needed.push(top_type);
        }
        let below: String = parts[1..].iter().map(|it| format!(".{it}")).collect();
        format!("{top}{below}")
    }

    /// Whether the file can name a type without a further import.
    fn knows(&self, package: &str, simple: &str, whole: &str) -> bool {
        let imported = self.file.imported();
        package == "java.lang"
            || self.needed.iter().any(|it| it == whole)
            || imported.iter().any(|it| it == whole)
            || (package == self.file.package() && !self.is_taken(simple, whole))
            || (imported.contains(&format!("{package}.*")) && !self.is_taken(simple, whole))
    }

    /// Whether a simple name means another type here.
    fn is_taken(&self, simple: &str, whole: &str) -> bool {
        let ends = |it: &String| it.rsplit('.').next() == Some(simple) && it != whole;
        let own = |it: Node<'_>| is_type(it) && self.file.part(it, "name") == simple;
        let package = whole.rsplit_once('.').map_or("", |(package, _)| package);
        let root = self.file.root();
        let mut cursor = root.walk();
        self.file.imported().iter().any(ends)
            || self.needed.iter().any(ends)
            || (package != self.file.package() && root.named_children(&mut cursor).any(own))
    }
}

impl JavaFile {
    /// The import statements, in order.
    fn import_statements(&self) -> Vec<Node<'_>> {
        let root = self.root();
        let mut cursor = root.walk();
        root.named_children(&mut cursor).filter(|it| it.kind() == "import_declaration").collect()
    }

    /// The types that are imported, with their packages; `java.util.*` for all of a package. What is
    /// imported as `static` is not among them.
    pub(crate) fn imported(&self) -> Vec<String> {
        let text = |it: Node<'_>| {
            let line = self.text_of(it).trim_start_matches("import").trim_end_matches(';');
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let all = self.import_statements().into_iter().map(text);
        all.filter(|it| !it.starts_with("static ")).collect()
    }

    /// The qualified name of a type that this file names so: `Map.Entry` as `java.util.Map$Entry`.
    /// `inside` are the names of the class in which it is named.
    pub(crate) fn qualified(&self, name: &str, inside: &[String]) -> Option<String> {
        let (first, rest) = name.split_once('.').map_or((name, ""), |(first, rest)| (first, rest));
        let rest = rest.replace('.', "$");
        let below = |owner: String| match rest.is_empty() {
            true => owner,
            false => format!("{owner}${rest}"),
        };
        for depth in (0..=inside.len()).rev() {
            let names = [&inside[..depth], &[first.to_owned()]].concat();
            if self.class(&names).is_some() {
                return Some(below(self.in_package(&names.join("$"))));
            }
        }
        let imported = self.imported();
        if let Some(found) = imported.iter().find(|it| it.rsplit('.').next() == Some(first)) {
            return Some(below(with_dollars(found)));
        }
        if OF_THE_LANGUAGE.contains(&first) {
            return Some(below(format!("java.lang.{first}")));
        }
        if name.contains('.') && first.starts_with(char::is_lowercase) {
            return Some(with_dollars(name));
        }
        // With one package imported as a whole, its types are the likeliest; whether it is so, the
        // compiler says.
        let mut whole = imported.iter().filter_map(|it| it.strip_suffix(".*"));
        match (whole.next(), whole.next()) {
            (None, _) => Some(below(self.in_package(first))),
            (Some(package), None) if first.starts_with(char::is_uppercase) => {
                Some(below(format!("{package}.{first}")))
            }
            _ => None,
        }
    }

    /// A class of this file's package.
    pub(crate) fn in_package(&self, names: &str) -> String {
        match self.package() {
            "" => names.to_owned(),
            package => format!("{package}.{names}"),
        }
    }

    /// Import types where such imports stand.
    pub(crate) fn add_imports(&self, types: &[String], edits: &mut Edits) {
        let known = self.imported();
        let mut types: Vec<&String> = types.iter().filter(|it| !known.contains(it)).collect();
        types.sort_unstable();
        types.dedup();
        for one in types {
            let (at, lead, trail) = self.place_of_import(one);
            edits.insert(at, format!("{lead}import {one};\n{trail}"));
        }
    }

    /// Where an import goes, and what separates it from what is before and behind it: in the group that
    /// shares most with it, sorted as that is.
    fn place_of_import(&self, wanted: &str) -> (usize, &'static str, &'static str) {
        let statements = self.import_statements();
        let name = |it: &Node<'_>| {
            let line = self.text_of(*it).trim_start_matches("import").trim_end_matches(';');
            line.trim().to_owned()
        };
        let own: Vec<&Node<'_>> =
            statements.iter().filter(|it| !name(it).starts_with("static ")).collect();
        let common = |it: &Node<'_>| {
            let (it, wanted) = (name(it), wanted.split('.'));
            it.split('.').zip(wanted).take_while(|(one, other)| one == other).count()
        };
        let most = own.iter().map(|it| common(it)).max().unwrap_or(0);
        let likes: Vec<&&Node<'_>> = own.iter().filter(|it| common(it) == most).collect();
        if most == 0 {
            // A package of its own: the JDK's come first where any are, else by their names.
            let later = own.iter().find(|it| name(it).as_str() > wanted);
            return match (later, own.last(), statements.last()) {
                (Some(later), _, _) => {
                    let at = line_start(&self.text, later.start_byte());
                    let is_first_of_group = self.text[..at].ends_with("\n\n");
                    (at, "", if is_first_of_group { "\n" } else { "" })
                }
                (None, Some(last), _) => (next_line(&self.text, last.end_byte()), "", ""),
                (None, None, Some(last)) => (next_line(&self.text, last.end_byte()), "\n", ""),
                (None, None, None) => self.place_of_first_import(),
            };
        }
        match likes.iter().find(|it| name(it).as_str() > wanted) {
            Some(later) => (line_start(&self.text, later.start_byte()), "", ""),
            None => {
                let last = likes.last().map_or(0, |it| it.end_byte());
                (next_line(&self.text, last), "", "")
            }
        }
    }

    fn place_of_first_import(&self) -> (usize, &'static str, &'static str) {
        let root = self.root();
        let mut cursor = root.walk();
        let package =
            root.named_children(&mut cursor).find(|it| it.kind() == "package_declaration");
        match package {
            Some(package) => (next_line(&self.text, package.end_byte()), "\n", ""),
            None => (0, "", "\n"),
        }
    }

    /// Replace the import of a type by that of another, or take it away where that is imported already.
    pub(crate) fn replace_import(&self, old: &str, new: &str, edits: &mut Edits) {
        let known = self.imported();
        for statement in self.import_statements() {
            let text = self.text_of(statement);
            if text.trim_start_matches("import").trim_end_matches(';').trim() != old {
                continue;
            }
            if known.iter().any(|it| it == new) {
                let start = line_start(&self.text, statement.start_byte());
                edits.replace(start..next_line(&self.text, statement.end_byte()), "");
            } else {
                edits.replace(statement.byte_range(), format!("import {new};"));
            }
        }
    }
}

/// `java.util.Map.Entry` as `java.util.Map$Entry`: packages begin with small letters.
fn with_dollars(name: &str) -> String {
    let mut parts = name.split('.');
    let mut whole = String::new();
    let mut is_inside = false;
    for part in &mut parts {
        if !whole.is_empty() {
            whole.push(if is_inside { '$' } else { '.' });
        }
        whole.push_str(part);
        is_inside |= part.starts_with(char::is_uppercase);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, types: &[&str]) -> String {
        let file = JavaFile::parse("T.java", text).unwrap();
        let types: Vec<String> = types.iter().map(|it| (*it).to_owned()).collect();
        let mut edits = Edits::default();
        file.add_imports(&types, &mut edits);
        edits.apply(text).unwrap()
    }

    #[test]
    fn imports_go_where_their_likes_are() {
        let text = "package a;\n\nimport static org.junit.Assert.*;\n\nimport java.util.List;\n\
                    \nimport org.junit.Test;\n\nclass T {}\n";
        assert_eq!(
            with(text, &["org.junit.After", "java.util.Locale", "java.util.List"]),
            "package a;\n\nimport static org.junit.Assert.*;\n\nimport java.util.List;\n\
             import java.util.Locale;\n\nimport org.junit.After;\nimport org.junit.Test;\n\n\
             class T {}\n"
        );
        assert_eq!(
            with("package a;\n\nclass T {}\n", &["b.C"]),
            "package a;\n\nimport b.C;\n\nclass T {}\n"
        );
    }

    #[test]
    fn a_type_has_the_name_that_the_file_gives_it() {
        let text = "package shop;\n\nimport java.util.List;\nimport other.Locale;\n\nclass T {}\n";
        let file = JavaFile::parse("T.java", text).unwrap();
        let mut names = Names::new(&file);
        assert_eq!(names.of_type("java.util.List"), "List");
        assert_eq!(names.of_type("java.util.Locale"), "java.util.Locale");
        assert_eq!(names.of_type("shop.Cart$Item"), "Cart.Item");
        assert_eq!(names.of_type("java.lang.System"), "System");
        assert_eq!(names.of_type("lib.Web$Factory"), "Web.Factory");
        assert_eq!(names.needed(), ["lib.Web"]);
    }

    #[test]
    fn a_name_is_looked_up_as_the_compiler_does() {
        let text = "package shop;\n\nimport java.util.Map;\n\nclass T {\n  interface Made {}\n}\n";
        let file = JavaFile::parse("T.java", text).unwrap();
        let inside = ["T".to_owned()];
        let found = |name: &str| file.qualified(name, &inside);
        assert_eq!(found("Made").as_deref(), Some("shop.T$Made"));
        assert_eq!(found("Map.Entry").as_deref(), Some("java.util.Map$Entry"));
        assert_eq!(found("Integer").as_deref(), Some("java.lang.Integer"));
        assert_eq!(found("Cart").as_deref(), Some("shop.Cart"));
    }
}
