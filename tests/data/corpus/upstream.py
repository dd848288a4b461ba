#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A loopback upstream: serves the recorded pages and the wheels beside it like a real package index, and fails on demand.

  upstream.py [--port N] [--dir CORPUS ...] [--only-held] [--fail MODE ...]     prints "listening on http://127.0.0.1:PORT/simple/"

  GET /simple/                      root list (HTML, or JSON 1.4 by Accept)
  GET /simple/<project>/            recorded page; ETag, 304, gzip when accepted; HTML is made from the JSON as PyPI makes it
  GET /packages/.../<file>          bytes (one range too); <file>.metadata: METADATA out of the wheel (PEP 658)
  GET /__stats                      {"requests", "by_path", "by_status", "by_project", "failed", "bytes", "max_concurrent"}
  GET /__reset                      counters to zero
  GET /__fail?mode=M&on=simple&project=P&times=N     change the failure at run time (mode=none: healthy)

--only-held lists on each page only files whose bytes are here: what pip picks can then be downloaded.
--as-of DATE lists only files uploaded before DATE (ISO); --fail stale does it with --stale-date, as a mirror that went back in time.
Failure modes (--on simple, files or all; --project P: only that one; --times N: the first N such requests, then healthy):
  refuse (nobody listens)  reset  silence (--delay s, then close)  drip (--delay s between small pieces)  404  410  500  503
  429 (Retry-After: --retry-after)  truncated-json (whole by Content-Length, cut in the middle)  wrong-project  html200 (an error
  page with status 200)  not-json (JSON type, HTML body)  empty (200, no files)  cut (connection closed in mid-body)
  wrong-bytes (one byte of a file flipped)  stale  quarantined (PEP 792 status, no files)  html-only (JSON is never offered)
