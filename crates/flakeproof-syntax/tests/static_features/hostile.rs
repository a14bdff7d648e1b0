//! No text, however deep or broken, keeps the features from being computed.

use flakeproof_syntax::{Finder, Layout, SourceFile};
use proptest::prelude::*;

use crate::sane::assert_sane;

const PATHS: [&str; 6] =
    ["test_a.py", "ATest.java", "a.test.js", "a.test.ts", "a_test.go", "src/a.rs"];

/// Pieces that mean something to the measures, in one language or another.
const PIECES: [&str; 40] = [
    "def test_a():\n",
    "    ",
    "\n",
    "@Test void a() {",
    "it('a', () => {",
    "func TestA(t *testing.T) {",
    "#[test] fn a() {",
    "}",
    "{",
    "(",
    ")",
    "'''",
    "\"",
    "'",
    "\\",
    "\\\n",
    "#",
    "//",
    "/*",
    ":",
    ";",
    "1",
    "0x",
    "1e9",
    "'\\N{x}'",
    "b'\\xff'",
    " and ",
    " && ",
    " + ",
    "match x:\n",
    "case _:\n",
    "assert ",
    "import a.b as c\n",
    "elif",
    "f'{x:>3}'",
    "\u{2028}",
    "\x0c",
    "\r",
    "é",
    "class A:\n",
];

fn measure(path: &str, text: &str) {
    assert_sane(&Finder::default().measure(&SourceFile { path, text }, &Layout::default()));
}

proptest! {
    #[test]
    fn any_pieces_are_measured(pieces in prop::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
        for path in PATHS {
            measure(path, &text);
            measure(path, &format!("def test_a():\n    x = {text}"));
        }
    }
}

#[test]
fn depth_does_not_use_the_stack() {
    let many = 5_000;
    let not = "not ".repeat(many);
    let brackets = format!("{}{}", "(".repeat(many), ")".repeat(many));
    let sums = "1 + ".repeat(many);
    let chain = "a and ".repeat(many);
    for expression in [format!("{not}a"), brackets, format!("{sums}1"), format!("{chain}a")] {
        measure("test_a.py", &format!("def test_a():\n    {expression}\n"));
    }
    let blocks = format!("{}{}", "{".repeat(many), "}".repeat(many));
    measure("a_test.go", &format!("package a\nfunc TestA(t *testing.T) {{ {blocks} }}\n"));
    measure("src/a.rs", &format!("#[test]\nfn a() {{ {blocks} }}\n"));
}

#[test]
fn long_literals_cost_no_time() {
    let digits = "9".repeat(1_000_000);
    measure("test_a.py", &format!("def test_a():\n    x = {digits} + '{digits}' + 0x{digits}\n"));
}
