//! How many environments fit beside each other.

use flakeproof_core::Notice;
use flakeproof_runner::Adapter;

/// The wanted number of environments, or as many of them as the adapter has memory for.
pub(crate) fn jobs(adapter: &dyn Adapter, wanted: usize) -> (usize, Option<Notice>) {
    let most = adapter.most_environments().unwrap_or(usize::MAX).max(1);
    let notice = (wanted > most).then(|| Notice {
        what: format!("memory is enough for {most} environments side by side, not for {wanted}"),
        next: "free memory, or give the tests' own processes less of it".into(),
    });
    (wanted.min(most), notice)
}

#[cfg(test)]
mod tests {
    use flakeproof_testkit::scripted::suite;

    use super::*;

    #[test]
    fn no_more_environments_are_opened_than_memory_has_room_for() {
        let roomy = suite(["a"]);
        assert_eq!(jobs(&roomy, 8), (8, None));
        let (fewer, notice) = jobs(&roomy.with_room_for(3), 8);
        assert_eq!(fewer, 3);
        assert!(notice.is_some_and(|it| it.what.contains("3 environments")));
    }
}
