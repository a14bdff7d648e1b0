//! What is known of a test, and the texts that are made of it.

use std::path::Path;

use regex::Regex;

use super::profile::{Escape, Profile};
use crate::reports::ReportedTest;

/// The names of all fields, as placeholders have them.
const NAMES: [&str; 6] = ["file", "class", "suite", "name", "title", "id"];

/// What is known of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) file: String,
    pub(super) class: String,
    pub(super) suite: String,
    pub(super) name: String,
    /// Class and name, as people read them.
    pub(super) title: String,
    /// The runner's own id.
    pub(super) id: String,
}

impl Fields {
    /// What a report tells of a test; files inside of the folder are relative to it.
    pub(super) fn of(test: &ReportedTest, profile: &Profile, folder: &Path) -> Self {
        let name = match &profile.parts_after {
            Some(mark) => test.name.split(mark.as_str()).next().unwrap_or(&test.name),
            None => &test.name,
        };
        let title = match test.class.is_empty() {
            true => name.to_owned(),
            false => format!("{} > {name}", test.class),
        };
        Self {
            file: test.file.as_deref().map(|file| relative(file, folder)).unwrap_or_default(),
            class: test.class.clone(),
            suite: test.suite.clone(),
            name: name.to_owned(),
            title,
            id: test.id.clone().unwrap_or_default(),
        }
    }

    /// What an id tells of a test, by the template that ids are made with.
    pub(super) fn of_id(id: &str, template: &str) -> Self {
        let mut fields = Self { name: id.to_owned(), title: id.to_owned(), ..Self::default() };
        let mut pattern = format!("^{}$", regex::escape(template));
        for name in NAMES {
            // A field that occurs twice would be two groups of one name.
            pattern = pattern.replacen(&format!("\\{{{name}\\}}"), &format!("(?<{name}>.*?)"), 1);
        }
        let found = Regex::new(&pattern).ok().and_then(|pattern| {
            let captures = pattern.captures(id)?;
            let part = |name| captures.name(name).map(|part| part.as_str().to_owned());
            Some(NAMES.map(part))
        });
        if let Some([file, class, suite, name, title, own]) = found {
            fields = Self {
                file: file.unwrap_or_default(),
                class: class.unwrap_or_default(),
                suite: suite.unwrap_or_default(),
                name: name.or_else(|| title.clone()).unwrap_or_else(|| id.to_owned()),
                title: title.unwrap_or_else(|| id.to_owned()),
                id: own.unwrap_or_default(),
            };
        }
        fields
    }

    /// The id that a template makes of them.
    pub(super) fn test_id(&self, template: &str) -> String {
        self.filled(template, Escape::None, "")
    }

    /// A template with the fields in it.
    pub(super) fn filled(&self, template: &str, escape: Escape, test: &str) -> String {
        let full = self.title.replace(" > ", " ");
        let values: [(&str, &str); 10] = [
            ("file", &self.file),
            ("class", &self.class),
            ("suite", &self.suite),
            ("name", &self.name),
            ("title", &self.title),
            ("id", &self.id),
            ("full", &full),
            ("levels", &self.title),
            ("either", &full),
            ("test", test),
        ];
        let mut text = String::with_capacity(template.len() + 40);
        let mut rest = template;
        'places: while let Some(at) = rest.find('{') {
            text.push_str(&rest[..at]);
            rest = &rest[at..];
            for (name, value) in values {
                let after = rest[1..].strip_prefix(name).and_then(|it| it.strip_prefix('}'));
                if let Some(after) = after {
                    match escape {
                        Escape::Regex if name == "levels" => {
                            let levels: Vec<String> =
                                value.split(" > ").map(regex::escape).collect();
                            text.push_str(&levels.join("|"));
                        }
                        Escape::Regex if name == "either" && full != self.name => {
                            let names = [&full, &self.name].map(|name| regex::escape(name));
                            text.push_str(&names.join("|"));
                        }
                        Escape::None => text.push_str(value),
                        Escape::Regex => text.push_str(&regex::escape(value)),
                    }
                    rest = after;
                    continue 'places;
                }
            }
            text.push('{');
            rest = &rest[1..];
        }
        text + rest
    }
}

fn relative(file: &str, folder: &Path) -> String {
    let path = Path::new(file);
    let inside = path.strip_prefix(folder).ok().map(Path::to_path_buf).or_else(|| {
        let folder = folder.canonicalize().ok()?;
        path.strip_prefix(folder).ok().map(Path::to_path_buf)
    });
    inside.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_and_its_fields_belong_together() {
        let fields = Fields::of_id("spec/a.js::adds", "{file}::{name}");
        assert_eq!((&*fields.file, &*fields.name), ("spec/a.js", "adds"));
        assert_eq!(fields.test_id("{file}::{name}"), "spec/a.js::adds");
        let other = Fields::of_id("com.acme.Foo#bar", "{class}#{name}");
        assert_eq!((&*other.class, &*other.name), ("com.acme.Foo", "bar"));
        assert_eq!(Fields::of_id("plain", "{class}#{name}").name, "plain");
    }

    #[test]
    fn a_test_is_asked_for_by_its_whole_title_or_by_its_name() {
        let inner = Fields {
            title: "outer > adds 1+1".into(),
            name: "adds 1+1".into(),
            ..Fields::default()
        };
        let filled = inner.filled("{either}", Escape::Regex, "");
        assert_eq!(filled, r"outer adds 1\+1|adds 1\+1");
        let top = Fields { title: "adds".into(), name: "adds".into(), ..Fields::default() };
        assert_eq!(top.filled("{either}", Escape::Regex, ""), "adds");
    }

    #[test]
    fn only_known_placeholders_are_filled() {
        let fields = Fields { name: "a.b".into(), ..Fields::default() };
        assert_eq!(fields.filled("^{name}$ {print} {", Escape::Regex, ""), r"^a\.b$ {print} {");
        let tricky = Fields { name: "{class}".into(), class: "C".into(), ..Fields::default() };
        assert_eq!(tricky.filled("{name}", Escape::None, ""), "{class}");
    }
}
