//! What in a test's parameters differs from run to run, and is left out of its id.
//!
//! `test_get[<Client at 0x7f3a2b1c0d10>]` is one test, whatever address its parameter has today.
//! Two tests must never become one, though: a failure of the one and a pass of the other would look
//! like a flaky test. So the rules are narrow. They look at parameters only, not at the name of the
//! test, and leave alone whatever may have been written down by hand: small numbers, short
//! constants, well-known ports, dates that are not of the day of the run.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// One rule: what is left out of ids.
#[derive(Debug, Clone, Copy)]
pub struct IdRule {
    /// What it is about, and what stands in its place between angle brackets.
    pub name: &'static str,
    /// The regular expression that finds it; the group `v` is what varies.
    pub pattern: &'static str,
    /// What else must hold, in words; empty if nothing.
    pub condition: &'static str,
    /// A parameter to which it applies.
    pub example: &'static str,
    /// What becomes of it.
    pub becomes: &'static str,
    check: fn(&str, Option<i64>) -> bool,
}

const RULES: [IdRule; 9] = [
    IdRule {
        name: "temp",
        pattern: concat!(
            r"(?P<v>(?:(?:/private)?/(?:tmp|var/tmp|var/folders)/|[A-Za-z]:[\\/][^\s<>]*?[\\/]Temp[\\/])",
            r#"[^\s'"<>,;:()\[\]{}]*)"#
        ),
        condition: "the path has a number, or a part that was made up, such as `tmpab12cd`",
        example: "/tmp/pytest-of-ci/pytest-3/data0/a.db",
        becomes: "<temp>",
        check: is_made_up,
    },
    IdRule {
        name: "uuid",
        pattern: r"(?i)(?:^|[^0-9a-z])(?P<v>[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})(?:$|[^0-9a-z])",
        condition: "",
        example: "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
        becomes: "<uuid>",
        check: always,
    },
    IdRule {
        name: "seed",
        pattern: r"(?i)seed[ =:_-]{0,2}(?P<v>\d{5,20})(?:$|[^0-9A-Za-z])",
        condition: "five digits or more; smaller ones are chosen by hand",
        example: "seed=1794737700123",
        becomes: "seed=<seed>",
        check: always,
    },
    IdRule {
        name: "date",
        pattern: r"(?:^|[^0-9A-Za-z])(?P<v>\d{4}-\d{2}-\d{2}[T _]\d{2}[:.-]?\d{2}(?:[:.-]?\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)(?:$|[^0-9A-Za-z])",
        condition: "a date with a time of day",
        example: "2026-11-15T10:15:00.123Z",
        becomes: "<date>",
        check: always,
    },
    IdRule {
        name: "date",
        pattern: r"(?:^|[^0-9A-Za-z])(?P<v>\d{4}-\d{2}-\d{2})(?:$|[^0-9A-Za-z])",
        condition: "within two days of the run; other dates were written down by somebody",
        example: "2026-11-15",
        becomes: "<date>",
        check: is_near_day,
    },
    IdRule {
        name: "date",
        pattern: r"(?:^|[^0-9A-Za-z.])(?P<v>1\d{9}(?:\d{3})?(?:\.\d+)?)(?:$|[^0-9A-Za-z.])",
        condition: "seconds or milliseconds since 1970, within two days of the run",
        example: "1794737700",
        becomes: "<date>",
        check: is_near_epoch,
    },
    IdRule {
        name: "address",
        pattern: r"(?:^|[^0-9A-Za-z])(?P<v>0x[0-9a-fA-F]{9,16})(?:$|[^0-9A-Za-z])",
        condition: "nine digits or more; shorter ones are constants",
        example: "0x7f3a2b1c0d10",
        becomes: "<address>",
        check: always,
    },
    IdRule {
        name: "address",
        pattern: r"(?: at |[A-Za-z_$;]@)(?P<v>(?:0x)?[0-9a-f]{6,16})(?:$|[^0-9A-Za-z])",
        condition: "the address or hash of an object, as Python and Java print it",
        example: "<Client at 0x55ab10>",
        becomes: "<Client at <address>>",
        check: has_digit,
    },
    IdRule {
        name: "port",
        pattern: r"(?i)(?:(?:localhost|[0-9a-z\]]+(?:\.[0-9a-z-]+)+|::1\]):|port[ =:_-]{1,2})(?P<v>\d{5})(?:$|[^0-9A-Za-z])",
        condition: "from 32768 on, where systems hand out ports themselves",
        example: "http://127.0.0.1:49152/",
        becomes: "http://127.0.0.1:<port>/",
        check: is_ephemeral,
    },
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compiled = |rule: &IdRule| {
        Regex::new(rule.pattern).expect("the patterns are fixed and compile, as a test shows")
    };
    RULES.iter().map(compiled).collect()
});

