# SPDX-License-Identifier: Apache-2.0
"""A loopback upstream whose pages and files a test changes, delays and makes fail, and servers that merge it."""
import contextlib
import dataclasses
import hashlib
import http.server
import json
import socket
import socketserver
import sqlite3
import struct
import threading
import time

import pages
import serving

PATIENT_S = 300  # longer than any wait for a working server
UPLOADED = "2020-01-02T03:04:05.678901Z"


@dataclasses.dataclass
class Asked:
    path: str
    headers: dict
    status: int


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        with contextlib.suppress(ConnectionError):
            self.server.index.answer(self)

    def do_HEAD(self):
        self.do_GET()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass  # a client that left


class Index:
    """url: of its simple index. Files are at /packages/<name>. Each change gives its pages a new serial, as on PyPI."""

    def __init__(self, context=None):
        self.pages, self.files, self.page_facts, self.asked = {}, {}, {}, []
        self.rules = {}  # path: function(handler, bytes), called instead of the right answer
        self.max_age, self.serial = None, 1
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.index = self
        self.port = self._server.server_port
        if context:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}/simple/"
        self.is_down = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    # --- contents ---

    def add(self, project, wheel, **facts):
        """Adds a wheel of storelib with all facts, and these in addition or instead: yanked=…, core_metadata=None."""
        told = {"size": wheel.size, "core-metadata": {"sha256": wheel.metadata_sha256}}
        self.files[f"/packages/{wheel.name}.metadata"] = wheel.metadata
        self.add_bytes(project, wheel.name, wheel.path.read_bytes(), **told, **facts)

    def add_bytes(self, project, name, data, **facts):
        self.files[f"/packages/{name}"] = data
        told = {"filename": name, "url": f"../../packages/{name}", "upload-time": UPLOADED,
                "hashes": {"sha256": hashlib.sha256(data).hexdigest()}}
        told |= {key.replace("_", "-"): value for key, value in facts.items()}
        self.pages.setdefault(project, {})[name] = {key: value for key, value in told.items() if value is not None}
        self.serial += 1

    def change(self, project, name, **facts):
        self.pages[project][name].update({key.replace("_", "-"): value for key, value in facts.items()})
        self.serial += 1

    def page(self, project):
        files = self.pages[project].values()
        page = {"meta": {"api-version": "1.4", "_last-serial": self.serial}, "name": project,
                "versions": sorted({one["filename"].split("-")[1] for one in files}), "files": list(files)}
        return json.dumps(page | self.page_facts.get(project, {})).encode()

    # --- requests ---

    def count(self, path):
        """The number of requests for a path, or for a project's page."""
        path = path if path.startswith("/") else f"/simple/{path}/"
        with self._lock:
            return sum(one.path == path for one in self.asked)

    def statuses(self, path):
        path = path if path.startswith("/") else f"/simple/{path}/"
        with self._lock:
            return [one.status for one in self.asked if one.path == path]

    def hold(self, path, after=0, times=None):
        """From now on sends the head and so many bytes of a file or page, and the rest when the returned event is set."""
        go_on = threading.Event()

        def answer(handler, data):
            handler.start(200, data, Content_Type="application/octet-stream" if path.startswith("/") else pages.JSON)
            handler.wfile.write(data[:after])
            assert go_on.wait(PATIENT_S)
            handler.wfile.write(data[after:])
        self.fail(path, answer, times)
        return go_on

    def fail(self, path, how, times=None):
        """Fails by how, a function(handler, bytes), for so many requests, or until mend()."""
        left = [times]

        def answer(handler, data):
            if left[0] is not None:
                left[0] -= 1
                if left[0] <= 0:
                    self.mend(path)
            how(handler, data)
        self.rules[path if path.startswith("/") else f"/simple/{path}/"] = answer

    def mend(self, path):
        self.rules.pop(path if path.startswith("/") else f"/simple/{path}/", None)

    def answer(self, handler):
        path = handler.path
        note = Asked(path, dict(handler.headers), 0)
        with self._lock:
            self.asked.append(note)

        def start(status, body=b"", length=None, **headers):
            note.status = status
            handler.send_response(status)
            handler.send_header("Content-Length", str(len(body) if length is None else length))
            for key, value in headers.items():
                handler.send_header(key.replace("_", "-"), value)
            handler.end_headers()

        handler.start = start
        if self.is_down:
            start(503)
            return
        parts = path.strip("/").split("/")
        is_page = len(parts) == 2 and parts[0] == "simple"
        data = self.files.get(path)
        if is_page and parts[1] in self.pages:
            data = self.page(parts[1])
        rule = self.rules.get(path)
        if rule:
            rule(handler, data)
        elif data is None:
            start(404)
        elif is_page:
            self._answer_page(handler, data)
        else:
            self._answer_file(handler, data)

    def _answer_page(self, handler, data):
        tag = f'"{hashlib.sha256(data).hexdigest()}"'
        more = {"Cache_Control": f"max-age={self.max_age}"} if self.max_age is not None else {}
        if handler.headers.get("If-None-Match") == tag:
            handler.start(304, ETag=tag, **more)
            return
        handler.start(200, data, Content_Type=pages.JSON, ETag=tag, **more)
        handler.wfile.write(data)

    @staticmethod
    def _answer_file(handler, data):
        text = handler.headers.get("Range", "")
        if text.startswith("bytes=") and text.endswith("-"):
            first = int(text[6:-1])
            handler.start(206, data[first:], Content_Range=f"bytes {first}-{len(data) - 1}/{len(data)}")
            handler.wfile.write(data[first:])
        else:
            handler.start(200, data)
            handler.wfile.write(data)


