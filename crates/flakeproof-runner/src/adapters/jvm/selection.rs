//! The tests that the user names, `-Dtest=FooTest#adds*` or `--tests '*FooTest.adds'`, and the
//! commands that name one to show its failure again.

use flakeproof_core::TestId;

use super::project::{Framework, TestPlace};
use super::{JvmSession, Tool};
use crate::shell::shell;

/// Which tests of the scanned classes were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    wanted: Vec<Pattern>,
    unwanted: Vec<Pattern>,
    gradle: GradleFilter,
}

/// Gradle's filter: patterns of the build and of the command line, and exclusions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct GradleFilter {
    includes: Vec<String>,
    wanted: Vec<String>,
    excludes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    class: String,
    /// Every method if there is none.
    methods: Vec<String>,
}

impl Selection {
    /// The selection in Surefire's `-Dtest`; the parts that cannot be understood come back.
    pub(super) fn of_surefire(test: &str) -> (Self, Vec<String>) {
        let mut selection = Self::default();
        let mut obscure = Vec::new();
        for part in test.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part.contains("%regex[") || part.contains("%ant[") {
                obscure.push(part.to_owned());
                continue;
            }
            match part.strip_prefix('!') {
                Some(part) => selection.unwanted.push(Pattern::of_surefire(part)),
                None => selection.wanted.push(Pattern::of_surefire(part)),
            }
        }
        (selection, obscure)
    }

    /// The selection in a filter of Gradle.
    pub(super) fn of_gradle(includes: &[String], wanted: &[String], excludes: &[String]) -> Self {
        let gradle = GradleFilter {
            includes: includes.to_vec(),
            wanted: wanted.to_vec(),
            excludes: excludes.to_vec(),
        };
        Self { gradle, ..Self::default() }
    }

    /// Whether a test, as `com.acme.FooTest#adds(int)[1]`, was asked for.
    pub(super) fn holds(&self, test: &str) -> bool {
        let (class, method) = test.split_once('#').unwrap_or((test, ""));
        let is_wanted =
            self.wanted.is_empty() || self.wanted.iter().any(|it| it.matches(class, method));
        let is_unwanted = self.unwanted.iter().any(|it| it.matches(class, method));
        is_wanted && !is_unwanted && self.gradle.holds(class, method)
    }
}

impl GradleFilter {
    fn holds(&self, class: &str, method: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|it| is_named(it, class, method));
        (self.includes.is_empty() || any(&self.includes))
            && (self.wanted.is_empty() || any(&self.wanted))
            && !any(&self.excludes)
    }
}

/// Whether one of Gradle's patterns names a test or its class. Without a package, a pattern that
/// begins with a capital letter is one of class names.
fn is_named(pattern: &str, class: &str, method: &str) -> bool {
    let bare = method.split(['(', '[', '{']).next().unwrap_or(method);
    let class = if pattern.starts_with(char::is_uppercase) {
        class.rsplit('.').next().unwrap_or(class)
    } else {
        class
    };
    let top = class.split('$').next().unwrap_or(class);
    [class, top].into_iter().any(|class| {
        is_like(pattern, class)
            || is_like(pattern, &format!("{class}.{method}"))
            || is_like(pattern, &format!("{class}.{bare}"))
    })
}

impl Pattern {
    fn of_surefire(part: &str) -> Self {
        let (class, methods) = part.split_once('#').unwrap_or((part, ""));
        let class = class.trim_end_matches(".java").trim_end_matches(".class");
        let class = class.trim_start_matches("**/").replace('/', ".");
        let methods = methods.split('+').filter(|method| !method.is_empty());
        Self { class, methods: methods.map(str::to_owned).collect() }
    }

    fn matches(&self, class: &str, method: &str) -> bool {
        let top = class.split('$').next().unwrap_or(class);
        let is_class = [class, top].into_iter().any(|name| {
            let simple = name.rsplit('.').next().unwrap_or(name);
            self.class.is_empty() || is_like(&self.class, name) || is_like(&self.class, simple)
        });
        let bare = method.split(['(', '[', '{']).next().unwrap_or(method);
        let is_method = self.methods.is_empty()
            || self.methods.iter().any(|it| is_like(it, method) || is_like(it, bare));
        is_class && is_method
    }
}

