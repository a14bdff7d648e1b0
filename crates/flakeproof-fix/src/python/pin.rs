//! Pin what a run showed to make a test pass: the time zone, the locale, the seed of random numbers, for
//! this test alone and in the idiom of its framework.

use super::addition::Addition;
use super::file::{PythonFile, Style, TestFunction};
use super::imports::Names;
use crate::Pin;

/// The ways to pin something for a test, the likeliest first.
#[must_use]
pub fn pins(pin: &Pin, file: &PythonFile, test: &TestFunction) -> Vec<Addition> {
    match pin {
        Pin::Zone(zone) => vec![in_zone(zone, file, test)],
        Pin::Locale(locale) => {
            let encoded = with_encoding(file, test);
            let pinned = [in_locale(locale, file, test), in_locale_at_once(locale, file, test)];
            encoded.into_iter().chain(pinned).collect()
        }
        Pin::Seed(seed) => vec![seeded(*seed, file, test)],
    }
}

fn in_zone(zone: &str, file: &PythonFile, test: &TestFunction) -> Addition {
    let mut names = Names::new(file);
    let time = names.module("time");
    let mut written = Addition::default();
    if test.style == Style::Unittest {
        let (os, mock) = (names.module("os"), names.mock());
        written.statements = vec![
            format!("self.addCleanup({time}.tzset)"),
            format!("zone = {mock}.patch.dict({os}.environ, TZ=\"{zone}\")"),
            "zone.start()".to_owned(),
            "self.addCleanup(zone.stop)".to_owned(),
            format!("{time}.tzset()"),
        ];
    } else {
        let pytest = names.module("pytest");
        let name = file.free(&format!("in_zone_{}", plain(zone)));
        written.decorators = vec![format!("@{pytest}.mark.usefixtures(\"{name}\")")];
        written.definitions = vec![format!(
            "@{pytest}.fixture\ndef {name}(monkeypatch):\n    \"\"\"Run a test in the time zone \
             {zone}.\"\"\"\n    with monkeypatch.context() as zone:\n        zone.setenv(\"TZ\", \
             \"{zone}\")\n        {time}.tzset()\n        yield\n    {time}.tzset()\n"
        )];
    }
    written.imports = names.needed();
    written.idea = Some(format!("pin the time zone {zone} for this test"));
    written
}

/// The variable alone: what asks for the locale of the machine gets this one.
fn in_locale(locale: &str, file: &PythonFile, test: &TestFunction) -> Addition {
    let mut names = Names::new(file);
    let mut written = Addition::default();
    if test.style == Style::Pytest {
        written.fixtures = vec!["monkeypatch".to_owned()];
        written.statements = vec![format!("monkeypatch.setenv(\"LC_ALL\", \"{locale}\")")];
    } else {
        let (os, mock) = (names.module("os"), names.mock());
        written.decorators = vec![format!("@{mock}.patch.dict({os}.environ, LC_ALL=\"{locale}\")")];
    }
    written.imports = names.needed();
    written.idea = Some(format!("pin the locale {locale} for this test"));
    written
}

/// The variable, and what the process has made of it already.
fn in_locale_at_once(locale: &str, file: &PythonFile, test: &TestFunction) -> Addition {
    let mut names = Names::new(file);
    let module = names.module("locale");
    let mut written = Addition::default();
    if test.style == Style::Unittest {
        let (os, mock) = (names.module("os"), names.mock());
        written.decorators = vec![format!("@{mock}.patch.dict({os}.environ, LC_ALL=\"{locale}\")")];
        written.statements = vec![
            format!(
                "self.addCleanup({module}.setlocale, {module}.LC_ALL, \
                 {module}.setlocale({module}.LC_ALL))"
            ),
            format!("{module}.setlocale({module}.LC_ALL, \"{locale}\")"),
        ];
    } else {
        let pytest = names.module("pytest");
        let name = file.free(&format!("in_locale_{}", plain(locale)));
        written.decorators = vec![format!("@{pytest}.mark.usefixtures(\"{name}\")")];
        written.definitions = vec![format!(
            "@{pytest}.fixture\ndef {name}(monkeypatch):\n    \"\"\"Run a test in the locale \
             {locale}.\"\"\"\n    before = {module}.setlocale({module}.LC_ALL)\n    \
             monkeypatch.setenv(\"LC_ALL\", \"{locale}\")\n    {module}.setlocale({module}.LC_ALL, \
             \"{locale}\")\n    yield\n    {module}.setlocale({module}.LC_ALL, before)\n"
        )];
    }
    written.imports = names.needed();
    written.idea = Some(format!("pin the locale {locale} for this test"));
    written
}

