# SPDX-License-Identifier: Apache-2.0
"""pypiron, if ../shared/clients has it (WHEELCACHE_SHARED names another folder): installed from there, and filled by
uploads as its users do."""
import base64
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import subprocess
import threading
import urllib.parse

import server

TOP = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = pathlib.Path(os.environ.get("WHEELCACHE_SHARED") or TOP.parent / "shared") / "clients"
USER, PASSWORD = "uploader", "a-password-of-no-value"
UPLOADERS = 4
BOUNDARY = "wheelcache-bench-boundary"


class Pypiron(server.Server):
    name = "pypiron"
    gives_our_bytes = False

    def place(self, line):
        if line.is_page:
            return line.path
        project, name = line.path.split("/")[-2:]
        page = f"/simple/{project}/"
        files = json.loads(self.get(page, {"Accept": "application/vnd.pypi.simple.v1+json"})[2])["files"]
        url = next(one["url"] for one in files if one["filename"] == name)
        return urllib.parse.urlsplit(urllib.parse.urljoin(f"http://x{page}", url)).path


def requirements(*names):
    """NAME==VERSION of those that ../shared pins; none where it is absent."""
    pins = CLIENTS / "peers.txt"
    lines = pins.read_text().splitlines() if pins.is_file() else []
    return [line for line in lines if line.partition("==")[0] in names]


def install(pins, folder):
    """Returns the folder of the programs."""
    subprocess.run(["/usr/bin/python3", "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "-q", "--no-index", "--find-links", CLIENTS / "wheels", *pins],
                   env=os.environ | {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}, check=True)
    return folder / "bin"


def upload_body(path):
    data = path.read_bytes()
    project, version = path.name.split("-")[:2]
    fields = {":action": "file_upload", "protocol_version": "1", "metadata_version": "2.1", "name": project,
              "version": version, "filetype": "bdist_wheel", "pyversion": "py3", "requires_python": ">=3.9",
              "sha256_digest": hashlib.sha256(data).hexdigest()}
    parts = [f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
             for name, value in fields.items()]
    parts.append(f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="{path.name}"\r\n'
                 "Content-Type: application/octet-stream\r\n\r\n")
    return "".join(parts).encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()


def upload_all(port, paths):
    """By several clients, each on a connection that it keeps."""
    token = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    headers = {"Authorization": f"Basic {token}", "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    own = threading.local()

    def upload(path):
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        own.connection.request("POST", "/legacy/", upload_body(path), headers)
        answer = own.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"pypiron: {path.name}: {answer.status} {text[:200]}")

    with concurrent.futures.ThreadPoolExecutor(UPLOADERS) as pool:
        list(pool.map(upload, paths))


def wheels_of(shape, store):
    """The wheels to upload: all of the projects whose page is in the table, and one of each other project for the list."""
    for project in shape.names:
        found = sorted((store / project[0] / project).glob("*.whl"))
        yield from found if project in shape.projects.values() else found[:1]


def serve(program, folder):
    port = server.free_port()
    with open(folder / "log", "ab") as log:
        process = server.start(program, "serve", "--data-dir", folder / "data", "--bind-addr", f"127.0.0.1:{port}",
                               "--uploader-user", USER, "--uploader-pass", PASSWORD, stdout=log, stderr=log, cwd=folder)
    return Pypiron(process, port).wait_until_up()


def fill(program, shape, store, folder):
    one = serve(program, folder)
    try:
        upload_all(one.port, wheels_of(shape, store))
    finally:
        one.stop()
    # After thousands of uploads in a row some pages are minutes late.
    subprocess.run([program, "rebuild-index", "--data-dir", folder / "data"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def check_lists(one, shape):
    for count, project in [*shape.projects.items(), (1, shape.large_wheel.project)]:
        status, _, body = one.get(f"/simple/{project}/", {"Accept": "application/vnd.pypi.simple.v1+json"})
        if status != 200 or len(json.loads(body)["files"]) != count:
            raise RuntimeError(f"pypiron does not list the {count} files of {project}")


def start(shape, store, folder):
    """None where it is absent."""
    pins = requirements("pypiron")
    if not pins:
        return None
    folder.mkdir()
    program = install(pins, folder / "venv") / "pypiron"
    fill(program, shape, store, folder)
    return serve(program, folder)
