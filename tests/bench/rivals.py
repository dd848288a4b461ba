# SPDX-License-Identifier: Apache-2.0
"""The two servers that are measured beside each other, both on core 0, and the load from core 1."""
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

SERVER_CORE, LOAD_CORE = 0, 1
CONNECTIONS = 32
TICK = os.sysconf("SC_CLK_TCK")

# The best of what was tried for each size: small pages without sendfile (7 against 9 µs), large ones with it (a plain
# one of 1.9 MB: 130 against 420 to 550 µs with output_buffers of 64 KB to 4 MB).
NGINX = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    log_not_found off;
    keepalive_requests 1000000000;
    tcp_nodelay on;
    open_file_cache max=1000 inactive=60s;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        root {folder}/site;
        gzip_static on;
        gzip_vary on;
        index index.json;
        types {{}}
        location /simple/ {{
            sendfile off;
            default_type application/vnd.pypi.simple.v1+json;
            add_header Cache-Control "max-age=60";
        }}
        location /simple/{large}/ {{
            sendfile on;
            default_type application/vnd.pypi.simple.v1+json;
            add_header Cache-Control "max-age=60";
        }}
        location /files/ {{
            gzip_static off;
            sendfile on;
            tcp_nopush on;
            default_type application/octet-stream;
            add_header Cache-Control "public, max-age=365000000, immutable";
        }}
    }}
}}
"""


def pinned(core, *command):
    return ["taskset", "-c", str(core), *map(str, command)]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Server:
    """A running server: its port, and the CPU time of it and its children."""

    def __init__(self, name, process, port):
        self.name, self.process, self.port = name, process, port

    def _processes(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def cpu_seconds(self):
        """utime and stime of proc(5); each process is counted with all its threads."""
        total = 0
        for pid in self._processes():
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICK

    def rss_bytes(self):
        """Resident memory of the process, without its children."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", text, re.M).group(1)) * 1024

    def get(self, path, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest("GET", path, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def start_wheelcache(binary, store, folder):
    config = folder / "wheelcache.conf"
    config.write_text("[server]\nthreads = 1\nrescan = 0\nlog-level = error\n")
    process = subprocess.Popen(
        pinned(SERVER_CORE, binary, "serve", store, "--listen", "127.0.0.1:0", "--config", config, "--catalog",
               folder / "catalog.db"), stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    return Server("wheelcache", process, int(re.search(r":(\d+)/?\s*$", line).group(1)))


def start_nginx(folder, large):
    """Serves folder/site; large is the project with the large page."""
    port = free_port()
    config = folder / "nginx.conf"
    user = "user root;" if os.getuid() == 0 else ""
    config.write_text(NGINX.format(folder=folder, port=port, user=user, large=large))
    binary = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    server = Server("nginx", subprocess.Popen(pinned(SERVER_CORE, binary, "-c", config)), port)
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.05)
    server.stop()
    raise RuntimeError("nginx does not answer")


def load(server, path, headers, seconds, statuses):
    """Requests a second and the server's CPU µs a request, under wrk."""
    options = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    before = server.cpu_seconds()
    done = subprocess.run(pinned(LOAD_CORE, "wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", *options,
                                 f"http://127.0.0.1:{server.port}{path}"),
                          capture_output=True, text=True, check=True)
    used = server.cpu_seconds() - before
    requests = int(re.search(r"(\d+) requests in", done.stdout).group(1))
    if "Socket errors" in done.stdout or ("Non-2xx" in done.stdout) != (statuses >= 400):
        raise RuntimeError(f"{server.name} {path}: {done.stdout}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", done.stdout).group(1)), used * 1e6 / requests
