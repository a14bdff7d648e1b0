//! Each of these ends the process it runs in.

#[test]
fn a_crash_by_abort_every_time() {
    std::process::abort();
}

#[test]
fn b_hang_waits_for_an_event_that_never_comes() {
    loop {
        std::thread::park();
    }
}
