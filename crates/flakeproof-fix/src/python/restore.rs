//! Put back what a test leaves behind, where it was changed: in the polluter.

use std::collections::BTreeSet;

use flakeproof_core::{LeftBehind, LeftKind};

use super::addition::Addition;
use super::file::{PythonFile, Style, TestFunction};
use super::fixture;
use super::imports::Names;

/// What the names in a picture of state mean.
#[derive(Debug, Clone, Default)]
pub struct Surround {
    /// The modules that were imported.
    pub modules: BTreeSet<String>,
}

impl Surround {
    /// The module that an attribute is in, and the names below it.
    pub(crate) fn split<'n>(&self, name: &'n str) -> (&'n str, Vec<&'n str>) {
        let mut ends = name.match_indices('.').map(|(at, _)| at);
        let module = ends.rfind(|at| self.modules.contains(&name[..*at]));
        let at = module.unwrap_or_else(|| name.rfind('.').unwrap_or(0));
        (&name[..at], name[at..].split('.').filter(|it| !it.is_empty()).collect())
    }
}

/// Where an attribute lies, as a file names it.
pub(crate) struct Place {
    /// What it is an attribute of.
    pub(crate) owner: String,
    /// Its own name.
    pub(crate) attribute: String,
    /// Itself.
    pub(crate) value: String,
}

impl Place {
    /// The place of an attribute; `None` for names that are no Python.
    pub(crate) fn of(
        name: &str,
        surround: &Surround,
        file: &PythonFile,
        names: &mut Names<'_>,
    ) -> Option<Self> {
        let (module, parts) = surround.split(name);
        let (attribute, owners) = parts.split_last()?;
        if module.is_empty() || !is_dotted_name(name) {
            return None;
        }
        let is_own = file.is_module(module);
        let owner = match (is_own, owners) {
            (true, []) => format!("{}.modules[__name__]", names.module("sys")),
            (true, owners) => owners.join("."),
            (false, []) => names.module(module),
            (false, owners) => format!("{}.{}", names.module(module), owners.join(".")),
        };
        let value = match (is_own, owners.is_empty()) {
            (true, true) => (*attribute).to_owned(),
            _ => format!("{owner}.{attribute}"),
        };
        Some(Self { owner, attribute: (*attribute).to_owned(), value })
    }

    /// A field of the object that is here.
    fn field(&self, name: &str) -> Self {
        Self {
            owner: self.value.clone(),
            attribute: name.to_owned(),
            value: format!("{}.{name}", self.value),
        }
    }
}

impl PythonFile {
    /// Whether this file is the module of this name.
    pub(crate) fn is_module(&self, module: &str) -> bool {
        let path = self.path.trim_end_matches(".py").replace('/', ".");
        path == module || path.ends_with(&format!(".{module}"))
    }
}

fn is_dotted_name(name: &str) -> bool {
    let is_name = |part: &str| {
        part.chars().all(|it| it.is_alphanumeric() || it == '_')
            && part.chars().next().is_some_and(|it| !it.is_ascii_digit())
    };
    name.split('.').all(is_name)
}

/// The ways to put a thing back after a test, the likeliest first.
#[must_use]
pub fn restores(
    thing: &LeftBehind,
    file: &PythonFile,
    test: &TestFunction,
    surround: &Surround,
) -> Vec<Addition> {
    let mut found = Vec::new();
    if thing.kind == LeftKind::Variable && test.style != Style::Unittest {
        found.extend(set_by_monkeypatch(&thing.name, file, test));
    }
    let styles: &[Style] = match test.style {
        Style::Pytest => &[Style::Pytest],
        Style::Unittest => &[Style::Unittest],
        Style::Unknown => &[Style::Unittest, Style::Pytest],
    };
    for style in styles {
        found.extend(in_style(thing, file, *style, surround));
    }
    if thing.kind == LeftKind::Attribute && is_of_its_class(&thing.name, file, test, surround) {
        found.extend(fixture::per_test(file, test));
    }
    found
}

