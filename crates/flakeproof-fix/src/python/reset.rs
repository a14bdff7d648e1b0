//! Give a test the state that it relies on, where it runs: in the victim, or in the brittle test.

use flakeproof_core::{LeftBehind, LeftKind};

use super::addition::Addition;
use super::file::{PythonFile, Style, TestFunction};
use super::imports::Names;
use super::restore::{Place, Surround, changed_fields};
use crate::Wanted;
use crate::literal::as_python;

/// The ways to give a test what it relies on, the likeliest first. None where the value cannot be written
/// down.
#[must_use]
pub fn resets(
    thing: &LeftBehind,
    wanted: Wanted,
    file: &PythonFile,
    test: &TestFunction,
    surround: &Surround,
) -> Vec<Addition> {
    let styles: &[Style] = match test.style {
        Style::Pytest => &[Style::Pytest],
        Style::Unittest => &[Style::Unittest],
        Style::Unknown => &[Style::Unittest, Style::Pytest],
    };
    let (value, other) = match wanted {
        Wanted::Before => (thing.before.as_deref(), thing.after.as_deref()),
        Wanted::After => (thing.after.as_deref(), thing.before.as_deref()),
    };
    let in_style = |style: &Style| {
        let mut names = Names::new(file);
        let mut written = match thing.kind {
            LeftKind::Attribute => {
                attribute(&thing.name, value, other, *style, surround, file, &mut names)
            }
            LeftKind::Variable => variable(&thing.name, value, *style, &mut names),
            LeftKind::Module => module(&thing.name, value, *style, &mut names),
            LeftKind::WorkingDirectory
            | LeftKind::File
            | LeftKind::SignalHandler
            | LeftKind::Thread
            | LeftKind::WarningsFilter
            | LeftKind::Logger
            | LeftKind::ImportPath
            | LeftKind::StaticField
            | LeftKind::SystemProperty
            | LeftKind::RuntimeDefault
            | LeftKind::Listener
            | LeftKind::Handle => None,
        }?;
        written.imports.extend(names.needed());
        Some(written)
    };
    styles.iter().filter_map(in_style).collect()
}

fn attribute(
    name: &str,
    value: Option<&str>,
    other: Option<&str>,
    style: Style,
    surround: &Surround,
    file: &PythonFile,
    names: &mut Names<'_>,
) -> Option<Addition> {
    let place = Place::of(name, surround, file, names)?;
    let Some(value) = value else {
        let Place { owner, attribute, .. } = place;
        return match style {
            Style::Unittest => None,
            Style::Pytest | Style::Unknown => Some(Addition {
                fixtures: vec!["monkeypatch".into()],
                statements: vec![format!(
                    "monkeypatch.delattr({owner}, \"{attribute}\", raising=False)"
                )],
                ..Addition::default()
            }),
        };
    };
    if let Some(value) = as_python(value) {
        return Some(set(&place.owner, &place.attribute, value, style, names));
    }
    let changed = changed_fields(value, other.unwrap_or_default());
    let mut all = Addition::default();
    for (field, value) in &changed {
        all = all.and(set(&place.value, field, as_python(value)?, style, names));
    }
    (!changed.is_empty()).then_some(all)
}

fn set(owner: &str, attribute: &str, value: &str, style: Style, names: &mut Names<'_>) -> Addition {
    match style {
        Style::Unittest => Addition {
            decorators: vec![format!(
                "@{}.patch.object({owner}, \"{attribute}\", {value})",
                names.mock()
            )],
            ..Addition::default()
        },
        Style::Pytest | Style::Unknown => Addition {
            fixtures: vec!["monkeypatch".into()],
            statements: vec![format!("monkeypatch.setattr({owner}, \"{attribute}\", {value})")],
            ..Addition::default()
        },
    }
}

fn variable(
    name: &str,
    value: Option<&str>,
    style: Style,
    names: &mut Names<'_>,
) -> Option<Addition> {
    Some(match (style, value) {
        (Style::Unittest, Some(value)) => {
            let (mock, os, value) = (names.mock(), names.module("os"), as_python(value)?);
            Addition {
                decorators: vec![format!(
                    "@{mock}.patch.dict({os}.environ, {{\"{name}\": {value}}})"
                )],
                ..Addition::default()
            }
        }
        (Style::Unittest, None) => {
            let (mock, os) = (names.mock(), names.module("os"));
            Addition {
                decorators: vec![format!("@{mock}.patch.dict({os}.environ)")],
                statements: vec![format!("{os}.environ.pop(\"{name}\", None)")],
                ..Addition::default()
            }
        }
        (Style::Pytest | Style::Unknown, value) => Addition {
            fixtures: vec!["monkeypatch".into()],
            statements: vec![match value {
                Some(value) => format!("monkeypatch.setenv(\"{name}\", {})", as_python(value)?),
                None => format!("monkeypatch.delenv(\"{name}\", raising=False)"),
            }],
            ..Addition::default()
        },
    })
}

/// A module that is imported before the test, or anew by it.
fn module(
    name: &str,
    value: Option<&str>,
    style: Style,
    names: &mut Names<'_>,
) -> Option<Addition> {
    match (value, style) {
        (Some(_), _) => {
            let _ = names.module(name);
            Some(Addition::default())
        }
        (None, Style::Unittest) => None,
        (None, Style::Pytest | Style::Unknown) => {
            let sys = names.module("sys");
            Some(Addition {
                fixtures: vec!["monkeypatch".into()],
                statements: vec![format!(
                    "monkeypatch.delitem({sys}.modules, \"{name}\", raising=False)"
                )],
                ..Addition::default()
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_victim_gets_what_was_there_before_and_a_brittle_test_what_others_leave() {
        let thing = LeftBehind {
            kind: LeftKind::Attribute,
            name: "shop.OPEN".into(),
            before: Some("False".into()),
            after: Some("True".into()),
        };
        let text = "import shop\n\n\ndef test_a():\n    assert shop.sells()\n";
        let file = PythonFile::parse("test_shop.py", text).unwrap();
        let test = file.test(&"test_shop.py::test_a".into()).unwrap();
        let surround = Surround { modules: ["shop".to_owned()].into() };
        let said = |wanted| {
            let forms = resets(&thing, wanted, &file, &test, &surround);
            file.with(&[(test.clone(), forms[0].clone())]).unwrap()
        };
        assert!(said(Wanted::Before).contains("monkeypatch.setattr(shop, \"OPEN\", False)"));
        assert!(said(Wanted::After).contains("monkeypatch.setattr(shop, \"OPEN\", True)"));
    }
}
