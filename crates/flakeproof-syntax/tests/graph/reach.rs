//! What a test reaches, hop by hop.

use flakeproof_syntax::project::ReachLimits;

use crate::{name, project};

const TEST: &str = "package a; import b.*;
public class ATest {
    Pool pool = new Pool();
    @Before public void setUp() { pool.open(); }
    @Test public void test() { helper(); }
    void helper() { new Shop().sell(1); }
}";

const SHOP: &str = "package b;
public class Shop {
    private final Till till = Till.make();
    public Shop() { }
    public void sell(int n) { till.take(n); sell(n - 1); }
}
class Till {
    static Till make() { return new Till(); }
    void take(int n) { count(n); }
    void count(int n) { }
}
class Pool { void open() { connect(); } void connect() { } }";

fn reached(limits: ReachLimits) -> Vec<String> {
    let project =
        project(&[("src/test/java/a/ATest.java", TEST), ("src/main/java/b/Shop.java", SHOP)]);
    let test = project.find_method("a.ATest", "test").expect("the test is found");
    let found = project.reach_of_test(test, Some("a.ATest"), limits);
    found.iter().map(|it| format!("{} {}", it.hops, name(&project, it.function))).collect()
}

#[test]
fn calls_constructors_and_fields_of_new_objects_are_followed() {
    assert_eq!(
        reached(ReachLimits::default()),
        [
            "0 ATest.test()",
            "0 ATest.setUp()",
            "1 ATest.helper()",
            "1 Pool.open()",
            "2 Shop.Shop()",
            "2 Till.make()",
            "2 Shop.sell(int)",
            "2 Pool.connect()",
            "3 Till.take(int)",
            "4 Till.count(int)",
        ]
    );
}

#[test]
fn limits_keep_the_nearest() {
    let all = reached(ReachLimits::default());
    assert_eq!(reached(ReachLimits { hops: 1, functions: 400 }), all[..4]);
    assert_eq!(reached(ReachLimits { hops: 5, functions: 6 }), all[..6]);
}

#[test]
fn the_words_of_a_body_are_the_parts_of_its_names_without_comments() {
    let text =
        "class A { int readJson(String fileName) { /* no */ return fileName.size(); // no\n } }";
    let project = project(&[("A.java", text)]);
    let read = project.find_method("A", "readJson").expect("the method is found");
    let words: Vec<&str> = project.body_words(read).collect();
    assert_eq!(
        words,
        ["int", "read", "Json", "String", "file", "Name", "return", "file", "Name", "size"]
    );
}

#[test]
fn a_project_is_read_from_many_threads() {
    fn assert_shared<T: Send + Sync>() {}
    assert_shared::<flakeproof_syntax::project::Project>();
}
