//! Commands that show a failure again, as the user would type them.

use flakeproof_core::TestId;

use super::module::Framework;
use super::project::TestPlace;
use super::{Session, Tool};
pub(super) use crate::shell::shell;

/// The user's command for one test alone.
pub(super) fn for_one(session: &Session, test: &TestId) -> String {
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
    use super::*;

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
