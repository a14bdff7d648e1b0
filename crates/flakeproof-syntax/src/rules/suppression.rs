//! Comments that silence rules: `flakeproof: ignore FP020` on the line of a finding or above it.

use super::rule::Finding;

/// What a comment that silences begins with.
pub(super) const WORD: &str = "flakeproof: ignore";

/// Whether a comment silences a finding.
pub(super) fn silences(text: &str, finding: &Finding) -> bool {
    if !text.contains(WORD) {
        return false;
    }
    let line = finding.line as usize;
    let at = |number: usize| text.lines().nth(number.checked_sub(1)?);
    let here = at(line).is_some_and(|line| is_meant(line, finding));
    // The line above silences only if it is a comment of its own.
    let above = at(line.saturating_sub(1)).is_some_and(|above| {
        above.trim_start().starts_with(['#', '/', '*']) && is_meant(above, finding)
    });
    here || above
}

fn is_meant(line: &str, finding: &Finding) -> bool {
    let Some((_, rest)) = line.split_once(WORD) else { return false };
    let ids: Vec<&str> = rest
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .take_while(|word| word.is_empty() || is_rule_like(word))
        .filter(|word| !word.is_empty())
        .collect();
    ids.is_empty() || ids.iter().any(|id| *id == finding.rule.id() || *id == finding.rule.name())
}

fn is_rule_like(word: &str) -> bool {
    word.starts_with("FP") || word.parse::<super::rule::Rule>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rule;

    fn is_silent(text: &str, line: u32) -> bool {
        let finding = Finding { line, rule: Rule::FixedPort, message: String::new() };
        silences(text, &finding)
    }

    #[test]
    fn a_comment_silences_its_line_and_the_one_below() {
        assert!(is_silent("listen(80)  # flakeproof: ignore FP040", 1));
        assert!(is_silent(
            "// flakeproof: ignore fixed-port, FP001 because it is ours\nlisten(80)",
            2
        ));
        assert!(is_silent("# flakeproof: ignore\nlisten(80)", 2));
    }

    #[test]
    fn a_comment_silences_no_other_rule_and_no_other_line() {
        assert!(!is_silent("listen(80)  # flakeproof: ignore FP041", 1));
        assert!(!is_silent("a()  # flakeproof: ignore FP040\nlisten(80)", 2));
        assert!(!is_silent("# flakeproof: ignore FP040\n\nlisten(80)", 3));
    }
}
