//! Put back a static field of the project: by itself where it can be seen, else by what its class offers.

use flakeproof_core::LeftBehind;

use super::addition::Addition;
use super::expression::literal;
use super::file::{JavaFile, TestMethod};
use super::fixture;
use super::restore::{Scope, Writer, noun};
use super::sources::{Method, Sources, Type, Variable};

/// The most forms that are worth a try.
const MOST: usize = 10;

/// The ways to put a static field back after a test, the likeliest first.
pub(super) fn restores(
    thing: &LeftBehind,
    file: &JavaFile,
    test: &TestMethod,
    sources: &Sources,
    scopes: &[Scope],
) -> Vec<Addition> {
    let Some((class, name)) = thing.name.rsplit_once('.') else { return Vec::new() };
    let Some(owner) = Type::find(sources, class) else { return Vec::new() };
    let Some(variable) = owner.variable(name) else { return Vec::new() };
    let mut forms = Forms { thing, file, found: Vec::new() };
    for scope in scopes {
        forms.by_itself(&owner, variable, *scope);
    }
    forms.by_a_method(&owner, variable);
    forms.by_its_object(&owner, variable, sources);
    if is_own(&owner, file, test) {
        forms.found.extend(fixture::per_test(file, test, name));
    }
    let mut found = forms.found;
    found.truncate(MOST);
    found
}

fn is_own(owner: &Type, file: &JavaFile, test: &TestMethod) -> bool {
    owner.file.path == file.path && owner.names == test.classes
}

/// Collects forms.
struct Forms<'a> {
    thing: &'a LeftBehind,
    file: &'a JavaFile,
    found: Vec<Addition>,
}

