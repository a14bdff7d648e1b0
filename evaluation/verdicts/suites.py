"""Real suites from the package registries: sources, dependencies, a git repository of one commit.

Every suite gets a folder of its own: `project` is the repository, `venv` its interpreter (Python).
A suite that is set up once is used again: the file `ready` in its folder is written last. A job
works on a copy of the folder, so that jobs do not meet.
"""

import fnmatch
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTEST = "pytest==8.3.5"
JEST = "jest@29.7.0"
LEFT_BEHIND = ["__pycache__/", "*.egg-info/", "build/", "target/", "node_modules/", ".flakeproof/"]


class SetupFailed(Exception):
    """A command of the set-up failed; the message says which one and where its output is."""


class Suite:
    """One suite in one folder: where it lies and how it is started."""

    def __init__(self, entry, home):
        self.entry = entry
        self.name = entry["name"]
        self.runner = entry["runner"]
        self.home = Path(home)
        self.project = self.home / "project"

    def command(self, installed=False):
        """The words that run the suite plainly; `installed` takes the copy in site-packages."""
        if self.runner == "pytest":
            words = [str(self.home / "venv" / "bin" / "python"), "-m", "pytest", "-q"]
            words += ["-p", "no:cacheprovider"]
            if (self.project / "src").is_dir() and not installed:
                words += ["-o", "pythonpath=src"]
            return words + self.entry["tests"]
        return {
            "go": ["go", "test", "-count=1", "./..."],
            "cargo": ["cargo", "test", "--offline", "--lib"],
            "jest": ["npx", "jest"],
            "maven": ["mvn", "-o", "-B", "test"],
        }[self.runner]

    def files(self, what):
        """The files of this kind (`sources`, `data`, `ignored`, `installed`), sorted."""
        root = self.installed_root() if what == "installed" else self.project
        found = {path for pattern in self.entry.get(what, []) for path in root.glob(pattern)}
        if what in ("sources", "data"):
            found -= set(self.files("ignored"))
        return sorted(path for path in found if path.is_file())

    def installed_root(self):
        if self.runner == "pytest":
            (packages,) = (self.home / "venv" / "lib").glob("python*/site-packages")
            return packages
        return self.project / "node_modules"


def read_suites(names=None):
    entries = json.loads((HERE / "suites.json").read_text(encoding="utf-8"))["suites"]
    return [entry for entry in entries if not names or entry["name"] in names]


def set_up(entry, work):
    """The suite of this entry, set up below `work` unless it already is."""
    home = Path(work).resolve() / "suites" / entry["name"]
    keys = ["package", "pip", "npm", "ignored", "remove", "edits", "installed"]
    wanted = hashlib.sha256(json.dumps([entry.get(key) for key in keys]).encode()).hexdigest()
    ready = home / "ready"
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        suite = Suite(entry, home)
        SET_UP[entry["runner"]](suite)
        _trim(suite)
        _commit(suite)
        ready.write_text(wanted, encoding="utf-8")
    return Suite(entry, home)


def copy(suite, folder):
    """The suite in a new folder of its own. A virtual environment works from a copy, too."""
    home = Path(folder) / suite.name
    # One that is there may hold a mutant of a job that was killed.
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(suite.home, home, symlinks=True)
    return Suite(suite.entry, home)


def _set_up_python(suite):
    home, entry = suite.home, suite.entry
    _command([sys.executable, "-m", "venv", str(home / "venv")], home, home)
    pip = [str(home / "venv" / "bin" / "python"), "-m", "pip"]
    fetched = ["--no-deps", "--no-binary", ":all:", entry["package"], "-d", "sdist"]
    _command([*pip, "download", *fetched], home, home)
    _unpack_tar(next((home / "sdist").iterdir()), suite.project)
    _command([*pip, "install", PYTEST, *entry.get("pip", [])], home, home)
    if entry.get("installed"):
        _command([*pip, "install", "--no-deps", "."], suite.project, home)
        shutil.rmtree(suite.project / "build", ignore_errors=True)


