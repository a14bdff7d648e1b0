//! What an assertion compares with what, and how: the many words of many frameworks as one relation
//! between two values.

use super::scene::{Deed, Scene, Step};
use super::value::{Value, bare, name_of};
use crate::Language;
use crate::flow::{Expression, Operation};

/// How two values must relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    /// The first must be below the second.
    Below,
    /// The first must be above the second.
    Above,
    /// The first must hold or be held by the second.
    Contains,
}

/// Two values that an assertion compares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comparison<'p> {
    pub(super) relation: Relation,
    pub(super) left: Value<'p>,
    pub(super) right: Value<'p>,
    pub(super) line: u32,
    /// The step of the assertion.
    pub(super) at: usize,
}

impl<'p> Comparison<'p> {
    /// Both sides, each with the other one.
    pub(super) fn sides(&self) -> [(Value<'p>, Value<'p>); 2] {
        [(self.left, self.right), (self.right, self.left)]
    }
}

impl<'p> Scene<'p> {
    /// What the assertions of the test compare.
    pub(super) fn comparisons(&self) -> Vec<Comparison<'p>> {
        let mut found = Vec::new();
        for (at, step) in self.assertions() {
            self.compared(at, step, &mut found);
        }
        found
    }

    fn compared(&self, at: usize, step: &Step<'p>, found: &mut Vec<Comparison<'p>>) {
        let Deed::Assert { words, operands, line } = step.deed else { return };
        let words: Vec<&str> = words.iter().map(|word| step.file.text_of(*word)).collect();
        let is_not = words.iter().any(|word| matches!(*word, "not" | "doesNot"));
        let reports =
            step.file.language == Language::Go && words.iter().all(|word| is_report(word));
        let value = |expression| Value { expression, file: step.file, at };
        if !reports && let Some(relation) = words.iter().rev().find_map(|word| relation_of(word)) {
            let relation = if is_not { opposite(relation) } else { relation };
            if let [left, right, ..] = operands {
                let (left, right) = (value(left), value(right));
                // JUnit puts what is expected first.
                found.push(Comparison { relation, left, right, line, at });
            }
            return;
        }
        for operand in operands.iter().take(if reports { usize::MAX } else { 1 }) {
            self.condition(value(operand), reports, line, found, 0);
        }
    }

    /// What a condition compares; `fails` where the test fails if it holds.
    fn condition(
        &self,
        value: Value<'p>,
        fails: bool,
        line: u32,
        found: &mut Vec<Comparison<'p>>,
        depth: u32,
    ) {
        if depth > 6 {
            return;
        }
        match bare(value.expression) {
            Expression::Combine { operation: Operation::Compare, word, operands } => {
                let relation = match value.text(*word).trim() {
                    "==" | "===" | "is" => Relation::Equal,
                    "!=" | "!==" => Relation::Unequal,
                    "<" | "<=" => Relation::Below,
                    ">" | ">=" => Relation::Above,
                    "in" => Relation::Contains,
                    "!" | "not" => {
                        let inner = operands.first();
                        inner.iter().for_each(|it| {
                            self.condition(value.of(it), !fails, line, found, depth + 1);
                        });
                        return;
                    }
                    _ => {
                        for it in operands {
                            self.condition(value.of(it), fails, line, found, depth + 1);
                        }
                        return;
                    }
                };
                let relation = if fails { opposite(relation) } else { relation };
                for pair in operands.windows(2) {
                    if let [left, right] = pair {
                        let (left, right) = (value.of(left), value.of(right));
                        found.push(Comparison { relation, left, right, line, at: value.at });
                    }
                }
            }
            call @ Expression::Call { receiver, arguments, .. } => {
                let name = name_of(value.file, call);
                let sides = match (receiver.as_deref(), arguments.as_slice()) {
                    (_, [left, right]) if matches!(name, "DeepEqual" | "Equal" | "deepEqual") => {
                        Some((left, right))
                    }
                    (Some(left), [right]) if matches!(name, "equals" | "Equal" | "eq") => {
                        Some((left, right))
                    }
                    _ => None,
                };
                if let Some((left, right)) = sides {
                    let relation = if fails { Relation::Unequal } else { Relation::Equal };
                    let (left, right) = (value.of(left), value.of(right));
                    found.push(Comparison { relation, left, right, line, at: value.at });
                }
            }
            _ => {}
        }
    }
}

/// Whether a word reports a failure of a Go test.
fn is_report(word: &str) -> bool {
    matches!(word, "Fatal" | "Fatalf" | "Error" | "Errorf" | "Fail" | "FailNow" | "Skip")
}

fn opposite(relation: Relation) -> Relation {
    match relation {
        Relation::Equal => Relation::Unequal,
        Relation::Unequal => Relation::Equal,
        Relation::Below => Relation::Above,
        Relation::Above => Relation::Below,
        Relation::Contains => Relation::Contains,
    }
}

/// What a word of an assertion library asks of its first two values.
fn relation_of(word: &str) -> Option<Relation> {
    Some(match word {
        "assertEquals"
        | "assertEqual"
        | "assertEqualsWithDelta"
        | "assert_eq"
        | "equal"
        | "Equal"
        | "Equalf"
        | "EqualValues"
        | "equals"
        | "toBe"
        | "toEqual"
        | "toStrictEqual"
        | "isEqualTo"
        | "strictEqual"
        | "deepEqual"
        | "deepStrictEqual"
        | "eql"
        | "assertSame"
        | "assertIs"
        | "assertListEqual"
        | "assertSequenceEqual"
        | "assertDictEqual"
        | "assertTupleEqual"
        | "assertArrayEquals"
        | "containsExactly"
        | "toHaveLength"
        | "assertCountEqual"
        | "Exactly"
        | "shouldBe"
        | "assertContentEquals"
        | "assertIterableEquals"
        | "same"
        | "assert_equal"
        | "toMatchObject"
        | "DeepEqual"
        | "Eq"
        | "assertMultiLineEqual" => Relation::Equal,
        "assertNotEquals" | "assertNotEqual" | "assert_ne" | "notEqual" | "NotEqual"
        | "isNotEqualTo" | "notStrictEqual" | "notDeepEqual" | "notDeepStrictEqual" => {
            Relation::Unequal
        }
        "assertLess"
        | "assertLessEqual"
        | "toBeLessThan"
        | "toBeLessThanOrEqual"
        | "isLessThan"
        | "isLessThanOrEqualTo"
        | "Less"
        | "LessOrEqual"
        | "isBefore"
        | "isBelow"
        | "below"
        | "isAtMost"
        | "lessThan" => Relation::Below,
        "assertGreater"
        | "assertGreaterEqual"
        | "toBeGreaterThan"
        | "toBeGreaterThanOrEqual"
        | "isGreaterThan"
        | "isGreaterThanOrEqualTo"
        | "Greater"
        | "GreaterOrEqual"
        | "isAfter"
        | "isAbove"
        | "above"
        | "isAtLeast"
        | "greaterThan" => Relation::Above,
        "assertIn" | "toContain" | "contains" | "Contains" | "include" | "includes" => {
            Relation::Contains
        }
        _ => return None,
    })
}
