//! The lever of the network: none at all, or none but this machine's own.
//!
//! A network namespace of their own needs a user namespace for whoever is not root, and that alone makes
//! some tests fail: it is the control of the one, and the one of the other.

use flakeproof_core::LeverName;

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
