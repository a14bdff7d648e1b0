//! How many trials a worker takes at a time.

/// A unit takes about so long, in seconds: long beside a trip to the server, short beside what is lost with
/// a machine.
const UNIT: f64 = 45.0;

/// Each worker shall have so many units still to come, so that all end at about the same time.
const UNITS_TO_COME: f64 = 2.0;

/// How many of the next trials make a unit, where these are their numbers of tests, so many tests wait in
/// all, so many workers share them, and a test takes this worker so many seconds; one if it does not know.
#[expect(clippy::cast_precision_loss, reason = "nobody has so many tests")]
pub(super) fn trials_of_unit(
    next: &[u32],
    waiting: u64,
    workers: u64,
    seconds_per_test: Option<f64>,
) -> usize {
    let Some(each) = seconds_per_test else { return 1 };
    let fair = waiting as f64 * each / (UNITS_TO_COME * workers.max(1) as f64);
    let most = fair.min(UNIT);
    let mut seconds = 0.0;
    let fitting = next.iter().take_while(|tests| {
        seconds += f64::from(**tests) * each;
        seconds <= most
    });
    fitting.count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_takes_half_a_minute_to_a_minute_where_there_is_much_to_do() {
        let trials = vec![20; 1000];
        let size = trials_of_unit(&trials, 20_000, 4, Some(0.1));
        assert!((15..=30).contains(&size), "{size} trials of two seconds");
    }

    #[test]
    fn a_long_trial_is_a_unit_of_its_own() {
        assert_eq!(trials_of_unit(&[5000, 5000], 10_000, 1, Some(1.0)), 1);
    }

    #[test]
    fn little_work_is_shared_by_all() {
        assert_eq!(trials_of_unit(&[10; 16], 160, 8, Some(0.1)), 1);
        assert_eq!(trials_of_unit(&[10; 16], 160, 2, Some(0.1)), 4);
    }

    #[test]
    fn who_does_not_know_its_pace_takes_one() {
        assert_eq!(trials_of_unit(&[1; 100], 100, 1, None), 1);
    }
}
