# SPDX-License-Identifier: Apache-2.0
"""Proxies of the same upstream, each started with an empty cache: wheelcache, nginx with its proxy cache, and the others
in ../shared/clients. They run with their defaults, except as noted for each."""
import json
import os
import pathlib
import urllib.parse

import clients  # of tests/e2e, which shape knows
import nginx
import ours
import pypiron
import rivals
import server

KIB = 1024
FITTING = "wheelcache, fitting"
# A cache for pip and uv as an administrator would write it: one entry per page, format and coding; locked, so that upstream
# is asked once; kept for as long as upstream allows; stale while it is revalidated.
NGINX_CONFIG = """
    access_log off;
    tcp_nodelay on;
    sendfile on;
    proxy_cache_path {folder}/cache levels=1:2 keys_zone=index:10m max_size=10g inactive=7d use_temp_path=off;
    map $http_accept $form {{ default text/html; "~simple\\.v1\\+json" application/vnd.pypi.simple.v1+json; }}
    map $http_accept_encoding $coding {{ default ""; "~gzip" gzip; }}
    upstream index {{ server 127.0.0.1:{upstream_port}; keepalive 16; }}
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        location / {{
            proxy_pass http://index;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Accept $form;
            proxy_set_header Accept-Encoding $coding;
            proxy_cache index;
            proxy_cache_key "$uri $form $coding";
            proxy_cache_lock on;
            proxy_cache_lock_timeout 60s;
            proxy_cache_lock_age 60s;
            proxy_cache_revalidate on;
            proxy_cache_background_update on;
            proxy_cache_use_stale updating error timeout;
        }}
    }}
"""


class Proxy(server.Server):
    """index: the path of its simple index."""
    gives_our_bytes = False

    def __init__(self, name, process, port, index):
        super().__init__(process, port)
        self.name, self.index = name, index
        self.url = f"http://127.0.0.1:{port}{index}"
        self.etag = {}

    def place(self, line):
        return self.index + line.path

    def place_of_file(self, project):
        """The path of the first file on the page of a project."""
        page = f"{self.index}{project}/"
        status, _, body = self.get(page, {"Accept": "application/vnd.pypi.simple.v1+json"})
        if status != 200:
            raise RuntimeError(f"{self.name}: {page}: {status} {body[:200]}")
        url = urllib.parse.urljoin(f"http://x{page}", json.loads(body)["files"][0]["url"])
        return urllib.parse.urlsplit(url).path

    def own_bytes(self):
        """Anonymous memory of all its processes; mapped files are in the page cache of the system."""
        def of(pid):
            lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
            return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:"))) * KIB

        return sum(map(of, self._processes()))


def start_logged(name, folder, port, index, *command, env=None):
    with open(folder / "log", "ab") as log:
        process = server.start(*command, stdout=log, stderr=log, cwd=folder, env=env)
    return Proxy(name, process, port, index).wait_until_up()


def start_ours(name, binary, folder, origin, store, more):
    """One event loop, as in all figures here. It has [server] url, because a server for pip needs it."""
    port = server.free_port()
    one = ours.start(binary, store, folder, f"url = http://127.0.0.1:{port}/\nthreads = 1\nrescan = 0\n[upstream]\n"
                     f"merge = yes\nurl = {origin.url}\nlocal-only = local*\n{more}[server]\n", port)
    return Proxy(name, one.process, one.port, "/simple/")


def start_wheelcache(binary, folder, origin, store):
    return start_ours("wheelcache", binary, folder, origin, store, "")


def start_fitting(binary, folder, origin, store):
    """It lists upstream's wheels only for this machine."""
    libc, version = os.confstr("CS_GNU_LIBC_VERSION").split()
    return start_ours(FITTING, binary, folder, origin, store, f"wheels = fitting\n[platform wheels]\npath = {store}\n"
                      f"pythons = 3.11\narch = {os.uname().machine}\nlibc = {libc} {version}\n")


def start_nginx(_, folder, origin, __):
    config, port = nginx.write_config(folder, NGINX_CONFIG, connections=2048, upstream_port=origin.port)
    return start_logged("nginx", folder, port, "/simple/", nginx.program(), "-c", config)


def start_pypiron(programs, folder, origin, _):
    """Without its delay of a week for new files, and without its requests to other servers."""
    port = server.free_port()
    return start_logged("pypiron", folder, port, "/simple/", programs / "pypiron", "serve", "--data-dir", folder / "data",
                        "--bind-addr", f"127.0.0.1:{port}", "--proxy-upstream", origin.url.removesuffix("/simple/"),
                        "--allow-insecure-upstream", "--exclude-newer", "", "--advisory-feed", "", "--spool-dir", folder)


class Mirror(Proxy):
    """An index of a devpi-server that keeps running, because it takes longer to start than an install."""

    def stop(self):
        pass


def start_devpi(running, folder, origin, _):
    index = f"/root/{folder.name}"
    rivals.devpi_ask(running.port, "PUT", index, {"type": "mirror", "mirror_url": origin.url}, running.header)
    return Mirror("devpi-server", running.process, running.port, f"{index}/+simple/")


def run_devpi(stack, programs, folder):
    (folder / "devpi").mkdir()
    running = rivals.start_devpi_empty(programs, folder / "devpi")
    stack.callback(running.stop)
    running.header, _ = rivals.devpi_login(running.port)
    return running


def start_proxpi(programs, folder, origin, _):
    """With waitress, which devpi brings. It waits for a file; by default it redirects its client after 0.9 s."""
    port = server.free_port()
    env = os.environ | {"PROXPI_INDEX_URL": origin.url, "PROXPI_CACHE_DIR": str(folder / "cache"),
                        "PROXPI_DOWNLOAD_TIMEOUT": "60", "PROXPI_LOGGING_LEVEL": "WARNING"}
    return start_logged("proxpi", folder, port, "/index/", programs / "waitress-serve", f"--listen=127.0.0.1:{port}",
                        "proxpi.server:app", env=env)


START = {"wheelcache": start_wheelcache, FITTING: start_fitting, "nginx": start_nginx, "pypiron": start_pypiron, "devpi-server": start_devpi,
         "proxpi": start_proxpi}


class Kinds:
    """The kinds of proxies, and how to start one. only: the names of those that are wanted, of the others in ../shared."""

    def __init__(self, stack, binary, folder, origin, store, only=START):
        pins = pypiron.requirements(*only)
        programs = clients.environment(" ".join(pins)) / "bin" if pins else None
        self.where = {"wheelcache": binary, FITTING: binary, "nginx": None} | {pin.partition("==")[0]: programs for pin in pins}
        if "devpi-server" in self.where:
            self.where["devpi-server"] = run_devpi(stack, programs, folder)
        self.names = [name for name in self.where if name != FITTING]  # those measured for pages and files
        self.folder, self.origin, self.store, self.count = folder, origin, store, 0

    def start(self, name):
        """Starts one with an empty cache."""
        self.count += 1
        place = self.folder / f"{name}-{self.count}"
        place.mkdir()
        return START[name](self.where[name], place, self.origin, self.store)
