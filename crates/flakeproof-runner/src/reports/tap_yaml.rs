//! The diagnostics of a test point, as far as they matter here.
//!
//! They are YAML by name. What runners write of it is keys with plain, quoted or block values, and
//! nothing else is read; the whole block is kept as text.

/// What a block says.
#[derive(Debug, Default)]
pub(super) struct Diagnostics {
    /// The block as it is written, without its indentation.
    pub(super) text: String,
    entries: Vec<(String, String)>,
    /// The indentation of a block value that is being read.
    block: Option<usize>,
}

/// The most entries of a block.
const MOST_ENTRIES: usize = 100;

impl Diagnostics {
    /// A line of the block, without the block's own indentation.
    pub(super) fn add(&mut self, line: &str) {
        super::limits::append(&mut self.text, line, super::limits::LONGEST_TEXT);
        super::limits::append(&mut self.text, "\n", super::limits::LONGEST_TEXT);
        let indentation = line.len() - line.trim_start().len();
        if let (Some(_), Some((_, value))) = (self.block, self.entries.last_mut())
            && (indentation > 0 || line.trim().is_empty())
        {
            if !value.is_empty() {
                super::limits::append(value, "\n", super::limits::LONGEST_TEXT);
            }
            super::limits::append(value, line.trim_start(), super::limits::LONGEST_TEXT);
            return;
        }
        self.block = None;
        let Some((key, value)) = line.split_once(':') else { return };
        if indentation > 0 || self.entries.len() >= MOST_ENTRIES {
            return;
        }
        let value = value.trim();
        let is_block = matches!(value, "|" | "|-" | "|+" | ">" | ">-");
        self.block = is_block.then_some(indentation);
        let value = if is_block { String::new() } else { unquoted(value) };
        self.entries.push((key.trim().to_owned(), value));
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let entry = self.entries.iter().find(|(name, _)| name == key);
        entry.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }
}

fn unquoted(value: &str) -> String {
    let inner = |quote| value.strip_prefix(quote)?.strip_suffix(quote);
    match (inner('\''), inner('"')) {
        (Some(single), _) => single.replace("''", "'"),
        (None, Some(double)) => double.replace("\\\"", "\"").replace("\\\\", "\\"),
        (None, None) => value.to_owned(),
    }
}
