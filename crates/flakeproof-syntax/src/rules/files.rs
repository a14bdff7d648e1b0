//! Files: names in the folder for temporary files that another test, or another run, has too.

use super::rule::{Finding, Rule};
use super::scene::{Part, Scene};
use super::time::reads_clock;
use super::value::{Value, arguments_of, bare, is_any, name_of, path, quoted, receiver_of};
use crate::Language;
use crate::flow::{Expression, Operation, Unit};

pub(super) fn look(scene: &Scene<'_>, found: &mut Vec<Finding>) {
    let own = scene.file.text_of(scene.function.span);
    let is_replaced = || {
        own.contains("patch")
            || own.contains("mock")
            || own.contains("Mock")
            || scene.file_says("memfs")
            || scene.file_says("pyfakefs")
    };
    for (at, step, call, _) in scene.calls() {
        if step.part == Part::After || step.in_raises || found.len() > 20 {
            continue;
        }
        let value = scene.value(at, call);
        if let Some(name) = written_path(scene, value, call).filter(|_| !is_replaced()) {
            found.push(Finding {
                line: call.span().line,
                rule: Rule::FixedTempPath,
                message: format!("`{name}` is the same file for every run on this machine"),
            });
            return;
        }
        if is_handmade(value, call) {
            found.push(Finding {
                line: call.span().line,
                rule: Rule::HandmadeTempName,
                message: "two runs may choose the same name".to_owned(),
            });
            return;
        }
    }
}

/// The fixed temporary path that a call writes to.
fn written_path<'p>(scene: &Scene<'p>, value: Value<'p>, call: &'p Expression) -> Option<&'p str> {
    let path = path(value.file, call);
    let name = name_of(value.file, call);
    let arguments = arguments_of(call);
    let writes = match value.file.language {
        Language::Python => {
            let mode = arguments.get(1).and_then(|it| quoted(value.file, it)).unwrap_or_default();
            (path == "open" && mode.contains(['w', 'a', 'x']))
                || is_any(&path, &["os.makedirs", "os.mkdir"])
                || matches!(name, "write_text" | "write_bytes")
        }
        Language::Java | Language::Kotlin => {
            matches!(
                name,
                "FileWriter"
                    | "FileOutputStream"
                    | "PrintWriter"
                    | "RandomAccessFile"
                    | "mkdirs"
                    | "mkdir"
                    | "createNewFile"
                    | "writeText"
            ) || is_any(
                &path,
                &[
                    "Files.write",
                    "Files.createFile",
                    "Files.createDirectory",
                    "Files.createDirectories",
                    "Files.writeString",
                ],
            )
        }
        Language::JavaScript | Language::TypeScript => matches!(
            name,
            "writeFileSync"
                | "writeFile"
                | "mkdirSync"
                | "mkdir"
                | "createWriteStream"
                | "appendFileSync"
        ),
        Language::Go => is_any(
            &path,
            &["os.Create", "os.WriteFile", "os.Mkdir", "os.MkdirAll", "ioutil.WriteFile"],
        ),
        Language::Rust => {
            is_any(&path, &["File.create", "fs.write", "fs.create_dir", "fs.create_dir_all"])
        }
        Language::CSharp | Language::Ruby => false,
    };
    if !writes {
        return None;
    }
    let about = match receiver_of(call) {
        Some(receiver)
            if matches!(
                name,
                "write_text" | "write_bytes" | "mkdirs" | "mkdir" | "createNewFile" | "writeText"
            ) && value.file.language != Language::JavaScript
                && value.file.language != Language::TypeScript
                && arguments.first().is_none_or(|it| {
                    quoted(value.file, it).is_none_or(|text| !text.starts_with('/'))
                }) =>
        {
            receiver
        }
        _ => arguments.first()?,
    };
    let mut fixed = None;
    let mut is_made = false;
    scene.walk(value.of(about), &mut |piece| {
        let expression = bare(piece.expression);
        if let Some(text) = quoted(piece.file, expression)
            && (text.starts_with("/tmp/") || text.starts_with("/var/tmp/"))
            && text.len() > 5
            && !text.contains(['{', '$', '%'])
        {
            fixed = Some(text);
        }
        match expression {
            Expression::Call { .. } => {
                let name = name_of(piece.file, expression);
                let is_path = matches!(
                    name,
                    "Path" | "File" | "get" | "of" | "join" | "Join" | "new" | "from" | "as_path"
                );
                is_made |= !is_path;
                is_path
            }
            Expression::Combine { operation, .. } => {
                let mixes = matches!(operation, Operation::Arithmetic | Operation::Gather);
                is_made |= mixes;
                !mixes
            }
            Expression::Name(_) => true,
            Expression::Member { .. } | Expression::Lambda(_) => {
                is_made = true;
                false
            }
            Expression::Literal(_) => false,
        }
    });
    fixed.filter(|_| !is_made)
}

/// Whether a call makes a temporary name by the clock, or one that nobody reserves.
fn is_handmade(value: Value<'_>, call: &Expression) -> bool {
    let path = path(value.file, call);
    if value.file.language == Language::Python && is_any(&path, &["tempfile.mktemp"]) {
        return true;
    }
    let name = name_of(value.file, call);
    let joins = matches!(
        name,
        "join"
            | "resolve"
            | "File"
            | "Join"
            | "Path"
            | "get"
            | "of"
            | "open"
            | "mkdirSync"
            | "writeFileSync"
            | "push"
    );
    if !joins {
        return false;
    }
    let (mut has_folder, mut has_clock) = (false, false);
    look_for(value, call, &mut has_folder, &mut has_clock, 0);
    has_folder && has_clock
}

fn look_for(
    value: Value<'_>,
    expression: &Expression,
    folder: &mut bool,
    clock: &mut bool,
    depth: u32,
) {
    if depth > 12 {
        return;
    }
    let file: &Unit = value.file;
    let expression = bare(expression);
    match expression {
        Expression::Call { receiver, arguments, .. } => {
            let path = path(file, expression);
            *folder |= is_any(
                &path,
                &[
                    "os.tmpdir",
                    "tmpdir",
                    "tempfile.gettempdir",
                    "os.TempDir",
                    "env.temp_dir",
                    "temp_dir",
                ],
            ) || (path == "System.getProperty"
                && arguments.first().and_then(|it| quoted(file, it)) == Some("java.io.tmpdir"));
            *clock |= reads_clock(Value { expression, file, at: value.at });
            receiver.iter().for_each(|it| look_for(value, it, folder, clock, depth + 1));
            arguments.iter().for_each(|it| look_for(value, it, folder, clock, depth + 1));
        }
        Expression::Combine { operands, .. } => {
            operands.iter().for_each(|it| look_for(value, it, folder, clock, depth + 1));
        }
        Expression::Literal(_) => {
            *folder |= quoted(file, expression).is_some_and(|text| text.starts_with("/tmp"));
        }
        Expression::Member { object, .. } => look_for(value, object, folder, clock, depth + 1),
        Expression::Name(_) | Expression::Lambda(_) => {}
    }
}
