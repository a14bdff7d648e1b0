//! Lowers the files of a folder: `cargo run --release --example lower_files -- DIR [THREADS]`.
//!
//! Prints for each language how many files, functions, tests and assertions there are, then how
//! long that took and how much memory the whole project needs.

#![expect(clippy::print_stderr, reason = "an example talks to a person")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use flakeproof_syntax::flow::{Expression, Role, Statement, Unit};
use flakeproof_syntax::{Finder, Language, Layout, Lowered, SourceFile};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let root = PathBuf::from(arguments.next().unwrap_or_else(|| ".".to_owned()));
    let threads = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(2);

    let mut files = Vec::new();
    let mut manifests = Vec::new();
    walk(&root, &root, &mut |path, full| {
        if Layout::is_manifest(&path) {
            manifests.push((path, read(full)));
        } else if Language::of_path(&path).is_some() {
            files.push((path, read(full)));
        }
    })?;
    let layout = Layout::of_manifests(manifests.iter().map(|(p, t)| (p.as_str(), t.as_str())));

    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let lowered: Vec<Lowered> = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| lower(&files, &layout, &next))).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).flatten().collect()
    });
    let seconds = started.elapsed().as_secs_f64();

    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for Lowered { unit, issues } in &lowered {
        counts.entry(unit.language.name()).or_default().add(unit, issues.len());
    }
    for (language, count) in &counts {
        eprintln!("{language}: {count:?}");
    }
    let megabytes = files.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / 1e6;
    eprintln!(
        "{} files, {megabytes:.1} MB of text in {seconds:.2} s on {threads} threads: {:.0} files/s, \
         {:.1} MB/s; largest memory {} (text is held twice)",
        files.len(),
        files.len() as f64 / seconds,
        megabytes / seconds,
        largest_memory(),
    );
    Ok(())
}

#[derive(Debug, Default)]
struct Count {
    files: usize,
    functions: usize,
    tests: usize,
    tests_with_assertions: usize,
    assertions: usize,
    statements: usize,
    issues: usize,
}

impl Count {
    fn add(&mut self, unit: &Unit, issues: usize) {
        self.files += 1;
        self.issues += issues;
        self.functions += unit.functions.len();
        for function in &unit.functions {
            let before = self.assertions;
            self.add_statements(&function.body);
            let is_test = matches!(function.role, Role::Test(_));
            self.tests += usize::from(is_test);
            self.tests_with_assertions += usize::from(is_test && self.assertions > before);
        }
    }

    fn add_statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statements += 1;
            match statement {
                Statement::Assert { .. } => self.assertions += 1,
                Statement::Nested { body, .. } => self.add_statements(body),
                Statement::Evaluate(value) => self.add_value(value),
                Statement::Bind { value, .. } | Statement::Return(value) => {
                    value.iter().for_each(|value| self.add_value(value));
                }
            }
        }
    }

    fn add_value(&mut self, value: &Expression) {
        match value {
            Expression::Name(_) | Expression::Literal(_) => {}
            Expression::Call { receiver, arguments, .. } => {
                receiver.iter().for_each(|receiver| self.add_value(receiver));
                arguments.iter().for_each(|argument| self.add_value(argument));
            }
            Expression::Member { object, .. } => self.add_value(object),
            Expression::Combine { operands, .. } => {
                operands.iter().for_each(|operand| self.add_value(operand));
            }
            Expression::Lambda(function) => self.add_statements(&function.body),
        }
    }
}

fn lower(files: &[(String, String)], layout: &Layout, next: &AtomicUsize) -> Vec<Lowered> {
    let mut finder = Finder::default();
    let mut lowered = Vec::new();
    while let Some((path, text)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        lowered.push(finder.lower(&SourceFile { path, text }, layout));
    }
    lowered
}

/// The most memory this process held, where the system says so.
fn largest_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |memory| memory.trim().to_owned())
}

fn read(path: &Path) -> String {
    std::fs::read(path).map_or_else(|_| String::new(), |b| String::from_utf8_lossy(&b).into_owned())
}

fn walk(root: &Path, folder: &Path, see: &mut impl FnMut(String, &Path)) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let kind = entry.file_type()?;
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(root, &path, see)?;
        } else if kind.is_file() {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            see(relative.to_string_lossy().replace('\\', "/"), &path);
        }
    }
    Ok(())
}
