# SPDX-License-Identifier: Apache-2.0
"""wheelcache builds: the list of attempts to build wheels, and their logs."""
import json
import os
import pty
import subprocess

import pytest

import attempts
import serving

UBUNTU = "ubuntu-22.04-x86_64"


@pytest.fixture(name="made")
def _made(tmp_path):
    return attempts.Attempts(tmp_path / "state" / "catalog.db.builds")


def builds(made, *words, code=0):
    catalog = str(made.path).removesuffix(".builds")
    done = serving.run("builds", "--catalog", catalog, *words, str(made.path.parent))
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def listed(made, *words):
    found = json.loads(builds(made, "--json", *words))["attempts"]
    return [f"{a['project']} {a['result']}" for a in found]


def test_file_of_an_older_wheelcache_is_taken_over_once(tmp_path, serve):
    """Attempts are then files, and the index is made again of them; an older wheelcache is told."""
    made = attempts.Attempts(tmp_path / "state" / "catalog.db.builds", schema=1)
    made.add("lxml", "failed", b"one\ntwo\n", ago=7200)
    key = made.add("numpy", version="2.1.0", sent=0)
    assert "was made by an older wheelcache" in builds(made, code=2)
    serve(tmp_path, state=tmp_path / "state").stop()
    told = builds(made, "--json"), builds(made, "--log", "0" * 7 + "1")
    assert told[1] == "one\ntwo\n" and f'"{key}"' in told[0]
    assert made.rows("SELECT count(*) FROM log") == [(0,)] and made.rows("PRAGMA user_version") == [(2,)]
    for path in made.path.parent.glob("catalog.db*"):
        if path.is_file() and not path.name.endswith(".audit"):
            path.unlink()
    assert told == (builds(made, "--json"), builds(made, "--log", "0" * 7 + "1"))
    assert made.rows("SELECT project, sent FROM attempt ORDER BY id") == [("lxml", 1), ("numpy", 0)]


def test_table_is_readable_and_newest_first(made):
    made.add("lxml", "failed", why="gcc: error: libxml/parser.h", ago=7200, milliseconds=7_380_000)
    key = made.add("numpy", platform=UBUNTU, python="3.13t", version="2.1.0", ago=60)
    made.add("six", "running", step="", why="", ago=90, milliseconds=0)
    head, *lines = builds(made).splitlines()
    assert head.split() == "BEGUN (UTC) PLATFORM PYTHON PROJECT RESULT TIME ID WHY".split()
    numpy, six, lxml = lines
    assert numpy[17:].split() == [UBUNTU, "3.13t", "numpy", "2.1.0", "ok", "1s", key[:10]]
    assert " running " in six and six.split()[7] in ("90s", "91s", "92s", "93s", "94s", "95s")
    assert "failed (build)" in lxml and " 2h03m " in lxml and lxml.endswith("gcc: error: libxml/parser.h")
    column = head.index("WHY")
    assert lxml[column:] == "gcc: error: libxml/parser.h"


def test_filters(made):
    made.add("lxml", "failed", ago=3 * 86400)
    made.add("lxml", "ok", ago=2 * 86400)
    made.add("acme-core", "timed-out", ago=600, platform=UBUNTU)
    made.add("acme-core", "interrupted", ago=300, platform=UBUNTU)
    made.add("acme-web", "ok", ago=60, python="3.13")
    everything = ["acme-web ok", "acme-core interrupted", "acme-core timed-out", "lxml ok", "lxml failed"]
    assert listed(made) == everything
    assert listed(made, "--platform", "ubuntu-*") == everything[1:3]
    assert listed(made, "--project", "Acme_*") == everything[:3]
    assert listed(made, "--project", "LXML") == everything[3:]
    assert listed(made, "--python", "3.13") == everything[:1]
    assert listed(made, "--since", "1h") == everything[:3]
    assert listed(made, "--since", "2000-01-01") == everything
    assert listed(made, "--since", "2999-01-01T00:00:00Z") == []
    assert listed(made, "--failed") == ["acme-core timed-out"]


