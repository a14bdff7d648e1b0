//! A file of Python, and the features of its tests: which lines `inspect.getsource` gives for one, and
//! which packages it imports, under which names.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::lines::{self, LogicalLines, Token};
use super::operations::Margin;
use super::walk::{Counted, count};
use crate::metrics::StaticFeatures;
use crate::metrics::features::{MaintainabilityParts, maintainability_index};
use crate::metrics::tabled::Import;
use crate::outline::{Function, Reading};
use crate::tree::{Agenda, children, text_of};

/// What the tests of a file share.
pub(in crate::metrics) struct File<'a> {
    text: &'a str,
    lines: Vec<&'a str>,
    imports: Vec<Import<'a>>,
}

impl<'a> File<'a> {
    pub(in crate::metrics) fn new(reading: &Reading<'_, 'a>) -> Self {
        let text = reading.text;
        let imports = imports_of_file(reading.root, text);
        Self { text, lines: text.lines().collect(), imports }
    }

    /// The features of a test; nothing when it breaks the grammar.
    pub(in crate::metrics) fn measure(&self, test: &Function<'_>) -> Option<StaticFeatures> {
        if test.node.has_error() {
            return None;
        }
        let source = self.source(test)?;
        let margin = Margin(dedent(source));
        let counted = count(test.node, self.text, margin);
        let line_counts = lines::count(&source.join("\n"));
        let halstead_volume = counted.halstead.volume();
        let cyclomatic_complexity = counted.branches + 1;
        let maintainability = maintainability_index(MaintainabilityParts {
            halstead_volume,
            cyclomatic_complexity,
            logical_lines: line_counts.logical,
            source_lines: line_counts.source,
            comment_lines: line_counts.comments + line_counts.long_strings,
        });
        Some(StaticFeatures {
            depth: counted.depth,
            assertions: counted.assertions,
            external_modules: self.external_modules(&counted),
            halstead_volume,
            cyclomatic_complexity,
            lines: line_counts.all,
            maintainability,
        })
    }

    fn source(&self, test: &Function<'_>) -> Option<&[&'a str]> {
        let rest = self.lines.get(test.node.start_position().row..)?;
        rest.get(..lines_of_function(rest))
    }

    fn external_modules(&self, counted: &Counted<'_>) -> u32 {
        let used = self.imports.iter().filter(|import| counted.names.contains(import.name));
        let mut packages: BTreeSet<&str> = used.map(|import| import.package).collect();
        packages.extend(&counted.packages);
        let external = packages.iter().filter(|package| !is_standard(package));
        u32::try_from(external.count()).unwrap_or(u32::MAX)
    }
}

/// The number of lines of the function whose first decorator, or `def`, is the first line.
///
/// The function ends with the last line that is indented deeper than `def`. Comments behind its
/// last statement belong to it when they are indented at least as far as its first statement.
fn lines_of_function(lines: &[&str]) -> usize {
    let mut last = 1;
    let mut def_indent = None;
    let mut body_indent = None;
    for line in LogicalLines::new(lines) {
        let first = lines[line.lines.start];
        let indent = indent_of(first).len();
        match (line.tokens.as_slice(), def_indent) {
            ([], _) => {}
            ([Token::Comment], _) => {
                if body_indent.is_some_and(|body| indent >= body) {
                    last = line.lines.end;
                }
            }
            (_, None) => {
                last = line.lines.end;
                if !first.trim_start().starts_with('@') {
                    def_indent = Some(indent);
                }
            }
            (_, Some(def)) if indent > def => {
                body_indent.get_or_insert(indent);
                last = line.lines.end;
            }
            (_, Some(_)) => break,
        }
    }
    last.min(lines.len())
}

/// The white space that `textwrap.dedent` takes from each line of a function, when the function can
/// stand for itself then; nothing when some line, of a string perhaps, is indented less.
fn dedent<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let margin = indent_of(lines.first()?);
    let is_deep_enough = |line: &&str| line.starts_with(margin) || is_blank(line);
    lines.iter().all(is_deep_enough).then_some(margin)
}

/// Whether `textwrap.dedent` empties a line.
pub(super) fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t']).is_empty()
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t', '\x0c']).len()]
}

/// The imports of a file outside of its functions and classes.
fn imports_of_file<'a>(root: Node<'_>, text: &'a str) -> Vec<Import<'a>> {
    let mut imports = Vec::new();
    let mut agenda = Agenda::new();
    agenda.push([(root, ())]);
    while let Some((node, ())) = agenda.next() {
        match node.kind() {
            "import_statement" | "import_from_statement" => {
                imports.extend(imports_of_statement(node, text));
            }
            "module" | "block" | "if_statement" | "elif_clause" | "else_clause"
            | "try_statement" | "except_clause" | "finally_clause" | "with_statement"
            | "for_statement" | "while_statement" | "match_statement" | "case_clause" | "ERROR" => {
                agenda.descend(node, ());
            }
            _ => {}
        }
    }
    imports
}

/// What one statement imports. Relative imports bind no package from outside, and a `*` binds no
/// name that could be seen, which an empty name stands for.
pub(super) fn imports_of_statement<'a>(node: Node<'_>, text: &'a str) -> Vec<Import<'a>> {
    let module = node.child_by_field_name("module_name");
    if module.is_some_and(|module| module.kind() == "relative_import") {
        return Vec::new();
    }
    let from = module.map(|module| first_part(text_of(module, text)));
    let mut imports = Vec::new();
    for child in children(node) {
        let (name, package) = match child.kind() {
            _ if module == Some(child) => continue,
            "dotted_name" => {
                let first = first_part(text_of(child, text));
                (first, from.unwrap_or(first))
            }
            "aliased_import" => {
                let field =
                    |field| child.child_by_field_name(field).map_or("", |node| text_of(node, text));
                (field("alias"), from.unwrap_or(first_part(field("name"))))
            }
            "wildcard_import" => ("", from.unwrap_or_default()),
            _ => continue,
        };
        imports.push(Import { name, package });
    }
    imports
}

