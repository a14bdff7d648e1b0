//! A crash in code that the change touches.

#[test]
fn real_crash_that_the_change_introduces() {
    assert_eq!(
        shop::receipt::line("wholemeal bread, sliced", 250),
        "wholemeal bread 2.50"
    );
}
