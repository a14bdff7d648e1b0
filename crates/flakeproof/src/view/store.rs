//! What the history holds, what was forgotten, and where a report of it was written.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use flakeproof_core::{Overview, Standing};
use flakeproof_store::{Folded, Pruned, Skipped, StoreStats, Synced};
use serde_json::json;

use super::terminal::{self, DIM, STRONG, count};

/// What pruning would win.
pub(crate) struct PruneOutlook {
    /// What would go.
    pub(crate) pruned: Pruned,
    /// About how many bytes that would win.
    pub(crate) bytes: u64,
    /// Whether runs would go wholly.
    pub(crate) is_deep: bool,
}

/// Print what the history holds, for people.
pub(crate) fn store_statistics(stats: &StoreStats, outlook: Option<&PruneOutlook>, days: u32) {
    let text = statistics(stats, outlook, days);
    let _ = terminal::out(&text);
}

/// Print what the history holds, for programs.
pub(crate) fn store_statistics_json(stats: &StoreStats) {
    let table = |it: &flakeproof_store::TableStats| json!({ "name": it.name, "rows": it.rows, "bytes": it.bytes });
    let tables: Vec<_> = stats.tables.iter().map(table).collect();
    let (first, last) = stats.period.clone().unzip();
    let document = json!({
        "schema": 1,
        "file": stats.place,
        "bytes": stats.bytes,
        "free_bytes": stats.free_bytes,
        "runs": stats.runs,
        "executions": stats.executions,
        "tests": stats.tests,
        "first_run": first,
        "last_run": last,
        "tables": tables,
    });
    super::verbatim(&format!("{document:#}\n"));
}

/// Say what pruning would win.
pub(crate) fn prune_outlook(outlook: &PruneOutlook) {
    let text = format!("{}\n{DIM}nothing was changed{DIM:#}\n", would_go(outlook));
    let _ = terminal::out(&text);
}

/// Say what was forgotten.
pub(crate) fn pruned(pruned: &Pruned, before: u64, after: u64, is_compact: bool) {
    let text = forgotten(pruned, before, after, is_compact);
    let _ = terminal::out(&text);
}

/// Say what was folded.
pub(crate) fn folded(folded: &Folded, place: &str) {
    let text = match folded.segments {
        0 => format!("{place}: there is nothing to fold\n"),
        _ => format!(
            "{place}: {} of {} are in larger ones now\n",
            count(folded.segments, "segment"),
            count(folded.runs, "run")
        ),
    };
    let _ = terminal::out(&text);
}

/// Say which segments count for nothing, and why.
pub(crate) fn segments_skipped(skipped: &[Skipped]) {
    for Skipped { segment, why } in skipped {
        let what = format!("the segment {segment} does not count: {why}");
        let next = "remove it if its run is not wanted, or write it again from its machine";
        let _ = terminal::err(&format!("{DIM}{what}\n{next}{DIM:#}\n"));
    }
}

/// Say what was sent from one history to another.
pub(crate) fn synced(synced: &Synced, from: &str, to: &str) {
    let text = sent(synced, from, to);
    let _ = terminal::out(&text);
}

fn sent(synced: &Synced, from: &str, to: &str) -> String {
    let things = [
        (synced.runs, "run"),
        (synced.executions, "execution"),
        (synced.hunts, "hunt"),
        (synced.causes, "experiment"),
    ];
    let sent: Vec<String> =
        things.iter().filter(|(many, _)| *many > 0).map(|(many, of)| count(*many, of)).collect();
    let known = match synced.known {
        0 => String::new(),
        known => format!("; {known} of its runs, hunts and experiments were there already"),
    };
    let sent = if sent.is_empty() { "nothing new".to_owned() } else { sent.join(", ") };
    format!("{STRONG}{sent}{STRONG:#} sent from {from} to {to}{DIM}{known}{DIM:#}\n")
}

/// Say that a table was written.
pub(crate) fn exported(rows: u64, out: &Path) {
    if out == Path::new("-") {
        return;
    }
    let mut err = anstream::stderr().lock();
    let rows = count(usize::try_from(rows).unwrap_or(usize::MAX), "row");
    let _ = writeln!(err, "{STRONG}{}{STRONG:#} {DIM}{rows}{DIM:#}", out.display());
}

fn statistics(stats: &StoreStats, outlook: Option<&PruneOutlook>, days: u32) -> String {
    let mut text = String::new();
    let size = size(stats.bytes);
    let _ = writeln!(text, "{STRONG}{}{STRONG:#}  {size}", stats.place);
    let period = match &stats.period {
        Some((first, last)) => format!(", from {} to {}", day(first), day(last)),
        None => String::new(),
    };
    let (runs, tests) = (number(stats.runs, "run"), number(stats.tests, "test"));
    let executions = number(stats.executions, "execution");
    let _ = writeln!(text, "{executions} of {tests} in {runs}{period}\n");
    let width = stats.tables.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for table in &stats.tables {
        let bytes = self::size(table.bytes);
        let rows = number(table.rows, "row");
        let _ = writeln!(text, "{:<width$}  {bytes:>9}  {DIM}{rows}{DIM:#}", table.name);
    }
    if stats.free_bytes > 0 {
        let free = self::size(stats.free_bytes);
        let _ = writeln!(text, "{:<width$}  {free:>9}  {DIM}free{DIM:#}", "");
    }
    let Some(outlook) = outlook else { return text };
    text.push('\n');
    if outlook.pruned.old_runs == 0 {
        let _ = writeln!(text, "{DIM}no run is older than {days} days{DIM:#}");
    } else {
        let _ = writeln!(text, "{}", would_go(outlook));
        let _ = writeln!(text, "{DIM}`flakeproof store prune --keep-days {days}` does it{DIM:#}");
    }
    text
}

