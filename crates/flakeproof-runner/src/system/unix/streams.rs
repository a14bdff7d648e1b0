//! Streams that can be asked whether there is something, and sockets that only this user can reach.

use std::io::Result;
use std::os::fd::OwnedFd;
pub(crate) use std::os::unix::net::{UnixListener as LocalListener, UnixStream as LocalStream};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

use super::super::Wait;

/// The reading end of a pipe.
pub(crate) type OwnedStream = OwnedFd;

/// Whether a read would return at once: with something, at the end, or with an error.
pub(crate) fn is_ready(stream: &OwnedStream, wait: Wait) -> bool {
    let at_once = Timespec::default();
    let limit = match wait {
        Wait::Not => Some(&at_once),
        Wait::AsLongAsItTakes => None,
    };
    let mut asked = [PollFd::new(stream, PollFlags::IN)];
    // An error is for the read to find.
    retry_on_intr(|| poll(&mut asked, limit)).is_ok_and(|ready| ready > 0)
}

/// Read what is there; nothing at the end.
pub(crate) fn read(stream: &OwnedStream, piece: &mut [u8]) -> Result<usize> {
    Ok(retry_on_intr(|| rustix::io::read(stream, &mut *piece))?)
}