/// An encoding where the test itself reads or writes text without one; `None` where it does not.
fn with_encoding(file: &PythonFile, test: &TestFunction) -> Option<Addition> {
    let mut written = Addition::default();
    let mut waiting = vec![file.root()];
    while let Some(node) = waiting.pop() {
        if node.end_byte() <= test.span.start || node.start_byte() >= test.span.end {
            continue;
        }
        let mut cursor = node.walk();
        waiting.extend(node.named_children(&mut cursor));
        if node.kind() != "call" || node.start_byte() < test.span.start {
            continue;
        }
        let Some(called) = node.child_by_field_name("function") else { continue };
        let Some(arguments) = node.child_by_field_name("arguments") else { continue };
        let name = called.child_by_field_name("attribute").unwrap_or(called);
        let text = file.text_of(arguments);
        let is_text = match file.text_of(name) {
            "read_text" => arguments.named_child_count() == 0,
            "write_text" => arguments.named_child_count() == 1,
            "open" => {
                arguments.named_child_count() <= 2 && !text.contains("b\"") && !text.contains("b'")
            }
            _ => false,
        };
        if !is_text || text.contains("encoding") || !text.ends_with(')') || text.starts_with("((") {
            continue;
        }
        let at = arguments.end_byte() - 1;
        let lead = if arguments.named_child_count() == 0 { "" } else { ", " };
        written.replaced.push((at..at, format!("{lead}encoding=\"utf-8\"")));
    }
    written.idea = Some("name the encoding of the text that this test reads and writes".to_owned());
    (!written.replaced.is_empty()).then_some(written)
}

fn seeded(seed: u32, file: &PythonFile, test: &TestFunction) -> Addition {
    let mut names = Names::new(file);
    let random = names.module("random");
    let mut written = Addition::default();
    if test.style == Style::Unittest {
        written.statements =
            vec![format!("self.addCleanup({random}.setstate, {random}.getstate())")];
    } else {
        let functools = names.module("functools");
        written.fixtures = vec!["request".to_owned()];
        written.statements = vec![format!(
            "request.addfinalizer({functools}.partial({random}.setstate, {random}.getstate()))"
        )];
    }
    written.statements.push(format!("{random}.seed({seed})"));
    written.imports = names.needed();
    written.idea = Some(format!("pin the seed {seed} of random numbers for this test"));
    written
}

/// A name as a part of another.
fn plain(name: &str) -> String {
    let word = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '_' };
    name.chars().map(word).collect()
}

impl PythonFile {
    /// A name that the file does not bind yet.
    fn free(&self, name: &str) -> String {
        let numbers = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbers);
        names.find(|it| !self.binds(it)).unwrap_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(text: &str, test: &str, pin: &Pin, form: usize) -> String {
        let file = PythonFile::parse("t.py", text).unwrap();
        let test = file.test(&test.into()).unwrap();
        let addition = pins(pin, &file, &test).remove(form);
        let with = file.with(&[(test, addition)]).unwrap();
        crate::check("t.py", &with).unwrap();
        with
    }

    #[test]
    fn a_zone_is_pinned_by_a_fixture_and_put_back() {
        let text = "from datetime import datetime\n\n\ndef test_a():\n    f()\n";
        let with = pinned(text, "t.py::test_a", &Pin::Zone("UTC".into()), 0);
        assert_eq!(
            with,
            "import time\nfrom datetime import datetime\n\nimport pytest\n\n\n@pytest.fixture\ndef \
             in_zone_utc(monkeypatch):\n    \"\"\"Run a test in the time zone UTC.\"\"\"\n    with \
             monkeypatch.context() as zone:\n        zone.setenv(\"TZ\", \"UTC\")\n        \
             time.tzset()\n        yield\n    time.tzset()\n\n\n\
             @pytest.mark.usefixtures(\"in_zone_utc\")\ndef test_a():\n    f()\n"
        );
    }

    #[test]
    fn a_test_case_cleans_up_after_itself() {
        let text = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        f()\n";
        let with = pinned(text, "t.py::T::test_a", &Pin::Zone("UTC".into()), 0);
        assert!(with.contains("        self.addCleanup(time.tzset)\n        zone = "), "{with}");
        let with = pinned(text, "t.py::T::test_a", &Pin::Seed(3), 0);
        let says =
            "        self.addCleanup(random.setstate, random.getstate())\n        random.seed(3)\n";
        assert!(with.contains(says), "{with}");
    }

    #[test]
    fn an_encoding_is_named_before_a_locale_is_pinned() {
        let text = "import os\n\n\ndef test_a(tmp_path):\n    assert (tmp_path / 'a').read_text() == 'ü'\n";
        let with = pinned(text, "t.py::test_a", &Pin::Locale("C.UTF-8".into()), 0);
        assert!(with.contains(".read_text(encoding=\"utf-8\") =="), "{with}");
        let with = pinned(text, "t.py::test_a", &Pin::Locale("C.UTF-8".into()), 1);
        assert!(with.contains("    monkeypatch.setenv(\"LC_ALL\", \"C.UTF-8\")\n"), "{with}");
    }
}