/// The rules, for tests of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRules {
    /// The day of the run, counted from 1970.
    day: Option<i64>,
}

impl IdRules {
    /// The rules for a run that started at this time (RFC 3339, or a day). Without a readable time
    /// no date without a time of day is left out.
    #[must_use]
    pub fn of_run(started: &str) -> Self {
        Self { day: day_of(started) }
    }

    /// Every rule, in the order in which they are applied.
    #[must_use]
    pub fn all() -> &'static [IdRule] {
        &RULES
    }

    /// The name of a test as the rules leave it. Doing it twice changes nothing.
    #[must_use]
    pub fn normal<'a>(&self, name: &'a str) -> Cow<'a, str> {
        let (own, parameters) = split(name);
        if !may_vary(parameters) {
            return Cow::Borrowed(name);
        }
        let normal = self.replaced(parameters);
        if normal == parameters {
            return Cow::Borrowed(name);
        }
        Cow::Owned(format!("{own}{normal}"))
    }

    /// What was replaced may be what kept its neighbour from being found, hence again and again;
    /// each time there are fewer digits.
    fn replaced(&self, parameters: &str) -> String {
        let mut text = parameters.to_owned();
        loop {
            let before = text.len();
            let mut is_changed = false;
            for (rule, pattern) in RULES.iter().zip(PATTERNS.iter()) {
                let next = pattern.replace_all(&text, |found: &Captures<'_>| {
                    let replacement = replacement(rule, found, self.day);
                    is_changed |= replacement.is_some();
                    replacement.unwrap_or_else(|| found[0].to_owned())
                });
                if let Cow::Owned(next) = next {
                    text = next;
                }
            }
            if !is_changed || text.len() > before.saturating_mul(4) + 64 {
                return text;
            }
        }
    }
}

fn replacement(rule: &IdRule, found: &Captures<'_>, day: Option<i64>) -> Option<String> {
    let (whole, varying) = (found.get(0)?, found.name("v")?);
    if !(rule.check)(varying.as_str(), day) {
        return None;
    }
    let start = varying.start() - whole.start();
    let end = varying.end() - whole.start();
    let text = whole.as_str();
    Some(format!("{}<{}>{}", &text[..start], rule.name, &text[end..]))
}

/// The name of a test itself, and what follows it: parameters, the name of a subtest, a sentence.
fn split(name: &str) -> (&str, &str) {
    let is_own = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    name.split_at(name.find(|c| !is_own(c)).unwrap_or(name.len()))
}

/// Whether a look with the patterns is worth its time; most names are plain.
fn may_vary(parameters: &str) -> bool {
    let (mut digits, mut hexadecimal) = (0_u32, 0_u32);
    for byte in parameters.bytes() {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        hexadecimal = if byte.is_ascii_hexdigit() { hexadecimal + 1 } else { 0 };
        if digits >= 4 || hexadecimal >= 6 {
            return true;
        }
    }
    ["tmp", "Temp", "folders"].iter().any(|part| parameters.contains(part))
}

fn always(_: &str, _: Option<i64>) -> bool {
    true
}

fn has_digit(text: &str, _: Option<i64>) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_made_up(path: &str, _: Option<i64>) -> bool {
    let is_random = |part: &str| {
        part.strip_prefix("tmp")
            .is_some_and(|rest| (6..=12).contains(&rest.trim_matches('_').len()))
    };
    has_digit(path, None) || path.split(['/', '\\']).any(is_random)
}

fn is_ephemeral(port: &str, _: Option<i64>) -> bool {
    port.parse::<u32>().is_ok_and(|port| (32_768..=65_535).contains(&port))
}

