//! Put back what a test leaves behind in the JVM, in the class of the test that changes it.

use flakeproof_core::{LeftBehind, LeftKind};

use super::addition::Addition;
use super::expression::escaped;
use super::file::{JavaFile, TestMethod};
use super::imports::Names;
use super::sources::Sources;
use super::statics;

/// Static fields of the JDK: what holds one, its type, and what reads and sets it.
const OF_THE_JDK: [(&str, &str, &str, &str, &str); 10] = [
    (
        "java.net.ProxySelector.theProxySelector",
        "java.net.ProxySelector",
        "java.net.ProxySelector",
        "getDefault",
        "setDefault",
    ),
    (
        "java.net.CookieHandler.cookieHandler",
        "java.net.CookieHandler",
        "java.net.CookieHandler",
        "getDefault",
        "setDefault",
    ),
    (
        "java.net.ResponseCache.theResponseCache",
        "java.net.ResponseCache",
        "java.net.ResponseCache",
        "getDefault",
        "setDefault",
    ),
    (
        "java.net.Authenticator.theAuthenticator",
        "java.net.Authenticator",
        "java.net.Authenticator",
        "getDefault",
        "setDefault",
    ),
    (
        "java.net.HttpURLConnection.followRedirects",
        "java.net.HttpURLConnection",
        "boolean",
        "getFollowRedirects",
        "setFollowRedirects",
    ),
    (
        "java.net.URLConnection.fileNameMap",
        "java.net.URLConnection",
        "java.net.FileNameMap",
        "getFileNameMap",
        "setFileNameMap",
    ),
    (
        "javax.net.ssl.HttpsURLConnection.defaultHostnameVerifier",
        "javax.net.ssl.HttpsURLConnection",
        "javax.net.ssl.HostnameVerifier",
        "getDefaultHostnameVerifier",
        "setDefaultHostnameVerifier",
    ),
    (
        "javax.net.ssl.HttpsURLConnection.defaultSSLSocketFactory",
        "javax.net.ssl.HttpsURLConnection",
        "javax.net.ssl.SSLSocketFactory",
        "getDefaultSSLSocketFactory",
        "setDefaultSSLSocketFactory",
    ),
    (
        "java.lang.Thread.defaultUncaughtExceptionHandler",
        "java.lang.Thread",
        "java.lang.Thread$UncaughtExceptionHandler",
        "getDefaultUncaughtExceptionHandler",
        "setDefaultUncaughtExceptionHandler",
    ),
    (
        "java.sql.DriverManager.loginTimeout",
        "java.sql.DriverManager",
        "int",
        "getLoginTimeout",
        "setLoginTimeout",
    ),
];

/// The ways to put a thing back after a test, the likeliest first.
#[must_use]
pub fn restores(
    thing: &LeftBehind,
    file: &JavaFile,
    test: &TestMethod,
    sources: &Sources,
) -> Vec<Addition> {
    let form = |scope: Scope, write: &dyn Fn(&mut Writer<'_>) -> Option<()>| {
        let mut writer = Writer::new(file, scope);
        write(&mut writer)?;
        Some(writer.addition())
    };
    let scopes = Scope::of(file, test);
    let each = |write: &dyn Fn(&mut Writer<'_>) -> Option<()>| {
        scopes.iter().filter_map(|scope| form(*scope, write)).collect()
    };
    match thing.kind {
        LeftKind::SystemProperty => each(&|it| it.property(thing)),
        LeftKind::RuntimeDefault => each(&|it| it.runtime_default(&thing.name)),
        LeftKind::Logger => each(&|it| it.logger(thing)),
        LeftKind::StaticField => {
            let known = OF_THE_JDK.iter().find(|(field, ..)| *field == thing.name);
            match known {
                Some((_, holder, of_type, get, set)) => each(&|it| {
                    let holder = it.names.of_type(holder);
                    let written = match of_type.contains('.') {
                        true => it.names.of_type(of_type),
                        false => (*of_type).to_owned(),
                    };
                    it.keep_and_set(&noun(get), &written, &holder, get, set);
                    Some(())
                }),
                None => statics::restores(thing, file, test, sources, &scopes),
            }
        }
        LeftKind::Attribute
        | LeftKind::Variable
        | LeftKind::WorkingDirectory
        | LeftKind::File
        | LeftKind::SignalHandler
        | LeftKind::Thread
        | LeftKind::WarningsFilter
        | LeftKind::ImportPath
        | LeftKind::Module
        | LeftKind::Listener
        | LeftKind::Handle => Vec::new(),
    }
}

/// How long something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// From before each test until after it.
    Test,
    /// From before the set-up of the class until after its last test.
    Class,
}

impl Scope {
    /// The scopes that make a difference in a class.
    pub(crate) fn of(file: &JavaFile, test: &TestMethod) -> Vec<Self> {
        let Some((_, names)) = test.framework.annotations() else { return vec![Self::Test] };
        let Some(class) = file.class_of(test) else { return vec![Self::Test] };
        let has_set_up = file.methods(class).any(|it| file.annotation(it, names[2]).is_some());
        match has_set_up {
            true => vec![Self::Test, Self::Class],
            false => vec![Self::Test],
        }
    }
}

