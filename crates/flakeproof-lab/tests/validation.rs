//! What FLAST and the ensemble are worth on tests that they have not learned from.

use std::collections::BTreeMap;
use std::time::Duration;

use flakeproof_core::Seed;
use flakeproof_lab::validation::{
    EnsembleValidationParams, FlastPrediction, FlastValidationParams, Protocol,
};
use flakeproof_learn::boost::BoostParams;
use flakeproof_learn::ensemble::{BaseModel, EnsembleParams, Reading, Readings, SiblingPosition};
use flakeproof_learn::flast::{HoldOut, Recipe};
use flakeproof_learn::labelled::LabelledTest;
use flakeproof_learn::network::{NetworkParams, PathCorpus, PathStep};
use flakeproof_syntax::words::Comments;

/// Tests of several projects: the flaky ones wait for sockets, the others add numbers.
fn tests() -> Vec<LabelledTest> {
    (0..120)
        .map(|number| {
            let flaky = number % 4 == 0;
            let body = if flaky {
                format!("server{number}.openSocket(port); Thread.sleep(timeout); awaitReply();")
            } else {
                format!("total{number} = sum(price, tax); assertEquals(expected, total{number});")
            };
            LabelledTest {
                id: format!("T#t{number}"),
                project: format!("project{}", number % 6),
                class: format!("org.acme.Class{}", number / 4),
                name: format!("t{number}"),
                flaky,
                category: flaky.then(|| ["async_wait", "network"][number / 4 % 2].to_owned()),
                runs: None,
                comments: Comments::Slashes,
                source: format!("@Test void t{number}() {{ {body} }}"),
            }
        })
        .collect()
}

#[test]
fn every_test_is_asked_once_under_every_protocol() {
    for protocol in [Protocol::Random, Protocol::Class, Protocol::Project] {
        let params = FlastValidationParams {
            recipe: Recipe { neighbours: 7, ..Recipe::rarity() },
            protocol,
            folds: 5,
            seed: Seed(1),
            with_probabilities: true,
        };
        let validation = params.run(&tests(), &|| Duration::ZERO);
        let probable =
            |asked: &FlastPrediction| asked.probability.is_some_and(|it| (0.0..=1.0).contains(&it));
        assert!(validation.asked.iter().all(probable));
        let rows: Vec<u32> = validation.asked.iter().map(|asked| asked.row).collect();
        assert_eq!(rows, (0..120).collect::<Vec<u32>>());
        assert!(validation.confusion().f1() > 0.95, "{protocol:?}");
        assert!(validation.average_precision().is_some_and(|ap| ap > 0.95));
    }
}

/// Eight projects in which a test that sleeps is flaky, and what it adds up is chance.
fn readings() -> Readings {
    let (mut tests, mut readings) = (Vec::new(), Vec::new());
    let mut paths = PathCorpus::default();
    for row in 0..240_usize {
        let (project, flaky) = (row % 8, row % 5 == 0);
        let waits = if flaky { "Thread.sleep(10); socket.connect();" } else { "list.add(one);" };
        let source = format!("@Test void adds{row}() {{ {waits} assertEquals({row}, sum{row}); }}");
        let class = format!("p{project}.C{}Test", row % 40);
        let node = paths.bag([if flaky { "socket" } else { "list" }]);
        let operation = Some(paths.bag([if flaky { "connect" } else { "add" }]));
        let last = PathStep::last(paths.bag(["equals"]));
        paths.push_test([[PathStep { node, operation, body: None }, last]]);
        let mut reading = Reading::of_text(&source, &class, Comments::Slashes);
        // As if its project had been read and had nothing else in it.
        reading.smells.iter_mut().filter(|it| it.is_nan()).for_each(|it| *it = 0.0);
        readings.push(reading);
        tests.push(LabelledTest {
            id: format!("{class}#adds{row}"),
            project: format!("p{project}"),
            class,
            name: format!("adds{row}"),
            flaky,
            source,
            ..LabelledTest::default()
        });
    }
    Readings::new(tests, readings, paths, BTreeMap::new()).expect("readings of one width")
}

fn params(hold_out: HoldOut) -> EnsembleParams {
    let params = EnsembleParams::new(hold_out, Seed(7));
    let boost = BoostParams { trees: 30, fewest_rows: 5, ..params.boost.clone() };
    let network = NetworkParams {
        dimension: 8,
        hidden: 8,
        epochs: 4,
        members: 2,
        ..NetworkParams::new(Seed(7))
    };
    EnsembleParams { parts: 4, boost, network: Some(network), ..params }
}

#[test]
fn what_flaky_tests_have_in_common_is_found_in_projects_that_were_never_seen() {
    let readings = readings();
    let validation = EnsembleValidationParams {
        ensemble: params(HoldOut::Project),
        protocol: Protocol::Project,
        folds: 8,
    };
    let found = validation.run(&readings, &mut |_, _| ()).expect("enough tests");
    assert_eq!(found.asked.len(), 240);
    assert!(found.average_precision().is_some_and(|it| it > 0.95));
    assert!(found.confusion().f1() > 0.9, "{:?}", found.confusion());
    assert_eq!(found.by_project(&readings).len(), 8);
}

/// Two classes of tests that all read alike; of each, those fail that were written between two lines.
fn bursts() -> Readings {
    let (mut tests, mut readings) = (Vec::new(), Vec::new());
    let mut paths = PathCorpus::default();
    for row in 0..240_u32 {
        let class = format!("p.C{}Test", row % 2);
        let name = format!("adds{}", row.wrapping_mul(2_654_435_761));
        let source = format!("@Test void {name}() {{ assertEquals(1, sum); }}");
        let mut reading = Reading::of_text(&source, &class, Comments::Slashes);
        reading.smells.iter_mut().filter(|it| it.is_nan()).for_each(|it| *it = 0.0);
        reading.standing = Some(SiblingPosition { line: Some(row), ..SiblingPosition::default() });
        readings.push(reading);
        paths.push_test::<[_; 0]>([]);
        let (id, project, flaky) = (format!("{class}#{name}"), "p".into(), row / 40 % 3 == 1);
        tests.push(LabelledTest { id, project, class, name, flaky, source, ..Default::default() });
    }
    Readings::new(tests, readings, paths, BTreeMap::new()).expect("readings of one width")
}

#[test]
fn an_ensemble_that_knows_the_siblings_sees_bursts_that_no_source_shows() {
    let ensemble = EnsembleParams { network: None, ..params(HoldOut::Test) };
    let validation = EnsembleValidationParams { ensemble, protocol: Protocol::Random, folds: 4 };
    let found = validation.run(&bursts(), &mut |_, _| ()).expect("enough tests");
    assert_eq!(found.members.last(), Some(&BaseModel::Siblings));
    assert!(found.average_precision_of(BaseModel::Words).is_some_and(|it| it < 0.6));
    assert!(found.confusion().f1() > 0.9, "{:?}", found.confusion());
}
