//! Which files a process and all that it starts open, seen by `strace` where that is installed.
//!
//! A program tells nobody what it reads. The system knows: every call that names a file is written down,
//! also of programs that are started. What a server reads that was there before is seen by nobody, so
//! talking to one is written down as well.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use flakeproof_core::BlindSpot;

use crate::adapter::Result;
use crate::process::{Death, End, Ended};

/// What was opened.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Opens {
    /// Files that were read, or at least looked at.
    pub(crate) opened: BTreeSet<String>,
    /// Folders that were listed.
    pub(crate) listed: BTreeSet<String>,
    /// The names by which files were opened whose place is another one.
    named: BTreeSet<String>,
    /// Programs that were started.
    pub(crate) started: BTreeSet<String>,
    /// Files that were read before the tests began, by the runner or a compiler.
    pub(crate) prepared: BTreeSet<String>,
    /// What was asked and may answer from files that are not seen here: servers that were there before,
    /// and git, which keeps what was committed in files of its own.
    pub(crate) tellers: Vec<BlindSpot>,
}

/// Where the part of a process begins that is the tests' own. What comes before builds them or looks for
/// them: it matters what that reads, not at what it looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TestsBegin {
    /// All is theirs.
    AtOnce,
    /// In programs whose names end like this, and all that these start.
    InProgram(&'static str),
    /// When this file is first read to be run. A runner that looks into every file of the project before
    /// (jest does, for its map of modules) reads it three times: then, for its options, and to run it.
    WithFile(PathBuf),
}

/// The words before a command that make the system write down what it opens.
pub(crate) fn words(file: &Path) -> Vec<String> {
    let options = "strace -f --seccomp-bpf -qq -yy -s 4096 -e signal=none";
    let calls = "trace=%file,fchdir,getdents,getdents64,clone,clone3,fork,vfork,connect,bind,listen,\
        io_uring_setup";
    let mut words: Vec<String> = options.split(' ').map(str::to_owned).collect();
    words.extend(["-e".to_owned(), calls.to_owned()]);
    words.extend(["-o".to_owned(), file.to_string_lossy().into_owned()]);
    words
}

/// The same for a program that must stay a child of whoever starts it.
pub(crate) fn words_beside(file: &Path) -> Vec<String> {
    let mut words = words(file);
    words.insert(1, "-D".to_owned());
    words
}

/// Whether `strace` is installed and allowed to do its work here.
pub(crate) fn can_be_seen(folder: &Path, run: impl FnOnce(Vec<String>) -> Result<Ended>) -> bool {
    let file = folder.join("try");
    let command = words(&file).into_iter().chain(["true".to_owned()]).collect();
    run(command).is_ok_and(|ended| ended.how == End::Died(Death::Exit(0)))
        && std::fs::read_to_string(file).is_ok_and(|text| text.contains("execve("))
}

/// Read what was written down of a command that was started in a folder; `None` where its tests are not
/// found in it. A port of ours is none of a server.
pub(crate) fn read(
    file: &Path,
    folder: &Path,
    begin: &TestsBegin,
    our_port: Option<u16>,
) -> Option<Opens> {
    let text = std::fs::read(file).ok()?;
    let mut opens = parse(&String::from_utf8_lossy(&text), folder, begin, our_port)?;
    let links: Vec<String> = opens.named.iter().flat_map(|path| links_on_the_way(path)).collect();
    opens.opened.extend(links);
    Some(opens)
}

/// The links that lead to what a path names: another file is there when one of them changes.
pub(crate) fn links_on_the_way(path: &str) -> impl Iterator<Item = String> {
    let links = Path::new(path).ancestors().filter(|above| above.is_symlink());
    links.map(|link| link.to_string_lossy().into_owned())
}

