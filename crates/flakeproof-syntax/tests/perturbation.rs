//! Code in another form still parses, and holds the same tests.

use std::collections::BTreeSet;

use flakeproof_core::Seed;
use flakeproof_syntax::perturbation::{Form, Perturbation, Perturber};
use flakeproof_syntax::{Finder, Layout, SourceFile};
use proptest::prelude::*;

const PATH: &str = "src/test/java/shop/BasketTest.java";

/// Statements of a method, with the names of what it declares among few, so that they meet.
fn statement() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(vec!["a", "b", "price", "basket", "filled"]);
    let leaf = prop_oneof![
        name().prop_map(|it| format!("{it} = filled({it});")),
        name().prop_map(|it| format!("this.{it}.close({it}, {it}::size);")),
        name().prop_map(|it| format!("assertEquals({it}, other.{it}(\"{it}\"));")),
        name().prop_map(|it| format!("run({it} -> {it}.{it});")),
        name().prop_map(|it| format!("run(() -> {{ int {it} = 1; }});")),
        name().prop_map(|it| format!("run(new Task() {{ int go() {{ return {it}; }} }});")),
        Just("// a comment with a { in it\n".to_owned()),
        Just("return;".to_owned()),
    ];
    leaf.prop_recursive(3, 20, 3, move |inner| {
        let block = prop::collection::vec(inner, 0..3).prop_map(|it| it.join(" "));
        (name(), block).prop_flat_map(|(it, body)| {
            prop::sample::select(vec![
                format!("{{ int {it} = 2; {body} }}"),
                format!("for (int {it} = 0; {it} < 3; {it}++) {{ {body} }}"),
                format!("for (String {it} : all()) {{ {body} }}"),
                format!("try (Reader {it} = open()) {{ {body} }} catch (Error {it}) {{ {body} }}"),
                format!("if ({it} instanceof Basket {it}) {{ {body} }}"),
                format!("{it}: while (true) {{ {body} break {it}; }}"),
                format!("switch ({it}) {{ case 1: int {it} = 3; {body} }}"),
            ])
        })
    })
}

fn member() -> impl Strategy<Value = String> {
    let body = || prop::collection::vec(statement(), 0..4).prop_map(|it| it.join("\n        "));
    prop_oneof![
        body().prop_map(|it| format!("    /** Told. */\n    @Test public void test() {{ {it} }}")),
        body().prop_map(|it| format!("    private int filled(int price) {{ {it} }} // beside")),
        body().prop_map(|it| format!("    BasketTest(int a) {{ super(a); {it} }}")),
        Just("    private int price = 3, b;".to_owned()),
        Just("    @Rule public Basket basket;".to_owned()),
        Just("    abstract void later();".to_owned()),
        body().prop_map(|it| format!("    static class Inner {{ void x() {{ {it} }} int y; }}")),
        Just("    static { price = 4; }".to_owned()),
    ]
}

/// The same with a number in the name of each test, so that all are told apart.
fn numbered(members: &[String]) -> String {
    let members = members.iter().enumerate();
    let members = members.map(|(at, it)| it.replace("void test()", &format!("void test{at}()")));
    let members: Vec<String> = members.collect();
    format!("package shop;\n\npublic class BasketTest {{\n{}\n}}\n", members.join("\n"))
}

fn tests_in(text: &str) -> BTreeSet<String> {
    let file = SourceFile { path: PATH, text };
    let found = Finder::default().find(&file, &Layout::default());
    assert!(found.issues.is_empty(), "{:?} in\n{text}", found.issues);
    found.tests.iter().map(|test| test.id.to_string()).collect()
}

fn names_in(text: &str) -> Vec<&str> {
    let is_name = |it: &char| it.is_alphanumeric() || *it == '_';
    text.split(move |it| !is_name(&it)).filter(|it| !it.is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_perturbed_parses_and_has_the_same_tests(
        members in prop::collection::vec(member(), 0..7),
        kinds in prop::sample::subsequence(Perturbation::ALL.to_vec(), 1..=4),
        seed in any::<u64>(),
    ) {
        let text = numbered(&members);
        let form = Form { kinds, seed: Seed(seed) };
        let changed = Perturber::new(form).file(&SourceFile { path: PATH, text: &text });
        let changed = changed.expect("the text has no error");
        prop_assert_eq!(tests_in(&changed), tests_in(&text));
    }

    #[test]
    fn other_names_change_nothing_but_names(
        members in prop::collection::vec(member(), 0..7),
        seed in any::<u64>(),
    ) {
        let text = numbered(&members);
        let form = Form { kinds: vec![Perturbation::Names], seed: Seed(seed) };
        let changed = Perturber::new(form).file(&SourceFile { path: PATH, text: &text });
        let changed = changed.expect("the text has no error");
        prop_assert_eq!(names_in(&changed).len(), names_in(&text).len());
        // A name becomes one name at most in a place, and no two names become the same.
        for (was, is) in names_in(&text).into_iter().zip(names_in(&changed)) {
            prop_assert!(was == is || !text.contains(is), "{was} became {is}");
        }
    }
}
