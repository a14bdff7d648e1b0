//! JavaScript and TypeScript.

use crate::{find, helpers, ids, listing};

const SUMS: &str = include_str!("../samples/sums.test.ts");

#[test]
fn tests_are_named_by_the_titles_around_them() {
    let found = find("src/sums.test.ts", SUMS);
    assert_eq!(
        ids(&found),
        [
            "src/sums.test.ts > outer > adds %i",
            "src/sums.test.ts > outer > x $a",
            "src/sums.test.ts > outer > tpl ${x}",
            "src/sums.test.ts > outer > name + 'x'",
            "src/sums.test.ts > outer > inner > deep",
            "src/sums.test.ts > loop",
            "src/sums.test.ts > n",
            "src/sums.test.ts > named",
            "src/sums.test.ts > d %s > cond",
            "src/sums.test.ts > opts",
            "src/sums.test.ts > esc 'q' \\n",
        ]
    );
    assert_eq!(found.issues, []);
    assert_eq!(found.tests[4].enclosing, ["outer", "inner"]);
    assert_eq!(found.tests[1].lines, 7..=8);
    assert_eq!(helpers(&found, "deep"), ["beforeEach", "h2", "helper"]);
    assert_eq!(helpers(&found, "loop"), [""; 0]);
}

#[test]
fn jsx_and_commonjs_are_read() {
    let found = find("cases.test.jsx", include_str!("../samples/cases.test.jsx"));
    assert_eq!(
        listing(&found),
        [
            "cases.test.jsx > view > renders 6-6",
            "cases.test.jsx > view > n ${n} 7-7",
            "cases.test.jsx > view > later 8-8",
        ]
    );
    assert_eq!(helpers(&found, "renders"), ["render", "afterEach", "cleanup"]);
}

#[test]
fn a_file_counts_by_its_name_its_folder_or_its_imports() {
    let text = "it('a', () => {})";
    for path in ["a.spec.js", "__tests__/a.js", "e2e/b/a.ts", "test/a.mjs"] {
        assert_eq!(find(path, text).tests.len(), 1, "{path}");
    }
    assert!(find("src/a.js", text).tests.is_empty());
    let text = format!("import {{ it }} from \"bun:test\";\n{text}");
    assert_eq!(find("src/a.ts", &text).tests.len(), 1);
}

#[test]
fn what_only_looks_like_a_test_is_none() {
    let text = "/x/.test(y); it.todo('a'); test.use({}); test.skip(a === b, 'why'); \
                test.step('s', () => {}); t.it('x', () => {}); test(); it(42); \
                test.describe.configure({ mode: 'serial' });";
    assert_eq!(ids(&find("a.test.ts", text)), [""; 0]);
}

#[test]
fn hooks_of_playwright_are_helpers() {
    let text = "test.beforeEach(async ({ page }) => { await login(page) });\n\
                test.describe.serial('s', () => { test.fixme('t', async () => {}) });\n\
                async function login(page) {}\n";
    let found = find("a.spec.ts", text);
    assert_eq!(ids(&found), ["a.spec.ts > s > t"]);
    assert_eq!(helpers(&found, "t"), ["test.beforeEach", "login"]);
}

#[test]
fn half_written_files_give_the_tests_written_so_far() {
    let text = "describe('a', () => {\n it('b', () => { x() });\n it('c', () => { y(";
    for path in ["a.test.js", "a.test.ts", "a.test.tsx"] {
        let found = find(path, text);
        assert_eq!(ids(&found), [format!("{path} > a > b"), format!("{path} > a > c")]);
        assert_eq!(found.issues.len(), 1);
    }
}
