//! State that outlives a test: the environment, the working directory, defaults of the process and
//! patched modules.

use super::rule::{Finding, Rule};
use super::scene::{Deed, Part, Scene, Step};
use super::shared_state::shared_state;
use super::value::{bare, is_any, name_of, path, receiver_of};
use crate::Language;
use crate::flow::{Expression, Operation};

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for (at, step) in scene.steps.iter().enumerate().filter(|(_, step)| step.part == Part::Test) {
        if step.in_handler || is_cleaning(step) {
            continue;
        }
        let Some((rule, message)) = leaves(step) else { continue };
        if found.iter().any(|known| known.rule == rule) || is_restored(scene, at, rule) {
            continue;
        }
        found.push(Finding { line: step.span().line, rule, message });
    }
    patch_left(scene, found);
    fake_timers_left(scene, found);
    shared_state(scene, found);
}

/// Whether a step runs when the test ends: in what is handed to `t.Cleanup`.
fn is_cleaning(step: &Step<'_>) -> bool {
    matches!(step.handed_to, "Cleanup" | "addCleanup" | "after" | "afterEach" | "onTestFinished")
}

/// What a step changes for all tests behind it.
fn leaves(step: &Step<'_>) -> Option<(Rule, String)> {
    let file = step.file;
    match step.deed {
        Deed::Bind { targets, .. } => {
            let target = bare(targets.first()?);
            let object = match target {
                Expression::Combine { operation: Operation::Index, operands, .. } => {
                    operands.first()?
                }
                Expression::Member { object, .. } => object,
                _ => return None,
            };
            let path = path(file, object);
            let is_environment = match file.language {
                Language::Python => is_any(&path, &["os.environ"]),
                Language::JavaScript | Language::TypeScript => path == "process.env",
                _ => false,
            };
            is_environment.then(|| {
                (
                    Rule::EnvironmentLeft,
                    "this variable stays set for the tests behind this one".to_owned(),
                )
            })
        }
        Deed::Call { call, .. } => {
            let path = path(file, call);
            let environment: &[&str] = match file.language {
                Language::Python => &["os.putenv", "os.environ.update"],
                Language::Java | Language::Kotlin => &["System.setProperty"],
                Language::Go => &["os.Setenv"],
                Language::Rust => &["env.set_var"],
                _ => &[],
            };
            if is_any(&path, environment) {
                let message = if file.language == Language::Rust {
                    "tests run side by side, and all of them see this variable"
                } else {
                    "this stays set for the tests behind this one"
                };
                return Some((Rule::EnvironmentLeft, message.to_owned()));
            }
            if is_any(&path, &["os.chdir", "process.chdir", "os.Chdir", "env.set_current_dir"]) {
                let message = "the tests behind this one run in this folder, too";
                return Some((Rule::DirectoryLeft, message.to_owned()));
            }
            if is_any(
                &path,
                &["TimeZone.setDefault", "Locale.setDefault", "DateTimeZone.setDefault"],
            ) {
                let message = "the tests behind this one have this default, too";
                return Some((Rule::DefaultLeft, message.to_owned()));
            }
            None
        }
        Deed::Assert { .. } => None,
    }
}

