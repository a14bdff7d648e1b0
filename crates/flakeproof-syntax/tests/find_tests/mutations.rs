//! Every promise holds for files that were cut, doubled and filled with brackets at random.
//!
//! The same seed gives the same files; a failure prints the file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use flakeproof_syntax::{Finder, Layout, SourceFile};

use crate::lowered::assert_same_tests;
use crate::promises::assert_promises;

const CASES: usize = 2_000;
const SEED: u64 = 20_261_115;

const SAMPLES: [(&str, &str); 9] = [
    ("FooTest.java", include_str!("../samples/FooTest.java")),
    ("ATest.kt", include_str!("../samples/ATest.kt")),
    ("test_fixtures.py", include_str!("../samples/test_fixtures.py")),
    ("cases.test.jsx", include_str!("../samples/cases.test.jsx")),
    ("sums.test.ts", include_str!("../samples/sums.test.ts")),
    ("suite_test.go", include_str!("../samples/suite_test.go")),
    ("src/modules.rs", include_str!("../samples/modules.rs")),
    ("Fixture.cs", include_str!("../samples/Fixture.cs")),
    ("user_spec.rb", include_str!("../samples/user_spec.rb")),
];

#[test]
fn mutated_files_keep_every_promise() {
    let layout = Layout::default();
    let mut finder = Finder::default();
    let mut chance = Chance(SEED);
    for case in 0..CASES {
        let (path, sample) = SAMPLES[case % SAMPLES.len()];
        let text = mutated(sample, &mut chance);
        let file = SourceFile { path, text: &text };
        let check = AssertUnwindSafe(|| {
            let found = finder.find(&file, &layout);
            assert_promises(&file, &found);
            assert_same_tests(&file, &found, &finder.lower(&file, &layout));
        });
        let kept = catch_unwind(check);
        assert!(kept.is_ok(), "case {case} of seed {SEED}, {path}:\n{text}");
    }
}

fn mutated(sample: &str, chance: &mut Chance) -> String {
    let mut text = sample.to_owned();
    for _ in 0..=chance.below(4) {
        let (from, to) = (chance.boundary(&text), chance.boundary(&text));
        let range = from.min(to)..from.max(to);
        match chance.below(6) {
            0 => text.truncate(range.end),
            1 => drop(text.drain(range)),
            2 => drop(text.drain(..range.start)),
            3 => {
                let doubled = text[range].to_owned();
                text.insert_str(to, &doubled);
            }
            4 => {
                const PIECES: [&str; 12] =
                    ["(", ")", "{", "}", "[", "]", "\"", "'", "`", "\n", "é", "/*"];
                let piece = PIECES[chance.below(PIECES.len())];
                text.insert_str(from, &piece.repeat(1 + chance.below(50)));
            }
            _ => text.insert_str(from, "class X {"),
        }
    }
    text
}

/// A small generator (`SplitMix64`), the same on every machine.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("smaller than the bound")
    }

    fn boundary(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }
}
