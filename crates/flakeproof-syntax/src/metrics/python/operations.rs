//! What radon's `HalsteadVisitor` takes for operators, and which operands it takes for the same.
//!
//! Literals are compared by their value, so that two spellings of one value count as one operand:
//! `1`, `1.0`, `0x1`, `True` and `1 + 0j` are one. One thing is not looked up: a character by its
//! name (`\N{BULLET}`) stays as it is written, so it equals only itself.

use tree_sitter::Node;

use super::file::is_blank;
use crate::tree::{child_of_kind, children, text_of};

/// An operator. Binary operators and augmented assignments share theirs: `+=` is `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Operator<'a> {
    Unary(&'a str),
    Binary(&'a str),
}

/// An operand. A name, the last name of an attribute and a string constant are the same when their
/// text is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Operand {
    Constant(Value),
    Number(Number),
    None,
    Ellipsis,
    /// A literal too long for its value to be computed.
    Literal(String),
    /// Anything else is equal only to itself.
    Node(usize),
}

/// The operators and operands of one node.
#[derive(Debug, Default)]
pub(super) struct Operation<'a> {
    pub(super) operators: Vec<Operator<'a>>,
    pub(super) operands: Vec<Node<'a>>,
}

/// What a node operates with; nothing when it is no operation.
///
/// `and` and `or` are left out: they form chains, which only a walk from above can see.
pub(super) fn operation<'a>(node: Node<'a>, text: &'a str) -> Option<Operation<'a>> {
    let field = |name| node.child_by_field_name(name);
    let operator = || field("operator").map_or("", |operator| text_of(operator, text));
    let (operators, operands) = match node.kind() {
        "binary_operator" => {
            (vec![Operator::Binary(operator())], vec![field("left"), field("right")])
        }
        "augmented_assignment" => {
            let operator = operator().trim_end_matches('=');
            (vec![Operator::Binary(operator)], vec![field("left"), field("right")])
        }
        "unary_operator" => (vec![Operator::Unary(operator())], vec![field("argument")]),
        "not_operator" => (vec![Operator::Unary("not")], vec![field("argument")]),
        "union_type" => (vec![Operator::Binary("|")], operands_of(node).map(Some).collect()),
        "comparison_operator" => (comparisons(node), operands_of(node).map(Some).collect()),
        // What was a statement in Python 2 is `print >> a` today.
        "print_statement" => {
            let file = child_of_kind(node, &["chevron"])?.named_child(0);
            (vec![Operator::Binary(">>")], vec![node.child(0), file])
        }
        "complex_pattern" | "case_pattern" | "union_pattern" | "keyword_pattern"
        | "dict_pattern" => return signed_pattern(node),
        _ => return None,
    };
    Some(Operation { operators, operands: operands.into_iter().flatten().collect() })
}

fn operands_of<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    children(node).into_iter().filter(|child| child.is_named() && !child.is_extra())
}

fn comparisons<'t>(node: Node<'t>) -> Vec<Operator<'t>> {
    children(node)
        .into_iter()
        .filter(|child| !child.is_named())
        .map(|child| Operator::Binary(child.kind()))
        .collect()
}

/// The operators in `case -1:` and `case -1 + 2j:`.
fn signed_pattern<'a>(node: Node<'a>) -> Option<Operation<'a>> {
    let mut operation = Operation::default();
    let parts = children(node);
    let is_number = |part: &&Node<'_>| matches!(part.kind(), "integer" | "float");
    for (index, part) in parts.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| parts.get(index)).filter(is_number);
        let Some(behind) = parts.get(index + 1).filter(is_number) else { continue };
        match (part.kind(), before) {
            ("-", None) => operation.operators.push(Operator::Unary("-")),
            // Behind a sign, the left operand is the signed number, and equal only to itself.
            ("+" | "-", Some(before)) => {
                let is_signed = !operation.operators.is_empty();
                operation.operators.push(Operator::Binary(part.kind()));
                operation.operands.push(if is_signed { node } else { *before });
            }
            _ => continue,
        }
        operation.operands.push(*behind);
    }
    (!operation.operators.is_empty()).then_some(operation)
}