/// Whether a text is like a pattern in which `*` is anything and `?` is one character.
pub(super) fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star = None;
    while at < text.len() {
        match pattern.get(from) {
            Some('*') => {
                star = Some((from, at));
                from += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at] => {
                at += 1;
                from += 1;
            }
            _ => match star {
                // The last star takes one more.
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    from = place + 1;
                    at = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[from..].iter().all(|rest| *rest == '*')
}

/// The user's command for one test alone.
pub(super) fn for_one(session: &JvmSession, test: &TestId) -> String {
    let mut words = without_selection(&session.request.command, session.tool);
    let Some(project) = session.project.get() else { return shell(&words) };
    let Some(place) = project.place(test) else { return shell(&words) };
    let module = project.modules.get(place.module).map(|ready| &ready.module);
    let framework = module.map_or(Framework::Platform, |module| module.framework);
    let name = module.map_or("", |module| &module.name);
    let is_alone = project.modules.len() == 1;
    match session.tool {
        Tool::Maven => {
            if !is_alone && !name.is_empty() {
                words.extend(["-pl".to_owned(), name.to_owned(), "-am".to_owned()]);
                words.push("-Dsurefire.failIfNoSpecifiedTests=false".to_owned());
                words.push("-DfailIfNoTests=false".to_owned());
            }
            words.push(format!("-Dtest={}#{}", place.class(), method(place, framework)));
        }
        Tool::Gradle => {
            let method = method(place, framework);
            words.extend(["--tests".to_owned(), format!("{}.{method}", place.class())]);
        }
    }
    shell(&words)
}

/// The method as the build tools select it: all its parameters together, where they cannot tell.
fn method(place: &TestPlace, framework: Framework) -> &str {
    let method = place.plain.split_once('#').map_or("", |(_, method)| method);
    match framework {
        Framework::Junit4 => method.split('{').next().unwrap_or(method),
        Framework::Platform | Framework::Testng => {
            method.split(['(', '[', '{']).next().unwrap_or(method)
        }
    }
}

/// The user's command without the tests that it names.
fn without_selection(command: &[String], tool: Tool) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = command.iter();
    while let Some(word) = words.next() {
        match (tool, word.as_str()) {
            (Tool::Maven, word) if word.starts_with("-Dtest=") => {}
            (Tool::Gradle, "--tests") => drop(words.next()),
            _ => kept.push(word.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn holds(selection: &str, test: &str) -> bool {
        Selection::of_surefire(selection).0.holds(test)
    }

    #[test]
    fn a_method_of_a_class_is_found_with_and_without_its_package() {
        for selection in ["FooTest#adds", "com.acme.FooTest#adds", "com/acme/FooTest#a*", "Foo*"] {
            assert!(holds(selection, "com.acme.FooTest#adds"), "{selection}");
            assert!(holds(selection, "com.acme.FooTest#adds(int)[2]"), "{selection}");
        }
        assert!(!holds("FooTest#adds", "com.acme.FooTest#subtracts"));
        assert!(!holds("FooTest#adds", "com.acme.BarTest#adds"));
    }

    #[test]
    fn several_methods_and_exclusions_are_heeded() {
        assert!(holds("FooTest#adds+sub*", "a.FooTest#subtracts"));
        assert!(!holds("FooTest,!FooTest#adds", "a.FooTest#adds"));
        assert!(holds("FooTest,!FooTest#adds", "a.FooTest#other"));
        assert!(holds("", "a.FooTest#other"));
    }

    #[test]
    fn regular_expressions_are_said_to_be_obscure() {
        assert_eq!(Selection::of_surefire("%regex[.*Foo.*]").1, ["%regex[.*Foo.*]"]);
    }

    #[test]
    fn patterns_of_gradle_name_classes_and_methods() {
        let holds =
            |pattern: &str, test| Selection::of_gradle(&[], &[pattern.to_owned()], &[]).holds(test);
        for pattern in ["com.acme.FooTest", "*FooTest", "FooTest", "FooTest.adds", "*.adds"] {
            assert!(holds(pattern, "com.acme.FooTest#adds"), "{pattern}");
        }
        assert!(!holds("acme.FooTest", "com.acme.FooTest#adds"));
        assert!(!holds("*FooTest.adds", "com.acme.FooTest#other"));
        let excluded = Selection::of_gradle(&[], &[], &["*.adds".to_owned()]);
        assert!(!excluded.holds("a.FooTest#adds"));
    }

    proptest! {
        #[test]
        fn a_text_is_like_itself_and_like_any_part_of_it_between_stars(
            before in "[a-c]{0,5}", part in "[a-c]{0,5}", after in "[a-c]{0,5}"
        ) {
            let text = format!("{before}{part}{after}");
            prop_assert!(is_like(&text, &text));
            let pattern = format!("*{part}*");
            prop_assert!(is_like(&pattern, &text));
        }
    }

    #[test]
    fn tests_that_the_user_named_give_way() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let maven = words("mvn -q test -Dtest=FooTest");
        assert_eq!(without_selection(&maven, Tool::Maven), words("mvn -q test"));
        let gradle = words("gradle test --tests a.FooTest --info");
        assert_eq!(without_selection(&gradle, Tool::Gradle), words("gradle test --info"));
    }

    #[test]
    fn parameters_are_kept_where_the_build_tool_knows_them() {
        let place =
            |plain: &str| TestPlace { module: 0, plain: plain.into(), handle: String::new() };
        let rows = place("a.FooTest#adds[1]");
        assert_eq!(method(&rows, Framework::Junit4), "adds[1]");
        assert_eq!(method(&rows, Framework::Platform), "adds");
        assert_eq!(method(&place("a.FooTest#adds(int)[2]"), Framework::Platform), "adds");
    }
}
