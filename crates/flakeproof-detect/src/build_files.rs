//! Files that decide what is built, installed or configured, by their names. No measurement sees them in use:
//! what they decide was done before the tests began. And what the others hold: a measurement sees them in use
//! as far as it follows who reads them, but not what was made of them before.

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

/// What a file holds that decides nothing by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Text for people, or for the tools that they write with.
    ForPeople,
    /// Code of some language. Nothing but its compiler reads it, and whoever makes other files of it.
    Code,
    /// A program that may run before the tests begin or around them, in whatever language, and what databases are
    /// made with.
    Script,
    /// A key or a certificate, which native code reads by itself.
    Key,
    /// Anything else, which matters to who opens it or what was made of it.
    Data,
}

const FOR_PEOPLE_ENDINGS: [&str; 4] = [".adoc", ".markdown", ".md", ".rst"];

/// Files for people that need no ending, or are plain text; `LICENSE-MIT` is one, too.
const FOR_PEOPLE: [&str; 16] = [
    "AUTHORS",
    "CHANGELOG",
    "CHANGES",
    "CITATION",
    "CODEOWNERS",
    "CONTRIBUTING",
    "CONTRIBUTORS",
    "COPYING",
    "HISTORY",
    "INSTALL",
    "LICENSE",
    "MAINTAINERS",
    "NEWS",
    "NOTES",
    "README",
    "TODO",
];

/// What tells editors and git how to treat files.
const FOR_TOOLS_OF_PEOPLE: [&str; 3] = [".editorconfig", ".gitignore", ".mailmap"];

const CODE_ENDINGS: [&str; 37] = [
    ".cjs", ".clj", ".cs", ".css", ".dart", ".erl", ".ex", ".exs", ".fs", ".groovy", ".hs",
    ".java", ".js", ".jsx", ".kt", ".kts", ".less", ".lua", ".mjs", ".mts", ".php", ".pl", ".pm",
    ".py", ".r", ".rb", ".sass", ".scala", ".scss", ".svelte", ".swift", ".ts", ".tsx", ".vb",
    ".vue", ".cts", ".ml",
];

const SCRIPT_ENDINGS: [&str; 8] = [".bash", ".bat", ".cmd", ".fish", ".ps1", ".sh", ".sql", ".zsh"];

const KEY_ENDINGS: [&str; 15] = [
    ".ca-bundle",
    ".cer",
    ".cert",
    ".crt",
    ".csr",
    ".der",
    ".jks",
    ".key",
    ".keystore",
    ".p12",
    ".p7b",
    ".pem",
    ".pfx",
    ".pkey",
    ".pub",
];

/// Folders of keys and certificates.
const OF_KEYS: [&str; 6] = ["cert", "certificates", "certs", "pki", "ssl", "tls"];

/// Folders at the top of a project whose texts are for people; elsewhere a site or a program may be made of them.
const OF_PEOPLE: [&str; 4] = [".github", "doc", "docs", "licenses"];

/// Folders at the top of a project whose code prepares things and is no part of it.
const OF_SCRIPTS: [&str; 6] = [".ci", "ci", "hack", "script", "scripts", "tools"];

/// Programs at the top of a project that run its tests, or make what its tests need.
const RUNNERS_OF_TESTS: [&str; 9] = [
    "Gruntfile.js",
    "Jakefile.js",
    "dodo.py",
    "fabfile.py",
    "gulpfile.js",
    "run-tests.py",
    "run_tests.py",
    "runtests.py",
    "tasks.py",
];

/// Whether a file is a script by where it lies.
fn is_script(path: &str) -> bool {
    match path.split_once('/') {
        Some((folder, _)) => OF_SCRIPTS.contains(&folder),
        None => RUNNERS_OF_TESTS.contains(&path),
    }
}

/// What a file of the project holds.
pub(crate) fn content(path: &str) -> Content {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ends = |endings: &[&str]| endings.iter().any(|it| name.ends_with(it));
    let stem = name.strip_suffix(".txt").unwrap_or(name);
    let is_named_for_people = FOR_PEOPLE.contains(&stem.split('-').next().unwrap_or(stem));
    let is_text = ends(&FOR_PEOPLE_ENDINGS);
    let is_where_people_look = path.split_once('/').is_none_or(|(top, _)| OF_PEOPLE.contains(&top))
        || FOR_PEOPLE.iter().any(|it| name.starts_with(it));
    let is_of_keys = path.rsplit('/').skip(1).any(|folder| OF_KEYS.contains(&folder));
    if (is_text && is_where_people_look)
        || is_named_for_people
        || FOR_TOOLS_OF_PEOPLE.contains(&name)
    {
        Content::ForPeople
    } else if ends(&SCRIPT_ENDINGS) || is_script(path) {
        Content::Script
    } else if ends(&CODE_ENDINGS) || ends(&COMPILED_ENDINGS) {
        Content::Code
    } else if ends(&KEY_ENDINGS) || is_of_keys {
        Content::Key
    } else {
        Content::Data
    }
}

