//! One connection to the database: opened with TLS where asked for, opened anew when it was cut, and what
//! its troubles mean for the history.
//!
//! Every statement of a history can be sent twice: rows have keys that whoever writes them chooses. So
//! work that a cut connection interrupted is done again on a new one, once.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeproof_core::HistoryError;
use postgres::error::{DbError, SqlState};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::{Client, NoTls, Transaction};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::PostgresAddress;
use super::address::Tls;
use super::schema;
use crate::worded::UnknownWord;

/// How long to wait between two tries to reach a server that starts.
const PAUSE: Duration = Duration::from_millis(100);

/// A connection that opens anew when it was cut.
pub(super) struct Connection {
    address: PostgresAddress,
    client: RefCell<Client>,
}

/// Why work was not done.
pub(super) enum Fault {
    /// The database refuses it or is gone.
    Database(postgres::Error),
    /// What it holds makes no sense.
    Damaged(String),
    /// What is asked for is not possible.
    Refused(String),
}

impl From<postgres::Error> for Fault {
    fn from(error: postgres::Error) -> Self {
        Self::Database(error)
    }
}

impl From<UnknownWord> for Fault {
    fn from(error: UnknownWord) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// What comes of work with the database.
pub(super) type Done<T> = Result<T, Fault>;

/// Whether work is done for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Try {
    /// It is.
    First,
    /// It was begun before a connection was cut: what it writes may be there already.
    Again,
}

impl Connection {
    /// Connect, and bring the tables up to date.
    pub(super) fn open(address: PostgresAddress) -> Result<Self, HistoryError> {
        let mut client = connect(&address)?;
        schema::migrate(&mut client, &address)
            .map_err(|fault| error_of(&address, fault))?
            .map_err(|found| newer(&address, found))?;
        Ok(Self { address, client: RefCell::new(client) })
    }

    /// Connect for looking only: tables that are not up to date are an error.
    pub(super) fn look(address: PostgresAddress) -> Result<Self, HistoryError> {
        let mut client = connect(&address)?;
        let version =
            schema::version(&mut client, &address).map_err(|fault| error_of(&address, fault))?;
        let place = || address.to_string();
        match version {
            Some(version) if version > schema::KNOWN => Err(newer(&address, version)),
            Some(schema::KNOWN) => Ok(Self { address, client: RefCell::new(client) }),
            Some(_) => Err(HistoryError::Unwritable {
                place: place(),
                cause: "it was written by an older version and is not up to date".to_owned(),
            }),
            None => Err(HistoryError::Unreadable {
                place: place(),
                cause: format!("there is none in the schema `{}`", address.schema()),
            }),
        }
    }

    /// Do work in one transaction; again on a new connection if this one is cut meanwhile.
    pub(super) fn work<T>(
        &self,
        work: impl Fn(&mut Transaction<'_>, Try) -> Done<T>,
    ) -> Result<T, HistoryError> {
        match self.once(&work, Try::First) {
            Err(Fault::Database(error)) if is_passing(&error) => {
                if error.is_closed() || error.code().is_none_or(is_end_of_connection) {
                    *self.client.borrow_mut() = self.reconnect()?;
                }
                self.once(&work, Try::Again)
            }
            done => done,
        }
        .map_err(|fault| error_of(&self.address, fault))
    }

    /// Hear of what others tell on a channel, from now on.
    pub(super) fn listen(&self, channel: &str) -> Result<(), HistoryError> {
        let listen = format!("LISTEN {channel}");
        self.work(|transaction, _| Ok(transaction.batch_execute(&listen)?))
    }

    /// Wait until somebody tells something on a channel that is listened to, at most so long. A connection
    /// that is cut shows itself at the next work.
    pub(super) fn wait_for_notification(&self, time: Duration) {
        let heard = self.client.borrow_mut().notifications().timeout_iter(time).next();
        if heard.is_err() {
            std::thread::sleep(PAUSE.min(time));
        }
    }

    fn once<T>(&self, work: &impl Fn(&mut Transaction<'_>, Try) -> Done<T>, which: Try) -> Done<T> {
        let mut client = self.client.borrow_mut();
        let mut transaction = client.transaction()?;
        let value = work(&mut transaction, which)?;
        transaction.commit()?;
        Ok(value)
    }

    /// A new connection, from a server that may be starting.
    fn reconnect(&self) -> Result<Client, HistoryError> {
        let deadline = Instant::now() + self.address.connect_timeout();
        loop {
            match connect(&self.address) {
                Err(HistoryError::Unreachable { .. }) if Instant::now() < deadline => {
                    std::thread::sleep(PAUSE);
                }
                other => return other,
            }
        }
    }

    pub(super) fn address(&self) -> &PostgresAddress {
        &self.address
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Connection").field(&self.address).finish()
    }
}

fn newer(address: &PostgresAddress, found: i32) -> HistoryError {
    HistoryError::Newer {
        place: address.to_string(),
        found: found.unsigned_abs(),
        known: schema::KNOWN.unsigned_abs(),
    }
}

/// Whether work may succeed when it is done again.
fn is_passing(error: &postgres::Error) -> bool {
    match error.code() {
        Some(code) => {
            is_end_of_connection(code)
                || *code == SqlState::T_R_DEADLOCK_DETECTED
                || *code == SqlState::T_R_SERIALIZATION_FAILURE
        }
        None => error.is_closed() || is_of_the_line(error),
    }
}

/// Whether a server says this when it ends a connection.
fn is_end_of_connection(code: &SqlState) -> bool {
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_SESSION_TIMEOUT,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ]
    .contains(code)
}

/// Whether the trouble is that of the line, not of a value or a statement.
fn is_of_the_line(error: &postgres::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(it) = cause {
        if it.is::<std::io::Error>() {
            return true;
        }
        cause = it.source();
    }
    false
}

/// Connect, and say how long statements may take and where tables are.
fn connect(address: &PostgresAddress) -> Result<Client, HistoryError> {
    let place = || address.to_string();
    let unreachable = |cause: String| HistoryError::Unreachable { place: place(), cause };
    let config = address.config().map_err(unreachable)?;
    let client = match address.tls() {
        Tls::Off => config.connect(NoTls),
        tls => config.connect(MakeRustlsConnect::new(tls_config(tls).map_err(unreachable)?)),
    };
    let mut client = client.map_err(|error| unreachable(said(&error)))?;
    let set = format!(
        "SET search_path TO {}; SET statement_timeout TO {}; SET client_min_messages TO warning",
        address.schema(),
        address.statement_timeout().as_millis(),
    );
    client.batch_execute(&set).map_err(|error| unreachable(said(&error)))?;
    Ok(client)
}

fn tls_config(tls: &Tls) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(match tls {
        Tls::Verified { roots } => {
            builder.with_root_certificates(trusted(roots.as_deref())?).with_no_client_auth()
        }
        Tls::Off | Tls::Encrypted { .. } => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyServer(provider)))
            .with_no_client_auth(),
    })
}