/// Whether an attribute is one of the class that the test is in.
fn is_of_its_class(
    name: &str,
    file: &PythonFile,
    test: &TestFunction,
    surround: &Surround,
) -> bool {
    let (module, parts) = surround.split(name);
    let classes = test.classes.iter().map(String::as_str);
    // Where the module is not known to be one, the class is taken for a part of its name.
    let owner = module.split('.').chain(parts.iter().copied().rev().skip(1).rev());
    let owner: Vec<&str> = owner.collect();
    let is_own = owner.len() > test.classes.len()
        && owner[owner.len() - test.classes.len()..].iter().copied().eq(classes);
    let around = owner[..owner.len().saturating_sub(test.classes.len())].join(".");
    !test.classes.is_empty() && is_own && file.is_module(&around)
}

/// The ways to put a thing back after each test of a file.
#[must_use]
pub fn restores_in_file(
    thing: &LeftBehind,
    file: &PythonFile,
    surround: &Surround,
) -> Vec<Addition> {
    let mut found = in_style(thing, file, Style::Pytest, surround);
    found.retain(Addition::is_for_any_test);
    found
}

fn in_style(
    thing: &LeftBehind,
    file: &PythonFile,
    style: Style,
    surround: &Surround,
) -> Vec<Addition> {
    let form = |write: &dyn Fn(&mut Writer<'_>) -> Option<()>| {
        let mut writer = Writer::new(file, style);
        write(&mut writer)?;
        Some(writer.addition())
    };
    match thing.kind {
        LeftKind::Attribute => attribute(thing, file, style, surround),
        LeftKind::Variable => {
            let whole = form(&|it| it.patch_dict("os", "environ"));
            let one = form(&|it| it.put_back_variable(&thing.name, thing.before.is_some()));
            whole.into_iter().chain(one).collect()
        }
        LeftKind::WorkingDirectory => form(&|it| it.go_back()).into_iter().collect(),
        LeftKind::ImportPath => form(&|it| {
            let sys = it.names.module("sys");
            it.set_back(&sys, "path", &format!("{sys}.path[:]"));
            Some(())
        })
        .into_iter()
        .collect(),
        LeftKind::Module => form(&|it| it.patch_dict("sys", "modules")).into_iter().collect(),
        LeftKind::Logger => form(&|it| it.put_back_logger(thing)).into_iter().collect(),
        LeftKind::SignalHandler => form(&|it| {
            let signal = it.names.module("signal");
            let number = format!("{signal}.{}", thing.name);
            if !thing.name.starts_with("SIG") {
                return None;
            }
            let call = [format!("{signal}.signal"), number.clone()];
            it.call_back(&[&call[..], &[format!("{signal}.getsignal({number})")]].concat());
            Some(())
        })
        .into_iter()
        .collect(),
        LeftKind::File => files(thing, file, style),
        LeftKind::Thread
        | LeftKind::WarningsFilter
        | LeftKind::StaticField
        | LeftKind::SystemProperty
        | LeftKind::RuntimeDefault
        | LeftKind::Listener
        | LeftKind::Handle => Vec::new(),
    }
}

