//! The lever of names: no machine is found by its name.
//!
//! The files by which names are looked up are replaced by others, in a namespace of mounts that only the
//! test sees: a server of names that cannot be asked, and no table of hosts. A lookup fails at once, and the
//! network itself stays as it is. Copies of the true files in their place are the control.

use std::path::{Path, PathBuf};

use flakeproof_core::LeverName;
use serde::{Deserialize, Serialize};

use super::{Control, Intervention, Lever, Machine, Setting};

/// Names of machines that nobody knows.
#[derive(Debug)]
pub(super) struct NoDns;

/// A file that stands in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileInPlace {
    /// What is seen there.
    pub seen: PathBuf,
    /// Where.
    pub place: PathBuf,
}

const SERVERS: &str = "/etc/resolv.conf";
const WAYS: &str = "/etc/nsswitch.conf";
const HOSTS: &str = "/etc/hosts";

/// Nobody may send to everybody, so that this fails at once and does not wait for an answer.
const NO_SERVER: &str = "nameserver 255.255.255.255\noptions timeout:1 attempts:1\n";

impl Lever for NoDns {
    fn name(&self) -> LeverName {
        LeverName::NoDns
    }

    fn settings(&self, machine: &Machine) -> Result<Vec<Setting>, String> {
        let all = [SERVERS, WAYS, HOSTS].into_iter().filter(|it| Path::new(it).is_file());
        let all: Vec<&str> = all.collect();
        if !all.contains(&SERVERS) {
            return Err(format!("this machine has no {SERVERS}, by which names are looked up"));
        }
        let read = |place: &str| std::fs::read_to_string(place).unwrap_or_default();
        let copy = in_place(machine, "as-it-is", &all, read)?;
        machine.allows(&copy).map_err(|cause| {
            format!("other files in the place of {SERVERS} are not allowed here: {cause}")
        })?;
        let with = |value: &str, folder: &str, hosts: &str| {
            let text = |place: &str| match place {
                SERVERS => NO_SERVER.to_owned(),
                WAYS => only_files_and_servers(&read(WAYS)),
                _ => hosts.to_owned(),
            };
            let control = Control {
                value: "copies of the files by which names are looked up".to_owned(),
                intervention: copy.clone(),
            };
            Ok::<Setting, String>(
                Setting::new(value, in_place(machine, folder, &all, text)?).beside(control),
            )
        };
        Ok(vec![
            with("no name but those of this machine", "own-names", &read(HOSTS))?,
            with("no name at all", "no-names", "")?.unlike_any_machine(),
        ])
    }
}

/// Files with these texts in the place of others.
fn in_place(
    machine: &Machine,
    folder: &str,
    places: &[&str],
    text: impl Fn(&str) -> String,
) -> Result<Intervention, String> {
    let folder = machine.file(folder).ok_or("there is no place for a temporary file")?;
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let file = |place: &&str| {
        let place = PathBuf::from(place);
        let seen = folder.join(place.file_name().unwrap_or_default());
        std::fs::write(&seen, text(&place.to_string_lossy()))?;
        Ok(FileInPlace { seen, place })
    };
    let files: std::io::Result<Vec<FileInPlace>> = places.iter().map(file).collect();
    Ok(Intervention::FilesInPlace(files.map_err(|error| error.to_string())?))
}

/// The ways in which names are looked up, with none for hosts but the table and the servers: others answer
/// for this machine by themselves.
fn only_files_and_servers(ways: &str) -> String {
    let line = |line: &str| match line.trim_start().starts_with("hosts:") {
        true => "hosts: files dns\n".to_owned(),
        false => format!("{line}\n"),
    };
    ways.lines().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_to_hosts_is_another_one() {
        let ways = "passwd: files systemd\nhosts:  files myhostname dns\n";
        assert_eq!(only_files_and_servers(ways), "passwd: files systemd\nhosts: files dns\n");
    }
}
