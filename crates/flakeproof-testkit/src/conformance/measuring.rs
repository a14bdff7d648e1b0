//! What is measured when it is asked for, and only then.

use flakeproof_core::{Execution, Isolation, Outcome};
use flakeproof_runner::{Cancel, Granularity, Measuring, Probe, Then};

use super::claim::{Claim, Held, claims};
use super::scene::{Opened, Scene};
use super::subject::Role;

pub(super) const CLAIMS: &[Claim] = claims![
    dependencies_are_measured_when_asked_for,
    what_a_dying_test_touched_is_whole_or_not_told,
    features_are_measured_when_asked_for,
];

fn dependencies_are_measured_when_asked_for(scene: &Scene<'_>) -> Held {
    if !scene.shared().can().dependencies {
        return Err("its dependencies cannot be measured".into());
    }
    assert!(touches(scene, Probe::attempt(1))?.dependencies.is_none(), "nobody asked");
    let touched = touched(scene);
    for dependencies in [Granularity::File, Granularity::Function] {
        let execution = touches(scene, Probe { dependencies, ..Probe::attempt(1) })?;
        assert_eq!(execution.outcome, Outcome::Passed, "{execution:?}");
        let measured = execution.dependencies;
        let measured = measured.unwrap_or_else(|| panic!("nothing is measured"));
        assert!(measured.code.contains(&touched), "{touched} is not in {:?}", measured.code);
        let ending = touched.rfind('.').map(|at| touched[at..].to_owned());
        let is_followed = ending.is_some_and(|ending| measured.followed.contains(&ending));
        assert!(is_followed, "{:?}", measured.followed);
    }
    Ok(())
}

/// A process that dies may take the record of what it touched with it. Half a record would say
/// that a change was not touched, and make a real failure flaky.
fn what_a_dying_test_touched_is_whole_or_not_told(scene: &Scene<'_>) -> Held {
    if !scene.shared().can().dependencies {
        return Err("its dependencies cannot be measured".into());
    }
    let opened = scene.another(scene.subject.limit, Cancel::never());
    for role in [Role::Fails, Role::Crashes, Role::Exits, Role::Hangs] {
        let probe = Probe { dependencies: Granularity::Function, ..Probe::attempt(1) };
        let execution = measured(scene, &opened, role, probe)?;
        assert!(execution.outcome.is_failure(), "{execution:?}");
        let Some(measured) = execution.dependencies else { continue };
        let word = role.word();
        assert!(measured.code.contains(&touched(scene)), "{word}: {:?}", measured.code);
    }
    Ok(())
}

fn features_are_measured_when_asked_for(scene: &Scene<'_>) -> Held {
    if !scene.shared().can().features {
        return Err("what its tests use and cover cannot be measured".into());
    }
    assert!(touches(scene, Probe::attempt(1))?.measured.is_none(), "nobody asked");
    let probe = Probe { features: Measuring::On, ..Probe::attempt(1) };
    assert!(touches(scene, probe)?.measured.is_some(), "nothing is measured");
    Ok(())
}

/// The file that tests touch, as measurements name it.
fn touched(scene: &Scene<'_>) -> String {
    let touched = scene.project().join(scene.subject.touched);
    touched.canonicalize().unwrap_or(touched).to_string_lossy().into_owned()
}

fn touches(scene: &Scene<'_>, probe: Probe) -> Result<Execution, String> {
    measured(scene, scene.shared(), Role::Touches, probe)
}

fn measured(
    scene: &Scene<'_>,
    opened: &Opened,
    role: Role,
    probe: Probe,
) -> Result<Execution, String> {
    let test = scene.id(role)?;
    let mut environment = opened.open(Isolation::Spawn);
    let announced = environment.expect(std::slice::from_ref(&test), Then::End);
    announced.unwrap_or_else(|error| panic!("{error:?}"));
    let ran = environment.run(&test, probe);
    Ok(ran.unwrap_or_else(|error| panic!("`{test}`: {error:?}")))
}
