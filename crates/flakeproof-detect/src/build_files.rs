//! Files that decide what is built, installed or configured, by their names. No measurement sees them in use:
//! what they decide was done before the tests began.

/// What a file decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// How the machine is prepared on which the tests run: images, services, jobs.
    Machine,
    /// Which packages are installed.
    Packages,
    /// How code is compiled or generated.
    Compiling,
    /// What is compiled, where its runs are not followed.
    Compiled,
    /// How the runner works, which it reads where it runs.
    Runner,
}

const MACHINE: [&str; 5] =
    [".envrc", ".python-version", ".tool-versions", "compose.yaml", "compose.yml"];

const PACKAGES: [&str; 11] = [
    "Pipfile",
    "conda.yml",
    "environment.yaml",
    "environment.yml",
    "hatch.toml",
    "package.json",
    "poetry.toml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "uv.toml",
];

const COMPILING: [&str; 12] = [
    "BUILD",
    "CMakeLists.txt",
    "Cargo.toml",
    "Makefile",
    "WORKSPACE",
    "build.rs",
    "go.mod",
    "gradle-wrapper.properties",
    "gradle.properties",
    "justfile",
    "meson.build",
    "pom.xml",
];

const RUNNER: [&str; 6] =
    [".env", "MANIFEST.in", "noxfile.py", "pytest.ini", "tox.ini", "tox.toml"];

const PACKAGES_ENDINGS: [&str; 4] = [".jar", ".lock", ".pth", ".whl"];

const COMPILED_ENDINGS: [&str; 28] = [
    ".a",
    ".bazel",
    ".build",
    ".bzl",
    ".c",
    ".cc",
    ".cmake",
    ".cpp",
    ".cu",
    ".cxx",
    ".dll",
    ".dylib",
    ".f",
    ".f90",
    ".go",
    ".gradle",
    ".gradle.kts",
    ".h",
    ".hpp",
    ".proto",
    ".pxd",
    ".pxi",
    ".pyi",
    ".pyx",
    ".rs",
    ".so",
    ".thrift",
    ".zig",
];

/// What a file of the project decides, if it decides anything.
pub(crate) fn decides(path: &str) -> Option<Decides> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let begins = |starts: &[&str]| starts.iter().any(|it| name.starts_with(it));
    let ends = |endings: &[&str]| endings.iter().any(|it| name.ends_with(it));
    let is_of_a_job = path.starts_with(".github/") || path.starts_with(".gitlab");
    let is_requirements = name.contains("requirements") || name.contains("constraints");
    if MACHINE.contains(&name) || begins(&["Dockerfile", "docker-compose"]) || is_of_a_job {
        Some(Decides::Machine)
    } else if PACKAGES.contains(&name) || is_requirements || name.ends_with("lock.json") {
        Some(Decides::Packages)
    } else if COMPILING.contains(&name) {
        Some(Decides::Compiling)
    } else if RUNNER.contains(&name) || name.starts_with(".env.") {
        Some(Decides::Runner)
    } else if ends(&PACKAGES_ENDINGS) {
        Some(Decides::Packages)
    } else {
        ends(&COMPILED_ENDINGS).then_some(Decides::Compiled)
    }
}
