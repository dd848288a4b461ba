#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests lib/state/upstream/upstream with indexes on loopback: a small one, and the recorded one that fails on demand.

Runs in the build folder, where upstream-tool is.
"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

TOP = pathlib.Path(__file__).resolve().parents[3]
TOOL = "tests/unit/oracle/upstream-tool"
SHARED = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or TOP.parent / "shared")
JSON = "application/vnd.pypi.simple.v1+json"
DAY = 86400
PATIENT, HASTY = 120, 1  # timeouts in seconds: for tests without failures, and for tests of timeouts
sys.path.insert(0, str(TOP / "tests" / "e2e"))


def page(project, *files, serial=None, status=None, **more):
    """A page of files, each a version, or (version, upload time)."""
    listed = []
    for file in files:
        version, when = file if isinstance(file, tuple) else (file, None)
        name = f"{project}-{version}-py3-none-any.whl"
        listed.append({"filename": name, "url": f"../../files/{name}", "hashes": {"sha256": "ab" * 32}, "yanked": False})
        if when:
            listed[-1]["upload-time"] = f"2026-01-{when:02}T00:00:00Z"
    meta = {"api-version": "1.4", **({"_last-serial": serial} if serial else {})}
    return json.dumps({"meta": meta, "name": project, "versions": [], "files": listed,
                       **({"project-status": {"status": status, "reason": "a bad one"}} if status else {}), **more})


class Index(http.server.ThreadingHTTPServer):
    """Answers a path from `answers`: a body, a status, (status, headers), or a list of these, one per request."""
    daemon_threads, allow_reuse_address, request_queue_size = True, True, 128

    def __init__(self, tls=None):
        self.answers, self.requests = {}, []
        super().__init__(("127.0.0.1", 0), Handler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.origin = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_port}"
        self.url = self.origin + "/simple/"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def has(self, project, answer):
        self.answers[f"/simple/{project}/"] = answer

    def __exit__(self, *args):
        self.shutdown()
        super().__exit__(*args)

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.server.requests.append((self.path, dict(self.headers)))
        answer = self.server.answers.get(self.path, 404)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        status, headers = (200, {}) if isinstance(answer, str) else (answer, {}) if isinstance(answer, int) else answer
        body = answer.encode() if isinstance(answer, str) else headers.pop("body", "").encode()
        tag = f'"{hash(body)}"'
        if status == 200 and self.headers.get("If-None-Match") == tag:
            status, body = 304, b""
        self.send_response(status)
        for name, value in {"Content-Type": JSON, "Content-Length": len(body), "ETag": tag, **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)


