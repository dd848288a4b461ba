# SPDX-License-Identifier: Apache-2.0
"""The upstream of all measured proxies: nginx with the recorded pages and wheels of ../shared/corpus, and generated projects.
It runs on the core of the load, so its CPU time is in no figure. A Python upstream would be slower than the proxies."""
import gzip
import hashlib
import html
import json
import os
import pathlib
import subprocess
import zipfile

import load
import nginx
import pypiron
import server
import shape

CORPUS = pypiron.CLIENTS.parent / "corpus"
HELD = CORPUS / "wheels"
# What is installed: versions with a recorded wheel for CPython 3.11 on Linux x86_64, or for any Python.
WANTED = ("requests==2.34.2 certifi==2026.10.18 charset-normalizer==3.5.2 idna==3.20 urllib3==2.8.0 pyyaml==6.0.3 "
          "coverage==7.17.3 greenlet==3.5.6 markupsafe==3.0.4 msgpack==1.2.4 psutil==7.2.2 simplejson==3.20.2 six==1.17.0 "
          "ujson==5.13.0 wrapt==2.5.2 zope-event==6.2 zope-interface==8.7 psycopg2-binary==2.9.9").split()
# What many clients request at once. 200 times 50 MB would take a minute per server.
CROWD_FILES, LARGE_BYTES = 5_000, 20_000_000
CONFIG = """
    log_format short "$uri";
    access_log {folder}/asked short;
    map $http_accept $form {{ default html; "~simple\\.v1\\+json" json; }}
    server {{
        listen 127.0.0.1:{port} backlog=1024;
        types {{}}
        sendfile on;
        root {folder};
        gzip_vary on;
        location /simple/ {{ rewrite ^/simple/(?<project>([^/]+/)?)$ /$form/${{project}}page last; return 404; }}
        location /json/ {{
            internal;
            gzip_static on;
            default_type application/vnd.pypi.simple.v1+json;
            add_header Cache-Control "max-age=600, public";
            add_header Vary Accept;
        }}
        location /html/ {{
            internal;
            gzip_static on;
            default_type "text/html; charset=utf-8";
            add_header Cache-Control "max-age=600, public";
            add_header Vary Accept;
        }}
        location /packages/ {{
            default_type application/octet-stream;
            add_header Cache-Control "max-age=365000000, immutable, public";
        }}
    }}
"""


UP = "../../"


def url_of(digest, filename):
    return f"{UP}packages/{digest[:2]}/{digest[2:4]}/{digest[4:]}/{filename}"


def as_html(page):
    def anchor(one):
        more = f' data-requires-python="{html.escape(one["requires-python"])}"' if one.get("requires-python") else ""
        if one["yanked"] is not False:
            more += f' data-yanked="{html.escape("" if one["yanked"] is True else one["yanked"])}"'
        if one.get("core-metadata"):
            more += f' data-core-metadata="sha256={one["core-metadata"]["sha256"]}"'
        return f'<a href="{html.escape(one["url"])}#sha256={one["hashes"]["sha256"]}"{more}>{html.escape(one["filename"])}</a><br />\n'

    return ('<!DOCTYPE html>\n<html><head><meta name="pypi:repository-version" content="1.4"></head><body>\n'
            + "".join(map(anchor, page["files"])) + "</body></html>\n")


def metadata_of(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read(next(name for name in archive.namelist()
                                 if name.endswith(".dist-info/METADATA") and name.count("/") == 1))


class Origin(server.Server):
    """A running upstream."""
    name = "upstream"

    def __init__(self, process, port, folder):
        super().__init__(process, port)
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}/simple/"

    # --- what it has ---

    def _write(self, name, forms):
        for form, text in forms.items():
            place = self.folder / form / name
            place.mkdir(parents=True, exist_ok=True)
            (place / "page").write_text(text)
            (place / "page.gz").write_bytes(gzip.compress(text.encode(), 6))

    def add_page(self, name, page):
        self._write(name, {"json": json.dumps(page, separators=(",", ":")), "html": as_html(page)})

    def add_list(self):
        """Writes the list of the projects so far. devpi and proxpi request no project that is not on it."""
        names = sorted(place.name for place in (self.folder / "json").iterdir())
        self._write("", {"json": json.dumps({"meta": {"api-version": "1.4"}, "projects": [{"name": name} for name in names]}),
                         "html": "<!DOCTYPE html>\n" + "".join(f'<a href="/simple/{name}/">{name}</a>\n' for name in names)})

    def add_files(self, name, files):
        """Adds a project with these files. Versions come from the names, which are all NAME-VERSION-…."""
        versions = list(dict.fromkeys(one["filename"].split("-")[1] for one in files))
        self.add_page(name, {"files": files, "meta": {"_last-serial": 1000, "api-version": "1.4"}, "name": name,
                             "project-status": {"status": "active"}, "versions": versions})

    def add_wheel(self, path, url):
        place = self.folder / url.removeprefix(UP)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        place.with_name(path.name + ".metadata").write_bytes(metadata_of(path))

    def add_recorded(self, name):
        """Adds a recorded page, and those of its wheels that are recorded."""
        with gzip.open(CORPUS / "pages" / f"{name}.json.gz") as file:
            page = json.load(file)
        self.add_page(name, page)
        for one in page["files"]:
            if (HELD / one["filename"]).is_file():
                self.add_wheel(HELD / one["filename"], one["url"])

    def add_crowd(self, name):
        """A project with a page only."""
        self.add_files(name, [listed(f"{name}-1.{i}-py3-none-any.whl", None) for i in range(CROWD_FILES)])

    def add_large(self, name):
        """A project with one wheel."""
        path = shape.make_wheel(self.folder, name, "1.0", LARGE_BYTES).path
        page = listed(path.name, path)
        self.add_wheel(path, page["url"])
        self.add_files(name, [page])

    # --- what it was asked ---

    def asked(self):
        """How many requests since the last time."""
        log = self.folder / "asked"
        count = log.read_bytes().count(b"\n")
        os.truncate(log, 0)
        return count


def listed(filename, path):
    """path: the wheel; None: there is none."""
    data = path.read_bytes() if path else filename.encode()
    digest = hashlib.sha256(data).hexdigest()
    meta = hashlib.sha256(metadata_of(path) if path else data + b".metadata").hexdigest()
    return {"core-metadata": {"sha256": meta}, "filename": filename, "hashes": {"sha256": digest}, "requires-python": ">=3.9",
            "size": len(data) if path else shape.WHEEL_BYTES, "upload-time": "2024-01-02T03:04:05.678901Z",
            "url": url_of(digest, filename), "yanked": False}


def start(folder):
    config, port = nginx.write_config(folder, CONFIG, connections=2048)
    process = subprocess.Popen(server.pinned(load.CORE, nginx.program(), "-c", config), process_group=0)
    return Origin(process, port, pathlib.Path(folder)).wait_until_up()
