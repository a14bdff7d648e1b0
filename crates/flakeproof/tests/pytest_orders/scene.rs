//! A project whose tests are run by the adapter itself, without a command in between.

use std::time::Duration;

use flakeproof_core::{Execution, Isolation, Outcome, Seed, TestId};
use flakeproof_runner::adapters::RunRequest;
use flakeproof_runner::adapters::pytest::PytestAdapter;
use flakeproof_runner::{Adapter, Cancel, Environment, Probe, Result, Then};
use flakeproof_testkit::Project;

/// A project that was collected.
pub(crate) struct Scene {
    pub(crate) project: Project,
    pub(crate) adapter: PytestAdapter,
    pub(crate) tests: Vec<TestId>,
}

/// An empty project.
pub(crate) fn project() -> Project {
    Project::new(env!("CARGO_BIN_EXE_flakeproof"))
}

impl Scene {
    /// Collect a project.
    pub(crate) fn of(project: Project) -> Self {
        Self::with(project, &[])
    }

    /// Collect a project with some options of pytest.
    pub(crate) fn with(project: Project, options: &[&str]) -> Self {
        let mut command = vec![project.python(), "-m".into(), "pytest".into()];
        command.extend(options.iter().map(|&option| option.to_owned()));
        let adapter = PytestAdapter::new(RunRequest {
            command,
            folder: project.path().to_path_buf(),
            adapter: None,
            timeout: Some(Duration::from_secs(60)),
            run: "orders".into(),
            seed: Seed(1),
            is_output_shown: false,
            profiles: Default::default(),
            is_whole_suite_next: false,
            builds: flakeproof_runner::adapters::Builds::New,
            cancel: Cancel::never(),
            in_force: flakeproof_runner::levers::InForce::default(),
        });
        let adapter = adapter.expect("a temporary folder and a socket");
        let tests = adapter.discover().expect("the project is collected").ids();
        Self { project, adapter, tests }
    }

    /// A fresh environment.
    pub(crate) fn open(&self, how: Isolation) -> Box<dyn Environment> {
        self.adapter.open(how).expect("it opens")
    }

    /// The test whose id ends like this.
    pub(crate) fn id(&self, ending: &str) -> TestId {
        let found = self.tests.iter().find(|test| test.as_str().ends_with(ending));
        found.expect("a test with this ending is collected").clone()
    }
}

/// Announce an order and run it.
pub(crate) fn run(
    environment: &mut dyn Environment,
    order: &[TestId],
    then: Then,
) -> Result<Vec<Execution>> {
    environment.expect(order, then)?;
    order.iter().map(|test| environment.run(test, Probe::attempt(1))).collect()
}

/// Announce an order, run it, and give the outcomes.
pub(crate) fn outcomes(
    environment: &mut dyn Environment,
    order: &[TestId],
    then: Then,
) -> Vec<Outcome> {
    let executions = run(environment, order, then).expect("no trouble but a test's");
    executions.into_iter().map(|execution| execution.outcome).collect()
}
