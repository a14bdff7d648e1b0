//! What a name means that is no local variable: a field, a class, a package.

use super::index::{Project, TypeId};
use super::kind::{Kind, Value};
use super::names::Name;
use super::reader::Reader;
use super::scope::Imported;
use crate::Language;
use crate::flow::{Declared, Expression, Field};

/// Where a variable of a class or of a file is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldPlace {
    /// The file.
    pub(crate) unit: u32,
    /// The class, by its place in the file; nothing for a variable of the file itself.
    pub(crate) declaration: Option<u32>,
    /// Its place among the fields.
    pub(crate) place: u32,
}

impl Project {
    /// The field a plain name means in the code of a class: its own, an inherited one, one of a
    /// class around it, one of the file.
    pub(crate) fn find_field(
        &self,
        unit: u32,
        owner: Option<TypeId>,
        text: &str,
    ) -> Option<FieldPlace> {
        let name = self.names.get(text)?;
        let mut around = owner;
        for _ in 0..16 {
            let Some(class) = around else { break };
            if let Some(place) = self.field_in(class, name) {
                return Some(place);
            }
            around = self.class(class).and_then(|class| class.outer);
        }
        let place = *self.scopes.get(unit as usize)?.fields.get(&name)?;
        Some(FieldPlace { unit, declaration: None, place })
    }

    fn field_in(&self, class: TypeId, name: Name) -> Option<FieldPlace> {
        self.lineage(class).find_map(|class| {
            let (unit, declaration, place) = *self.class(class)?.fields.get(&name)?;
            Some(FieldPlace { unit, declaration: Some(declaration), place })
        })
    }

    /// The declaration of a field.
    pub(crate) fn field_at(&self, at: FieldPlace) -> Option<&Field> {
        self.field(at.unit, at.declaration, at.place)
    }

    /// Whether a name that is no variable means a class, a package or anything imported.
    pub(crate) fn is_class_or_package(&self, unit: u32, owner: Option<TypeId>, text: &str) -> bool {
        let name = self.names.get(text);
        if let Some(imported) = name.and_then(|name| self.import_of(unit, name)) {
            return !matches!(imported, Imported::Member(..)) || starts_like_a_class(text);
        }
        let is_known = || {
            let kind = self.name_value(unit, owner, text).kind;
            matches!(kind, Kind::Class(_) | Kind::Package(_))
        };
        // What a package of Go exports has a capital too.
        let is_go = self.units.get(unit as usize).is_some_and(|it| it.language == Language::Go);
        text.contains("::") || !is_go && starts_like_a_class(text) || is_known()
    }
    /// What a name means that is no local variable: a field, a class, a package.
    pub(super) fn name_value(&self, unit: u32, owner: Option<TypeId>, text: &str) -> Value {
        if text.contains("::") {
            return self.path_value(unit, owner, text);
        }
        let Some(name) = self.names.get(text) else { return Value::unknown() };
        let mut around = owner;
        for _ in 0..16 {
            let Some(class) = around else { break };
            let value = self.field_of(class, text);
            if value.kind != Kind::Unknown {
                return value;
            }
            around = self.class(class).and_then(|class| class.outer);
        }
        if let Some(scope) = self.scopes.get(unit as usize)
            && let Some(place) = scope.fields.get(&name)
            && let Some(field) = self.field(unit, None, *place)
        {
            return self.field_value(unit, None, field);
        }
        if let Some(class) = self.find_type(unit, owner, text) {
            return Value::class(class);
        }
        match self.import_of(unit, name) {
            Some(Imported::Package(package)) => {
                Value { kind: Kind::Package(package), element: None }
            }
            Some(Imported::Member(class, member)) => self.field_named(class, member),
            Some(Imported::Foreign) => Value::foreign(text),
            Some(Imported::Type(_) | Imported::Function(..)) => Value::unknown(),
            None => self.module_beside(unit, text),
        }
    }

    /// A module of Rust by the name that its parent gives it.
    fn module_beside(&self, unit: u32, text: &str) -> Value {
        let file = self.units.get(unit as usize).filter(|file| file.language == Language::Rust);
        let package = file.and_then(|file| self.package_at(&format!("{}::{text}", file.package)));
        package.map_or(Value::unknown(), |it| Value { kind: Kind::Package(it), element: None })
    }