# --- what a server caches of it; the client has it before the disk ---

def kept(server):
    """The cached files, without those that are being written."""
    folder = server.catalog.with_name("catalog.db.files")
    return sorted(one.name for one in folder.rglob("*") if one.is_file() and not one.name.startswith("."))


def wait_until_kept(server, *names):
    serving.wait_for(lambda: kept(server) == sorted(names), PATIENT_S, f"{names} kept")


def wait_until_noted(server, project, pages_of_it=1):
    """Waits until the page is in the catalog, or those of several upstreams."""
    def is_there():
        with contextlib.closing(sqlite3.connect(server.catalog)) as catalog:
            return len(catalog.execute("SELECT 1 FROM upstream JOIN upstream_page ON upstream = id WHERE project = ?",
                                       (project,)).fetchall()) >= pages_of_it
    serving.wait_for(is_there, PATIENT_S, f"{project} noted")


# --- ways to fail, for Index.fail() ---

def status(code):
    return lambda handler, data: handler.start(code)


def other_bytes(handler, data):
    """As many bytes, but wrong ones."""
    handler.start(200, data)
    handler.wfile.write(data[:-1] + bytes([data[-1] ^ 1]))


def cut(handler, data):
    """A head with the full length, and half of the body."""
    handler.start(200, data)
    handler.wfile.write(data[:len(data) // 2])
    handler.close_connection = True


def reset(handler, data):
    """The same, ended by a reset."""
    handler.start(200, data)
    handler.wfile.write(data[:len(data) // 2])
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def short(handler, data):
    """Fewer bytes than the page says, with a matching Content-Length."""
    handler.start(200, data[:-10])
    handler.wfile.write(data[:-10])


def long(handler, data):
    handler.start(200, data + b"more")
    handler.wfile.write(data + b"more")


def drip(handler, data):
    """In small pieces."""
    handler.start(200, data)
    for at in range(0, len(data), len(data) // 20 + 1):
        handler.wfile.write(data[at:at + len(data) // 20 + 1])
        handler.wfile.flush()
        time.sleep(0.02)


@contextlib.contextmanager
def indexes():
    with contextlib.ExitStack() as stack:
        def start(context=None):
            index = Index(context)
            stack.callback(index.stop)
            return index
        yield start


def config(index, **keys):
    """The configuration that merges it; keys of [upstream], with _ for -."""
    lines = ["[upstream]", f"url = {index.url}", "merge = yes"]
    return "\n".join(lines + [f"{key.replace('_', '-')} = {value}" for key, value in keys.items()]) + "\n"


# --- what a client sees ---

def page(server, project, view="", **headers):
    reply = server.get(f"{view}/simple/{project}/", {"Accept": pages.JSON} | headers)
    assert reply.status == 200, (reply.status, reply.body)
    return json.loads(reply.body)


def names(server, project, view=""):
    return [one["filename"] for one in page(server, project, view)["files"]]


def status_of(server, project, view=""):
    return server.get(f"{view}/simple/{project}/", {"Accept": pages.JSON}).status


def url_of(project, name):
    return f"/files/upstream/{project}/{name}"