fn files(thing: &LeftBehind, file: &PythonFile, style: Style) -> Vec<Addition> {
    let name = format!("\"{}\"", thing.name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut found = Vec::new();
    if style == Style::Pytest && thing.before.is_none() {
        found.push(Addition {
            fixtures: vec!["monkeypatch".into(), "tmp_path".into()],
            statements: vec!["monkeypatch.chdir(tmp_path)".into()],
            ..Addition::default()
        });
    }
    let mut writer = Writer::new(file, style);
    match thing.before {
        None => {
            let os = writer.names.module("os");
            writer.call_back(&[format!("{os}.remove"), name]);
        }
        Some(_) => {
            let path = format!("{}.Path({name})", writer.names.module("pathlib"));
            writer.call_back(&[format!("{path}.write_bytes"), format!("{path}.read_bytes()")]);
        }
    }
    found.push(writer.addition());
    found
}

/// `os.environ["NAME"] = value` in the test itself, written with `monkeypatch`.
fn set_by_monkeypatch(name: &str, file: &PythonFile, test: &TestFunction) -> Option<Addition> {
    let text = file.text_of_test(test);
    let mut replaced = Vec::new();
    for quote in ['"', '\''] {
        let begin = format!("os.environ[{quote}{name}{quote}] = ");
        for (at, _) in text.match_indices(&begin) {
            let line_end = text[at..].find('\n').map_or(text.len(), |it| at + it);
            let line_begin = text[..at].rfind('\n').map_or(0, |it| it + 1);
            let value = text[at + begin.len()..line_end].trim_end();
            let is_statement = text[line_begin..at].trim().is_empty();
            let is_whole =
                value.matches(['(', '[', '{']).count() == value.matches([')', ']', '}']).count();
            if !is_statement || !is_whole || value.contains('#') || value.ends_with('\\') {
                return None;
            }
            let start = test.span.start + at;
            let end = start + begin.len() + value.len();
            let new = format!("monkeypatch.setenv({quote}{name}{quote}, {value})");
            replaced.push((start..end, new));
        }
    }
    let fixtures = vec!["monkeypatch".to_owned()];
    (!replaced.is_empty()).then(|| Addition { fixtures, replaced, ..Addition::default() })
}

/// The ways to put an attribute back.
fn attribute(
    thing: &LeftBehind,
    file: &PythonFile,
    style: Style,
    surround: &Surround,
) -> Vec<Addition> {
    let mut found: Vec<Addition> = Vec::new();
    let mut add = |write: &dyn Fn(&mut Writer<'_>, &Place) -> Option<()>| {
        let mut writer = Writer::new(file, style);
        let place = Place::of(&thing.name, surround, file, &mut writer.names);
        if let Some(place) = place
            && write(&mut writer, &place).is_some()
        {
            let addition = writer.addition();
            if !found.contains(&addition) {
                found.push(addition);
            }
        }
    };
    let Some(before) = thing.before.as_deref() else {
        add(&|it, place| it.take_away(place));
        return found;
    };
    let changed = changed_fields(before, thing.after.as_deref().unwrap_or_default());
    match shape(before) {
        Shape::Dict => {
            add(&|it, place| it.decorate_with_patch_dict(&place.value));
            add(&|it, place| it.set_to(place, &format!("dict({})", place.value)));
            add(&|it, place| it.deep_copy(place));
            add(&|it, place| it.fill_again(place));
            // What belongs to a thread shows what it holds, and is no dictionary.
            add(&|it, place| it.decorate_with_patch_dict(&place.field("__dict__").value));
        }
        Shape::List => {
            add(&|it, place| it.set_to(place, &format!("{}[:]", place.value)));
            add(&|it, place| {
                let (value, set) = (&place.value, format!("{}.__setitem__", place.value));
                it.call_back(&[set, "slice(None)".to_owned(), format!("{value}[:]")]);
                Some(())
            });
            add(&|it, place| it.deep_copy(place));
            add(&|it, place| {
                let copy = format!("{}.deepcopy({})", it.names.module("copy"), place.value);
                let set = format!("{}.__setitem__", place.value);
                it.call_back(&[set, "slice(None)".to_owned(), copy]);
                Some(())
            });
        }
        Shape::Set => {
            add(&|it, place| it.set_to(place, &format!("set({})", place.value)));
            add(&|it, place| {
                let value = &place.value;
                it.call_back(&[format!("{value}.update"), format!("set({value})")]);
                it.call_back(&[format!("{value}.clear")]);
                Some(())
            });
        }
        Shape::Object => {
            if !changed.is_empty() {
                add(&|it, place| {
                    for (field, before) in &changed {
                        let field = place.field(field);
                        let copy = match shape(before) {
                            Shape::Dict => format!("dict({})", field.value),
                            Shape::List => format!("{}[:]", field.value),
                            Shape::Set => format!("set({})", field.value),
                            Shape::Object | Shape::Plain => field.value.clone(),
                        };
                        it.set_to(&field, &copy)?;
                    }
                    Some(())
                });
                add(&|it, place| {
                    changed.iter().try_for_each(|(field, _)| it.deep_copy(&place.field(field)))
                });
                add(&|it, place| it.deep_copy(&place.field("__dict__")));
            }
            add(&|it, place| it.set_to(place, &place.value));
            add(&|it, place| it.deep_copy(place));
        }
        Shape::Plain => {
            add(&|it, place| it.set_to(place, &place.value));
            add(&|it, place| it.deep_copy(place));
        }
    }
    found
}

/// What a value is, by its text.
enum Shape {
    Dict,
    List,
    Set,
    Object,
    Plain,
}

fn shape(text: &str) -> Shape {
    let is_object = text.ends_with(')') && text.find('(').is_some_and(|at| at > 0);
    match text.as_bytes().first() {
        Some(b'[') => Shape::List,
        Some(b'{') if text == "{}" || text.contains(':') => Shape::Dict,
        Some(b'{') => Shape::Set,
        _ if text == "set()" => Shape::Set,
        // A subclass of a container shows what it holds.
        _ if is_object && text.contains("({") && text.ends_with("})") => Shape::Dict,
        _ if is_object && text.contains("([") && text.ends_with("])") => Shape::List,
        _ if is_object => Shape::Object,
        _ => Shape::Plain,
    }
}

/// The fields of an object that are not as before, with their texts before.
pub(crate) fn changed_fields(before: &str, after: &str) -> Vec<(String, String)> {
    let (before, after) = (fields(before), fields(after));
    let is_changed = |(name, value): &&(String, String)| {
        after.iter().any(|(other, now)| other == name && now != value)
    };
    before.iter().filter(is_changed).cloned().collect()
}

/// The fields that the text of an object shows.
fn fields(text: &str) -> Vec<(String, String)> {
    let inside = text.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    let Some(inside) = inside else { return Vec::new() };
    let (mut depth, mut quote, mut begin) = (0_i32, None, 0);
    let mut parts = Vec::new();
    for (at, character) in inside.char_indices() {
        match (character, quote) {
            (it, Some(open)) if it == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) => quote = Some(character),
            ('(' | '[' | '{', None) => depth += 1,
            (')' | ']' | '}', None) => depth -= 1,
            (',', None) if depth == 0 => {
                parts.push(&inside[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[begin..]);
    let field = |part: &str| {
        let (name, value) = part.trim().split_once('=')?;
        is_dotted_name(name).then(|| (name.to_owned(), value.to_owned()))
    };
    parts.into_iter().filter_map(field).collect()
}

/// Writes an addition in the idiom of a framework.
struct Writer<'f> {
    names: Names<'f>,
    style: Style,
    written: Addition,
}

impl<'f> Writer<'f> {
    fn new(file: &'f PythonFile, style: Style) -> Self {
        Self { names: Names::new(file), style, written: Addition::default() }
    }

    fn addition(self) -> Addition {
        let mut written = self.written;
        written.imports.extend(self.names.needed());
        written
    }

    fn fixture(&mut self, name: &str) {
        if !self.written.fixtures.iter().any(|it| it == name) {
            self.written.fixtures.push(name.to_owned());
        }
    }

    /// The attribute is this while the test runs, and what it was afterwards.
    fn set_to(&mut self, place: &Place, value: &str) -> Option<()> {
        self.set_back(&place.owner, &place.attribute, value);
        Some(())
    }

    fn set_back(&mut self, owner: &str, attribute: &str, value: &str) {
        let statement = match self.style {
            Style::Unittest => {
                format!("self.addCleanup(setattr, {owner}, \"{attribute}\", {value})")
            }
            Style::Pytest | Style::Unknown => {
                self.fixture("monkeypatch");
                format!("monkeypatch.setattr({owner}, \"{attribute}\", {value})")
            }
        };
        self.written.statements.push(statement);
    }

    fn deep_copy(&mut self, place: &Place) -> Option<()> {
        let copy = self.names.module("copy");
        self.set_to(place, &format!("{copy}.deepcopy({})", place.value))
    }

    /// The dictionary holds copies of what it held after the test, and is still the same one.
    fn fill_again(&mut self, place: &Place) -> Option<()> {
        let copy = format!("{}.deepcopy({})", self.names.module("copy"), place.value);
        self.call_back(&[format!("{}.update", place.value), copy]);
        // What is called back last is called first.
        self.call_back(&[format!("{}.clear", place.value)]);
        Some(())
    }

    /// The attribute is not there after the test.
    fn take_away(&mut self, place: &Place) -> Option<()> {
        let Place { owner, attribute, .. } = place;
        match self.style {
            Style::Unittest => {
                let call = ["delattr".to_owned(), owner.clone(), format!("\"{attribute}\"")];
                self.call_back(&call);
            }
            Style::Pytest | Style::Unknown => {
                self.fixture("monkeypatch");
                let set =
                    format!("monkeypatch.setattr({owner}, \"{attribute}\", None, raising=False)");
                let delete = format!("monkeypatch.delattr({owner}, \"{attribute}\")");
                self.written.statements.extend([set, delete]);
            }
        }
        Some(())
    }

    /// Call something after the test: the function, and its arguments as they are now.
    fn call_back(&mut self, call: &[String]) {
        let arguments = call.join(", ");
        let statement = match self.style {
            Style::Unittest => format!("self.addCleanup({arguments})"),
            Style::Pytest | Style::Unknown => {
                self.fixture("request");
                let functools = self.names.module("functools");
                format!("request.addfinalizer({functools}.partial({arguments}))")
            }
        };
        self.written.statements.push(statement);
    }

    fn patch_dict(&mut self, module: &str, attribute: &str) -> Option<()> {
        let value = format!("{}.{attribute}", self.names.module(module));
        self.decorate_with_patch_dict(&value)
    }

    fn decorate_with_patch_dict(&mut self, value: &str) -> Option<()> {
        let mock = self.names.mock();
        self.written.decorators.push(format!("@{mock}.patch.dict({value})"));
        Some(())
    }

    /// One variable of the environment is as before after the test.
    fn put_back_variable(&mut self, name: &str, was_set: bool) -> Option<()> {
        let os = self.names.module("os");
        match (self.style, was_set) {
            (Style::Unittest, true) => {
                let set = format!("{os}.environ.__setitem__");
                self.call_back(&[set, format!("\"{name}\""), format!("{os}.environ[\"{name}\"]")]);
            }
            (Style::Unittest, false) => {
                let pop = format!("{os}.environ.pop");
                self.call_back(&[pop, format!("\"{name}\""), "None".to_owned()]);
            }
            (_, true) => {
                self.fixture("monkeypatch");
                let set = format!("monkeypatch.setenv(\"{name}\", {os}.environ[\"{name}\"])");
                self.written.statements.push(set);
            }
            (_, false) => {
                self.fixture("monkeypatch");
                let set = format!("monkeypatch.setenv(\"{name}\", \"\")");
                let delete = format!("monkeypatch.delenv(\"{name}\")");
                self.written.statements.extend([set, delete]);
            }
        }
        Some(())
    }

    fn go_back(&mut self) -> Option<()> {
        match self.style {
            Style::Unittest => {
                let os = self.names.module("os");
                self.call_back(&[format!("{os}.chdir"), format!("{os}.getcwd()")]);
            }
            Style::Pytest | Style::Unknown => {
                self.fixture("monkeypatch");
                self.written.statements.push("monkeypatch.chdir(\".\")".to_owned());
            }
        }
        Some(())
    }

    /// Level, handlers and switches of a logger, as far as they changed.
    fn put_back_logger(&mut self, thing: &LeftBehind) -> Option<()> {
        let logging = self.names.module("logging");
        let logger = match thing.name.as_str() {
            "root" => format!("{logging}.getLogger()"),
            "all loggers" => {
                let level = format!("{logging}.root.manager.disable");
                self.call_back(&[format!("{logging}.disable"), level]);
                return Some(());
            }
            name => format!("{logging}.getLogger(\"{name}\")"),
        };
        let part = |text: &Option<String>, begin: &str| {
            let parts = text.as_deref().unwrap_or_default().split("; ");
            parts.filter(|it| it.starts_with(begin)).map(str::to_owned).next()
        };
        let differs = |begin: &str| part(&thing.before, begin) != part(&thing.after, begin);
        if differs("level") {
            self.call_back(&[format!("{logger}.setLevel"), format!("{logger}.level")]);
        }
        if differs("handlers") {
            self.set_back(&logger, "handlers", &format!("{logger}.handlers[:]"));
        }
        if differs("disabled") {
            self.set_back(&logger, "disabled", &format!("{logger}.disabled"));
        }
        if differs("does not propagate") {
            self.set_back(&logger, "propagate", &format!("{logger}.propagate"));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(kind: LeftKind, name: &str, before: Option<&str>, after: Option<&str>) -> LeftBehind {
        LeftBehind {
            kind,
            name: name.into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    fn first(thing: &LeftBehind, text: &str, test: &str) -> String {
        let file = PythonFile::parse("tests/test_shop.py", text).unwrap();
        let test = file.test(&test.into()).unwrap();
        let surround =
            Surround { modules: ["shop", "shop.cart", "test_shop"].map(str::to_owned).into() };
        let forms = restores(thing, &file, &test, &surround);
        file.with(&[(test, forms.into_iter().next().unwrap())]).unwrap()
    }

    #[test]
    fn an_attribute_is_put_back_in_the_idiom_of_its_test() {
        let thing = left(LeftKind::Attribute, "shop.cart.ITEMS", Some("[]"), Some("[3]"));
        let text = "import shop.cart\n\n\ndef test_a():\n    shop.cart.add(3)\n";
        assert_eq!(
            first(&thing, text, "tests/test_shop.py::test_a"),
            "import shop.cart\n\n\ndef test_a(monkeypatch):\n    \
             monkeypatch.setattr(shop.cart, \"ITEMS\", shop.cart.ITEMS[:])\n    shop.cart.add(3)\n"
        );
        let text = "from unittest import TestCase\n\nfrom shop import cart\n\n\n\
                    class TestA(TestCase):\n    def test_a(self):\n        cart.add(3)\n";
        assert!(
            first(&thing, text, "tests/test_shop.py::TestA::test_a")
                .contains("        self.addCleanup(setattr, cart, \"ITEMS\", cart.ITEMS[:])\n")
        );
    }

    #[test]
    fn dictionaries_and_the_environment_are_put_back_in_place() {
        let thing = left(LeftKind::Attribute, "test_shop.KNOWN", Some("{}"), Some("{1: 2}"));
        let text = "KNOWN = {}\n\n\ndef test_a():\n    KNOWN[1] = 2\n";
        let patched = first(&thing, text, "tests/test_shop.py::test_a");
        assert!(patched.contains("@mock.patch.dict(KNOWN)\ndef test_a():"), "{patched}");
        let thing = left(LeftKind::Variable, "TOKEN", None, Some("\"x\""));
        let text = "import os\n\n\ndef test_a():\n    os.environ['TOKEN'] = 'x'\n";
        assert_eq!(
            first(&thing, text, "tests/test_shop.py::test_a"),
            "import os\n\n\ndef test_a(monkeypatch):\n    monkeypatch.setenv('TOKEN', 'x')\n"
        );
    }

    #[test]
    fn only_the_fields_that_changed_are_put_back() {
        let (before, after) = ("Shop(items=[], name='a, b')", "Shop(items=[1], name='a, b')");
        assert_eq!(changed_fields(before, after), [("items".to_owned(), "[]".to_owned())]);
        let thing = left(LeftKind::Attribute, "shop.SHOP", Some(before), Some(after));
        let text = "import shop\n\n\ndef test_a():\n    shop.SHOP.add(1)\n";
        assert!(
            first(&thing, text, "tests/test_shop.py::test_a")
                .contains("monkeypatch.setattr(shop.SHOP, \"items\", shop.SHOP.items[:])")
        );
    }
}
