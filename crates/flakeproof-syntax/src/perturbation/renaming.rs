//! Other names for local variables and parameters, and for private fields and methods.
//!
//! A name is changed only where all that it can mean is seen: what a class inside of its scope mentions, or
//! a text that reflection may read, keeps its name. New names say nothing.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use flakeproof_core::Seed;

use super::Edit;
use super::insertions::fresh;
use super::nodes::{Nodes, Place};

/// What the runtime looks for by name.
const KNOWN_BY_NAME: [&str; 6] = [
    "serialVersionUID",
    "serialPersistentFields",
    "writeObject",
    "readObject",
    "readObjectNoData",
    "readResolve",
];

/// Where the names of a file are changed.
pub(super) fn edits(nodes: &Nodes<'_>, seed: Seed) -> Vec<Edit> {
    let renaming = Renaming::new(nodes);
    let mut names: BTreeMap<usize, (Range<usize>, String)> = BTreeMap::new();
    let members = nodes.all().filter_map(|place| renaming.member(place));
    let variables = nodes.all().filter_map(|place| renaming.variable(place));
    for (number, uses) in members.chain(variables).enumerate() {
        let drawn = seed.split(&number.to_string()).0 % 10_000;
        let word = fresh(nodes.text, &format!("v{drawn}w"), number);
        for place in uses {
            let bytes = nodes.bytes(place);
            names.entry(bytes.start).or_insert((bytes, word.clone()));
        }
    }
    let edit =
        |(bytes, text): (Range<usize>, String)| Edit { start: bytes.start, end: bytes.end, text };
    names.into_values().map(edit).collect()
}

/// What an identifier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The value of a variable, or where it gets its name.
    Value,
    /// `this.name`.
    OwnMember,
    /// The name of a call on nothing or on `this`.
    OwnCall,
    /// The name of a method where it is declared.
    Method,
    /// A label, the key of an annotation, a member of another value: another thing of the same name.
    Other,
    /// Where nobody can say.
    Unclear,
}

struct Renaming<'n, 't> {
    nodes: &'n Nodes<'t>,
    /// All identifiers by name, in the order of the text.
    identifiers: HashMap<&'t str, Vec<Place>>,
}

impl<'n, 't> Renaming<'n, 't> {
    fn new(nodes: &'n Nodes<'t>) -> Self {
        let mut identifiers: HashMap<&str, Vec<Place>> = HashMap::new();
        for place in nodes.all().filter(|place| nodes.kind(*place) == "identifier") {
            identifiers.entry(nodes.text(place)).or_default().push(place);
        }
        Self { nodes, identifiers }
    }

    /// The uses of the local variable or parameter that gets its name here, if all are seen.
    fn variable(&self, name: Place) -> Option<Vec<Place>> {
        let nodes = self.nodes;
        if nodes.kind(name) != "identifier" {
            return None;
        }
        let scope = self.scope(name)?;
        let mut uses = Vec::new();
        for place in self.identifiers.get(nodes.text(name))?.iter().copied() {
            let start = nodes.bytes(place).start;
            if !scope.contains(&start) {
                continue;
            }
            if nodes.class(place) != nodes.class(name) {
                return None;
            }
            match self.role(place) {
                Role::Value => uses.push(place),
                Role::OwnMember | Role::OwnCall | Role::Method | Role::Other => {}
                Role::Unclear => return None,
            }
        }
        Some(uses)
    }

