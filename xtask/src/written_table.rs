//! A table of the book that this program writes, between two lines of its page.

use crate::root;

/// Where a table is, and which of our commands writes it.
pub(crate) struct WrittenTable {
    pub(crate) page: &'static str,
    pub(crate) command: &'static str,
}

impl WrittenTable {
    /// Write the table into its page.
    pub(crate) fn write(&self, table: &str) -> Result<(), String> {
        let (_, wanted) = self.texts(table)?;
        let path = root().join(self.page);
        std::fs::write(&path, wanted).map_err(|error| format!("{}: {error}", self.page))
    }

    /// Fail where the page says something else.
    pub(crate) fn check(&self, table: &str) -> Result<(), String> {
        let (there, wanted) = self.texts(table)?;
        let Self { page, command } = self;
        match there == wanted {
            true => Ok(()),
            false => Err(format!("a table in {page} is old: run `cargo xtask {command}`")),
        }
    }

    /// The page as it is, and as it should be.
    fn texts(&self, table: &str) -> Result<(String, String), String> {
        let Self { page, command } = self;
        let there = std::fs::read_to_string(root().join(page))
            .map_err(|error| format!("{page}: {error}"))?;
        let wanted = self.replaced(&there, table).ok_or_else(|| {
            format!("{page} has no place for what `cargo xtask {command}` writes")
        })?;
        Ok((there, wanted))
    }

    /// The text with everything between the two marks replaced.
    fn replaced(&self, text: &str, table: &str) -> Option<String> {
        let begin = format!("<!-- {0}: written by `cargo xtask {0}` -->\n", self.command);
        let end = format!("<!-- end of {} -->\n", self.command);
        let (before, rest) = text.split_once(&begin)?;
        let (_, after) = rest.split_once(&end)?;
        Some(format!("{before}{begin}\n{table}\n{end}{after}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: WrittenTable = WrittenTable { page: "page.md", command: "things" };

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let marks = ["<!-- things: written by `cargo xtask things` -->", "<!-- end of things -->"];
        let text = |table: &str| format!("before\n{}\n{table}{}\nafter\n", marks[0], marks[1]);
        let replaced = TABLE.replaced(&text("old\n"), "| new |");
        assert_eq!(replaced, Some(text("\n| new |\n")));
        let again = TABLE.replaced(&text("\n| new |\n"), "| new |");
        assert_eq!(again, replaced, "writing again changes nothing");
        assert_eq!(TABLE.replaced("no marks", "| new |"), None);
    }
}