impl Forms<'_> {
    fn add(&mut self, scope: Scope, write: impl FnOnce(&mut Writer<'_>) -> Option<()>) {
        let mut writer = Writer::new(self.file, scope);
        if write(&mut writer).is_some() {
            let form = writer.addition();
            if !self.found.contains(&form) {
                self.found.push(form);
            }
        }
    }

    /// Keep it, and assign it afterwards; or what it holds, and fill it again.
    fn by_itself(&mut self, owner: &Type, variable: Variable<'_>, scope: Scope) {
        if !owner.shows(variable.node, self.file) {
            return;
        }
        let name = owner.file.part(variable.declarator, "name").to_owned();
        let was_empty = is_empty(self.thing.before.as_deref());
        let place = |it: &mut Writer<'_>| format!("{}.{name}", it.names.of_type(&owner.qualified));
        let kind = Holder::of(variable.bare_type(), variable.written_type());
        if !variable.is_final() && matches!(kind, Holder::Value) {
            self.add(scope, |it| {
                let (place, of_type) = (place(it), variable.type_for(&mut it.names)?);
                let kept = it.keep(&noun(&name), &of_type, &place);
                it.after(format!("{place} = {kept};"));
                Some(())
            });
        }
        match kind {
            Holder::Value => {}
            Holder::Atomic => self.add(scope, |it| {
                let place = place(it);
                let of_type = match variable.bare_type() {
                    "AtomicBoolean" => "boolean".to_owned(),
                    "AtomicInteger" => "int".to_owned(),
                    "AtomicLong" => "long".to_owned(),
                    _ => {
                        let whole = variable.type_for(&mut it.names)?;
                        whole.split_once('<')?.1.strip_suffix('>')?.to_owned()
                    }
                };
                let kept = it.keep(&noun(&name), &of_type, &format!("{place}.get()"));
                it.after(format!("{place}.set({kept});"));
                Some(())
            }),
            Holder::Array => self.add(scope, |it| {
                let (place, of_type) = (place(it), variable.type_for(&mut it.names)?);
                let kept = it.keep(&noun(&name), &of_type, &format!("{place}.clone()"));
                it.after(format!("System.arraycopy({kept}, 0, {place}, 0, {kept}.length);"));
                Some(())
            }),
            Holder::Container { copy, fill } => {
                if was_empty {
                    self.add(scope, |it| {
                        let place = place(it);
                        it.about(&noun(&name));
                        it.after(format!("{place}.clear();"));
                        Some(())
                    });
                }
                self.add(scope, |it| {
                    let (place, of_type) = (place(it), variable.type_for(&mut it.names)?);
                    let copy = it.names.of_type(copy);
                    // What is kept must be of a type that can be copied to.
                    let of_type = match of_type.split_once('<') {
                        Some((_, parameters)) => {
                            let usual = it.names.of_type(usual_type(fill));
                            format!("{usual}<{parameters}")
                        }
                        None => it.names.of_type(usual_type(fill)),
                    };
                    let diamond = if of_type.contains('<') { "<>" } else { "" };
                    let kept =
                        it.keep(&noun(&name), &of_type, &format!("new {copy}{diamond}({place})"));
                    it.after(format!("{place}.clear();"));
                    it.after(format!("{place}.{fill}({kept});"));
                    Some(())
                });
                if !variable.is_final() {
                    self.add(scope, |it| {
                        let (place, of_type) = (place(it), variable.type_for(&mut it.names)?);
                        let kept = it.keep(&noun(&name), &of_type, &place);
                        it.after(format!("{place} = {kept};"));
                        Some(())
                    });
                }
            }
        }
    }

    /// By a method of its class that resets it, sets it, or gives it.
    fn by_a_method(&mut self, owner: &Type, variable: Variable<'_>) {
        let name = owner.file.part(variable.declarator, "name").to_owned();
        for receiver in receivers(owner, self.file) {
            let methods = owner.methods();
            let is_ours = |it: &&Method<'_>| {
                owner.shows(it.node, self.file) && (it.is_static() == receiver.is_empty())
            };
            let mut ours: Vec<Method<'_>> = methods.iter().filter(is_ours).copied().collect();
            ours.sort_by_key(|it| rank(it.name()));
            self.resets(owner, &receiver, &ours, &[name.as_str()]);
            self.sets(owner, &receiver, &ours, variable, &name);
            let was_empty = is_empty(self.thing.before.as_deref());
            let holds = Holder::of(variable.bare_type(), variable.written_type());
            let gives = ours.iter().find(|it| it.parameters().is_empty() && it.only_gives(&name));
            if let (true, Holder::Container { .. }, Some(gives)) = (was_empty, holds, gives) {
                self.add(Scope::Test, |it| {
                    let owner_name = it.names.of_type(&owner.qualified);
                    it.about(&noun(&name));
                    it.after(format!("{owner_name}{receiver}.{}().clear();", gives.name()));
                    Some(())
                });
            }
        }
    }

    /// Methods without parameters that empty one of these fields, or assign it.
    fn resets(&mut self, owner: &Type, receiver: &str, methods: &[Method<'_>], fields: &[&str]) {
        for method in methods {
            let is_reset = method.parameters().is_empty()
                && method.gives() == "void"
                && fields.iter().any(|it| method.clears(it) || method.assigns(it));
            if is_reset {
                self.add(Scope::Test, |it| {
                    let place = it.names.of_type(&owner.qualified);
                    it.about(&noun(owner.simple()));
                    it.after(format!("{place}{receiver}.{}();", method.name()));
                    it.written.throws |= method.throws();
                    Some(())
                });
            }
        }
    }

    /// A method that sets a field: to what another one told before, or to what it began with.
    fn sets(
        &mut self,
        owner: &Type,
        receiver: &str,
        methods: &[Method<'_>],
        variable: Variable<'_>,
        name: &str,
    ) {
        let sets = methods.iter().find(|it| it.parameters().len() == 1 && it.assigns(name));
        let Some(set) = sets else { return };
        let gives = methods.iter().find(|it| it.parameters().is_empty() && it.only_gives(name));
        if let Some(get) = gives {
            self.add(Scope::Test, |it| {
                let of_type = variable.type_for(&mut it.names)?;
                let place = format!("{}{receiver}", it.names.of_type(&owner.qualified));
                it.keep_and_set(&noun(name), &of_type, &place, get.name(), set.name());
                Some(())
            });
        }
        self.add(Scope::Test, |it| {
            let value = match gives {
                // It is told above what it was.
                Some(_) => None,
                None => variable.value_for(it.file, &mut it.names),
            };
            let value = value.or_else(|| literal(self.thing.before.as_deref()?))?;
            let place = it.names.of_type(&owner.qualified);
            it.about(&noun(name));
            it.after(format!("{place}{receiver}.{}({value});", set.name()));
            it.written.throws |= set.throws();
            Some(())
        });
    }

    /// By the object that it holds, whose fields are what changed.
    fn by_its_object(&mut self, owner: &Type, variable: Variable<'_>, sources: &Sources) {
        let name = owner.file.part(variable.declarator, "name").to_owned();
        let written = variable.bare_type();
        let Some(qualified) = owner.file.qualified(written, &owner.names) else { return };
        let Some(of_object) = Type::find(sources, &qualified) else { return };
        let changed = changed_fields(
            self.thing.before.as_deref().unwrap_or_default(),
            self.thing.after.as_deref().unwrap_or_default(),
        );
        let Some(access) = access_to(owner, variable, &name, self.file) else { return };
        let fields: Vec<&str> = changed.iter().map(|(field, _)| field.as_str()).collect();
        let methods = of_object.methods();
        let is_shown = |it: &&Method<'_>| !it.is_static() && of_object.shows(it.node, self.file);
        let mut ours: Vec<Method<'_>> = methods.iter().filter(is_shown).copied().collect();
        ours.sort_by_key(|it| rank(it.name()));
        for method in &ours {
            let is_reset = method.parameters().is_empty()
                && method.gives() == "void"
                && fields.iter().any(|it| method.clears(it) || method.assigns(it));
            if is_reset {
                self.add(Scope::Test, |it| {
                    let place = it.names.of_type(&owner.qualified);
                    it.about(&noun(&name));
                    it.after(format!("{place}{access}.{}();", method.name()));
                    it.written.throws |= method.throws();
                    Some(())
                });
            }
        }
        self.add(Scope::Test, |it| {
            let place = it.names.of_type(&owner.qualified);
            for (field, before) in &changed {
                let set = ours.iter().find(|it| it.parameters().len() == 1 && it.assigns(field))?;
                let variable = of_object.variable(field)?;
                let get = ours.iter().find(|it| it.parameters().is_empty() && it.only_gives(field));
                match (get, literal(before)) {
                    (Some(get), _) => {
                        let of_type = variable.type_for(&mut it.names)?;
                        let place = format!("{place}{access}");
                        it.keep_and_set(&noun(field), &of_type, &place, get.name(), set.name());
                    }
                    (None, Some(value)) => {
                        it.about(&noun(field));
                        it.after(format!("{place}{access}.{}({value});", set.name()));
                    }
                    (None, None) => return None,
                }
            }
            (!changed.is_empty()).then_some(())
        });
    }
}

/// What stands between the name of a class and a call: nothing for static methods, and what gives an
/// instance of it: `.getInstance()`, `.INSTANCE`.
fn receivers(owner: &Type, to: &JavaFile) -> Vec<String> {
    let mut all = vec![String::new()];
    let gives_itself = |it: &Method<'_>| {
        it.is_static()
            && it.parameters().is_empty()
            && it.gives() == owner.simple()
            && owner.shows(it.node, to)
            // What makes a new one each time is no way to the one that is shared.
            && !it.of.file.text_of(it.node).contains(&format!("return new {}", owner.simple()))
    };
    let methods = owner.methods();
    let mut found: Vec<&Method<'_>> = methods.iter().filter(|it| gives_itself(it)).collect();
    found.sort_by_key(|it| !it.name().starts_with("getInstance"));
    all.extend(found.iter().map(|it| format!(".{}()", it.name())));
    if let Some(node) = owner.node() {
        for field in owner.file.members(node) {
            let is_one = field.kind() == "field_declaration"
                && owner.file.is(field, "static")
                && owner.file.part(field, "type") == owner.simple()
                && owner.shows(field, to);
            if let Some(declarator) = field.child_by_field_name("declarator").filter(|_| is_one) {
                all.push(format!(".{}", owner.file.part(declarator, "name")));
            }
        }
    }
    all
}

