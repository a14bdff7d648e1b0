//! The words of the languages that are measured by a [`Vocabulary`]: one table for each, with those
//! of its test libraries, what asserts in it, and what it imports from outside.
//!
//! What stands in a macro of Rust is nothing but tokens to the grammar: operators there are told by
//! what stands beside them.

use tree_sitter::Node;

use super::tabled::{Assertion, Import, Vocabulary};
use crate::outline::Reading;
use crate::tree::{Agenda, child_of_kind, children, for_each_below, text_of};

pub(super) const GO: Vocabulary = Vocabulary {
    statements: &[
        "assignment_statement",
        "break_statement",
        "const_declaration",
        "continue_statement",
        "dec_statement",
        "defer_statement",
        "expression_statement",
        "expression_switch_statement",
        "fallthrough_statement",
        "for_statement",
        "go_statement",
        "goto_statement",
        "if_statement",
        "inc_statement",
        "labeled_statement",
        "return_statement",
        "select_statement",
        "send_statement",
        "short_var_declaration",
        "type_declaration",
        "type_switch_statement",
        "var_declaration",
    ],
    blocks: &[],
    definitions: &[],
    branches: &[
        "communication_case",
        "expression_case",
        "for_statement",
        "if_statement",
        "type_case",
    ],
    is_otherwise: |_, _| false,
    operations: &[
        "assignment_statement",
        "binary_expression",
        "dec_statement",
        "inc_statement",
        "unary_expression",
    ],
    token_trees: &[],
    parentheses: &["expression_list", "parenthesized_expression"],
    members: &[("selector_expression", "field")],
    names: &["identifier", "package_identifier"],
    literals: &[
        "false",
        "float_literal",
        "imaginary_literal",
        "int_literal",
        "interpreted_string_literal",
        "nil",
        "raw_string_literal",
        "rune_literal",
        "true",
    ],
    comments: &["comment"],
    assertion: go_assertion,
    imports: &["import_spec"],
    import_scopes: &["source_file", "import_declaration", "import_spec_list"],
    external: go_external,
};

fn go_assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    let asserts = match function.kind() {
        "identifier" => matches!(text_of(function, text), "Expect" | "Eventually" | "Consistently"),
        "selector_expression" => {
            let of = text_of(function.child_by_field_name("operand")?, text);
            let method = text_of(function.child_by_field_name("field")?, text);
            matches!(of, "assert" | "require")
                || [".Require()", ".Assert()"].iter().any(|suite| of.ends_with(suite))
                || (is_testing(of) && is_failure(method))
        }
        _ => false,
    };
    asserts.then_some(Assertion::Call)
}

/// Whether a value is a `testing.T` or its like, by its usual names.
fn is_testing(name: &str) -> bool {
    matches!(name, "t" | "b" | "f" | "tb" | "tt" | "c") || name.ends_with(".T()")
}

fn is_failure(method: &str) -> bool {
    matches!(method, "Error" | "Errorf" | "Fail" | "FailNow" | "Fatal" | "Fatalf" | "Assert")
}

