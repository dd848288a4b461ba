# SPDX-License-Identifier: Apache-2.0
"""Servers that accept uploads, each empty and with an account: wheelcache, and the others in ../shared/clients. All sync
to the disk as by default."""
import base64
import hashlib
import http.client
import json
import subprocess

import ours
import pypiron
import server

USER, PASSWORD = pypiron.USER, pypiron.PASSWORD
PLATFORM = "debian-12-x86_64"


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def takes_uploads(one, upload_path, page_path, authorization):
    """page_path has {} in place of the project."""
    one.upload_path, one.page_path = upload_path, page_path
    one.upload_headers = {"Authorization": authorization,
                          "Content-Type": f"multipart/form-data; boundary={pypiron.BOUNDARY}"}
    return one


class Rival(server.Server):
    def __init__(self, name, process, port):
        super().__init__(process, port)
        self.name = name


def start_logged(name, folder, port, *command):
    with open(folder / "log", "ab") as log:
        return Rival(name, server.start(*command, stdout=log, stderr=log, cwd=folder), port).wait_until_up()


def start_ours(binary, folder, settings="rescan = 0\n"):
    store = folder / "store"
    (store / PLATFORM).mkdir(parents=True)
    done = subprocess.run([binary, "token", "add", "--catalog", folder / "catalog.db"], capture_output=True, text=True,
                          check=True)
    one = ours.start(binary, store, folder, settings=f"threads = 1\n{settings}")
    return takes_uploads(one, f"/upload/{PLATFORM}/", f"/{PLATFORM}/simple/{{}}/", basic("__token__", done.stdout.strip()))


def start_pypiron(programs, folder):
    one = pypiron.serve(programs / "pypiron", folder)
    return takes_uploads(one, "/legacy/", "/simple/{}/", basic(USER, PASSWORD))


def start_pypiserver(programs, folder):
    """With its own server and backend, and the cheapest hash of its password file."""
    port = server.free_port()
    accounts, packages = folder / "accounts", folder / "packages"
    packages.mkdir()
    hashed = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
    accounts.write_text(f"{USER}:{{SHA}}{hashed}\n")
    one = start_logged("pypiserver", folder, port, programs / "pypi-server", "run", "-i", "127.0.0.1", "-p", port,
                       "-P", accounts, "-a", "update", "--disable-fallback", packages)
    return takes_uploads(one, "/", "/simple/{}/", basic(USER, PASSWORD))


def devpi_ask(port, method, path, body, headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json", **headers})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status not in (200, 201):
        raise RuntimeError(f"devpi-server: {method} {path}: {answer.status} {text[:200]}")
    return json.loads(text)["result"]


def start_devpi_empty(programs, folder):
    """With no index at all."""
    port, data = server.free_port(), folder / "data"
    subprocess.run([programs / "devpi-init", "--serverdir", data, "--no-root-pypi", "--root-passwd", PASSWORD], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    return start_logged("devpi-server", folder, port, programs / "devpi-server", "--serverdir", data, "--host", "127.0.0.1",
                        "--port", port)


def devpi_login(port):
    """The header of a login, as devpi's client sends it, and its token."""
    token = devpi_ask(port, "POST", "/+login", {"user": "root", "password": PASSWORD}, {})["password"]
    return {"X-Devpi-Auth": base64.b64encode(f"root:{token}".encode()).decode()}, token


def start_devpi(programs, folder):
    """An index of its own."""
    one = start_devpi_empty(programs, folder)
    header, token = devpi_login(one.port)
    devpi_ask(one.port, "PUT", "/root/dev", {"type": "stage", "bases": []}, header)
    one = takes_uploads(one, "/root/dev/", "/root/dev/+simple/{}/", basic("root", token))
    one.upload_headers |= header
    return one


START = {"pypiron": start_pypiron, "pypiserver": start_pypiserver, "devpi-server": start_devpi}
NAMES = tuple(START)


def start_all(stack, binary, folder):
    """wheelcache first."""
    def begin(name, start, where):
        (folder / name).mkdir()
        one = start(where, folder / name)
        stack.callback(one.stop)
        return one

    found = [begin("wheelcache", start_ours, binary)]
    pins = pypiron.requirements(*NAMES)
    programs = pypiron.install(pins, folder / "venv") if pins else None
    return found + [begin(name, START[name], programs) for name in (pin.partition("==")[0] for pin in pins)]
