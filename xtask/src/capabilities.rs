//! The book's table of what each adapter can do, written from what the adapters say.

use flakeproof_runner::{Capabilities, Orders, adapters};

use crate::written_table::WrittenTable;

const WRITTEN: WrittenTable =
    WrittenTable { page: "docs/reference/adapters.md", command: "capabilities" };

/// Write the table into its page.
pub(crate) fn write() -> Result<(), String> {
    WRITTEN.write(&table(&adapters::capabilities()))
}

/// Fail where the page says something else than the adapters.
pub(crate) fn check() -> Result<(), String> {
    WRITTEN.check(&table(&adapters::capabilities()))
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
