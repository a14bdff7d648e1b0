//! What is known of a value without running anything.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::index::TypeId;
use super::names::Name;

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
