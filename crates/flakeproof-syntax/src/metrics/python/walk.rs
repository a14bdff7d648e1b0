//! One walk over a test that counts everything its syntax tree tells.
//!
//! radon's two visitors and a walk over `ast` leave out different parts of a test; what counts
//! where is carried along as the [`Place`] of a node.

use std::collections::BTreeSet;

use tree_sitter::{Node, TreeCursor};

use super::file::imports_of_statement;
use super::operations::{Margin, Operand, Operator, operand, operation};
use crate::metrics::features::Halstead;
use crate::tree::{Agenda, child_of_kind, children, text_of};

/// What was counted in a test, in words that live as long as its text and its tree.
#[derive(Debug, Default)]
pub(super) struct Counted<'a> {
    pub(super) depth: u32,
    pub(super) assertions: u32,
    pub(super) branches: u32,
    /// Operands are told apart by the function they stand in, as in radon.
    pub(super) halstead: Halstead<Operator<'a>, (&'a str, Operand)>,
    /// The names that are read or written.
    pub(super) names: BTreeSet<&'a str>,
    /// The packages that the test itself imports.
    pub(super) packages: BTreeSet<&'a str>,
}

/// Where a node stands.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    /// The function around it, by name.
    function: &'a str,
    /// How many statements lie around it.
    depth: u32,
    /// Whether operators count: not in the head of a function.
    operators: bool,
    /// Whether branches count: not in functions and classes inside the test, nor in assertions.
    branches: bool,
    /// The operator of the chain of `and` or `or` that goes on here.
    chain: Option<&'a str>,
    /// Whether names are those of parameters or patterns, which bind without being expressions.
    binds: bool,
}

/// Count what is in a test, given the node of the function with its decorators.
pub(super) fn count<'a>(test: Node<'a>, text: &'a str, margin: Margin<'_>) -> Counted<'a> {
    let mut walk = Walk { text, margin, counted: Counted::default(), agenda: Agenda::new() };
    let place = Place {
        function: "",
        depth: 0,
        operators: false,
        branches: true,
        chain: None,
        binds: false,
    };
    walk.agenda.push([(test, place)]);
    while let Some((node, place)) = walk.agenda.next() {
        walk.visit(node, place);
    }
    walk.counted
}

struct Walk<'a, 'm> {
    text: &'a str,
    margin: Margin<'m>,
    counted: Counted<'a>,
    agenda: Agenda<'a, Place<'a>>,
}

