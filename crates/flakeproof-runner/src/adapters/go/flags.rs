//! The options of `go test`, told apart: what the compiler takes, what the tests take, and what has
//! no meaning for a process that is told which tests to run.

/// The user's own `go test`, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GoFlags {
    /// What stands before the program: `env` with variables.
    pub(super) before: Vec<String>,
    /// The program.
    pub(super) go: String,
    /// `-C` and its folder.
    pub(super) folder: Vec<String>,
    /// What says how to compile.
    pub(super) build: Vec<String>,
    /// What of it says which files belong to a package.
    pub(super) list: Vec<String>,
    /// What the test binary is started with.
    pub(super) run: Vec<String>,
    /// How often a binary runs its tests: once for each number in `-cpu`.
    pub(super) rounds: usize,
    /// Why tests cannot be run without `go test`.
    pub(super) obstacle: Option<String>,
}

/// Options of the compiler that change what is built.
const BUILD: [&str; 26] = [
    "a",
    "race",
    "msan",
    "asan",
    "cover",
    "covermode",
    "coverpkg",
    "asmflags",
    "buildmode",
    "buildvcs",
    "compiler",
    "gccgoflags",
    "gcflags",
    "installsuffix",
    "ldflags",
    "linkshared",
    "mod",
    "modcacherw",
    "modfile",
    "pgo",
    "pkgdir",
    "tags",
    "trimpath",
    "toolexec",
    "p",
    "work",
];
/// Those that say which files belong to a package.
const LISTING: [&str; 3] = ["tags", "mod", "modfile"];
/// Options of the tests that say how they run.
const RUN: [&str; 5] = ["short", "timeout", "parallel", "cpu", "fullpath"];
/// Options that say which tests run, how often or in which order, what is printed, and what is
/// measured beside them.
const LEFT_OUT: [&str; 31] = [
    "run",
    "skip",
    "count",
    "json",
    "v",
    "failfast",
    "shuffle",
    "list",
    "bench",
    "benchmem",
    "benchtime",
    "fuzz",
    "fuzztime",
    "fuzzminimizetime",
    "fuzzcachedir",
    "coverprofile",
    "cpuprofile",
    "memprofile",
    "memprofilerate",
    "blockprofile",
    "blockprofilerate",
    "mutexprofile",
    "mutexprofilefraction",
    "trace",
    "outputdir",
    "artifacts",
    "paniconexit0",
    "vet",
    "x",
    "o",
    "testlogfile",
];

impl GoFlags {
    /// Take options apart that begin with the program, and what the tests are handed on.
    pub(super) fn of(options: &[String], tail: &[String]) -> Self {
        let program = options.windows(2).position(|two| is_go(&two[0]) && two[1] == "test");
        let Some(at) = program else {
            let obstacle = Some("`go test` is started by something else".to_owned());
            return Self { obstacle, rounds: 1, ..Self::default() };
        };
        let mut flags = Self {
            before: options[..at].to_vec(),
            go: options[at].clone(),
            rounds: 1,
            ..Self::default()
        };
        if flags.before.split_first().is_some_and(|(first, rest)| {
            first != "env" || !rest.iter().all(|word| word.contains('='))
        }) {
            flags.obstacle = Some(format!("`{}` starts `go test`", flags.before.join(" ")));
        }
        flags.take(&options[at + 2..], Whose::Users);
        // A limit for all tests together: `go test` has one if nobody asks for another.
        if !flags.run.iter().any(|word| word.starts_with("-test.timeout")) {
            flags.run.insert(0, "-test.timeout=10m0s".to_owned());
        }
        // The word that begins it is for the go command.
        flags.run.extend(tail.iter().skip(1).cloned());
        flags
    }

    /// What `GOFLAGS` says, which the compiler hears by itself.
    pub(super) fn with_usual(mut self, usual: &str) -> Self {
        let words: Vec<String> = usual.split_whitespace().map(str::to_owned).collect();
        self.take(&words, Whose::Environments);
        self
    }

    fn take(&mut self, words: &[String], whose: Whose) {
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            let value = words.next_if(|next| !next.starts_with('-'));
            let bare = word.trim_start_matches('-');
            let (name, own) = bare.split_once('=').map_or((bare, None), |(n, v)| (n, Some(v)));
            let name = name.strip_prefix("test.").unwrap_or(name);
            let own = own.or(value.map(String::as_str));
            if name == "cpu" {
                self.rounds = own.unwrap_or_default().split(',').count().max(1);
            }
            match name {
                "C" => self.folder.extend(["-C".to_owned(), own.unwrap_or_default().to_owned()]),
                "exec" | "overlay" | "c" | "n" => {
                    let obstacle = format!("`-{name}` is in use");
                    self.obstacle.get_or_insert(obstacle);
                }
                _ if RUN.contains(&name) => {
                    let text = own.map_or_else(String::new, |value| format!("={value}"));
                    self.run.push(format!("-test.{name}{text}"));
                }
                _ if LEFT_OUT.contains(&name) || whose == Whose::Environments => {}
                _ if BUILD.contains(&name) => {
                    let words = std::iter::once(word).chain(value);
                    self.build.extend(words.clone().cloned());
                    if LISTING.contains(&name) {
                        self.list.extend(words.cloned());
                    }
                }
                // One of the project's own.
                _ => self.run.extend(std::iter::once(word).chain(value).cloned()),
            }
        }
    }

    /// A command of the user's Go.
    pub(super) fn command(&self, verb: &str) -> Vec<String> {
        let mut words = self.before.clone();
        words.extend([self.go.clone(), verb.to_owned()]);
        words.extend(self.folder.iter().cloned());
        words
    }
}

/// Who asks for an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Users,
    /// The compiler hears it without us.
    Environments,
}

fn is_go(word: &str) -> bool {
    word.rsplit('/').next() == Some("go")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn flags(text: &str, tail: &str) -> GoFlags {
        GoFlags::of(&words(text), &words(tail))
    }

    #[test]
    fn each_option_goes_where_it_is_heard() {
        let found = flags(
            "go test -C sub -race -tags unit -short -timeout 30s -cpu 1,2 -bench=. -update",
            "-args -x y",
        );
        assert_eq!(found.folder, words("-C sub"));
        assert_eq!(found.build, words("-race -tags unit"));
        assert_eq!(found.run, words("-test.short -test.timeout=30s -test.cpu=1,2 -update -x y"));
        assert_eq!((found.rounds, found.obstacle), (2, None));
    }

    #[test]
    fn without_a_limit_there_is_that_of_go_test() {
        assert_eq!(flags("go test", "").run, words("-test.timeout=10m0s"));
    }

    #[test]
    fn what_starts_the_tests_otherwise_is_an_obstacle() {
        assert!(flags("go test -exec xprog", "").obstacle.is_some());
        assert!(flags("docker run image go test", "").obstacle.is_some());
        assert!(flags("make test", "").obstacle.is_some());
        assert_eq!(flags("env A=b go test", "").obstacle, None);
        assert!(flags("go test", "").with_usual("-mod=mod -overlay=o").obstacle.is_some());
    }

    #[test]
    fn what_the_environment_asks_of_tests_is_heard() {
        let found = flags("go test", "").with_usual("-mod=mod -short");
        assert_eq!(found.run, words("-test.timeout=10m0s -test.short"));
        assert_eq!(found.build, words(""));
    }
}
