//! System calls of a command that are held up or refused, by the kernel's user notification (seccomp).
//!
//! A filter in the thread that starts the command tells us of every such call, in it and in all that it
//! starts, whether it was linked with a C library or not. It needs no rights, except that the command may
//! not gain any either. Each call waits for our answer: go on now, go on later, or fail. Calls that are not
//! asked for never come here, and cost nothing.

use std::collections::BTreeMap;
use std::io::{Error, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::libc;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::readlink;
use rustix::net::AddressFamily;
use rustix::net::sockopt::socket_domain;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use crate::levers::{CallEffect, HeldCalls, SlowCall};

/// The system calls behind each name, on this processor.
fn numbers(call: SlowCall) -> &'static [libc::c_long] {
    match call {
        SlowCall::Connect => &[libc::SYS_connect],
        SlowCall::Accept => &[
            #[cfg(target_arch = "x86_64")]
            libc::SYS_accept,
            libc::SYS_accept4,
        ],
        SlowCall::Send => &[
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
            libc::SYS_write,
            libc::SYS_writev,
        ],
        SlowCall::Receive => &[
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_recvmmsg,
            libc::SYS_read,
            libc::SYS_readv,
        ],
        SlowCall::Network => &[
            libc::SYS_connect,
            libc::SYS_sendto,
            libc::SYS_sendmsg,
            libc::SYS_sendmmsg,
            libc::SYS_write,
            libc::SYS_writev,
            libc::SYS_recvfrom,
            libc::SYS_recvmsg,
            libc::SYS_recvmmsg,
            libc::SYS_read,
            libc::SYS_readv,
        ],
        SlowCall::Open => &[
            #[cfg(target_arch = "x86_64")]
            libc::SYS_open,
            libc::SYS_openat,
            libc::SYS_openat2,
        ],
        SlowCall::Sync => &[libc::SYS_fsync, libc::SYS_fdatasync],
        SlowCall::Rename => &[
            #[cfg(target_arch = "x86_64")]
            libc::SYS_rename,
            #[cfg(target_arch = "x86_64")]
            libc::SYS_renameat,
            libc::SYS_renameat2,
        ],
    }
}

/// What a refused call fails with: what a real machine says.
fn refusal(call: SlowCall) -> i32 {
    match call {
        SlowCall::Connect => libc::ECONNREFUSED,
        SlowCall::Accept => libc::ECONNABORTED,
        SlowCall::Send | SlowCall::Receive | SlowCall::Network => libc::ECONNRESET,
        SlowCall::Open => libc::EMFILE,
        SlowCall::Sync => libc::EIO,
        SlowCall::Rename => libc::EACCES,
    }
}

/// How the kernel names this processor.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_003E);
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: Option<u32> = Some(0xC000_00B7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: Option<u32> = None;

/// Run something on a thread whose calls, and those of all that it starts, are answered from here.
///
/// # Errors
/// Where the system does not allow it, or what was run failed.
pub(crate) fn with_held_calls<T: Send>(
    held: &HeldCalls,
    start: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let (sender, listener) = std::sync::mpsc::channel();
    let answering = held.clone();
    // It must be there before the filter is, and outside of it.
    std::thread::spawn(move || {
        if let Ok(listener) = listener.recv() {
            answer(&listener, &answering);
        }
    });
    std::thread::scope(|scope| {
        let filtered = scope.spawn(move || {
            let listener = listen(numbers(held.call))?;
            sender.send(listener).map_err(|_| Error::other("nobody answers"))?;
            start()
        });
        filtered.join().unwrap_or_else(|_| Err(Error::other("the thread that starts it is gone")))
    })
}

/// Whether this system lets a process hear of calls.
///
/// # Errors
/// Why not.
pub(crate) fn can_hold_calls() -> Result<()> {
    // A thread of its own has the filter then, and nothing else does.
    let tried = std::thread::spawn(|| listen(&[libc::SYS_renameat2]).map(drop)).join();
    tried.unwrap_or_else(|_| Err(Error::other("the thread that tried is gone")))
}

/// Install a filter for these calls in this thread.
#[expect(unsafe_code, reason = "seccomp has no safe interface in the crates that we have")]
fn listen(calls: &[libc::c_long]) -> Result<OwnedFd> {
    let mut program = program(calls)?;
    let filter = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: it takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(Error::last_os_error());
    }
    // SAFETY: the filter and the program that it points to live until the call returns, and the kernel
    // copies them.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const filter,
        )
    };
    match i32::try_from(listener) {
        // SAFETY: the kernel has just made it, and nobody else has it.
        Ok(listener) if listener >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(listener) }),
        _ => Err(Error::last_os_error()),
    }
}

