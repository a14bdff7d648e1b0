//! The bar that every long work begins with.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget};

/// A bar that says that tests are being collected, and whether anybody sees it: elsewhere than on a
/// terminal it is hidden.
pub(super) fn while_collecting() -> (ProgressBar, bool) {
    let is_live = std::io::stderr().is_terminal();
    let bar = ProgressBar::new_spinner();
    if is_live {
        bar.set_message("collecting tests");
        bar.enable_steady_tick(Duration::from_millis(200));
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    (bar, is_live)
}