/// The certificates that are trusted: those of a file, or of this machine.
fn trusted(file: Option<&std::path::Path>) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    let Some(file) = file.filter(|file| file.as_os_str() != "system") else {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return match store.is_empty() {
            true => Err("this machine trusts no certificates; name some with `sslrootcert`".into()),
            false => Ok(store),
        };
    };
    let unreadable = |error: &dyn std::fmt::Display| {
        format!("the certificates in {} cannot be read: {error}", file.display())
    };
    let found = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))?;
    for certificate in found {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        store.add(certificate).map_err(|error| unreadable(&error))?;
    }
    match store.is_empty() {
        true => Err(unreadable(&"there is none")),
        false => Ok(store),
    }
}

/// Takes whoever answers, as `sslmode=require` asks for: against those who only listen.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// What trouble means for the history.
pub(super) fn error_of(address: &PostgresAddress, fault: Fault) -> HistoryError {
    let place = address.to_string();
    match fault {
        Fault::Damaged(cause) => HistoryError::Unreadable { place, cause },
        Fault::Refused(cause) => HistoryError::Unwritable { place, cause },
        Fault::Database(error) => {
            let cause = said(&error);
            match error.code() {
                Some(code) if is_end_of_connection(code) => {
                    HistoryError::Unreachable { place, cause }
                }
                None if error.is_closed() || is_of_the_line(&error) => {
                    HistoryError::Unreachable { place, cause }
                }
                Some(code)
                    if [SqlState::UNDEFINED_TABLE, SqlState::UNDEFINED_COLUMN].contains(code) =>
                {
                    HistoryError::Unreadable { place, cause }
                }
                Some(_) => HistoryError::Unwritable { place, cause },
                None => HistoryError::Unreadable { place, cause },
            }
        }
    }
}

/// What the database or the line says, without what the driver puts before it.
fn said(error: &postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let hint = error.hint().map(|hint| format!(" ({hint})"));
        return format!("{}{}", DbError::message(error), hint.unwrap_or_default());
    }
    let mut cause: &dyn std::error::Error = error;
    loop {
        let inner = cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        if let Some(trouble) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            return of_tls(trouble);
        }
        let Some(source) = cause.source() else { return cause.to_string() };
        cause = source;
    }
}

/// What is wrong with an encrypted line, and for a certificate what to do about it.
fn of_tls(trouble: &rustls::Error) -> String {
    use rustls::CertificateError as Bad;
    let rustls::Error::InvalidCertificate(bad) = trouble else { return trouble.to_string() };
    match bad {
        Bad::Expired | Bad::ExpiredContext { .. } => {
            "the certificate of the server has expired; whoever runs it must renew it".to_owned()
        }
        Bad::NotValidYet | Bad::NotValidYetContext { .. } => {
            "the certificate of the server does not hold yet; is the clock of this machine right?".to_owned()
        }
        // Another signer of the same name signs otherwise.
        Bad::UnknownIssuer | Bad::BadSignature => {
            "the certificate of the server is signed by nobody who is trusted here; name the file of who \
             signed it with `sslrootcert=FILE`"
                .to_owned()
        }
        Bad::NotValidForName | Bad::NotValidForNameContext { .. } => {
            "the certificate of the server is for another name; use the name that it is for".to_owned()
        }
        other => format!("the certificate of the server cannot be trusted: {other}"),
    }
}
