//! What a patch adds to a class of tests: fields, statements before and after each test, imports.

use std::ops::Range;

use tree_sitter::Node;

use super::file::{Framework, JavaFile, TestMethod};
use crate::NotEditable;
use crate::edit::{Edits, indentation, indented, join, line_start, next_line};

/// What a patch adds to a class of tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Addition {
    /// What it is about, as a part of names: `locale`.
    pub(crate) nouns: Vec<String>,
    /// Fields, without indentation.
    pub(crate) fields: Vec<String>,
    /// Statements before each test, without indentation.
    pub(crate) before: Vec<String>,
    /// The name of the method for them.
    pub(crate) before_name: String,
    /// Statements after each test, without indentation.
    pub(crate) after: Vec<String>,
    /// Statements after all tests of the class, without indentation.
    pub(crate) after_class: Vec<String>,
    /// Whether the statements may throw what must be declared.
    pub(crate) throws: bool,
    /// Types to import.
    pub(crate) imports: Vec<String>,
    /// Parts of the file that are written in another way.
    pub(crate) replaced: Vec<(Range<usize>, String)>,
    /// Imports that become others.
    pub(crate) replaced_imports: Vec<(String, String)>,
    /// What it does, where that is not to put something back.
    pub(crate) idea: Option<String>,
}

impl Addition {
    /// Both together; what is the same in both counts once.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        join(&mut self.nouns, other.nouns);
        join(&mut self.fields, other.fields);
        join(&mut self.before, other.before);
        join(&mut self.after, other.after);
        join(&mut self.after_class, other.after_class);
        join(&mut self.imports, other.imports);
        join(&mut self.replaced, other.replaced);
        join(&mut self.replaced_imports, other.replaced_imports);
        if self.before_name.is_empty() {
            self.before_name = other.before_name;
        }
        self.throws |= other.throws;
        self.idea = self.idea.or(other.idea);
        self
    }

    /// `restoreLocale`, `restoreLocaleAndTimeZone`, `restoreState`.
    fn restoring_name(&self) -> String {
        let capital = |noun: &String| {
            let mut letters = noun.chars();
            letters.next().map(|it| it.to_uppercase().chain(letters).collect()).unwrap_or_default()
        };
        let nouns: Vec<String> = self.nouns.iter().map(capital).collect();
        match nouns.as_slice() {
            [_] | [_, _] => format!("restore{}", nouns.join("And")),
            _ => "restoreState".to_owned(),
        }
    }
}

impl JavaFile {
    /// The file with additions to the classes of its tests.
    ///
    /// # Errors
    /// When two of them change the same lines, or a class is written on one line.
    pub fn with(&self, additions: &[(TestMethod, Addition)]) -> Result<String, NotEditable> {
        let mut classes: Vec<(&TestMethod, Addition)> = Vec::new();
        for (test, addition) in additions {
            match classes.iter_mut().find(|(known, _)| known.classes == test.classes) {
                Some((_, known)) => *known = std::mem::take(known).and(addition.clone()),
                None => classes.push((test, addition.clone())),
            }
        }
        let mut edits = Edits::default();
        let mut imports = Vec::new();
        for (test, addition) in &classes {
            imports.extend(addition.imports.iter().cloned());
            let class = Class::of(self, test)?;
            class.add_fields(&addition.fields, &mut edits);
            class.add_statements(addition, &mut imports, &mut edits);
            for (range, text) in &addition.replaced {
                edits.replace(range.clone(), text.clone());
            }
            for (old, new) in &addition.replaced_imports {
                self.replace_import(old, new, &mut edits);
            }
        }
        self.add_imports(&imports, &mut edits);
        edits.apply(&self.text)
    }
}

/// A class that gets additions.
struct Class<'f> {
    file: &'f JavaFile,
    framework: Framework,
    members: Vec<Node<'f>>,
    indentation: String,
    /// The beginning of the line behind its opening brace.
    top: usize,
}

/// When a method runs, by the position of its annotation.
#[derive(Clone, Copy)]
enum When {
    Before = 0,
    After = 1,
    AfterClass = 3,
}

