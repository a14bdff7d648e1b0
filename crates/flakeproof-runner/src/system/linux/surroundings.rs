//! What this very process takes on before it starts others: cores, addresses, namespaces, mounts. It must
//! have one thread then.

use std::io::{Error, Result};

use nix::sched::{CloneFlags, CpuSet, sched_getaffinity, sched_setaffinity, unshare};
use nix::sys::personality::{self, Persona};
use nix::unistd::Pid;
use rustix::mount::mount_bind;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};
use rustix::process::{getgid, getuid};

use crate::levers::{FileInPlace, Namespaces};

/// Run on one core only.
pub(crate) fn keep_to_one_core() -> Result<()> {
    let own = Pid::from_raw(0);
    let allowed = sched_getaffinity(own)?;
    let first = (0..CpuSet::count()).find(|core| allowed.is_set(*core) == Ok(true));
    let mut one = CpuSet::new();
    one.set(first.unwrap_or_default())?;
    Ok(sched_setaffinity(own, &one)?)
}

/// Have code and data always at the same place in memory.
pub(crate) fn fix_addresses() -> Result<()> {
    personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    Ok(())
}

/// Enter namespaces of our own.
pub(crate) fn enter_namespaces(which: Namespaces) -> Result<()> {
    let flags = match which {
        Namespaces::User => CloneFlags::CLONE_NEWUSER,
        Namespaces::Loopback | Namespaces::NoNetwork => {
            CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNET
        }
    };
    unshare_as_oneself(flags)?;
    match which {
        Namespaces::User | Namespaces::NoNetwork => Ok(()),
        Namespaces::Loopback => bring_loopback_up(),
    }
}

/// New namespaces, that of users with each mapped to itself.
fn unshare_as_oneself(flags: CloneFlags) -> Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    unshare(flags)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Have files seen in the place of others, by this process and all that it starts.
pub(crate) fn have_files_in_place(files: &[FileInPlace]) -> Result<()> {
    unshare_as_oneself(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    for FileInPlace { seen, place } in files {
        mount_bind(seen, place)?;
    }
    Ok(())
}

/// Switch the first interface of a new network namespace on, which is the loopback, by a message to the
/// kernel: `RTM_NEWLINK` with `IFF_UP`.
fn bring_loopback_up() -> Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const LOOPBACK: i32 = 1;
    const UP: u32 = 1;
    let mut message = Vec::new();
    // The header: length, type, flags, number, sender.
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    // Family, padding and kind of device; which one; its flags, and those to change.
    message.extend([0; 4]);
    message.extend(LOOPBACK.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    let link = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    sendto(&link, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0_u8; 64];
    let (size, _) = recv(&link, &mut answer, RecvFlags::empty())?;
    // The acknowledgement carries a negative error number, or 0, behind its header.
    let code = answer[..size].get(16..20).and_then(|it| <[u8; 4]>::try_from(it).ok());
    match code.map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(code) => Err(Error::from_raw_os_error(-code)),
        None => Err(Error::other("the kernel does not say whether the loopback is up")),
    }
}
