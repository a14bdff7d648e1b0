//! The lever of the network: none at all, or none but this machine's own.
//!
//! A network namespace of their own needs a user namespace for whoever is not root, and that alone makes
//! some tests fail: it is the control of the one, and the one of the other.

use flakeproof_core::LeverName;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, sendto, socket};

use super::{Control, Intervention, Lever, Machine, Namespaces, Setting};

/// No network, or none but this machine's own.
#[derive(Debug)]
pub(super) struct NoNetwork;

impl Lever for NoNetwork {
    fn name(&self) -> LeverName {
        LeverName::NoNetwork
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let setting = |value: &str, own: Namespaces, control: (&str, Namespaces), shell: &str| {
            machine.allows(&Intervention::Namespaces(own))?;
            let control = Control {
                value: control.0.to_owned(),
                intervention: Intervention::Namespaces(control.1),
            };
            Ok::<Setting, String>(
                Setting::new(value, Intervention::Namespaces(own)).beside(control).typed(shell),
            )
        };
        let why = |cause: String| format!("a network of its own is not allowed here: {cause}");
        let own_network = "unshare --map-current-user --net -- ";
        let with_loopback =
            "unshare --map-root-user --net -- sh -c 'ip link set lo up; exec \"$0\" \"$@\"' ";
        Ok(vec![
            setting(
                "this machine only",
                Namespaces::Loopback,
                ("a user namespace", Namespaces::User),
                with_loopback,
            )
            .map_err(why)?,
            setting(
                "nothing at all",
                Namespaces::NoNetwork,
                ("this machine only", Namespaces::Loopback),
                own_network,
            )
            .map_err(why)?
            .unlike_any_machine(),
        ])
    }
}

/// Switch the first interface of a new network namespace on, which is the loopback, by a message to the
/// kernel: `RTM_NEWLINK` with `IFF_UP`.
pub(super) fn bring_loopback_up() -> std::io::Result<()> {
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
        Some(code) => Err(std::io::Error::from_raw_os_error(-code)),
        None => Err(std::io::Error::other("the kernel does not say whether the loopback is up")),
    }
}
