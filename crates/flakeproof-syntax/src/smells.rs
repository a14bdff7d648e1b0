//! What makes tests flaky, counted in the code around a test.
//!
//! A [`Smell`] is a family of words that code with one cause of flakiness is made of: threads,
//! sockets, time. A [`SmellReader`] counts them in [`Circle`]s around a test: in itself, in what
//! runs with it, in its file, in the code it calls and in the files that those mention. The smells
//! of FlakeFlagger (Alshammari et al., ICSE 2021) need a type checker or a run of the test; these
//! need the text alone, and are the same for all languages.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::Declared;
use crate::project::{ProjectIndex, ReachLimits};
use crate::words::{CodeToken, Comments, parts, tokens};

macro_rules! smells {
    ($($(#[doc = $doc:literal])+ $smell:ident $name:literal: $words:literal;)+) => {
        /// A family of words that flaky code is made of.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Smell {
            $($(#[doc = $doc])+ $smell,)+
        }

        impl Smell {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$smell),+];

            /// What people call it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$smell => $name,)+
                }
            }

            /// The words of the family, in small letters.
            fn words(self) -> impl Iterator<Item = &'static str> {
                let words = match self {
                    $(Self::$smell => $words,)+
                };
                words.split_ascii_whitespace()
            }
        }
    };
}

smells! {
    /// It waits for a while and hopes.
    Sleep "sleeps": "sleep sleeps usleep nanosleep delay pause";
    /// It starts threads.
    Threads "threads": "thread threads threading runnable spawn goroutine worker workers";
    /// It hands work to a pool.
    Executors "pools of threads": "executor executors future futures completable scheduled scheduler \
        submit pool forkjoin timer";
    /// It waits until something happens.
    Waiting "waits for others": "await awaitility latch barrier semaphore join wait waits notify \
        condition poll until block blocking";
    /// It shares state between threads.
    Sharing "shared between threads": "synchronized volatile atomic lock locks mutex rwlock \
        concurrent race";
    /// It opens sockets and ports.
    Sockets "sockets": "socket sockets port ports inet datagram selector channel localhost bind \
        listen address";
    /// It speaks HTTP.
    Http "HTTP": "http https url uri request response rest fetch";
    /// It starts a server or a cluster.
    Servers "servers": "server servers tomcat jetty netty undertow cluster embedded daemon container \
        broker mini node master";
    /// It looks at the clock.
    Time "time": "time millis nano nanos date datetime calendar clock instant duration elapsed now \
        today timestamp seconds";
    /// It gives up after a while.
    Timeouts "time limits": "timeout timeouts deadline expire expired expires expiry ttl heartbeat \
        retry retries";
    /// It draws by chance.
    Chance "chance": "random rand uuid shuffle seed secure";
    /// It reads or writes files.
    Files "files": "file files path paths directory folder temp temporary tmp mkdir mkdirs delete \
        disk fs filesystem";
    /// It speaks to a database.
    Databases "databases": "database jdbc sql connection session transaction cassandra hibernate \
        entity table keyspace repository dao query";
    /// It starts processes.
    Processes "processes": "process exec runtime subprocess shell command popen";
    /// It depends on the machine.
    Environment "environment": "property properties env environ environment locale zone timezone os \
        platform system";
    /// It keeps state for others to find.
    GlobalState "global state": "static instance singleton global reset registry cache";
    /// It depends on the order of what has none.
    Unordered "unordered collections": "hash hashmap hashset dict keys entries reflection declared \
        fields methods unordered";
    /// It replaces parts of the world.
    Mocks "mocks": "mock mocks mockito easymock powermock jmock spy stub fake verify when";
    /// It looks at what was logged or printed.
    Logs "logs": "log logger logging logback appender stdout stderr out console";
    /// It starts a container of objects.
    Injection "containers of objects": "context spring bean beans autowired inject injector \
        application configuration deployment deploy arquillian";
    /// It keeps several machines in step.
    Coordination "coordination": "zookeeper zk curator leader election quorum replica replication \
        distributed region";
    /// It sends and receives messages.
    Messages "messages": "message messages queue topic publish publisher subscribe subscriber kafka \
        consumer producer mail";
    /// It is told later.
    Callbacks "callbacks": "async asynchronous callback listener event events handler observable \
        promise then emit";
    /// It tidies up.
    Closing "closing": "close closed shutdown stop stopped destroy dispose teardown cleanup clear \
        disconnect";
    /// It begins what goes on beside it.
    Starting "starting": "start started run launch boot init initialize open connect connected";
    /// It loads classes or resources.
    Loading "loading": "loader classloader resource resources load reflect accessible proxy";
    /// It depends on memory and its collector.
    Memory "memory": "gc weak soft phantom finalize memory heap buffer leak";
    /// It measures how fast something is.
    Speed "speed": "performance benchmark throughput latency fast slow speed load";
    /// It repeats.
    Loops "loops": "for while loop repeat";
    /// It decides.
    Branches "branches": "if else switch case match";
    /// It expects trouble.
    Exceptions "exceptions": "try catch except finally throw throws raise exception error expected \
        rescue";
    /// It compares.
    Assertions "assertions": "assert asserts fail expect should that equal equals";
    /// It makes new objects.
    Creations "new objects": "new create make build builder factory";
    /// It compares numbers that are not exact.
    Floats "inexact numbers": "float double tolerance epsilon approx round delta";
    /// It does not run everywhere.
    Skips "skips": "ignore ignored disabled skip assume flaky";
}

