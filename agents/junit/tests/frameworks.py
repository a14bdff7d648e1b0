"""The versions of the frameworks that the worker is tested with, fetched by Maven and compiled."""

import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "src"
TARGET = Path(
    os.environ.get("FLAKEPROOF_JUNIT_TARGET", HERE.parents[2] / "target" / "agents-junit")
)

#: What a name stands for: the artifacts, and the projects of this folder that it can compile.
FRAMEWORKS = {
    "junit4.4": (["junit:junit:4.4"], ["junit4"]),
    "junit4.8": (["junit:junit:4.8.2"], ["junit4"]),
    "junit4.12": (["junit:junit:4.12"], ["junit4", "categories"]),
    "junit4.13": (["junit:junit:4.13.2"], ["junit4", "categories"]),
    "testng6.8": (["org.testng:testng:6.8.21"], ["testng"]),
    "testng6.14": (["org.testng:testng:6.14.3"], ["testng"]),
    "testng7.5": (["org.testng:testng:7.5.1"], ["testng"]),
    "testng7.11": (["org.testng:testng:7.11.0"], ["testng"]),
}


def _jupiter(name, jupiter, platform, projects):
    parts = ("api", "engine", "params")
    artifacts = [f"org.junit.jupiter:junit-jupiter-{part}:{jupiter}" for part in parts]
    artifacts.append(f"org.junit.platform:junit-platform-launcher:{platform}")
    artifacts.append(f"org.junit.vintage:junit-vintage-engine:{jupiter}")
    FRAMEWORKS[name] = (artifacts, projects)


_jupiter("jupiter5.4", "5.4.2", "1.4.2", ["jupiter"])
_jupiter("jupiter5.6", "5.6.3", "1.6.3", ["jupiter"])
_jupiter("jupiter5.8", "5.8.2", "1.8.2", ["jupiter"])
_jupiter("jupiter5.10", "5.10.2", "1.10.2", ["jupiter"])
_jupiter("jupiter5.13", "5.13.4", "1.13.4", ["jupiter", "jupiter513"])
_jupiter("jupiter6.0", "6.0.0", "6.0.0", ["jupiter", "jupiter513"])


def tool(name):
    """A program of the JDK: of JAVA_HOME, or else on the path."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", name)) if home else name


def missing():
    """What the tests need and is not installed."""
    return [name for name in (tool("javac"), "mvn") if shutil.which(name) is None]


def jars(name):
    """The folder with a framework's jars."""
    folder = TARGET / "jars" / name
    if not (folder / "complete").exists():
        _fetch(folder, FRAMEWORKS[name][0])
        (folder / "complete").touch()
    return folder


def worker(name):
    """The folder with the worker, compiled against a framework."""
    classes = _fresh("worker", name)
    wanted = units(sorted(path.name for path in jars(name).glob("*.jar")))
    sources = [str(path) for unit in wanted for path in (SOURCES / unit).glob("*.java")]
    compile_java(classes, jars(name) / "*", sources)
    return classes


def project(name):
    """The folder with the tests to run, compiled against a framework."""
    classes = _fresh("projects", name)
    folders = [HERE / "projects" / folder for folder in FRAMEWORKS[name][1]]
    sources = [str(path) for folder in folders for path in folder.rglob("*.java")]
    compile_java(classes, jars(name) / "*", [str(HERE / "projects" / "Trace.java"), *sources])
    (classes / "demo" / "Gone.class").unlink(missing_ok=True)
    return classes


def units(names):
    """The folders of sources to compile where these jars are on the class path."""
    chosen = ["flakeproof/agent", "flakeproof/agent/measure"]
    for name in names:
        if re.match(r"junit-platform-launcher-", name):
            chosen.append("flakeproof/agent/platform")
        elif re.match(r"junit(-dep)?-4", name):
            chosen.append("flakeproof/agent/junit4")
        elif re.match(r"testng-[0-9]", name):
            chosen.append("flakeproof/agent/testng")
        elif found := re.match(r"junit-jupiter-api-([0-9]+)\.([0-9]+)", name):
            version = tuple(int(part) for part in found.groups())
            chosen.append("flakeproof/agent/jupiter")
            if version >= (5, 6):
                newer = version >= (5, 8)
                chosen.append(f"flakeproof/agent/dynamic{58 if newer else 56}")
    return chosen


def compile_java(classes, class_path, sources):
    """Compile with every warning but those about old versions."""
    command = [tool("javac"), "-encoding", "UTF-8", "-g", "-Xlint:-options", "-proc:none"]
    command += ["-d", str(classes), "-cp", str(class_path), *sources]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def _fresh(kind, name):
    folder = TARGET / kind / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _fetch(folder, artifacts):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    dependencies = ""
    for artifact in artifacts:
        group, name, version = artifact.split(":")
        dependencies += (
            f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version></dependency>"
        )
    pom = folder / "pom.xml"
    pom.write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>flakeproof</groupId>"
        f"<artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    subprocess.run([*command, f"-DoutputDirectory={folder}"], check=True)