/// What leads from the name of a class to the object that a static field of it holds.
fn access_to(owner: &Type, variable: Variable<'_>, name: &str, to: &JavaFile) -> Option<String> {
    if owner.shows(variable.node, to) {
        return Some(format!(".{name}"));
    }
    let methods = owner.methods();
    let gives = |it: &&Method<'_>| {
        it.is_static()
            && it.parameters().is_empty()
            && it.gives() == variable.written_type()
            && owner.shows(it.node, to)
            && owner.file.text_of(it.node).contains(name)
    };
    let found = methods.iter().find(gives);
    found.map(|it| format!(".{}()", it.name()))
}

/// What a field holds.
enum Holder {
    Value,
    Atomic,
    Array,
    Container { copy: &'static str, fill: &'static str },
}

impl Holder {
    fn of(bare_type: &str, written_type: &str) -> Self {
        let last = bare_type.rsplit('.').next().unwrap_or(bare_type);
        if written_type.ends_with("[]") {
            return Self::Array;
        }
        if last.starts_with("Atomic") {
            return Self::Atomic;
        }
        let (copy, fill) = match last {
            it if it.ends_with("Properties") => ("java.util.HashMap", "putAll"),
            it if it.ends_with("Map") => ("java.util.LinkedHashMap", "putAll"),
            it if it.ends_with("Set") => ("java.util.LinkedHashSet", "addAll"),
            "Collection" | "Deque" | "Queue" | "Vector" | "Stack" => {
                ("java.util.ArrayList", "addAll")
            }
            it if it.ends_with("List") => ("java.util.ArrayList", "addAll"),
            _ => return Self::Value,
        };
        Self::Container { copy, fill }
    }
}

