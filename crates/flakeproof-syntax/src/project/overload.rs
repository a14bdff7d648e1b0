//! Which of several functions of one name a call means: by how many arguments, then by their types.

use super::index::Project;
use super::kind::{Kind, Value};
use crate::Language;
use crate::flow::{Declared, Function};

/// What is known of the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(super) enum Arguments<'v> {
    /// Each of them, in order.
    Known(&'v [Value]),
    /// Not even how many.
    Unknown,
}

impl Project {
    /// The function of `candidates` these arguments fit best; of equals the first.
    ///
    /// Candidates come nearest class first, so that what overrides wins over what is overridden.
    pub(super) fn best(&self, candidates: &[Declared], given: Arguments<'_>) -> Option<Declared> {
        let Arguments::Known(values) = given else { return candidates.first().copied() };
        let mut best: Option<(i32, Declared)> = None;
        let fitting = candidates.iter().filter_map(|candidate| {
            let function = self.function(*candidate)?;
            Some((self.fit_of_count(*candidate, function, values.len())?, *candidate, function))
        });
        let fitting: Vec<(i32, Declared, &Function)> = fitting.collect();
        if let [(_, only, _)] = fitting.as_slice() {
            return Some(*only);
        }
        for (fit, candidate, function) in fitting {
            let fit = fit + self.fit_of_types(candidate, function, values);
            if best.is_none_or(|(known, _)| fit > known) {
                best = Some((fit, candidate));
            }
        }
        best.map(|(_, candidate)| candidate)
    }

    /// How well the number of arguments fits; nothing if it cannot.
    fn fit_of_count(&self, declared: Declared, function: &Function, given: usize) -> Option<i32> {
        let taken = function.parameters.len();
        if taken == given {
            return Some(1);
        }
        if self.takes_any_number(declared, function) && given + 1 >= taken {
            return Some(0);
        }
        // Parameters may have a default value, which the form does not tell.
        let has_defaults = match self.unit(declared)?.language {
            Language::Python | Language::JavaScript | Language::TypeScript => true,
            Language::Kotlin | Language::CSharp | Language::Ruby => true,
            Language::Java | Language::Go | Language::Rust => false,
        };
        (has_defaults && given < taken).then_some(0)
    }

    /// Whether the last parameter takes all that is left: `String... names`, `*args`, `...rest`.
    fn takes_any_number(&self, declared: Declared, function: &Function) -> bool {
        let (Some(unit), Some(last)) = (self.unit(declared), function.parameters.last()) else {
            return false;
        };
        let from = last.declared.map_or(last.name.start, |span| span.start).min(last.name.start);
        let to = last.declared.map_or(last.name.end, |span| span.end).max(last.name.end);
        let text = unit.text.get(from.saturating_sub(3) as usize..to as usize).unwrap_or_default();
        text.contains("...") || text.contains('*') && unit.language == Language::Python
    }

    fn fit_of_types(&self, declared: Declared, function: &Function, values: &[Value]) -> i32 {
        let owner = self.owner(declared);
        let pairs = function.parameters.iter().zip(values);
        pairs
            .map(|(parameter, value)| {
                let Some(span) = parameter.declared else { return 0 };
                self.fit_of_type(self.declared_value(declared.unit, owner, span), *value)
            })
            .sum()
    }

    fn fit_of_type(&self, taken: Value, given: Value) -> i32 {
        match (taken.kind, given.kind) {
            (Kind::Object(taken), Kind::Object(given)) if taken == given => 3,
            (Kind::Object(taken), Kind::Object(given)) => {
                if self.lineage(given).any(|ancestor| ancestor == taken) { 2 } else { -3 }
            }
            (Kind::Foreign(taken), Kind::Foreign(given)) => {
                if taken == given {
                    3
                } else {
                    -1
                }
            }
            (Kind::Object(_), Kind::Foreign(_)) => -2,
            (Kind::Foreign(_), Kind::Object(_)) => -1,
            _ => 0,
        }
    }
}
