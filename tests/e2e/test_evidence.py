# SPDX-License-Identifier: Apache-2.0
"""wheelcache evidence make, with reports of real pytest."""
import hashlib
import http.server
import json
import os
import subprocess
import sys
import textwrap
import threading

import pytest

import serving
import storelib

CELL = ("--platform", "debian-12-x86_64", "--python", "3.12")


@pytest.fixture(name="wheel")
def wheel_fixture(tmp_path):
    return storelib.make_wheel(tmp_path / "dist", "demo", "1.0")


def report(folder, name, code, tests):
    """The report of a run of pytest over these tests, which exits with this code."""
    file, path = folder / f"test_{name}.py", folder / f"{name}.xml"
    file.write_text(textwrap.dedent(tests))
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={path}", file],
                          capture_output=True, text=True, check=False, cwd=folder, env=os.environ | {"PYTEST_ADDOPTS": ""})
    assert done.returncode == code, done.stdout + done.stderr
    return path


def make(reports, wheels, *options, kind="unit", **more):
    words = [word for option, values in (("--junit", reports), ("--wheels", wheels)) for word in [option, *values] if values]
    return serving.run("evidence", "make", "--kind", kind, *CELL, *words, *options, **more)


def test_two_runs_of_pytest_add_up(tmp_path, wheel):
    """It works without a store, a configuration or a home."""
    good = report(tmp_path, "good", 0, """
        import pytest
        def test_one(): pass
        @pytest.mark.parametrize("x", range(3))
        def test_many(x): pass
        def test_skipped(): pytest.skip("no network")
        @pytest.mark.xfail
        def test_known(): assert False
    """)
    bad = report(tmp_path, "bad", 1, """
        import pytest
        @pytest.fixture
        def broken():
            yield
            raise OSError("teardown")
        def test_fails(broken): assert 1 == 2, "x\\x1b[31my"
        def test_passes(): pass
    """)
    done = make([good, bad], [wheel.path], "-o", tmp_path / "run.json", cwd=tmp_path, env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0 and done.stdout == "", done.stderr
    assert "unit on debian-12-x86_64/3.12: 5 passed, 2 failed, 2 skipped; tested: 1 wheel\n" in done.stderr
    record = json.loads((tmp_path / "run.json").read_text())
    assert [record[key] for key in ("kind", "platform", "python", "passed", "failed", "skipped")] == [
        "unit", "debian-12-x86_64", "3.12", 5, 2, 2]
    one, = record["wheels"]
    assert one == {"filename": wheel.name, "sha256": hashlib.sha256(wheel.path.read_bytes()).hexdigest(),
                   "content_sha256": one["content_sha256"]}
    assert [one["name"] for one in record["failures"]] == ["test_bad::test_fails"] * 2
    assert "\x1b" not in json.dumps(record, ensure_ascii=False)
    # The same files give the same record.
    assert make([good, bad], [wheel.path]).stdout == (tmp_path / "run.json").read_text()


def test_run_without_tests_or_without_its_end_is_no_evidence(tmp_path, wheel):
    empty = report(tmp_path, "empty", 5, "X = 1\n")
    good = report(tmp_path, "good", 0, "def test_one(): pass\n")
    cut = tmp_path / "cut.xml"
    cut.write_text(good.read_text()[:-20])
    void = tmp_path / "void.xml"
    void.touch()
    crashed = report(tmp_path, "crashed", 3, "import os\ndef test_one(): os._exit(3)\n")
    for path, words in ((empty, "empty.xml: it has no tests"), (cut, "cut.xml: "), (void, "void.xml: it is empty"),
                        (crashed, "crashed.xml: No such file")):
        done = make([good, path], [wheel.path], "-o", tmp_path / "run.json")
        assert done.returncode == 1 and words in done.stderr, done.stderr
        assert not (tmp_path / "run.json").exists()
    # What an earlier run left is not taken for the report of the one that crashed.
    os.utime(good, (1, 1))
    done = make([good], [wheel.path])
    assert done.returncode == 1 and "it is older than" in done.stderr
    done = make([good], [wheel.path], "--allow-older")
    assert done.returncode == 0 and json.loads(done.stdout)["made"] == "1970-01-01T00:00:01Z"


GREEN = "<testsuite><testcase name='a'/></testsuite>"


def matrix(folder, reports):
    """The words of one line for two platforms, each with its wheel and two Pythons, and two kinds of tests."""
    words = []
    for platform in ("debian-12-x86_64", "ubuntu-24.04-x86_64"):
        wheel = storelib.make_wheel(folder / platform, "demo", "1.0", "cp311-abi3-linux_x86_64",
                                   files={"where.txt": platform.encode()})
        words += ["--platform", platform, "--wheels", wheel.path]
        for python in ("3.11", "3.12"):
            words += ["--python", python]
            for kind in ("unit", "integration"):
                path = folder / f"{kind}-{platform}-{python}.xml"
                if (platform, python, kind) in reports:
                    path.write_text(reports[platform, python, kind])
                words += ["--kind", kind, "--junit", path]
    return words


CELLS = [(platform, python, kind) for platform in ("debian-12-x86_64", "ubuntu-24.04-x86_64")
         for python in ("3.11", "3.12") for kind in ("unit", "integration")]


def test_one_line_makes_the_records_of_a_matrix(tmp_path):
    """Of two wheels of one name each belongs to its platform."""
    done = serving.run("evidence", "make", *matrix(tmp_path, {cell: GREEN for cell in CELLS}), "-o", tmp_path / "runs.json")
    assert done.returncode == 0 and done.stdout == "", done.stderr
    records = [json.loads(line) for line in (tmp_path / "runs.json").read_text().splitlines()]
    assert [(one["platform"], one["python"], one["kind"], one["passed"]) for one in records] == [(*cell, 1) for cell in CELLS]
    for one in records:
        wheel, = (tmp_path / one["platform"]).glob("*.whl")
        assert [(tested["filename"], tested["sha256"]) for tested in one["wheels"]] == [
            (wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest())]
    assert len({json.dumps(one["wheels"]) for one in records}) == 2


def test_run_without_a_report_takes_nothing_from_the_others(tmp_path):
    crashed, empty = CELLS[2], CELLS[5]
    reports = {cell: "<testsuite/>" if cell == empty else GREEN for cell in CELLS if cell != crashed}
    done = serving.run("evidence", "make", *matrix(tmp_path, reports))
    assert done.returncode == 1
    assert f"{'-'.join((crashed[2], *crashed[:2]))}.xml: No such file" in done.stderr
    assert f"{'-'.join((empty[2], *empty[:2]))}.xml: it has no tests" in done.stderr
    assert [(one["platform"], one["python"], one["kind"]) for one in map(json.loads, done.stdout.splitlines())] == [
        cell for cell in CELLS if cell not in (crashed, empty)]


def test_report_without_its_words_is_named(tmp_path, wheel):
    junit = tmp_path / "r.xml"
    junit.write_text(GREEN)
    for words, message in (
            (("--platform", "a", "--python", "3.11", "--junit", junit, "--platform", "b", "--python", "3.12", "--platform", "c",
              "--junit", junit), "r.xml: no --python stands before it, behind its --platform"),
            (("--platform", "a", "--junit", junit, "--kind", "x", "--kind", "y", "--python", "3.12"),
             "r.xml: no --kind stands before it"),
            (("--platform", "a", "--python", "3.12", "--junit", junit, "--platform", "b", "--wheels", wheel.path),
             "--wheels FILE is missing")):
        kind = () if "--kind" in words else ("--kind", "unit")
        done = serving.run("evidence", "make", *kind, *words, "--wheels" if "--wheels" not in words else "--allow-older",
                           *([wheel.path] if "--wheels" not in words else []))
        assert done.returncode == 2 and message in done.stderr and done.stdout == "", done.stderr


def test_file_of_more_records_than_fit_is_refused(tmp_path):
    large = tmp_path / "runs.json"
    with large.open("wb") as file:
        file.truncate((64 << 20) + 1)
    done = serving.run("evidence", "send", large, "--to", "http://127.0.0.1:1/", "--retries", "0")
    assert done.returncode == 1 and "runs.json" in done.stderr and "67108864 bytes" in done.stderr, done.stderr


@pytest.mark.parametrize("change, words", [
    ({"--kind": "Unit tests"}, "--kind: "),
    ({"--platform": "../x"}, "--platform: "),
    ({"--python": "cpython"}, "--python: "),
    ({"--wheels": "demo.zip"}, "--wheels: demo.zip is not named like a wheel"),
    ({"--junit": None}, "--junit FILE is missing"),
    ({"--kind": None}, "--kind KIND is missing"),
])
def test_wrong_lines_are_explained(tmp_path, wheel, change, words):
    junit = tmp_path / "r.xml"
    junit.write_text("<testsuite><testcase name='a'/></testsuite>")
    given = {"--kind": "unit", "--platform": "p", "--python": "3.12", "--junit": junit, "--wheels": wheel.path} | change
    done = serving.run("evidence", "make", *[word for pair in given.items() if pair[1] for word in pair])
    assert done.returncode == 2 and words in done.stderr, done.stderr


# --- wheels that are not here ---

LOCAL = "demo-1.0+local.1-py3-none-any.whl"


def entry(url, digest):
    return {"download_info": {"url": url, "archive_info": {"hashes": {"sha256": digest}}}}


def page(*names):
    return json.dumps({"name": "demo", "files": [{"filename": name, "hashes": {"sha256": "ab" * 32}} for name in names]})


@pytest.mark.parametrize("text, found", [
    (json.dumps({"version": "1", "install": [
        entry("https://host/files/demo-1.0%2Blocal.1-py3-none-any.whl#sha256=00", "ab" * 32),
        entry("https://host/files/other-2.tar.gz", "cd" * 32)]}), [(LOCAL, "ab" * 32)]),
    (page("demo-1.0-py3-none-any.whl", "demo-1.0.0-cp312-cp312-linux_x86_64.whl", "demo-0.9.tar.gz"),
     [("demo-1.0-py3-none-any.whl", "ab" * 32), ("demo-1.0.0-cp312-cp312-linux_x86_64.whl", "ab" * 32)]),
    (f"{'ab' * 32}  dist/demo-1.0-py3-none-any.whl\n{'cd' * 32} *{LOCAL}\n",
     [(LOCAL, "cd" * 32), ("demo-1.0-py3-none-any.whl", "ab" * 32)]),
])
def test_names_and_hashes_suffice(tmp_path, serve_bytes, text, found):
    """The wheels need not be here: pip's report, a page of one version, or lines of sha256sum, as a file or a URL."""
    good = report(tmp_path, "good", 0, "def test_one(): pass")
    path = tmp_path / "list"
    path.write_text(text)
    for place in (path, serve_bytes(text)):
        done = make([good], [], "--wheels-from", place, env={"PATH": os.environ["PATH"], "WHEELCACHE_TOKEN": "wc_secret"})
        assert done.returncode == 0, done.stderr
        assert [(one["filename"], one["sha256"]) for one in json.loads(done.stdout)["wheels"]] == sorted(found)
    assert not serve_bytes.passwords  # the token is for the server of --send


@pytest.mark.parametrize("text, reason", [
    ("", "it names no wheel"), ("{", "not JSON"), ("{}", 'neither "install" nor "files"'), ("hello\n", "a line is not"),
    (f"{'ab' * 32}  demo-1.0.tar.gz\n", "it names no wheel"), ("xy  demo-1.0-py3-none-any.whl\n", "it has no SHA-256"),
    (page("demo-1.0-py3-none-any.whl", "demo-1.1-py3-none-any.whl"), "wheels of several versions"),
    (json.dumps({"install": [{}]}), 'has no "url"'),
    ("".join(f"{'ab' * 32}  demo-{number}-py3-none-any.whl\n" for number in range(10001)), "more than "),
], ids=["empty", "cut JSON", "other JSON", "prose", "only an sdist", "no hash", "two versions", "no URL", "too long"])
def test_lists_that_name_no_tested_wheels_are_refused(tmp_path, text, reason):
    good = report(tmp_path, "good", 0, "def test_one(): pass")
    (tmp_path / "list").write_text(text)
    done = make([good], [], "--wheels-from", tmp_path / "list")
    assert done.returncode != 0 and reason in done.stderr and not done.stdout, done.stderr


@pytest.fixture(name="serve_bytes")
def serve_bytes_fixture():
    """A server of one text; it notes the passwords that it was sent."""
    passwords, texts = [], []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):  # pylint: disable=invalid-name
            passwords.extend(self.headers.get_all("Authorization", []))
            self.send_response(200)
            self.send_header("Content-Length", str(len(texts[-1])))
            self.end_headers()
            self.wfile.write(texts[-1])

        def log_message(self, *_):
            pass
    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()

        def put(text):
            texts.append(text.encode())
            return f"http://127.0.0.1:{server.server_address[1]}/list"
        put.passwords = passwords
        yield put
        server.shutdown()
