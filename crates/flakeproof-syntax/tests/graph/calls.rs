//! Which function of the project a call means, and what a test reaches by calls, hop by hop.

use flakeproof_syntax::project::ReachLimits;

use crate::{all_paths, java_class, name, project};

/// The paths of a test with these lines beside this class of the code under test.
fn beside(class: &str, imports: &str, lines: &str) -> Vec<String> {
    let test = java_class("", lines).replace("import org.junit.*;", imports);
    let path = "src/main/java/b/Shop.java";
    all_paths(&project(&[(path, class), ("src/test/java/a/ATest.java", &test)]))
}

fn code_of(found: &[String]) -> Vec<&str> {
    let mut code: Vec<&str> = found
        .iter()
        .flat_map(|path| path.split('{').skip(1).filter_map(|rest| rest.split('}').next()))
        .collect();
    code.sort_unstable();
    code.dedup();
    code
}

const SHOP: &str = "package b;
public class Shop {
    public static Shop open(String name) { return new Shop(name); }
    private Shop(String name) { }
    public Basket basket(int customer) { return null; }
    public void add(Item item) { }
    public void add(String name) { }
    public void add(int... numbers) { }
    public static class Basket { public int total() { return 0; } }
    public static class Item { }
}";

#[test]
fn chains_follow_what_calls_give_back() {
    let found =
        beside(SHOP, "import b.Shop;", "assertEquals(0, Shop.open(\"x\").basket(1).total());");
    assert_eq!(code_of(&found), ["Shop.Basket.total()", "Shop.basket(int)", "Shop.open(String)"]);
}

#[test]
fn overloads_are_told_by_number_and_type_of_arguments() {
    let call = |arguments: &str| {
        let lines = format!("Shop s = make();\nShop.Item item = find(1);\ns.add({arguments});");
        let found = beside(SHOP, "import b.*;", &lines);
        code_of(&found).join(" ")
    };
    assert_eq!(call("item"), "Shop.add(Item)");
    assert_eq!(call("\"name\""), "Shop.add(String)");
    assert_eq!(call("1, 2, 3"), "Shop.add(int)");
}

#[test]
fn a_static_import_is_a_call_without_a_receiver() {
    let lines = "assertNotNull(open(\"x\"));";
    let found = beside(SHOP, "import static b.Shop.open;", lines);
    assert_eq!(code_of(&found), ["Shop.open(String)"]);
    let found = beside(SHOP, "import static b.Shop.*;", lines);
    assert_eq!(code_of(&found), ["Shop.open(String)"]);
}

#[test]
fn a_class_that_is_not_imported_is_not_meant() {
    let found = beside(SHOP, "import c.Shop;", "assertNotNull(Shop.open(\"x\"));");
    assert_eq!(code_of(&found), Vec::<&str>::new());
}

#[test]
fn an_interface_with_one_implementer_means_that_one() {
    let shop = "package b;
        public interface Shop { int total(int tax); }
        class Corner implements Shop { public int total(int tax) { return tax; } }";
    let found =
        beside(shop, "import b.Shop;", "Shop shop = make(1);\nassertEquals(1, shop.total(2));");
    assert_eq!(code_of(&found), ["Corner.total(int)"]);
}

#[test]
fn a_method_of_a_superclass_in_another_file_is_found() {
    let shop = "package b; public class Shop { public int total(int tax) { return tax; } }";
    let own = "package a; import b.Shop; public class Own extends Shop { }";
    let test = java_class("", "Own own = new Own();\nassertEquals(1, own.total(2));");
    let project = project(&[
        ("src/main/java/b/Shop.java", shop),
        ("src/main/java/a/Own.java", own),
        ("src/test/java/a/ATest.java", &test),
    ]);
    assert_eq!(code_of(&all_paths(&project)), ["Shop.total(int)"]);
}

#[test]
fn of_an_unknown_value_a_method_is_known_by_a_name_that_only_one_has() {
    let shop = "package b; public class Shop { public int uniqueTotal(int tax) { return tax; } }";
    let found = beside(shop, "import x.*;", "assertEquals(1, make(1).uniqueTotal(2));");
    assert_eq!(code_of(&found), ["Shop.uniqueTotal(int)"]);
    let found = beside(shop, "import x.*;", "assertEquals(1, make(1).uniqueTotal(2, 3));");
    assert_eq!(code_of(&found), Vec::<&str>::new());
}

#[test]
fn what_a_list_holds_is_known_by_its_type_argument() {
    let shop = "package b; public class Shop { public int total() { return 0; } }
        class Other { public int total() { return 0; } }";
    let found = beside(
        shop,
        "import b.Shop;",
        "List<Shop> shops = find(1);\nassertEquals(0, shops.get(0).total());",
    );
    assert_eq!(code_of(&found), ["Shop.total()"]);
}

#[test]
fn of_two_classes_with_one_name_the_nearer_file_is_meant() {
    let shop = "package b; public class Shop { public int total(int a) { return 0; } }";
    let test = java_class("", "Shop shop = make(1);\nassertEquals(0, shop.total(1));")
        .replace("import org.junit.*;", "import b.Shop;");
    let project = project(&[
        ("one/src/main/java/b/Shop.java", shop),
        ("two/src/main/java/b/Shop.java", shop),
        ("two/src/test/java/a/ATest.java", &test),
    ]);
    let graph = crate::graph(&project);
    let code = graph.edges.iter().find_map(|edge| edge.code).expect("the call is resolved");
    let path = project.unit(code).map(|unit| unit.path.as_str());
    assert_eq!(path, Some("two/src/main/java/b/Shop.java"));
}

#[test]
fn a_verified_call_leads_into_the_code_it_verifies() {
    let shop = "package b; public class Shop { public void sell(int count) { } }";
    let found =
        beside(shop, "import b.Shop;", "Shop shop = mock(Shop.class);\nverify(shop).sell(2);");
    assert_eq!(code_of(&found), ["Shop.sell(int)"]);
}

#[test]
fn an_implementer_of_what_is_called_comes_before_one_of_its_base() {
    let shop = "package b;
        public interface Any { int total(int tax); }
        class Other implements Any { public int total(int tax) { return tax; } }
        public interface Shop extends Any { }
        class Corner implements Shop { public int total(int tax) { return tax; } }";
    let lines = "Shop shop = make(1);\nassertEquals(1, shop.total(2));";
    assert_eq!(code_of(&beside(shop, "import b.Shop;", lines)), ["Corner.total(int)"]);
}

const REACHING_TEST: &str = "package a; import b.*;
public class ATest {
    Pool pool = new Pool();
    @Before public void setUp() { pool.open(); }
    @Test public void test() { helper(); }
    void helper() { new Shop().sell(1); }
}";

const REACHED_SHOP: &str = "package b;
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
    let project = project(&[
        ("src/test/java/a/ATest.java", REACHING_TEST),
        ("src/main/java/b/Shop.java", REACHED_SHOP),
    ]);
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
    assert_shared::<flakeproof_syntax::project::ProjectIndex>();
}