class Case(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.enter = stack.enter_context
        self.folder = pathlib.Path(self.enter(tempfile.TemporaryDirectory()))
        self.catalog = self.folder / "catalog.db"

    def index(self, **how):
        return self.enter(Index(**how))

    def ask(self, urls, *projects, how="look", fails=None, **keys):
        """Runs the tool and returns one answer per project."""
        keys = {"timeout": PATIENT, "connect-timeout": PATIENT, "retries": 0, **keys}
        lines = "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in keys.items())
        config = self.folder / "wheelcache.conf"
        config.write_text("[upstream]\nurl = " + "\n  ".join([urls] if isinstance(urls, str) else urls) + "\n" + lines)
        home = {**os.environ, "HOME": str(self.folder), "no_proxy": "*"}
        done = subprocess.run([TOOL, config, self.catalog, how, *projects], capture_output=True, text=True, check=False,
                              env=home)
        self.assertEqual((done.stderr.strip(), done.returncode), (fails, 1) if fails else ("", 0))
        return {a["project"]: a for a in map(json.loads, done.stdout.splitlines())}

    def one(self, urls, project="foo", **keys):
        return self.ask(urls, project, **keys)[project]

    def query(self, sql, *values):
        with contextlib.closing(sqlite3.connect(self.catalog)) as connection, connection:
            return connection.execute(sql, values).fetchall()

    def versions(self, answer, key="page"):
        return [name.split("-")[1] for name in answer[key]] if key in answer else None


class Answers(Case):
    def test_page_is_known_and_kept(self):
        up = self.index()
        up.has("foo", (200, {"body": page("foo", "1", "2"), "Cache-Control": "public, max-age=600"}))
        up.has("bar", page("bar", "3"))
        first = self.ask(up.url, "foo", "bar")
        self.assertEqual({p: (a["result"], self.versions(a), a["index"]) for p, a in first.items()},
                         {"foo": ("known", ["1", "2"], up.url), "bar": ("known", ["3"], up.url)})
        # It counts from the request; a second may have begun before the answer.
        self.assertIn((first["foo"]["max-age"], first["bar"]["max-age"]), [(600, -1), (601, -1)])
        self.assertEqual(first["foo"]["page"]["foo-1-py3-none-any.whl"], up.origin + "/files/foo-1-py3-none-any.whl")
        kept = self.ask(up.url, "foo", "bar", "new", how="recall")
        for project in ("foo", "bar"):
            same = {k: v for k, v in first[project].items() if k != "changed"}
            self.assertEqual({k: v for k, v in kept[project].items() if k != "changed"}, same)
        self.assertEqual((kept["new"]["result"], kept["new"]["standing"]), ("never asked", "never asked"))
        self.assertEqual(len(up.requests), 2)

    def test_time_in_caches_on_the_way_counts(self):
        up = self.index()
        for control, age, left in (("max-age=600", "400", 200), ("max-age=600", "601", 0), ("s-maxage=9, max-age=600", "1", 8),
                                   ("max-age=600", "soon", 600), ("public", "5", -1), ("no-cache", "5", 0),
                                   ("max-age=600", "9" * 30, 0)):
            up.has("foo", (200, {"body": page("foo", "1"), "Cache-Control": control, "Age": age}))
            self.assertEqual(self.one(up.url)["max-age"], left, (control, age))

    def test_second_time_is_conditional_and_changes_nothing(self):
        up = self.index()
        up.has("foo", page("foo", "1"))
        self.one(up.url)
        before = self.query("SELECT changed, fetched FROM upstream")
        self.query("UPDATE upstream SET fetched = 1, asked = 1")
        self.query("UPDATE upstream_page SET upstream = upstream")
        again = self.one(up.url)
        self.assertEqual((again["result"], self.versions(again)), ("known", ["1"]))
        self.assertIn("If-None-Match", up.requests[1][1])
        self.assertIn(JSON, up.requests[1][1]["Accept"])
        after = self.query("SELECT changed, fetched FROM upstream")
        self.assertEqual(after[0][0], before[0][0])
        self.assertGreaterEqual(after[0][1], before[0][1])
        up.has("foo", page("foo", "1", "2"))
        self.one(up.url)
        self.assertGreater(self.query("SELECT changed FROM upstream")[0][0], before[0][0])

    def test_facts_of_another_version_are_asked_for_again(self):
        up = self.index()
        up.has("foo", page("foo", "1"))
        self.one(up.url)
        self.query("UPDATE upstream_page SET packed = x'00'")
        self.assertEqual(self.one(up.url, how="recall")["result"], "never asked")
        self.assertEqual(self.versions(self.one(up.url)), ["1"])
        self.assertNotIn("If-None-Match", up.requests[1][1])

    def test_every_project_is_asked_once(self):
        up = self.index()
        names = [f"p{n}" for n in range(300)]
        for name in names:
            up.has(name, page(name, "1"))
        for _ in range(2):
            up.requests.clear()
            answers = self.ask(up.url, *names, concurrency=8)
            self.assertEqual({a["result"] for a in answers.values()}, {"known"})
            self.assertEqual(sorted(path for path, _ in up.requests), sorted(f"/simple/{n}/" for n in names))

    def test_404(self):
        up = self.index()
        self.assertEqual(self.one(up.url)["result"], "404")
        self.assertEqual(self.one(up.url, trust_404="yes")["result"], "absent")
        self.assertEqual(self.one(up.url, trust_404="yes", how="recall")["result"], "absent")
        self.assertEqual(self.one(up.url, how="recall")["result"], "404")
        up.has("foo", page("foo", "1"))
        self.assertEqual(self.one(up.url)["result"], "known")
        up.has("foo", 404)
        gone = self.one(up.url)
        self.assertEqual((gone["result"], gone["standing"], self.versions(gone, "stale")), ("404", "404", None))

    def test_quarantined_is_not_forgotten_when_upstream_fails_later(self):
        up = self.index()
        up.has("foo", page("foo", "1"))
        self.one(up.url)
        up.has("foo", page("foo", status="quarantined"))
        answer = self.one(up.url)
        self.assertEqual((answer["result"], answer["standing"], answer["why"]), ("quarantined", "quarantined", "a bad one"))
        self.assertEqual((self.versions(answer), self.versions(answer, "stale")), (None, None))
        up.has("foo", 500)
        answer = self.one(up.url)
        self.assertEqual((answer["result"], answer["standing"], self.versions(answer, "stale")), ("5xx", "quarantined", None))
        up.has("foo", page("foo", "1"))
        self.assertEqual(self.versions(self.one(up.url)), ["1"])

    def test_no_page_beyond_the_limit(self):
        up = self.index()
        up.has("foo", page("foo", *map(str, range(100))))
        self.assertEqual(self.one(up.url, max_page="4K")["result"], "too large")

    def test_whoever_asks_may_end_it(self):
        up = self.index()
        for n in range(50):
            up.has(f"p{n}", page(f"p{n}", "1"))
        up.has("p1", 500)
        self.ask(up.url, *(f"p{n}" for n in range(50)), how="first", fails="enough", retries=9, concurrency=4)
        self.assertLess(len(up.requests), 20)
        self.assertGreater(self.query("SELECT count(*) FROM upstream WHERE result = 'known'")[0][0], 0)

    def test_bad_address_is_an_error(self):
        self.ask("http://[::1/simple/", "foo",
                 fails=f"{self.folder}/wheelcache.conf:2: [upstream] url is not a list of addresses, http: or https:")


class Older(Case):
    CASES = [
        ("serial", dict(serial=7), dict(serial=6), ["1", "2"], ["1", "2"], True),
        ("serial grew", dict(serial=7), dict(serial=8), [("1", 1), ("2", 2)], [("1", 1)], False),
        ("same serial, files are missing", dict(serial=7), dict(serial=7), [("1", 2), ("2", 1)], [("1", 2)], True),
        ("newest upload", {}, {}, [("1", 1), ("2", 2)], [("1", 1)], True),
        ("newer upload", {}, {}, [("1", 1), ("2", 2)], [("3", 3)], False),
        ("the newest is still there", {}, {}, [("1", 1), ("2", 2)], [("2", 2)], False),
        ("no times, files are missing", {}, {}, ["1", "2"], ["1"], True),
        ("no times, another file", {}, {}, ["1", "2"], ["3"], False),
        ("empty", {}, {}, [("1", 1)], [], True),
        ("the times are gone", {}, {}, [("1", 1), ("2", 2)], ["1", "2"], False),
        ("the times and files are gone", {}, {}, [("1", 1), ("2", 2)], ["1"], True),
    ]

    def test_what_is_older(self):
        up = self.index()
        for number, (name, first, then, before, after, is_older) in enumerate(self.CASES):
            with self.subTest(name):
                project = f"p{number}"
                up.has(project, page(project, *before, **first))
                self.assertEqual(self.one(up.url, project)["result"], "known")
                up.has(project, page(project, *after, **then))
                self.assertEqual(self.one(up.url, project)["result"], "older" if is_older else "known")

    def doubt(self):
        """An index whose page became older."""
        up = self.index()
        up.has("foo", page("foo", ("1", 1), ("2", 2)))
        self.one(up.url)
        up.has("foo", page("foo", ("1", 1)))
        answer = self.one(up.url)
        self.assertEqual((answer["result"], self.versions(answer), self.versions(answer, "stale")),
                         ("older", None, ["1", "2"]))
        return up

    def test_it_heals_by_the_page_that_was(self):
        up = self.doubt()
        up.has("foo", page("foo", ("1", 1), ("2", 2)))
        self.assertEqual(self.versions(self.one(up.url)), ["1", "2"])
        self.assertEqual(self.query("SELECT doubt FROM upstream"), [(None,)])

    def test_it_heals_by_a_day_of_the_same(self):
        up = self.doubt()
        self.query("UPDATE upstream SET doubted = doubted - ?", DAY - 600)
        self.assertEqual(self.one(up.url)["result"], "older")
        self.query("UPDATE upstream SET doubted = doubted - ?", 600)
        self.assertEqual(self.versions(self.one(up.url)), ["1"])

    def test_it_does_not_heal_by_a_day_of_changes(self):
        up = self.doubt()
        self.query("UPDATE upstream SET doubted = doubted - ?", DAY)
        up.has("foo", page("foo", ("0", 1)))
        self.assertEqual(self.one(up.url)["result"], "older")


class Retries(Case):
    def test_what_passes_is_tried_again(self):
        up = self.index()
        up.has("foo", [500, (429, {"Retry-After": "1"}), page("foo", "1")])
        self.assertEqual(self.versions(self.one(up.url, retries=2)), ["1"])
        self.assertEqual(len(up.requests), 3)

    def test_what_stays_is_not(self):
        up = self.index()
        for status in (400, 403, 404, 410, 204):
            up.has("foo", status)
            self.assertIn(self.one(up.url, retries=5)["result"], ("4xx", "404"))
        self.assertEqual(len(up.requests), 5)

    def test_who_asks_for_a_long_rest_is_left_alone(self):
        up = self.index()
        up.has("p1", (429, {"Retry-After": "3600"}))
        answers = self.ask(up.url, *(f"p{n}" for n in range(1, 9)), retries=5, concurrency=1)
        self.assertEqual({a["result"] for a in answers.values()}, {"429"})
        self.assertIn("left alone", answers["p8"]["why"])
        self.assertEqual(len(up.requests), 1)

    def test_who_asks_for_a_year_gets_an_hour(self):
        up = self.index()
        for name in ("p1", "p2", "p3"):  # this many known projects make the index credible
            up.has(name, (503, {"Retry-After": "31536000"}))
        answers = self.ask(up.url, "p1", "p2", "p3", "p4", retries=5, concurrency=1)
        self.assertEqual([answers[f"p{n}"]["result"] for n in range(1, 5)], ["5xx", "5xx", "5xx", "429"])
        (seconds,) = re.findall(r"left alone for (\d+) s more", answers["p4"]["why"])
        self.assertLessEqual(int(seconds), 3600)
        self.assertGreater(int(seconds), 3000)

    def test_one_that_is_down_is_not_asked_for_all(self):
        up = self.index()
        names = [f"p{n}" for n in range(100)]
        up.answers = {f"/simple/{name}/": 500 for name in names}
        answers = self.ask(up.url, *names, concurrency=2)
        self.assertEqual({a["result"] for a in answers.values()}, {"5xx"})
        self.assertLess(len(up.requests), 50)
        self.assertGreater(sum("in a row" in answer["why"] for answer in answers.values()), 50)
        self.assertEqual(len(self.query("SELECT * FROM upstream")), 100)


class Redirects(Case):
    def other(self, **how):
        one, two = self.index(), self.index()
        two.has("foo", page("foo", "2"))
        one.has("foo", (302, {"Location": two.url + "foo/"}))
        return two, self.one(one.url, **how)

    def test_on_the_same_server(self):
        up = self.index()
        up.has("foo", (301, {"Location": "/simple/Foo/"}))
        up.has("Foo", page("foo", "1"))
        self.assertEqual(self.versions(self.one(up.url)), ["1"])

    def test_no_private_address_at_another_port(self):
        two, answer = self.other()
        self.assertEqual((answer["result"], two.requests), ("redirect", []))
        self.assertIn("private", answer["why"])

    def test_private_address_that_is_allowed(self):
        _, answer = self.other(allow_private="yes")
        self.assertEqual(self.versions(answer), ["2"])

    def test_another_host_only_where_allowed(self):
        one, two = self.index(), self.index()
        two.has("foo", page("foo", "2"))
        one.has("foo", (302, {"Location": f"http://localhost:{two.server_port}/simple/foo/"}))
        answer = self.one(one.url, allow_private="yes")
        self.assertEqual((answer["result"], two.requests), ("redirect", []))
        self.assertEqual(self.versions(self.one(one.url, allow_private="yes", allow_hosts="a.example localhost")), ["2"])
        answer = self.one(one.url, allow_hosts="localhost")  # the name resolves to a private address
        self.assertEqual((answer["result"], len(two.requests)), ("redirect", 1))

    def test_not_for_ever(self):
        up = self.index()
        for n in range(6):
            up.answers[f"/simple/foo/{n or ''}"] = (302, {"Location": f"/simple/foo/{n + 1}"})
        up.answers["/simple/foo/5"] = page("foo", "1")
        self.assertEqual(self.versions(self.one(up.url)), ["1"])
        up.answers["/simple/foo/5"] = (302, {"Location": "/simple/foo/6"})
        up.answers["/simple/foo/6"] = page("foo", "1")
        up.requests.clear()
        self.assertEqual((self.one(up.url)["result"], len(up.requests)), ("redirect", 6))

    def test_to_no_url(self):
        up = self.index()
        for target in ("ftp://127.0.0.1/", "file:///etc/passwd", "http://", "javascript:1"):
            up.has("foo", (302, {"Location": target}))
            self.assertEqual(self.one(up.url)["result"], "redirect", target)

    def test_password_goes_nowhere_else(self):
        one, two = self.index(), self.index()
        two.has("foo", page("foo", "2"))
        one.has("bar", page("bar", "1"))
        one.has("foo", (302, {"Location": f"http://localhost:{two.server_port}/simple/foo/"}))
        url = one.url.replace("//", "//me:s%40cret@")
        answers = self.ask(url, "foo", "bar", "none", allow_private="yes", allow_hosts="localhost")
        self.assertEqual(self.versions(answers["foo"]), ["2"])
        self.assertTrue(all(headers["Authorization"] == "Basic bWU6c0BjcmV0" for _, headers in one.requests))
        self.assertNotIn("Authorization", two.requests[0][1])
        self.assertNotIn("cret", json.dumps(answers))
        self.assertEqual(self.query("SELECT count(*) FROM upstream WHERE source = ?", one.url), [(3,)])

    def test_netrc_is_not_asked_for_another(self):
        (self.folder / ".netrc").write_text("machine 127.0.0.1 login me password one\nmachine localhost login me password two\n")
        one, two = self.index(), self.index()
        two.has("foo", page("foo", "2"))
        one.has("foo", (302, {"Location": f"http://localhost:{two.server_port}/simple/foo/"}))
        self.assertEqual(self.versions(self.one(one.url, allow_private="yes", allow_hosts="localhost")), ["2"])
        self.assertEqual(one.requests[0][1]["Authorization"], "Basic bWU6b25l")
        self.assertNotIn("Authorization", two.requests[0][1])


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
class Encrypted(Case):
    def test_certificate_has_to_be_trusted(self):
        key, cert = self.folder / "key.pem", self.folder / "cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=an index",
                        "-addext", "subjectAltName = IP:127.0.0.1", "-keyout", key, "-out", cert], check=True,
                       capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(cert, key)
        up = self.index(tls=tls)
        up.has("foo", page("foo", "1"))
        self.assertEqual((self.one(up.url)["result"], up.requests), ("TLS", []))
        self.assertEqual(self.versions(self.one(up.url, ca_file=cert)), ["1"])
        plain = self.index()
        plain.has("bar", page("bar", "1"))
        up.has("bar", (302, {"Location": plain.url + "bar/"}))
        self.assertEqual(self.one(up.url, "bar", ca_file=cert, allow_private="yes")["result"], "redirect")
        self.assertEqual(self.one(plain.url.replace("http:", "https:"), ca_file=cert)["result"], "TLS")


