# SPDX-License-Identifier: Apache-2.0
"""A block list of 300,000 records, as the export of the OSV database has them (four of five are malware; the others have
vectors and two dozen versions): how long it takes to read, and in how much memory; how much of it stays, and what a look-up
costs. And a page of 3,000 files of an upstream, made for each request, without rules of what is offered and with all."""
import contextlib
import datetime
import http.server
import json
import os
import random
import pathlib
import statistics
import subprocess
import threading
import zipfile

import lines
import ours
import table

RECORDS = 300_000
MOST = {"seconds of a processor": 10, "MB, peak": 200, "MB, resident": 60, "ns a file": 2000}
DETAILS = "This package contains code that runs at its installation and sends data of the machine away. "


def record(i, chance):
    name = f"project-{i:06}"
    affected = {"package": {"ecosystem": "PyPI", "name": name, "purl": f"pkg:pypi/{name}"}}
    found = {"id": f"MAL-2026-{i}", "modified": "2026-01-02T03:04:05.123456Z", "published": "2026-01-01T03:04:05Z",
             "schema_version": "1.7.0", "summary": f"Malicious code in {name} (PyPI)",
             "details": DETAILS * chance.randrange(1, 6), "affected": [affected],
             "references": [{"type": "WEB", "url": f"https://example.org/{chance.getrandbits(128):032x}"}],
             "database_specific": {"malicious-packages-origins": [{
                 "import_time": "2026-01-02T03:04:05.6Z", "modified_time": "2026-01-02T03:04:05Z",
                 "sha256": f"{chance.getrandbits(256):064x}", "source": "ossf-package-analysis", "versions": ["1.0.0"]}]}}
    if i % 5 == 0:
        affected["versions"] = [f"{x}.{y}.{i % 7}" for x in range(2) for y in range(12)]
        affected["ranges"] = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": f"2.{i % 9}.0"}]}]
        found |= {"id": f"PYSEC-2026-{i}", "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N"}]}
    elif i % 2:
        affected["versions"] = ["1.0.0"]
    else:
        affected["ranges"] = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]
    return found


def make_list(path):
    chance = random.Random(7)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for i in range(RECORDS):
            one = record(i, chance)
            archive.writestr(f"{one['id']}.json", json.dumps(one, indent=2))


def numbers(*command):
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
    return [float(word) for word in done.stdout.split()]


def reading(program, folder, rounds):
    source, state = folder / "all.zip", folder / "state"
    make_list(source)
    read = [numbers(program, "read", source, state) for _ in range(rounds)]
    find = [numbers(program, "find", state, RECORDS) for _ in range(rounds)]
    found = {
        "seconds": statistics.median(one[0] for one in read),
        "seconds of a processor": statistics.median(one[1] for one in read),
        "MB, peak": max(one[2] for one in read) / 1024,
        "MB of the list on the disk": os.path.getsize(state / "list") / 1e6,
        "seconds to open it": statistics.median(one[1] for one in find),
        "MB, resident": max(one[2] for one in find) / 1024,
        "ns a file": statistics.median(one[0] for one in find),
    }
    rows = []
    for name, value in found.items():
        is_over = value > MOST.get(name, value)
        rows.append([name, f"{value:.3g}" if value < 10 else f"{value:.0f}", f"{MOST[name]}" if name in MOST else "",
                     "" if name not in MOST else "no" if is_over else "yes"])
    return table.text([f"a block list of {RECORDS:,} records, {os.path.getsize(source) / 1e6:.0f} MB", "", "most", "reached"], rows)


# --- a page under rules ---

FILES, YOUNG, DENIED, REQUESTS, PAIRS = 3_000, 30, 1_000, 100, 5
MOST_RATIO = 1.2
TICKS = os.sysconf("SC_CLK_TCK")
PATH = "/v/simple/theirs/"