impl Smell {
    /// The smells of a word in small letters.
    fn of_word(word: &str) -> &'static [Self] {
        static BY_WORD: OnceLock<FxHashMap<&'static str, Vec<Smell>>> = OnceLock::new();
        let by_word = BY_WORD.get_or_init(|| {
            let mut by_word: FxHashMap<&'static str, Vec<Self>> = FxHashMap::default();
            for smell in Self::ALL {
                for word in smell.words() {
                    by_word.entry(word).or_default().push(*smell);
                }
            }
            by_word
        });
        by_word.get(word).map_or(&[], Vec::as_slice)
    }
}

/// A circle of code around a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Circle {
    /// The test itself.
    Test,
    /// What runs with it in the test code: set-up, tear-down, fixtures, helpers.
    Helpers,
    /// The file it stands in.
    File,
    /// The files of the classes its class is derived from.
    Bases,
    /// The functions of the code under test that it calls itself.
    Called,
    /// The functions that those call, and so on.
    Reached,
    /// The files of the classes that the test's text names.
    Named,
    /// The files that its file and its bases mention.
    Mentioned,
    /// The files that those mention.
    Beyond,
}

impl Circle {
    /// All of them, from the inside to the outside.
    pub const ALL: [Self; 9] = [
        Self::Test,
        Self::Helpers,
        Self::File,
        Self::Bases,
        Self::Called,
        Self::Reached,
        Self::Named,
        Self::Mentioned,
        Self::Beyond,
    ];

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Test => "in the test",
            Self::Helpers => "in its helpers",
            Self::File => "in its file",
            Self::Bases => "in its base classes",
            Self::Called => "in the code it calls",
            Self::Reached => "in the code that is called from there",
            Self::Named => "in the classes it names",
            Self::Mentioned => "in the classes its file mentions",
            Self::Beyond => "in the classes those mention",
        }
    }
}

/// Files further out than these many are not looked at.
const MOST_NAMED: usize = 20;
const MOST_MENTIONED: usize = 120;
const MOST_BEYOND: usize = 400;

/// The most bytes of a word in a family.
const LONGEST_WORD: usize = 16;

/// Counts smells around the tests of a project. What it finds out about a file it keeps.
#[derive(Debug)]
pub struct SmellReader<'p> {
    project: &'p ProjectIndex,
    files: Vec<OnceLock<File>>,
    /// Of each function of each file: most are reached by many tests.
    functions: Vec<Vec<OnceLock<Counts>>>,
    /// The outer circles, which the tests of a file with the same base classes share.
    outer: Vec<Mutex<Vec<OuterOfBases>>>,
}

/// Which files and functions are in the circles that words are taken of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestWords {
    /// The test and what runs with it.
    pub test: Vec<Declared>,
    /// The file it stands in, by its place in the project.
    pub file: Option<u32>,
    /// The files of its base classes.
    pub bases: Vec<u32>,
    /// The files of the classes that its text names.
    pub named: Vec<u32>,
}

impl<'p> SmellReader<'p> {
    /// A reader of this project.
    #[must_use]
    pub fn new(project: &'p ProjectIndex) -> Self {
        let files = project.units().iter().map(|_| OnceLock::new()).collect();
        let outer = project.units().iter().map(|_| Mutex::default()).collect();
        let functions = project
            .units()
            .iter()
            .map(|unit| unit.functions.iter().map(|_| OnceLock::new()).collect())
            .collect();
        Self { project, files, functions, outer }
    }