    /// The bytes in which a variable that gets its name here is known.
    fn scope(&self, name: Place) -> Option<Range<usize>> {
        let nodes = self.nodes;
        let owner = nodes.parent(name)?;
        let bytes = |place: Place| nodes.bytes(place);
        match nodes.kind(owner) {
            "formal_parameter" => {
                let owner = nodes.parent(nodes.parent(owner)?)?;
                matches!(
                    nodes.kind(owner),
                    "method_declaration" | "constructor_declaration" | "lambda_expression"
                )
                .then(|| bytes(owner))
            }
            "lambda_expression" if nodes.field(name) == Some("parameters") => Some(bytes(owner)),
            "inferred_parameters" => Some(bytes(nodes.parent(owner)?)),
            "catch_formal_parameter" => Some(bytes(nodes.parent(owner)?)),
            "enhanced_for_statement" if nodes.field(name) == Some("name") => {
                // What is looped over is evaluated outside of the scope.
                let value = bytes(nodes.child(owner, "value")?);
                let uses = self.identifiers.get(nodes.text(name))?.iter();
                let is_clear = uses.into_iter().all(|it| !value.contains(&bytes(*it).start));
                is_clear.then(|| bytes(owner))
            }
            "resource" if nodes.field(name) == Some("name") => {
                let with = nodes.parent(nodes.parent(owner)?)?;
                let body = nodes.child(with, "body")?;
                Some(bytes(owner).start..bytes(body).end)
            }
            "variable_declarator" if nodes.field(name) == Some("name") => {
                let declaration = nodes.parent(owner)?;
                if nodes.kind(declaration) != "local_variable_declaration" {
                    return None;
                }
                let block = nodes.parent(declaration)?;
                match nodes.kind(block) {
                    "for_statement" => Some(bytes(block)),
                    "block" | "constructor_body" => {
                        Some(bytes(declaration).start..bytes(block).end)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The uses of the private field or method that gets its name here, if all are seen.
    fn member(&self, name: Place) -> Option<Vec<Place>> {
        let nodes = self.nodes;
        if nodes.kind(name) != "identifier" || nodes.field(name) != Some("name") {
            return None;
        }
        let owner = nodes.parent(name)?;
        let (declaration, is_method) = match nodes.kind(owner) {
            "method_declaration" => (owner, true),
            "variable_declarator" => (nodes.parent(owner)?, false),
            _ => return None,
        };
        let is_member =
            matches!(nodes.kind(declaration), "method_declaration" | "field_declaration");
        let text = nodes.text(name);
        let is_known = KNOWN_BY_NAME.contains(&text) || nodes.text.contains(&format!("\"{text}\""));
        if !is_member || is_known || !self.is_private(declaration) {
            return None;
        }
        if is_method && !self.stands_alone(nodes.class(name)?) {
            return None;
        }
        let uses = self.identifiers.get(text)?;
        let is_own = |place: &Place| {
            let is_declared = match self.role(*place) {
                // No local variable may hide a field, and no other field be called so.
                Role::Value => !is_method && (*place == name || !self.is_declared_at(*place)),
                Role::OwnMember => !is_method,
                Role::OwnCall => is_method,
                Role::Method => {
                    is_method && self.is_private(nodes.parent(*place).unwrap_or(*place))
                }
                Role::Other | Role::Unclear => false,
            };
            is_declared && nodes.class(*place) == nodes.class(name)
        };
        uses.iter().all(is_own).then(|| uses.clone())
    }

    /// Whether a variable gets its name here.
    fn is_declared_at(&self, place: Place) -> bool {
        let nodes = self.nodes;
        let parent = nodes.parent(place).map(|parent| nodes.kind(parent));
        let is_declared = matches!(
            parent,
            Some(
                "variable_declarator"
                    | "formal_parameter"
                    | "catch_formal_parameter"
                    | "enhanced_for_statement"
                    | "resource"
            )
        ) && nodes.field(place) == Some("name");
        let is_lambda = parent == Some("inferred_parameters")
            || parent == Some("lambda_expression") && nodes.field(place) == Some("parameters");
        is_declared || is_lambda
    }

    /// Whether a member is private, and nothing is told of it by an annotation.
    fn is_private(&self, declaration: Place) -> bool {
        let nodes = self.nodes;
        let mut children = nodes.children(declaration);
        let modifiers = children.find(|child| nodes.kind(*child) == "modifiers");
        modifiers.is_some_and(|modifiers| {
            let is_annotation =
                |it: Place| matches!(nodes.kind(it), "annotation" | "marker_annotation");
            nodes.children(modifiers).any(|it| nodes.kind(it) == "private")
                && !nodes.children(modifiers).any(is_annotation)
        })
    }

    /// Whether a class inherits nothing but what every object has: a call cannot mean what is not seen.
    fn stands_alone(&self, body: Place) -> bool {
        let nodes = self.nodes;
        let Some(class) = nodes.parent(body).filter(|it| nodes.kind(*it) == "class_declaration")
        else {
            return false;
        };
        nodes.class(class).is_none()
            && !nodes
                .children(class)
                .any(|it| matches!(nodes.kind(it), "superclass" | "super_interfaces"))
    }

    fn role(&self, place: Place) -> Role {
        let nodes = self.nodes;
        let Some(parent) = nodes.parent(place) else { return Role::Unclear };
        let is = |field: &str| nodes.field(place) == Some(field);
        let on_this = || nodes.child(parent, "object").is_none_or(|it| nodes.kind(it) == "this");
        match nodes.kind(parent) {
            "field_access" if is("field") && on_this() => Role::OwnMember,
            "field_access" if is("field") => Role::Other,
            "method_invocation" if is("name") && on_this() => Role::OwnCall,
            "method_invocation" if is("name") => Role::Other,
            "method_declaration" => Role::Method,
            "method_reference" => match nodes.children(parent).next() == Some(place) {
                true => Role::Value,
                false => Role::Other,
            },
            "labeled_statement" | "break_statement" | "continue_statement" => Role::Other,
            "element_value_pair" if is("key") => Role::Other,
            "annotation" | "marker_annotation" if is("name") => Role::Other,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "constructor_declaration"
            | "scoped_identifier" => Role::Other,
            // A constant of an enum, a pattern, a component of a record: rules of their own.
            "switch_label"
            | "instanceof_expression"
            | "type_pattern"
            | "record_pattern"
            | "record_pattern_component"
            | "enum_constant" => Role::Unclear,
            _ => Role::Value,
        }
    }
}