class First(Case):
    """indexes = first, the default: a project belongs to the first index that has it."""

    def both(self):
        one, two = self.index(), self.index()
        return one, two, [one.url, two.url]

    def test_first_that_has_it_is_its_index(self):
        one, two, both = self.both()
        one.has("acme", page("acme", "1"))
        two.has("acme", page("acme", "999"))
        two.has("foo", page("foo", "2"))
        for how in ("look", "recall"):
            answers = self.ask(both, "acme", "foo", how=how)
            self.assertEqual((self.versions(answers["acme"]), answers["acme"]["index"]), (["1"], one.url))
            self.assertEqual((self.versions(answers["foo"]), answers["foo"]["index"]), (["2"], two.url))
        self.assertEqual([request for request in two.requests if "acme" in str(request)], [], "no other index gets the name")

    def test_first_one_that_is_down_leaves_it_unknown(self):
        one, two, both = self.both()
        two.has("foo", page("foo", "2"))
        one.has("foo", 503)
        answer = self.one(both)
        self.assertEqual((answer["result"], answer["index"], "stale" in answer), ("5xx", one.url, False))
        one.has("foo", 404)
        self.assertEqual(self.versions(self.one(both)), ["2"])
        one.has("foo", 503)
        answer = self.one(both)
        self.assertEqual((answer["result"], self.versions(answer), self.versions(answer, "stale")), ("5xx", None, ["2"]))
        self.query("UPDATE upstream SET certain = 1000 WHERE source = ?", one.url)
        self.assertEqual(self.one(both)["fetched"], 1000, "as old as the first one's word")

    def test_first_one_that_had_it_keeps_it(self):
        """A 404 is not definitive until the operator says so."""
        one, two, both = self.both()
        one.has("foo", page("foo", "1"))
        two.has("foo", page("foo", "999"))
        self.assertEqual(self.versions(self.one(both)), ["1"])
        one.has("foo", 404)
        answer = self.one(both)
        self.assertEqual((answer["result"], answer["index"], "stale" in answer), ("404", one.url, False))
        self.assertEqual(self.versions(self.one(both, trust_404="yes")), ["999"])

    def test_project_that_the_first_one_gets_is_its_own(self):
        one, two, both = self.both()
        two.has("foo", page("foo", "2"))
        self.assertEqual(self.versions(self.one(both)), ["2"])
        one.has("foo", page("foo", "1"))
        self.assertEqual(self.versions(self.one(both)), ["1"])

    def test_404_of_all_is_absent(self):
        _, _, both = self.both()
        self.assertEqual(self.one(both, trust_404="yes")["result"], "absent")


