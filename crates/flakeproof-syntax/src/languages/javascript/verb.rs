//! What a call such as `it.only.each(table)(…)` does to a test file.

use tree_sitter::Node;

use crate::tree::text_of;

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// `describe`: holds tests.
    Suite,
    /// `it`: is a test.
    Test,
    /// `beforeEach`: runs before each test of its suite.
    Before,
    /// `afterEach`: runs after each test of its suite.
    After,
}

/// Members chained to `it` or `describe`; nobody chains more.
const LONGEST_CHAIN: usize = 8;

impl Verb {
    /// What calling `callee` does, if it is one of the words that runners define.
    pub(super) fn of<'a>(callee: Node<'_>, text: &'a str) -> Option<Self> {
        let mut members: Vec<&'a str> = Vec::new();
        let mut node = callee;
        while members.len() < LONGEST_CHAIN {
            match node.kind() {
                "identifier" => return Self::of_words(text_of(node, text), &members),
                "member_expression" => {
                    members.push(text_of(node.child_by_field_name("property")?, text));
                    node = node.child_by_field_name("object")?;
                }
                // `it.each(table)` gives a function that is called in turn.
                "call_expression" => {
                    node = node.child_by_field_name("function")?;
                    if node.kind() == "identifier" {
                        return None;
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// The verb of a word and the members behind it, the last one first.
    fn of_words(word: &str, members: &[&str]) -> Option<Self> {
        let verb = Self::of_word(word);
        match (verb, members) {
            (None, ["test"]) if word == "Deno" => Some(Self::Test),
            (None, [modifier, "test"]) if word == "Deno" => {
                is_modifier(modifier).then_some(Self::Test)
            }
            (Some(Self::Test), [rest @ .., "describe" | "suite"]) => {
                rest.iter().all(|member| is_modifier(member)).then_some(Self::Suite)
            }
            (Some(Self::Test), [hook]) if !is_modifier(hook) => match Self::of_word(hook) {
                Some(Self::Before) => Some(Self::Before),
                Some(Self::After) => Some(Self::After),
                _ => None,
            },
            (verb, members) => verb.filter(|_| members.iter().all(|member| is_modifier(member))),
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "describe" | "context" | "suite" | "fdescribe" | "xdescribe" | "fcontext"
            | "xcontext" => Self::Suite,
            "it" | "test" | "specify" | "fit" | "xit" | "ftest" | "xtest" | "xspecify" => {
                Self::Test
            }
            "before" | "beforeEach" | "beforeAll" | "setup" | "suiteSetup" => Self::Before,
            "after" | "afterEach" | "afterAll" | "teardown" | "suiteTeardown" => Self::After,
            _ => return None,
        })
    }
}

fn is_modifier(member: &str) -> bool {
    matches!(
        member,
        "only"
            | "skip"
            | "each"
            | "for"
            | "concurrent"
            | "sequential"
            | "serial"
            | "parallel"
            | "shuffle"
            | "failing"
            | "fails"
            | "fail"
            | "fixme"
            | "ignore"
            | "skipIf"
            | "runIf"
            | "if"
    )
}
