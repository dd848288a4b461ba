# SPDX-License-Identifier: Apache-2.0
"""A server that accepts uploads as ours does, and fails as a test wants."""
import base64
import collections
import email.parser
import email.policy
import hashlib
import http.server
import json
import re
import socket
import ssl
import struct
import threading
import time

PLATFORM = "debian-12-x86_64"


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_form(content_type, body):
    """{name: text} of a multipart/form-data body; of the file (name, bytes)."""
    head = f"Content-Type: {content_type}\r\n\r\n".encode()
    form = {}
    for part in email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body).iter_parts():
        name = part.get_param("name", header="content-disposition")
        filename = part.get_filename()
        data = part.get_payload(decode=True)
        form[name] = (filename, data) if filename else data.decode()
    return form


def die(handler):
    """Closes its connection without an answer; data in flight is lost."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


# Failures: called with the handler and, where the body was read, with the file's name and bytes. They may answer, and
# return whether the request is done.

def cut(after=1000):
    """The connection dies within the body."""
    def happen(handler):
        handler.rfile.read(after)
        die(handler)
        return True
    return happen


def answer(status, text="", **headers):
    def happen(handler, *_):
        handler.say(status, text.encode(), headers)
        return True
    return happen


def take_and_die(handler, filename, data):
    """The file is published, but there is no answer."""
    handler.server.take(filename, data)
    die(handler)
    return True


def take_and_answer(status, text=""):
    def happen(handler, filename, data):
        handler.server.take(filename, data)
        handler.say(status, text.encode())
        return True
    return happen


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def say(self, status, body, headers=None, content_type="text/plain"):
        self.send_response(status)
        given = {"Content-Type": content_type} | {k.replace("_", "-"): v for k, v in (headers or {}).items()}
        for name, value in given.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def is_known(self):
        kind, _, given = self.headers.get("Authorization", "").partition(" ")
        self.server.users.append(base64.b64decode(given).decode() if kind == "Basic" else None)
        return self.server.token is None or (self.server.users[-1] or "").endswith(f":{self.server.token}")

    def do_GET(self):
        server = self.server
        path, _, query = self.path.partition("?")
        assert query == "upstream=no"
        server.asked.append(path)
        if server.page_mishaps:
            server.page_mishaps.popleft()(self)
            return
        found = re.fullmatch(rf"(?:/prefix)?/{PLATFORM}/simple/([^/]+)/", path)
        page = server.page(found[1]) if found else None
        if page is None:
            self.say(404, b"no such project")
            return
        assert "application/vnd.pypi.simple.v1+json" in self.headers["Accept"]
        self.say(200, json.dumps(page).encode(), content_type="application/vnd.pypi.simple.v1+json")

    def do_POST(self):
        server = self.server
        server.posts += 1
        server.post_times.append(time.monotonic())
        if server.early_mishaps and server.early_mishaps.popleft()(self):
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.is_known():
            self.say(401, b"no such token", {"WWW-Authenticate": 'Basic realm="wheelcache"'})
            return
        if server.barrier:
            server.barrier.wait(60)
        form = parse_form(self.headers["Content-Type"], body)
        filename, data = form["content"]
        server.forms.append(form)
        if server.mishaps[filename] and server.mishaps[filename].popleft()(self, filename, data):
            return
        self.say(*server.take(filename, data))

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """Its lists have the requests so far. token None: accepts all."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, certificate=None, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.scheme = "https" if certificate else "http"
        self.files = {}  # name: bytes
        self.unlisted = set()  # names that are published, but not on the pages
        self.token = None
        self.posts, self.post_times, self.forms, self.asked, self.users = 0, [], [], [], []
        self.mishaps = collections.defaultdict(collections.deque)
        self.early_mishaps = collections.deque()
        self.page_mishaps = collections.deque()
        self.barrier = None
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server_port}/upload/{PLATFORM}/"

    def handle_error(self, *_):
        pass  # a connection that a failure has closed

    def take(self, filename, data):
        """(status, body), as in the specifications and of our server."""
        there = self.files.setdefault(filename, data)
        if there != data:
            return 409, f"File already exists: {filename} is there with other contents".encode()
        return 200, b""

    def page(self, project):
        files = [{"filename": name, "url": f"../../files/{name}", "hashes": {"sha256": hashlib.sha256(data).hexdigest()},
                  "size": len(data)} for name, data in sorted(self.files.items())
                 if normal(name.split("-")[0]) == project and name not in self.unlisted]
        return {"meta": {"api-version": "1.4"}, "name": project, "versions": [], "files": files} if files else None

    def stop(self):
        self.shutdown()
        self.server_close()
