//! The static features of tests: against radon and ast on real suites, by hand on small tests of
//! each language, and on texts so deep or broken that nothing may keep the features from being
//! computed.

mod agreement;
mod radon;
mod sane;

use flakeproof_syntax::metrics::StaticFeatures;
use flakeproof_syntax::{Finder, Layout, SourceFile};
use proptest::prelude::*;

use crate::sane::assert_sane;

fn features(path: &str, text: &str) -> StaticFeatures {
    let layout = Layout::of_manifests([
        ("go.mod", "module example.com/own\n"),
        ("Cargo.toml", "[package]\nname = \"own\"\n"),
    ]);
    let measured = Finder::default().measure(&SourceFile { path, text }, &layout);
    let features: Vec<_> = measured.features.iter().flatten().copied().collect();
    assert_eq!(features.len(), 1, "one test is measured in {path}");
    features[0]
}

/// `depth assertions modules complexity lines`.
fn counts(features: StaticFeatures) -> [u32; 5] {
    let StaticFeatures {
        depth, assertions, external_modules, cyclomatic_complexity, lines, ..
    } = features;
    [depth, assertions, external_modules, cyclomatic_complexity, lines]
}

/// N · log₂ η.
fn volume(occurrences: f64, different: f64) -> f64 {
    occurrences * different.log2()
}

#[test]
fn java_counts_its_statements_branches_and_libraries() {
    let text = r#"
package org.acme.shop;
import java.util.List;
import org.acme.shop.Cart;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static com.google.common.truth.Truth.assertThat;
class CartTest {
    @Test
    void adds() {
        // one
        for (int i = 0; i < 3; i++) {
            if (i > 1 && i < 3 && ok) { cart.add(i); }
        }
        Mockito.verify(cart);
        assertEquals(3, cart.size());
        assertThat(cart);
    }
}
"#;
    let features = features("CartTest.java", text);
    // for, if, &&, &&; the method, for, if, the statement in it.
    assert_eq!(counts(features), [4, 3, 3, 5, 10]);
    // <, ++, > and && once; i, 3, i, i, 1, i, 3 and three for the chain.
    let expected = volume(5.0 + 2.0 + 1.0 + 2.0 + 2.0 + 3.0, 4.0 + 3.0 + 3.0);
    assert!((features.halstead_volume - expected).abs() < 1e-9, "{features:?}");
}

#[test]
fn javascript_takes_the_call_for_the_test() {
    let text = r#"
import { render } from "@testing-library/react/pure";
import fs from "node:fs";
import own from "./own";
const { isEqual } = require("lodash/fp");
describe("sums", () => {
  it("adds", async () => {
    const x = render(own) ?? (a ? 1 : 2);
    expect(isEqual(x, 3)).toBe(true); // why
    try { fs.x(); } catch (e) { assert.fail(); }
  });
});
"#;
    for path in ["sums.test.js", "sums.test.ts"] {
        // The ternary and the handler.
        assert_eq!(counts(features(path, text)), [3, 2, 2, 3, 5], "{path}");
    }
}

#[test]
fn go_knows_its_own_module_and_the_names_of_failure() {
    let text = r#"
package sums

import (
	"testing"
	"example.com/own/sums"
	cmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

func TestAdds(t *testing.T) {
	for _, x := range sums.All() {
		switch {
		case x > 1 || x < -1:
			t.Errorf("no %v", x)
		default:
			x += 2
		}
	}
	require.Equal(t, cmp.Diff(1, yaml.Two), errors.Error())
}
"#;
    let features = features("sums/sums_test.go", text);
    // for, case, ||.
    assert_eq!(counts(features), [4, 2, 3, 4, 11]);
    // >, ||, <, unary -, + with x, 1, x, -1, the two comparisons, 1, x, 2.
    let expected = volume(5.0 + 9.0, 5.0 + 3.0 + 3.0);
    assert!((features.halstead_volume - expected).abs() < 1e-9, "{features:?}");
}

#[test]
fn rust_sees_operators_in_macros() {
    let text = r#"
use std::fs;
use own::Cart;
use serde_json::{json, Value as Json};
use rand::Rng;

#[test]
fn adds() {
    let cart: Vec<u8> = json!([1]);
    match cart.len() {
        0 => panic!("empty"),
        _ => {
            if let Some(x) = y { z(); }
        }
    }
    assert!(a + b == c, "{}", x);
}
"#;
    let features = features("src/lib.rs", text);
    // One arm, the if, and two assertions; the arm's block holds the if, which holds the call.
    assert_eq!(counts(features), [4, 2, 1, 5, 11]);
    // a + b and b == c, as far as tokens tell.
    let expected = volume(6.0, 5.0);
    assert!((features.halstead_volume - expected).abs() < 1e-9, "{features:?}");
}

#[test]
fn a_test_that_breaks_the_grammar_has_no_features_and_its_neighbours_have() {
    let text =
        "def test_a():\n    assert 1\n\ndef test_b():\n    x = = 2\n\ndef test_c():\n    pass\n";
    let file = SourceFile { path: "test_a.py", text };
    let measured = Finder::default().measure(&file, &Layout::default());
    assert_eq!(measured.found.tests.len(), measured.features.len());
    for (test, features) in measured.found.tests.iter().zip(&measured.features) {
        assert_eq!(features.is_some(), test.name != "test_b", "{}", test.name);
    }
}

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
