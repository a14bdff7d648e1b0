//! The words of the output, as the book's glossary explains them.

/// The page of the book.
const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/glossary.md"));

/// What a word means, as `word: meaning`; `None` where it is none of the program's.
pub(super) fn meaning(word: &str) -> Option<String> {
    rows().find_map(|(words, meaning)| {
        let is_asked = |it: &str| it.eq_ignore_ascii_case(word);
        let is_here = is_asked(words) || words.split(", ").any(is_asked);
        is_here.then(|| format!("{words}: {}", without_links(meaning)))
    })
}

/// The words of each row, which mean the same or belong together, and their meaning.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.lines().filter_map(|line| {
        let (words, meaning) = line.strip_prefix("| **")?.split_once("** | ")?;
        Some((words, meaning.strip_suffix(" |")?))
    })
}

/// `[text](page)` as `text`, and nothing in italics or code.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let Some((name, after)) = link.split_once("](") else { break };
        plain = plain + before + name;
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    (plain + rest).replace(['*', '`'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_output_are_explained() {
        for word in ["NOD", "bursty", "polluter", "brittle", "victim", "flip", "unknown", "verdict"]
        {
            assert!(meaning(word).is_some(), "{word}");
        }
        assert_eq!(meaning("nod"), meaning("NOD"));
        assert_eq!(meaning("test_total"), None);
    }

    #[test]
    fn nothing_of_the_page_s_form_is_left() {
        for (words, _) in rows() {
            let text = meaning(words).expect("each row has a meaning");
            assert!(!text.contains("](") && !text.contains('*'), "{text}");
        }
    }
}
