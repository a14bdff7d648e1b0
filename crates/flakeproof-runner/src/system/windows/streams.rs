//! Streams that can be asked whether there is something, and sockets that only this user can reach.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Error, Read as _, Result, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::windows::io::{AsRawHandle as _, OwnedHandle};
use std::path::Path;
use std::time::Duration;

use windows_sys::Win32::System::Pipes::PeekNamedPipe;

use super::super::Wait;

/// The reading end of a pipe.
pub(crate) type OwnedStream = OwnedHandle;

/// The pause between two looks at a pipe: nobody can wait for one here without reading from it.
const PAUSE: Duration = Duration::from_millis(2);

/// How long who connects may take to say the password.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a read would return at once: with something, at the end, or with an error.
pub(crate) fn is_ready(stream: &OwnedStream, wait: Wait) -> bool {
    loop {
        match (waiting_bytes(stream), wait) {
            (Some(0), Wait::Not) => return false,
            (Some(0), Wait::AsLongAsItTakes) => std::thread::sleep(PAUSE),
            // The end is for the read to find.
            (Some(_) | None, _) => return true,
        }
    }
}

/// How many bytes can be read at once; `None` at the end.
#[expect(unsafe_code, reason = "pipes have no safe interface in the crates that we have")]
fn waiting_bytes(stream: &OwnedStream) -> Option<u32> {
    let mut waiting = 0;
    let (nothing, none) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: nothing is copied, and the number outlives the call.
    let is_told = unsafe {
        PeekNamedPipe(
            stream.as_raw_handle(),
            nothing,
            0,
            none,
            &raw mut waiting,
            std::ptr::null_mut(),
        )
    };
    (is_told != 0).then_some(waiting)
}

/// Read what is there; nothing at the end.
pub(crate) fn read(stream: &OwnedStream, piece: &mut [u8]) -> Result<usize> {
    File::from(stream.try_clone()?).read(piece)
}

/// A socket of the loopback, whose address and password are in a file that others cannot read.
#[derive(Debug)]
pub(crate) struct LocalListener {
    listener: TcpListener,
    password: String,
}

/// A connection to such a socket.
#[derive(Debug)]
pub(crate) struct LocalStream(TcpStream);

impl LocalListener {
    /// Listen, and say in a file where.
    pub(crate) fn bind(path: &Path) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let password = password()?;
        let port = listener.local_addr()?.port();
        std::fs::write(path, format!("{port} {password}"))?;
        Ok(Self { listener, password })
    }

    /// Those who connect and know the password.
    pub(crate) fn incoming(&self) -> impl Iterator<Item = Result<LocalStream>> + '_ {
        self.listener.incoming().map(|stream| {
            let stream = stream?;
            stream.set_nodelay(true)?;
            // Whoever connects and says nothing must not keep the others out.
            stream.set_read_timeout(Some(PATIENCE))?;
            let mut said = String::new();
            let most = u64::try_from(self.password.len()).unwrap_or_default() + 1;
            BufReader::with_capacity(1, (&stream).take(most)).read_line(&mut said)?;
            stream.set_read_timeout(None)?;
            match said.trim_end() == self.password {
                true => Ok(LocalStream(stream)),
                false => Err(Error::other("somebody else connected")),
            }
        })
    }
}

impl LocalStream {
    /// Connect to the socket that a file tells of.
    pub(crate) fn connect(path: impl AsRef<Path>) -> Result<Self> {
        let said = std::fs::read_to_string(path)?;
        let (port, password) = said.split_once(' ').ok_or(Error::other("no address"))?;
        let port: u16 = port.parse().map_err(Error::other)?;
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.write_all(format!("{password}\n").as_bytes())?;
        Ok(Self(stream))
    }

    /// A second handle to the same stream.
    pub(crate) fn try_clone(&self) -> Result<Self> {
        self.0.try_clone().map(Self)
    }
}

impl std::io::Read for LocalStream {
    fn read(&mut self, piece: &mut [u8]) -> Result<usize> {
        self.0.read(piece)
    }
}

impl std::io::Write for LocalStream {
    fn write(&mut self, piece: &[u8]) -> Result<usize> {
        self.0.write(piece)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }
}

/// A password that nobody guesses.
fn password() -> Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(Error::other)?;
    Ok(crate::shell::digest(&random))
}