class Several(Case):
    """indexes = together."""

    def ask(self, *args, **keys):
        return super().ask(*args, **{"indexes": "together", **keys})

    def test_files_are_together_and_the_first_of_a_name_wins(self):
        one, two = self.index(), self.index()
        one.has("foo", page("foo", "1", "2"))
        two.has("foo", page("foo", "2", "3"))
        for how in ("look", "recall"):
            answer = self.one([one.url, two.url], how=how)
            self.assertEqual((answer["result"], self.versions(answer)), ("known", ["1", "2", "3"]))
            self.assertTrue(answer["page"]["foo-2-py3-none-any.whl"].startswith(one.origin + "/"))

    def test_one_that_fails_leaves_all_unknown(self):
        one, two = self.index(), self.index()
        one.has("foo", page("foo", "1"))
        two.has("foo", page("foo", "2"))
        both = [one.url, two.url]
        self.assertEqual(self.versions(self.one(both)), ["1", "2"])
        two.has("foo", 500)
        answer = self.one(both)
        self.assertEqual((answer["result"], answer["index"], self.versions(answer)), ("5xx", two.url, None))
        self.assertEqual(self.versions(answer, "stale"), ["1", "2"])

    def test_one_that_never_had_it_takes_nothing(self):
        one, two = self.index(), self.index()
        two.has("foo", page("foo", "2"))
        both = [one.url, two.url]
        self.assertEqual(self.versions(self.one(both)), ["2"])
        one.has("foo", page("foo", "1"))
        self.assertEqual(self.versions(self.one(both)), ["1", "2"])
        one.has("foo", 404)  # but an index that had it is suspect
        self.assertEqual(self.one(both)["result"], "404")
        self.assertEqual(self.versions(self.one(both, trust_404="yes")), ["2"])
        two.has("foo", 404)
        self.assertEqual(self.one(both, trust_404="yes")["result"], "absent")


