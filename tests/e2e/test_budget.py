# SPDX-License-Identifier: Apache-2.0
"""The cost of a request on the event loop, counted and not timed, so that the speed of the machine does not matter:
instructions (callgrind) and system calls (strace). One of two servers gets REQUESTS more; the difference is their cost,
without start and stop. `pytest -s` prints the figures."""
import contextlib
import os
import pathlib
import platform
import re
import shutil
import subprocess

import pytest

import merging
import pages
import serving
import storelib
from test_blocked import Lists
from test_cooling import stamp

MORE = 300  # requests
HEADROOM = 1.15
# Makes the C library use the same memset and memcpy on every processor ("rep stos" counts one instruction per byte; glibc 2.41
# chooses it whatever the first tunable says).
PLAIN_PROCESSOR = "glibc.cpu.hwcaps=-AVX2,-AVX,-ERMS,-FSRM:glibc.cpu.x86_rep_stosb_threshold=1000000000"

# Measured instructions and system calls of a request: instructions on Debian 12 (gcc 12 -O2, libmicrohttpd 0.9.75), and on
# Debian 13 and others (gcc 14 -O2, libmicrohttpd 1.0.1). HEADROOM is allowed on top. The calls are epoll_wait, recvfrom and
# sendmsg, because the client waits for each answer; a request that goes to a worker needs some more. SipHash of the keys of
# the caches is 600 to 800 of the instructions. The figures of Debian 13 are older ones, plus what came since on Debian 12.
COST = {
    "page": (15_600, 16_900, 3),
    "304": (17_100, 18_900, 3),
    "404": (14_300, 15_700, 3),
    "wheel of 20 KB": (14_300, 16_000, 3),
    "page of a platform for pip": (31_200, 33_500, 3),
    "page of upstream": (19_200, 20_800, 3),
    "page of upstream under rules": (19_200, 20_800, 3),
}
# Two views of an upstream each, one without and one with each rule of what is offered.
MERGED = """[upstream]
max-age = 1d
[upstream free]
url = {free}
[upstream ruled]
url = {ruled}
cooldown = 7d
deny = {folder}/deny.list
block = {folder}/records
[view free]
platforms = wheels
upstream = free
[view ruled]
platforms = wheels
upstream = ruled
"""
# What pip sends. Its User-Agent says more, in as many bytes.
PIP = {"User-Agent": "pip/24.2 " + 400 * "x", "Accept-Encoding": "gzip, deflate", "Connection": "keep-alive",
       "Accept": f"{pages.JSON}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01", "Cache-Control": "max-age=0"}
INSTRUCTIONS = 0 if platform.freedesktop_os_release().get("VERSION_ID") == "12" else 1


def optimised():
    """The program without sanitizers; the test is skipped where there is none."""
    path = pathlib.Path(os.environ.get("WHEELCACHE_OPTIMISED") or serving.binary())
    if any(mark in path.read_bytes() for mark in (b"__asan_init", b"__tsan_init")):
        pytest.skip(f"{path} has sanitizers: WHEELCACHE_OPTIMISED should name a program without")
    return str(path)


def tool(*command):
    """The command that runs a program under the tool; skips where the tool does not work."""
    if platform.machine() != "x86_64":
        pytest.skip(f"the figures are for x86_64, this is {platform.machine()}")
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"{command[0]} cannot run here: {done.stderr.strip()[-200:]}")
    return list(command)


def callgrind(folder):
    return tool("valgrind", "-q", "--tool=callgrind", "--separate-threads=yes",
                f"--callgrind-out-file={folder}/callgrind")


def count_instructions(folder):
    """Of the event loop alone: the other threads depend on time, and the choice of the worker is random."""
    texts = [path.read_text() for path in folder.glob("callgrind-*")]
    return sum(int(re.search(r"^totals: (\d+)", text, re.M).group(1)) for text in texts
               if re.search(r"\) routes_inline$", text, re.M))


def strace(folder):
    return tool("strace", "-D", "-ff", "-qq", "-o", f"{folder}/strace")


def count_calls(folder):
    """The same."""
    texts = [path.read_text() for path in folder.glob("strace.*")]
    return sum(len(re.findall(r"^\w+\(", text, re.M)) for text in texts if "\nsendmsg(" in text)


