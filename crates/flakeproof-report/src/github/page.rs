//! A page of Markdown with as much on it as GitHub takes.
//!
//! GitHub takes at most 1 MiB from a step and drops a longer summary as a whole, so each part has
//! its share of that room, and a part that is cut says how many rows are missing.

use flakeproof_core::Notice;

use crate::markdown::prose;
use crate::words;

/// What GitHub takes from one step, in bytes.
pub(super) const LIMIT: usize = 1024 * 1024;

/// Room for the line that says how many rows are missing, and for the blank lines around it.
const ROOM_FOR_LEFT_OUT: usize = 200;

/// A text that grows part by part, each up to a limit.
pub(super) struct Page {
    text: String,
}

impl Page {
    /// A page that starts with this text.
    pub(super) fn new(text: String) -> Self {
        Self { text }
    }

    /// All that was put on the page.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Add rows below their head while the page stays within `limit`, then count the others.
    pub(super) fn part(
        &mut self,
        head: Option<&str>,
        rows: impl Iterator<Item = String>,
        limit: usize,
    ) {
        let mut rows = rows.peekable();
        if rows.peek().is_none() {
            return;
        }
        let head = head.unwrap_or_default();
        let room = limit.saturating_sub(self.text.len() + head.len() + ROOM_FOR_LEFT_OUT);
        let mut shown = String::new();
        let mut left_out = 0;
        for row in rows {
            if shown.len() + row.len() <= room {
                shown.push_str(&row);
            } else {
                left_out += 1;
            }
        }
        self.text.push('\n');
        if !shown.is_empty() {
            self.text.push_str(head);
            self.text.push_str(&shown);
        }
        if left_out > 0 {
            let rows = words::counted(left_out, "more row");
            let line = format!("\n{rows} left out, because GitHub takes at most 1 MiB.\n");
            self.text.push_str(&line);
        }
    }
}

/// A notice as one item of a list.
pub(super) fn notice(notice: &Notice) -> String {
    format!("- {}; {}\n", prose(&notice.what), prose(&notice.next))
}