impl<'f> Class<'f> {
    fn of(file: &'f JavaFile, test: &TestMethod) -> Result<Self, NotEditable> {
        let on_one_line = || NotEditable::OnOneLine { test: test.classes.join(".") };
        let class = file.class_of(test).ok_or_else(on_one_line)?;
        let body = class.child_by_field_name("body").ok_or_else(on_one_line)?;
        if body.start_position().row == body.end_position().row {
            return Err(on_one_line());
        }
        Ok(Self {
            file,
            framework: test.framework,
            members: file.members(class),
            indentation: file.indentation_of_members(class),
            top: next_line(&file.text, body.start_byte()),
        })
    }

    fn text(&self) -> &'f str {
        &self.file.text
    }

    /// Where something goes behind a member, or at the top; and what stands before and behind it there.
    fn behind(&self, member: Option<&Node<'_>>) -> (usize, &'static str, &'static str) {
        match member {
            Some(member) => (next_line(self.text(), member.end_byte()), "\n", ""),
            None if self.text()[self.top..].trim_start_matches([' ', '\t']).starts_with('\n') => {
                (self.top, "\n", "")
            }
            None => (self.top, "", "\n"),
        }
    }

    fn add_fields(&self, fields: &[String], edits: &mut Edits) {
        if fields.is_empty() {
            return;
        }
        let leading: Vec<&Node<'_>> =
            self.members.iter().take_while(|it| it.kind() == "field_declaration").collect();
        let row = |at: usize| leading.get(at).map(|it| it.start_position().row);
        let are_close = match (row(0), row(1)) {
            (Some(_), Some(second)) => leading[0].end_position().row + 1 == second,
            _ => false,
        };
        let (at, lead, trail) = self.behind(leading.last().copied());
        let lead = if are_close { "" } else { lead };
        let lines: String = fields.iter().map(|it| format!("{}{it}\n", self.indentation)).collect();
        edits.insert(at, format!("{lead}{lines}{trail}"));
    }

    fn add_statements(&self, addition: &Addition, imports: &mut Vec<String>, edits: &mut Edits) {
        let all = [
            (When::Before, &addition.before, addition.before_name.clone()),
            (When::After, &addition.after, addition.restoring_name()),
            (When::AfterClass, &addition.after_class, addition.restoring_name()),
        ];
        for (when, statements, name) in all {
            if statements.is_empty() {
                continue;
            }
            let known = match when {
                When::After => self.method_that_runs(when),
                // What it sets up may be needed there, and local names may meet.
                When::Before | When::AfterClass => None,
            };
            match known {
                Some(method) if !addition.throws => self.add_to(method, statements, edits),
                _ => {
                    let annotation = self.framework.annotations();
                    let annotation = annotation.map(|(package, names)| {
                        imports.push(format!("{package}.{}", names[when as usize]));
                        names[when as usize]
                    });
                    let method =
                        self.method(annotation, when, &self.free(&name), statements, addition);
                    let (at, lead, trail) = self.behind(self.last_before_tests());
                    edits.insert(at, format!("{lead}{method}{trail}"));
                }
            }
        }
    }

    /// The one method that runs after each test, if it can take more statements.
    fn method_that_runs(&self, when: When) -> Option<Node<'f>> {
        let is_it = |it: &&Node<'f>| match self.framework.annotations() {
            Some((_, names)) => self.file.annotation(**it, names[when as usize]).is_some(),
            None => self.file.part(**it, "name") == "tearDown",
        };
        let methods = self.members.iter().filter(|it| it.kind() == "method_declaration");
        let mut found = methods.filter(is_it);
        let method = *found.next()?;
        let body = method.child_by_field_name("body")?;
        let is_on_lines = body.start_position().row < body.end_position().row;
        (found.next().is_none() && is_on_lines && !self.file.is(method, "static")).then_some(method)
    }

    /// Statements at the beginning of a method.
    fn add_to(&self, method: Node<'_>, statements: &[String], edits: &mut Edits) {
        let Some(body) = method.child_by_field_name("body") else { return };
        let inside = match self.file.statements(method).first() {
            Some(first) => indentation(self.text(), first.start_byte()).to_owned(),
            None => format!("{}{}", self.indentation, self.step()),
        };
        let lines: String = statements.iter().map(|it| indented(it, &inside)).collect();
        let at = next_line(self.text(), body.start_byte());
        // An empty body may hold an empty line, which is as good a place.
        let is_empty = self.file.statements(method).is_empty();
        let end = line_start(self.text(), body.end_byte());
        match is_empty && at < end && self.text()[at..end].trim().is_empty() {
            true => edits.replace(at..end, lines),
            false => edits.insert(at, lines),
        }
    }

    /// One more level of indentation.
    fn step(&self) -> String {
        let outer = self.indentation.len();
        let inner = self.members.iter().find_map(|it| {
            let body = it.child_by_field_name("body").filter(|it| it.kind() == "block")?;
            let first = body.named_child(0)?;
            (first.start_position().row > body.start_position().row)
                .then(|| indentation(self.text(), first.start_byte()))
        });
        match inner.and_then(|it| it.get(outer..)).filter(|it| !it.is_empty()) {
            Some(step) => step.to_owned(),
            None if self.indentation.contains('\t') => "\t".to_owned(),
            None if outer > 0 && outer <= 4 => self.indentation.clone(),
            None => "    ".to_owned(),
        }
    }

    /// The member after which a method that runs around each test stands: the last one before the tests.
    fn last_before_tests(&self) -> Option<&Node<'f>> {
        let is_test = |it: &Node<'f>| {
            let names = ["Test", "ParameterizedTest", "RepeatedTest", "Theory", "TestFactory"];
            let is_named = self.framework == Framework::Junit3
                && self.file.part(*it, "name").starts_with("test");
            it.kind() == "method_declaration"
                && (is_named || names.iter().any(|name| self.file.annotation(*it, name).is_some()))
        };
        let at = self.members.iter().position(is_test).unwrap_or(self.members.len());
        at.checked_sub(1).and_then(|at| self.members.get(at))
    }

    /// A name that no method of the file has.
    fn free(&self, name: &str) -> String {
        let numbers = (2..).map(|number| format!("{name}{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbers);
        names.find(|it| !self.file.mentions(it)).unwrap_or_else(|| name.to_owned())
    }

    fn method(
        &self,
        annotation: Option<&str>,
        when: When,
        name: &str,
        statements: &[String],
        addition: &Addition,
    ) -> String {
        let (outer, inner) = (&self.indentation, format!("{}{}", self.indentation, self.step()));
        let is_public = self.framework != Framework::Jupiter
            || self.members.iter().any(|it| {
                it.kind() == "method_declaration"
                    && self.file.is(*it, "public")
                    && !self.file.is(*it, "static")
            });
        let visible = if is_public { "public " } else { "" };
        let of_class = if let When::AfterClass = when { "static " } else { "" };
        let throws = if addition.throws { " throws Exception" } else { "" };
        let brace = match self.are_braces_below() {
            true => format!("\n{outer}{{"),
            false => " {".to_owned(),
        };
        let body: String = statements.iter().map(|it| indented(it, &inner)).collect();
        match annotation {
            Some(annotation) => format!(
                "{outer}@{annotation}\n{outer}{visible}{of_class}void {name}(){throws}{brace}\n{body}\
                 {outer}}}\n"
            ),
            None => {
                let (own, above) = match when {
                    When::Before => ("setUp", format!("{inner}super.setUp();\n{body}")),
                    When::After | When::AfterClass => {
                        ("tearDown", format!("{body}{inner}super.tearDown();\n"))
                    }
                };
                format!(
                    "{outer}@Override\n{outer}protected void {own}() throws Exception{brace}\n{above}\
                     {outer}}}\n"
                )
            }
        }
    }

    /// Whether the braces of methods stand on lines of their own.
    fn are_braces_below(&self) -> bool {
        self.members.iter().any(|it| {
            let row = |field: &str| it.child_by_field_name(field).map(|it| it.start_position().row);
            it.kind() == "method_declaration"
                && row("body").zip(row("name")).is_some_and(|(body, name)| body > name)
                && it
                    .child_by_field_name("parameters")
                    .is_some_and(|it| Some(it.end_position().row) < row("body"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addition() -> Addition {
        Addition {
            nouns: vec!["locale".into()],
            fields: vec!["private final Locale originalLocale = Locale.getDefault();".into()],
            after: vec!["Locale.setDefault(originalLocale);".into()],
            imports: vec!["java.util.Locale".into()],
            ..Addition::default()
        }
    }

    fn patched(text: &str) -> String {
        let file = JavaFile::parse("T.java", text).unwrap();
        let test = file.test(&"T#a".into()).unwrap();
        file.with(&[(test.clone(), addition()), (test, addition())]).unwrap()
    }

    #[test]
    fn what_is_kept_is_a_field_and_is_put_back_in_a_method_of_its_own() {
        let text = "import org.junit.Test;\n\npublic class T {\n  @Test\n  public void a() {\n    \
                    b();\n  }\n}\n";
        assert_eq!(
            patched(text),
            "import java.util.Locale;\nimport org.junit.After;\nimport org.junit.Test;\n\n\
             public class T {\n  private final Locale originalLocale = Locale.getDefault();\n\n  \
             @After\n  public void restoreLocale() {\n    Locale.setDefault(originalLocale);\n  \
             }\n\n  @Test\n  public void a() {\n    b();\n  }\n}\n"
        );
        let jupiter =
            "import java.util.List;\n\nimport org.junit.jupiter.api.Test;\n\nclass T\r\n{\n\tint \
                       x;\n\n\t/** Does. */\n\t@Test\n\tvoid a()\n\t{\n\t\tb();\n\t}\n}\n"
                .replace("\r\n", "\n");
        assert_eq!(
            patched(&jupiter),
            "import java.util.List;\nimport java.util.Locale;\n\nimport org.junit.jupiter.api.AfterEach;\n\
             import org.junit.jupiter.api.Test;\n\nclass T\n{\n\tint x;\n\n\tprivate final Locale \
             originalLocale = Locale.getDefault();\n\n\t@AfterEach\n\tvoid restoreLocale()\n\t{\n\t\t\
             Locale.setDefault(originalLocale);\n\t}\n\n\t/** Does. */\n\t@Test\n\tvoid a()\n\t{\n\t\t\
             b();\n\t}\n}\n"
        );
    }

    #[test]
    fn a_method_that_runs_after_each_test_takes_it_in() {
        let text = "import org.junit.*;\n\npublic class T {\n    int x;\n    int y;\n\n    @After\n    \
                    public void tearDown() {\n        x = 0;\n    }\n\n    @Test\n    public void a() \
                    {}\n}\n";
        let with = patched(text);
        assert!(with.contains("    int y;\n    private final Locale"), "{with}");
        let says = "tearDown() {\n        Locale.setDefault(originalLocale);\n        x = 0;";
        assert!(with.contains(says), "{with}");
        let old = "public class T extends junit.framework.TestCase {\n    public void testA() {\n    }\n}\n";
        let file = JavaFile::parse("T.java", old).unwrap();
        let test = file.test(&"T#testA".into()).unwrap();
        let with = file.with(&[(test, addition())]).unwrap();
        let says = "    @Override\n    protected void tearDown() throws Exception {\n        \
                    Locale.setDefault(originalLocale);\n        super.tearDown();\n    }\n";
        assert!(with.contains(says), "{with}");
    }

    #[test]
    fn a_class_on_one_line_is_refused() {
        let file = JavaFile::parse("T.java", "class T { @Test void a() {} }\n").unwrap();
        let test = file.test(&"T#a".into()).unwrap();
        let refused = file.with(&[(test, addition())]).unwrap_err();
        assert!(refused.to_string().contains("on one line"), "{refused}");
    }
}
