//! The families of words, and how far from a test they are counted.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

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
    pub(super) fn of_word(word: &str) -> &'static [Self] {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
