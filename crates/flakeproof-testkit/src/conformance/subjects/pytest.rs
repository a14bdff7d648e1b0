//! pytest.

use std::time::Duration;

use crate::conformance::{Discovery, Role, Subject};
use crate::python;

pub(super) fn subject() -> Subject {
    let python = python::usual().to_string_lossy().into_owned();
    Subject {
        name: "pytest",
        tools: &["python3"],
        command: vec![python, "-m".into(), "pytest".into()],
        prepare: |_| Ok(()),
        tests: &[
            (Role::Passes, "test_conformance.py::test_passes"),
            (Role::Fails, "test_conformance.py::test_fails"),
            (Role::Skipped, "test_conformance.py::test_skipped"),
            (Role::ErrorsInSetup, "test_conformance.py::test_errors_in_setup"),
            (Role::Crashes, "test_conformance.py::test_crashes"),
            (Role::Exits, "test_conformance.py::test_exits"),
            (Role::Hangs, "test_conformance.py::test_hangs"),
            (Role::Prints, "test_conformance.py::test_prints"),
            (Role::Polluter, "test_conformance.py::test_polluter"),
            (Role::Victim, "test_conformance.py::test_victim"),
            (Role::CountedFirst, "test_conformance.py::TestCounted::test_counted_first"),
            (Role::CountedSecond, "test_conformance.py::TestCounted::test_counted_second"),
            (Role::ParameterOne, "test_conformance.py::test_parameter[one]"),
            (Role::ParameterTwo, "test_conformance.py::test_parameter[two words]"),
            (Role::OddName, "test_conformance.py::test_größe"),
            (Role::SeesVariables, "test_conformance.py::test_sees_variables"),
            (Role::Touches, "test_touches.py::test_touches"),
        ],
        file: "test_conformance.py",
        touched: "shop.py",
        written: &["__pycache__", ".pytest_cache"],
        discovery: Discovery::Cheap,
        limit: Duration::from_secs(2),
        differing: &[],
    }
}
