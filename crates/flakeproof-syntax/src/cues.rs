//! What the text of a test alone says about how it may be flaky.
//!
//! Where only one method is known, no code around it can be counted. What is left are the calls it makes by
//! name, and the texts and numbers it compares with: a text with several pairs in an assertion depends on the
//! order of a map, a number of some thousand after `sleep` on the machine.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::words::{CodeToken, Comments, tokens};

/// Names that tests with one cause of flakiness use, whole and in small letters.
const CALLS: [(&str, &str); 18] = [
    ("waits for a fixed time", "sleep usleep nanosleep delay"),
    (
        "waits for others",
        "await awaittermination countdownlatch cyclicbarrier semaphore join wait awaitility \
         untilasserted",
    ),
    (
        "uses threads",
        "thread runnable callable executor executorservice executors completablefuture future \
         forkjoinpool submit newthread",
    ),
    ("asks the clock", "currenttimemillis nanotime now stopwatch"),
    (
        "handles dates",
        "date calendar localdate localdatetime instant zoneddatetime datetime timezone \
         simpledateformat gregoriancalendar",
    ),
    (
        "makes hashed collections",
        "hashmap hashset newhashmap newhashset hashmultimap newconcurrentmap concurrenthashmap toset",
    ),
    (
        "makes ordered collections",
        "linkedhashmap linkedhashset treemap treeset immutablemap immutableset immutablelist",
    ),
    (
        "turns something into text",
        "tostring valueof tojson tojsonstring writevalueasstring writevalueasbytes stringify \
         serialize marshal dump format print render tojsonobject prettyprint topretty",
    ),
    ("reads or writes JSON", "jsonobject jsonarray objectmapper gson json jsonnode parseobject"),
    ("goes through a collection", "keyset entryset values iterator next foreach stream keys"),
    (
        "asks for members by reflection",
        "getdeclaredfields getdeclaredmethods getdeclaredconstructors getmethods getfields \
         getconstructors getannotations getdeclaredclasses",
    ),
    ("compares", "assertequals isequalto equalto assertarrayequals hastostring assertsame"),
    ("compares a sequence", "containsexactly containssequence contains iscontainedin"),
    ("compares without order", "containsinanyorder containsexactlyinanyorder containsonly hasitem"),
    ("asserts a truth", "asserttrue assertfalse istrue isfalse assertnotnull isnotnull"),
    (
        "changes the process",
        "setproperty clearproperty setout seterr setdefault settimezone getproperty getenv",
    ),
    ("uses one instance for all", "getinstance instance getdefault singleton"),
    ("draws by chance", "random randomuuid shuffle nextint nextlong securerandom"),
];

/// What the texts and numbers of a test say.
const LITERALS: [&str; 12] = [
    "the longest text",
    "all texts",
    "texts",
    "the most pairs in a text",
    "the most commas in a text",
    "the most marks of XML in a text",
    "the most parameters in a text",
    "the longest text in an assertion",
    "the most pairs in a text of an assertion",
    "the largest number",
    "numbers above a hundred",
    "numbers that could be ports",
];

/// What else is counted.
const OTHERS: [&str; 3] =
    ["the first of a collection", "calls that set something of a class", "tokens"];

/// What the numbers of [`numbers`] mean, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    CALLS.iter().map(|(name, _)| *name).chain(LITERALS).chain(OTHERS)
}

/// The numbers of the text of a test: logarithms of counts.
#[must_use]
pub fn numbers(source: &str, comments: Comments) -> Vec<f32> {
    let mut cues = Cues::default();
    tokens(source, comments).for_each(|token| cues.see(token));
    let counts = cues.calls.into_iter().chain(cues.literals).chain(cues.others);
    counts.map(f32::ln_1p).collect()
}

/// The place of a name in [`CALLS`].
fn call_of(name: &str) -> Option<usize> {
    static BY_NAME: OnceLock<FxHashMap<&'static str, usize>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let named = CALLS.iter().enumerate();
        named
            .flat_map(|(at, (_, names))| names.split_whitespace().map(move |it| (it, at)))
            .collect()
    });
    by_name.get(name.to_ascii_lowercase().as_str()).copied()
}

/// Beginnings of methods that change what a class keeps for all.
const SETTING: [&str; 9] =
    ["set", "reset", "clear", "register", "init", "add", "remove", "enable", "disable"];

#[derive(Debug, Default)]
struct Cues<'s> {
    calls: [f32; CALLS.len()],
    literals: [f32; LITERALS.len()],
    others: [f32; OTHERS.len()],
    /// The tokens before, the last one last.
    before: [Option<CodeToken<'s>>; 3],
    /// Whether the statement asserts something.
    asserts: bool,
}

