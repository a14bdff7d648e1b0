//! A real PostgreSQL server for tests, from Debian's package, on a port of its own.
//!
//! One server serves all tests of a test program; each has a database of its own. The server ends with
//! the process, however that ends: a guard beside it waits for a pipe to close.

use std::io::Write as _;
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

    /// Let the server speak TLS with this certificate and its key.
    pub fn speak_tls(&self, certificate: &Certificate) {
        let data = self.folder.join("data");
        for (name, content) in
            [("server.crt", &certificate.chain), ("server.key", &certificate.key)]
        {
            let path = data.join(name);
            // As its owner, and for nobody else to read: the server insists on it.
            let script = "umask 077; rm -f \"$1\"; cat > \"$1\"";
            let mut write = as_owner(Path::new("sh"));
            write.args(["-c", script, "write"]).arg(&path).stdin(Stdio::piped());
            let mut writing = write.spawn().expect("a shell starts");
            let mut input = writing.stdin.take().expect("its input");
            input.write_all(content.as_bytes()).expect("is written");
            drop(input);
            assert!(writing.wait().expect("it ends").success());
        }
        self.down();
        self.set("ssl = on");
        self.up();
    }

    /// Add a line to the settings of a server that is down.
    fn set(&self, line: &str) {
        let mut append = as_owner(Path::new("sh"));
        append.args(["-c", "echo \"$2\" >> \"$1\"/data/postgresql.conf", "append"]);
        run(append.arg(&self.folder).arg(line));
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

    /// The URL of a new, empty database that has room for so many MiB, as a disk that fills up, and that
    /// disk. `Err` says why there can be none here.
    ///
    /// # Errors
    /// When this process may not mount one.
    pub fn small_database(&self, mebibytes: u32) -> Result<(String, SmallDisk), String> {
        let disk = SmallDisk::mount(&self.folder, mebibytes)?;
        self.sql(ADMIN, &format!("CREATE TABLESPACE small LOCATION '{}'", disk.0.display()));
        self.sql(ADMIN, "CREATE DATABASE small TABLESPACE small");
        Ok((self.url(ADMIN, &PASSWORD.replace(' ', "%20"), "small"), disk))
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

/// A disk that is small, which goes with this.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(below: &Path, mebibytes: u32) -> Result<Self, String> {
        let folder = below.join("small");
        run(as_owner(Path::new("mkdir")).arg(&folder));
        let options = format!("size={mebibytes}m");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "small"]).arg(&folder);
        let mounted = mount.output().map_err(|error| error.to_string())?;
        if !mounted.status.success() {
            let said = String::from_utf8_lossy(&mounted.stderr);
            return Err(format!("a small disk cannot be mounted: {}", said.trim()));
        }
        let disk = Self(folder);
        run(Command::new("chown").arg(format!("{ADMIN}:{ADMIN}")).arg(&disk.0));
        run(Command::new("chmod").arg("700").arg(&disk.0));
        Ok(disk)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // The server may still have files open in it; they go with the server.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// A certificate of a server, and what signed it.
#[derive(Debug, Clone)]
pub struct Certificate {
    chain: String,
    key: String,
    /// The file of who signed it.
    pub signer: PathBuf,
}

impl Certificate {
    /// A certificate for a name (`IP:127.0.0.1`, `DNS:db.example`) that holds for so many days from now
    /// on, made in this folder by `openssl`; fewer than none make one that has expired.
    #[must_use]
    pub fn new(folder: &Path, name: &str, days: i32) -> Self {
        let openssl = |arguments: &[&str]| {
            run(Command::new("openssl").args(arguments).current_dir(folder));
        };
        let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
        let signer = [
            &["req", "-x509"][..],
            &key,
            &["-keyout", "ca.key", "-out", "ca.pem", "-days", "30", "-subj", "/CN=signer"],
            &["-addext", "basicConstraints=critical,CA:TRUE"],
        ];
        openssl(&signer.concat());
        let asked = ["-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server"];
        openssl(&[&["req"][..], &key, &asked].concat());
        let extensions = format!("subjectAltName={name}\nbasicConstraints=CA:FALSE\n");
        std::fs::write(folder.join("extensions"), extensions).expect("is written");
        let days = days.to_string();
        let signed = [
            &["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key"][..],
            &["-CAcreateserial", "-out", "server.crt", "-days", &days, "-extfile", "extensions"],
        ];
        openssl(&signed.concat());
        let read = |name| std::fs::read_to_string(folder.join(name)).expect("openssl wrote it");
        Self { chain: read("server.crt"), key: read("server.key"), signer: folder.join("ca.pem") }
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