/// What an import names, from modules other than Go's own, which have no dot before the first
/// slash, and the file's.
///
/// A module is told by three parts of its path: `github.com/stretchr/testify`.
fn go_external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let Some(path) = node.child_by_field_name("path") else { return Vec::new() };
    let path = text_of(path, reading.text).trim_matches(['"', '`']);
    let host = path.split('/').next().unwrap_or(path);
    let own = reading.layout.go_module(reading.path).map(|(module, _)| module);
    let is_own = own.is_some_and(|own| {
        path.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    if is_own || !host.contains('.') {
        return Vec::new();
    }
    let parts = if host == "gopkg.in" { 2 } else { 3 };
    let end = path.match_indices('/').nth(parts - 1).map_or(path.len(), |(at, _)| at);
    let name = node
        .child_by_field_name("name")
        .map_or_else(|| go_package_name(path), |name| text_of(name, reading.text));
    vec![Import { name, package: &path[..end] }]
}

/// The name that a path usually binds: its last part, without a version.
fn go_package_name(path: &str) -> &str {
    let is_version = |part: &&str| {
        part.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let last = path.rsplit('/').find(|part| !is_version(part)).unwrap_or(path);
    let last = last.split(".v").next().unwrap_or(last);
    last.strip_prefix("go-").unwrap_or(last).trim_end_matches("-go").trim_end_matches(".go")
}

pub(super) const JAVA: Vocabulary = Vocabulary {
    statements: &[
        "assert_statement",
        "break_statement",
        "class_declaration",
        "continue_statement",
        "do_statement",
        "enhanced_for_statement",
        "expression_statement",
        "for_statement",
        "if_statement",
        "labeled_statement",
        "local_variable_declaration",
        "method_declaration",
        "record_declaration",
        "return_statement",
        "switch_expression",
        "synchronized_statement",
        "throw_statement",
        "try_statement",
        "try_with_resources_statement",
        "while_statement",
        "yield_statement",
    ],
    blocks: &[],
    definitions: &["class_body", "class_declaration", "record_declaration"],
    branches: &[
        "catch_clause",
        "do_statement",
        "enhanced_for_statement",
        "for_statement",
        "if_statement",
        "switch_label",
        "ternary_expression",
        "while_statement",
    ],
    is_otherwise: |node, text| {
        node.kind() == "switch_label" && text_of(node, text).contains("default")
    },
    operations: &[
        "assignment_expression",
        "binary_expression",
        "instanceof_expression",
        "unary_expression",
        "update_expression",
    ],
    token_trees: &[],
    parentheses: &["parenthesized_expression"],
    members: &[("field_access", "field"), ("method_invocation", "name")],
    names: &["identifier", "type_identifier"],
    literals: &[
        "binary_integer_literal",
        "character_literal",
        "decimal_floating_point_literal",
        "decimal_integer_literal",
        "false",
        "hex_floating_point_literal",
        "hex_integer_literal",
        "null_literal",
        "octal_integer_literal",
        "string_literal",
        "this",
        "true",
    ],
    comments: &["block_comment", "line_comment"],
    assertion: java_assertion,
    imports: &["import_declaration"],
    import_scopes: &["program"],
    external: java_external,
};

fn java_assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    match node.kind() {
        "assert_statement" => Some(Assertion::Statement),
        "method_invocation" => {
            let name = text_of(node.child_by_field_name("name")?, text);
            let asserts =
                name.starts_with("assert") || name.starts_with("verify") || name == "fail";
            asserts.then_some(Assertion::Call)
        }
        _ => None,
    }
}

/// What an import names, from packages other than those of Java itself and of the file.
///
/// A library is told by at most three parts of a package: `org.mockito`, `com.google.common`.
fn java_external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let imported = child_of_kind(node, &["scoped_identifier"]);
    let Some(path) = imported.map(|path| text_of(path, reading.text)) else { return Vec::new() };
    let package = java_library(path);
    let is_standard = ["java.", "javax.", "jdk.", "sun.", "com.sun."]
        .iter()
        .any(|prefix| path.starts_with(prefix));
    let own = child_of_kind(reading.root, &["package_declaration"])
        .and_then(|declaration| child_of_kind(declaration, &["scoped_identifier", "identifier"]))
        .map(|name| java_library(text_of(name, reading.text)));
    let name = path.rsplit('.').next().unwrap_or(path);
    match is_standard || own == Some(package) {
        true => Vec::new(),
        false => vec![Import { name, package }],
    }
}

fn java_library(path: &str) -> &str {
    let is_package = |part: &&str| !part.starts_with(char::is_uppercase);
    let parts = path.split('.').take_while(is_package).take(3);
    let length = parts.map(|part| part.len() + 1).sum::<usize>();
    path.get(..length.saturating_sub(1)).unwrap_or(path)
}

