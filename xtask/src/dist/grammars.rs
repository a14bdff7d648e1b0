//! The grammars of tree-sitter with their tables packed, for the program that is released.
//!
//! Half of the program would be tables of parsers: C# alone has five megabytes of them, mostly zeros. A
//! copy of each grammar's crate gets its tables as LZ4, and C code that unpacks them when the language is
//! first asked for: who parses Python never pays for C#. Cargo takes the copies in place of the crates by
//! its `paths` setting, so that neither manifests nor the lock file know of them, and whoever builds the
//! program by hand gets the crates as they are published.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lz4::block::CompressionMode;
use serde_json::Value;

use crate::{cargo, root, run};

/// The tables that are packed: numbers of two or four bytes, which mean the same on every platform that
/// packages are made for. What has pointers in it is left alone.
const TABLES: [Table; 5] = [
    Table { name: "ts_parse_table", field: "parse_table" },
    Table { name: "ts_small_parse_table", field: "small_parse_table" },
    Table { name: "ts_small_parse_table_map", field: "small_parse_table_map" },
    Table { name: "ts_lex_modes", field: "lex_modes" },
    Table { name: "ts_primary_state_ids", field: "primary_state_ids" },
];

/// Changes with what is written, so that copies of another form are made anew.
const FORM: &str = "2";

/// The C code that unpacks.
const UNPACK: &str = include_str!("templates/unpack.c");

/// A table of a parser, and the field of the language that leads to it.
struct Table {
    name: &'static str,
    field: &'static str,
}

/// Make the copies that are missing, and give their folders.
pub(super) fn packed() -> Result<Vec<PathBuf>, String> {
    grammars()?.iter().map(Grammar::packed).collect()
}

/// A grammar's crate, as cargo has it.
struct Grammar {
    /// Its name and version.
    name: String,
    folder: PathBuf,
}

/// The crates with a parser in them.
fn grammars() -> Result<Vec<Grammar>, String> {
    let output = cargo(&["metadata", "--format-version", "1", "--locked"]).output();
    let output = output.map_err(|error| format!("cargo metadata: {error}"))?;
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let mut found = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |field: &str| package[field].as_str().unwrap_or_default();
        let folder = Path::new(text("manifest_path")).parent().unwrap_or(Path::new("."));
        if text("name").starts_with("tree-sitter-") && !parsers(folder)?.is_empty() {
            let name = format!("{}-{}", text("name"), text("version"));
            found.push(Grammar { name, folder: folder.to_path_buf() });
        }
    }
    if found.is_empty() { Err("cargo names no grammar".into()) } else { Ok(found) }
}

/// Where a crate has its parsers, relative to its folder.
fn parsers(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let below = |entry: &Path| entry.join("src/parser.c");
    let mut found = vec![below(Path::new(""))];
    let entries = std::fs::read_dir(folder).map_err(|error| named(folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| named(folder, &error))?;
        found.push(below(Path::new(&entry.file_name())));
    }
    found.retain(|path| folder.join(path).is_file());
    Ok(found)
}

impl Grammar {
    fn packed(&self) -> Result<PathBuf, String> {
        let copy = root().join("target/grammars").join(&self.name);
        let stamp = copy.join("packed");
        let form = format!("{FORM} {}", super::hex(&super::digest(UNPACK.as_bytes())));
        if std::fs::read_to_string(&stamp).is_ok_and(|it| it == form) {
            return Ok(copy);
        }
        let _ = std::fs::remove_dir_all(&copy);
        copy_folder(&self.folder, &copy).map_err(|error| named(&copy, &error))?;
        let (mut before, mut after) = (0, 0);
        for parser in parsers(&copy)? {
            let place = copy.join(parser);
            let sizes = pack(&place).map_err(|why| format!("{}: {why}", place.display()))?;
            (before, after) = (before + sizes.0, after + sizes.1);
        }
        std::fs::write(&stamp, form).map_err(|error| named(&stamp, &error))?;
        println!("{:8} kB of tables in {} kB  {}", before / 1000, after / 1000, self.name);
        Ok(copy)
    }
}

