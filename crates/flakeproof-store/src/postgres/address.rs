//! Where a history in PostgreSQL is: what its URL says, and the password from where it is kept.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use postgres::Config;
use postgres::config::Host;

use crate::{LocationError, StoreUrl};

/// How long to wait for a server that does not answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long one statement may take.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(300);

/// The schema that holds the tables.
const SCHEMA: &str = "flakeproof";

/// Where a history in PostgreSQL is.
#[derive(Clone)]
pub struct PostgresAddress {
    url: StoreUrl,
    config: Config,
    tls: Tls,
    schema: String,
    project: String,
    statement_timeout: Duration,
    password_file: Option<PathBuf>,
    shown: String,
}

/// How a connection is kept from those who listen on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tls {
    /// It is not.
    Off,
    /// It is encrypted, with whoever answers; if `or_plain`, only where the server can.
    Encrypted {
        /// Whether a server without TLS will do.
        or_plain: bool,
    },
    /// It is encrypted, with the server that has a certificate for its name.
    Verified {
        /// The certificates that are trusted; those of this machine if none is named.
        roots: Option<PathBuf>,
    },
}

impl PostgresAddress {
    /// The address that a URL names. `project` is what the project is called if the URL does not say.
    ///
    /// # Errors
    /// When it has an unknown parameter, or a value that cannot be.
    pub fn new(url: &StoreUrl, project: &str) -> Result<Self, LocationError> {
        let (place, parameters) = url.secret().split_once('?').unwrap_or((url.secret(), ""));
        let mut own = Own { project: project.to_owned(), ..Own::default() };
        let mut rest = Vec::new();
        for parameter in parameters.split('&').filter(|it| !it.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            if !own.take(name, &value)? {
                let value = utf8_percent_encode(&value, NON_ALPHANUMERIC);
                rest.push(format!("{name}={value}"));
            }
        }
        // A password is never part of what the parser says, which names parameters only.
        let whole = format!("{place}?{}", rest.join("&"));
        let mut config: Config = whole.parse().map_err(|_| LocationError::Malformed)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("flakeproof");
        }
        let tls = own.tls()?;
        config.ssl_mode(tls.mode());
        Ok(Self {
            url: url.clone(),
            shown: format!("{url} (project {})", own.project),
            config,
            tls,
            schema: own.schema.unwrap_or_else(|| SCHEMA.to_owned()),
            project: own.project,
            statement_timeout: own.statement_timeout.unwrap_or(STATEMENT_TIMEOUT),
            password_file: own.password_file,
        })
    }

    /// The schema that holds the tables.
    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    /// What the project is called among others in the database.
    #[must_use]
    pub fn project(&self) -> &str {
        &self.project
    }

    pub(super) fn tls(&self) -> &Tls {
        &self.tls
    }

    pub(super) fn statement_timeout(&self) -> Duration {
        self.statement_timeout
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT)
    }

    /// All that is needed to connect: the password is that of the URL, of `password_file`, of
    /// `PGPASSWORD`, or of the file that `PGPASSFILE` names, else `~/.pgpass`.
    ///
    /// # Errors
    /// When the file that the URL names cannot be read.
    pub(super) fn config(&self) -> Result<Config, String> {
        let mut config = self.config.clone();
        if config.get_password().is_some() {
            return Ok(config);
        }
        if let Some(path) = &self.password_file {
            let text = std::fs::read_to_string(path).map_err(|error| {
                format!("the password file {} cannot be read: {error}", path.display())
            })?;
            config.password(text.trim_end_matches(['\r', '\n']));
        } else if let Some(password) = std::env::var_os("PGPASSWORD").filter(|it| !it.is_empty()) {
            config.password(password.to_string_lossy().as_bytes());
        } else if let Some(password) = pgpass_file().and_then(|file| self.password_in(&file)) {
            config.password(password);
        }
        Ok(config)
    }

    /// The password for this address in a file of lines `host:port:database:user:password`.
    fn password_in(&self, file: &Path) -> Option<String> {
        let text = std::fs::read_to_string(file).ok()?;
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            _ => "localhost".to_owned(),
        };
        let port = self.config.get_ports().first().copied().unwrap_or(5432).to_string();
        let user = self.config.get_user().unwrap_or_default();
        let database = self.config.get_dbname().unwrap_or(user);
        password_of([&host, &port, database, user], &text)
    }
}

fn pgpass_file() -> Option<PathBuf> {
    let named = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pgpass")))
}

/// The password of the first line that fits; a `*` fits everything, and a backslash makes the character
/// after it an ordinary one.
fn password_of(sought: [&str; 4], text: &str) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [places @ .., password] = fields.as_slice() else { return None };
        let fits = places.len() == 4
            && places.iter().zip(sought).all(|(field, sought)| field == "*" || field == sought);
        fits.then(|| password.clone())
    })
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let last = fields.len() - 1;
        match letter {
            '\\' => fields[last].extend(letters.next()),
            ':' if last < 4 => fields.push(String::new()),
            _ => fields[last].push(letter),
        }
    }
    fields
}

/// The parameters that the driver does not know.
#[derive(Default)]
struct Own {
    sslmode: Option<String>,
    roots: Option<PathBuf>,
    schema: Option<String>,
    project: String,
    statement_timeout: Option<Duration>,
    password_file: Option<PathBuf>,
}