fn parse(text: &str, folder: &Path, begin: &TestsBegin, our_port: Option<u16>) -> Option<Opens> {
    let of_tests = match begin {
        TestsBegin::InProgram(ending) => processes_of(text, ending),
        TestsBegin::AtOnce | TestsBegin::WithFile(_) => BTreeSet::new(),
    };
    let mut log = Log::new(folder);
    log.own.extend(our_port.map(|port| format!("port {port}")));
    let mut has_begun = *begin == TestsBegin::AtOnce;
    let mut is_looked_into = match begin {
        TestsBegin::WithFile(file) => readings(text, file) >= 3,
        TestsBegin::AtOnce | TestsBegin::InProgram(_) => false,
    };
    for line in text.lines() {
        let Some((process, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if let TestsBegin::WithFile(file) = begin
            && !has_begun
            && name(call).starts_with("open")
            && log.paths_of(call).iter().any(|path| Path::new(path) == file)
        {
            has_begun = !std::mem::take(&mut is_looked_into);
        }
        log.take(process, call, has_begun || of_tests.contains(process));
    }
    (has_begun || !of_tests.is_empty()).then(|| log.ended())
}

/// How often a file was opened.
fn readings(text: &str, file: &Path) -> usize {
    let opened = format!("<{}>", file.display());
    let is_opening = |line: &&str| line.contains("open") && line.ends_with(&opened);
    text.lines().filter(is_opening).count()
}

/// The processes of programs whose names end so, their threads, and what they start.
fn processes_of<'t>(text: &'t str, ending: &str) -> BTreeSet<&'t str> {
    let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut waiting: Vec<&str> = Vec::new();
    for (process, call) in text.lines().filter_map(|line| line.split_once(' ')) {
        let call = call.trim_start();
        if matches!(name(call), "clone" | "clone3" | "fork" | "vfork") {
            let child = call.rsplit_once(" = ").and_then(|(_, child)| child.split('<').next());
            children.entry(process).or_default().extend(child.map(str::trim));
        } else if call.starts_with("exec") && in_quotes(call).is_some_and(|it| it.ends_with(ending))
        {
            waiting.push(process);
        }
    }
    let mut found = BTreeSet::new();
    while let Some(process) = waiting.pop() {
        if found.insert(process) {
            waiting.extend(children.get(process).into_iter().flatten());
        }
    }
    found
}

/// What was written down so far.
struct Log<'t> {
    opens: Opens,
    /// Files that came into being here.
    made: BTreeSet<String>,
    /// Folders in which some process was.
    folders: BTreeSet<PathBuf>,
    /// Servers that are a part of what is seen.
    own: BTreeSet<String>,
    called: BTreeSet<String>,
    /// Servers that processes are about to reach.
    calling: BTreeMap<&'t str, String>,
}

impl<'t> Log<'t> {
    fn new(folder: &Path) -> Self {
        Self {
            opens: Opens::default(),
            made: BTreeSet::new(),
            folders: BTreeSet::from([folder.to_path_buf()]),
            own: BTreeSet::new(),
            called: BTreeSet::new(),
            calling: BTreeMap::new(),
        }
    }

    fn take(&mut self, process: &'t str, call: &str, is_of_tests: bool) {
        let has_failed = call.contains(" = -1 ");
        match name(call) {
            "clone" | "clone3" | "fork" | "vfork" => {}
            "connect" => self.hear_connection(process, call),
            "bind" | "listen" => self.own.extend(address(call).filter(|_| !has_failed)),
            // Files are opened there without a call.
            "io_uring_setup" if !has_failed => drop(self.called.insert("io_uring".to_owned())),
            name if !has_failed => {
                for path in self.paths_of(call) {
                    self.take_path(name, call, path, is_of_tests);
                }
            }
            _ => {}
        }
    }

    fn take_path(&mut self, name: &str, call: &str, path: String, is_of_tests: bool) {
        if is_of_tests && name.starts_with("open") {
            let named = self.named_by(call).into_iter().filter(|named| *named != path);
            self.opens.named.extend(named);
        }
        match name {
            "chdir" | "fchdir" => drop(self.folders.insert(PathBuf::from(path))),
            "getdents" | "getdents64" => drop(self.opens.listed.insert(path)),
            // What it made itself is no dependency, unless it was read before.
            _ if is_made(call) => drop(self.made.insert(path)),
            _ if self.made.contains(&path) => {}
            _ if is_of_tests => {
                if name.starts_with("exec") {
                    self.opens.started.insert(path.clone());
                }
                self.opens.opened.insert(path);
            }
            _ if name.starts_with("open") || name.starts_with("exec") => {
                self.opens.prepared.insert(path);
            }
            _ => {}
        }
    }

