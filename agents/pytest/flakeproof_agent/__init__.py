"""flakeproof's agent inside pytest (PYTEST_DONT_REWRITE).

This package is unpacked by `flakeproof run` and loaded with `-p flakeproof_agent`; nothing of it
is installed into the project. It lets pytest collect as always, then runs tests on request and
reports each execution over a socket, never over stdout.

This file must parse on every Python that pytest ever ran on, so that an interpreter that is too
old gets a clear answer. The rest needs Python 3.9.
"""

import json
import os
import sys

#: What flakeproof asks of this process; absent in pytest processes that tests start themselves.
_order = os.environ.pop("FLAKEPROOF_AGENT", None)


def _restore_environment(saved):
    """Undo what was put into the environment to load this package, so that tests see their own."""
    for name, value in saved.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _forget_import_path():
    """Take the agent's folder from `sys.path`, where only this import needed it."""
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != home]


def _refuse_old_python(order):
    import socket

    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(order["socket"])
    version = "%d.%d.%d" % sys.version_info[:3]
    message = {"say": "refused", "name": order["name"], "reason": "python", "detail": version}
    connection.sendall((json.dumps(message) + "\n").encode("utf-8"))
    connection.close()
    sys.exit(4)


if _order is not None:
    _order = json.loads(_order)
    _restore_environment(_order["restore"])
    if sys.version_info < (3, 9):
        _refuse_old_python(_order)
    # The submodules are imported by path of the package, so `sys.path` is not needed for them.
    from flakeproof_agent import plugin as _plugin

    _forget_import_path()
    _hooks = _plugin.start(_order)
    # pytest finds hooks by name in the module it was told to load.
    globals().update(_hooks)