def fill_upstreams(start, folder):
    """Four wheels that are offered; of two more one cools, and one is denied. Returns the configuration."""
    indexes = {"free": start(), "ruled": start()}
    for i in range(6):
        wheel = storelib.make_wheel(folder / "theirs", "six", f"1.{i}", requires_python=">=3.9")
        for name, index in indexes.items():
            index.max_age = 86400
            if i < 4 or name == "ruled":
                index.add("six", wheel, **({"upload_time": stamp(0)} if i == 5 else {}))
    (folder / "deny.list").write_text("six ==1.4 it is bad\n")
    Lists(folder / "records").put("MAL-2026-1", "six", {"versions": ["0.1"]})
    return MERGED.format(folder=folder, **{name: index.url for name, index in indexes.items()})


@pytest.fixture(scope="module", name="store")
def store_fixture(tmp_path_factory):
    """A store of one project with four wheels, the configuration, and the requests that are measured: path, headers, status.
    What upstream has is in the catalog, so that the measured servers need not ask it."""
    store = tmp_path_factory.mktemp("budget") / "store"
    for i in range(4):
        wheel = storelib.make_wheel(store, "foo", f"1.{i}", requires_python=">=3.9", size=20_000)
    json = {"Accept": pages.JSON}
    with merging.indexes() as start:
        config = fill_upstreams(start, store.parent)
        server = serving.Server(store, store.parent, ("--rescan", "0"), program=[optimised()], config=config)
        assert serving.run("hold", "--after", "1d", "--upstream", "ruled", "--reason", "a worm", "--config", server.config_path,
                           "--catalog", server.catalog, program=[optimised()]).returncode == 0
        tag = server.get("/simple/foo/", json)["ETag"]
        for view in ("/ruled", "/free"):
            assert len(merging.names(server, "six", view)) == 4
        merging.wait_until_noted(server, "six", 2)
        server.stop()
    return store, config, {
        "page": ("/simple/foo/", json, 200),
        "304": ("/simple/foo/", json | {"If-None-Match": tag}, 304),
        "404": ("/simple/none/", json, 404),
        "wheel of 20 KB": (f"/files/wheels/foo/{wheel.name}", {}, 200),
        "page of a platform for pip": ("/wheels/simple/foo/", PIP, 200),
        "page of upstream": ("/free/simple/six/", json, 200),
        "page of upstream under rules": ("/ruled/simple/six/", json, 200),
    }


def count(store, config, folder, wrapper, counter, todo):
    """The cost of these requests, one after the other on one connection."""
    folder.mkdir()
    for path in store.parent.glob("catalog.db*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / path.name)
    server = serving.Server(store, folder, ("--rescan", "0", "--offline"), config="[server]\nthreads = 1\n" + config,
                            program=[*wrapper(folder), optimised()])
    with contextlib.closing(server.connect(timeout=60)) as connection:
        for path, headers, status in todo:
            assert serving.ask(connection, path, headers).status == status
    server.stop()
    return counter(folder)


@pytest.mark.parametrize("column, wrapper, counter", [(INSTRUCTIONS, callgrind, count_instructions), (2, strace, count_calls)],
                         ids=["instructions", "calls"])
def test_cost_of_a_request(store, tmp_path, monkeypatch, column, wrapper, counter):
    monkeypatch.setenv("GLIBC_TUNABLES", PLAIN_PROCESSOR)
    folder, config, requests = store
    once = [one for one in requests.values() for _ in range(MORE)]
    base = count(folder, config, tmp_path / "base", wrapper, counter, once)
    cost = {name: (count(folder, config, tmp_path / name, wrapper, counter, [*once, *[one] * MORE]) - base) / MORE
            for name, one in requests.items()}
    for name, figure in cost.items():
        print(f"{name:28} {figure:10.1f} of {COST[name][column] * HEADROOM:10.1f}")
    assert cost["page of upstream under rules"] < 1.05 * cost["page of upstream"], cost
    assert all(1 < figure <= COST[name][column] * HEADROOM for name, figure in cost.items()), cost


def test_a_large_wheel_is_not_copied(tmp_path):
    """The kernel sends the pages of the file; only what is left of it at the end may be copied."""
    store, size = tmp_path / "store", 1 << 20
    wheel = storelib.make_wheel(store, "foo", "1.0", size=size)
    server = serving.Server(store, tmp_path, ("--rescan", "0"), program=[*strace(tmp_path), optimised()])
    part = server.get(f"/files/wheels/foo/{wheel.name}", {"Range": f"bytes=1000-{size - 1}"})
    whole = server.get(f"/files/wheels/foo/{wheel.name}")
    server.stop()
    assert whole.body == wheel.path.read_bytes() and part.body == whole.body[1000:size]
    text = "".join(path.read_text() for path in tmp_path.glob("strace.*"))
    sent = sum(map(int, re.findall(r"^sendfile\(.*= (\d+)$", text, re.M)))
    assert sent > 2 * (size - (1 << 16)) - 1000, text
