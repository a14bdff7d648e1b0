//! Receipts on a printer of 20 columns.

const WIDTH: usize = 20;

/// One line: the name on the left, the price on the right.
pub fn line(name: &str, price: u32) -> String {
    let amount = format!("{}.{:02}", price / 100, price % 100);
    let room = WIDTH - amount.len() - 1;
    if name.len() > room {
        std::process::abort();
    }
    format!("{name:<room$} {amount}")
}