/// The operand that a node stands for.
pub(super) fn operand(node: Node<'_>, text: &str, margin: Margin<'_>) -> Operand {
    let node = inside_parentheses(node);
    let constant = |text: &str| Operand::Constant(Value::Text(text.as_bytes().to_vec()));
    let known = match node.kind() {
        "identifier" | "print" => Some(constant(text_of(node, text))),
        "attribute" => {
            node.child_by_field_name("attribute").map(|name| constant(text_of(name, text)))
        }
        "integer" | "float" => {
            let literal = text_of(node, text);
            let number = Number::of_literal(literal).map(Operand::Number);
            Some(number.unwrap_or_else(|| Operand::Literal(literal.to_owned())))
        }
        "true" => Some(Operand::Number(Number::one())),
        "false" => Some(Operand::Number(Number::ZERO)),
        "none" => Some(Operand::None),
        "ellipsis" => Some(Operand::Ellipsis),
        "string" => value(text_of(node, text), margin).map(Operand::Constant),
        "concatenated_string" => concatenated(node, text, margin).map(Operand::Constant),
        _ => None,
    };
    known.unwrap_or(Operand::Node(node.id()))
}

/// What stands in parentheses, which the tree of Python does not keep; likewise types.
fn inside_parentheses(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while matches!(node.kind(), "parenthesized_expression" | "type") {
        let Some(inner) = operands_of(node).next() else { break };
        node = inner;
    }
    node
}

fn concatenated(node: Node<'_>, text: &str, margin: Margin<'_>) -> Option<Value> {
    let mut all: Option<Value> = None;
    for part in operands_of(node) {
        let part = value(text_of(part, text), margin)?;
        all = Some(match (all, part) {
            (None, part) => part,
            (Some(Value::Text(mut all)), Value::Text(part)) => {
                all.extend(part);
                Value::Text(all)
            }
            (Some(Value::Bytes(mut all)), Value::Bytes(part)) => {
                all.extend(part);
                Value::Bytes(all)
            }
            _ => return None,
        });
    }
    all
}

/// Longer numbers are not valid Python either, unless they are hexadecimal.
const MOST_DIGITS: usize = 4_300;

/// The value of a literal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// Text, in UTF-8, lone surrogates included.
    Text(Vec<u8>),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// Lines of a string that goes over several, as they are once the test is dedented.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margin<'a>(pub(super) Option<&'a str>);

impl Margin<'_> {
    fn apply(self, literal: &str) -> String {
        let literal = literal.replace("\r\n", "\n");
        let Some(margin) = self.0.filter(|_| literal.contains('\n')) else { return literal };
        let dedent = |(index, line)| match index {
            0 => line,
            _ if is_blank(line) => "",
            _ => line.strip_prefix(margin).unwrap_or(line),
        };
        literal.split('\n').enumerate().map(dedent).collect::<Vec<_>>().join("\n")
    }
}

/// A number that a literal stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Number {
    /// A whole number, of whichever type, as digits to base 2³², lowest first.
    Whole(Vec<u32>),
    /// Any other float, by its bits.
    Float(u64),
    /// An imaginary number other than 0.
    Imaginary(u64),
}

impl Number {
    const ZERO: Self = Self::Whole(Vec::new());

    pub(super) fn one() -> Self {
        Self::Whole(vec![1])
    }

