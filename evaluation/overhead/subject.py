"""Set up real suites from a subjects file: a virtual environment, the sources, the pinned packages.

A subject that is set up once is used again: the file `ready` in its folder is written last. Each
gets two virtual environments with the same packages; only the second has pytest-rerunfailures, so
that plain pytest does not pay for loading it.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

RERUNFAILURES = "pytest-rerunfailures==16.7"
PLUGIN = "pytest-rerunfailures"


class SetupFailed(Exception):
    """A command of the set-up failed; the message says which one and where its output is."""


class Subject:
    """One suite, ready to run: where it lies and how it is started."""

    def __init__(self, name, version, arguments, home, project):
        self.name = name
        self.version = version
        self.arguments = arguments
        self.project = project
        self.python = home / "venv" / "bin" / "python"
        self.python_with_reruns = home / "venv-reruns" / "bin" / "python"


def read_subjects(path):
    """The entries of a subjects file by name, the less known `more_suites` included."""
    content = json.loads(Path(path).read_text(encoding="utf-8"))
    return {entry["name"]: entry for entry in content["subjects"] + content.get("more_suites", [])}


def set_up(entry, work):
    """The subject of this entry, set up below `work` unless it already is."""
    home = Path(work).resolve() / "{}-{}".format(entry["name"], entry["version"])
    ready = home / "ready"
    if not ready.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        project = _install(entry, home)
        _copy_environment(home)
        _commit(project, home)
        ready.write_text(project.name, encoding="utf-8")
    project = home / ready.read_text(encoding="utf-8").strip()
    return Subject(entry["name"], entry["version"], _arguments(entry["run"]), home, project)


def make_environment(home, requirements):
    """A virtual environment `home/venv` with these requirements; used again when it has them."""
    home = Path(home).resolve()
    ready = home / "ready"
    wanted = "\n".join(requirements)
    if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        _command([sys.executable, "-m", "venv", str(home / "venv")], home, home)
        _pip(home, home, ["install", *requirements])
        ready.write_text(wanted, encoding="utf-8")
    return home / "venv" / "bin" / "python"


def _install(entry, home):
    _command([sys.executable, "-m", "venv", str(home / "venv")], home, home)
    for step in [*entry.get("tools", []), entry["get"]]:
        _pip(home, home, shlex.split(step)[1:])
    project = _unpack(home)
    for source, target in entry.get("copies", []):
        shutil.copy(project / source, project / target)
    for step in entry["install"]:
        _pip(home, project, shlex.split(step)[1:])
    pins = [pin for pin in entry["pins"] if not _is_plugin(pin)]
    _pip(home, project, ["install", *pins])
    return project


def _is_plugin(pin):
    return re.split(r"[=<>!~\[]", pin)[0].lower().replace("_", "-") == PLUGIN


def _unpack(home):
    """Unpack the one archive that pip left in `home`; the folder it holds is the project."""
    archives = [path for path in home.iterdir() if path.name.endswith((".tar.gz", ".zip"))]
    if len(archives) != 1:
        raise SetupFailed("expected one source archive in {}, found {}".format(home, archives))
    target = home / "source"
    if archives[0].name.endswith(".zip"):
        with zipfile.ZipFile(archives[0]) as archive:
            archive.extractall(target)
    else:
        with tarfile.open(archives[0]) as archive:
            for member in archive.getmembers():
                # Unpacked by root, files keep the packager's owner, and git refuses to read them.
                member.uid, member.gid = os.getuid(), os.getgid()
            archive.extractall(target, numeric_owner=True)
    (folder,) = [path for path in target.iterdir() if path.is_dir()]
    project = home / folder.name
    folder.rename(project)
    target.rmdir()
    return project


def _copy_environment(home):
    """A second environment with the same packages, and pytest-rerunfailures."""
    _command([sys.executable, "-m", "venv", "--without-pip", str(home / "venv-reruns")], home, home)
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    copy = home / "venv-reruns" / packages.relative_to(home / "venv")
    shutil.rmtree(copy)
    shutil.copytree(packages, copy, symlinks=True)
    python = home / "venv-reruns" / "bin" / "python"
    _command([str(python), "-m", "pip", "install", "-q", RERUNFAILURES], home, home)


def _commit(project, home):
    """Make the project a repository of its own, as a user's project is one."""
    git = ["git", "-c", "user.name=overhead", "-c", "user.email=overhead@localhost"]
    _command([*git, "init", "-q"], project, home)
    exclude = project / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("__pycache__/\nbuild/\n*.egg-info/\n.flakeproof/\n", encoding="utf-8")
    _command([*git, "add", "-A"], project, home)
    _command([*git, "commit", "-q", "-m", "as published"], project, home)


def _arguments(run):
    """What follows `python -m pytest` in the subject's run command."""
    words = shlex.split(run)
    if words[:3] != ["python", "-m", "pytest"]:
        raise SetupFailed("cannot read the run command `{}`".format(run))
    return words[3:]


def _pip(home, where, arguments):
    python = home / "venv" / "bin" / "python"
    _command([str(python), "-m", "pip", *arguments], where, home)


def _command(command, where, home):
    log = home / "setup.log"
    with open(log, "a", encoding="utf-8") as output:
        output.write("$ {}\n".format(" ".join(command)))
        output.flush()
        done = subprocess.run(command, cwd=where, stdout=output, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SetupFailed("`{}` failed; its output is in {}".format(" ".join(command), log))