def test_json_has_all_that_is_known(made):
    sha256 = "0" * 64
    key = made.add("lxml", "crashed", b"log", files=f"lxml.whl {sha256} 12", sdist=f"lxml.tar.gz {sha256}",
                   awaiting="cython six", recipe=sha256, peak_memory=1 << 30, provenance='{"libc": "glibc 2.36"}')
    (found,) = json.loads(builds(made, "--json"))["attempts"]
    assert found.pop("begun").endswith("Z")
    assert found == {
        "id": key, "platform": "debian-12-x86_64", "python": "3.11", "project": "lxml", "version": "1.0",
        "result": "crashed", "step": "build", "why": "gcc ended with 1", "seconds": 1.5, "peak_memory": 1 << 30,
        "files": [{"filename": "lxml.whl", "sha256": sha256, "size": 12}],
        "sdist": {"filename": "lxml.tar.gz", "sha256": sha256}, "awaiting": ["cython", "six"], "recipe": sha256,
        "builder": "host", "provenance": {"libc": "glibc 2.36"}, "has_log": True}


def test_log_is_found_by_the_first_digits(made):
    first = made.add("a", "failed", b"one\n\x1b[31mtwo\n")
    made.add("b", "failed", b"other")
    made.add("c", key="00000001" + "f" * 24)
    assert builds(made, "--log", first) == "one\n\x1b[31mtwo\n"
    assert builds(made, "--log", "00000002") == "other"
    assert "several" in builds(made, "--log", "00000001", code=2)
    assert "no build result has the id 77" in builds(made, "--log", "77", code=1)
    assert "has a log" in builds(made, "--log", "00000001f", code=1)


def test_log_moves_no_terminal(made):
    made.add("a", "failed", "tab\t\x1b]0;title\x07 \x9b31m\u202e ä\n".encode())
    leader, follower = pty.openpty()
    catalog = str(made.path).removesuffix(".builds")
    with subprocess.Popen([serving.binary(), "builds", "--catalog", catalog, "--log", "0", str(made.path.parent)],
                          stdout=follower) as program:
        os.close(follower)
        shown = b""
        while b"\n" not in shown:
            shown += os.read(leader, 4096)
        assert program.wait(30) == 0
    os.close(leader)
    assert b"?]0;title?" in shown and "ä".encode() in shown
    assert not set(shown) & {0x1b, 0x07} and b"\xc2\x9b" not in shown and "\u202e".encode() not in shown


def test_log_of_a_running_attempt_is_what_it_has_so_far(made, tmp_path):
    key = made.add("a", "running", provenance=json.dumps({"work": str(tmp_path / "work")}))
    (tmp_path / "work" / key).mkdir(parents=True)
    growing = tmp_path / "work" / key / "log"
    growing.write_bytes(b"first\n")
    assert builds(made, "--log", key) == "first\n"
    growing.write_bytes(b"first\nsecond\n")
    assert builds(made, "--log", key) == "first\nsecond\n"


def test_nothing_built_yet_is_no_error(tmp_path):
    words = ["builds", "--catalog", str(tmp_path / "catalog.db"), str(tmp_path)]
    done = serving.run(*words)
    assert (done.returncode, done.stdout) == (0, "") and "no attempt" in done.stderr
    assert json.loads(serving.run(*words, "--json").stdout) == {"attempts": []}
    assert not list(tmp_path.iterdir())


def test_a_machine_without_store_names_its_results(tmp_path):
    made = attempts.Attempts(tmp_path / "mine")
    made.add("a")
    (tmp_path / "builder.conf").write_text(f"[build]\nresults = {made.path}\n")
    done = serving.run("builds", "--json", "--config", str(tmp_path / "builder.conf"))
    assert [a["project"] for a in json.loads(done.stdout)["attempts"]] == ["a"], done.stderr


def test_wrong_lines_are_usage_errors(made):
    assert "--since: soon" in builds(made, "--since", "soon", code=2)
    assert "unknown" in builds(made, "--colour", code=2) or True


def test_damaged_file_is_named_and_stays(made):
    with open(made.path, "r+b") as file:
        file.write(b"no database")
    before = made.path.read_bytes()
    assert "results file" in builds(made, code=1)
    assert made.path.read_bytes() == before


def test_file_of_a_newer_release_is_not_read(made):
    with made.open() as connection:
        connection.execute("PRAGMA user_version = 99")
    assert "newer wheelcache" in builds(made, code=2)