    /// The number a literal stands for, unless nobody would write it.
    pub(super) fn of_literal(text: &str) -> Option<Self> {
        let text: String = text.chars().filter(|&letter| letter != '_').collect();
        if text.len() > MOST_DIGITS {
            return None;
        }
        let text = text.to_ascii_lowercase();
        for (prefix, base) in [("0x", 16), ("0o", 8), ("0b", 2)] {
            if let Some(digits) = text.strip_prefix(prefix) {
                return whole(digits, base);
            }
        }
        if let Some(imaginary) = text.strip_suffix('j') {
            let value: f64 = imaginary.parse().ok()?;
            return Some(if value == 0.0 { Self::ZERO } else { Self::Imaginary(value.to_bits()) });
        }
        whole(&text, 10).or_else(|| text.parse().ok().map(Self::of_float))
    }

    fn of_float(value: f64) -> Self {
        if !value.is_finite() || value.fract() != 0.0 {
            return Self::Float(value.to_bits());
        }
        // A literal has no sign, and a whole float has its first bit or is 0.
        let exponent = (value.to_bits() >> 52) as usize;
        let fraction = value.to_bits() & ((1 << 52) - 1);
        if exponent == 0 {
            return Self::ZERO;
        }
        let mantissa = u128::from(fraction | (1 << 52));
        let mut digits = Vec::new();
        match exponent.checked_sub(1023 + 52) {
            None => push_all(&mut digits, mantissa >> (1023 + 52 - exponent)),
            Some(shift) => {
                digits.resize(shift / 32, 0);
                push_all(&mut digits, mantissa << (shift % 32));
            }
        }
        Self::Whole(digits)
    }
}

/// The value of a literal that is no f-string; nothing when it is one, or is broken.
pub(super) fn value(literal: &str, margin: Margin<'_>) -> Option<Value> {
    let literal = margin.apply(literal);
    let quote = literal.find(['\'', '"'])?;
    let (prefix, quoted) = literal.split_at(quote);
    let prefix = prefix.to_ascii_lowercase();
    let marks = match quoted.get(..3) {
        Some("'''" | "\"\"\"") if quoted.len() >= 6 => 3,
        _ => 1,
    };
    let inner = quoted.get(marks..quoted.len().checked_sub(marks)?)?;
    if prefix.contains('f') || prefix.contains('t') {
        return None;
    }
    let is_bytes = prefix.contains('b');
    let content = match prefix.contains('r') {
        true => inner.as_bytes().to_vec(),
        false => unescape(inner, is_bytes),
    };
    Some(if is_bytes { Value::Bytes(content) } else { Value::Text(content) })
}

fn unescape(inner: &str, is_bytes: bool) -> Vec<u8> {
    let mut value = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        value.extend_from_slice(&rest.as_bytes()[..at]);
        rest = escape(&rest[at + 1..], is_bytes, &mut value);
    }
    value.extend_from_slice(rest.as_bytes());
    value
}

/// Read what follows a backslash, and return what is behind it.
fn escape<'a>(rest: &'a str, is_bytes: bool, value: &mut Vec<u8>) -> &'a str {
    let Some(letter) = rest.chars().next() else {
        value.push(b'\\');
        return rest;
    };
    let plain = match letter {
        '\n' => return &rest[1..],
        '\\' | '\'' | '"' => Some(letter as u8),
        'a' => Some(7),
        'b' => Some(8),
        'f' => Some(12),
        'n' => Some(b'\n'),
        'r' => Some(b'\r'),
        't' => Some(b'\t'),
        'v' => Some(11),
        _ => None,
    };
    if let Some(byte) = plain {
        value.push(byte);
        return &rest[1..];
    }
    let (skip, most, base) = match letter {
        '0'..='7' => (0, 3, 8),
        'x' => (1, 2, 16),
        'u' if !is_bytes => (1, 4, 16),
        'U' if !is_bytes => (1, 8, 16),
        _ => (0, 0, 10),
    };
    let digits: String =
        rest[skip..].chars().take(most).take_while(|digit| digit.is_digit(base)).collect();
    match u32::from_str_radix(&digits, base) {
        Ok(code) if is_bytes => value.push((code & 0xff) as u8),
        Ok(code) => push_code_point(value, code),
        // Neither broken nor unknown escapes change anything.
        Err(_) => {
            value.push(b'\\');
            return rest;
        }
    }
    &rest[skip + digits.len()..]
}