    /// What names joined by dots or colons mean: a class or a package.
    pub(super) fn path_value(&self, unit: u32, owner: Option<TypeId>, text: &str) -> Value {
        if let Some(class) = self.find_type(unit, owner, text) {
            return Value::class(class);
        }
        let whole = self.whole_path(unit, text);
        let package = self.package_at(whole.as_deref().unwrap_or(text));
        package.map_or(Value::unknown(), |it| Value { kind: Kind::Package(it), element: None })
    }

    /// What the variable of a class is, its own or an inherited one.
    pub(super) fn field_of(&self, class: TypeId, name: &str) -> Value {
        self.names.get(name).map_or(Value::unknown(), |name| self.field_named(class, name))
    }

    fn field_named(&self, class: TypeId, name: Name) -> Value {
        for class in self.lineage(class) {
            if let Some(value) = self.attributes.get(&(class, name)) {
                return *value;
            }
            let place = self.class(class).and_then(|class| class.fields.get(&name)).copied();
            if let Some((unit, declaration, place)) = place
                && let Some(field) = self.field(unit, Some(declaration), place)
            {
                return self.field_value(unit, Some(class), field);
            }
        }
        Value::unknown()
    }

    fn field_value(&self, unit: u32, owner: Option<TypeId>, field: &Field) -> Value {
        if let Some(span) = field.declared {
            return self.declared_value(unit, owner, span);
        }
        let Some(file) = self.units.get(unit as usize) else { return Value::unknown() };
        // Only what is made here: anything more could lead back to this field.
        match &field.value {
            Some(Expression::Call { name, receiver: None, .. }) => {
                // A constant of an enum is lowered as made by its own name.
                let is_constant = file.text_of(*name) == file.text_of(field.name);
                let class = self.find_type(unit, owner, file.text_of(*name));
                let class = class.or(owner.filter(|_| is_constant));
                class.map_or(Value::unknown(), Value::object)
            }
            Some(Expression::Literal(span)) => Value::of_literal(file.text_of(*span)),
            _ => Value::unknown(),
        }
    }

    /// What `Outer.x` is: a class inside, or a variable; a constant of an enum is of its type.
    pub(super) fn static_member(&self, class: TypeId, text: &str) -> Value {
        let Some(name) = self.names.get(text) else { return Value::unknown() };
        if let Some(inner) = self.inner_types.get(&(class, name)) {
            return Value::class(*inner);
        }
        if text == "this" || text == "self" {
            return Value::object(class);
        }
        self.field_named(class, name)
    }

    /// What `package.x` is.
    pub(super) fn in_package(&self, unit: u32, package: Name, text: &str) -> Value {
        let Some(name) = self.names.get(text) else { return Value::unknown() };
        let classes = self.types_by_name.get(&(package, name));
        let class = classes.and_then(|classes| self.nearest(unit, classes));
        class.map_or(Value::unknown(), Value::class)
    }

    /// Learn what `self.x` is where languages write no types; needs everything else.
    pub(super) fn add_attributes(&mut self) {
        let mut found = Vec::new();
        for (unit, file) in (0..).zip(&self.units) {
            let is_untyped = matches!(
                file.language,
                Language::Python | Language::JavaScript | Language::TypeScript | Language::Ruby
            );
            if !is_untyped {
                continue;
            }
            for (place, function) in (0..).zip(&file.functions) {
                let Some(owner) = self.owner(Declared { unit, function: place }) else { continue };
                let mut reader = Reader::new(self, unit, Some(owner));
                for (name, value) in reader.attributes(function) {
                    if value.kind != Kind::Unknown {
                        found.push((owner, name.to_owned(), value));
                    }
                }
            }
        }
        for (owner, name, value) in found {
            let name = self.names.intern(&name);
            self.attributes.entry((owner, name)).or_insert(value);
        }
    }
}

/// Whether a name is written as names of classes are, unlike those of constants.
fn starts_like_a_class(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && text.contains(char::is_lowercase)
}
