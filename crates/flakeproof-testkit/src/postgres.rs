//! A real PostgreSQL server for tests, from Debian's package, on a port of its own.
//!
//! One server serves all tests of a test program; each has a database of its own. The server ends with
//! the process, however that ends: a guard beside it waits for a pipe to close.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::skipped;

/// The user that may do everything.
const ADMIN: &str = "postgres";

/// The administrator's password.
pub const PASSWORD: &str = "correct horse";

/// A server that is running.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    /// Ends the server and removes its files when this process is gone.
    guard: Child,
}

/// The server of this process, started when it is first asked for; `None` where there is no PostgreSQL,
/// which is noted for the test that asks.
pub fn shared(test: &str) -> Option<&'static Server> {
    static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();
    match SERVER.get_or_init(Server::start) {
        Ok(server) => Some(server),
        Err(why) => {
            skipped::note(test, why);
            None
        }
    }
}

impl Server {
    /// Start a server of its own, for a test that stops it.
    ///
    /// # Errors
    /// When PostgreSQL is not installed.
    pub fn start() -> Result<Self, String> {
        let programs = programs().ok_or("PostgreSQL is not installed")?;
        let folder = tempfile::Builder::new().prefix("flakeproof-postgres").tempdir();
        let folder = folder.expect("a temporary folder").keep();
        let password = folder.join("password");
        std::fs::write(&password, PASSWORD).expect("a password");
        if is_root() {
            let owner = format!("{ADMIN}:{ADMIN}");
            run(Command::new("chown").arg("-R").arg(owner).arg(&folder));
        }
        let data = folder.join("data");
        run(as_owner(&programs.join("initdb"))
            .arg("-D")
            .arg(&data)
            .args(["-U", ADMIN, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
            .args(["--auth-local=trust", "--auth-host=scram-sha-256"])
            .arg(format!("--pwfile={}", password.display())));
        let guard = guard(&programs, &folder);
        let mut server = Self { programs, folder, port: 0, guard };
        server.port = free_port();
        server.up();
        Ok(server)
    }

    /// Start the server again after [`down`](Self::down).
    pub fn up(&self) {
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories={} -c fsync=off \
             -c max_connections=300 -c full_page_writes=off",
            self.port,
            self.folder.display()
        );
        let log = self.folder.join("log");
        let mut start = self.control("start");
        run(start.arg("-l").arg(log).arg("-o").arg(options));
    }

    /// Stop the server; all connections are cut.
    pub fn down(&self) {
        run(self.control("stop").args(["-m", "fast"]));
    }

    fn control(&self, verb: &str) -> Command {
        let mut command = as_owner(&self.programs.join("pg_ctl"));
        command.arg("-D").arg(self.folder.join("data")).args(["-w", "-s", verb]);
        command
    }

    /// The URL of a new, empty database, for who may do everything.
    pub fn fresh_database(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.url(ADMIN, &PASSWORD.replace(' ', "%20"), &name)
    }

    /// The URL of a database, for a user with this password.
    #[must_use]
    pub fn url(&self, user: &str, password: &str, database: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// What the server answers to statements of the administrator, a line for each row.
    pub fn sql(&self, database: &str, statements: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-U", ADMIN, "-d", database])
            .arg("-h")
            .arg(&self.folder)
            .args(["-p", &self.port.to_string(), "-c", statements]);
        String::from_utf8(run(&mut psql).stdout).expect("text").trim().to_owned()
    }
}

/// The name of the database in a URL of [`Server::fresh_database`].
#[must_use]
pub fn database_of(url: &str) -> &str {
    url.rsplit('/').next().unwrap_or(url)
}

impl Drop for Server {
    fn drop(&mut self) {
        // Closing its input is what ends it.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// A process that ends the server and removes its files once its input is closed, by whatever end of this
/// process.
fn guard(programs: &Path, folder: &Path) -> Child {
    let script =
        "cat > /dev/null; \"$1\"/pg_ctl -D \"$2\"/data -m immediate -s stop; rm -rf \"$2\"";
    as_owner(Path::new("sh"))
        .args(["-c", script, "guard"])
        .args([programs, folder])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell starts")
}

/// The newest installed server's folder of programs.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .filter(|(_, folder)| folder.join("initdb").is_file() && folder.join("psql").is_file())
        .collect();
    folders.sort();
    folders.pop().map(|(_, folder)| folder)
}

/// A command as a user whom the server lets start it: not as root.
fn as_owner(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", ADMIN, "--regid", ADMIN, "--clear-groups", "--"]).arg(program);
    // Not a folder that only root may see.
    command.current_dir("/");
    command
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|facts| facts.uid() == 0)
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

fn run(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().expect("a program of PostgreSQL starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {said}");
    output
}