    fn hear_connection(&mut self, process: &'t str, call: &str) {
        let server = match call.starts_with("connect(") {
            true => address(call),
            false => self.calling.remove(process),
        };
        let Some(server) = server else { return };
        if call.ends_with("<unfinished ...>") {
            self.calling.insert(process, server);
        } else if !call.contains(" = -1 ") || call.contains("EINPROGRESS") {
            self.called.insert(server);
        }
    }

    fn ended(mut self) -> Opens {
        self.called.extend(self.calling.into_values());
        let others = self.called.difference(&self.own).filter(|it| !is_of_the_system(it));
        self.opens.tellers =
            others.map(|address| BlindSpot::Server { address: address.clone() }).collect();
        if self.opens.opened.iter().any(|path| path.contains("/.git/")) {
            self.opens.tellers.push(BlindSpot::Process { program: "git".to_owned() });
        }
        self.opens
    }

    /// The files that a call is about: what was opened, or what it names. Where that is relative to a
    /// folder that is not told, it is any.
    fn paths_of(&self, call: &str) -> Vec<String> {
        let opened = call.rsplit_once(" = ").and_then(|(_, result)| in_brackets(result));
        opened.map_or_else(|| self.named_by(call), |path| vec![path])
    }

    /// The files that a call names, as it names them.
    fn named_by(&self, call: &str) -> Vec<String> {
        let Some((_, arguments)) = call.split_once('(') else { return Vec::new() };
        let from = arguments.split(',').next().and_then(in_brackets);
        let Some(named) = in_quotes(arguments) else { return from.into_iter().collect() };
        let join = |folder: &PathBuf| folder.join(&named).to_string_lossy().into_owned();
        match from {
            Some(from) => vec![join(&PathBuf::from(from))],
            None if named.starts_with('/') => vec![named],
            None => self.folders.iter().map(join).collect(),
        }
    }
}

/// The name of a call, also of one that goes on after others.
fn name(call: &str) -> &str {
    let call = call.strip_prefix("<... ").unwrap_or(call);
    call.split(['(', ' ']).next().unwrap_or(call)
}

/// Whether a server tells names and addresses or takes messages, as the C library asks it to.
fn is_of_the_system(address: &str) -> bool {
    let folders = ["/run/nscd/", "/run/systemd/", "/var/run/nscd/", "/dev/log"];
    address == "port 53" || folders.iter().any(|folder| address.starts_with(folder))
}

/// Whether a call makes a file, or empties it: nothing of what was there before can be read.
fn is_made(call: &str) -> bool {
    let is_new = call.contains("O_EXCL") || call.contains("O_TRUNC");
    call.contains("O_WRONLY") || (is_new && call.contains("O_RDWR"))
}

/// Where a server is: the name of a socket, or a port.
fn address(call: &str) -> Option<String> {
    if let Some((_, port)) = call.split_once("htons(") {
        let port = port.split(')').next()?;
        return (port != "0").then(|| format!("port {port}"));
    }
    if let Some((_, name)) = call.split_once("sun_path=") {
        return in_quotes(name);
    }
    // `listen(3<TCP:[127.0.0.1:38641]>, 5)` and `listen(3<UNIX-STREAM:[42,"/run/a"]>, 5)`
    let (_, socket) = call.split_once('<')?;
    if socket.starts_with("UNIX") {
        return in_quotes(socket);
    }
    let (place, _) = socket.split_once("]>").filter(|_| socket.starts_with("TCP"))?;
    Some(format!("port {}", place.rsplit(':').next()?))
}

/// The path in `3</etc/hosts>` and in `1</dev/null<char 1:3>>`.
fn in_brackets(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('<')?;
    let (path, _) = rest.rsplit_once('>')?;
    let path = path.split('<').next()?;
    path.starts_with('/').then(|| unescaped(path))
}

/// The first text in quotes, if it is not empty.
fn in_quotes(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('"')?;
    let mut is_escaped = false;
    let end = rest.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    (end > 0).then(|| unescaped(&rest[..end]))
}

