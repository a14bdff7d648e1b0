//! An ensemble, from readings to a file and back.

use std::collections::BTreeMap;

use flakeproof_core::Seed;
use flakeproof_learn::boost::BoostParams;
use flakeproof_learn::ensemble::{
    AskedTest, BaseModel, Ensemble, EnsembleError, EnsembleParams, EnsembleScore, ReadWords,
    Reading, Readings, SiblingPosition, SourceReader,
};
use flakeproof_learn::flast::{HoldOut, Opinion};
use flakeproof_learn::labelled::LabelledTest;
use flakeproof_learn::network::{Methods, NetworkParams, PathCorpus, PathStep};
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::words::Comments;
use flakeproof_syntax::{Finder, Layout, SourceFile};

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

/// What neighbours say whose flaky share this is.
/// What an ensemble says of a test so many of whose neighbours are flaky.
fn ask(
    ensemble: &Ensemble<'_>,
    flaky_share: f64,
    reading: &Reading,
    paths: Option<f64>,
) -> EnsembleScore {
    let near = &Opinion { flaky_share, neighbours: Vec::new() };
    ensemble.scores(&[AskedTest { near, reading, paths }]).remove(0)
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
fn the_same_seed_gives_the_same_file_and_the_file_the_same_answers() {
    let readings = readings();
    let ensemble = params(HoldOut::Class).fit(&readings, "ours").expect("enough tests");
    let again = params(HoldOut::Class).fit(&readings, "ours").expect("enough tests");
    let file = ensemble.to_file().expect("it can be written down");
    assert_eq!(file, again.to_file().expect("it can be written down"));
    let read = Ensemble::of_file(&file).expect("it was not changed");
    assert_eq!(read.about, ensemble.about);
    let members = [BaseModel::Neighbours, BaseModel::Words, BaseModel::Smells, BaseModel::Paths];
    assert_eq!(read.about.members, members);
    let source = "@Test void other() { Thread.sleep(1); socket.connect(); }";
    let reading = Reading::of_text(source, "x.NewTest", Comments::Slashes);
    let said = ask(&ensemble, 0.4, &reading, Some(0.9));
    assert_eq!(said, ask(&read, 0.4, &reading, Some(0.9)));
    assert!(said.score > ask(&ensemble, 0.0, &Reading::default(), Some(0.1)).score);
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
fn a_jury_that_knows_the_siblings_sees_bursts_that_no_source_shows() {
    let readings = bursts();
    let ensemble = EnsembleParams { network: None, ..params(HoldOut::Test) };
    let ensemble = ensemble.fit(&readings, "ours").expect("enough tests");
    let file = ensemble.to_file().expect("it can be written down");
    let read = Ensemble::of_file(&file).expect("it was not changed");
    let score = |line: u32| {
        let source = "@Test void fresh() { assertEquals(1, sum); }";
        let mut reading = Reading::of_text(source, "p.C1Test", Comments::Slashes);
        let (class, name) = ("p.C1Test".to_owned(), "fresh".to_owned());
        let standing =
            SiblingPosition { class, name, line: Some(line), ..SiblingPosition::default() };
        reading.standing = Some(standing);
        let said = ask(&ensemble, 0.3, &reading, None);
        assert_eq!(said, ask(&read, 0.3, &reading, None));
        said.score
    };
    assert!(score(61) > 3.0 * score(101), "{} {}", score(61), score(101));
}

#[test]
fn a_changed_byte_is_noticed() {
    let ensemble = params(HoldOut::Test).fit(&readings(), "ours").expect("enough tests");
    let mut file = ensemble.to_file().expect("it can be written down");
    let middle = file.len() / 2;
    file[middle] ^= 1;
    assert!(Ensemble::of_file(&file).is_err());
}

#[test]
fn a_jury_of_one_kind_of_tests_cannot_learn() {
    let mut readings = readings();
    let tests: Vec<LabelledTest> =
        readings.tests().iter().map(|test| LabelledTest { flaky: false, ..test.clone() }).collect();
    let empty = tests.iter().map(|_| Reading::default()).collect();
    readings = Readings::new(tests, empty, readings.paths().clone(), BTreeMap::<_, Methods>::new())
        .expect("readings of one width");
    let refused = params(HoldOut::Test).fit(&readings, "ours").err();
    assert_eq!(refused, Some(EnsembleError::TooFew { tests: 240, flaky: 0 }));
}

#[test]
fn a_reader_smells_what_the_code_around_a_test_does() {
    let test = "package a; class StockTest extends Base { @Test public void counts() { \
                new Stock().count(); } }";
    let base = "package a; class Base { @Before public void start() { server.start(); } }";
    let code = "package a; class Stock { int count() { return new Thread(null).hashCode(); } }";
    let mut finder = Finder::default();
    let mut lower =
        |path: &str, text: &str| finder.lower(&SourceFile { path, text }, &Layout::default()).unit;
    let project = ProjectIndex::new(vec![
        lower("src/test/java/a/StockTest.java", test),
        lower("src/test/java/a/Base.java", base),
        lower("src/main/java/a/Stock.java", code),
    ]);
    let declared = project.find_method("a.StockTest", "counts").expect("it is there");
    let reading = SourceReader::new(&project, ReadWords::Yes).read(
        declared,
        "a.StockTest",
        test,
        Comments::Slashes,
    );
    let names = flakeproof_syntax::smells::SmellReader::names();
    let smells = |what: &str| {
        let at = names.iter().position(|name| name == what).expect("it has a number");
        reading.smells[at] > 0.0
    };
    assert!(smells("threads in the code it calls"));
    assert!(smells("servers in its base classes") && smells("servers in its helpers"));
    assert!(!smells("threads in the test") && !smells("sockets in its file"));
}
