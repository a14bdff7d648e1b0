//! Rules: what is known to make tests flaky, found in their source, with the line and the reason.
//!
//! A rule looks at what flows into an assertion, and at what a test does before it, not at words: a
//! sleep after the last assertion and a random number that is only handed on are no findings. It is
//! written once for all languages, over the flow form; what a language calls a thing is a table in it.
//!
//! A comment `flakeproof: ignore FP020` on the line of a finding, or on the line above, silences it;
//! without ids it silences all rules there.

mod comparison;
mod concurrency;
mod duration;
mod elapsed;
mod files;
mod marks;
mod network;
mod order;
mod platform;
mod randomness;
mod rule;
mod scene;
mod shared_state;
mod state;
mod suppression;
mod time;
mod unordered;
mod value;
mod waiting;
mod zone;

pub use rule::{Finding, Rule, RuleSet};

use crate::Language;
use crate::flow::Declared;
use crate::project::ProjectIndex;
use scene::Scene;

/// Whether rules know a language.
#[must_use]
pub fn knows(language: Language) -> bool {
    match language {
        Language::Java
        | Language::Python
        | Language::JavaScript
        | Language::TypeScript
        | Language::Go
        | Language::Rust => true,
        // Their files have no flow form.
        Language::Kotlin | Language::CSharp | Language::Ruby => false,
    }
}

/// What the rules of a set find in a test, by line; `class` is the one it runs in, where that is not
/// its own.
///
/// ```
/// use flakeproof_syntax::project::ProjectIndex;
/// use flakeproof_syntax::rules::{self, RuleSet};
/// use flakeproof_syntax::{Finder, Layout, SourceFile};
///
/// let text = "import random\ndef test_draws():\n    assert random.random() > 0.4\n";
/// let file = SourceFile { path: "tests/test_draws.py", text };
/// let unit = Finder::default().lower(&file, &Layout::default()).unit;
/// let project = ProjectIndex::new(vec![unit]);
/// let test = project.find_test(&"tests/test_draws.py::test_draws".into()).expect("is there");
/// let found = rules::check(&project, test, None, &RuleSet::default());
/// assert_eq!((found[0].rule.id(), found[0].line), ("FP001", 3));
/// ```
#[must_use]
pub fn check(
    project: &ProjectIndex,
    test: Declared,
    class: Option<&str>,
    rules: &RuleSet,
) -> Vec<Finding> {
    let Some(scene) = Scene::new(project, test, class) else { return Vec::new() };
    let mut found = Vec::new();
    let looks: [fn(&Scene<'_>, &mut Vec<Finding>); 9] = [
        randomness::look,
        time::look,
        waiting::look,
        concurrency::look,
        network::look,
        order::look,
        state::look,
        files::look,
        platform::look,
    ];
    for look in looks.into_iter().chain([marks::look as fn(&Scene<'_>, &mut Vec<Finding>)]) {
        look(&scene, &mut found);
    }
    let is_silent = |it: &Finding| {
        scene.file_says(suppression::WORD) && suppression::silences(&scene.file.text, it)
    };
    found.retain(|it| rules.has(it.rule) && !is_silent(it));
    found.sort();
    found.dedup();
    found
}
