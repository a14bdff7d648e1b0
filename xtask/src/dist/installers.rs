//! What installs a release from where it is published: scripts, a formula for Homebrew and the definition
//! of an image. They name the archives that lie beside them, with their checksums.

use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::{NamedFile, hex};

/// Where releases are published.
const RELEASES: &str = "https://github.com/flakeproof/flakeproof/releases/download";

/// What is the same but for the version.
const TEMPLATES: [(&str, &str); 3] = [
    ("install.sh", include_str!("templates/install.sh")),
    ("install.ps1", include_str!("templates/install.ps1")),
    ("Containerfile", include_str!("templates/Containerfile")),
];

/// The platforms of Homebrew: its words for a system and a processor, and our target.
const HOMEBREW: [(&str, &str, &str); 4] = [
    ("macos", "arm", "aarch64-apple-darwin"),
    ("macos", "intel", "x86_64-apple-darwin"),
    ("linux", "arm", "aarch64-unknown-linux-musl"),
    ("linux", "intel", "x86_64-unknown-linux-musl"),
];

/// The scripts and the definition of an image.
pub(super) fn installers(version: &str) -> Vec<NamedFile> {
    let address = format!("{RELEASES}/v{version}");
    let filled = |text: &str| text.replace("VERSION", version).replace("ADDRESS", &address);
    TEMPLATES
        .map(|(name, text)| NamedFile { name: name.to_owned(), bytes: filled(text).into_bytes() })
        .into()
}

/// The formula, for the archives that are in a folder; none where there is none of them.
pub(super) fn formula(version: &str, folder: &Path) -> Option<NamedFile> {
    let mut systems = String::new();
    for system in ["macos", "linux"] {
        let mut processors = String::new();
        for (_, processor, target) in HOMEBREW.iter().filter(|it| it.0 == system) {
            let archive = format!("flakeproof-{version}-{target}.tar.gz");
            let Ok(bytes) = std::fs::read(folder.join(&archive)) else { continue };
            let sum = hex(&Sha256::digest(bytes));
            processors += &format!(
                "    on_{processor} do\n      url \"{RELEASES}/v{version}/{archive}\"\n      \
                 sha256 \"{sum}\"\n    end\n"
            );
        }
        if !processors.is_empty() {
            systems += &format!("  on_{system} do\n{processors}  end\n");
        }
    }
    if systems.is_empty() {
        return None;
    }
    let text = format!(
        "class Flakeproof < Formula\n  \
         desc \"Find, predict, explain and triage tests that pass and fail on the same code\"\n  \
         homepage \"https://github.com/flakeproof/flakeproof\"\n  version \"{version}\"\n  \
         license any_of: [\"MIT\", \"Apache-2.0\"]\n\n{systems}\n  def install\n    \
         bin.install \"flakeproof\"\n    man1.install Dir[\"man/*.1\"]\n    \
         generate_completions_from_executable(bin/\"flakeproof\", \"completions\")\n  end\n\n  \
         test do\n    assert_match version.to_s, shell_output(\"#{{bin}}/flakeproof --version\")\n  \
         end\nend\n"
    );
    Some(NamedFile { name: "flakeproof.rb".into(), bytes: text.into_bytes() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_installs_names_the_version_and_no_word_that_stands_for_it() {
        for file in installers("1.2.3") {
            let text = String::from_utf8(file.bytes).expect("a text");
            assert!(text.contains("1.2.3"), "{}", file.name);
            assert!(!text.contains("VERSION") && !text.contains("ADDRESS"), "{}", file.name);
        }
    }

    #[test]
    fn the_formula_has_the_checksum_of_every_archive_that_is_there_and_no_other() {
        let folder = std::env::temp_dir().join(format!("formula-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        assert!(formula("1.2.3", &folder).is_none());
        let archive = folder.join("flakeproof-1.2.3-x86_64-unknown-linux-musl.tar.gz");
        std::fs::write(archive, "x").expect("it is written");
        let formula = formula("1.2.3", &folder).expect("an archive is there");
        std::fs::remove_dir_all(&folder).expect("it is ours");
        let text = String::from_utf8(formula.bytes).expect("a text");
        assert!(text.contains("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"));
        assert!(text.contains("on_linux") && !text.contains("on_macos"), "{text}");
    }
}
