//! How many environments run side by side.

use flakeproof_core::{Notice, Shard, Surroundings};
use flakeproof_runner::{Adapter, Workers};

/// More do not make a search much faster, and take memory.
const MOST_AT_ONCE: usize = 6;

/// How many environments run side by side: what `-j` says, else as many as the user's command asks
/// its runner to start processes; and what the reader should know about it.
pub(crate) fn jobs(given: Option<usize>, adapter: &dyn Adapter) -> (usize, Option<Notice>) {
    match adapter.workers() {
        Some(workers) => shared_among(given, &workers),
        None => (given.unwrap_or(1), None),
    }
}

/// How many environments may run side by side where nobody says it and nothing rests on one alone: tests
/// often wait, so some more than there are cores.
pub(crate) fn at_once() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| (2 * cores.get()).min(MOST_AT_ONCE))
}

fn shared_among(given: Option<usize>, workers: &Workers) -> (usize, Option<Notice>) {
    let asked = &workers.asked;
    let reason = "a failure inside of an xdist worker cannot be rerun in the same process";
    let (jobs, what, next) = match (given, &workers.obstacle) {
        (Some(jobs), _) => (
            jobs,
            format!("`-j {jobs}` stands in for `{asked}` of pytest-xdist"),
            format!("{reason}, so its workers are not started"),
        ),
        (None, Some(obstacle)) => (
            1,
            format!("the suite runs in one process, without the workers of `{asked}`"),
            format!("{obstacle}; `-j N` runs files side by side all the same"),
        ),
        (None, None) => (
            workers.count,
            format!("`{asked}` of pytest-xdist is run as `-j {}`", workers.count),
            format!("{reason}, so its workers are not started; give `-j` for another number"),
        ),
    };
    (jobs.max(1), Some(Notice { what, next }))
}

/// The surroundings of tests that run beside others: a test that shares its process and machine with
/// other tests than before does not run under the same conditions.
pub(crate) fn with_jobs(mut surroundings: Surroundings, jobs: usize) -> Surroundings {
    if jobs > 1 {
        surroundings.runtime.push(format!("{jobs} environments side by side"));
    }
    surroundings
}

/// The surroundings of a part of the suite: a test meets other tests there than in the whole of it.
pub(crate) fn with_shard(mut surroundings: Surroundings, shard: Option<Shard>) -> Surroundings {
    surroundings.runtime.extend(shard.map(|shard| format!("one of {} shards", shard.of())));
    surroundings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workers(obstacle: Option<&str>) -> Workers {
        let obstacle = obstacle.map(str::to_owned);
        Workers { asked: "-n auto".to_owned(), count: 8, obstacle }
    }

    #[test]
    fn workers_of_the_runner_become_environments_unless_a_number_is_given() {
        let (jobs, notice) = shared_among(None, &workers(None));
        assert_eq!((jobs, notice.unwrap().what.contains("`-j 8`")), (8, true));
        let (jobs, notice) = shared_among(Some(2), &workers(None));
        assert_eq!((jobs, notice.unwrap().what.contains("`-j 2` stands in")), (2, true));
    }

    #[test]
    fn tests_that_must_share_a_process_do() {
        let groups = workers(Some("groups stay together"));
        assert_eq!(shared_among(None, &groups).0, 1);
        assert_eq!(shared_among(Some(3), &groups).0, 3);
    }
}