def their_page():
    """Ten wheels a version; the last versions are a day old."""
    now, files = datetime.datetime.now(datetime.timezone.utc), []
    for i in range(FILES):
        age = datetime.timedelta(days=1 if i >= FILES - YOUNG else 400)
        name = f"theirs-1.{i // 10}-cp3{i % 10}-cp3{i % 10}-manylinux_2_17_x86_64.whl"
        files.append({"filename": name, "url": f"/packages/{name}", "hashes": {"sha256": f"{i:064x}"}, "size": 1000 + i,
                      "requires-python": ">=3.9", "upload-time": (now - age).isoformat().replace("+00:00", "Z"),
                      "core-metadata": {"sha256": f"{i:064x}"}})
    return json.dumps({"meta": {"api-version": "1.4"}, "name": "theirs", "files": files,
                       "versions": [f"1.{i}" for i in range(FILES // 10)]}).encode()


class Upstream(http.server.BaseHTTPRequestHandler):
    page = their_page()

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", lines.JSON["Accept"])
        self.send_header("Content-Length", str(len(self.page)))
        self.end_headers()
        self.wfile.write(self.page)


def write_rules(folder):
    """Each hides a release."""
    deny, records = folder / "deny.list", folder / "records"
    deny.write_text("".join(f"bad-{i} >=1.{i} it is bad\n" for i in range(DENIED)) + "theirs ==1.7 it is bad\n")
    records.mkdir()
    (records / "MAL-2026-1.json").write_text(json.dumps({
        "id": "MAL-2026-1", "modified": "2026-01-02T03:04:05Z",
        "affected": [{"package": {"ecosystem": "PyPI", "name": "theirs"}, "versions": ["1.9"]}]}))
    return f"cooldown = 7d\ndeny = {deny}\nblock = {records}\n"


def add_rules(binary, folder):
    """A hold, and a waiver of one release that it and the cooldown hide."""
    for words in (["hold", "--after", "2d", "--reason", "a worm"],
                  ["waive", f"theirs==1.{FILES // 10 - 1}", "--until", "1d", "--reason", "a fix"]):
        subprocess.run([binary, *words, "--config", folder / "wheelcache.conf", "--catalog", folder / "catalog.db"], check=True,
                       stdout=subprocess.DEVNULL)


def start(binary, folder, port, has_rules):
    (folder / "store" / "p").mkdir(parents=True)
    rules = write_rules(folder) if has_rules else ""
    one = ours.start(binary, folder / "store", folder, "threads = 1\nrescan = 0\npage-cache = 0\n",
                     more=f"[upstream]\nurl = http://127.0.0.1:{port}/simple/\nmax-age = 1h\n{rules}"
                          "[platform p]\n[view v]\nplatforms = p\nupstream = merge\n")
    if has_rules:
        add_rules(binary, folder)
    return one


def user_seconds(one):
    fields = pathlib.Path(f"/proc/{one.process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / TICKS


def render(one):
    """Milliseconds of a processor in user mode, for a page."""
    one.settle()
    before = user_seconds(one)
    for _ in range(REQUESTS):
        one.get(PATH, lines.JSON)
    one.settle()
    return (user_seconds(one) - before) * 1000 / REQUESTS


def ruled(binary, folder, rounds):
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    with contextlib.ExitStack() as stack:
        stack.callback(upstream.shutdown)
        servers, taken, files = {}, {False: [], True: []}, {}
        for rules in taken:
            servers[rules] = start(binary, folder / f"rules-{rules}", upstream.server_port, rules)
            stack.callback(servers[rules].stop)
        for rules, one in servers.items():
            render(one)  # by its end it has seen the hold
            files[rules] = len(json.loads(one.get(PATH, lines.JSON)[2])["files"])
        for i in range(PAIRS * rounds):
            for rules in (False, True) if i % 2 else (True, False):
                taken[rules].append(render(servers[rules]))
    ratio = statistics.median(ruled / plain for plain, ruled in zip(taken[False], taken[True]))
    rows = [[name, f"{files[rules]:,}", f"{statistics.median(taken[rules]):.2f}", "", "", ""]
            for rules, name in ((False, "without rules"), (True, "cooldown, hold, waiver, deny and block list"))]
    rows.append([f"ratio, median of {PAIRS * rounds} pairs", "", "", f"{ratio:.2f}", f"{MOST_RATIO}",
                 "yes" if ratio <= MOST_RATIO else "no"])
    return table.text([f"page of {FILES:,} of upstream, made for each request", "files on it", "user CPU ms", "ratio", "most",
                       "reached"], rows)


def bench(binary, program, folder, rounds):
    """Returns the tables as text."""
    return reading(program, folder, rounds) + "\n" + ruled(binary, folder, rounds)
