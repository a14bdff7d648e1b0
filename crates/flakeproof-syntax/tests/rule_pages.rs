//! The pages of the rules are their tests: every bad example is found by the rule of the page, and no
//! good one is.

use std::path::{Path, PathBuf};

use flakeproof_syntax::flow::Role;
use flakeproof_syntax::project::ProjectIndex;
use flakeproof_syntax::rules::{self, Rule, RuleSet};
use flakeproof_syntax::{Finder, Layout, SourceFile};

/// An example of a page.
struct Example {
    language: String,
    text: String,
    line: usize,
    is_bad: bool,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules")
}

fn page(rule: Rule) -> (String, String) {
    let name = format!("{}-{}.md", rule.id().to_lowercase(), rule.name());
    let text = std::fs::read_to_string(folder().join(&name)).unwrap_or_default();
    (name, text)
}

fn examples(page: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut is_bad = None;
    let mut open: Option<Example> = None;
    for (at, line) in page.lines().enumerate() {
        match (&mut open, line) {
            (Some(_), "```") => found.extend(open.take()),
            (Some(example), line) => {
                example.text.push_str(line);
                example.text.push('\n');
            }
            (None, "## Bad") => is_bad = Some(true),
            (None, "## Good") => is_bad = Some(false),
            (None, line) => {
                if let (Some(language), Some(is_bad)) = (line.strip_prefix("```"), is_bad) {
                    let language = language.to_owned();
                    open = Some(Example { language, text: String::new(), line: at + 1, is_bad });
                }
            }
        }
    }
    found
}

/// The files an example stands for; JavaScript is read as TypeScript, too.
fn files(example: &Example) -> Vec<(&'static str, String)> {
    let text = &example.text;
    let class = |text: &str| format!("class ExampleTest {{\n{text}}}\n");
    match example.language.as_str() {
        "python" => vec![("tests/test_example.py", text.clone())],
        "java" => vec![("src/test/java/ExampleTest.java", class(text))],
        "kotlin" => vec![("src/test/kotlin/ExampleTest.kt", class(text))],
        "javascript" => {
            vec![("tests/example.test.js", text.clone()), ("tests/example.test.ts", text.clone())]
        }
        "go" => vec![("example_test.go", format!("package example\n{text}"))],
        "rust" => vec![("tests/example.rs", text.clone())],
        other => unreachable!("no language is called {other}"),
    }
}

/// What the rule finds in each test of a file.
fn found(path: &str, text: &str, rule: Rule) -> Vec<usize> {
    let file = SourceFile { path, text };
    let unit = Finder::default().lower(&file, &Layout::default()).unit;
    let project = ProjectIndex::new(vec![unit]);
    let only = RuleSet::choose(&[rule.id().to_owned()], &[]).expect("the rule is there");
    let functions = project.units()[0].functions.iter().enumerate();
    let tests = functions.filter(|(_, function)| matches!(function.role, Role::Test(_)));
    tests
        .map(|(at, _)| {
            let test = flakeproof_syntax::flow::Declared {
                unit: 0,
                function: u32::try_from(at).expect("an example is short"),
            };
            rules::check(&project, test, None, &only).len()
        })
        .collect()
}

#[test]
fn every_bad_example_is_found_and_no_good_one_is() {
    let mut wrong = Vec::new();
    for rule in Rule::ALL {
        let (name, text) = page(*rule);
        let examples = examples(&text);
        for wanted in [true, false] {
            if !examples.iter().any(|example| example.is_bad == wanted) {
                wrong.push(format!("{name}: no {} example", if wanted { "bad" } else { "good" }));
            }
        }
        for example in &examples {
            for (path, text) in files(example) {
                let found = found(path, &text, *rule);
                let place = format!("{name}:{} ({path})", example.line);
                if found.is_empty() {
                    wrong.push(format!("{place}: no test was read"));
                } else if example.is_bad && found.iter().sum::<usize>() == 0 {
                    wrong.push(format!("{place}: not found"));
                } else if !example.is_bad && found.iter().any(|count| *count > 0) {
                    wrong.push(format!("{place}: a false alarm"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_page_and_every_page_a_rule() {
    let mut pages: Vec<String> = std::fs::read_dir(folder())
        .expect("the book has a folder of rules")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("fp"))
        .collect();
    pages.sort();
    let rules: Vec<String> = Rule::ALL.iter().map(|rule| page(*rule).0).collect();
    assert_eq!(pages, rules);
    for rule in Rule::ALL {
        let (name, text) = page(*rule);
        assert!(text.contains(&format!("# {rule}\n")), "{name}");
        let state = if rule.is_default() { "| on |" } else { "| off |" };
        assert!(text.contains(state), "{name}: its default is not {state}");
    }
}