/// What prepares a machine, or sets variables around whoever runs the tests.
const MACHINE: [&str; 37] = [
    ".env",
    ".envrc",
    ".flaskenv",
    ".java-version",
    ".mise.toml",
    ".node-version",
    ".nvmrc",
    ".python-version",
    ".ruby-version",
    ".sdkmanrc",
    ".tool-versions",
    "Brewfile",
    "Containerfile",
    "Earthfile",
    "GNUmakefile",
    "Jenkinsfile",
    "Makefile",
    "Procfile",
    "Rakefile",
    "Taskfile.yaml",
    "Taskfile.yml",
    "Tiltfile",
    "Vagrantfile",
    "buildspec.yml",
    "cloudbuild.yaml",
    "compose.yaml",
    "compose.yml",
    "default.nix",
    "devbox.json",
    "flake.nix",
    "justfile",
    "makefile",
    "mise.toml",
    "noxfile.py",
    "shell.nix",
    "tox.ini",
    "tox.toml",
];

/// How names of files begin that do, and of folders at the top of a project.
const MACHINE_BEGINNINGS: [&str; 9] = [
    ".appveyor",
    ".drone",
    ".env.",
    ".travis",
    "Dockerfile",
    "appveyor",
    "azure-pipelines",
    "bitbucket-pipelines",
    "docker-compose",
];
const JOBS_BEGINNINGS: [&str; 12] = [
    ".azure",
    ".buildkite/",
    ".circleci/",
    ".devcontainer/",
    ".forgejo/",
    ".gitea/",
    ".github/",
    ".gitlab",
    ".mise/",
    ".semaphore/",
    ".teamcity/",
    ".woodpecker",
];

const PACKAGES: [&str; 16] = [
    ".npmrc",
    ".yarnrc.yml",
    "Gemfile",
    "Pipfile",
    "conda.yml",
    "environment.yaml",
    "environment.yml",
    "hatch.toml",
    "package.json",
    "packages.config",
    "pnpm-workspace.yaml",
    "poetry.toml",
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "uv.toml",
];

const COMPILING: [&str; 13] = [
    "BUILD",
    "CMakeLists.txt",
    "Cargo.toml",
    "WORKSPACE",
    "build.rs",
    "go.mod",
    "go.sum",
    "go.work",
    "gradle-wrapper.properties",
    "gradle.properties",
    "meson.build",
    "pom.xml",
    "rust-toolchain.toml",
];

const RUNNER: [&str; 2] = ["MANIFEST.in", "pytest.ini"];

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
    let is_of_a_job = JOBS_BEGINNINGS.iter().any(|it| path.starts_with(it));
    let is_of_cargo = path.starts_with(".cargo/") || path.contains("/.cargo/");
    // Also `requirements/base.txt`.
    let lists_packages = path.contains("requirements") || path.contains("constraints");
    let is_requirements = lists_packages && content(path) != Content::Code;
    let is_lock = ["lock.json", "lock.yaml", "lock.yml"].iter().any(|it| name.ends_with(it));
    if MACHINE.contains(&name) || begins(&MACHINE_BEGINNINGS) || is_of_a_job {
        Some(Decides::Machine)
    } else if PACKAGES.contains(&name) || is_requirements || is_lock {
        Some(Decides::Packages)
    } else if COMPILING.contains(&name) || is_of_cargo {
        Some(Decides::Compiling)
    } else if RUNNER.contains(&name) {
        Some(Decides::Runner)
    } else if ends(&PACKAGES_ENDINGS) {
        Some(Decides::Packages)
    } else {
        ends(&COMPILED_ENDINGS).then_some(Decides::Compiled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_known_wherever_their_lists_lie() {
        for path in
            ["requirements/base.txt", "requirements-dev.txt", "web/pnpm-lock.yaml", ".npmrc"]
        {
            assert_eq!(decides(path), Some(Decides::Packages), "{path}");
        }
        assert_eq!(decides(".cargo/config.toml"), Some(Decides::Compiling));
        assert_eq!(decides("shop/requirements.py"), None);
        for path in
            [".circleci/config.yml", ".env", ".env.test", "Makefile", "tox.ini", ".travis.yml"]
        {
            assert_eq!(decides(path), Some(Decides::Machine), "{path}");
        }
    }

    #[test]
    fn what_is_neither_for_people_nor_code_is_data() {
        for path in ["README.md", "LICENSE-MIT", "NOTES", "docs/guide.rst", "CHANGES.txt"] {
            assert_eq!(content(path), Content::ForPeople, "{path}");
        }
        for path in ["web/app.ts", "shop.py", "style.css"] {
            assert_eq!(content(path), Content::Code, "{path}");
        }
        for path in ["prices.txt", "NEWS.json", "limits", "src/tools/table"] {
            assert_eq!(content(path), Content::Data, "{path}");
        }
        for path in ["make.sh", "scripts/seed.py", "run_tests.py", "db/seed.sql"] {
            assert_eq!(content(path), Content::Script, "{path}");
        }
        assert_eq!(content("shop/README.md"), Content::ForPeople);
        assert_eq!(content("content/tea.md"), Content::Data);
        for path in ["key.pem", "tls/server", "web/server.pkey"] {
            assert_eq!(content(path), Content::Key, "{path}");
        }
    }
}