class Recorded(Case):
    """Each failure of the recorded upstream has a name, keeps what is known, and ends when the cause ends."""
    MODES = {"404": "404", "410": "4xx", "500": "5xx", "503": "5xx", "429": "429", "reset": "refused", "drip": "timeout",
             "truncated-json": "truncated", "wrong-project": "wrong project", "html200": "not a simple page",
             "not-json": "not a simple page", "empty": "older", "cut": "truncated", "stale": "older",
             "quarantined": "quarantined", "silence": "timeout"}

    def start(self, *options):
        import upstreams  # in the folder of the end-to-end tests
        return self.enter(upstreams.upstreams(SHARED if (SHARED / "corpus").is_dir() else TOP / "tests" / "data"))(*options)

    def test_failures(self):
        up = self.start()
        self.assertEqual(self.one(up.url, "six")["result"], "known")
        good = self.one(up.url, "six")["page"]
        for mode, name in self.MODES.items():
            with self.subTest(mode):
                up.fail(mode)
                keys = {"timeout": HASTY} if name == "timeout" else {}
                answer = self.one(up.url, "six", **keys)
                self.assertEqual((answer["result"], "page" in answer), (name, False))
                self.assertTrue(answer["why"])
                self.assertEqual("stale" in answer, mode not in ("404", "quarantined"))
                self.assertEqual(self.one(up.url, "six", how="recall")["result"], name)
                up.fail("none")
                answer = self.one(up.url, "six")
                self.assertEqual((answer["result"], answer["page"]), ("known", good))

    def test_connection_refused(self):
        self.assertEqual(self.one(self.start("--fail", "refuse").url, "six")["result"], "refused")

    def test_html_alone(self):
        up = self.start()
        known = self.one(up.url, "six")
        up.fail("html-only")
        self.catalog = self.folder / "other.db"
        self.assertEqual(self.one(up.url, "six")["page"], known["page"])


if __name__ == "__main__":
    unittest.main()
