# SPDX-License-Identifier: Apache-2.0
"""nginx and Apache as users of etc/nginx.conf, etc/nginx-front.conf and etc/apache.conf run them: those files, with another port and folder,
in a minimal configuration around them."""
import contextlib
import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

import serving

ETC = pathlib.Path(__file__).resolve().parents[2] / "etc"
FOLDER = "/srv/wheelcache-static"
HOST = "127.0.0.2"  # no connection uses this address as its source, so the port stays free until it is listened on
START_SECONDS, STOP_SECONDS = 60, 60
MODULES = pathlib.Path("/usr/lib/apache2/modules")
NEEDED = ["mpm_event", "authz_core", "dir", "mime", "deflate", "filter", "headers", "rewrite", "setenvif", "env"]


def free_port():
    with contextlib.closing(socket.create_server((HOST, 0))) as listener:
        return listener.getsockname()[1]


def example(name, folder, **changes):
    """The text of a file of etc/, adapted as its first lines tell an operator to."""
    text = (ETC / name).read_text()
    for before, after in {FOLDER: str(folder), **changes}.items():
        assert before in text
        text = text.replace(before, after)
    return text


def nginx(state, folder, port):
    """Its command. Compression is on outside of our file, to show that our file turns it off."""
    user = "user root;" if os.geteuid() == 0 else ""
    temporary = "".join(f"{what}_temp_path {state}/{what};" for what in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    site = example("nginx.conf", folder, **{"listen 80;": f"listen {HOST}:{port};"})
    (state / "nginx.conf").write_text(
        f"{user} daemon off; pid {state}/pid; error_log {state}/errors;\nevents {{ }}\n"
        f"http {{ access_log off; {temporary} gzip on; gzip_types *; gzip_min_length 1;\n{site}\n}}\n")
    return ["nginx", "-p", state, "-e", state / "errors", "-c", state / "nginx.conf"]


def apache(state, folder, port):
    user = "User nobody\nGroup nogroup\n" if os.geteuid() == 0 else ""
    modules = "".join(f"LoadModule {name}_module {MODULES}/mod_{name}.so\n" for name in NEEDED)
    site = example("apache.conf", folder, **{"*:80": f"*:{port}"})
    (state / "apache.conf").write_text(
        f"ServerRoot {state}\nServerName localhost\nListen {HOST}:{port}\nPidFile {state}/pid\n{user}{modules}"
        f"ErrorLog {state}/errors\nMutex file:{state}\nTypesConfig {os.devnull}\n"
        "AddEncoding x-gzip .gz\nAddEncoding zstd .zst\nAddType text/html .html\nSetOutputFilter DEFLATE\n"
        f"<Directory />\n\tRequire all denied\n</Directory>\n{site}")
    return ["apache2", "-D", "FOREGROUND", "-f", state / "apache.conf"]


# What etc/nginx-front.conf says of a path.
BELOW = {"location / {": "location /wheels/ {", "proxy_pass http://wheelcache;": "proxy_pass http://wheelcache/;",
         'proxy_set_header Connection "";': 'proxy_set_header Connection ""; proxy_set_header X-Forwarded-Prefix /wheels;'}


def front_command(folder, server, authority, port, below):
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        pytest.skip("there is no nginx: apt-get install nginx")
    text = (ETC / "nginx-front.conf").read_text()
    for before, after in {"listen 443 ssl;": f"listen {HOST}:{port} ssl;",
                          "127.0.0.1:8080": f"{server.host}:{server.port}",
                          "/etc/wheelcache/cert.pem": str(authority.cert),
                          "/etc/wheelcache/key.pem": str(authority.key), **(BELOW if below else {})}.items():
        assert before in text
        text = text.replace(before, after)
    user = "user root;" if os.geteuid() == 0 else ""
    temporary = "".join(f"{what}_temp_path {folder}/{what};" for what in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/errors;\nevents {{ }}\n"
        f"http {{ access_log off; {temporary}\n{text}\n}}\n")
    return [program, "-p", folder, "-e", folder / "errors", "-c", folder / "nginx.conf"]


def listens(process, port):
    assert process.poll() is None
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), 5):
        return True
    return False


@contextlib.contextmanager
def front(folder, server, authority, below=False):
    """The port of nginx before a server, as a user runs it: its example, adapted; below: at /wheels/."""
    port = free_port()
    process = subprocess.Popen(front_command(folder, server, authority, port, below), stdin=subprocess.DEVNULL)
    try:
        serving.wait_for(lambda: listens(process, port), START_SECONDS, "nginx")
        yield port
    finally:
        process.terminate()
        process.wait(STOP_SECONDS)


KINDS = {"nginx": nginx, "apache2": apache}


class WebServer:
    """A running web server; requests as for serving.Server."""

    def __init__(self, kind, state, folder):
        program = shutil.which(kind, path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            pytest.skip(f"there is no {kind}: apt-get install {'apache2-bin' if kind == 'apache2' else kind}")
        self.port = free_port()
        self.url = f"http://{HOST}:{self.port}"
        self.errors = state / "errors"
        command = [program, *KINDS[kind](state, folder, self.port)[1:]]
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=(state / "stderr").open("wb"))
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self.process.poll() is None and time.monotonic() < end, \
                (state / "stderr").read_text() + (self.errors.read_text() if self.errors.exists() else "")
            time.sleep(0.05)

    def _answers(self):
        try:
            socket.create_connection((HOST, self.port), 1).close()
        except OSError:
            return False
        return True

    def connect(self, timeout=60):
        return http.client.HTTPConnection(HOST, self.port, timeout=timeout)

    def get(self, path, headers=None, method="GET"):
        with contextlib.closing(self.connect()) as connection:
            return serving.ask(connection, path, headers, method)

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
