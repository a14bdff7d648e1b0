//! The model inside the program: trained on the public Java data that lies beside the repository.
//!
//! The data sets name the same projects differently (`square-okhttp`, `okhttp`). A project that is
//! held out must be out as a whole, so names are brought to one form first.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lz4::block::CompressionMode;
use serde_json::Value;

use crate::{cargo, root, run};

const DATA: [&str; 3] = ["flakeflagger", "deflaker", "categories"];

/// Their tests stay although others have them, too.
const BEST: [&str; 2] = ["flakeflagger", "categories"];

/// Owners that a data set puts before a project's name.
const OWNERS: [&str; 21] = [
    "activiti",
    "alluxio",
    "apache",
    "doanduyhai",
    "elasticjob",
    "google",
    "hector-client",
    "jknack",
    "joel-costigliola",
    "kevinsawicki",
    "ninjaframework",
    "orbit",
    "qos-ch",
    "spring-projects",
    "square",
    "togglz",
    "tootallnate",
    "undertow-io",
    "wildfly",
    "wro4j",
    "zxing",
];

/// Other names of the same project.
const ALIASES: [(&str, &str); 4] = [
    ("incubator-dubbo", "dubbo"),
    ("shardingsphere-elasticjob", "elastic-job-lite"),
    ("httpcomponents", "httpcore"),
    ("jackrabbit", "jackrabbit-oak"),
];

/// In the `deflaker` data, no flaky test is shorter than this and most others are, because of how
/// it was mined. Shorter tests would teach that short tests are not flaky.
const SHORTEST_MINED: usize = 401;

/// As small as LZ4 gets.
const SMALLEST: CompressionMode = CompressionMode::HIGHCOMPRESSION(12);

/// Train it again, and put it where the program is built from. `sources` has the source of each
/// project of the first data set at its revision, in folders named as there. `texts` are labelled tests
/// besides, of which only the text is read: what `evaluation/jury/idoft_texts.py` writes.
pub(crate) fn train(sources: &Path, texts: Option<&Path>) -> Result<(), String> {
    let model = trained(sources, texts)?;
    let named = |path: &Path, error: &std::io::Error| format!("{}: {error}", path.display());
    let bytes = std::fs::read(&model).map_err(|error| named(&model, &error))?;
    // LZ4 is unpacked faster than Zstandard, and `predict` waits for it.
    let block = lz4::block::compress(&bytes, Some(SMALLEST), true);
    let block = block.map_err(|error| named(&model, &error))?;
    std::fs::write(packed(), block).map_err(|error| named(&packed(), &error))
}

fn data_folder() -> PathBuf {
    root().join("../shared/data")
}

fn packed() -> PathBuf {
    root().join("crates/flakeproof/models/java.jury.lz4")
}

/// The path of a freshly trained model.
fn trained(sources: &Path, more: Option<&Path>) -> Result<PathBuf, String> {
    let folder = root().join("target/model");
    let code = folder.join("sources");
    std::fs::create_dir_all(&code).map_err(|error| error.to_string())?;
    for entry in std::fs::read_dir(sources).map_err(|error| error.to_string())?.flatten() {
        let link = code.join(canonical(&entry.file_name().to_string_lossy()));
        if !link.exists() {
            let target = entry.path().canonicalize().map_err(|error| error.to_string())?;
            std::os::unix::fs::symlink(target, link).map_err(|error| error.to_string())?;
        }
    }
    let [data, texts] = ["tests.jsonl", "texts.jsonl"].map(|name| folder.join(name));
    prepare(&data_folder(), more, [&data, &texts])?;
    let model = folder.join("java.jury");
    let program = ["run", "-q", "--release", "-p", "flakeproof", "--", "train", "jury"];
    run(cargo(&program)
        .args(["--hold-out", "project", "--name", "public Java tests", "--data"])
        .arg(&data)
        .arg("--texts")
        .arg(&texts)
        .arg("--sources")
        .arg(&code)
        .arg("-o")
        .arg(&model))?;
    Ok(model)
}

/// The labelled tests whose source is known in one file and all others in another, with one name for
/// each project.
fn prepare(shared: &Path, more: Option<&Path>, to: [&Path; 2]) -> Result<(), String> {
    let mut lines = [Vec::new(), Vec::new()];
    let mut known: HashSet<(String, String)> = HashSet::new();
    let sets = DATA.map(|name| (name, unpacked(&shared.join(name).join("tests.jsonl.zst"))));
    let more = more.map(|path| ("more", std::fs::read(path).map_err(|error| error.to_string())));
    for (name, text) in sets.into_iter().chain(more) {
        let text = text?;
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let mut test: Value =
                serde_json::from_slice(line).map_err(|error| format!("{name}: {error}"))?;
            let source = test["source"].as_str().unwrap_or_default();
            if name == "deflaker" && source.chars().count() < SHORTEST_MINED {
                continue;
            }
            let project = canonical(text_of(&test, "project"));
            let own_id = format!("{}#{}", text_of(&test, "class"), text_of(&test, "method"));
            // The first data set has the best labels; a test that others have too counts once.
            if !known.insert((project.clone(), own_id.clone())) && !BEST.contains(&name) {
                continue;
            }
            test["project"] = Value::String(project);
            test["id"] = Value::String(own_id);
            let file = usize::from(name != DATA[0]);
            writeln!(lines[file], "{test}").map_err(|error| error.to_string())?;
        }
    }
    for (to, lines) in to.iter().zip(lines) {
        std::fs::write(to, lines).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(())
}

fn text_of<'t>(test: &'t Value, field: &str) -> &'t str {
    test[field].as_str().unwrap_or_default()
}

fn unpacked(path: &Path) -> Result<Vec<u8>, String> {
    let output = Command::new("zstd")
        .args(["-dc", "--"])
        .arg(path)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("zstd, which `apt-get install zstd` brings: {error}"))?;
    let whole = output.status.success().then_some(output.stdout);
    whole.ok_or_else(|| format!("{} cannot be read", path.display()))
}

/// One name for one project: lower case, without its owner.
fn canonical(project: &str) -> String {
    let name = project.to_lowercase();
    let name = OWNERS
        .iter()
        .find_map(|owner| name.strip_prefix(owner)?.strip_prefix('-'))
        .unwrap_or(&name);
    let alias = ALIASES.iter().find(|(other, _)| *other == name);
    alias.map_or(name, |(_, known)| known).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_has_one_name() {
        assert_eq!(canonical("square-okhttp"), canonical("okhttp"));
        assert_eq!(canonical("apache-incubator-dubbo"), canonical("dubbo"));
        assert_eq!(canonical("joel-costigliola-assertj-core"), canonical("assertj-core"));
        assert_eq!(canonical("doanduyhai-Achilles"), canonical("Achilles"));
    }
}