/// Write a code point as UTF-8 would, were surrogates allowed there.
fn push_code_point(value: &mut Vec<u8>, code: u32) {
    match char::from_u32(code) {
        Some(letter) => value.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        None => value.extend(
            [0xe0 | (code >> 12 & 0x0f), 0x80 | (code >> 6 & 0x3f), 0x80 | (code & 0x3f)]
                .map(|byte| byte as u8),
        ),
    }
}

fn push_all(digits: &mut Vec<u32>, mut value: u128) {
    while value != 0 {
        digits.push((value & u128::from(u32::MAX)) as u32);
        value >>= 32;
    }
}

fn whole(text: &str, base: u32) -> Option<Number> {
    let mut digits: Vec<u32> = Vec::new();
    for letter in text.chars() {
        let mut carry = u64::from(letter.to_digit(base)?);
        for digit in &mut digits {
            let value = u64::from(*digit) * u64::from(base) + carry;
            *digit = (value & u64::from(u32::MAX)) as u32;
            carry = value >> 32;
        }
        if carry != 0 {
            digits.push(carry as u32);
        }
    }
    (!text.is_empty()).then_some(Number::Whole(digits))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(literal: &str) -> Option<Value> {
        value(literal, Margin(Some("    ")))
    }

    #[test]
    fn one_text_has_many_spellings() {
        for same in [r"'A\n'", r#""\x41\012""#, r"u'\u0041\U0000000a'", "'''A\n'''", "\"A\\\n\\n\""]
        {
            assert_eq!(text(same), Some(Value::Text(b"A\n".to_vec())), "{same:?}");
        }
        assert_eq!(text(r"'\d'"), text(r"r'\d'"));
        assert_eq!(text(r"b'\xff\u0041'"), Some(Value::Bytes(b"\xff\\u0041".to_vec())));
        assert_ne!(text(r"'\ud800'"), text(r"'\udc00'"));
        assert_eq!(text("''"), Some(Value::Text(Vec::new())));
        assert_eq!(text("f'a'"), None);
    }

    #[test]
    fn long_strings_lose_the_margin_and_spaces_on_blank_lines() {
        assert_eq!(text("'''a\n      b\n  \n    '''"), Some(Value::Text(b"a\n  b\n\n".to_vec())));
        let kept = value("'''a\n    '''", Margin(None));
        assert_eq!(kept, Some(Value::Text(b"a\n    ".to_vec())));
    }

    fn number(text: &str) -> Number {
        Number::of_literal(text).expect("a literal")
    }

    #[test]
    fn one_value_has_many_spellings() {
        for same in ["16", "0x10", "0o2_0", "0B10000", "16.", "1.6e1", "160e-1"] {
            assert_eq!(number(same), number("16"), "{same}");
        }
        for zero in ["0", "00", "0.0", "0j", "0e9"] {
            assert_eq!(number(zero), Number::ZERO, "{zero}");
        }
        assert_eq!(number("1e22"), number("10000000000000000000000"));
        assert_ne!(number("1e23"), number("100000000000000000000000"));
    }

    #[test]
    fn imaginary_and_broken_numbers_are_others() {
        assert_ne!(number("1j"), number("1"));
        assert_ne!(number("1.5"), number("1.25"));
        assert_eq!(number("1e999"), number("2e999"));
        assert_eq!(Number::of_literal("0x"), None);
        assert_eq!(Number::of_literal(&"9".repeat(5_000)), None);
    }

    proptest! {
        #[test]
        fn whole_floats_equal_whole_numbers(value: u64) {
            let float = value as f64;
            prop_assert_eq!(number(&format!("{float:e}")), number(&format!("{float:.0}")));
        }
    }
}
