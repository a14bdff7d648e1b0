//! Files that nobody wrote by hand: deep, long, empty. None may overflow the stack, take long, or
//! panic. Tests run on small stacks, so recursion would show.

use flakeproof_syntax::{Finder, IssueKind, Layout, SourceFile};

use crate::{find, promises};

const PATHS: [&str; 10] = [
    "ATest.java",
    "ATest.kt",
    "test_a.py",
    "a.test.js",
    "a.test.ts",
    "a.test.tsx",
    "a_test.go",
    "src/lib.rs",
    "ATest.cs",
    "a_spec.rb",
];

#[test]
fn a_million_brackets_are_too_deep() {
    for path in PATHS {
        for bracket in ["(", "[", "{", "a<", "([{<"] {
            for count in [100_000, 1_000_000] {
                let text = bracket.repeat(count);
                let found = find(path, &text);
                assert_eq!(found.issues[0].kind, IssueKind::TooDeep, "{path}: {bracket}");
            }
        }
    }
}

#[test]
fn brackets_just_below_the_bound_are_no_trouble() {
    for path in PATHS {
        find(path, &"(".repeat(10_000));
        find(path, &"{[".repeat(5_000));
        find(path, &"a<".repeat(1_000));
        find(path, &format!("x = {}{}", "(".repeat(10_000), ")".repeat(10_000)));
    }
}

#[test]
fn ten_thousand_closing_brackets_are_no_trouble() {
    for path in PATHS {
        for text in [")", "}", "]"] {
            find(path, &text.repeat(10_000));
        }
    }
}

#[test]
fn deep_code_of_each_language_is_no_trouble() {
    let depth = 4_000;
    let around = |open: &str, close: &str| format!("{}{}", open.repeat(depth), close.repeat(depth));
    find("A.java", &around("class A { @Test void a() {} ", "}"));
    find("A.java", &format!("class A {{ @Test void a() {{ {} }} }}", around("if (x) {", "}")));
    find("A.kt", &around("class A {\n@Test fun a() {}\n", "}\n"));
    find("a.test.ts", &around("describe('a', () => { it('b', () => {}); ", "});"));
    find("a.test.ts", &format!("it('b', () => {{ {} }})", "f(".repeat(depth)));
    find("a.test.ts", &format!("it('b', () => {{ x{} }})", ".f()".repeat(depth)));
    find("a_test.go", &format!("func TestA(t *testing.T) {{ {} }}", around("{", "}")));
    find("src/lib.rs", &around("mod a { #[test] fn b() {} ", "}"));
    find("A.cs", &around("class A { [Fact] void a() {} ", "}"));
    find("a_spec.rb", &around("describe 'a' do\nit('b') { c }\n", "end\n"));
    find("test_a.py", &format!("def test_a(): return {}", "not ".repeat(depth)));
    find("test_a.py", &format!("def test_a(): return 1{}", " + 1".repeat(depth)));
}

#[test]
fn scopes_that_lie_too_deep_are_an_issue_and_the_others_are_read() {
    let text = format!("{}{}", "class A { @Test void a() {} ".repeat(500), "}".repeat(500));
    let found = find("A.java", &text);
    assert_eq!(found.tests.len(), 64);
    assert_eq!(found.issues[0].kind, IssueKind::TooDeep);
}

#[test]
fn a_file_that_asks_for_more_than_the_effort_is_given_up() {
    let text = "class A { @Test void a() {} }\n".repeat(1000);
    let file = SourceFile { path: "A.java", text: &text };
    let mut finder = Finder::new(flakeproof_syntax::Effort::new(5, 0));
    let found = finder.find(&file, &Layout::default());
    assert_eq!(found.issues[0].kind, IssueKind::GaveUp);
    assert!(found.tests.is_empty());

    let small = SourceFile { path: "A.java", text: "class A { @Test void a() {} }" };
    assert_eq!(finder.find(&small, &Layout::default()).tests.len(), 1, "the parser starts afresh");
}

#[test]
fn a_caller_who_will_not_wait_ends_the_reading_of_garbage() {
    let garbage = "->".repeat(4_000);
    let file = SourceFile { path: "a.test.ts", text: &garbage };
    let mut asked = 0;
    let mut finder = Finder::default().stopping_when(move || {
        asked += 1;
        asked > 10
    });
    let found = finder.find(&file, &Layout::default());
    assert_eq!(found.issues[0].kind, IssueKind::GaveUp);
    let again = finder.find(&file, &Layout::default());
    assert_eq!(again.issues[0].kind, IssueKind::GaveUp, "the question is kept for the next file");
}

#[test]
fn empty_strange_and_unknown_files_are_no_trouble() {
    for path in PATHS {
        for text in ["", "\n", "\u{feff}", "\0\0\0", "é\u{301}\u{1F600}", "\r\r\n", "@", "\\"] {
            let file = SourceFile { path, text };
            let found = Finder::default().find(&file, &Layout::default());
            promises::assert_promises(&file, &found);
            assert!(found.tests.is_empty());
        }
    }
    assert_eq!(find("README.md", "# test").issues[0].kind, IssueKind::UnknownLanguage);
}