fn named(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            std::fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// Pack the tables of a parser; gives their size before and after.
fn pack(parser: &Path) -> Result<(usize, usize), String> {
    let source = std::fs::read_to_string(parser).map_err(|error| error.to_string())?;
    let there: Vec<&Table> =
        TABLES.iter().filter(|table| definition(&source, table.name).is_some()).collect();
    let tables = compiled(parser, &there)?;
    let text = with_packed_tables(&source, &there, &tables)?;
    std::fs::write(parser, &text.0).map_err(|error| error.to_string())?;
    Ok((tables.iter().map(Vec::len).sum(), text.1))
}

/// What a compiler makes of the tables: a program with the parser in it writes them down.
fn compiled(parser: &Path, tables: &[&Table]) -> Result<Vec<Vec<u8>>, String> {
    let folder = parser.parent().unwrap_or(Path::new("."));
    let (source, program) = (folder.join("tables.c"), folder.join("tables"));
    let mut text = "#include \"parser.c\"\n#include <stdio.h>\nint main(void) {\n".to_owned();
    for table in tables {
        let name = table.name;
        let _ = write!(
            text,
            "uint64_t size_of_{name} = sizeof {name};\n\
             fwrite(&size_of_{name}, 8, 1, stdout);\nfwrite({name}, 1, sizeof {name}, stdout);\n"
        );
    }
    text.push_str("return 0;\n}\n");
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    let mut compiler = Command::new("cc");
    compiler.args(["-w", "-O0", "-o"]).arg(&program).arg("-I").arg(folder).arg(&source);
    let scanner = folder.join("scanner.c");
    compiler.args(scanner.is_file().then_some(scanner));
    run(&mut compiler)?;
    let output = Command::new(&program).output().map_err(|error| error.to_string())?;
    let _ = std::fs::remove_file(&source);
    let _ = std::fs::remove_file(&program);
    let mut rest = output.stdout.as_slice();
    let mut read = Vec::new();
    while let Some((size, after)) = rest.split_at_checked(8) {
        let size = size.try_into().map_or(0, u64::from_le_bytes);
        let bytes = usize::try_from(size).ok().and_then(|size| after.split_at_checked(size));
        let (bytes, after) = bytes.ok_or("its tables end early")?;
        read.push(bytes.to_vec());
        rest = after;
        if rest.is_empty() {
            break;
        }
    }
    if read.len() == tables.len() { Ok(read) } else { Err("not all its tables are there".into()) }
}

/// The parser's source with the tables packed, and how many bytes they are then.
fn with_packed_tables(
    source: &str,
    tables: &[&Table],
    bytes: &[Vec<u8>],
) -> Result<(String, usize), String> {
    let mut text = source.to_owned();
    let mut all = Vec::new();
    let mut places = String::new();
    for (table, bytes) in tables.iter().zip(bytes) {
        let (begin, end) = definition(&text, table.name).ok_or("a table is gone")?;
        text.replace_range(begin..end, "");
        let field = format!("    .{} = ", table.field);
        let begin = the_only(&text, &field)?;
        let end = begin + text[begin..].find('\n').ok_or("its last line has no end")? + 1;
        text.replace_range(begin..end, "");
        // Every table begins where its numbers may lie.
        all.resize(all.len().next_multiple_of(8), 0);
        let _ = writeln!(
            places,
            "  language->{} = (const void *)(tables + {});",
            table.field,
            all.len()
        );
        all.extend(bytes);
    }
    let smallest = CompressionMode::HIGHCOMPRESSION(12);
    let packed = lz4::block::compress(&all, Some(smallest), false);
    let packed = packed.map_err(|error| error.to_string())?;
    let size = i32::try_from(all.len()).map_err(|error| error.to_string())?;
    let again = lz4::block::decompress(&packed, Some(size));
    if again.map_err(|error| error.to_string())? != all {
        return Err("what was packed is not what it was".into());
    }
    let own = "static const TSLanguage language = {";
    let at = the_only(&text, own)?;
    text.replace_range(at..at + own.len(), "static TSLanguage language = {");
    let last = "  return &language;";
    let at = the_only(&text, last)?;
    text.insert_str(at, "  unpack_tables_once(&language);\n");
    let unpack = UNPACK
        .replace("PACKED_BYTES", &literal(&packed))
        .replace("PACKED_SIZE", &packed.len().to_string())
        .replace("TABLES_SIZE", &all.len().to_string())
        .replace("  PLACES;\n", &places);
    let public = the_only(&text, "\nTS_PUBLIC const TSLanguage *")?;
    text.insert_str(public + 1, &unpack);
    Ok((text, packed.len()))
}

/// From the first to behind the last byte of a table's definition.
fn definition(source: &str, name: &str) -> Option<(usize, usize)> {
    let begin = source
        .match_indices(&format!(" {name}["))
        .filter_map(|(at, _)| {
            let line = source[..at].rfind('\n').map_or(0, |end| end + 1);
            source[line..at].starts_with("static const ").then_some(line)
        })
        .next()?;
    let end = begin + source[begin..].find("\n};\n")? + "\n};\n".len();
    Some((begin, end))
}

fn the_only(text: &str, part: &str) -> Result<usize, String> {
    let mut found = text.match_indices(part);
    match (found.next(), found.next()) {
        (Some((at, _)), None) => Ok(at),
        _ => Err(format!("`{}` is not there once", part.trim())),
    }
}

/// Bytes as strings of C, which compilers read much faster than lists of numbers.
fn literal(bytes: &[u8]) -> String {
    bytes.chunks(64).fold(String::new(), |mut text, line| {
        text.push_str("\n  \"");
        for byte in line {
            let _ = write!(text, "\\{byte:03o}");
        }
        text.push('"');
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARSER: &str = "\
static const uint16_t ts_parse_table[2][3] = {
  [0] = {1},
};
static const TSLexMode ts_lex_modes[2] = {
  [0] = {7},
};

TS_PUBLIC const TSLanguage *tree_sitter_a(void) {
  static const TSLanguage language = {
    .parse_table = &ts_parse_table[0][0],
    .lex_modes = (const void*)ts_lex_modes,
    .lex_fn = ts_lex,
  };
  return &language;
}
";

    #[test]
    fn tables_leave_the_source_and_the_language_gets_them_when_it_is_asked_for() {
        let there: Vec<&Table> =
            TABLES.iter().filter(|table| definition(PARSER, table.name).is_some()).collect();
        assert_eq!(there.len(), 2);
        let bytes = [vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], vec![7, 0, 0, 0]];
        let (text, _) = with_packed_tables(PARSER, &there, &bytes).expect("it is packed");
        assert!(!text.contains("ts_parse_table") && !text.contains("ts_lex_modes"), "{text}");
        assert!(text.contains("language->parse_table = (const void *)(tables + 0);"), "{text}");
        assert!(text.contains("language->lex_modes = (const void *)(tables + 16);"), "{text}");
        assert!(text.contains("  unpack_tables_once(&language);\n  return &language;"), "{text}");
        assert!(text.contains("    .lex_fn = ts_lex,\n"), "{text}");
    }

    #[test]
    fn a_parser_of_an_unknown_form_is_refused() {
        let other = PARSER.replace("return &language;", "return language_of(&language);");
        let there: Vec<&Table> = TABLES.iter().take(1).collect();
        let packed = with_packed_tables(&other, &there, &[vec![0; 12]]);
        assert_eq!(packed.expect_err("it is"), "`return &language;` is not there once");
    }
}