fn would_go(outlook: &PruneOutlook) -> String {
    let pruned = &outlook.pruned;
    let won = size(outlook.bytes);
    let old = number(pruned.old_runs, "run");
    let wholly = match outlook.is_deep {
        true => format!("{} wholly, ", number(pruned.runs, "run")),
        false => String::new(),
    };
    format!(
        "of {old} that are old enough, {wholly}{} would go, and about {won} would be won{}",
        details(pruned),
        kept(pruned)
    )
}

fn forgotten(pruned: &Pruned, before: u64, after: u64, is_compact: bool) -> String {
    let mut text = String::new();
    let old = number(pruned.old_runs, "old run");
    let _ = writeln!(text, "{old}: {} removed{}", details(pruned), kept(pruned));
    if pruned.runs > 0 || pruned.tests > 0 {
        let (runs, tests) = (number(pruned.runs, "run"), number(pruned.tests, "test"));
        let _ = writeln!(text, "{runs} and {tests} removed wholly");
    }
    if pruned.has_kept_tests {
        let why = "a run is open, so tests that no run knows any more were left";
        let _ = writeln!(text, "{DIM}{why}; prune again when it is over{DIM:#}");
    }
    let (from, to) = (size(before), size(after));
    if is_compact {
        let won = size(before.saturating_sub(after));
        let _ = writeln!(text, "{STRONG}{won}{STRONG:#} won: from {from} to {to}");
    } else {
        let why = "the file is in use, so it keeps its size and its gaps are filled later";
        let _ = writeln!(text, "{DIM}{why}; prune again when nobody uses it{DIM:#}");
    }
    text
}

fn details(pruned: &Pruned) -> String {
    let parts = [
        number(pruned.executions, "execution"),
        number(pruned.findings, "finding"),
        number(pruned.features, "feature row"),
        number(pruned.trials, "trial"),
    ];
    parts.join(", ")
}

fn kept(pruned: &Pruned) -> String {
    match pruned.kept_passes {
        0 => String::new(),
        1 => "; 1 old pass stays, the latest of its test".to_owned(),
        many => format!("; {many} old passes stay, each the latest of its test"),
    }
}

fn number(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", flakeproof_report::words::grouped(number))
}

fn day(started: &str) -> &str {
    started.split_once('T').map_or(started, |(day, _)| day)
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1000, "kB")];
    let found = units.into_iter().find(|(unit, _)| bytes >= *unit);
    found.map_or_else(
        || format!("{bytes} B"),
        |(unit, name)| format!("{:.1} {name}", bytes as f64 / unit as f64),
    )
}

/// Say that a report was written.
pub(crate) fn report_written(overview: &Overview, path: &Path) {
    let flaky = overview.scores.standing(Standing::Flaky).count();
    let broken = overview.scores.standing(Standing::Broken).count();
    let tests = count(overview.scores.tests.len(), "test");
    let runs = count(overview.timeline.runs.len(), "run");
    let mut err = anstream::stderr().lock();
    let _ = writeln!(
        err,
        "{STRONG}{}{STRONG:#} {DIM}{tests} in {runs}: {flaky} flaky, {broken} broken{DIM:#}",
        path.display()
    );
}

#[cfg(test)]
mod tests {
    use flakeproof_store::TableStats;

    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn pruned_some() -> Pruned {
        Pruned {
            old_runs: 300,
            executions: 1_200_000,
            findings: 45,
            features: 1,
            trials: 9,
            kept_passes: 2,
            ..Pruned::default()
        }
    }

    #[test]
    fn the_largest_table_and_what_could_go_are_shown() {
        let table = |name: &str, rows, bytes| TableStats { name: name.into(), rows, bytes };
        let stats = StoreStats {
            place: "history.db".into(),
            bytes: 123_456_789,
            free_bytes: 4096,
            tables: vec![table("execution", 5_000_000, 110_000_000), table("run", 1, 800)],
            runs: 1,
            executions: 5_000_000,
            tests: 10_000,
            period: Some(("2026-01-01T00:00:00Z".into(), "2026-11-15T00:00:00Z".into())),
        };
        let outlook = PruneOutlook { pruned: pruned_some(), bytes: 26_000_000, is_deep: false };
        insta::assert_snapshot!(plain(&statistics(&stats, Some(&outlook), 90)));
    }

    #[test]
    fn what_was_won_is_said_and_what_stayed() {
        let deep = Pruned { runs: 3, tests: 1, has_kept_tests: true, ..pruned_some() };
        let text =
            forgotten(&deep, 2_000_000, 500_000, true) + &forgotten(&deep, 2000, 2000, false);
        insta::assert_snapshot!(plain(&text));
    }

    #[test]
    fn what_was_sent_is_said_and_what_was_known() {
        let synced = Synced { runs: 2, executions: 1200, known: 3, ..Synced::default() };
        let text = plain(&(sent(&synced, "a.db", "b.db") + &sent(&Synced::default(), "a", "b")));
        assert!(text.starts_with("2 runs, 1200 executions sent from a.db to b.db; 3 of"), "{text}");
        assert!(text.contains("nothing new sent from a to b\n"), "{text}");
    }

    #[test]
    fn sizes_are_rounded() {
        assert_eq!(
            [999, 1000, 1_250_000, 3_000_000_000].map(size),
            ["999 B", "1.0 kB", "1.2 MB", "3.0 GB"]
        );
    }
}
