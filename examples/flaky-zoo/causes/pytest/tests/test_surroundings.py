"""Each test fails for one thing about its surroundings, in the way that real ones do."""

import argparse
import locale
import os
import pathlib
import socket
import stat
import tempfile
from datetime import datetime


def test_zone_day_of_a_payment():
    assert datetime.fromtimestamp(1_700_000_000).strftime("%Y-%m-%d %H:%M") == "2023-11-14 22:13"


def test_locale_price_on_a_receipt():
    before = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "")
    try:
        assert locale.format_string("%.2f", 1.5) == "1.50"
    finally:
        locale.setlocale(locale.LC_ALL, before)


def test_locale_reads_a_name_with_an_umlaut(tmp_path):
    path = tmp_path / "names.txt"
    path.write_bytes("Jürgen\n".encode())
    assert path.read_text() == "Jürgen\n"


def test_hash_seed_first_of_ten_tags():
    tags = {f"tag-{number}" for number in range(10)}
    assert next(iter(tags)) != "tag-0"


def test_terminal_help_text():
    parser = argparse.ArgumentParser(prog="pay")
    help_text = "the amount that is paid, in cents, which must be a positive number " * 2
    parser.add_argument("--amount", help=help_text)
    assert len(parser.format_help().splitlines()) == 7


def test_ci_uploads_nothing():
    assert not os.environ.get("CI")


def test_home_has_settings():
    assert any(pathlib.Path.home().iterdir())


def test_temp_is_on_the_usual_disk():
    assert pathlib.Path(tempfile.gettempdir()).resolve() == pathlib.Path("/tmp").resolve()


def test_umask_report_is_readable_by_others(tmp_path):
    report = tmp_path / "report.txt"
    report.write_text("paid")
    assert stat.S_IMODE(report.stat().st_mode) & stat.S_IROTH


def test_descriptors_opens_all_parts(tmp_path):
    parts = [open(tmp_path / f"part-{number}", "w") for number in range(300)]
    for part in parts:
        part.close()


def test_one_core_workers_for_each_side():
    assert len(os.sched_getaffinity(0)) >= 2


def test_no_network_talks_to_itself():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname(), timeout=5) as client:
            client.sendall(b"ping")
            with server.accept()[0] as peer:
                assert peer.recv(4) == b"ping"


def test_user_namespace_is_not_the_network(tmp_path):
    """It fails where users are mapped, and not for the missing network: no lever may be named."""
    mapped = pathlib.Path("/proc/self/uid_map").read_text().split()
    assert mapped[2] != "1"
