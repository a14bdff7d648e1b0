//! Tests that pass whatever happens, in the shapes suites have.

#[test]
fn passing_with_output() {
    println!("closed on Sundays");
}

#[test]
fn passing_with_result() -> Result<(), std::num::ParseIntError> {
    let price: u32 = "40".parse()?;
    assert_eq!(price, 40);
    Ok(())
}

#[test]
#[should_panic(expected = "somebody is logged in")]
fn passing_should_panic() {
    stock::customer::greeting();
}

#[test]
#[ignore = "the shop has no second till yet"]
fn skipped() {
    panic!("never runs");
}