def _set_up_go(suite):
    words = ["go", "mod", "download", "-json", suite.entry["package"]]
    done = subprocess.run(words, cwd=suite.home, capture_output=True, text=True)
    if done.returncode != 0:
        raise SetupFailed("`{}` failed: {}".format(" ".join(words), done.stdout + done.stderr))
    shutil.copytree(json.loads(done.stdout)["Dir"], suite.project)
    for path in [suite.project, *suite.project.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    _command(["go", "test", "-count=1", "./..."], suite.project, suite.home)


def _set_up_cargo(suite):
    """`cargo vendor` of a project that needs the crate brings its sources, tests included."""
    need = suite.home / "need"
    (need / "src").mkdir(parents=True)
    (need / "src" / "lib.rs").write_text("", encoding="utf-8")
    name, version = suite.entry["package"].split("@")
    (need / "Cargo.toml").write_text(
        '[package]\nname = "need"\nversion = "0.0.0"\nedition = "2021"\n\n'
        '[dependencies]\n{} = "{}"\n\n[workspace]\n'.format(name, version), encoding="utf-8"
    )
    _command(["cargo", "vendor", "-q", "vendor"], need, suite.home)
    shutil.copytree(need / "vendor" / name, suite.project)
    shutil.rmtree(need)
    (suite.project / ".cargo-checksum.json").unlink()
    with open(suite.project / "Cargo.toml", "a", encoding="utf-8") as manifest:
        manifest.write("\n[workspace]\n")
    _command(["cargo", "test", "--offline", "--lib"], suite.project, suite.home)


def _set_up_jest(suite):
    """The published package, its tests included, with a manifest that has only what they need."""
    home, entry = suite.home, suite.entry
    _command(["npm", "pack", "--silent", entry["package"]], home, home)
    _unpack_tar(next(home.glob("*.tgz")), suite.project)
    manifest = suite.project / "package.json"
    known = json.loads(manifest.read_text(encoding="utf-8"))
    kept = {key: known[key] for key in ("name", "version", "main", "license")}
    manifest.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--save-dev", "--save-exact"]
    _command([*words, JEST, *entry.get("npm", [])], suite.project, home)


POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{group}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <properties>
    <maven.compiler.source>8</maven.compiler.source>
    <maven.compiler.target>8</maven.compiler.target>
    <project.build.sourceEncoding>ISO-8859-1</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.13.2</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build>
    <plugins>
      <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin>
      <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.11.0</version></plugin>
      <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
    </plugins>
  </build>
</project>
"""


def _set_up_maven(suite):
    """The published sources and test sources, with a pom that only compiles and tests."""
    home = suite.home
    group, artifact, version = suite.entry["package"].split(":")
    plugin = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
    for classifier, folder in (("sources", "main"), ("test-sources", "test")):
        wanted = "-Dartifact={}:jar:{}".format(suite.entry["package"], classifier)
        _command(["mvn", "-B", plugin, wanted, "-DoutputDirectory=."], home, home)
        target = suite.project / "src" / folder / "java"
        with zipfile.ZipFile(home / "{}-{}-{}.jar".format(artifact, version, classifier)) as jar:
            jar.extractall(target)
        shutil.rmtree(target / "META-INF")
    pom = POM.format(group=group, artifact=artifact, version=version)
    (suite.project / "pom.xml").write_text(pom, encoding="utf-8")
    _command(["mvn", "-B", "test"], suite.project, home)


SET_UP = {
    "pytest": _set_up_python,
    "go": _set_up_go,
    "cargo": _set_up_cargo,
    "jest": _set_up_jest,
    "maven": _set_up_maven,
}


def _trim(suite):
    for name in suite.entry.get("remove", []):
        path = suite.project / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, pattern, replacement in suite.entry.get("edits", []):
        path = suite.project / name
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(pattern, replacement, text), encoding="utf-8")


def _commit(suite):
    """Make the project a repository of its own; its `ignored` files are in its .gitignore."""
    lines = LEFT_BEHIND + ["/" + name for name in suite.entry.get("ignored", [])]
    with open(suite.project / ".gitignore", "a", encoding="utf-8") as ignore:
        ignore.write("\n" + "\n".join(lines) + "\n")
    # What is ignored was there before: a file of last month, as a generated one would be.
    for path in suite.files("ignored"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    git(suite, "init", "-q", "-b", "main")
    git(suite, "add", "-A")
    git(suite, "commit", "-q", "-m", "as published")


def git(suite, *words):
    identity = ["-c", "user.name=verdicts", "-c", "user.email=verdicts@localhost"]
    _command(["git", *identity, *words], suite.project, suite.home)


def is_tracked(suite, path):
    """Whether git has this file: not ignored, and inside the project."""
    try:
        name = path.relative_to(suite.project).as_posix()
    except ValueError:
        return False
    patterns = suite.entry.get("ignored", [])
    return not name.startswith("node_modules/") and not any(
        fnmatch.fnmatch(name, pattern) for pattern in patterns
    )


def _unpack_tar(archive, project):
    """Unpack an archive with one folder in it; that folder becomes the project."""
    target = project.parent / "unpacked"
    with tarfile.open(archive) as content:
        for member in content.getmembers():
            # Unpacked by root, files keep the packager's owner, and git refuses to read them.
            member.uid, member.gid = os.getuid(), os.getgid()
        content.extractall(target, numeric_owner=True)
    (folder,) = [path for path in target.iterdir() if path.is_dir()]
    folder.rename(project)
    target.rmdir()


def _command(command, where, home):
    log = home / "setup.log"
    with open(log, "a", encoding="utf-8") as output:
        output.write("$ {}\n".format(" ".join(command)))
        output.flush()
        done = subprocess.run(command, cwd=where, stdout=output, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SetupFailed("`{}` failed; its output is in {}".format(" ".join(command), log))
