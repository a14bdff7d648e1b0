//! A job for each CI service: it keeps the history between runs, runs the tests, and shows what is flaky.

use std::path::Path;

use super::Draft;
use crate::cli::CiName;

/// The service whose files the project has, or whose remote it is cloned from.
pub(super) fn of_project(project: &Path) -> CiName {
    let files = [
        (".github", CiName::Github),
        (".gitlab-ci.yml", CiName::Gitlab),
        (".circleci", CiName::Circleci),
        (".buildkite", CiName::Buildkite),
    ];
    if let Some((_, service)) = files.iter().find(|(name, _)| project.join(name).exists()) {
        return *service;
    }
    let remotes = std::fs::read_to_string(project.join(".git/config")).unwrap_or_default();
    match remotes {
        it if it.contains("github.com") => CiName::Github,
        it if it.contains("gitlab") => CiName::Gitlab,
        _ => CiName::None,
    }
}

/// What the user still has to do by hand.
pub(super) fn note(service: CiName) -> Option<&'static str> {
    match service {
        CiName::Gitlab => {
            Some("add `include: [{ local: .gitlab/flakeproof.yml }]` to .gitlab-ci.yml")
        }
        CiName::Circleci => Some("copy the job from .circleci/flakeproof.yml into config.yml"),
        CiName::Buildkite => {
            Some("upload it with `buildkite-agent pipeline upload .buildkite/flakeproof.yml`")
        }
        CiName::Github | CiName::None => None,
    }
}

/// The job, in a file of its own, so that nothing that is there is changed.
pub(super) fn job(service: CiName, command: &[String]) -> Option<Draft> {
    let (path, text) = match service {
        CiName::Github => (".github/workflows/flakeproof.yml", GITHUB),
        CiName::Gitlab => (".gitlab/flakeproof.yml", GITLAB),
        CiName::Circleci => (".circleci/flakeproof.yml", CIRCLECI),
        CiName::Buildkite => (".buildkite/flakeproof.yml", BUILDKITE),
        CiName::None => return None,
    };
    let command = shlex::try_join(command.iter().map(String::as_str)).unwrap_or_default();
    // In YAML a plain word ends at a comment or a colon with a blank; a block takes everything.
    Some(Draft { path: path.into(), text: text.replace("TEST_COMMAND", &command) })
}

const GITHUB: &str = "\
# Written by `flakeproof init`: runs the tests, and tells flaky failures from real ones.
name: flakeproof
on:
  push: { branches: [main] }
  pull_request:
permissions:
  contents: read
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with: { fetch-depth: 0 } # the code before the change is compared with
      # Set up your language and install what your tests need here.
      - run: pipx install flakeproof
      - uses: actions/cache@v4
        with:
          path: .flakeproof
          key: flakeproof-${{ github.run_id }}
          restore-keys: flakeproof-
      - run: |
          flakeproof run --reporter markdown=flakeproof.md --reporter junit=flakeproof.xml -- \\
            TEST_COMMAND
      - if: always()
        run: test ! -f flakeproof.md || cat flakeproof.md >> \"$GITHUB_STEP_SUMMARY\"
";

const GITLAB: &str = "\
# Written by `flakeproof init`: runs the tests, and tells flaky failures from real ones.
flakeproof:
  stage: test
  variables:
    GIT_DEPTH: 0 # the code before the change is compared with
  cache:
    key: flakeproof
    paths: [.flakeproof]
    when: always
  before_script:
    # Install what your tests need here.
    - pip install flakeproof
  script:
    - |
      flakeproof run --reporter junit=flakeproof.xml -- \\
        TEST_COMMAND
  artifacts:
    when: always
    reports: { junit: flakeproof.xml }
";

const CIRCLECI: &str = "\
# Written by `flakeproof init`: runs the tests, and tells flaky failures from real ones.
version: 2.1
jobs:
  flakeproof:
    docker: [{ image: cimg/python:3.13 }]
    steps:
      - checkout
      - restore_cache: { keys: [flakeproof-] }
      # Install what your tests need here.
      - run: pip install flakeproof
      - run: |
          mkdir -p reports
          flakeproof run --reporter junit=reports/flakeproof.xml -- \\
            TEST_COMMAND
      - save_cache:
          when: always
          key: flakeproof-{{ epoch }}
          paths: [.flakeproof]
      - store_test_results: { path: reports }
workflows:
  flakeproof: { jobs: [flakeproof] }
";

const BUILDKITE: &str = "\
# Written by `flakeproof init`: runs the tests, and tells flaky failures from real ones.
steps:
  - label: flakeproof
    # The history in `.flakeproof` is kept where the agent keeps its checkout, or by a cache of yours.
    command: |
      pipx install flakeproof
      flakeproof run --reporter junit=flakeproof.xml -- \\
        TEST_COMMAND
    artifact_paths: [flakeproof.xml]
";

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [CiName; 4] = [CiName::Github, CiName::Gitlab, CiName::Circleci, CiName::Buildkite];

    #[test]
    fn the_command_of_the_tests_is_in_every_job() {
        let command = ["pytest", "-k", "a b"].map(str::to_owned);
        for service in ALL {
            let draft = job(service, &command).expect("a job");
            assert!(draft.text.contains("pytest -k 'a b'\n"), "{}", draft.text);
            assert!(!draft.text.contains("TEST_COMMAND"), "{}", draft.text);
        }
        assert_eq!(job(CiName::None, &command), None);
    }

    #[test]
    fn a_project_is_known_by_its_files_and_then_by_its_remote() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path();
        assert_eq!(of_project(project), CiName::None);
        std::fs::create_dir(project.join(".git")).expect("a folder");
        let remote = "[remote \"origin\"]\n\turl = git@github.com:acme/shop.git\n";
        std::fs::write(project.join(".git/config"), remote).expect("a file");
        assert_eq!(of_project(project), CiName::Github);
        std::fs::write(project.join(".gitlab-ci.yml"), "").expect("a file");
        assert_eq!(of_project(project), CiName::Gitlab);
    }
}