impl<'a> Walk<'a, '_> {
    fn visit(&mut self, node: Node<'a>, place: Place<'a>) {
        let mut inside = Place { chain: None, ..place };
        if is_statement(node.kind()) {
            inside.depth += 1;
            self.counted.depth = self.counted.depth.max(inside.depth);
        }
        if place.branches {
            self.counted.branches += branches(node);
        }
        self.count_operation(node, place);
        match node.kind() {
            "identifier" if !place.binds => {
                self.counted.names.insert(text_of(node, self.text));
            }
            "dotted_name" => self.see_pattern_name(node),
            "import_statement" | "import_from_statement" => {
                let imports = imports_of_statement(node, self.text);
                self.counted.packages.extend(imports.iter().map(|import| import.package));
            }
            "global_statement" | "nonlocal_statement" | "future_import_statement" | "comment" => {}
            "function_definition" => self.enter_function(node, inside),
            "class_definition" => self.enter(node, Place { branches: false, ..inside }),
            "decorated_definition" => self.enter_decorated(node, inside),
            "if_statement" => self.enter_if(node, inside),
            "boolean_operator" => self.enter_chain(node, inside, place.chain),
            "assert_statement" => {
                self.counted.assertions += 1;
                self.enter(node, Place { branches: false, ..inside });
            }
            "call" => {
                self.counted.assertions += u32::from(is_assertion(node, self.text));
                self.enter(node, inside);
            }
            _ => self.enter(node, inside),
        }
    }

    /// Visit the children next, without names that are no expressions.
    fn enter(&mut self, node: Node<'a>, inside: Place<'a>) {
        self.enter_each(node, |_, _| Some(inside));
    }

    fn enter_each(
        &mut self,
        node: Node<'a>,
        place: impl Fn(Node<'a>, Option<&'a str>) -> Option<Place<'a>>,
    ) {
        let kind = node.kind();
        let mut cursor = node.walk();
        let mut found = Vec::new();
        if cursor.goto_first_child() {
            loop {
                let child = cursor.node();
                if child.is_named()
                    && let Some(mut place) = place(child, cursor.field_name())
                {
                    if let Some(binds) = binds(kind, &cursor) {
                        place.binds = binds;
                    }
                    found.push((child, place));
                }
                if !cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        self.agenda.push(found);
    }

    fn enter_function(&mut self, node: Node<'a>, inside: Place<'a>) {
        let name = node.child_by_field_name("name").map_or("", |name| text_of(name, self.text));
        // The test itself is the one function that lies in no other statement.
        let branches = inside.branches && inside.depth == 1;
        let head = Place { operators: false, branches: false, ..inside };
        let body = Place { function: name, operators: true, branches, ..inside };
        self.enter_each(node, |_, field| Some(if field == Some("body") { body } else { head }));
    }

    /// Decorators belong to the function or class behind them.
    fn enter_decorated(&mut self, node: Node<'a>, inside: Place<'a>) {
        let definition = node.child_by_field_name("definition");
        let is_function = definition.is_some_and(|node| node.kind() == "function_definition");
        let decorator =
            Place { operators: inside.operators && !is_function, branches: false, ..inside };
        self.enter_each(node, |child, _| {
            Some(if Some(child) == definition { inside } else { decorator })
        });
    }

    /// In the tree of Python, `elif` is an `if` in the `else` of the one before.
    fn enter_if(&mut self, node: Node<'a>, inside: Place<'a>) {
        let mut depth = inside.depth;
        let mut found = Vec::new();
        for child in children(node) {
            depth += u32::from(child.kind() == "elif_clause");
            found.push((child, Place { depth, ..inside }));
        }
        self.counted.depth = self.counted.depth.max(depth);
        self.agenda.push(found);
    }

    /// `a and b and c` is one operator with three operands.
    fn enter_chain(&mut self, node: Node<'a>, inside: Place<'a>, outer: Option<&'a str>) {
        let operator = chain_operator(node);
        let left = node.child_by_field_name("left");
        let left_chains = left
            .filter(|left| chain_operator(*left).is_some() && chain_operator(*left) == operator);
        if inside.operators {
            if let Some(operator) = operator
                && outer != Some(operator)
            {
                self.counted.halstead.see_operator(Operator::Binary(operator));
            }
            if left_chains.is_none() {
                self.see_operands(left, inside);
            }
            self.see_operands(node.child_by_field_name("right"), inside);
        }
        self.enter_each(node, |child, _| {
            let chain = if Some(child) == left { operator } else { None };
            Some(Place { chain, ..inside })
        });
    }

    fn count_operation(&mut self, node: Node<'a>, place: Place<'a>) {
        if !place.operators {
            return;
        }
        let Some(operation) = operation(node, self.text) else { return };
        for operator in operation.operators {
            self.counted.halstead.see_operator(operator);
        }
        self.see_operands(operation.operands, place);
    }

    fn see_operands(&mut self, operands: impl IntoIterator<Item = Node<'a>>, place: Place<'a>) {
        for node in operands {
            let operand = operand(node, self.text, self.margin);
            self.counted.halstead.see_operand((place.function, operand));
        }
    }

    /// In patterns, `a.b` is looked up, and so is the class of `A(…)`; `a` alone is bound.
    fn see_pattern_name(&mut self, node: Node<'a>) {
        if let Some(first) = node.child(0)
            && node.child_count() > 1
        {
            self.counted.names.insert(text_of(first, self.text));
        }
    }
}

fn chain_operator<'a>(node: Node<'a>) -> Option<&'a str> {
    let is_chain = node.kind() == "boolean_operator";
    node.child_by_field_name("operator").filter(|_| is_chain).map(|operator| operator.kind())
}

