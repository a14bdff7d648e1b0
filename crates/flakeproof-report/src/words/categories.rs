//! Why tests are flaky, and what to do about each reason.
//!
//! The set is open: a model may be trained on data with categories of its own. Those keep their
//! name, and get the advice that always holds.

/// What makes a test of this category flaky, to stand behind "because of".
///
/// ```
/// use flakeproof_report::words;
///
/// assert_eq!(words::category("async_wait"), "an asynchronous wait (async_wait)");
/// assert_eq!(words::category("moonlight"), "moonlight");
/// ```
#[must_use]
pub fn category(category: &str) -> String {
    match known(category) {
        Some((reason, _)) => format!("{reason} ({category})"),
        None => category.to_owned(),
    }
}

/// What to do about a test that is flaky for this reason, in the imperative.
#[must_use]
pub fn advice(category: Option<&str>) -> &'static str {
    match category.and_then(known) {
        Some((_, advice)) => advice,
        None => {
            "run it many times, alone and among the other tests in random order, until it fails"
        }
    }
}

/// The reason and the advice for the categories that published data sets use.
fn known(category: &str) -> Option<(&'static str, &'static str)> {
    let known = match category {
        "async_wait" => (
            "an asynchronous wait",
            "wait for the event itself, with a generous deadline, instead of for a fixed time",
        ),
        "test_order_dependency" => (
            "the order of the tests",
            "run it alone and the suite in random order, then reset the state that it shares with \
             other tests",
        ),
        "unordered_collections" => (
            "the order of an unordered collection",
            "compare without regard to order, or sort before you compare",
        ),
        "time" => (
            "the time or the date",
            "give the code a clock and a time zone that the test sets, and let no assertion depend \
             on how fast it runs",
        ),
        "concurrency" => (
            "a race between threads or tasks",
            "join every thread or task before you assert, and guard what they share; a race \
             detector names the place",
        ),
        "network" => (
            "the network",
            "replace the remote service by a fake in the test's own process, on a port that the \
             system chooses",
        ),
        "randomness" => (
            "random values",
            "set the seed of every generator and print it on failure, or assert what holds for \
             every value",
        ),
        "resource_leak" => (
            "a resource that is not given back",
            "close files, connections, threads and processes when the test ends, also when it fails",
        ),
        "test_case_timeout" => (
            "a deadline that is too tight",
            "find out which step is slow, give it less to do, and set the deadline well above the \
             slowest run",
        ),
        "floating_point" => (
            "the rounding of floating-point numbers",
            "compare with a tolerance that fits the size of the numbers, and fix the order of sums",
        ),
        "platform_dependency" => (
            "the platform it runs on",
            "set what differs between machines (locale, encoding, line ends, paths, versions) in \
             the test itself",
        ),
        "io" => (
            "files or streams",
            "give the test a temporary folder of its own, and flush and close what it writes before \
             it reads it back",
        ),
        "too_restrictive_range" => (
            "a range that leaves valid values out",
            "work out which values the code may return, and widen the range to all of them",
        ),
        _ => return None,
    };
    Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_category_has_advice_of_its_own() {
        let categories = [
            "async_wait",
            "test_order_dependency",
            "unordered_collections",
            "time",
            "concurrency",
            "network",
            "randomness",
            "resource_leak",
            "test_case_timeout",
            "floating_point",
            "platform_dependency",
            "io",
            "too_restrictive_range",
        ];
        let mut told: Vec<_> = categories.iter().map(|it| advice(Some(it))).collect();
        told.push(advice(None));
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), categories.len() + 1);
    }

    #[test]
    fn a_category_that_nobody_knows_gets_the_advice_that_always_holds() {
        assert_eq!(advice(Some("moonlight")), advice(None));
    }
}
