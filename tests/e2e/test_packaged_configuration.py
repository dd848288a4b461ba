# SPDX-License-Identifier: Apache-2.0
"""The configuration that the packages install, with two platforms: it is made as they make it, without a build of them, and what
they do to the example is done. test_packages.py has the packages."""
import json
import re
import shlex
import subprocess

import pytest

import clients
import serving
import storelib
from htmlcheck import dead_links

DEBIAN, UBUNTU = "debian-12-x86_64", "ubuntu-22.04-x86_64"
EXAMPLE = clients.ROOT / "etc/wheelcache.conf"
STATE = "/var/lib/wheelcache"


def expressions(packaging):
    """What sed does to the example there."""
    [command] = re.findall(r"\bsed (-e .*?) etc/wheelcache\.conf\b", packaging.replace("\\\n", " "))
    return [word for word in shlex.split(command) if word != "-e"]


@pytest.fixture(name="sed", params=["debian/rules", "rpm/wheelcache.spec"])
def sed_fixture(request):
    text = (clients.ROOT / request.param).read_text()
    return [one.replace("$$", "$").replace("%{_localstatedir}", "/var") for one in expressions(text)]


def sed(*words):
    return subprocess.run(["sed", *words, EXAMPLE], capture_output=True, text=True, check=True).stdout


def packaged(expression):
    return sed(*(word for one in expression for word in ("-e", one)))


def test_each_expression_meets_one_line(sed):
    assert len(sed) >= 2
    lines = [subprocess.run(["sed", "-n", f"{one}p", EXAMPLE], capture_output=True, text=True, check=True).stdout for one in sed]
    assert [text.count("\n") for text in lines] == [1] * len(sed), lines
    keys = re.findall(r"^(path|default-view) = (.*)$", packaged(sed), re.M)
    assert keys == [("path", f"{STATE}/wheels"), ("default-view", "none"), ("path", f"{STATE}/catalog.db")]


class Machine:
    """A server with the configuration, below a folder of ours, and commands that read it as those of the machine do."""

    def __init__(self, serve, folder, text):
        state, self.file, self.folder = folder / "state", folder / "wheelcache.conf", folder
        for platform, python in ((DEBIAN, "311"), (UBUNTU, "310")):
            store = state / "wheels" / platform
            storelib.make_wheel(store / "demo", "demo", "1.0", f"cp{python}-cp{python}-linux_x86_64")
            storelib.make_wheel(store / "same", "same", "1.0", files={"where.py": platform.encode()})
        self.file.write_text(text.replace(STATE, str(state)))
        self.server = serve(config=self.file.read_text(), state=state)
        serving.wait_for(lambda: serving.answers(self.server, "/-/ready"), 60, "the scan")

    def run(self, *words, code=0):
        done = serving.run(*words, env=clients.clean_environment(self.folder, WHEELCACHE_CONFIG=str(self.file)))
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def page(self, path):
        reply = self.server.get(path, {"Accept": "text/html"})
        assert reply.status == 200, (path, reply)
        return reply.body.decode()


def test_two_platforms(sed, serve, tmp_path):
    machine = Machine(serve, tmp_path, packaged(sed))
    url = machine.server.url
    words = ("client-config", "--url", url, "--for", "pip")
    assert f"there are {DEBIAN}, {UBUNTU}" in machine.run(*words, code=2).stderr
    indexes = re.findall("index-url = (.*)", "".join(machine.run(*words, "--platform", one).stdout for one in (DEBIAN, UBUNTU)))
    assert indexes == [f"{url}/{one}/simple/" for one in (DEBIAN, UBUNTU)]
    explained = json.loads(machine.run("explain", "--json", "demo").stdout)
    assert {(row["platform"], row["state"]) for row in explained["here"]} == {(DEBIAN, "listed"), (UBUNTU, "listed")}
    got = {(row["platform"], row["python"]): row.get("client", {}).get("filename") for row in explained["environments"]}
    assert got[UBUNTU, "3.10"] and not got[UBUNTU, "3.11"] and got[DEBIAN, "3.11"]
    cells = json.loads(machine.server.get("/-/project/demo", {"Accept": "application/json"}).body)["cells"]
    assert {(cell["platform"], cell["python"]): cell["filename"] for cell in cells} == got
    for wrong in ("/", "/simple/"):
        done = machine.run("doctor", "--client", url + wrong, code=1)
        assert f"{url}/PLATFORM/simple/; there are {DEBIAN}, {UBUNTU}\n" in done.stdout
    for index in indexes:
        assert "0 wrong" in machine.run("doctor", "--client", index).stdout
    paths = ["/", "/-/search?q=demo", "/-/coverage", "/-/coverage?projects=demo", "/-/usage/", f"/-/client-config/{UBUNTU}",
             *(f"/-/project/{name}{view}" for name in ("demo", "same") for view in ("", f"?view={UBUNTU}"))]
    asked, dead = dead_links(machine.server, {path: machine.page(path) for path in paths})
    assert not dead and asked > 25
