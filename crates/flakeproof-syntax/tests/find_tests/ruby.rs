//! Ruby: RSpec and minitest.

use crate::{find, helpers, listing};

#[test]
fn examples_and_test_methods_are_tests() {
    let found = find("spec/user_spec.rb", include_str!("../samples/user_spec.rb"));
    assert_eq!(
        listing(&found),
        [
            "spec/user_spec.rb > User > #name > works 6-8",
            "spec/user_spec.rb > User > #name > is_expected.to x 9-9",
            "FooTest#test_a 15-18",
            "FooTest#test_some_thing 19-20",
        ]
    );
    assert_eq!(helpers(&found, "works"), ["before", "a", "helper"]);
    assert_eq!(helpers(&found, "test_a"), ["setup"]);
}