pub(super) const JAVASCRIPT: Vocabulary = Vocabulary {
    statements: &[
        "break_statement",
        "class_declaration",
        "continue_statement",
        "debugger_statement",
        "do_statement",
        "expression_statement",
        "for_in_statement",
        "for_statement",
        "function_declaration",
        "generator_function_declaration",
        "if_statement",
        "interface_declaration",
        "labeled_statement",
        "lexical_declaration",
        "method_definition",
        "return_statement",
        "switch_statement",
        "throw_statement",
        "try_statement",
        "type_alias_declaration",
        "using_declaration",
        "variable_declaration",
        "while_statement",
        "with_statement",
    ],
    blocks: &[],
    definitions: &[
        "class",
        "class_declaration",
        "function_declaration",
        "generator_function_declaration",
    ],
    branches: &[
        "catch_clause",
        "do_statement",
        "for_in_statement",
        "for_statement",
        "if_statement",
        "switch_case",
        "ternary_expression",
        "while_statement",
    ],
    is_otherwise: |_, _| false,
    operations: &[
        "augmented_assignment_expression",
        "binary_expression",
        "unary_expression",
        "update_expression",
    ],
    token_trees: &[],
    parentheses: &["parenthesized_expression"],
    members: &[("member_expression", "property")],
    names: &["identifier", "shorthand_property_identifier", "type_identifier"],
    literals: &["false", "null", "number", "regex", "string", "this", "true", "undefined"],
    comments: &["comment", "html_comment"],
    assertion: javascript_assertion,
    imports: &[
        "call_expression",
        "import_statement",
        "lexical_declaration",
        "variable_declaration",
    ],
    import_scopes: &["program"],
    external: javascript_external,
};

/// The modules that Node brings along; `node:` before a name says so too.
const NODE_MODULES: [&str; 41] = [
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "inspector",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "repl",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "v8",
    "vm",
    "worker_threads",
    "zlib",
];

fn javascript_assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    if node.kind() != "call_expression" {
        return None;
    }
    let function = node.child_by_field_name("function")?;
    let name = text_of(function, text);
    let asserts = match function.kind() {
        "identifier" => name == "expect" || name == "fail" || name.starts_with("assert"),
        "member_expression" => {
            let object = text_of(function.child_by_field_name("object")?, text);
            let property = text_of(function.child_by_field_name("property")?, text);
            object == "assert"
                || object.ends_with(".assert")
                || object.ends_with(".should")
                || (object == "expect" && matches!(property, "soft" | "poll" | "fail"))
        }
        _ => false,
    };
    asserts.then_some(Assertion::Call)
}

fn javascript_external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    match node.kind() {
        "import_statement" => {
            let source = node.child_by_field_name("source");
            source.map_or_else(Vec::new, |source| bound_names(node, source, reading))
        }
        "call_expression" => required_source(node, reading.text)
            .and_then(|source| javascript_package(source, reading.text))
            .map_or_else(Vec::new, |package| vec![Import { name: "", package }]),
        _ => required_names(node, reading),
    }
}

/// `const { a, b } = require("c")`.
fn required_names<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let mut cursor = node.walk();
    let mut imports = Vec::new();
    for declarator in node.named_children(&mut cursor) {
        let (Some(pattern), Some(value)) =
            (declarator.child_by_field_name("name"), declarator.child_by_field_name("value"))
        else {
            continue;
        };
        let value = match value.kind() {
            // `require("c").d`, `await import("c")`
            "member_expression" => value.child_by_field_name("object").unwrap_or(value),
            "await_expression" => value.named_child(0).unwrap_or(value),
            _ => value,
        };
        if let Some(source) = required_source(value, reading.text) {
            imports.extend(bound_names(pattern, source, reading));
        }
    }
    imports
}

/// The string that `require` or `import` is called with.
fn required_source<'t>(call: Node<'t>, text: &str) -> Option<Node<'t>> {
    let function = call.child_by_field_name("function")?;
    let loads =
        call.kind() == "call_expression" && matches!(text_of(function, text), "require" | "import");
    let arguments = call.child_by_field_name("arguments").filter(|_| loads)?;
    child_of_kind(arguments, &["string"])
}

/// All names in a clause or pattern, bound to a package from outside.
fn bound_names<'a>(
    names: Node<'_>,
    source: Node<'_>,
    reading: &Reading<'_, 'a>,
) -> Vec<Import<'a>> {
    let Some(package) = javascript_package(source, reading.text) else { return Vec::new() };
    let mut imports = Vec::new();
    for_each_below(names, |node| {
        if matches!(node.kind(), "identifier" | "shorthand_property_identifier_pattern") {
            imports.push(Import { name: text_of(node, reading.text), package });
        }
    });
    imports
}

