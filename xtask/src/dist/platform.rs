//! The platforms that packages are made for, and what each kind of package calls them.

/// A platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Platform {
    /// What Rust calls it.
    pub(super) target: &'static str,
    /// What npm calls its system, processor and C library.
    pub(super) npm: (&'static str, &'static str, Option<&'static str>),
    /// What a wheel calls it, but for the version of glibc, which the program itself tells.
    pub(super) wheel: Wheel,
    /// What Debian calls it.
    pub(super) debian: Option<&'static str>,
}

/// The platform tag of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wheel {
    /// Linux with glibc, on this processor.
    Glibc(&'static str),
    /// A whole tag.
    Tag(&'static str),
}

const fn platform(
    target: &'static str,
    npm: (&'static str, &'static str, Option<&'static str>),
    wheel: Wheel,
    debian: Option<&'static str>,
) -> Platform {
    Platform { target, npm, wheel, debian }
}

/// All of them. A program that is linked with musl needs no library, so it runs beside glibc too.
pub(super) const PLATFORMS: [Platform; 7] = [
    platform(
        "x86_64-unknown-linux-gnu",
        ("linux", "x64", Some("glibc")),
        Wheel::Glibc("x86_64"),
        Some("amd64"),
    ),
    platform(
        "aarch64-unknown-linux-gnu",
        ("linux", "arm64", Some("glibc")),
        Wheel::Glibc("aarch64"),
        Some("arm64"),
    ),
    platform(
        "x86_64-unknown-linux-musl",
        ("linux", "x64", Some("musl")),
        Wheel::Tag("musllinux_1_1_x86_64"),
        None,
    ),
    platform(
        "aarch64-unknown-linux-musl",
        ("linux", "arm64", Some("musl")),
        Wheel::Tag("musllinux_1_1_aarch64"),
        None,
    ),
    platform(
        "x86_64-apple-darwin",
        ("darwin", "x64", None),
        Wheel::Tag("macosx_10_12_x86_64"),
        None,
    ),
    platform(
        "aarch64-apple-darwin",
        ("darwin", "arm64", None),
        Wheel::Tag("macosx_11_0_arm64"),
        None,
    ),
    platform("x86_64-pc-windows-gnu", ("win32", "x64", None), Wheel::Tag("win_amd64"), None),
];

impl Platform {
    /// The platform of a target; without one, of this machine.
    pub(super) fn of(target: Option<&str>) -> Result<&'static Self, String> {
        let own = || format!("{}-unknown-{}-gnu", std::env::consts::ARCH, std::env::consts::OS);
        let target = target.map_or_else(own, str::to_owned);
        let found = PLATFORMS.iter().find(|it| it.target == target);
        let all = || PLATFORMS.map(|it| it.target).join(", ");
        found.ok_or_else(|| format!("no packages are made for {target}, only for {}", all()))
    }

    /// The name of npm's package of it.
    pub(super) fn npm_package(&self) -> String {
        let (system, processor, library) = self.npm;
        let musl = if library == Some("musl") { "-musl" } else { "" };
        format!("@flakeproof/{system}-{processor}{musl}")
    }

    /// What the program is called.
    pub(super) fn program(&self) -> &'static str {
        if self.target.contains("windows") { "flakeproof.exe" } else { "flakeproof" }
    }

    /// The platform tag of a wheel with this program.
    pub(super) fn wheel_tag(&self, program: &[u8]) -> String {
        match self.wheel {
            Wheel::Tag(tag) => tag.to_owned(),
            Wheel::Glibc(processor) => {
                let (major, minor) = newest_glibc(program);
                format!("manylinux_{major}_{minor}_{processor}")
            }
        }
    }
}

/// The newest version of glibc that a program asks for; never older than 2.17, which all of them have.
fn newest_glibc(program: &[u8]) -> (u32, u32) {
    const NAME: &[u8] = b"GLIBC_";
    let mut newest = (2, 17);
    let mut rest = program;
    while let Some(at) = find(rest, NAME) {
        rest = &rest[at + NAME.len()..];
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.');
        let version = String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]).into_owned();
        let mut numbers = version.split('.').map_while(|it| it.parse().ok());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) {
            newest = newest.max((major, minor));
        }
    }
    newest
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_that_is_asked_for_is_the_one_that_counts() {
        assert_eq!(newest_glibc(b"..GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.4\0GLIBC_PRIVATE"), (2, 34));
        assert_eq!(newest_glibc(b"nothing"), (2, 17));
    }

    #[test]
    fn every_platform_has_a_package_of_its_own() {
        let names: std::collections::BTreeSet<String> =
            PLATFORMS.iter().map(Platform::npm_package).collect();
        assert_eq!(names.len(), PLATFORMS.len());
        assert!(Platform::of(Some("sparc-sun-solaris")).is_err());
    }
}
