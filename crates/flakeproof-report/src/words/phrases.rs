//! Words around other words: counts, shares, excerpts, whole sentences.

/// A text longer than this many characters is cut where it stands among others.
const EXCERPT: usize = 500;

/// The start of a text, with an ellipsis if that is not all of it.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Words that start in lower case, as a sentence that stands alone.
pub(crate) fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).chain(['.']).collect()
}

/// A number with its noun: `1 test`, `12 tests`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// A share in percent, with a digit after the point where it is near 0 or 100.
///
/// Less than all is never written as 100 %.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 {
        format!("{percent:.1} %")
    } else if percent > 99.0 && percent < 100.0 {
        format!("{:.1} %", percent.min(99.9))
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_starts_large_and_ends() {
        assert_eq!(sentence("wait for it"), "Wait for it.");
    }

    #[test]
    fn less_than_all_is_not_a_hundred_percent() {
        let shares = [0.0, 0.05, 0.42, 0.99, 0.995, 0.99999, 1.0].map(percent);
        assert_eq!(shares, ["0.0 %", "5.0 %", "42 %", "99 %", "99.5 %", "99.9 %", "100 %"]);
    }
}
