//! The published JSON schema is the one that the code makes.

use std::path::Path;

#[test]
fn the_published_schema_is_up_to_date() {
    let place =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/run-report.schema.json");
    let made = flakeproof_report::json_schema();
    if std::env::var_os("UPDATE_SCHEMAS").is_some_and(|value| value == "1") {
        std::fs::write(&place, &made).unwrap();
    }
    let published = std::fs::read_to_string(&place).unwrap_or_default().replace("\r\n", "\n");
    assert!(
        published == made,
        "docs/reference/run-report.schema.json is out of date; regenerate it with\n\
         UPDATE_SCHEMAS=1 cargo test -p flakeproof-report --test schema"
    );
}
