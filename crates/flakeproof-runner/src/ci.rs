//! What a CI system says about the run that it is in the middle of: revision, branch, job, attempt.
//!
//! Every system says it in environment variables, each with names of its own. They are a table
//! here, and reading it is a function of the variables alone.

use std::collections::BTreeMap;

/// What a CI system says about the run that it is in the middle of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CiFacts {
    /// The name of the system.
    pub system: &'static str,
    /// The revision that is checked out. For a pull request it may be a merge that is in no branch;
    /// it is what ran.
    pub revision: Option<String>,
    /// Where the branch was before the push.
    pub before: Option<String>,
    /// Where a merge request left its target.
    pub base: Option<String>,
    /// The branch; of a pull request the one that it wants to merge.
    pub branch: Option<String>,
    /// The branch that others begin at.
    pub default_branch: Option<String>,
    /// The job.
    pub job: Option<String>,
    /// The system's own id of the build or pipeline.
    pub build: Option<String>,
    /// Tells attempts at the same job of the same build apart.
    pub attempt: Option<String>,
    /// When it started, as the system writes it: RFC 3339, or seconds since 1970.
    pub started: Option<String>,
    /// The folder of the checkout.
    pub workspace: Option<String>,
    /// What tells apart the machines of one job's matrix: operating system, image, version of a
    /// language.
    pub machine: Vec<String>,
}

/// Set by actions and images that choose a version of a language, whatever the system.
const VERSIONS: [&str; 4] = ["pythonLocation", "TOXENV", "NOX_CURRENT_SESSION", "RUSTUP_TOOLCHAIN"];

impl CiFacts {
    /// What these environment variables tell; `None` outside of the systems that are known.
    #[must_use]
    pub fn read(variables: &BTreeMap<String, String>) -> Option<Self> {
        let system = SYSTEMS.iter().find(|system| system.is_running(variables))?;
        let first = |names: &[&str]| first(variables, names);
        let machine = system.machine.iter().chain(&VERSIONS);
        Some(Self {
            system: system.name,
            revision: first(system.revision).filter(|text| is_revision(text)),
            before: first(system.before).and_then(|text| before_range(&text)),
            base: first(system.base).filter(|text| is_revision(text)),
            branch: first(system.branch).map(|text| plain_branch(&text)),
            default_branch: first(system.default_branch),
            job: first(system.job),
            build: first(system.build),
            attempt: first(system.attempt),
            started: first(system.started),
            workspace: first(system.workspace),
            machine: machine.filter_map(|name| first(&[*name])).collect(),
        })
    }

    /// Whether the branch is the default one, by what the system says or by its name.
    #[must_use]
    pub fn is_on_default_branch(&self) -> bool {
        const USUAL: [&str; 3] = ["main", "master", "trunk"];
        self.branch.as_deref().is_some_and(|branch| match &self.default_branch {
            Some(default) => branch == default,
            None => USUAL.contains(&branch),
        })
    }
}

impl System {
    fn is_running(&self, variables: &BTreeMap<String, String>) -> bool {
        let (name, value) = self.mark;
        let found = variables.get(name).filter(|found| !found.is_empty());
        found.is_some_and(|found| value.is_none_or(|value| found.eq_ignore_ascii_case(value)))
    }
}

fn first(variables: &BTreeMap<String, String>, names: &[&str]) -> Option<String> {
    let mut values = names.iter().filter_map(|name| variables.get(*name));
    values.find(|value| !value.trim().is_empty()).map(|value| value.trim().to_owned())
}

/// The older end of a range, which some systems give, or the revision itself. Zeros stand for a branch that was
/// not there.
fn before_range(text: &str) -> Option<String> {
    let older = text.split("..").next()?;
    (is_revision(older) && older.bytes().any(|byte| byte != b'0')).then(|| older.to_owned())
}

/// What a push came on top of, as GitHub's event tells it: the only system that keeps it in a file, whose
/// text this is.
#[must_use]
pub fn before_of_event(text: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(text).ok()?;
    before_range(event["before"].as_str()?)
}

/// A name such as `HEAD` says nothing about what ran.
fn is_revision(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn plain_branch(text: &str) -> String {
    let prefixes = ["refs/heads/", "refs/tags/", "origin/"];
    let plain = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
    plain.unwrap_or(text).to_owned()
}

/// A CI system. Of several names, the first that has a value counts.
struct System {
    name: &'static str,
    /// A variable that only this system sets, and its value if others set it too.
    mark: (&'static str, Option<&'static str>),
    revision: &'static [&'static str],
    before: &'static [&'static str],
    base: &'static [&'static str],
    branch: &'static [&'static str],
    default_branch: &'static [&'static str],
    job: &'static [&'static str],
    build: &'static [&'static str],
    attempt: &'static [&'static str],
    started: &'static [&'static str],
    workspace: &'static [&'static str],
    machine: &'static [&'static str],
}