/// The filter: tell us of these calls, and let all others through.
fn program(calls: &[libc::c_long]) -> Result<Vec<libc::sock_filter>> {
    const LOAD: u16 = 0x20;
    const IS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const NUMBER_AT: u32 = 0;
    const ARCHITECTURE_AT: u32 = 4;
    let architecture =
        ARCHITECTURE.ok_or_else(|| Error::other("the calls of this processor are not known"))?;
    let step = |code: u16, jt: u8, jf: u8, k: u32| libc::sock_filter { code, jt, jf, k };
    let many = u8::try_from(calls.len()).map_err(Error::other)?;
    let mut program = vec![
        step(LOAD, 0, 0, ARCHITECTURE_AT),
        // Another architecture numbers its calls in another way: over all of them, to the end.
        step(IS_EQUAL, 0, many + 1, architecture),
        step(LOAD, 0, 0, NUMBER_AT),
    ];
    for (left, call) in (1..=many).rev().zip(calls) {
        let number = u32::try_from(*call).map_err(Error::other)?;
        program.push(step(IS_EQUAL, left, 0, number));
    }
    program.push(step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW));
    program.push(step(RETURN, 0, 0, libc::SECCOMP_RET_USER_NOTIF));
    Ok(program)
}

/// Answer calls until nobody is left to make any.
fn answer(listener: &OwnedFd, held: &HeldCalls) {
    let mut waiting: BTreeMap<(Instant, u64), ()> = BTreeMap::new();
    loop {
        let now = Instant::now();
        while let Some(entry) = waiting.first_entry().filter(|it| it.key().0 <= now) {
            let ((_, id), ()) = entry.remove_entry();
            respond(listener, id, None);
        }
        let pause = waiting.keys().next().map(|(until, _)| until.saturating_duration_since(now));
        let Some(heard) = wait_for_a_call(listener, pause) else { return };
        if !heard {
            continue;
        }
        let Some(call) = receive(listener) else { continue };
        let id = call.id;
        match held.effect {
            _ if !is_open(&held.gate) => respond(listener, id, None),
            _ if !is_meant(&call, held.call) => respond(listener, id, None),
            CallEffect::Delayed(time) if !time.is_zero() => {
                waiting.insert((Instant::now() + time, id), ());
            }
            CallEffect::Delayed(_) => respond(listener, id, None),
            CallEffect::Refused => respond(listener, id, Some(refusal(held.call))),
        }
    }
}

/// Calls are held up while a test runs, and not while its runner starts.
fn is_open(gate: &Path) -> bool {
    gate.exists()
}

/// A call that waits for an answer.
struct Call {
    id: u64,
    /// The thread that makes it.
    thread: i32,
    number: libc::c_long,
    /// Its first argument, which is a descriptor where it is about one.
    descriptor: i32,
}

/// Whether a call is one of those that are held up. What reads and writes is so only on sockets of the
/// internet: by the same calls, files are read and processes talk to each other.
fn is_meant(call: &Call, held: SlowCall) -> bool {
    let is_for_files =
        [libc::SYS_read, libc::SYS_readv, libc::SYS_write, libc::SYS_writev].contains(&call.number);
    (held != SlowCall::Network && !is_for_files) || is_on_the_internet(call)
}

/// Whether a call is about a socket of the internet, which the loopback belongs to.
fn is_on_the_internet(call: &Call) -> bool {
    let place = format!("/proc/{}/fd/{}", call.thread, call.descriptor);
    let is_socket =
        readlink(place, Vec::new()).is_ok_and(|it| it.to_bytes().starts_with(b"socket:"));
    let domain = || {
        let process = Pid::from_raw(process_of(call.thread)?)?;
        let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
        let socket = pidfd_getfd(process, call.descriptor, PidfdGetfdFlags::empty()).ok()?;
        socket_domain(socket).ok()
    };
    is_socket
        && domain().is_some_and(|it| [AddressFamily::INET, AddressFamily::INET6].contains(&it))
}

