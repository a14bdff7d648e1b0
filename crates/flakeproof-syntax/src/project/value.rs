//! What is known of a value without running anything, and what a name means that is no local
//! variable: a field, a class, a package.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::index::{ProjectIndex, TypeId};
use super::names::Name;
use super::reader::Reader;
use super::scope::Imported;
use crate::Language;
use crate::flow::{Declared, Expression, Field};

/// What a value is, as far as the text tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: Kind,
    /// The class of what it holds: `Order` for a `List<Order>`.
    pub(super) element: Option<TypeId>,
}

/// What a value, or a name before a dot, is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing is known.
    #[default]
    Unknown,
    /// An object of a class of the project.
    Object(TypeId),
    /// A class of the project itself.
    Class(TypeId),
    /// A package or a module of the project.
    Package(Name),
    /// Something of a type that is not the project's.
    Foreign(TypeName),
}

/// A type that is not the project's, by a digest of its name: enough to tell two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TypeName(u64);

impl TypeName {
    /// The digest of a simple name; boxed types of Java count as what they box.
    pub(super) fn new(name: &str) -> Self {
        let simple = name.rsplit(['.', ':']).next().unwrap_or(name);
        let simple = match simple {
            "Integer" | "Short" | "Byte" | "short" | "byte" => "int",
            "Long" => "long",
            "Boolean" | "bool" => "boolean",
            "Double" | "Float" | "float" => "double",
            "Character" => "char",
            "str" | "string" | "CharSequence" => "String",
            other => other,
        };
        let mut hasher = FxHasher::default();
        simple.hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl Value {
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn object(class: TypeId) -> Self {
        Self { kind: Kind::Object(class), element: None }
    }

    pub(super) fn class(class: TypeId) -> Self {
        Self { kind: Kind::Class(class), element: None }
    }

    pub(super) fn foreign(name: &str) -> Self {
        Self { kind: Kind::Foreign(TypeName::new(name)), element: None }
    }

    /// What a literal is.
    pub(super) fn of_literal(text: &str) -> Self {
        let Some(first) = text.bytes().next() else { return Self::unknown() };
        match first {
            b'\'' if text.len() <= 4 => Self::foreign("char"),
            b'"' | b'\'' | b'`' => Self::foreign("String"),
            b'0'..=b'9' if text.ends_with(['l', 'L']) => Self::foreign("long"),
            b'0'..=b'9' if text.contains('.') => Self::foreign("double"),
            b'0'..=b'9' => Self::foreign("int"),
            b't' | b'f' | b'T' | b'F' => Self::foreign("boolean"),
            _ => Self::unknown(),
        }
    }

    /// What comes out of it one by one: of a loop over it, of `list.get(0)`, of `a[i]`.
    pub(super) fn item(self) -> Self {
        self.element.map_or(Self::unknown(), Self::object)
    }

    /// What a call of a foreign type gives, where it holds objects of the project.
    pub(super) fn after(self, function: &str) -> Self {
        let gives_one = matches!(
            function,
            "get"
                | "next"
                | "remove"
                | "poll"
                | "take"
                | "peek"
                | "pop"
                | "element"
                | "first"
                | "last"
                | "getFirst"
                | "getLast"
                | "orElse"
                | "orElseThrow"
                | "orElseGet"
                | "unwrap"
                | "expect"
                | "join"
                | "findFirst"
                | "findAny"
                | "at"
                | "getValue"
        );
        let gives_all = matches!(
            function,
            "iterator"
                | "stream"
                | "values"
                | "filter"
                | "sorted"
                | "limit"
                | "skip"
                | "iter"
                | "entrySet"
                | "subList"
                | "clone"
                | "borrow"
                | "lock"
                | "as_ref"
                | "as_mut"
        );
        match (gives_one, gives_all) {
            (true, _) => self.item(),
            (_, true) => self,
            _ => Self::unknown(),
        }
    }
}

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

impl ProjectIndex {
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
