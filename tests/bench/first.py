# SPDX-License-Identifier: Apache-2.0
"""The first answer for the page of 5,000 files, which is then in no cache: of a server that has just started, beside one that
has the page. And a page of 3,000 files of upstream, with and without rules of what is offered."""
import datetime
import http.server
import json
import statistics
import threading
import time

import lines
import ours
import table

FILES = 5_000
WAIT = 0.2  # seconds after which the scan of the start has begun
MOST_MS = 10  # with gzip, as every installer asks
THEIRS, VIEWS, YOUNG, DENIED = 3_000, 30, 300, 1_000
MOST_RATIO = 1.2


def measure(one, path, headers):
    """Milliseconds and CPU milliseconds of a request, and the bytes of its answer."""
    one.settle()
    begin, used = time.monotonic(), one.cpu_seconds()
    status, _, body = one.get(path, headers)
    taken, used = time.monotonic() - begin, one.cpu_seconds() - used
    if status != 200:
        raise RuntimeError(f"{path}: {status}")
    return taken * 1000, used * 1000, len(body)


def first_and_second(binary, store, folder, shape, headers):
    one = ours.start(binary, store, folder)
    try:
        one.get(f"/simple/{shape.projects[4]}/", lines.JSON)
        time.sleep(WAIT)
        path = f"/simple/{shape.projects[FILES]}/"
        return measure(one, path, headers) + measure(one, path, headers)[:2]
    finally:
        one.stop()


def bench(binary, store, shape, folder, count):
    """Returns the table as text."""
    taken = {form: [] for form in lines.FORMS}
    first_and_second(binary, store, folder, shape, lines.JSON)  # fills the catalog
    for _ in range(count):
        for form, headers in lines.FORMS.items():
            taken[form].append(first_and_second(binary, store, folder, shape, headers))
    rows = []
    for form, rounds in taken.items():
        first, cpu, size, again, cpu_again = (statistics.median(column) for column in zip(*rounds))
        is_reached = "gzip" not in form or cpu <= MOST_MS
        rows.append([form, f"{size:,.0f}", *(f"{one:.1f}" for one in (first, cpu, again, cpu_again)),
                     "yes" if is_reached else f"{cpu:.1f} > {MOST_MS} CPU ms"])
    ours_table = table.text([f"page of {FILES:,}", "bytes", "first, ms", "CPU ms", "second, ms", "CPU ms", "reached"], rows)
    return ours_table + "\n" + ruled(binary, folder, count)


# --- what is offered ---

def their_page():
    """Ten wheels a version; the last versions are a day old."""
    now, files = datetime.datetime.now(datetime.timezone.utc), []
    for i in range(THEIRS):
        age = datetime.timedelta(days=1 if i >= THEIRS - YOUNG else 400)
        name = f"theirs-1.{i // 10}-cp3{i % 10}-cp3{i % 10}-manylinux_2_17_x86_64.whl"
        files.append({"filename": name, "url": f"/packages/{name}", "hashes": {"sha256": f"{i:064x}"}, "size": 1000 + i,
                      "requires-python": ">=3.9", "upload-time": (now - age).isoformat().replace("+00:00", "Z"),
                      "core-metadata": {"sha256": f"{i:064x}"}})
    return json.dumps({"meta": {"api-version": "1.4"}, "name": "theirs", "files": files,
                       "versions": [f"1.{i}" for i in range(THEIRS // 10)]}).encode()


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


def render(binary, folder, port, rules):
    """CPU milliseconds of a page, each of another view, and the files on it."""
    folder.mkdir()
    (folder / "store" / "p").mkdir(parents=True)
    deny = folder / "deny.list"
    deny.write_text("".join(f"bad-{i} >=1.{i} it is bad\n" for i in range(DENIED)) + "theirs ==1.7 it is bad\n")
    views = "".join(f"[view v{i}]\nplatforms = p\nupstream = merge\n" for i in range(VIEWS))
    more = f"cooldown = 7d\ndeny = {deny}\n" if rules else ""
    one = ours.start(binary, folder / "store", folder, "threads = 1\nrescan = 0\n",
                     more=f"[upstream]\nurl = http://127.0.0.1:{port}/simple/\nmax-age = 1h\n{more}[platform p]\n{views}")
    try:
        status, _, body = one.get("/v0/simple/theirs/", lines.JSON)
        if status != 200:
            raise RuntimeError(f"{status}: {body[:200]}")
        time.sleep(WAIT)
        one.settle()
        used = one.cpu_seconds()
        for i in range(1, VIEWS):
            one.get(f"/v{i}/simple/theirs/", lines.JSON)
        return (one.cpu_seconds() - used) * 1000 / (VIEWS - 1), len(json.loads(body)["files"])
    finally:
        one.stop()


def ruled(binary, folder, count):
    upstream = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    threading.Thread(target=upstream.serve_forever, daemon=True).start()
    taken = {rules: [render(binary, folder / f"ruled-{rules}-{i}", upstream.server_port, rules) for i in range(count)]
             for rules in (False, True)}
    upstream.shutdown()
    plain, ruled_ms = (statistics.median(ms for ms, _ in taken[rules]) for rules in (False, True))
    ratio = ruled_ms / plain
    return table.text([f"page of {THEIRS:,} of upstream", "files on it", "CPU ms", "reached"], [
        ["without rules", f"{taken[False][0][1]:,}", f"{plain:.2f}", ""],
        ["cooldown and deny", f"{taken[True][0][1]:,}", f"{ruled_ms:.2f}",
         "yes" if ratio <= MOST_RATIO else f"{ratio:.2f} > {MOST_RATIO}"]])
