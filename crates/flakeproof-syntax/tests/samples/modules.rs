mod inner;
#[cfg(test)]
mod tests {
    use super::*;
    /// doc
    #[test]
    #[should_panic(expected = "x")]
    fn a() { helper(); super::h2(); Foo::new(); self::z(); x.m(); assert!(helper()); }
    #[tokio::test(flavor = "x")]
    async fn b() -> R { }
    #[test_case(1; "one")]
    fn c(n: u8) {}
    proptest! {
        #[test]
        fn p(x in 0..1) { }
    }
    // c
    impl Foo { fn new() {} }
}
