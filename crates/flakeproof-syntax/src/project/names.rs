//! Names as numbers, and type names as they are written.

use rustc_hash::FxHashMap;

/// A name of the project, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(u32);

/// All names of a project, each once.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<Box<str>, Name>,
}

impl Names {
    /// The number of a name, given out now if it is new.
    pub(super) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.numbers.get(text) {
            return *name;
        }
        let name = Name(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        self.numbers.insert(text.into(), name);
        name
    }

    /// The number of a name, if the project has it.
    pub(super) fn get(&self, text: &str) -> Option<Name> {
        self.numbers.get(text).copied()
    }
}

/// The ways to cut a path into what a file is called and what it declares, the longest file first:
/// `com.acme.Outer.Inner` is `com.acme.Outer` and `Inner`, or `com.acme` and `Outer.Inner`.
pub(super) fn cuts(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let bytes = path.as_bytes();
    (1..path.len()).rev().filter_map(move |at| {
        let after = match bytes.get(at)? {
            b':' if bytes.get(at + 1) == Some(&b':') => at + 2,
            b'.' | b'/' | b'#' => at + 1,
            _ => return None,
        };
        Some((path.get(..at)?, path.get(after..)?))
    })
}

/// A type as it is written, taken apart: its own name and the last of its type arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written<'t> {
    /// The name, with the names of classes or packages before it; empty for an array of Go.
    pub(super) name: &'t str,
    /// What it holds: `Order` of `List<Order>`, of `Order[]` and of `Map<String, Order>`.
    pub(super) element: Option<&'t str>,
}

/// Take a written type apart.
pub(super) fn written(text: &str) -> Written<'_> {
    let text = bare(text);
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | ':')));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let name = name.trim_end_matches([':', '.']);
    let element = match rest.as_bytes().first() {
        Some(b'[') if rest.starts_with("[]") && name.is_empty() => Some(rest[2..].trim_start()),
        Some(b'[') if rest.trim_start_matches(['[', ']', ' ']).is_empty() => Some(name),
        Some(b'<' | b'[') => last_argument(rest),
        _ => None,
    };
    let element = element.map(|element| {
        let element = bare(element);
        let end = element.find(|c: char| !(c.is_alphanumeric() || "_$.:".contains(c)));
        &element[..end.unwrap_or(element.len())]
    });
    let is_array = rest.starts_with('[') && element == Some(name);
    Written { name: if is_array { "" } else { name }, element: element.filter(|e| !e.is_empty()) }
}

/// A type without what stands before its name: references, pointers, `mut`, `dyn`, quotes.
fn bare(mut text: &str) -> &str {
    loop {
        let before = text.len();
        text = text.trim_start_matches(|c: char| c.is_whitespace() || "&*'\"?:@(".contains(c));
        for word in ["mut ", "dyn ", "impl ", "final ", "const ", "extends ", "super ", "-> "] {
            text = text.strip_prefix(word).unwrap_or(text);
        }
        if text.len() == before {
            return text;
        }
    }
}

/// The last type argument of what begins with a bracket.
fn last_argument(rest: &str) -> Option<&str> {
    let (mut depth, mut start) = (0_u32, 1);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' => depth += 1,
            b'>' | b']' | b')' if depth <= 1 => return rest.get(start..at).map(str::trim),
            b'>' | b']' | b')' => depth -= 1,
            b',' if depth == 1 => start = at + 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_from_its_end() {
        let found: Vec<_> = cuts("com.acme.Outer.Inner").collect();
        assert_eq!(found[0], ("com.acme.Outer", "Inner"));
        assert_eq!(found[1], ("com.acme", "Outer.Inner"));
        assert_eq!(cuts("orders::basket::Basket").next(), Some(("orders::basket", "Basket")));
        assert_eq!(cuts("plain").next(), None);
    }

    #[test]
    fn a_written_type_is_its_name_and_what_it_holds() {
        let parts = |text| {
            let written = written(text);
            (written.name, written.element)
        };
        assert_eq!(parts("Order"), ("Order", None));
        assert_eq!(parts("List<Order>"), ("List", Some("Order")));
        assert_eq!(parts("Map<String, List<Order>>"), ("Map", Some("List")));
        assert_eq!(parts("Order[]"), ("", Some("Order")));
        assert_eq!(parts("[]*orders.Order"), ("", Some("orders.Order")));
        assert_eq!(parts("&mut Box<dyn Order>"), ("Box", Some("Order")));
        assert_eq!(parts("*orders.Basket"), ("orders.Basket", None));
        assert_eq!(parts("list[Order]"), ("list", Some("Order")));
        assert_eq!(parts("'Order'"), ("Order", None));
        assert_eq!(parts("Class<? extends Order>"), ("Class", Some("Order")));
        assert_eq!(parts(""), ("", None));
    }
}
