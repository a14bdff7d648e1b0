//! What becomes of sources of each language in the flow form.
//!
//! It is compared as text: `x = f(a)` binds, `f(a)` evaluates, `assert isEqualTo: x, 1` looks at
//! values, and what is nested stands in braces. Combined values name their operation:
//! `arithmetic[+](a, b)`.

mod go;
mod hostile;
mod java;
mod javascript;
mod python;
mod rust;

use flakeproof_syntax::flow::{
    Block, Expression, Field, Function, Operation, Parameter, Role, Span, Statement, Unit,
};
use flakeproof_syntax::{Finder, Layout, SourceFile};

/// The unit of a text.
fn unit(path: &str, text: &str) -> Unit {
    unit_in(&Layout::default(), path, text)
}

fn unit_in(layout: &Layout, path: &str, text: &str) -> Unit {
    Finder::default().lower(&SourceFile { path, text }, layout).unit
}

/// The statements of the first function with this name, one line for each.
fn body(unit: &Unit, name: &str) -> Vec<String> {
    let function = unit.functions.iter().find(|function| function.name == name);
    statements(unit, &function.expect("the function is found").body)
}

/// `role owner.name(parameters) -> type` of each function.
fn functions(unit: &Unit) -> Vec<String> {
    unit.functions.iter().map(|function| head(unit, function)).collect()
}

/// `Owner: declared name = value` of each field, those of the file first.
fn fields(unit: &Unit) -> Vec<String> {
    let of_types =
        unit.types.iter().flat_map(|owner| owner.fields.iter().map(move |f| (Some(owner), f)));
    let all = unit.fields.iter().map(|field| (None, field)).chain(of_types);
    all.map(|(owner, field)| {
        let owner = owner.map_or("", |owner| owner.name.as_str());
        format!("{owner}: {}", field_text(unit, field))
    })
    .collect()
}

/// `name path` of each import, with a star behind members.
fn imports(unit: &Unit) -> Vec<String> {
    let line = |import: &flakeproof_syntax::flow::Import| {
        format!("{} {}{}", import.name, import.path, if import.is_member { " member" } else { "" })
    };
    unit.imports.iter().map(line).collect()
}

/// `Name < Base, Base` of each class.
fn types(unit: &Unit) -> Vec<String> {
    let line = |class: &flakeproof_syntax::flow::TypeDeclaration| {
        format!("{} < {}", class.name, class.bases.join(", "))
    };
    unit.types.iter().map(line).collect()
}

fn statements(unit: &Unit, statements: &[Statement]) -> Vec<String> {
    statements.iter().map(|statement| self::statement(unit, statement)).collect()
}

fn head(unit: &Unit, function: &Function) -> String {
    let role = match &function.role {
        Role::Test(id) => format!("test {id} "),
        Role::Before => "before ".to_owned(),
        Role::After => "after ".to_owned(),
        Role::Fixture => "fixture ".to_owned(),
        Role::Plain => String::new(),
    };
    let owner = function.owner.and_then(|owner| unit.types.get(owner as usize));
    let owner = owner.map_or(String::new(), |owner| format!("{}.", owner.name));
    let parameters = parameters(unit, &function.parameters);
    let returns =
        function.returns.map_or(String::new(), |span| format!(" -> {}", text(unit, span)));
    format!("{role}{owner}{}({parameters}){returns}", function.name)
}

fn field_text(unit: &Unit, field: &Field) -> String {
    let value = field.value.as_ref().map_or(String::new(), |v| format!(" = {}", value_of(unit, v)));
    format!("{}{}{value}", declared(unit, field.declared), text(unit, field.name))
}

fn statement(unit: &Unit, statement: &Statement) -> String {
    match statement {
        Statement::Bind { targets, declared: kind, operator, value } => {
            let targets = list(unit, targets);
            let operator = text(unit, *operator);
            let value = value.as_ref().map_or(String::new(), |value| value_of(unit, value));
            let line = format!("{}{targets} {operator} {value}", declared(unit, *kind));
            line.trim_end().to_owned()
        }
        Statement::Evaluate(value) => value_of(unit, value),
        Statement::Return(value) => {
            let value = value.as_ref().map_or(String::new(), |value| value_of(unit, value));
            format!("return {value}").trim_end().to_owned()
        }
        Statement::Assert { words, operands, .. } => {
            let words: Vec<&str> = words.iter().map(|word| text(unit, *word)).collect();
            format!("assert {}: {}", words.join(" "), list(unit, operands)).trim_end().to_owned()
        }
        Statement::Nested { block, heads, body } => {
            let block = match block {
                Block::Plain => "plain",
                Block::Branch => "branch",
                Block::Loop => "loop",
                Block::Try => "try",
                Block::Handler => "handler",
                Block::Raises => "raises",
            };
            let heads = if heads.is_empty() { String::new() } else { list(unit, heads) + " " };
            format!("{block} {heads}{{ {} }}", statements(unit, body).join("; "))
        }
    }
}

fn value_of(unit: &Unit, value: &Expression) -> String {
    match value {
        Expression::Name(span) | Expression::Literal(span) => text(unit, *span).to_owned(),
        Expression::Call { name, receiver, arguments, creates } => {
            let new = if *creates { "new " } else { "" };
            let receiver = receiver.as_ref().map(|receiver| value_of(unit, receiver) + ".");
            let receiver = receiver.unwrap_or_default();
            format!("{new}{receiver}{}({})", text(unit, *name), list(unit, arguments))
        }
        Expression::Member { object, name } => {
            format!("{}.{}", value_of(unit, object), text(unit, *name))
        }
        Expression::Combine { operation, word, operands } => {
            let operation = match operation {
                Operation::Arithmetic => "arithmetic",
                Operation::Compare => "compare",
                Operation::Index => "index",
                Operation::Pass => "pass",
                Operation::Gather => "gather",
                Operation::Choose => "choose",
            };
            format!("{operation}[{}]({})", text(unit, *word), list(unit, operands))
        }
        Expression::Lambda(function) => {
            let body = statements(unit, &function.body).join("; ");
            let name = &function.name;
            format!("{name}|{}| {{ {body} }}", parameters(unit, &function.parameters))
        }
    }
}

fn list(unit: &Unit, values: &[Expression]) -> String {
    values.iter().map(|value| value_of(unit, value)).collect::<Vec<_>>().join(", ")
}

fn parameters(unit: &Unit, parameters: &[Parameter]) -> String {
    let one = |parameter: &Parameter| {
        format!("{}{}", declared(unit, parameter.declared), text(unit, parameter.name))
    };
    parameters.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn declared(unit: &Unit, declared: Option<Span>) -> String {
    declared.map_or(String::new(), |kind| format!("{} ", text(unit, kind)))
}

/// The first line of what a span covers.
fn text(unit: &Unit, span: Span) -> &str {
    unit.text_of(span).lines().next().unwrap_or_default()
}