/// Whether the child under the cursor binds names, or holds expressions, whatever its parent does.
fn binds(parent: &str, cursor: &TreeCursor<'_>) -> Option<bool> {
    let field = cursor.field_name();
    let child = cursor.node().kind();
    match parent {
        "attribute" => (field == Some("attribute")).then_some(true),
        "keyword_argument" | "function_definition" | "class_definition" => {
            (field == Some("name")).then_some(true)
        }
        "parameters" | "lambda_parameters" | "typed_parameter" => Some(matches!(
            child,
            "identifier" | "list_splat_pattern" | "dictionary_splat_pattern" | "tuple_pattern"
        )),
        "default_parameter" | "typed_default_parameter" => Some(field == Some("name")),
        "except_clause" => (field == Some("alias")).then_some(true),
        "case_pattern" | "keyword_pattern" | "splat_pattern" | "member_type" => {
            (child == "identifier").then_some(true)
        }
        "case_clause" => Some(child == "case_pattern"),
        _ => None,
    }
}

fn is_statement(kind: &str) -> bool {
    matches!(
        kind,
        "future_import_statement"
            | "import_statement"
            | "import_from_statement"
            | "print_statement"
            | "assert_statement"
            | "expression_statement"
            | "return_statement"
            | "delete_statement"
            | "raise_statement"
            | "pass_statement"
            | "break_statement"
            | "continue_statement"
            | "global_statement"
            | "nonlocal_statement"
            | "exec_statement"
            | "type_alias_statement"
            | "if_statement"
            | "for_statement"
            | "while_statement"
            | "try_statement"
            | "with_statement"
            | "function_definition"
            | "class_definition"
            | "match_statement"
    )
}

/// What a node adds to the complexity, nodes below it left out.
fn branches(node: Node<'_>) -> u32 {
    let count = |is_branch: fn(Node<'_>) -> bool| {
        let branches = children(node).into_iter().filter(|child| is_branch(*child)).count();
        u32::try_from(branches).unwrap_or(u32::MAX)
    };
    match node.kind() {
        "if_statement"
        | "elif_clause"
        | "conditional_expression"
        | "boolean_operator"
        | "assert_statement" => 1,
        "for_statement" | "while_statement" => 1 + count(|child| child.kind() == "else_clause"),
        // radon does not know `except*`.
        "try_statement" if count(is_group_handler) > 0 => 0,
        "try_statement" => count(|child| matches!(child.kind(), "except_clause" | "else_clause")),
        "list_comprehension"
        | "set_comprehension"
        | "dictionary_comprehension"
        | "generator_expression" => {
            count(|child| matches!(child.kind(), "for_in_clause" | "if_clause"))
        }
        "match_statement" => node.child_by_field_name("body").map_or(0, cases),
        _ => 0,
    }
}

fn is_group_handler(node: Node<'_>) -> bool {
    node.kind() == "except_clause" && child_of_kind(node, &["*"]).is_some()
}

/// The cases of a `match`; one that takes anything is the `else` of the others.
fn cases(block: Node<'_>) -> u32 {
    let cases: Vec<Node<'_>> =
        children(block).into_iter().filter(|child| child.kind() == "case_clause").collect();
    let has_else = cases.iter().any(|case| takes_anything(*case));
    u32::try_from(cases.len()).unwrap_or(u32::MAX).saturating_sub(u32::from(has_else))
}

/// Whether a case is `_` or a name alone, in parentheses perhaps.
fn takes_anything(case: Node<'_>) -> bool {
    let mut node = case;
    loop {
        let inner: Vec<Node<'_>> = children(node)
            .into_iter()
            .filter(|child| {
                !matches!(
                    child.kind(),
                    "case" | ":" | "block" | "if_clause" | "comment" | "(" | ")"
                )
            })
            .collect();
        let [only] = inner.as_slice() else { return false };
        match only.kind() {
            "case_pattern" | "tuple_pattern" => node = *only,
            "dotted_name" => return only.child_count() == 1,
            kind => return kind == "_",
        }
    }
}

/// Whether a call is one of unittest's assertions.
fn is_assertion(call: Node<'_>, text: &str) -> bool {
    let field = |node: Node<'_>, name: &str| {
        node.child_by_field_name(name).map_or("", |node| text_of(node, text))
    };
    call.child_by_field_name("function").is_some_and(|function| {
        let method = field(function, "attribute");
        function.kind() == "attribute"
            && field(function, "object") == "self"
            && (method.starts_with("assert") || method == "fail")
    })
}
