//! Which of its parallel jobs a CI system runs at this moment, as its variables say.

use std::collections::BTreeMap;

/// One of several jobs that a system runs beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParallelJob {
    /// The variable that says which, for people.
    pub variable: &'static str,
    /// Which one it is, counted from 1.
    pub number: u64,
    /// How many there are, where the system says that too.
    pub of: Option<u64>,
}

/// Why variables say nothing that can be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is `{value}`, which is no number")]
pub struct NoNumber {
    /// The variable.
    pub variable: &'static str,
    /// Its value.
    pub value: String,
}

/// From where a system counts its jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    Zero,
    One,
}

/// How a system says it: which job, counted from where, and how many.
type System = (&'static str, From, Option<&'static str>);

/// The variables for systems that are not known come first, so that a user can overrule all others.
const SYSTEMS: [System; 9] = [
    ("FLAKEPROOF_SHARD_INDEX", From::Zero, Some("FLAKEPROOF_SHARD_TOTAL")),
    ("CI_NODE_INDEX", From::One, Some("CI_NODE_TOTAL")),
    ("CIRCLE_NODE_INDEX", From::Zero, Some("CIRCLE_NODE_TOTAL")),
    ("BUILDKITE_PARALLEL_JOB", From::Zero, Some("BUILDKITE_PARALLEL_JOB_COUNT")),
    ("SYSTEM_JOBPOSITIONINPHASE", From::One, Some("SYSTEM_TOTALJOBSINPHASE")),
    ("BITBUCKET_PARALLEL_STEP", From::Zero, Some("BITBUCKET_PARALLEL_STEP_COUNT")),
    ("SEMAPHORE_JOB_INDEX", From::One, Some("SEMAPHORE_JOB_COUNT")),
    // Jobs of Kubernetes that are indexed; how many there are stands in the manifest only.
    ("JOB_COMPLETION_INDEX", From::Zero, None),
    ("SLURM_ARRAY_TASK_ID", From::Zero, Some("SLURM_ARRAY_TASK_COUNT")),
];

/// Slurm counts from where the user says.
const FIRST_OF_SLURM: &str = "SLURM_ARRAY_TASK_MIN";

impl ParallelJob {
    /// The job that these environment variables tell of; `None` where none does.
    ///
    /// # Errors
    /// When a variable is no number.
    pub fn read(variables: &BTreeMap<String, String>) -> Result<Option<Self>, NoNumber> {
        let number = |variable: &'static str| {
            let value = variables.get(variable).map(|value| value.trim());
            let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
            let unreadable = |_| NoNumber { variable, value: value.to_owned() };
            value.parse::<u64>().map(Some).map_err(unreadable)
        };
        for (variable, from, total) in SYSTEMS {
            let Some(index) = number(variable)? else { continue };
            let first = match (variable, from) {
                ("SLURM_ARRAY_TASK_ID", _) => number(FIRST_OF_SLURM)?.unwrap_or_default(),
                (_, From::Zero) => 0,
                (_, From::One) => 1,
            };
            // One below the first is no job; it is told as job 0.
            let number_of_job = (index + 1).saturating_sub(first);
            let of = total.map(number).transpose()?.flatten();
            return Ok(Some(Self { variable, number: number_of_job, of }));
        }
        // GitLab says how many there are, also of a job that is not parallel.
        let variable = "CI_NODE_TOTAL";
        let only = number(variable)?.filter(|total| *total == 1);
        Ok(only.map(|of| Self { variable, number: 1, of: Some(of) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<(u64, Option<u64>)>, NoNumber> {
        let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
        let variables = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Ok(ParallelJob::read(&variables)?.map(|job| (job.number, job.of)))
    }

    #[test]
    fn every_system_counts_its_jobs_in_its_own_way() {
        for (variables, job) in [
            ("CI_NODE_INDEX=1 CI_NODE_TOTAL=4", (1, Some(4))),
            ("CI_NODE_INDEX=4 CI_NODE_TOTAL=4", (4, Some(4))),
            ("CI_NODE_TOTAL=1", (1, Some(1))),
            ("CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=4", (1, Some(4))),
            ("CIRCLE_NODE_INDEX=3 CIRCLE_NODE_TOTAL=4", (4, Some(4))),
            ("BUILDKITE_PARALLEL_JOB=0 BUILDKITE_PARALLEL_JOB_COUNT=2", (1, Some(2))),
            ("SYSTEM_JOBPOSITIONINPHASE=2 SYSTEM_TOTALJOBSINPHASE=2", (2, Some(2))),
            ("BITBUCKET_PARALLEL_STEP=1 BITBUCKET_PARALLEL_STEP_COUNT=3", (2, Some(3))),
            ("SEMAPHORE_JOB_INDEX=3 SEMAPHORE_JOB_COUNT=3", (3, Some(3))),
            ("JOB_COMPLETION_INDEX=0", (1, None)),
            ("SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=3", (1, Some(3))),
            ("SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=3", (1, Some(3))),
            ("CI_NODE_INDEX=9 FLAKEPROOF_SHARD_INDEX=1 FLAKEPROOF_SHARD_TOTAL=3", (2, Some(3))),
        ] {
            assert_eq!(read(variables), Ok(Some(job)), "{variables}");
        }
    }

    #[test]
    fn elsewhere_there_is_no_parallel_job() {
        for variables in ["", "CI=true", "CI_NODE_TOTAL=4", "CI_NODE_INDEX= CI_NODE_TOTAL=4"] {
            assert_eq!(read(variables), Ok(None), "{variables}");
        }
    }

    #[test]
    fn what_is_no_number_is_told_by_its_name() {
        let error = read("CIRCLE_NODE_INDEX=first").unwrap_err();
        assert_eq!(error.to_string(), "CIRCLE_NODE_INDEX is `first`, which is no number");
    }
}