/// How far from the day of the run a date may be: time zones, "yesterday" and "tomorrow".
const NEAR: i64 = 2;

fn is_near_day(date: &str, day: Option<i64>) -> bool {
    matches!((day_of(date), day), (Some(date), Some(day)) if (date - day).abs() <= NEAR)
}

fn is_near_epoch(number: &str, day: Option<i64>) -> bool {
    let whole = number.split('.').next().unwrap_or_default();
    let seconds = whole.get(..10).and_then(|seconds| seconds.parse::<i64>().ok());
    matches!((seconds, day), (Some(seconds), Some(day)) if (seconds / 86_400 - day).abs() <= NEAR)
}

/// The day of an RFC 3339 time stamp, counted from 1970.
fn day_of(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is the last of a year.
    let year = if month <= 2 { year - 1 } else { year };
    let since_march = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + since_march
            - 719_468,
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RUN: IdRules = IdRules { day: Some(20_772) };

    #[test]
    fn each_rule_does_what_its_example_says() {
        for rule in IdRules::all() {
            let name = format!("test_a[{}]", rule.example);
            assert_eq!(RUN.normal(&name), format!("test_a[{}]", rule.becomes), "{rule:?}");
        }
    }

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!(day_of("1970-01-01"), Some(0));
        assert_eq!(day_of("2000-03-01T00:00:00Z"), Some(11_017));
        assert_eq!(IdRules::of_run("2026-11-15T10:15:00Z"), RUN);
    }

    #[test]
    fn what_somebody_wrote_down_stays() {
        for name in [
            "test_a[8]",
            "test_a[2024]",
            "test_a[12345]",
            "test_a[2024-02-29]",
            "test_a[0xdeadbeef]",
            "test_a[localhost:8080]",
            "test_a[/tmp/file]",
            "test_a[seed=42]",
            "test_a[00000000-0000-0000-0000-000000000000]",
            "test_a[someone@example]",
            "test_a[1.5e10]",
            "test_20261115",
            "test_0x7f3a2b1c0d10",
            "adds(int)[1]",
            "parses 1,000,000 lines",
        ] {
            assert_eq!(RUN.normal(name), name);
        }
    }

    #[test]
    fn several_in_one_parameter_are_all_left_out() {
        let name = "TestServe/127.0.0.1:40001-127.0.0.1:40002 2026-11-15,2026-11-16";
        let normal = "TestServe/127.0.0.1:<port>-127.0.0.1:<port> <date>,<date>";
        assert_eq!(RUN.normal(name), normal);
    }

    #[test]
    fn objects_as_java_prints_them_have_no_hash() {
        assert_eq!(RUN.normal("[1] com.acme.Foo@1b6d3586"), "[1] com.acme.Foo@<address>");
    }

    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![
            prop::sample::select(vec![
                "0x7f3a2b1c0d10",
                "2026-11-15",
                "T10:15:00",
                ":49152",
                "localhost",
                "seed=",
                "99999",
                "/tmp/",
                "tmpab12cd34",
                "1b4e28ba-2fa1-41d2-883f-0016d3cca427",
                " at ",
                "@",
                "[",
                "]",
                "-",
                " ",
                "1794737700",
                "<",
                ">",
                "127.0.0.1",
                "port=",
            ])
            .prop_map(str::to_owned),
            "[0-9a-fx:.<>-]{0,12}",
        ]
    }

    proptest! {
        #[test]
        fn doing_it_twice_changes_nothing(pieces in prop::collection::vec(piece(), 0..10)) {
            let name = format!("test_a[{}]", pieces.concat());
            let once = RUN.normal(&name).into_owned();
            prop_assert_eq!(RUN.normal(&once), once.as_str());
        }

        #[test]
        fn plain_numbers_stay(number in 0_u32..100_000, other in -999_i32..999) {
            let name = format!("test_a[{number}-{other}]");
            prop_assert_eq!(RUN.normal(&name), name.as_str());
        }

        #[test]
        fn the_test_itself_keeps_its_name(own in "[a-z_0-9]{1,30}", rest in ".{0,30}") {
            let name = format!("{own}[{rest}");
            let normal = RUN.normal(&name).into_owned();
            prop_assert!(normal.starts_with(&format!("{own}[")), "{}", normal);
        }
    }
}