/// Writes an addition.
pub(crate) struct Writer<'f> {
    pub(crate) file: &'f JavaFile,
    pub(crate) names: Names<'f>,
    pub(crate) scope: Scope,
    pub(crate) written: Addition,
}

impl<'f> Writer<'f> {
    pub(crate) fn new(file: &'f JavaFile, scope: Scope) -> Self {
        Self { file, names: Names::new(file), scope, written: Addition::default() }
    }

    pub(crate) fn addition(self) -> Addition {
        let mut written = self.written;
        written.imports.extend(self.names.needed());
        written
    }

    /// Say what this is about.
    pub(crate) fn about(&mut self, noun: &str) {
        if !self.written.nouns.iter().any(|it| it == noun) {
            self.written.nouns.push(noun.to_owned());
        }
    }

    /// Keep a value as it is before; give the name under which it is kept.
    pub(crate) fn keep(&mut self, noun: &str, of_type: &str, value: &str) -> String {
        self.about(noun);
        let (word, plain) = match self.scope {
            Scope::Test => ("", format!("original{}", capital(noun))),
            Scope::Class => ("static ", format!("ORIGINAL_{}", screaming(noun))),
        };
        let numbers = (2..).map(|number| format!("{plain}{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbers);
        let name = names.find(|it| !self.file.mentions(it)).unwrap_or(plain);
        self.written.fields.push(format!("private {word}final {of_type} {name} = {value};"));
        name
    }

    /// Do something afterwards.
    pub(crate) fn after(&mut self, statement: String) {
        match self.scope {
            Scope::Test => self.written.after.push(statement),
            Scope::Class => self.written.after_class.push(statement),
        }
    }

    /// Keep what a method tells, and give it to another afterwards.
    pub(crate) fn keep_and_set(
        &mut self,
        noun: &str,
        of_type: &str,
        holder: &str,
        get: &str,
        set: &str,
    ) {
        let kept = self.keep(noun, of_type, &format!("{holder}.{get}()"));
        self.after(format!("{holder}.{set}({kept});"));
    }

    fn property(&mut self, thing: &LeftBehind) -> Option<()> {
        let name = escaped(&thing.name);
        let noun = noun(&thing.name);
        if thing.before.is_none() {
            self.about(&noun);
            self.after(format!("System.clearProperty(\"{name}\");"));
        } else {
            let kept = self.keep(&noun, "String", &format!("System.getProperty(\"{name}\")"));
            self.after(format!("System.setProperty(\"{name}\", {kept});"));
        }
        Some(())
    }

    fn runtime_default(&mut self, name: &str) -> Option<()> {
        let (noun, of_type, set) = match name {
            "locale" => ("locale", "java.util.Locale", None),
            "time zone" => ("timeZone", "java.util.TimeZone", None),
            "standard output" => ("systemOut", "java.io.PrintStream", Some(("out", "setOut"))),
            "standard error" => ("systemErr", "java.io.PrintStream", Some(("err", "setErr"))),
            _ => return None,
        };
        let of_type = self.names.of_type(of_type);
        match set {
            None => {
                let holder = of_type.clone();
                self.keep_and_set(noun, &of_type, &holder, "getDefault", "setDefault");
            }
            Some((field, set)) => {
                let kept = self.keep(noun, &of_type, &format!("System.{field}"));
                self.after(format!("System.{set}({kept});"));
            }
        }
        Some(())
    }

    /// Level, handlers and switch of a logger, as far as they changed.
    fn logger(&mut self, thing: &LeftBehind) -> Option<()> {
        let parts = |text: &Option<String>| {
            let parts = text.as_deref().unwrap_or_default().split(", ");
            parts.map(str::to_owned).collect::<Vec<String>>()
        };
        let (before, after) = (parts(&thing.before), parts(&thing.after));
        let is_root = thing.name == "root";
        if is_root && before.get(1) != after.get(1) {
            let manager = self.names.of_type("java.util.logging.LogManager");
            self.about("logging");
            self.after(format!("{manager}.getLogManager().readConfiguration();"));
            self.written.throws = true;
            return Some(());
        }
        let name = if is_root { String::new() } else { escaped(&thing.name) };
        let logger = self.names.of_type("java.util.logging.Logger");
        let logger = format!("{logger}.getLogger(\"{name}\")");
        if before.first() != after.first() {
            let level = self.names.of_type("java.util.logging.Level");
            let kept = self.keep("level", &level, &format!("{logger}.getLevel()"));
            self.after(format!("{logger}.setLevel({kept});"));
        }
        if before.get(1) != after.get(1) {
            let handler = self.names.of_type("java.util.logging.Handler");
            self.about("handlers");
            self.after(format!(
                "for ({handler} handler : {logger}.getHandlers()) {{\n    \
                 {logger}.removeHandler(handler);\n}}"
            ));
        }
        if before.get(2) != after.get(2) {
            self.about("parentHandlers");
            self.after(format!("{logger}.setUseParentHandlers({});", before.get(2).is_none()));
        }
        (!self.written.nouns.is_empty()).then_some(())
    }
}

/// A name as a part of others: `userHome` of `user.home`, `requestLimit` of `REQUEST_LIMIT`,
/// `followRedirects` of `getFollowRedirects`.
pub(crate) fn noun(name: &str) -> String {
    let plain = match name.strip_prefix("get") {
        Some(rest) if rest.starts_with(char::is_uppercase) => rest,
        _ => name,
    };
    let parts: Vec<&str> =
        plain.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let mut whole = String::new();
    for part in parts {
        let is_loud = part.chars().all(|it| !it.is_lowercase());
        let part = if is_loud { part.to_lowercase() } else { part.to_owned() };
        match whole.is_empty() {
            true => {
                let mut letters = part.chars();
                whole.extend(letters.next().into_iter().flat_map(char::to_lowercase));
                whole.push_str(letters.as_str());
            }
            false => whole.push_str(&capital(&part)),
        }
    }
    let is_name = whole.starts_with(char::is_alphabetic);
    if is_name { whole } else { format!("value{whole}") }
}

/// With a large first letter.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |it| it.to_uppercase().chain(letters).collect())
}

/// `TIME_ZONE` of `timeZone`.
fn screaming(noun: &str) -> String {
    let mut whole = String::new();
    for letter in noun.chars() {
        if letter.is_uppercase() {
            whole.push('_');
        }
        whole.extend(letter.to_uppercase());
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "package shop;\n\nimport org.junit.Test;\n\npublic class T {\n    @Test\n    \
                        public void a() {\n    }\n}\n";

    fn left(kind: LeftKind, name: &str, before: Option<&str>, after: Option<&str>) -> LeftBehind {
        LeftBehind {
            kind,
            name: name.into(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        }
    }

    fn first(thing: &LeftBehind, text: &str) -> String {
        let file = JavaFile::parse("T.java", text).unwrap();
        let test = file.test(&"shop.T#a".into()).unwrap();
        let forms = restores(thing, &file, &test, &Sources::default());
        file.with(&[(test, forms[0].clone())]).unwrap()
    }

    #[test]
    fn properties_and_defaults_are_put_back() {
        let unset = left(LeftKind::SystemProperty, "shop.mode", None, Some("\"x\""));
        let with = first(&unset, TEXT);
        assert!(
            with.contains(
                "public void restoreShopMode() {\n        System.clearProperty(\"shop.mode\");"
            ),
            "{with}"
        );
        let set = left(LeftKind::SystemProperty, "user.home", Some("\"/a\""), Some("\"/b\""));
        let with = first(&set, TEXT);
        assert!(
            with.contains(
                "private final String originalUserHome = System.getProperty(\"user.home\");"
            ),
            "{with}"
        );
        assert!(with.contains("System.setProperty(\"user.home\", originalUserHome);"), "{with}");
        let zone = left(LeftKind::RuntimeDefault, "time zone", Some("UTC"), Some("Asia/Tokyo"));
        let with = first(&zone, TEXT);
        assert!(with.contains("import java.util.TimeZone;"), "{with}");
        assert!(with.contains("TimeZone.setDefault(originalTimeZone);"), "{with}");
        let out = left(LeftKind::RuntimeDefault, "standard output", Some("as it was"), Some("x"));
        assert!(first(&out, TEXT).contains("System.setOut(originalSystemOut);"));
    }

    #[test]
    fn what_the_set_up_of_the_class_changes_is_kept_for_the_class() {
        let text = TEXT.replace(
            "    @Test",
            "    @BeforeClass\n    public static void b() {\n    }\n\n    @Test",
        );
        let zone = left(LeftKind::RuntimeDefault, "time zone", Some("UTC"), Some("Asia/Tokyo"));
        let file = JavaFile::parse("T.java", text.as_str()).unwrap();
        let test = file.test(&"shop.T#a".into()).unwrap();
        let forms = restores(&zone, &file, &test, &Sources::default());
        let with = file.with(&[(test, forms[1].clone())]).unwrap();
        assert!(with.contains("private static final TimeZone ORIGINAL_TIME_ZONE"), "{with}");
        assert!(with.contains("@AfterClass\n    public static void restoreTimeZone() {"), "{with}");
    }

    #[test]
    fn of_a_logger_only_what_changed_is_put_back() {
        let (before, after) = ("level inherited, 0 handlers", "level FINE, 0 handlers");
        let with = first(&left(LeftKind::Logger, "shop", Some(before), Some(after)), TEXT);
        assert!(with.contains("Logger.getLogger(\"shop\").setLevel(originalLevel);"), "{with}");
        let after = "level inherited, 1 handler";
        let with = first(&left(LeftKind::Logger, "shop", Some(before), Some(after)), TEXT);
        assert!(with.contains("removeHandler(handler)") && !with.contains("Level"), "{with}");
    }

    #[test]
    fn names_are_made_of_what_they_are_about() {
        assert_eq!(noun("user.home"), "userHome");
        assert_eq!(noun("REQUEST_LIMIT"), "requestLimit");
        assert_eq!(noun("getFollowRedirects"), "followRedirects");
        assert_eq!(noun("3d"), "value3d");
    }
}