/// The package that a specifier names: `a` of `a/b`, `@a/b` of `@a/b/c`. Nothing for the project's
/// own files, whether by a relative path or by a usual alias, and for Node's modules.
fn javascript_package<'a>(source: Node<'_>, text: &'a str) -> Option<&'a str> {
    let specifier = text_of(source, text).trim_matches(['\'', '"']);
    let is_own = specifier.is_empty() || specifier.starts_with(['.', '/', '~', '#']);
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    let end = specifier.match_indices('/').nth(parts - 1).map_or(specifier.len(), |(at, _)| at);
    let package = specifier.get(..end)?;
    let is_alias = package.starts_with("@/");
    let is_standard = specifier.starts_with("node:") || NODE_MODULES.contains(&package);
    (!is_own && !is_alias && !is_standard).then_some(package)
}

pub(super) const RUST: Vocabulary = Vocabulary {
    statements: &[],
    blocks: &["block", "declaration_list", "else_clause"],
    definitions: &["function_item", "impl_item", "mod_item", "trait_item"],
    branches: &[
        "for_expression",
        "if_expression",
        "loop_expression",
        "match_arm",
        "while_expression",
    ],
    is_otherwise: |node, text| {
        let pattern = node.child_by_field_name("pattern");
        let pattern = pattern.map_or("", |pattern| text_of(pattern, text));
        node.kind() == "match_arm" && pattern.split_whitespace().next() == Some("_")
    },
    operations: &["binary_expression", "compound_assignment_expr", "unary_expression"],
    token_trees: &["token_tree"],
    parentheses: &["parenthesized_expression"],
    members: &[("field_expression", "field"), ("scoped_identifier", "name")],
    names: &["identifier", "type_identifier"],
    literals: &[
        "boolean_literal",
        "char_literal",
        "float_literal",
        "integer_literal",
        "raw_string_literal",
        "self",
        "string_literal",
    ],
    comments: &["block_comment", "line_comment"],
    assertion: rust_assertion,
    imports: &["use_declaration"],
    import_scopes: &["source_file", "mod_item", "declaration_list"],
    external: rust_external,
};

/// `assert!` and its like are part of the language, and branches as `assert` is in Python.
fn rust_assertion(node: Node<'_>, text: &str) -> Option<Assertion> {
    if node.kind() != "macro_invocation" {
        return None;
    }
    let path = text_of(node.child_by_field_name("macro")?, text);
    let name = path.rsplit("::").next().unwrap_or(path);
    let asserts =
        ["assert", "debug_assert", "prop_assert"].iter().any(|prefix| name.starts_with(prefix));
    (asserts || name == "panic").then_some(Assertion::Statement)
}

/// The names that a `use` binds, from crates other than Rust's own and the file's.
///
/// A crate that is only named in a path (`serde_json::to_string`) is not seen: it cannot be told
/// from a module of the project.
fn rust_external<'a>(node: Node<'_>, reading: &Reading<'_, 'a>) -> Vec<Import<'a>> {
    let Some(argument) = node.child_by_field_name("argument") else { return Vec::new() };
    let mut imports = Vec::new();
    let mut agenda = Agenda::new();
    agenda.push([(argument, None)]);
    while let Some((node, package)) = agenda.next() {
        let text = text_of(node, reading.text);
        let first = text.trim_start_matches("::").split("::").next().unwrap_or(text).trim();
        let package = package.or(Some(first));
        match node.kind() {
            "scoped_use_list" => {
                let list = node.child_by_field_name("list");
                agenda.push(list.map(|list| (list, package)));
            }
            "use_list" => {
                agenda.push(children(node).into_iter().filter(Node::is_named).map(|child| {
                    // The list outermost in `use {a::b, c}` has no crate in front of it.
                    (child, package.filter(|package| !package.starts_with('{')))
                }));
            }
            "use_as_clause" | "identifier" | "scoped_identifier" | "self" => {
                let named = node.child_by_field_name("alias").or(node.child_by_field_name("name"));
                let name = named.map_or(text, |name| text_of(name, reading.text));
                imports.extend(package.map(|package| {
                    let name = if name == "self" { package } else { name };
                    Import { name, package }
                }));
            }
            _ => {}
        }
    }
    let own = reading.layout.crate_of(reading.path).map(|(name, _)| name);
    imports.retain(|import| {
        let is_standard = ["std", "core", "alloc", "proc_macro", "test"].contains(&import.package);
        let is_own = ["crate", "self", "super"].contains(&import.package);
        !is_standard && !is_own && Some(import.package) != own
    });
    imports
}