Standard library only; binds 127.0.0.1.
"""
import argparse, collections, gzip, hashlib, html, json, os, re, socket, struct, sys, threading, time, zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

JSON_TYPE, HTML_TYPE = "application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.v1+html"
MODES = ("none refuse reset silence drip 404 410 500 503 429 truncated-json wrong-project html200 not-json empty cut "
         "wrong-bytes stale quarantined html-only").split()
ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
ap.add_argument("--port", type=int, default=0)
ap.add_argument("--dir", action="append", help="corpus folder(s); default: where this script lies")
ap.add_argument("--only-held", action="store_true")
ap.add_argument("--as-of")
ap.add_argument("--stale-date", default="2024-01-01")
ap.add_argument("--fail", default="none", choices=MODES)
ap.add_argument("--on", default="all", choices=("simple", "files", "all"))
ap.add_argument("--project")
ap.add_argument("--times", type=int, default=-1)
ap.add_argument("--retry-after", default="2")
ap.add_argument("--delay", type=float)
opt = ap.parse_args()
dirs = opt.dir or [os.path.dirname(os.path.abspath(__file__))]
normal = lambda s: re.sub(r"[-_.]+", "-", s).lower()
held = {n: os.path.join(d, sub, n) for d in dirs for sub in ("wheels", "sdists")
        if os.path.isdir(os.path.join(d, sub)) for n in os.listdir(os.path.join(d, sub))}
recorded = {n[:-8]: os.path.join(d, "pages", n) for d in dirs for n in os.listdir(os.path.join(d, "pages")) if n.endswith(".json.gz")}
lock, cache, now = threading.Lock(), {}, 0
fail = {"mode": opt.fail, "on": opt.on, "project": opt.project, "times": opt.times}


def fresh():
    return {"requests": 0, "by_path": collections.Counter(), "by_status": collections.Counter(),
            "by_project": collections.Counter(), "failed": 0, "bytes": 0, "max_concurrent": 0}


stats = fresh()


def page(project, as_of, status="active"):
    key = (project, as_of, status)
    if key not in cache:
        with gzip.open(recorded[project]) as f:
            d = json.load(f)
        d["files"] = [] if status != "active" else [f for f in d["files"] if (not as_of or f["upload-time"] < as_of)
                                                    and (not opt.only_held or f["filename"] in held)]
        d["project-status"] = {"status": status}
        cache[key] = d
    return cache[key]


def as_html(d):
    out = ['<!DOCTYPE html>\n<html>\n  <head>\n    <meta name="pypi:repository-version" content="1.4">\n    '
           f'<meta name="pypi:project-status" content="{d["project-status"]["status"]}">\n'
           f'    <title>Links for {d["name"]}</title>\n  </head>\n  <body>\n    <h1>Links for {d["name"]}</h1>\n']
    for f in d["files"]:
        attrs = ""
        if f["requires-python"]:
            attrs += f' data-requires-python="{html.escape(f["requires-python"])}"'
        if f["yanked"] is not False:
            attrs += f' data-yanked="{html.escape("" if f["yanked"] is True else f["yanked"])}"'
        meta = f.get("core-metadata")
        if meta:
            attrs += "".join(f' data-{k}="sha256={meta["sha256"]}"' for k in ("dist-info-metadata", "core-metadata"))
        out.append(f'<a href="{html.escape(f["url"])}#sha256={f["hashes"]["sha256"]}"{attrs}>{html.escape(f["filename"])}</a><br />\n')
    return "".join(out) + f'</body>\n</html>\n<!--SERIAL {d["meta"]["_last-serial"]}-->'


def wants_json(accept):
    best = {}
    for part in accept.split(","):
        kind, *params = [p.strip() for p in part.split(";")]
        q = next((float(p[2:]) for p in params if p.startswith("q=")), 1.0)
        best[kind.replace("latest", "v1")] = q
    html_q = max(best.get(k, 0) for k in (HTML_TYPE, "text/html", "text/*"))
    return best.get(JSON_TYPE, 0) > 0 and best[JSON_TYPE] >= html_q


class Upstream(BaseHTTPRequestHandler):
    protocol_version, server_version, sys_version = "HTTP/1.1", "loopback-upstream", ""

    def log_message(self, *args):
        pass

    def send(self, code, body=b"", kind="text/html; charset=utf-8", headers=(), length=None, piece=0):
        with lock:
            stats["by_status"][str(code)] += 1
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for k, v in headers:
            self.send_header(k, v)
        self.end_headers()
        if self.command == "HEAD" or code == 304:
            return
        step = piece or max(len(body), 1)
        for at in range(0, len(body), step):
            self.wfile.write(body[at:at + step])
            with lock:
                stats["bytes"] += len(body[at:at + step])
            if piece:
                self.wfile.flush()
                time.sleep(0.2 if opt.delay is None else opt.delay)
        if length is not None and length > len(body):
            self.close_connection = True

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.wfile, self.rfile, self.close_connection = open(os.devnull, "wb"), open(os.devnull, "rb"), True

    def failure(self, part, project):
        with lock:
            mode = fail["mode"]
            if mode == "none" or fail["on"] not in ("all", part) or fail["times"] == 0 or fail["project"] not in (None, project):
                return "none"
            if part == "files" and mode in ("truncated-json", "wrong-project", "not-json", "empty", "stale", "quarantined", "html-only"):
                return "none"
            if part == "simple" and mode == "wrong-bytes":
                return "none"
            fail["times"] -= fail["times"] > 0
            stats["failed"] += 1
            return mode

    def do_GET(self):
        global now
        url = urlsplit(self.path)
        if url.path.startswith("/__"):
            return self.control(url)
        with lock:
            now += 1
            stats["requests"] += 1
            stats["by_path"][url.path] += 1
            stats["max_concurrent"] = max(stats["max_concurrent"], now)
        try:
            self.answer(url)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with lock:
                now -= 1

    do_HEAD = do_GET

    def control(self, url):
        global stats
        with lock:
            if url.path == "/__reset":
                stats = fresh()
            if url.path == "/__fail":
                q = {k: v[-1] for k, v in parse_qs(url.query).items()}
                fail.update(mode=q.get("mode", "none"), on=q.get("on", "all"), project=q.get("project"), times=int(q.get("times", -1)))
            body = json.dumps({**stats, "fail": fail}).encode()
        self.send(200, body, "application/json")

    def answer(self, url):
        parts = unquote(url.path).strip("/").split("/")
        if parts[0] == "simple":
            project = normal(parts[1]) if len(parts) > 1 else None
        elif parts[0] == "packages" and len(parts) > 2:
            base = parts[-1].removesuffix(".metadata")
            stem = base.split("-")[0] if base.endswith(".whl") else re.sub(r"-[^-]*$", "", base)
            project = normal(stem)
        else:
            return self.send(404, b"<h1>404</h1>")
        with lock:
            stats["by_project"][project or "/"] += 1
        mode = self.failure("simple" if parts[0] == "simple" else "files", project)
        if mode.isdigit():
            extra = [("Retry-After", opt.retry_after)] if mode in ("429", "503") else []
            return self.send(int(mode), f"<h1>{mode}</h1>".encode(), headers=extra)
        if mode == "reset":
            return self.reset()
        if mode == "silence":
            time.sleep(30 if opt.delay is None else opt.delay)
            return self.reset()
        if mode == "html200":
            return self.send(200, b"<!DOCTYPE html><html><head><title>Error</title></head><body><h1>Service temporarily unavailable</h1></body></html>")
        self.simple(parts, project, mode) if parts[0] == "simple" else self.file(parts, mode)

    def simple(self, parts, project, mode):
        as_json = wants_json(self.headers.get("Accept", "*/*")) and mode != "html-only"
        kind = JSON_TYPE if as_json else "text/html; charset=utf-8"
        if project is None:
            names = sorted(recorded)
            body = json.dumps({"meta": {"api-version": "1.4"}, "projects": [{"name": n} for n in names]}) if as_json else \
                '<!DOCTYPE html>\n<html><head><meta name="pypi:repository-version" content="1.4"><title>Simple index</title></head><body>\n' + \
                "".join(f'<a href="/simple/{n}/">{n}</a>\n' for n in names) + "</body></html>"
        elif project not in recorded:
            return self.send(404, b"<h1>404 Not Found</h1>")
        elif not self.path.split("?")[0].endswith("/") or parts[1] != project:
            return self.send(301, headers=[("Location", f"/simple/{project}/")])
        else:
            if mode == "wrong-project":
                project = next(n for n in sorted(recorded, key=lambda n: os.path.getsize(recorded[n])) if n != project)
            d = page(project, opt.stale_date if mode == "stale" else opt.as_of, mode if mode == "quarantined" else "active")
            d = {**d, "files": []} if mode == "empty" else d
            body = json.dumps(d, separators=(",", ":"), ensure_ascii=False) if as_json else as_html(d)
        body = body.encode()
        if mode == "not-json":
            body = b"<html><body>oops</body></html>"
        if mode == "truncated-json":
            body = body[:len(body) // 2]
        tag = '"' + hashlib.sha256(kind.encode() + body).hexdigest()[:32] + '"'
        headers = [("ETag", tag), ("Vary", "Accept, Accept-Encoding"), ("Cache-Control", "max-age=600, public")]
        if mode not in ("cut", "drip") and tag in self.headers.get("If-None-Match", ""):
            return self.send(304, kind=kind, headers=headers)
        if "gzip" in self.headers.get("Accept-Encoding", "") and len(body) > 1000:
            body = gzip.compress(body, 5, mtime=0)
            headers.append(("Content-Encoding", "gzip"))
        self.deliver(body, kind, headers, mode)

    def file(self, parts, mode):
        path, is_meta = held.get(parts[-1].removesuffix(".metadata")), parts[-1].endswith(".metadata")
        if path is None or is_meta and not path.endswith(".whl"):
            return self.send(404, b"<h1>404 Not Found</h1>")
        if is_meta:
            with zipfile.ZipFile(path) as z:
                body = z.read(next(n for n in z.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", n)))
        else:
            with open(path, "rb") as f:
                body = f.read()
        if mode == "wrong-bytes":
            body = body[:-1] + bytes([body[-1] ^ 1]) if len(body) < 99 else body[:60] + bytes([body[60] ^ 1]) + body[61:]
        headers = [("ETag", f'"{hashlib.md5(body).hexdigest()}"'), ("Accept-Ranges", "bytes"), ("Cache-Control", "max-age=365000000, immutable, public")]
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted and wanted.group(0) != "bytes=-":
            first, last = wanted.groups()
            start = int(first) if first else max(0, len(body) - int(last))
            end = min(int(last), len(body) - 1) if first and last else len(body) - 1
            if start > end:
                return self.send(416, headers=[("Content-Range", f"bytes */{len(body)}")])
            return self.send(206, body[start:end + 1], "application/octet-stream", headers + [("Content-Range", f"bytes {start}-{end}/{len(body)}")])
        self.deliver(body, "application/octet-stream", headers, mode)

    def deliver(self, body, kind, headers, mode):
        if mode == "cut":
            return self.send(200, body[:len(body) // 2], kind, headers, length=len(body))
        self.send(200, body, kind, headers, piece=max(1, min(512, len(body) // 8)) if mode == "drip" else 0)


class Server(ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, ValueError)):
            super().handle_error(request, client_address)


server = Server(("127.0.0.1", opt.port), Upstream, bind_and_activate=False)
server.allow_reuse_address = True
server.server_bind()
if opt.fail != "refuse":
    server.server_activate()
print(f"listening on http://127.0.0.1:{server.server_port}/simple/", flush=True)
try:
    threading.Event().wait() if opt.fail == "refuse" else server.serve_forever()
except KeyboardInterrupt:
    pass
