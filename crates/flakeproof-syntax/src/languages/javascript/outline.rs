//! The suites, tests and functions of a JavaScript or TypeScript file, and what they call.

use tree_sitter::Node;

use super::suites::Verb;
use crate::outline::{Call, Function, Outline, Reading, Role, ScopeId, Through};
use crate::tree::{Agenda, Braces, Extent, Fields, children, text_of};

pub(super) fn may_hold_tests(path: &str, text: &str) -> bool {
    ["it", "test", "specify"].iter().any(|word| text.contains(word)) && is_test_file(path, text)
}

/// Whether a file is one that runners look at, by its name or by what it imports.
fn is_test_file(path: &str, text: &str) -> bool {
    const FOLDERS: [&str; 6] = ["__tests__", "test", "tests", "e2e", "spec", "cypress"];
    const MODULES: [&str; 6] =
        ["vitest", "@jest/globals", "mocha", "node:test", "@playwright/test", "bun:test"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    [".test.", ".spec.", "_test.", "-test."].iter().any(|mark| name.contains(mark))
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
        || text.contains("Deno.test")
        || MODULES.iter().any(|module| is_imported(text, module))
}

fn is_imported(text: &str, module: &str) -> bool {
    text.match_indices(module).any(|(at, _)| {
        let is_quote = |letter: Option<char>| matches!(letter, Some('"' | '\'' | '`'));
        is_quote(text[..at].chars().next_back())
            && is_quote(text[at + module.len()..].chars().next())
    })
}

pub(super) fn outline<'t>(reading: &Reading<'t, '_>) -> Outline<'t> {
    let mut script = Script { reading: *reading, outline: Outline::new() };
    if is_test_file(reading.path, reading.text) {
        script.read();
    }
    script.outline
}

struct Script<'t, 'a> {
    reading: Reading<'t, 'a>,
    outline: Outline<'t>,
}

impl<'t, 'a> Script<'t, 'a> {
    fn read(&mut self) {
        let mut agenda = Agenda::new();
        agenda.push([(self.reading.root, ScopeId::FILE)]);
        while let Some((node, scope)) = agenda.next() {
            match node.kind() {
                // Tests are defined wherever a suite's body leads when it runs.
                "program"
                | "statement_block"
                | "expression_statement"
                | "export_statement"
                | "if_statement"
                | "else_clause"
                | "for_statement"
                | "for_in_statement"
                | "while_statement"
                | "try_statement"
                | "catch_clause"
                | "finally_clause"
                | "switch_statement"
                | "switch_body"
                | "switch_case"
                | "await_expression"
                | "return_statement"
                | "lexical_declaration"
                | "variable_declaration" => {
                    agenda.descend(node, scope);
                }
                "call_expression" => self.read_call(node, scope, &mut agenda),
                "function_declaration" | "generator_function_declaration" => {
                    if let Some(name) = node.field("name") {
                        self.add(self.text(name), scope, Role::Plain, node);
                    }
                }
                "variable_declarator" => self.read_variable(node, scope, &mut agenda),
                "ERROR" => self.read_broken(node, scope, &mut agenda),
                _ => {}
            }
        }
    }

    /// `const helper = () => …`.
    fn read_variable(&mut self, node: Node<'t>, scope: ScopeId, agenda: &mut Agenda<'t, ScopeId>) {
        let (Some(name), Some(value)) = (node.field("name"), node.field("value")) else {
            return;
        };
        if is_function(value) {
            self.add(self.text(name), scope, Role::Plain, node);
        } else if value.kind() == "call_expression" {
            agenda.push([(value, scope)]);
        }
    }

    fn read_call(&mut self, node: Node<'t>, scope: ScopeId, agenda: &mut Agenda<'t, ScopeId>) {
        let (Some(callee), Some(arguments)) = (node.field("function"), node.field("arguments"))
        else {
            return;
        };
        let arguments: Vec<Node<'t>> = children(arguments)
            .into_iter()
            .filter(|argument| argument.is_named() && argument.kind() != "comment")
            .collect();
        let bodies = |outline: &mut Agenda<'t, ScopeId>, scope| {
            let functions = arguments.iter().filter(|argument| is_function(**argument));
            outline.push(functions.filter_map(|f| f.field("body")).map(|body| (body, scope)));
        };
        match Verb::from_callee(callee, self.reading.text) {
            Some(Verb::Suite) => {
                let title = arguments.first().map_or("", |first| title(*first, self.reading.text));
                if let Some(suite) = self.open(title, scope, node) {
                    bodies(agenda, suite);
                }
            }
            Some(Verb::Test) => {
                if let Some(title) = self.test_title(&arguments) {
                    self.add_test(title, scope, Extent::new(node), node);
                }
            }
            Some(Verb::Before) => self.add_hook(callee, scope, Role::Before, node),
            Some(Verb::After) => self.add_hook(callee, scope, Role::After, node),
            // `cases.forEach((case) => { it(…) })`
            None => bodies(agenda, scope),
        }
    }

    fn open(&mut self, title: &str, scope: ScopeId, node: Node<'t>) -> Option<ScopeId> {
        let suite = self.outline.open(scope, &unescaped(title), node)?;
        self.outline.scope_mut(suite).shares_set_up = true;
        Some(suite)
    }

    /// The title of a test, or nothing where the call defines none: `it(title, …)`, or Deno's
    /// `test(function title() …)` and `test({ name: title, … })`.
    fn test_title(&self, arguments: &[Node<'t>]) -> Option<&'a str> {
        let (&first, rest) = arguments.split_first()?;
        match first.kind() {
            "string" | "template_string" => Some(title(first, self.reading.text)),
            "function_expression" if rest.is_empty() => {
                first.field("name").map(|name| self.text(name))
            }
            "object" if rest.is_empty() => {
                let pairs = children(first).into_iter();
                let mut named = pairs
                    .filter(|pair| pair.field("key").is_some_and(|key| self.text(key) == "name"));
                named.find_map(|pair| pair.field("value")).map(|v| title(v, self.reading.text))
            }
            _ => rest
                .iter()
                .any(|argument| is_function(*argument))
                .then(|| title(first, self.reading.text)),
        }
    }

    fn add_test(&mut self, title: &str, scope: ScopeId, extent: Extent, node: Node<'t>) {
        let name = unescaped(title);
        let role = Role::Test(self.outline.id(self.reading.path, " > ", scope, &name));
        self.outline.functions.push(Function { name, scope, role, extent, node });
    }

    fn add_hook(&mut self, callee: Node<'t>, scope: ScopeId, role: Role, node: Node<'t>) {
        self.add(self.text(callee), scope, role, node);
    }

    fn add(&mut self, name: &str, scope: ScopeId, role: Role, node: Node<'t>) {
        self.outline.add(name, scope, role, Extent::new(node), node);
    }

    /// Read what the parser could not join: `describe("a", () => {` whose end is missing, and the
    /// test being written.
    fn read_broken(&mut self, node: Node<'t>, scope: ScopeId, agenda: &mut Agenda<'t, ScopeId>) {
        let mut braces = Braces::new(scope);
        let mut found = Vec::new();
        let mut unfinished = None;
        let pieces = children(node);
        for (index, &piece) in pieces.iter().enumerate() {
            let title = match pieces.get(index + 1..index + 3) {
                Some([open, title])
                    if open.kind() == "("
                        && matches!(title.kind(), "string" | "template_string") =>
                {
                    Some(self::title(*title, self.reading.text))
                }
                _ => None,
            };
            let verb = title.and_then(|_| Verb::from_callee(piece, self.reading.text));
            match (verb, title) {
                (Some(Verb::Suite), Some(title)) => {
                    let opened = self.open(title, braces.here, piece);
                    braces.name(opened.unwrap_or(braces.here));
                }
                (Some(Verb::Test), Some(title)) => {
                    unfinished = Some((piece, title, braces.here));
                }
                _ if matches!(piece.kind(), "{" | "}") => braces.see(piece.kind()),
                _ => found.push((piece, braces.here)),
            }
        }
        if let (Some((first, title, scope)), Some(&last)) = (unfinished, pieces.last()) {
            self.add_test(title, scope, Extent::between(first, last), node);
        }
        agenda.push(found);
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        text_of(node, self.reading.text)
    }
}

/// The text between the quotes, or the source of an expression.
pub(super) fn title<'a>(node: Node<'_>, text: &'a str) -> &'a str {
    let text = text_of(node, text);
    match node.kind() {
        "string" | "template_string" => text
            .get(1..text.len().saturating_sub(1))
            .unwrap_or_else(|| text.trim_matches(['"', '\'', '`'])),
        _ => text,
    }
}

pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

/// A title with its escaped quotes and backslashes as they are shown.
pub(super) fn unescaped(title: &str) -> String {
    let mut shown = String::with_capacity(title.len());
    let mut letters = title.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(&next @ ('\'' | '"' | '`' | '\\'))) => {
                shown.push(next);
                letters.next();
            }
            _ => shown.push(letter),
        }
    }
    shown
}

/// Reads what a node calls. A function that is handed over counts as called: it mostly is.
pub(super) fn read_calls<'a>(node: Node<'_>, text: &'a str, calls: &mut Vec<Call<'a>>) {
    match node.kind() {
        "call_expression" => {
            let Some(function) = node.field("function") else { return };
            match function.kind() {
                "identifier" => {
                    calls.push(Call { name: text_of(function, text), through: Through::Name });
                }
                "member_expression" => {
                    let object = function.field("object");
                    let property = function.field("property");
                    if let (Some("this"), Some(name)) = (object.map(|n| n.kind()), property) {
                        calls.push(Call { name: text_of(name, text), through: Through::Itself });
                    }
                }
                _ => {}
            }
        }
        "arguments" => {
            let mut cursor = node.walk();
            let names = node.children(&mut cursor).filter(|child| child.kind() == "identifier");
            calls.extend(
                names.map(|name| Call { name: text_of(name, text), through: Through::Name }),
            );
        }
        _ => {}
    }
}