fn first_part(module: &str) -> &str {
    module.split('.').next().unwrap_or(module).trim()
}

/// Whether a package, by its first name, is part of the standard library.
fn is_standard(package: &str) -> bool {
    MODULES.binary_search(&package).is_ok()
}

/// `sorted(sys.stdlib_module_names)` of Python 3.11.
#[rustfmt::skip]
const MODULES: [&str; 305] = [
    "__future__", "_abc", "_aix_support", "_ast", "_asyncio", "_bisect", "_blake2",
    "_bootsubprocess", "_bz2", "_codecs", "_codecs_cn", "_codecs_hk", "_codecs_iso2022",
    "_codecs_jp", "_codecs_kr", "_codecs_tw", "_collections", "_collections_abc", "_compat_pickle",
    "_compression", "_contextvars", "_crypt", "_csv", "_ctypes", "_curses", "_curses_panel",
    "_datetime", "_dbm", "_decimal", "_elementtree", "_frozen_importlib",
    "_frozen_importlib_external", "_functools", "_gdbm", "_hashlib", "_heapq", "_imp", "_io",
    "_json", "_locale", "_lsprof", "_lzma", "_markupbase", "_md5", "_msi", "_multibytecodec",
    "_multiprocessing", "_opcode", "_operator", "_osx_support", "_overlapped", "_pickle",
    "_posixshmem", "_posixsubprocess", "_py_abc", "_pydecimal", "_pyio", "_queue", "_random",
    "_scproxy", "_sha1", "_sha256", "_sha3", "_sha512", "_signal", "_sitebuiltins", "_socket",
    "_sqlite3", "_sre", "_ssl", "_stat", "_statistics", "_string", "_strptime", "_struct",
    "_symtable", "_thread", "_threading_local", "_tkinter", "_tokenize", "_tracemalloc", "_typing",
    "_uuid", "_warnings", "_weakref", "_weakrefset", "_winapi", "_zoneinfo", "abc", "aifc",
    "antigravity", "argparse", "array", "ast", "asynchat", "asyncio", "asyncore", "atexit",
    "audioop", "base64", "bdb", "binascii", "bisect", "builtins", "bz2", "cProfile", "calendar",
    "cgi", "cgitb", "chunk", "cmath", "cmd", "code", "codecs", "codeop", "collections", "colorsys",
    "compileall", "concurrent", "configparser", "contextlib", "contextvars", "copy", "copyreg",
    "crypt", "csv", "ctypes", "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib",
    "dis", "distutils", "doctest", "email", "encodings", "ensurepip", "enum", "errno",
    "faulthandler", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools",
    "gc", "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip",
    "hashlib", "heapq", "hmac", "html", "http", "idlelib", "imaplib", "imghdr", "imp", "importlib",
    "inspect", "io", "ipaddress", "itertools", "json", "keyword", "lib2to3", "linecache", "locale",
    "logging", "lzma", "mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap", "modulefinder",
    "msilib", "msvcrt", "multiprocessing", "netrc", "nis", "nntplib", "nt", "ntpath", "nturl2path",
    "numbers", "opcode", "operator", "optparse", "os", "ossaudiodev", "pathlib", "pdb", "pickle",
    "pickletools", "pipes", "pkgutil", "platform", "plistlib", "poplib", "posix", "posixpath",
    "pprint", "profile", "pstats", "pty", "pwd", "py_compile", "pyclbr", "pydoc", "pydoc_data",
    "pyexpat", "queue", "quopri", "random", "re", "readline", "reprlib", "resource", "rlcompleter",
    "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal",
    "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver", "spwd", "sqlite3",
    "sre_compile", "sre_constants", "sre_parse", "ssl", "stat", "statistics", "string",
    "stringprep", "struct", "subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog",
    "tabnanny", "tarfile", "telnetlib", "tempfile", "termios", "textwrap", "this", "threading",
    "time", "timeit", "tkinter", "token", "tokenize", "tomllib", "trace", "traceback",
    "tracemalloc", "tty", "turtle", "turtledemo", "types", "typing", "unicodedata", "unittest",
    "urllib", "uu", "uuid", "venv", "warnings", "wave", "weakref", "webbrowser", "winreg",
    "winsound", "wsgiref", "xdrlib", "xml", "xmlrpc", "zipapp", "zipfile", "zipimport", "zlib",
    "zoneinfo",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn length(code: &str) -> usize {
        lines_of_function(&code.lines().collect::<Vec<_>>())
    }

    #[test]
    fn comments_as_deep_as_the_body_belong_to_it() {
        assert_eq!(length("def f():\n    a\n\n    # inside\n# outside\n\nb"), 4);
        assert_eq!(length("def f():\n    a\n  # too far left\n    # inside\n"), 4);
        assert_eq!(length("def f(): a\n    # behind one line\nb"), 1);
    }

    #[test]
    fn decorators_and_long_lines_are_whole() {
        assert_eq!(length("  @a(\nb)\n  # c\n  def f(x,\n y):\n    '''\n'''\n\n  def g(): b"), 7);
    }

    #[test]
    fn a_string_at_the_left_margin_keeps_a_method_from_standing_alone() {
        assert_eq!(dedent(&["  def f():", "    '''", "x'''"]), None);
        assert_eq!(dedent(&["  def f():", " ", "    a"]), Some("  "));
    }

    #[test]
    fn the_list_is_sorted() {
        assert!(MODULES.is_sorted());
        assert!(is_standard("os") && is_standard("unittest") && !is_standard("pytest"));
    }
}
