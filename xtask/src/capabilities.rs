//! The book's table of what each adapter can do, written from what the adapters say.

use flakeproof_runner::{Capabilities, Orders, adapters};

use crate::root;

/// Where the table is.
const PAGE: &str = "docs/reference/adapters.md";

/// Between these two lines its page is written by this program.
const BEGIN: &str = "<!-- capabilities: written by `cargo xtask capabilities` -->\n";
const END: &str = "<!-- end of capabilities -->\n";

/// Write the table into its page.
pub(crate) fn write() -> Result<(), String> {
    let path = root().join(PAGE);
    let (_, wanted) = page()?;
    std::fs::write(&path, wanted).map_err(|error| format!("{}: {error}", path.display()))
}

/// Fail where the page says something else than the adapters.
pub(crate) fn check() -> Result<(), String> {
    let (there, wanted) = page()?;
    match there == wanted {
        true => Ok(()),
        false => Err("the book's table of adapters is old: run `cargo xtask capabilities`".into()),
    }
}

/// The page as it is, and as it should be.
fn page() -> Result<(String, String), String> {
    let path = root().join(PAGE);
    let there =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let wanted = replaced(&there, &table(&adapters::capabilities()))
        .ok_or_else(|| format!("{} has no place for the table of adapters", path.display()))?;
    Ok((there, wanted))
}

/// The text with everything between the two marks replaced.
fn replaced(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

/// One row for each adapter.
fn table(adapters: &[(&str, Capabilities)]) -> String {
    let columns = [
        "adapter",
        "runs",
        "forked or warm environments",
        "copies with state",
        "orders",
        "dependencies",
        "features",
        "what tests leave behind",
    ];
    let mut lines = vec![row(&columns.map(str::to_owned)), row(&columns.map(|_| "---".to_owned()))];
    lines.extend(adapters.iter().map(|(name, can)| {
        row(&[
            format!("`{name}`"),
            can.runner.clone(),
            word(can.fork.is_ok()),
            word(can.snapshot),
            match can.orders {
                Orders::Any => "any",
                Orders::AnyFresh => "any",
                Orders::ByFile => "any, file by file",
                Orders::Seeded => "a few in any, many by seed",
                Orders::Own => "the suite's own",
                Orders::Apart => "any, a process each",
            }
            .to_owned(),
            word(can.dependencies),
            word(can.features),
            word(can.state),
        ])
    }));
    lines.concat()
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

fn word(can: bool) -> String {
    if can { "yes" } else { "no" }.to_owned()
}

#[cfg(test)]
mod tests {
    use flakeproof_core::Piece;
    use flakeproof_runner::Likeness;

    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let text = format!("before\n{BEGIN}old\n{END}after\n");
        let wanted = format!("before\n{BEGIN}\nnew\n\n{END}after\n");
        assert_eq!(replaced(&text, "new\n"), Some(wanted.clone()));
        assert_eq!(replaced(&wanted, "new\n"), Some(wanted), "writing again changes nothing");
        assert_eq!(replaced("no marks", "new"), None);
    }

    #[test]
    fn each_capability_has_its_column() {
        let can = Capabilities {
            runner: "a runner".into(),
            fork: Err("it has threads".into()),
            likeness: Likeness::Alike,
            snapshot: false,
            orders: Orders::Own,
            piece: Piece::Test,
            dependencies: true,
            features: false,
            state: false,
            examines_servers: false,
        };
        let table = table(&[("some", can)]);
        let wanted = "| `some` | a runner | no | no | the suite's own | yes | no | no |\n";
        assert!(table.ends_with(wanted), "{table}");
    }
}
