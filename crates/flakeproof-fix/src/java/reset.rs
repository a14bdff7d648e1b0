//! Give a class of tests the state that one of its tests relies on, before each of them.

use flakeproof_core::{LeftBehind, LeftKind};

use super::addition::Addition;
use super::expression::{escaped, literal};
use super::file::{JavaFile, TestMethod};
use super::restore::{Scope, Writer, noun, restores};
use super::sources::{Sources, Type};
use crate::Wanted;

/// The ways to give a test what it relies on, the likeliest first. None where the value cannot be written
/// down.
#[must_use]
pub fn resets(
    thing: &LeftBehind,
    wanted: Wanted,
    file: &JavaFile,
    test: &TestMethod,
    sources: &Sources,
) -> Vec<Addition> {
    let value = match wanted {
        Wanted::Before => thing.before.as_deref(),
        Wanted::After => thing.after.as_deref(),
    };
    let mut writer = Writer::new(file, Scope::Test);
    let statement = match thing.kind {
        LeftKind::SystemProperty => property(&thing.name, value),
        LeftKind::RuntimeDefault => value.and_then(|it| default(&thing.name, it, &mut writer)),
        LeftKind::StaticField => {
            value.and_then(|it| assignment(&thing.name, it, file, sources, &mut writer))
        }
        _ => None,
    };
    let mut found = Vec::new();
    if let Some(statement) = statement {
        writer.written.before.push(statement);
        writer.written.before_name = format!("set{}", capital(&noun(&thing.name)));
        let set = writer.addition();
        // What the test is given must not become what others find.
        let (before, after) = (thing.after.clone(), thing.before.clone());
        let back = LeftBehind { before, after, ..thing.clone() };
        let back = if wanted == Wanted::Before { &back } else { thing };
        let restored = restores(back, file, test, sources).into_iter().next();
        found.extend(restored.map(|it| set.clone().and(it)));
        found.push(set);
    }
    if wanted == Wanted::Before {
        let can_begin =
            |it: &Addition| it.fields.is_empty() && it.replaced.is_empty() && !it.after.is_empty();
        let forms = restores(thing, file, test, sources).into_iter().filter(can_begin);
        found.extend(forms.map(|form| Addition {
            before_name: format!("reset{}", capital(form.nouns.first().map_or("", String::as_str))),
            before: form.after,
            after: Vec::new(),
            ..form
        }));
    }
    found
}

fn property(name: &str, value: Option<&str>) -> Option<String> {
    let name = escaped(name);
    Some(match value {
        None => format!("System.clearProperty(\"{name}\");"),
        Some(value) => format!("System.setProperty(\"{name}\", {});", literal(value)?),
    })
}

fn default(name: &str, value: &str, writer: &mut Writer<'_>) -> Option<String> {
    match name {
        "locale" => {
            let locale = writer.names.of_type("java.util.Locale");
            let tag = escaped(&value.replace('_', "-"));
            Some(format!("{locale}.setDefault({locale}.forLanguageTag(\"{tag}\"));"))
        }
        "time zone" => {
            let zone = writer.names.of_type("java.util.TimeZone");
            let id = escaped(value);
            Some(format!("{zone}.setDefault({zone}.getTimeZone(\"{id}\"));"))
        }
        _ => None,
    }
}

fn assignment(
    name: &str,
    value: &str,
    file: &JavaFile,
    sources: &Sources,
    writer: &mut Writer<'_>,
) -> Option<String> {
    let (class, field) = name.rsplit_once('.')?;
    let owner = Type::find(sources, class)?;
    let variable = owner.variable(field)?;
    let value = literal(value)?;
    if owner.shows(variable.node, file) && !variable.is_final() {
        return Some(format!("{}.{field} = {value};", writer.names.of_type(class)));
    }
    let methods = owner.methods();
    let set = methods.iter().find(|it| {
        it.is_static()
            && it.parameters().len() == 1
            && it.assigns(field)
            && owner.shows(it.node, file)
    })?;
    Some(format!("{}.{}({value});", writer.names.of_type(class), set.name()))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_gets_what_it_relies_on_and_leaves_it_to_nobody() {
        let shop = "package shop;\n\nclass Shop {\n    private static String customer;\n\n    static void \
                    logIn(String name) {\n        customer = name;\n    }\n}\n";
        let sources = Sources::new([("shop/Shop.java".to_owned(), shop.to_owned())]);
        let text = "package shop;\n\nimport org.junit.Test;\n\npublic class T {\n    @Test\n    public void \
                    a() {\n    }\n}\n";
        let file = JavaFile::parse("T.java", text).unwrap();
        let test = file.test(&"shop.T#a".into()).unwrap();
        let thing = LeftBehind {
            kind: LeftKind::StaticField,
            name: "shop.Shop.customer".into(),
            before: Some("null".into()),
            after: Some("\"ada\"".into()),
        };
        let forms = resets(&thing, Wanted::After, &file, &test, &sources);
        let with = file.with(&[(test, forms[0].clone())]).unwrap();
        let says = ["@Before\n", "Shop.logIn(\"ada\");", "@After\n", "Shop.logIn(null);"];
        assert!(says.iter().all(|it| with.contains(it)), "{with}");
    }
}
