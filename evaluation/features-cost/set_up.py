"""Set up subjects for the interpreter that runs this file, and print where they are as JSON.

    set_up.py SUBJECTS WORK NAME...
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "overhead"))

from subject import SetupFailed, read_subjects, set_up  # noqa: E402

#: Long calculations in pure Python, which a trace function slows down most.
CALCULATING = {
    "name": "networkx",
    "version": "3.2.1",
    "get": "pip download --no-deps --no-binary :all: networkx==3.2.1",
    "install": [],
    "pins": ["pytest==8.3.5"],
    "run": "python -m pytest -q -p no:cacheprovider networkx/algorithms/tests/test_clique.py "
    "networkx/algorithms/tests/test_dag.py networkx/algorithms/tests/test_cycles.py "
    "networkx/algorithms/isomorphism/tests/test_isomorphvf2.py",
}


def main():
    subjects, work, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    entries = dict(read_subjects(subjects), networkx=CALCULATING)
    ready = []
    for name in names:
        try:
            subject = set_up(entries[name], work)
        except SetupFailed as trouble:
            print("left out: {}".format(trouble), file=sys.stderr)
            continue
        command = [str(subject.python), "-m", "pytest", *subject.arguments]
        about = {"name": name, "version": subject.version, "command": command}
        ready.append(dict(about, project=str(subject.project)))
    json.dump(ready, sys.stdout)


if __name__ == "__main__":
    main()
