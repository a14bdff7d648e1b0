//! What becomes of sources of each language in the flow form.

mod go;
mod hostile;
mod java;
mod javascript;
mod python;
mod render;
mod rust;

use flakeproof_syntax::flow::Unit;
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
    render::statements(unit, &function.expect("the function is found").body)
}

/// `role owner.name(parameters) -> type` of each function.
fn functions(unit: &Unit) -> Vec<String> {
    unit.functions.iter().map(|function| render::head(unit, function)).collect()
}

/// `Owner: declared name = value` of each field, those of the file first.
fn fields(unit: &Unit) -> Vec<String> {
    let of_types =
        unit.types.iter().flat_map(|owner| owner.fields.iter().map(move |f| (Some(owner), f)));
    let all = unit.fields.iter().map(|field| (None, field)).chain(of_types);
    all.map(|(owner, field)| {
        let owner = owner.map_or("", |owner| owner.name.as_str());
        format!("{owner}: {}", render::field(unit, field))
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
