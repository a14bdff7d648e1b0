//! Ctrl-C: once to stop and keep what was found, twice to stop at once.

use flakeproof_runner::{Cancel, process};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::view;

/// Listen for interrupts until the program ends.
pub(in crate::commands) fn listen() -> Cancel {
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return Cancel::never() };
    let (canceller, cancel) = Cancel::new();
    std::thread::spawn(move || {
        let mut is_second = false;
        for _ in signals.forever() {
            if is_second {
                process::kill_everything_below();
                std::process::exit(130);
            }
            view::interrupted();
            canceller.cancel();
            is_second = true;
        }
    });
    cancel
}