/// Every system that is known. Woodpecker sets names of GitLab, so its mark is asked for first.
const SYSTEMS: [System; 12] = [
    System {
        name: "GitHub Actions",
        mark: ("GITHUB_ACTIONS", Some("true")),
        revision: &["GITHUB_SHA"],
        before: &[],
        base: &[],
        branch: &["GITHUB_HEAD_REF", "GITHUB_REF_NAME"],
        default_branch: &[],
        job: &["GITHUB_JOB"],
        build: &["GITHUB_RUN_ID"],
        attempt: &["GITHUB_RUN_ATTEMPT"],
        started: &[],
        workspace: &["GITHUB_WORKSPACE"],
        machine: &["RUNNER_OS", "RUNNER_ARCH", "ImageOS"],
    },
    System {
        name: "Woodpecker",
        mark: ("CI", Some("woodpecker")),
        revision: &["CI_COMMIT_SHA"],
        before: &["CI_PREV_COMMIT_SHA"],
        base: &[],
        branch: &["CI_COMMIT_SOURCE_BRANCH", "CI_COMMIT_BRANCH"],
        default_branch: &["CI_REPO_DEFAULT_BRANCH"],
        job: &["CI_WORKFLOW_NAME", "CI_STEP_NAME"],
        build: &["CI_PIPELINE_NUMBER"],
        attempt: &[],
        started: &["CI_PIPELINE_STARTED"],
        workspace: &["CI_WORKSPACE"],
        machine: &["CI_SYSTEM_PLATFORM"],
    },
    System {
        name: "GitLab CI",
        mark: ("GITLAB_CI", Some("true")),
        revision: &["CI_COMMIT_SHA"],
        before: &["CI_COMMIT_BEFORE_SHA"],
        base: &["CI_MERGE_REQUEST_DIFF_BASE_SHA"],
        branch: &["CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH", "CI_COMMIT_REF_NAME"],
        default_branch: &["CI_DEFAULT_BRANCH"],
        job: &["CI_JOB_NAME"],
        build: &["CI_PIPELINE_ID"],
        attempt: &["CI_JOB_ID"],
        started: &["CI_JOB_STARTED_AT"],
        workspace: &["CI_PROJECT_DIR"],
        machine: &["CI_JOB_IMAGE"],
    },
    System {
        name: "Jenkins",
        mark: ("JENKINS_URL", None),
        revision: &["GIT_COMMIT"],
        before: &["GIT_PREVIOUS_COMMIT"],
        base: &[],
        branch: &["CHANGE_BRANCH", "BRANCH_NAME", "GIT_BRANCH"],
        default_branch: &[],
        job: &["JOB_NAME"],
        build: &["BUILD_NUMBER", "BUILD_ID"],
        attempt: &[],
        started: &[],
        workspace: &["WORKSPACE"],
        machine: &[],
    },
    System {
        name: "CircleCI",
        mark: ("CIRCLECI", Some("true")),
        revision: &["CIRCLE_SHA1"],
        before: &[],
        base: &[],
        branch: &["CIRCLE_BRANCH", "CIRCLE_TAG"],
        default_branch: &[],
        job: &["CIRCLE_JOB"],
        build: &["CIRCLE_WORKFLOW_ID"],
        attempt: &["CIRCLE_BUILD_NUM"],
        started: &[],
        workspace: &["CIRCLE_WORKING_DIRECTORY"],
        machine: &[],
    },
    System {
        name: "Azure Pipelines",
        mark: ("TF_BUILD", Some("true")),
        revision: &["BUILD_SOURCEVERSION"],
        before: &[],
        base: &[],
        branch: &["SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"],
        default_branch: &[],
        job: &["AGENT_JOBNAME", "SYSTEM_JOBDISPLAYNAME"],
        build: &["BUILD_BUILDID"],
        attempt: &["SYSTEM_JOBATTEMPT"],
        started: &["SYSTEM_PIPELINESTARTTIME"],
        workspace: &["BUILD_SOURCESDIRECTORY"],
        machine: &["AGENT_OS", "AGENT_OSARCHITECTURE"],
    },
    System {
        name: "Buildkite",
        mark: ("BUILDKITE", Some("true")),
        revision: &["BUILDKITE_COMMIT"],
        before: &[],
        base: &[],
        branch: &["BUILDKITE_BRANCH"],
        default_branch: &["BUILDKITE_PIPELINE_DEFAULT_BRANCH"],
        job: &["BUILDKITE_LABEL", "BUILDKITE_STEP_KEY"],
        build: &["BUILDKITE_BUILD_ID"],
        attempt: &["BUILDKITE_RETRY_COUNT"],
        started: &[],
        workspace: &["BUILDKITE_BUILD_CHECKOUT_PATH"],
        machine: &[],
    },
    System {
        name: "Bitbucket Pipelines",
        mark: ("BITBUCKET_BUILD_NUMBER", None),
        revision: &["BITBUCKET_COMMIT"],
        before: &[],
        base: &[],
        branch: &["BITBUCKET_BRANCH", "BITBUCKET_TAG"],
        default_branch: &[],
        job: &[],
        build: &["BITBUCKET_BUILD_NUMBER"],
        attempt: &["BITBUCKET_STEP_RUN_NUMBER"],
        started: &[],
        workspace: &["BITBUCKET_CLONE_DIR"],
        machine: &[],
    },
    System {
        name: "TeamCity",
        mark: ("TEAMCITY_VERSION", None),
        revision: &["BUILD_VCS_NUMBER"],
        before: &[],
        base: &[],
        branch: &["TEAMCITY_BUILD_BRANCH", "BUILD_VCS_BRANCH"],
        default_branch: &[],
        job: &["TEAMCITY_BUILDCONF_NAME"],
        build: &["BUILD_NUMBER"],
        attempt: &[],
        started: &[],
        workspace: &["TEAMCITY_BUILD_CHECKOUTDIR"],
        machine: &[],
    },
    System {
        name: "Travis CI",
        mark: ("TRAVIS", Some("true")),
        revision: &["TRAVIS_COMMIT"],
        before: &["TRAVIS_COMMIT_RANGE"],
        base: &[],
        branch: &["TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"],
        default_branch: &[],
        job: &["TRAVIS_JOB_NAME"],
        build: &["TRAVIS_BUILD_ID"],
        attempt: &[],
        started: &[],
        workspace: &["TRAVIS_BUILD_DIR"],
        machine: &[
            "TRAVIS_OS_NAME",
            "TRAVIS_CPU_ARCH",
            "TRAVIS_PYTHON_VERSION",
            "TRAVIS_NODE_VERSION",
            "TRAVIS_JDK_VERSION",
            "TRAVIS_GO_VERSION",
            "TRAVIS_RUST_VERSION",
            "TRAVIS_RUBY_VERSION",
            "TRAVIS_PHP_VERSION",
        ],
    },
    System {
        name: "Drone",
        mark: ("DRONE", Some("true")),
        revision: &["DRONE_COMMIT_SHA"],
        before: &["DRONE_COMMIT_BEFORE"],
        base: &[],
        branch: &["DRONE_SOURCE_BRANCH", "DRONE_BRANCH"],
        default_branch: &["DRONE_REPO_BRANCH"],
        job: &["DRONE_STAGE_NAME"],
        build: &["DRONE_BUILD_NUMBER"],
        attempt: &[],
        started: &["DRONE_STAGE_STARTED", "DRONE_BUILD_STARTED"],
        workspace: &["DRONE_WORKSPACE"],
        machine: &["DRONE_STAGE_OS", "DRONE_STAGE_ARCH"],
    },
    System {
        name: "AppVeyor",
        mark: ("APPVEYOR", Some("true")),
        revision: &["APPVEYOR_REPO_COMMIT"],
        before: &[],
        base: &[],
        branch: &["APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH", "APPVEYOR_REPO_BRANCH"],
        default_branch: &[],
        job: &["APPVEYOR_JOB_NAME"],
        build: &["APPVEYOR_BUILD_ID"],
        attempt: &["APPVEYOR_JOB_ID"],
        started: &[],
        workspace: &["APPVEYOR_BUILD_FOLDER"],
        machine: &["APPVEYOR_BUILD_WORKER_IMAGE", "CONFIGURATION", "PLATFORM"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(variables: &[(&str, &str)]) -> Option<CiFacts> {
        let owned = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        CiFacts::read(&owned.collect())
    }

    const SHA: &str = "83e14cb0a1b2c3d4e5f60718293a4b5c6d7e8f90";

    /// Revision, branch, job, build, attempt, start, machine.
    fn facts_of(variables: &[(&str, &str)]) -> [String; 7] {
        let facts = facts(variables).unwrap();
        assert_eq!(facts.revision.as_deref(), Some(SHA));
        let text = |value: Option<String>| value.unwrap_or_default();
        [
            facts.system.to_owned(),
            text(facts.branch),
            text(facts.job),
            text(facts.build),
            text(facts.attempt),
            text(facts.started),
            facts.machine.join(" "),
        ]
    }

    #[test]
    fn github_actions_names_the_branch_of_a_pull_request() {
        let push = [
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_SHA", SHA),
            ("GITHUB_REF_NAME", "main"),
            ("GITHUB_HEAD_REF", ""),
            ("GITHUB_JOB", "test"),
            ("GITHUB_RUN_ID", "77"),
            ("GITHUB_RUN_ATTEMPT", "2"),
            ("RUNNER_OS", "Linux"),
            ("RUNNER_ARCH", "X64"),
        ];
        assert_eq!(facts_of(&push), ["GitHub Actions", "main", "test", "77", "2", "", "Linux X64"]);
        let pull = [&push[..], &[("GITHUB_HEAD_REF", "mend")]].concat();
        assert_eq!(facts_of(&pull)[1], "mend");
    }

    #[test]
    fn what_was_there_before_a_push_is_a_revision_or_the_older_end_of_a_range() {
        let before = |variables: &[(&str, &str)]| facts(variables).unwrap().before;
        let gitlab = |text| before(&[("GITLAB_CI", "true"), ("CI_COMMIT_BEFORE_SHA", text)]);
        assert_eq!(gitlab(SHA).as_deref(), Some(SHA));
        assert_eq!(gitlab(&"0".repeat(40)), None);
        let range = format!("{SHA}...1234567");
        let travis = before(&[("TRAVIS", "true"), ("TRAVIS_COMMIT_RANGE", &range)]);
        assert_eq!(travis.as_deref(), Some(SHA));
        assert_eq!(before_of_event(&format!("{{\"before\": \"{SHA}\"}}")).as_deref(), Some(SHA));
        for other in ["", "{}", "[]", "{\"before\": 7}", "{\"before\": \"0000000000\"}"] {
            assert_eq!(before_of_event(other), None, "{other}");
        }
    }

    #[test]
    fn gitlab_tells_retried_jobs_apart() {
        let variables = [
            ("GITLAB_CI", "true"),
            ("CI_COMMIT_SHA", SHA),
            ("CI_COMMIT_REF_NAME", "main"),
            ("CI_JOB_NAME", "unit 1/4"),
            ("CI_PIPELINE_ID", "5"),
            ("CI_JOB_ID", "91"),
            ("CI_JOB_STARTED_AT", "2026-11-15T10:15:00Z"),
            ("CI_JOB_IMAGE", "python:3.12"),
        ];
        let expected =
            ["GitLab CI", "main", "unit 1/4", "5", "91", "2026-11-15T10:15:00Z", "python:3.12"];
        assert_eq!(facts_of(&variables), expected);
    }

    #[test]
    fn jenkins_branches_lose_the_remote() {
        let variables = [
            ("JENKINS_URL", "https://ci"),
            ("GIT_COMMIT", SHA),
            ("GIT_BRANCH", "origin/main"),
            ("JOB_NAME", "acme/unit"),
            ("BUILD_NUMBER", "12"),
        ];
        assert_eq!(facts_of(&variables), ["Jenkins", "main", "acme/unit", "12", "", "", ""]);
    }

    #[test]
    fn circle_tells_reruns_apart() {
        let variables = [
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", SHA),
            ("CIRCLE_BRANCH", "main"),
            ("CIRCLE_JOB", "unit"),
            ("CIRCLE_WORKFLOW_ID", "w"),
            ("CIRCLE_BUILD_NUM", "3"),
        ];
        assert_eq!(facts_of(&variables), ["CircleCI", "main", "unit", "w", "3", "", ""]);
    }

    #[test]
    fn azure_branches_are_written_in_full() {
        let variables = [
            ("TF_BUILD", "True"),
            ("BUILD_SOURCEVERSION", SHA),
            ("BUILD_SOURCEBRANCH", "refs/heads/release/1"),
            ("AGENT_JOBNAME", "unit py312"),
            ("BUILD_BUILDID", "8"),
            ("SYSTEM_JOBATTEMPT", "1"),
            ("SYSTEM_PIPELINESTARTTIME", "2026-11-15 10:15:00+00:00"),
            ("AGENT_OS", "Linux"),
        ];
        let expected = [
            "Azure Pipelines",
            "release/1",
            "unit py312",
            "8",
            "1",
            "2026-11-15 10:15:00+00:00",
            "Linux",
        ];
        assert_eq!(facts_of(&variables), expected);
    }

    #[test]
    fn buildkite_may_not_know_the_revision() {
        let variables = [
            ("BUILDKITE", "true"),
            ("BUILDKITE_COMMIT", SHA),
            ("BUILDKITE_BRANCH", "main"),
            ("BUILDKITE_LABEL", "unit"),
            ("BUILDKITE_BUILD_ID", "b"),
            ("BUILDKITE_RETRY_COUNT", "1"),
        ];
        assert_eq!(facts_of(&variables), ["Buildkite", "main", "unit", "b", "1", "", ""]);
        let early = [("BUILDKITE", "true"), ("BUILDKITE_COMMIT", "HEAD")];
        assert_eq!(facts(&early).unwrap().revision, None);
    }

    #[test]
    fn bitbucket_counts_the_runs_of_a_step() {
        let variables = [
            ("BITBUCKET_BUILD_NUMBER", "4"),
            ("BITBUCKET_COMMIT", SHA),
            ("BITBUCKET_BRANCH", "main"),
            ("BITBUCKET_STEP_RUN_NUMBER", "2"),
        ];
        assert_eq!(facts_of(&variables), ["Bitbucket Pipelines", "main", "", "4", "2", "", ""]);
    }

    #[test]
    fn teamcity_names_its_configuration() {
        let variables = [
            ("TEAMCITY_VERSION", "2025.1"),
            ("BUILD_VCS_NUMBER", SHA),
            ("TEAMCITY_BUILDCONF_NAME", "unit"),
            ("BUILD_NUMBER", "6"),
        ];
        assert_eq!(facts_of(&variables), ["TeamCity", "", "unit", "6", "", "", ""]);
    }

    #[test]
    fn travis_tells_versions_of_languages_apart() {
        let variables = [
            ("TRAVIS", "true"),
            ("TRAVIS_COMMIT", SHA),
            ("TRAVIS_BRANCH", "main"),
            ("TRAVIS_JOB_NAME", "unit"),
            ("TRAVIS_BUILD_ID", "9"),
            ("TRAVIS_OS_NAME", "linux"),
            ("TRAVIS_PYTHON_VERSION", "3.12"),
        ];
        assert_eq!(facts_of(&variables), ["Travis CI", "main", "unit", "9", "", "", "linux 3.12"]);
    }

    #[test]
    fn drone_and_woodpecker_count_seconds() {
        let drone = [
            ("DRONE", "true"),
            ("DRONE_COMMIT_SHA", SHA),
            ("DRONE_BRANCH", "main"),
            ("DRONE_STAGE_NAME", "unit"),
            ("DRONE_BUILD_NUMBER", "3"),
            ("DRONE_STAGE_STARTED", "1794737700"),
        ];
        assert_eq!(facts_of(&drone), ["Drone", "main", "unit", "3", "", "1794737700", ""]);
        let woodpecker = [
            ("CI", "woodpecker"),
            ("CI_COMMIT_SHA", SHA),
            ("CI_COMMIT_BRANCH", "main"),
            ("CI_WORKFLOW_NAME", "unit"),
            ("CI_PIPELINE_NUMBER", "3"),
            ("CI_PIPELINE_STARTED", "1794737700"),
        ];
        assert_eq!(
            facts_of(&woodpecker),
            ["Woodpecker", "main", "unit", "3", "", "1794737700", ""]
        );
    }

    #[test]
    fn appveyor_names_its_image() {
        let variables = [
            ("APPVEYOR", "True"),
            ("APPVEYOR_REPO_COMMIT", SHA),
            ("APPVEYOR_REPO_BRANCH", "main"),
            ("APPVEYOR_JOB_NAME", "unit"),
            ("APPVEYOR_BUILD_ID", "1"),
            ("APPVEYOR_JOB_ID", "j"),
            ("APPVEYOR_BUILD_WORKER_IMAGE", "Ubuntu2204"),
        ];
        assert_eq!(facts_of(&variables), ["AppVeyor", "main", "unit", "1", "j", "", "Ubuntu2204"]);
    }

    #[test]
    fn a_plain_machine_is_no_ci() {
        assert_eq!(facts(&[("HOME", "/home/a"), ("GITHUB_ACTIONS", "")]), None);
    }

    #[test]
    fn legs_of_a_matrix_differ_by_their_interpreter() {
        let leg = |python: &str| {
            facts(&[("GITHUB_ACTIONS", "true"), ("pythonLocation", python)]).unwrap().machine
        };
        assert_ne!(leg("/opt/Python/3.11.7/x64"), leg("/opt/Python/3.13.0/x64"));
    }
}
