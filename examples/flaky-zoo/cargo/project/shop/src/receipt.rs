//! Receipts on a printer of 20 columns.

const WIDTH: usize = 20;

/// One line: the name on the left, the price on the right, cut to the paper's width.
pub fn line(name: &str, price: u32) -> String {
    let amount = format!("{}.{:02}", price / 100, price % 100);
    let room = WIDTH - amount.len() - 1;
    let cut: String = name.chars().take(room).collect();
    format!("{cut:<room$} {amount}")
}