/// The type of a variable that keeps what a container held.
fn usual_type(fill: &str) -> &'static str {
    match fill {
        "putAll" => "java.util.Map",
        _ => "java.util.Collection",
    }
}

/// Methods that are named after putting things back come first.
fn rank(name: &str) -> u8 {
    let name = name.to_lowercase();
    let words = ["reset", "clear", "restore", "remove", "init"];
    let at = words.iter().position(|it| name.starts_with(it));
    u8::try_from(at.unwrap_or(words.len())).unwrap_or(u8::MAX)
}

/// Whether a picture shows an empty container.
fn is_empty(text: Option<&str>) -> bool {
    text.is_some_and(|it| it.ends_with(" of 0[]"))
}

/// The fields of an object that are not as before, with their texts before: `Cart[items=…, open=true]`.
fn changed_fields(before: &str, after: &str) -> Vec<(String, String)> {
    let (before, after) = (fields(before), fields(after));
    let is_changed = |(name, value): &&(String, String)| {
        after.iter().any(|(other, now)| other == name && now != value)
    };
    before.iter().filter(is_changed).cloned().collect()
}

fn fields(text: &str) -> Vec<(String, String)> {
    let Some(inside) = text.split_once('[').map(|(_, rest)| rest) else { return Vec::new() };
    let inside = inside.strip_suffix(']').unwrap_or(inside);
    let (mut depth, mut is_quoted, mut begin) = (0_i32, false, 0);
    let mut parts = Vec::new();
    for (at, character) in inside.char_indices() {
        match character {
            '"' => is_quoted = !is_quoted,
            '[' if !is_quoted => depth += 1,
            ']' if !is_quoted => depth -= 1,
            ',' if !is_quoted && depth == 0 => {
                parts.push(&inside[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inside[begin..]);
    let field = |part: &str| {
        let (name, value) = part.trim().split_once('=')?;
        let is_name = name.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$'));
        is_name.then(|| (name.to_owned(), value.to_owned()))
    };
    parts.into_iter().filter_map(field).collect()
}

#[cfg(test)]
mod tests {
    use flakeproof_core::LeftKind;

    use super::*;

    const TEXT: &str = "package shop;\n\nimport org.junit.Test;\n\npublic class T {\n    @Test\n    \
                        public void a() {\n    }\n}\n";

    /// What is done after each test in each form, in one line.
    fn forms(class: &str, field: &str, before: &str, after: &str) -> Vec<String> {
        let thing = LeftBehind {
            kind: LeftKind::StaticField,
            name: format!("lib.Shop.{field}"),
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        let source = format!("package lib;\n\nimport java.util.*;\n\n{class}\n");
        let sources = Sources::new([("src/lib/Shop.java".to_owned(), source)]);
        let file = JavaFile::parse("T.java", TEXT).unwrap();
        let test = file.test(&"shop.T#a".into()).unwrap();
        let found = restores(&thing, &file, &test, &sources, &[Scope::Test]);
        found
            .iter()
            .map(|it| [it.fields.join(" "), it.after.join(" ")].join(" ").trim().into())
            .collect()
    }

    #[test]
    fn a_field_that_can_be_seen_is_assigned() {
        let found = forms(
            "public class Shop {\n  public static String name = null;\n}",
            "name",
            "null",
            "\"x\"",
        );
        assert_eq!(
            found,
            ["private final String originalName = Shop.name; Shop.name = originalName;"]
        );
        let found = forms("public class Shop {\n  static String name;\n}", "name", "null", "\"x\"");
        assert!(found.is_empty(), "it is of another package: {found:?}");
    }

    #[test]
    fn a_container_is_emptied_or_filled_again() {
        let class = "public class Shop {\n  public static final Map<String, Integer> ALL = new HashMap<>();\n}";
        let found = forms(class, "ALL", "HashMap of 0[]", "HashMap of 1[\"a\"=1]");
        assert_eq!(found[0], "Shop.ALL.clear();");
        assert_eq!(
            found[1],
            "private final Map<String, Integer> originalAll = new LinkedHashMap<>(Shop.ALL); \
             Shop.ALL.clear(); Shop.ALL.putAll(originalAll);"
        );
    }

    #[test]
    fn a_private_field_is_put_back_by_what_its_class_offers() {
        let class = "public class Shop {\n  private static final List<String> ALL = new ArrayList<>();\n  \
                     private Shop() {}\n  public static Shop getInstance() { return Holder.ONE; }\n  public \
                     void clear() {\n    ALL.clear();\n  }\n}";
        let found = forms(class, "ALL", "ArrayList of 0[]", "ArrayList of 1[\"a\"]");
        assert_eq!(found, ["Shop.getInstance().clear();"]);
        let class = "public class Shop {\n  public interface Way { Way USUAL = null; }\n  private static Way way = \
                     Way.USUAL;\n  public static void setWay(Way other) {\n    if (other == null)\n      way = \
                     Way.USUAL;\n    else\n      way = other;\n  }\n}";
        let found = forms(class, "way", "Shop$Way$1", "T$1");
        assert_eq!(found, ["Shop.setWay(Shop.Way.USUAL);"]);
        let class = "public class Shop {\n  private static int limit = 1;\n  public static int getLimit() {\n    \
                     return limit;\n  }\n  public static void setLimit(int value) {\n    limit = value;\n  }\n}";
        let found = forms(class, "limit", "1", "2");
        let says =
            "private final int originalLimit = Shop.getLimit(); Shop.setLimit(originalLimit);";
        assert_eq!(found[0], says);
    }

    #[test]
    fn an_object_is_put_back_by_its_own_methods() {
        let class = "public class Shop {\n  private static final Shop ONE = new Shop();\n  private List<String> \
                     items = new ArrayList<>();\n  public static Shop one() { return ONE; }\n  public void \
                     reset() {\n    this.items = new ArrayList<>();\n  }\n}";
        let (before, after) =
            ("Shop[items=ArrayList of 0[]]", "Shop[items=ArrayList of 1[\"a, b\"]]");
        assert_eq!(forms(class, "ONE", before, after), ["Shop.one().reset();"]);
        let said = fields("Shop[a=\"x, y\", b=ArrayList of 2[1, 2], c=null]");
        let names: Vec<&str> = said.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
