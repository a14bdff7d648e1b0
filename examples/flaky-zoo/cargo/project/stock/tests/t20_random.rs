//! Fails by chance, at once and at any time: not bursty.

macro_rules! tickets {
    ($($ticket:ident)*) => {
        $(
            #[test]
            fn $ticket() {
                assert_ne!(stock::lottery::draw(), 0, "one draw in ten is a blank");
            }
        )*
    };
}

tickets! {
    random_failure_00
    random_failure_01
    random_failure_02
    random_failure_03
    random_failure_04
    random_failure_05
    random_failure_06
    random_failure_07
    random_failure_08
    random_failure_09
    random_failure_10
    random_failure_11
    random_failure_12
    random_failure_13
    random_failure_14
    random_failure_15
    random_failure_16
    random_failure_17
    random_failure_18
    random_failure_19
}
