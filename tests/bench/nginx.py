# SPDX-License-Identifier: Apache-2.0
"""nginx with the same pages and files, in its best setup for each: with or without sendfile, whichever is faster."""
import os
import shutil

import load
import server

# The head of every nginx.conf of the benchmarks.
HEAD = """
daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections {connections}; }}
http {{
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
"""
CONFIG = """
    access_log off;
    log_not_found off;
    tcp_nodelay on;
    open_file_cache max=1000 inactive=60s;
    server {{
        listen 127.0.0.1:{port};
        gzip_vary on;
        types {{}}
        {locations}
    }}
"""
# {way}: how the bytes are sent. The folders of the site are named by the format of a page.
LOCATION = """
        location /{way}/json/ {{
            alias {site}/json/;
            index page;
            gzip_static on;
            sendfile {sendfile};
            default_type application/vnd.pypi.simple.v1+json;
            add_header Cache-Control "max-age=60";
        }}
        location /{way}/html/ {{
            alias {site}/html/;
            index page;
            gzip_static on;
            sendfile {sendfile};
            default_type "text/html; charset=utf-8";
            add_header Cache-Control "max-age=60";
        }}
        location /{way}/file/ {{
            alias {site}/file/;
            sendfile {sendfile};
            tcp_nopush {sendfile};
            default_type application/octet-stream;
            add_header Cache-Control "public, max-age=365000000, immutable";
        }}
"""
SENDFILE_LEAST = 8192
UNIT = load.Round(1, 1)
WAYS = {"copied": "off", "sendfile": "on"}


def form_of(line):
    """The folder of the site for a line."""
    if not line.is_page:
        return "file"
    return "html" if "html" in line.headers["Accept"] else "json"


class Nginx(server.Server):
    name = "nginx"

    def __init__(self, process, port):
        super().__init__(process, port)
        self.way = {}

    def place(self, line):
        return f"/{self.way.get(line.name, 'copied')}/{form_of(line)}{line.path}"

    def choose_ways(self, lines, seconds):
        """Measures both ways. Below SENDFILE_LEAST bytes sendfile is never faster."""
        for line in (line for line in lines if line.bytes >= SENDFILE_LEAST):
            taken = {}
            for way in WAYS:
                self.way[line.name] = way
                taken[way] = line.share(load.run(self, line, seconds), UNIT)
            self.way[line.name] = min(taken, key=taken.get)


def copy_site(ours, lines, site):
    """Writes wheelcache's answers as files, plain and packed."""
    for line in lines:
        if line.status == 404:
            continue
        target = site / form_of(line) / line.path.strip("/") / ("page" if line.is_page else "")
        target.parent.mkdir(parents=True, exist_ok=True)
        plain = {name: value for name, value in line.headers.items() if name == "Accept"}
        target.write_bytes(ours.get(line.path, plain)[2])
        if line.is_page:
            packed = ours.get(line.path, plain | {"Accept-Encoding": "gzip"})[2]
            target.with_name("page.gz").write_bytes(packed)


def program():
    return shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")


def write_config(folder, http, connections=1024, **values):
    """Writes nginx.conf with http, the rest of its http block, into which the values go. Returns the file and the port."""
    port, config = server.free_port(), folder / "nginx.conf"
    config.write_text((HEAD + http + "}}\n").format(folder=folder, port=port, connections=connections,
                                                    user="user root;" if os.getuid() == 0 else "", **values))
    return config, port


def start(ours, lines, folder):
    site = folder / "site"
    copy_site(ours, lines, site)
    locations = "".join(LOCATION.format(way=way, sendfile=value, site=site) for way, value in WAYS.items())
    config, port = write_config(folder, CONFIG, locations=locations)
    return Nginx(server.start(program(), "-c", config), port).wait_until_up()