    /// What the numbers of a test mean, in their order.
    #[must_use]
    pub fn names() -> Vec<String> {
        let counted = Circle::ALL.iter().flat_map(|circle| {
            let smells = Smell::ALL.iter().map(|smell| smell.name());
            smells.chain(["words"]).map(move |what| format!("{what} {}", circle.name()))
        });
        let sizes = ["files its file mentions", "files those mention", "functions it reaches"];
        counted.chain(sizes.map(str::to_owned)).collect()
    }

    /// The numbers of a test, as it runs in a class: its own, or one that inherits it.
    #[must_use]
    pub fn numbers(&self, test: Declared, class: Option<&str>) -> Vec<f32> {
        let place = self.words(test, class);
        let mut circles: Vec<Counts> = vec![Counts::default(); Circle::ALL.len()];
        let mut add = |circle: Circle, counts: &Counts| circles[circle as usize].add(counts);
        add(Circle::Test, self.of_function(test));
        let reached = self.project.reach_of_test(test, class, ReachLimits::default());
        for it in reached.iter().filter(|it| it.function != test) {
            let circle = match it.hops {
                _ if self.project.is_test_code(it.function) => Circle::Helpers,
                0 | 1 => Circle::Called,
                _ => Circle::Reached,
            };
            add(circle, self.of_function(it.function));
        }
        for (circle, files) in [(Circle::Bases, &place.bases), (Circle::Named, &place.named)] {
            files.iter().for_each(|unit| add(circle, &self.file(*unit).counts));
        }
        let mut sizes = [0.0; 2];
        if let Some(unit) = place.file {
            add(Circle::File, &self.file(unit).counts);
            let outer = self.outer(unit, &place.bases);
            add(Circle::Mentioned, &outer.mentioned);
            add(Circle::Beyond, &outer.beyond);
            sizes = outer.sizes;
        }
        let numbers = circles.iter().flat_map(Counts::logarithms);
        #[expect(clippy::cast_precision_loss, reason = "some hundred functions")]
        let functions = (reached.len() as f32).ln_1p();
        numbers.chain(sizes).chain([functions]).collect()
    }

    /// The numbers of a test whose project is not at hand: all but its own circle are missing.
    #[must_use]
    pub fn numbers_of_text(source: &str, comments: Comments) -> Vec<f32> {
        let mut numbers: Vec<f32> = Counts::new(source, comments).logarithms().collect();
        numbers.resize(Self::names().len(), f32::NAN);
        numbers
    }

    /// The numbers of the text of a test alone, whatever is known of its project: its own circle, and its
    /// [cues](crate::cues).
    #[must_use]
    pub fn numbers_of_test(source: &str, comments: Comments) -> Vec<f32> {
        let own = Counts::new(source, comments);
        let cues = crate::cues::numbers(source, comments);
        own.logarithms().chain(cues).collect()
    }

    /// The [cues](crate::cues) among the numbers of the text of a test.
    #[must_use]
    pub fn cues_of_test(numbers: &[f32]) -> &[f32] {
        numbers.get(Smell::ALL.len() + 1..).unwrap_or_default()
    }

    /// What the numbers of the text of a test mean.
    #[must_use]
    pub fn names_of_test() -> Vec<String> {
        let smells = Smell::ALL.iter().map(|smell| smell.name()).chain(["words"]);
        smells.chain(crate::cues::names()).map(str::to_owned).collect()
    }

    /// Whether the numbers of a test tell of code beyond its own file.
    #[must_use]
    pub fn sees_a_project(numbers: &[f32]) -> bool {
        let beyond = [Circle::Bases, Circle::Called, Circle::Reached, Circle::Named];
        let width = Smell::ALL.len() + 1;
        beyond.into_iter().chain([Circle::Mentioned]).any(|circle| {
            let words = circle as usize * width + width - 1;
            // A number that is not there is not above zero.
            numbers.get(words).is_some_and(|count| *count > 0.0)
        })
    }

    /// Where the words of a test stand.
    #[must_use]
    pub fn words(&self, test: Declared, class: Option<&str>) -> TestWords {
        let project = self.project;
        let id = class.and_then(|class| project.find_class(class)).or_else(|| project.owner(test));
        let file = id.and_then(|id| project.files_of(id).first().copied()).unwrap_or(test.unit);
        let mut bases: Vec<u32> = id.map(|id| project.files_of_bases(id)).unwrap_or_default();
        if test.unit != file && !bases.contains(&test.unit) {
            bases.push(test.unit);
        }
        bases.retain(|unit| *unit != file);
        let text = project.unit(test).zip(project.function(test));
        let mut named = text.map_or_else(Vec::new, |(unit, function)| {
            self.mentioned_in(test.unit, unit.text_of(function.span))
        });
        named.retain(|unit| *unit != file);
        named.truncate(MOST_NAMED);
        let mut with_it = vec![test];
        with_it.extend(project.test_hooks(test, id).iter());
        TestWords { test: with_it, file: Some(file), bases, named }
    }

