//! Pin what a run showed to make a test pass: the zone or the locale, before each test of its class, and
//! put back what was there after it.

use super::addition::Addition;
use super::file::{JavaFile, TestMethod};
use super::restore::{Scope, Writer};
use crate::Pin;

/// The ways to pin something for the tests of a class, the likeliest first.
#[must_use]
pub fn pins(pin: &Pin, file: &JavaFile, _test: &TestMethod) -> Vec<Addition> {
    let mut it = Writer::new(file, Scope::Test);
    let (before, name, idea) = match pin {
        Pin::Zone(zone) => {
            let of_type = it.names.of_type("java.util.TimeZone");
            it.keep_and_set("timeZone", &of_type, &of_type, "getDefault", "setDefault");
            let before = format!("{of_type}.setDefault({of_type}.getTimeZone(\"{zone}\"));");
            (before, "pinTimeZone", format!("pin the time zone {zone} for the tests of this class"))
        }
        Pin::Locale(locale) => {
            let of_type = it.names.of_type("java.util.Locale");
            it.keep_and_set("locale", &of_type, &of_type, "getDefault", "setDefault");
            let before = format!("{of_type}.setDefault({of_type}.{locale});");
            (before, "pinLocale", format!("pin the locale {locale} for the tests of this class"))
        }
        // There is no seed for the random numbers of the JDK.
        Pin::Seed(_) => return Vec::new(),
    };
    let mut written = it.addition();
    written.before.push(before);
    written.before_name = name.to_owned();
    written.idea = Some(idea);
    vec![written]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_pinned_before_each_test_and_put_back() {
        let text = "package pay;\n\nimport org.junit.jupiter.api.Test;\n\nclass PayTest {\n    @Test\n    \
                    void day() {\n        f();\n    }\n}\n";
        let file = JavaFile::parse("PayTest.java", text).unwrap();
        let test = file.test(&"pay.PayTest#day".into()).unwrap();
        let addition = pins(&Pin::Zone("UTC".into()), &file, &test).remove(0);
        let with = file.with(&[(test, addition)]).unwrap();
        crate::check("PayTest.java", &with).unwrap();
        for says in [
            "import java.util.TimeZone;",
            "private final TimeZone originalTimeZone = TimeZone.getDefault();",
            "    @BeforeEach\n    void pinTimeZone() {\n        \
             TimeZone.setDefault(TimeZone.getTimeZone(\"UTC\"));\n    }\n",
            "    @AfterEach\n    void restoreTimeZone() {\n        \
             TimeZone.setDefault(originalTimeZone);\n    }\n",
        ] {
            assert!(with.contains(says), "{says} is not in {with}");
        }
    }
}