impl Own {
    /// Take a parameter; says whether it is one of these.
    fn take(&mut self, name: &str, value: &str) -> Result<bool, LocationError> {
        match name {
            "sslmode" => self.sslmode = Some(value.to_owned()),
            "sslrootcert" => self.roots = Some(value.into()),
            "schema" => self.schema = Some(identifier(value)?),
            "project" if !value.is_empty() => value.clone_into(&mut self.project),
            "project" => return Err(impossible(name, value, "a name")),
            "password_file" => self.password_file = Some(value.into()),
            "statement_timeout" => {
                let seconds = value.parse().ok().filter(|seconds| *seconds > 0);
                let seconds = seconds.ok_or_else(|| impossible(name, value, "whole seconds"))?;
                self.statement_timeout = Some(Duration::from_secs(seconds));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn tls(&self) -> Result<Tls, LocationError> {
        let roots = self.roots.clone();
        Ok(match self.sslmode.as_deref() {
            Some("disable") => Tls::Off,
            // As in libpq: whoever names roots wants them used.
            None | Some("prefer" | "allow") if roots.is_none() => Tls::Encrypted { or_plain: true },
            Some("require") if roots.is_none() => Tls::Encrypted { or_plain: false },
            None | Some("prefer" | "allow" | "require" | "verify-full") => Tls::Verified { roots },
            Some(other) => {
                let known = "`disable`, `prefer`, `require` or `verify-full`";
                return Err(impossible("sslmode", other, known));
            }
        })
    }
}

impl Tls {
    fn mode(&self) -> postgres::config::SslMode {
        use postgres::config::SslMode;
        match self {
            Self::Off => SslMode::Disable,
            Self::Encrypted { or_plain: true } => SslMode::Prefer,
            Self::Encrypted { or_plain: false } | Self::Verified { .. } => SslMode::Require,
        }
    }
}

/// A name that needs no quotes, so that it can stand in any statement.
fn identifier(value: &str) -> Result<String, LocationError> {
    let is_letter = |it: char| it.is_ascii_lowercase() || it == '_';
    let mut letters = value.chars();
    let is_name = letters.next().is_some_and(is_letter)
        && letters.all(|it| is_letter(it) || it.is_ascii_digit())
        && value.len() < 64;
    let why = "a name of small letters, digits and underscores";
    is_name.then(|| value.to_owned()).ok_or_else(|| impossible("schema", value, why))
}

fn impossible(name: &str, value: &str, wanted: &'static str) -> LocationError {
    LocationError::Impossible { name: name.to_owned(), value: value.to_owned(), wanted }
}

impl PartialEq for PostgresAddress {
    fn eq(&self, other: &Self) -> bool {
        // All else is made of these.
        (&self.url, &self.project) == (&other.url, &other.project)
    }
}

impl Eq for PostgresAddress {}

impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Result<PostgresAddress, LocationError> {
        PostgresAddress::new(&StoreUrl::new(url).unwrap(), "shop/basket")
    }

    #[test]
    fn what_the_url_does_not_say_has_a_default() {
        let address = address("postgres://ci@db.example/team").unwrap();
        assert_eq!((address.schema(), address.project()), ("flakeproof", "shop/basket"));
        assert_eq!(address.tls(), &Tls::Encrypted { or_plain: true });
        assert_eq!(address.connect_timeout(), Duration::from_secs(10));
    }

    #[test]
    fn a_url_can_say_it_all() {
        let url = "postgresql://ci@db/team?schema=flaky_1&project=a%2Fb&sslmode=verify-full&\
                   sslrootcert=/etc/ca.pem&connect_timeout=3&statement_timeout=7";
        let address = address(url).unwrap();
        assert_eq!((address.schema(), address.project()), ("flaky_1", "a/b"));
        assert_eq!(address.tls(), &Tls::Verified { roots: Some("/etc/ca.pem".into()) });
        assert_eq!(address.connect_timeout(), Duration::from_secs(3));
        assert_eq!(address.statement_timeout(), Duration::from_secs(7));
    }

    #[test]
    fn a_mistake_names_the_parameter_and_never_the_password() {
        for url in [
            "postgres://ci:hunter2@db/team?schema=a;drop",
            "postgres://ci:hunter2@db/team?sslmode=maybe",
            "postgres://ci:hunter2@db/team?statement_timeout=soon",
            "postgres://ci:hunter2@db/team?project=",
            "postgres://ci:hunter2@db/team?no_such_thing=1",
            "postgres://ci:hunter2@db:port/team",
        ] {
            let error = address(url).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
        let address = address("postgres://ci:hunter2@db/team").unwrap();
        assert!(!format!("{address} {address:?}").contains("hunter2"));
    }

    #[test]
    fn the_first_fitting_line_has_the_password() {
        let text = "# c\nother:*:*:*:no\ndb:5432:team:ci:a\\:b\\\\c\n*:*:*:*:last\n";
        assert_eq!(password_of(["db", "5432", "team", "ci"], text).as_deref(), Some("a:b\\c"));
        assert_eq!(password_of(["db", "5433", "team", "ci"], text).as_deref(), Some("last"));
        assert_eq!(password_of(["db", "1", "team", "ci"], "db:1:team:x:y\nshort"), None);
        assert_eq!(password_of(["h", "1", "d", "u"], "h:1:d:u:p:q").as_deref(), Some("p:q"));
    }
}
