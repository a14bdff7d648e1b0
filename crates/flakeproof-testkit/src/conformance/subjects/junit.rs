//! JUnit 4 and 5, built by Maven.

use std::time::Duration;

use crate::conformance::{Discovery, Role, Subject};

const FILE: &str = "src/test/java/com/acme/ConformanceTest.java";

pub(super) fn four() -> Subject {
    Subject {
        name: "junit4",
        tests: &[
            (Role::Crashes, "com.acme.ConformanceTest#crashes"),
            (Role::Exits, "com.acme.ConformanceTest#exits"),
            (Role::Fails, "com.acme.ConformanceTest#fails"),
            (Role::OddName, "com.acme.ConformanceTest#größe"),
            (Role::Hangs, "com.acme.ConformanceTest#hangs"),
            (Role::Passes, "com.acme.ConformanceTest#passes"),
            (Role::Polluter, "com.acme.ConformanceTest#polluter"),
            (Role::Prints, "com.acme.ConformanceTest#prints"),
            (Role::SeesVariables, "com.acme.ConformanceTest#sees_variables"),
            (Role::Skipped, "com.acme.ConformanceTest#skipped"),
            (Role::Victim, "com.acme.ConformanceTest#victim"),
            (Role::CountedFirst, "com.acme.CountedTest#counted_first"),
            (Role::CountedSecond, "com.acme.CountedTest#counted_second"),
            (Role::ParameterOne, "com.acme.ParameterTest#parameter[one]"),
            (Role::ParameterTwo, "com.acme.ParameterTest#parameter[two words]"),
            (Role::ErrorsInSetup, "com.acme.SetUpTest#errors_in_setup"),
            (Role::Touches, "com.acme.TouchesTest#touches"),
        ],
        ..maven()
    }
}

pub(super) fn five() -> Subject {
    Subject {
        name: "junit5",
        tests: &[
            (Role::Crashes, "com.acme.ConformanceTest#crashes"),
            (Role::Exits, "com.acme.ConformanceTest#exits"),
            (Role::Fails, "com.acme.ConformanceTest#fails"),
            (Role::OddName, "com.acme.ConformanceTest#größe"),
            (Role::Hangs, "com.acme.ConformanceTest#hangs"),
            (Role::Passes, "com.acme.ConformanceTest#passes"),
            (Role::Polluter, "com.acme.ConformanceTest#polluter"),
            (Role::Prints, "com.acme.ConformanceTest#prints"),
            (Role::SeesVariables, "com.acme.ConformanceTest#sees_variables"),
            (Role::Skipped, "com.acme.ConformanceTest#skipped"),
            (Role::Victim, "com.acme.ConformanceTest#victim"),
            (Role::CountedFirst, "com.acme.CountedTest#counted_first"),
            (Role::CountedSecond, "com.acme.CountedTest#counted_second"),
            (Role::ParameterOne, "com.acme.ParameterTest#parameter(String)[1]"),
            (Role::ParameterTwo, "com.acme.ParameterTest#parameter(String)[2]"),
            (Role::ErrorsInSetup, "com.acme.SetUpTest#errors_in_setup"),
            (Role::Touches, "com.acme.TouchesTest#touches"),
        ],
        ..maven()
    }
}

fn maven() -> Subject {
    Subject {
        name: "",
        tools: &["mvn", "javac"],
        command: ["mvn", "-q", "test"].map(str::to_owned).to_vec(),
        prepare: |_| Ok(()),
        tests: &[],
        file: FILE,
        touched: "src/main/java/com/acme/Shop.java",
        written: &["target"],
        discovery: Discovery::Dear,
        limit: Duration::from_secs(3),
        differing: &[],
    }
}
