//! FLAST as a whole: from labelled tests to a model file and to what it says.

use flakeproof_core::Seed;
use flakeproof_learn::flast::{
    Flast, FlastParams, HoldOut, Recipe, TestText, TrainingError, Weighting,
};
use flakeproof_learn::labelled::LabelledTest;
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

fn params(recipe: Recipe) -> FlastParams {
    FlastParams {
        recipe: Recipe { neighbours: 7, of_a_class: recipe.of_a_class.min(7), ..recipe },
        seed: Seed(1),
        hold_out: None,
        careful_precision: 0.9,
        name: "small".to_owned(),
    }
}

fn recipes() -> [Recipe; 3] {
    [Recipe::rarity(), Recipe::paper(), Recipe::white_space()]
}

const WAITS: TestText<'static> = TestText {
    source: "@Test void waits() { client.openSocket(port); Thread.sleep(timeout); }",
    class: "org.acme.New",
    comments: Comments::Slashes,
};
const ADDS: TestText<'static> = TestText {
    source: "@Test void adds() { assertEquals(expected, sum(price, tax)); }",
    class: "org.acme.New",
    comments: Comments::Slashes,
};

/// The bytes as a mapped file has them: on a boundary of words.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0u64; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

#[test]
fn a_test_is_judged_by_what_it_resembles() {
    for recipe in recipes() {
        let name = recipe.name.clone();
        let model = params(recipe).fit(&tests()).expect("enough tests of both kinds");
        let neighbourhood = model.neighbourhood();
        let opinions = neighbourhood.ask_tests(&[WAITS, ADDS]);
        assert!(opinions[0].flaky_share > 0.9, "{name}: {}", opinions[0].flaky_share);
        assert!(opinions[1].flaky_share < 0.1, "{name}: {}", opinions[1].flaky_share);
        assert!(neighbourhood.category(&opinions[0]).is_some());
        assert!(neighbourhood.category(&opinions[1]).is_none());
    }
}

#[test]
fn a_model_file_says_the_same_as_the_model() {
    for recipe in recipes() {
        let model = params(recipe).fit(&tests()).expect("enough tests of both kinds");
        let bytes = model.to_file().expect("it can be written");
        let words = aligned(&bytes);
        let read = Flast::of_file(&bytemuck::cast_slice(&words)[..bytes.len()]).expect("whole");
        assert_eq!(read.about, model.about);
        let asked = [WAITS, ADDS];
        let before = model.neighbourhood().ask_tests(&asked);
        assert_eq!(read.neighbourhood().ask_tests(&asked), before);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let model = params(Recipe::rarity()).fit(&tests()).expect("enough tests");
            model.to_file().expect("it can be written")
        })
    };
    assert_eq!(bytes(1), bytes(2));
    assert_eq!(bytes(1), bytes(5));
}

#[test]
fn words_that_training_never_met_do_not_change_who_is_near() {
    let mut exact = Recipe::paper();
    exact.weighting = Weighting::Counts { epsilon: 0.0 };
    for recipe in [Recipe::paper(), exact, Recipe::rarity()] {
        let model = params(recipe).fit(&tests()).expect("enough tests of both kinds");
        let source = format!("{} zork quux", WAITS.source);
        let with_new_words = TestText { source: &source, ..WAITS };
        let opinions = model.neighbourhood().ask_tests(&[WAITS, with_new_words]);
        assert!(opinions[1].flaky_share > 0.9);
        let nearest = |at: usize| opinions[at].neighbours[0].similarity;
        assert!(nearest(1) <= nearest(0), "new words never make a test more similar");
    }
}

#[test]
fn shared_words_explain_the_similarity() {
    let model = params(Recipe::rarity()).fit(&tests()).expect("enough tests of both kinds");
    let neighbourhood = model.neighbourhood();
    let opinions = neighbourhood.ask_tests(&[WAITS]);
    let nearest = opinions[0].neighbours[0];
    let shared = neighbourhood.shared_terms(&WAITS, nearest.row);
    let sum: f32 = shared.iter().map(|term| term.part).sum();
    assert!((sum - nearest.similarity).abs() < 1e-5);
    assert!(shared.iter().any(|term| term.term == "sleep"));
}

#[test]
fn nothing_is_learned_from_too_few_tests_or_one_kind() {
    let flaky: Vec<LabelledTest> = tests().into_iter().filter(|test| test.flaky).collect();
    let one = params(Recipe::rarity()).fit(&flaky).expect_err("all are flaky");
    assert_eq!(one, TrainingError::OneClass { tests: 30, label: "flaky" });
    let few = params(Recipe::rarity()).fit(&tests()[..7]).expect_err("seven for seven voters");
    assert_eq!(few, TrainingError::TooFew { tests: 7, neighbours: 7 });
}

#[test]
fn the_largest_unit_there_is_enough_of_is_held_out() {
    let fit = |tests: &[LabelledTest]| {
        params(Recipe::rarity()).fit(tests).expect("enough tests").about.hold_out
    };
    assert_eq!(fit(&tests()), HoldOut::Project);
    let of_one_project = |test: LabelledTest| LabelledTest { project: String::new(), ..test };
    let one_project: Vec<LabelledTest> = tests().into_iter().map(of_one_project).collect();
    assert_eq!(fit(&one_project), HoldOut::Class);
    let without_class = |test: LabelledTest| LabelledTest { class: String::new(), ..test };
    let no_class: Vec<LabelledTest> = one_project.into_iter().map(without_class).collect();
    assert_eq!(fit(&no_class), HoldOut::Test);
}
