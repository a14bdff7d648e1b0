//! What authors say themselves: that a test is flaky, or that tests must run in an order.

use super::rule::{Finding, Rule};
use super::scene::Scene;
use super::value::{arguments_of, name_of, number, path};
use crate::Language;

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    marked_flaky(scene, found);
    fixed_test_order(scene, found);
}

fn marked_flaky(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let words =
        ["flaky", "Flaky", "@RetryingTest", "RepeatedIfExceptions", "@Retry", "retry(", "rerun"];
    let mark = scene.mark(|text| {
        let name = text.split(['(', '\n']).next().unwrap_or(text);
        words.iter().any(|word| name.contains(word)) || text.starts_with("@RetryingTest")
    });
    if let Some((text, line)) = mark {
        let text = text.lines().next().unwrap_or(text);
        found.push(Finding {
            line,
            rule: Rule::MarkedFlaky,
            message: format!("its authors call it flaky: `{text}`"),
        });
        return;
    }
    if !matches!(scene.file.language, Language::JavaScript | Language::TypeScript) {
        return;
    }
    let retry = scene.calls().find(|(_, step, call, _)| {
        let path = path(step.file, call);
        let is_retry = matches!(path.as_str(), "this.retries" | "jest.retryTimes");
        let times = arguments_of(call).first().and_then(|it| number(step.file, it));
        is_retry && times.is_some_and(|times| times > 0.0)
    });
    if let Some((_, step, call, _)) = retry {
        let name = name_of(step.file, call);
        found.push(Finding {
            line: call.span().line,
            rule: Rule::MarkedFlaky,
            message: format!("it runs again when it fails: `{name}`"),
        });
    }
}

fn fixed_test_order(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    if !matches!(scene.file.language, Language::Java | Language::Kotlin) {
        return;
    }
    let is_ordered =
        || ["@TestMethodOrder(", "@FixMethodOrder"].iter().any(|word| scene.file_says(word));
    let own = scene.mark(|text| text.contains("@Order(") || text.contains("dependsOnMethods"));
    if let Some((_, line)) = own.filter(|(mark, _)| mark.contains("dependsOn") || is_ordered()) {
        found.push(Finding {
            line,
            rule: Rule::FixedTestOrder,
            message: "this test runs after others, and may need what they leave".to_owned(),
        });
    }
}