/// A text in which bytes that are no letters are written in octal digits.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        let number = rest[..digits].iter().fold(0u32, |sum, byte| sum * 8 + u32::from(byte - b'0'));
        if let (1.., Ok(byte)) = (digits, u8::try_from(number)) {
            bytes.push(byte);
            rest = &rest[digits..];
        } else if let [next, after @ ..] = rest {
            bytes.push(*next);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn parsed(lines: &[&str], begin: &TestsBegin) -> Opens {
        parse(&lines.join("\n"), Path::new("/p"), begin, None).expect("the tests are found")
    }

    #[test]
    fn what_is_read_listed_and_started_is_told_apart() {
        let lines = [
            r#"1 execve("/t/api-1", ["/t/api-1"], 0x7f /* 3 vars */) = 0"#,
            r#"1 openat(AT_FDCWD</p>, "data.txt", O_RDONLY|O_CLOEXEC) = 3</p/data.txt>"#,
            r#"1 openat(AT_FDCWD</p>, "gone", O_RDONLY) = -1 ENOENT (No such file or directory)"#,
            r#"2 openat(AT_FDCWD</p>, "out", O_WRONLY|O_CREAT, 0666) = 4</p/out>"#,
            r#"2 openat(AT_FDCWD</p>, "out", O_RDONLY) = 5</p/out>"#,
            r#"2 openat(AT_FDCWD</p>, "table.db", O_RDWR|O_CREAT, 0644) = 6</p/table.db>"#,
            r#"2 getdents64(6</p/caf\303\251>, 0x55 /* 4 entries */, 32768) = 104"#,
            r#"2 statx(AT_FDCWD</p>, "seen", AT_STATX_SYNC_AS_STAT, STATX_ALL, {stx_mask=1}) = 0"#,
            "2 <... openat resumed>) = 7</p/late>",
        ];
        let opens = parsed(&lines, &TestsBegin::AtOnce);
        let read = ["/t/api-1", "/p/data.txt", "/p/table.db", "/p/seen", "/p/late"];
        assert_eq!(opens.opened, set(&read));
        assert_eq!(opens.listed, set(&["/p/café"]));
        assert_eq!(opens.started, set(&["/t/api-1"]));
    }

    #[test]
    fn links_on_the_way_to_a_file_are_seen() {
        let lines = [
            r#"1 openat(AT_FDCWD</p>, "etc/limit", O_RDONLY) = 3</srv/limit>"#,
            r#"1 openat(AT_FDCWD</p>, "data.txt", O_RDONLY) = 3</p/data.txt>"#,
        ];
        assert_eq!(parsed(&lines, &TestsBegin::AtOnce).named, set(&["/p/etc/limit"]));
        let folder = tempfile::tempdir().expect("a folder can be made");
        let link = folder.path().join("etc");
        std::os::unix::fs::symlink("/", &link).expect("a link can be made");
        let file = link.join("hosts").to_string_lossy().into_owned();
        let found: Vec<String> = links_on_the_way(&file).collect();
        assert_eq!(found.first().map(PathBuf::from), Some(link));
    }

    #[test]
    fn a_relative_name_is_looked_for_wherever_a_process_was() {
        let lines = [r#"1 chdir("deep") = 0"#, r#"1 access("data.txt", F_OK) = 0"#];
        let opens = parsed(&lines, &TestsBegin::AtOnce);
        assert_eq!(opens.opened, set(&["/p/data.txt", "/p/deep/data.txt"]));
    }

    #[test]
    fn what_a_compiler_reads_is_told_from_what_the_test_reads() {
        let lines = [
            r#"1  openat(AT_FDCWD</p>, "embedded.txt", O_RDONLY) = 3</p/embedded.txt>"#,
            r#"1  newfstatat(AT_FDCWD</p>, "README.md", {st_mode=S_IFREG}, 0) = 0"#,
            "1  clone(child_stack=NULL, flags=CLONE_VFORK|SIGCHLD <unfinished ...>",
            r#"2  execve("/tmp/b001/p.test", ["/tmp/b001/p.test"], 0x7f <unfinished ...>"#,
            "1  <... clone resumed>, parent_tid=[16<pid:2>]) = 2",
            "2  <... execve resumed>) = 0",
            "2  clone(child_stack=0x24, flags=CLONE_VM|CLONE_THREAD, tls=0x24) = 3",
            r#"3  openat(AT_FDCWD</p>, "data.txt", O_RDONLY) = 3</p/data.txt>"#,
        ];
        let opens = parsed(&lines, &TestsBegin::InProgram(".test"));
        assert_eq!(opens.prepared, set(&["/p/embedded.txt"]));
        assert_eq!(opens.opened, set(&["/tmp/b001/p.test", "/p/data.txt"]));
    }

    #[test]
    fn what_a_runner_looks_at_before_it_reads_the_test_is_its_own_matter() {
        let lines = [
            r#"1 statx(AT_FDCWD</p>, "/p/notes.txt", AT_SYMLINK_NOFOLLOW, {stx_mask=1}) = 0"#,
            r#"1 openat(AT_FDCWD</p>, "/p/settings.json", O_RDONLY) = 3</p/settings.json>"#,
            r#"1 openat(AT_FDCWD</p>, "/p/a.test.js", O_RDONLY) = 3</p/a.test.js>"#,
            r#"1 statx(AT_FDCWD</p>, "/p/asked.txt", 0, STATX_ALL, {stx_mask=1}) = 0"#,
        ];
        let opens = parsed(&lines, &TestsBegin::WithFile(PathBuf::from("/p/a.test.js")));
        assert_eq!(opens.prepared, set(&["/p/settings.json"]));
        assert_eq!(opens.opened, set(&["/p/a.test.js", "/p/asked.txt"]));
    }

    #[test]
    fn a_look_into_every_file_of_a_project_is_none_of_the_test() {
        let open = |path: &str| format!("1 openat(AT_FDCWD</p>, \"{path}\", O_RDONLY) = 3<{path}>");
        let looked = ["/p/a.test.js", "/p/other.js"].map(open);
        let ran = ["/p/a.test.js", "/p/setup.js", "/p/a.test.js", "/p/code.js"].map(open);
        let begin = TestsBegin::WithFile(PathBuf::from("/p/a.test.js"));
        let all: Vec<&str> = looked.iter().chain(&ran).map(String::as_str).collect();
        let opens = parsed(&all, &begin);
        assert_eq!(opens.opened, set(&["/p/a.test.js", "/p/code.js", "/p/setup.js"]));
        assert_eq!(opens.prepared, set(&["/p/a.test.js", "/p/other.js"]));
        let without: Vec<&str> = ran.iter().map(String::as_str).collect();
        assert_eq!(parsed(&without, &begin).opened, opens.opened);
    }

    #[test]
    fn a_server_that_was_there_before_is_told() {
        let called = |lines: &[&str]| parsed(lines, &TestsBegin::AtOnce).tellers;
        let tcp = |port: u32, end: &str| {
            format!(
                "1 connect(4<TCP:[7]>, {{sa_family=AF_INET, sin_port=htons({port}), \
                     sin_addr=inet_addr(\"127.0.0.1\")}}, 16{end}"
            )
        };
        let listens = "2 listen(3<TCP:[127.0.0.1:38641]>, 511) = 0";
        let server = |address: &str| vec![BlindSpot::Server { address: address.to_owned() }];
        assert_eq!(called(&[&tcp(5432, ") = 0")]), server("port 5432"));
        let resumed = "1 <... connect resumed>) = -1 EINPROGRESS (Operation now in progress)";
        assert!(called(&[&tcp(5432, " <unfinished ...>"), resumed]).len() == 1);
        let refused = "1 <... connect resumed>) = -1 ECONNREFUSED (Connection refused)";
        assert_eq!(called(&[&tcp(5432, " <unfinished ...>"), refused]), []);
        assert_eq!(called(&[listens, &tcp(38641, ") = 0")]), [], "its own");
        let unix = |path: &str| {
            format!(
                "1 connect(4<UNIX-STREAM:[7]>, {{sa_family=AF_UNIX, sun_path=\"{path}\"}}, 110) = 0"
            )
        };
        assert_eq!(called(&[&unix("/run/d.sock")]), server("/run/d.sock"));
        assert_eq!(called(&[&unix("/var/run/nscd/socket")]), []);
        let head = r#"1 openat(AT_FDCWD</p>, ".git/HEAD", O_RDONLY) = 3</p/.git/HEAD>"#;
        assert_eq!(called(&[head]), [BlindSpot::Process { program: "git".to_owned() }]);
    }

    #[test]
    fn without_the_tests_nothing_is_said() {
        let line = r#"1 openat(AT_FDCWD</p>, "a.txt", O_RDONLY) = 3</p/a.txt>"#;
        assert_eq!(parse(line, Path::new("/p"), &TestsBegin::InProgram(".test"), None), None);
        let file = TestsBegin::WithFile(PathBuf::from("/p/a.test.js"));
        assert_eq!(parse(line, Path::new("/p"), &file, None), None);
    }
}