/// Whether what a step leaves is put right: later in the test, when it ends, or before each test.
fn is_restored(scene: &Scene<'_>, at: usize, rule: Rule) -> bool {
    let words: &[&str] = match rule {
        Rule::EnvironmentLeft => &[
            "environ",
            "process.env",
            "etProperty",
            "learProperty",
            "setProperties",
            "etenv",
            "env::",
        ],
        Rule::DirectoryLeft => &["chdir", "Chdir", "set_current_dir"],
        _ => &["setDefault"],
    };
    let file = &scene.file.text;
    let guards = [
        "monkeypatch",
        "patch.dict",
        "RestoreSystemProperties",
        "SystemProperty",
        "SystemLambda",
        "EnvironmentVariables",
        "RestoreEnvironment",
        "ProvideSystemProperty",
        "stubEnv",
        "mockedEnv",
        "serial",
        "temp_env",
        "EnvGuard",
        "DefaultTimeZone",
        "DefaultLocale",
        "DefaultTimeZoneRule",
        "chtmpdir",
        "isolated_filesystem",
    ];
    if guards.iter().any(|word| scene.file_says(word)) {
        return true;
    }
    if scene.file_says("process.env = ") && rule == Rule::EnvironmentLeft {
        return true;
    }
    let Some(step) = scene.steps.get(at) else { return true };
    if scene.file.language == Language::Rust {
        let own = scene.file.text_of(scene.function.span);
        return own.contains("lock()") || scene.file_says("Mutex") || own.contains("Command");
    }
    // The rest of the test, from the next line on.
    let span = scene.function.span;
    let start = step.span().end as usize;
    let rest = file.get(start..span.end as usize).unwrap_or_default();
    let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    if words.iter().any(|word| rest.contains(word)) {
        return true;
    }
    let hooks = scene.project.test_hooks(scene.test, scene.owner);
    let texts = hooks.iter().filter_map(|hook| {
        Some(scene.project.unit(hook)?.text_of(scene.project.function(hook)?.span))
    });
    let own_lines = file.get(span.start as usize..start).unwrap_or_default();
    // Go restores with `defer` before or after; a value that was saved is one to restore.
    let is_saved =
        own_lines.contains("defer") && words.iter().any(|word| own_lines.matches(word).count() > 1);
    is_saved
        || texts.into_iter().any(|text| words.iter().any(|word| text.contains(word)))
        || scene.function.parameters.iter().any(|it| {
            let name = scene.file.text_of(it.name);
            name.contains("env")
                || name.contains("clean")
                || name.contains("restore")
                || name.contains("cwd")
        })
}

fn patch_left(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for step in scene
        .steps
        .iter()
        .filter(|step| step.part == Part::Test && !step.in_handler && step.frame == 0)
    {
        let Deed::Bind { targets, operator, value: Some(_) } = step.deed else { continue };
        if step.file.text_of(operator) != "=" {
            continue;
        }
        let [target] = targets else { continue };
        let Expression::Member { object, name } = bare(target) else { continue };
        let Expression::Name(root) = bare(object) else { continue };
        let root = step.file.text_of(*root);
        let is_module = match step.file.language {
            Language::Python => step.file.imports.iter().any(|it| {
                it.name == root
                    && root.chars().next().is_some_and(char::is_lowercase)
                    && (!it.is_member || it.path == root)
            }),
            Language::JavaScript | Language::TypeScript => {
                matches!(
                    root,
                    "global" | "globalThis" | "window" | "Math" | "Date" | "console" | "process"
                )
            }
            _ => false,
        };
        let member = step.file.text_of(*name);
        if !is_module || matches!(member, "env" | "exitCode") {
            continue;
        }
        let whole = format!("{root}.{member}");
        // Assigned anywhere else, it is put back, or set anew where it is needed.
        let assigned = scene.file.text.matches(&format!("{whole} =")).count();
        let is_cleared = ["delete ", "del ", "restore", "monkeypatch", "patch.object"]
            .iter()
            .any(|word| scene.file_says(word));
        if assigned == 1 && !is_cleared {
            found.push(Finding {
                line: step.span().line,
                rule: Rule::PatchLeft,
                message: format!("`{whole}` stays replaced for the tests behind this one"),
            });
            return;
        }
    }
}

fn fake_timers_left(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    for (_, step, call, _) in scene.own_calls() {
        let on = receiver_of(call).map(|it| path(step.file, it)).unwrap_or_default();
        if name_of(step.file, call) == "useFakeTimers"
            && matches!(on.as_str(), "vi" | "jest" | "sinon" | "vitest.vi")
        {
            let is_restored =
                ["useRealTimers", "restore", "uninstall", "using ", "resetAllMocks", "reset()"]
                    .iter()
                    .any(|word| scene.file_says(word));
            if is_restored {
                return;
            }
            found.push(Finding {
                line: call.span().line,
                rule: Rule::FakeTimersLeft,
                message: "timers stay fake for the tests behind this one".to_owned(),
            });
            return;
        }
    }
}