/// The process that a thread belongs to.
fn process_of(thread: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

/// Whether there is a call to answer, after this time at most; `None` when there will never be one again.
fn wait_for_a_call(listener: &OwnedFd, pause: Option<Duration>) -> Option<bool> {
    let mut polled = [PollFd::new(listener, PollFlags::IN)];
    let pause = pause.map(|it| Timespec {
        tv_sec: i64::try_from(it.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(it.subsec_nanos()),
    });
    match poll(&mut polled, pause.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Some(false),
        Ok(_) if polled[0].revents().contains(PollFlags::IN) => Some(true),
        Ok(_) | Err(_) => None,
    }
}

/// The next call; `None` if who made it is gone already.
#[expect(unsafe_code, reason = "seccomp has no safe interface in the crates that we have")]
fn receive(listener: &OwnedFd) -> Option<Call> {
    // SAFETY: it is made of numbers, and the kernel wants it zeroed.
    let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: the request is for a structure of this type, which outlives the call.
    let heard =
        unsafe { libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) };
    (heard == 0).then(|| Call {
        id: call.id,
        thread: i32::try_from(call.pid).unwrap_or_default(),
        number: libc::c_long::from(call.data.nr),
        // A descriptor has 32 bits; what is above them is nobody's.
        descriptor: i32::try_from(call.data.args[0] & u64::from(u32::MAX)).unwrap_or(-1),
    })
}

/// Let a call go on, or fail with an error number. One that is gone needs no answer.
#[expect(unsafe_code, reason = "seccomp has no safe interface in the crates that we have")]
fn respond(listener: &OwnedFd, id: u64, error: Option<i32>) {
    let flags = match error {
        None => u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1),
        Some(_) => 0,
    };
    let mut response = libc::seccomp_notif_resp { id, val: 0, error: -error.unwrap_or(0), flags };
    // SAFETY: the request is for a structure of this type, which outlives the call.
    let _ = unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response)
    };
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn every_call_of_the_filter_leads_to_the_same_end() {
        let program = program(&[10, 20, 30]).expect("this processor is known");
        assert_eq!(program.len(), 8);
        let lands = |at: usize| at + 1 + usize::from(program[at].jt);
        assert_eq!([lands(3), lands(4), lands(5)], [7, 7, 7]);
        assert_eq!(program[7].k, libc::SECCOMP_RET_USER_NOTIF);
        assert_eq!(1 + 1 + usize::from(program[1].jf), 6, "another architecture is let through");
        assert_eq!(program[6].k, libc::SECCOMP_RET_ALLOW);
    }

    #[test]
    fn a_slow_network_is_no_slow_file_and_no_slow_neighbour() {
        if can_hold_calls().is_err() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (gate, path) = (folder.path().join("gate"), folder.path().join("a"));
        std::fs::write(&gate, "").expect("it is opened");
        std::fs::write(&path, "a").expect("it is written");
        let held = HeldCalls { call: SlowCall::Network, effect: CallEffect::Refused, gate };
        let file = with_held_calls(&held, || std::fs::read(&path));
        assert_eq!(file.expect("a file is no network"), b"a");
        let (mut one, mut two) = UnixStream::pair().expect("two ends");
        let told = with_held_calls(&held, move || {
            one.write_all(b"a")?;
            two.read_exact(&mut [0])
        });
        told.expect("processes of this machine talk as ever");
        let server = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = server.local_addr().expect("it has one");
        let refused = with_held_calls(&held, || TcpStream::connect(address));
        assert_eq!(refused.expect_err("it is").raw_os_error(), Some(libc::ECONNRESET));
        // `write` and not `send`, as Go does.
        let mut client = TcpStream::connect(address).expect("a server");
        let written = with_held_calls(&held, move || {
            rustix::io::write(&client, b"a")?;
            client.flush()
        });
        assert_eq!(written.expect_err("it is").raw_os_error(), Some(libc::ECONNRESET));
    }

    #[test]
    fn a_refused_call_fails_and_the_others_do_not() {
        if can_hold_calls().is_err() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&from, "a").expect("it is written");
        let gate = folder.path().join("gate");
        let held = HeldCalls { call: SlowCall::Rename, effect: CallEffect::Refused, gate };
        let rename = || std::fs::rename(&from, &to);
        with_held_calls(&held, rename).expect("the gate is closed");
        std::fs::rename(&to, &from).expect("this thread has no filter");
        std::fs::write(&held.gate, "").expect("it is opened");
        let refused = with_held_calls(&held, rename).expect_err("the gate is open");
        assert_eq!(refused.raw_os_error(), Some(libc::EACCES));
        let written = with_held_calls(&held, || std::fs::write(&from, "b"));
        written.expect("nothing but renaming is refused");
    }
}
