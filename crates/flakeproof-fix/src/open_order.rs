//! Comparisons that an order decides which the language leaves open, in whatever language.

use crate::Change;

/// What a witness says before the type that it saw.
pub(crate) const SAW: &str = "flakeproof saw ";

/// A comparison of a test that an open order may decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenOrder {
    /// Its line, counted from 1.
    pub line: usize,
    /// The collection whose order is compared, as the test writes it.
    pub collection: String,
    /// Makes the test fail where that order is asked for, and tell of what type the collection is.
    pub witness: Change,
    /// The ways to compare without it, the likeliest first; none where the test does not make the order
    /// itself, and so may rely on a promise.
    pub forms: Vec<Sorted>,
}

/// A way to compare without an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sorted {
    /// What it changes.
    pub change: Change,
    /// The same where an element is missing: the test must notice that.
    pub lacking: Change,
}

/// What is known about the order of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderOf {
    /// Its order is nobody's promise.
    Nobody,
    /// Whoever makes it may promise an order.
    Maker,
}

/// The type that a witness saw, from the text of a failure.
#[must_use]
pub fn type_seen(failure: &str) -> Option<&str> {
    let (_, seen) = failure.split_once(SAW)?;
    let is_of_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$' | '.');
    let end = seen.find(|it| !is_of_name(it)).unwrap_or(seen.len());
    Some(seen[..end].trim_end_matches('.')).filter(|it| !it.is_empty())
}

/// Who may promise the order of a type.
#[must_use]
pub fn order_of(type_name: &str) -> OrderOf {
    let is_java_hash = |name: &str| {
        let outer = name.split('$').next().unwrap_or(name);
        matches!(
            outer,
            "java.util.HashSet"
                | "java.util.HashMap"
                | "java.util.Hashtable"
                | "java.util.IdentityHashMap"
                | "java.util.WeakHashMap"
                | "java.util.concurrent.ConcurrentHashMap"
        ) || name.starts_with("java.util.ImmutableCollections$Set")
            || name.starts_with("java.util.ImmutableCollections$Map")
    };
    match type_name {
        "set" | "frozenset" => OrderOf::Nobody,
        name if is_java_hash(name) => OrderOf::Nobody,
        _ => OrderOf::Maker,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_read_from_a_failure() {
        assert_eq!(type_seen("AssertionError: flakeproof saw set."), Some("set"));
        let java = "java.lang.AssertionError: flakeproof saw java.util.HashMap$KeySet.\n at";
        assert_eq!(type_seen(java), Some("java.util.HashMap$KeySet"));
        assert_eq!(type_seen("assert 1 == 2"), None);
    }

    #[test]
    fn only_what_is_hashed_has_an_order_that_nobody_promises() {
        for name in ["set", "frozenset", "java.util.HashSet", "java.util.HashMap$KeySet"] {
            assert_eq!(order_of(name), OrderOf::Nobody, "{name}");
        }
        for name in ["list", "dict", "OrderedSet", "java.util.LinkedHashSet", "java.util.TreeSet"] {
            assert_eq!(order_of(name), OrderOf::Maker, "{name}");
        }
    }
}