impl<'s> Cues<'s> {
    fn see(&mut self, token: CodeToken<'s>) {
        self.others[2] += 1.0;
        match token {
            CodeToken::Name(name) => self.see_name(name),
            CodeToken::Text(text) => self.see_text(text),
            CodeToken::Number(number) => self.see_number(number),
            CodeToken::Symbol(';' | '{' | '}') => self.asserts = false,
            CodeToken::Symbol(_) => {}
        }
        self.before.rotate_left(1);
        self.before[2] = Some(token);
    }

    fn see_name(&mut self, name: &str) {
        self.asserts |= name.starts_with("assert") || name == "expect" || name == "isEqualTo";
        if let Some(call) = call_of(name) {
            self.calls[call] += 1.0;
        }
        if let [_, Some(CodeToken::Name(owner)), Some(CodeToken::Symbol('.'))] = self.before {
            let is_class = owner.starts_with(|c: char| c.is_uppercase());
            if is_class && SETTING.iter().any(|it| name.starts_with(it)) {
                self.others[1] += 1.0;
            }
        }
        self.others[0] += f32::from(u8::from(matches!(name, "getFirst" | "findFirst")));
    }

    fn see_text(&mut self, text: &str) {
        let pairs = marks(text, |before, c| {
            matches!(c, ':' | '=') && (before.is_alphanumeric() || matches!(before, '"' | '\''))
        });
        let commas = marks(text, |_, c| c == ',');
        let tags = marks(text, |_, c| c == '<');
        let parameters = marks(text, |_, c| c == '&');
        let length = short(text.len());
        let most = |kept: &mut f32, new: f32| *kept = kept.max(new);
        most(&mut self.literals[0], length);
        self.literals[1] += length;
        self.literals[2] += 1.0;
        most(&mut self.literals[3], pairs);
        most(&mut self.literals[4], commas);
        most(&mut self.literals[5], tags);
        most(&mut self.literals[6], parameters);
        if self.asserts {
            most(&mut self.literals[7], length);
            most(&mut self.literals[8], pairs);
        }
    }

    fn see_number(&mut self, number: &str) {
        let digits: String =
            number.chars().take_while(|c| c.is_ascii_digit() || *c == '_').collect();
        let Ok(value) = digits.replace('_', "").parse::<u32>() else { return };
        let value = value.min(100_000_000);
        #[expect(clippy::cast_precision_loss, reason = "only its size matters")]
        let size = value as f32;
        self.literals[9] = self.literals[9].max(size);
        self.literals[10] += f32::from(u8::from(value >= 100));
        self.literals[11] += f32::from(u8::from((1024..65536).contains(&value)));
        let [_, Some(CodeToken::Name("get")), Some(CodeToken::Symbol('('))] = self.before else {
            return;
        };
        self.others[0] += f32::from(u8::from(value == 0));
    }
}

/// How many characters of a text are marks, given the one before.
fn marks(text: &str, is_mark: impl Fn(char, char) -> bool) -> f32 {
    let mut before = ' ';
    let mut count = 0;
    for c in text.chars() {
        count += usize::from(is_mark(before, c));
        before = c;
    }
    short(count)
}

#[expect(clippy::cast_precision_loss, reason = "only its size matters")]
fn short(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(source: &str, name: &str) -> f32 {
        let at = names().position(|it| it == name).expect("it is counted");
        numbers(source, Comments::Slashes)[at]
    }

    #[test]
    fn a_text_with_pairs_counts_more_in_an_assertion() {
        let compared = "assertEquals(\"{\\\"a\\\":1,\\\"b\\\":2}\", it.toString());";
        let made = "it = parse(\"{\\\"a\\\":1,\\\"b\\\":2}\"); assertTrue(it.isEmpty());";
        let pairs = "the most pairs in a text of an assertion";
        assert!(of(compared, pairs) > 1.0 && of(made, pairs) == 0.0);
        assert_eq!(of(compared, "turns something into text"), 1.0_f32.ln_1p());
    }

    #[test]
    fn every_cue_has_a_name_and_a_comment_is_none() {
        assert_eq!(numbers("", Comments::Slashes).len(), names().count());
        assert_eq!(of("// Thread.sleep(5000)", "waits for a fixed time"), 0.0);
        assert!(of("Thread.sleep(5000);", "the largest number") > 8.0);
        assert!(
            of("Config.setMode(1); config.setMode(1);", "calls that set something of a class")
                < 0.7
        );
    }
}