    fn of_function(&self, declared: Declared) -> &Counts {
        static NOTHING: OnceLock<Counts> = OnceLock::new();
        let place = self.functions.get(declared.unit as usize);
        let place = place.and_then(|unit| unit.get(declared.function as usize));
        place.unwrap_or(&NOTHING).get_or_init(|| {
            let found = self.project.unit(declared).zip(self.project.function(declared));
            found.map_or_else(Counts::default, |(unit, function)| {
                Counts::new(unit.text_of(function.span), unit.language.into())
            })
        })
    }

    fn file(&self, unit: u32) -> &File {
        self.files[unit as usize].get_or_init(|| {
            let file = &self.project.units()[unit as usize];
            let (mut counts, mut mentions) = (Counts::default(), Mentions::new(self.project, unit));
            for token in tokens(&file.text, file.language.into()) {
                counts.see_token(token);
                mentions.see_token(token);
            }
            mentions.files.retain(|other| *other != unit);
            File { counts, mentions: mentions.files }
        })
    }

    fn outer(&self, unit: u32, bases: &[u32]) -> Arc<Outer> {
        // Whoever waits here waits for the same; a panic elsewhere leaves the list whole.
        let known = self.outer[unit as usize].lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some((_, outer)) = known.iter().find(|(others, _)| others == bases) {
            return Arc::clone(outer);
        }
        let outer = Arc::new(self.new_outer(unit, bases));
        known.push((bases.to_vec(), Arc::clone(&outer)));
        outer
    }

    fn new_outer(&self, unit: u32, bases: &[u32]) -> Outer {
        let inner: FxHashSet<u32> = bases.iter().copied().chain([unit]).collect();
        let mut seen = inner;
        let own: Vec<u32> = std::iter::once(unit).chain(bases.iter().copied()).collect();
        let near = self.mentioned_by(&own, &mut seen, MOST_MENTIONED);
        let far = self.mentioned_by(&near, &mut seen, MOST_BEYOND);
        let (mut mentioned, mut beyond) = (Counts::default(), Counts::default());
        near.iter().for_each(|unit| mentioned.add(&self.file(*unit).counts));
        far.iter().for_each(|unit| beyond.add_presence(&self.file(*unit).counts));
        #[expect(clippy::cast_precision_loss, reason = "some hundred files")]
        let sizes = [near.len(), far.len()].map(|size| (size as f32).ln_1p());
        Outer { mentioned, beyond, sizes }
    }

    fn mentioned_by(&self, units: &[u32], seen: &mut FxHashSet<u32>, most: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for unit in units {
            for other in &self.file(*unit).mentions {
                if found.len() < most && seen.insert(*other) {
                    found.push(*other);
                }
            }
        }
        found
    }

    /// The files whose classes a piece of a file names, each once, in the order of the text.
    fn mentioned_in(&self, unit: u32, text: &str) -> Vec<u32> {
        let comments = self.project.units()[unit as usize].language.into();
        let mut mentions = Mentions::new(self.project, unit);
        tokens(text, comments).for_each(|token| mentions.see_token(token));
        mentions.files
    }
}

#[derive(Debug)]
struct File {
    counts: Counts,
    mentions: Vec<u32>,
}

/// The outer circles of a file, for the files of these base classes.
type OuterOfBases = (Vec<u32>, Arc<Outer>);

#[derive(Debug)]
struct Outer {
    mentioned: Counts,
    beyond: Counts,
    sizes: [f32; 2],
}

/// The files whose classes a text of a file names, while it is read.
struct Mentions<'p, 't> {
    project: &'p ProjectIndex,
    unit: u32,
    names: FxHashSet<&'t str>,
    files: Vec<u32>,
}

impl<'p, 't> Mentions<'p, 't> {
    fn new(project: &'p ProjectIndex, unit: u32) -> Self {
        Self { project, unit, names: FxHashSet::default(), files: Vec::new() }
    }

    fn see_token(&mut self, token: CodeToken<'t>) {
        let CodeToken::Name(name) = token else { return };
        if !self.names.insert(name) {
            return;
        }
        // A class that is opened several times in a file counts as often.
        let known = self.files.len();
        for file in self.project.files_named(self.unit, name) {
            if !self.files[..known].contains(&file) {
                self.files.push(file);
            }
        }
    }
}

/// How often each smell occurs, and how many words there are.
#[derive(Debug, Clone, PartialEq)]
struct Counts {
    smells: Vec<f32>,
    words: f32,
}

impl Default for Counts {
    fn default() -> Self {
        Self { smells: vec![0.0; Smell::ALL.len()], words: 0.0 }
    }
}

impl Counts {
    /// The smells in a piece of code.
    fn new(text: &str, comments: Comments) -> Self {
        let mut counts = Self::default();
        tokens(text, comments).for_each(|token| counts.see_token(token));
        counts
    }

    fn see_token(&mut self, token: CodeToken<'_>) {
        if let CodeToken::Name(text) | CodeToken::Text(text) = token {
            parts(text).for_each(|word| self.see(word));
        }
    }

    fn see(&mut self, word: &str) {
        self.words += 1.0;
        let mut small = [0; LONGEST_WORD];
        let Some(small) = small.get_mut(..word.len()) else { return };
        small.copy_from_slice(word.as_bytes());
        small.make_ascii_lowercase();
        let Ok(word) = std::str::from_utf8(small) else { return };
        for smell in Smell::of_word(word) {
            self.smells[*smell as usize] += 1.0;
        }
    }

    /// Add another piece of code.
    fn add(&mut self, other: &Self) {
        self.smells.iter_mut().zip(&other.smells).for_each(|(sum, count)| *sum += count);
        self.words += other.words;
    }

    /// Add which smells another piece of code has, each once.
    fn add_presence(&mut self, other: &Self) {
        let pairs = self.smells.iter_mut().zip(&other.smells);
        pairs.for_each(|(sum, count)| *sum += count.min(1.0));
        self.words += other.words;
    }

    /// The logarithms of all counts, the words last: how much more matters less and less.
    fn logarithms(&self) -> impl Iterator<Item = f32> {
        self.smells.iter().chain([&self.words]).map(|count| count.ln_1p())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finder, Layout, SourceFile};

    #[test]
    fn a_word_may_belong_to_several_families() {
        assert_eq!(Smell::of_word("sleep"), [Smell::Sleep]);
        assert_eq!(Smell::of_word("load"), [Smell::Loading, Smell::Speed]);
        assert_eq!(Smell::of_word("Sleep"), []);
    }

    #[test]
    fn every_family_has_its_own_name() {
        let mut names: Vec<&str> = Smell::ALL.iter().map(|smell| smell.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Smell::ALL.len());
    }

    #[test]
    fn names_are_cut_into_words_and_comments_are_not_code() {
        let counts =
            Counts::new("Thread.sleep(10); // sleep\nnew ServerSocket(0);", Comments::Slashes);
        let of = |smell: Smell| counts.smells[smell as usize];
        assert_eq!((of(Smell::Sleep), of(Smell::Threads)), (1.0, 1.0));
        assert_eq!((of(Smell::Servers), of(Smell::Sockets), of(Smell::Creations)), (1.0, 1.0, 1.0));
        assert_eq!(counts.words, 5.0);
    }

    #[test]
    fn the_outer_circles_do_not_depend_on_who_is_asked_about_first() {
        let files = [
            (
                "t/ATest.java",
                "class ATest extends X { void testA() {} }\nclass BTest extends Y { void testB() {} }",
            ),
            ("t/X.java", "class X { Threaded it; }"),
            ("t/Y.java", "class Y { Other it; }"),
            ("m/Threaded.java", "class Threaded { Thread thread; }"),
            ("m/Other.java", "class Other { }"),
        ];
        let mut finder = Finder::default();
        let mut lower = |(path, text): (&str, &str)| {
            finder.lower(&SourceFile { path, text }, &Layout::default()).unit
        };
        let project = ProjectIndex::new(files.into_iter().map(&mut lower).collect());
        let of = |reader: &SmellReader<'_>, class: &str, method: &str| {
            let test = project.find_method(class, method).expect("it is there");
            format!("{:?}", reader.numbers(test, Some(class)))
        };
        let [one, other] = [SmellReader::new(&project), SmellReader::new(&project)];
        let (a, b) = (of(&one, "ATest", "testA"), of(&one, "BTest", "testB"));
        assert_ne!(a, b);
        assert_eq!((of(&other, "BTest", "testB"), of(&other, "ATest", "testA")), (b, a));
    }
}
