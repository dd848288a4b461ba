# SPDX-License-Identifier: Apache-2.0
"""The number of threads follows what the process may use: its affinity, and the CPU quota of its cgroup."""
import os
import pathlib
import re
import subprocess
import time

import pytest

import serving
import storelib

EVENTUALLY = 60
CGROUPS = pathlib.Path("/sys/fs/cgroup")
PERIOD = 100_000
PROCESSORS = len(os.sched_getaffinity(0))
several = pytest.mark.skipif(PROCESSORS < 2, reason="this machine has one processor")
NO_QUOTA = {"cpu.max": "max", "cpu.cfs_quota_us": "-1"}


def pinned(*options):
    return ["taskset", "-c", str(min(os.sched_getaffinity(0))), serving.binary(), *options]


@pytest.fixture(name="start")
def start_fixture(tmp_path):
    """Starts a server by a command."""
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    started = []

    def start(program, *options):
        started.append(serving.Server(tmp_path / "store", tmp_path, ("--rescan", "0", *options), program=program))
        return started[-1]
    yield start
    for server in started:
        server.stop()


def event_loops(server):
    """Each has an epoll."""
    files = pathlib.Path(f"/proc/{server.process.pid}/fd")
    return [os.readlink(one) for one in files.iterdir()].count("anon_inode:[eventpoll]")


@several
@pytest.mark.parametrize("options, loops, said", [
    ((), 1, f"answers in 1 thread: its affinity allows 1 of {os.cpu_count()} processors"),
    (("--threads", "3"), 3, "answers in 3 threads: [server] threads"),
])
def test_event_loops_of_a_pinned_server(start, options, loops, said):
    server = start(pinned(), *options)
    assert said in server.errors() and event_loops(server) == loops
    assert server.get("/simple/foo/").status == 200


@several
def test_pinned_index_reads_in_one_thread(tmp_path):
    storelib.make_wheel(tmp_path / "store", "foo", "1.0")
    config = tmp_path / "debug.conf"
    config.write_text(f"[store]\npath = {tmp_path}/store\n[catalog]\npath = {tmp_path}/new.db\n[server]\nlog-level = debug\n")
    done = subprocess.run(pinned("index", "--config", config), capture_output=True, text=True, check=True)
    assert f"reads in 1 thread: its affinity allows 1 of {os.cpu_count()} processors" in done.stderr


class Group:
    """A cgroup of this test, v1 or v2, and its CPU quota."""

    def __init__(self):
        name = f"wheelcache-test-{os.getpid()}"
        is_v1 = (CGROUPS / "cpu" / "cpu.cfs_period_us").exists() or (CGROUPS / "cpu" / "tasks").exists()
        self.folder = CGROUPS / ("cpu" if is_v1 else ".") / name
        self.file = self.folder / ("cpu.cfs_quota_us" if is_v1 else "cpu.max")
        self.folder.mkdir()

    def limit(self, processors):
        self.file.write_text(str(int(processors * PERIOD)) if processors else NO_QUOTA[self.file.name])

    def command(self):
        """Starts the program in the group."""
        return ["sh", "-c", f'echo $$ >"{self.folder}/cgroup.procs" && exec "$@"', "sh", serving.binary()]

    def remove(self):
        end = time.monotonic() + EVENTUALLY
        while self.folder.exists() and time.monotonic() < end:
            try:
                self.folder.rmdir()  # busy until the kernel has forgotten the last process
            except OSError:
                time.sleep(0.05)


@pytest.fixture(name="group")
def group_fixture():
    if os.geteuid() != 0:
        pytest.skip("a cgroup with a CPU quota wants root")
    try:
        group = Group()
    except OSError as reason:
        pytest.skip(f"no cgroup can be made here: {reason}")
    try:
        group.limit(1)
    except OSError as reason:
        group.remove()
        pytest.skip(f"no CPU quota can be set here: {reason}")
    yield group
    group.remove()


@several
def test_event_loops_below_a_quota(group, start):
    """The server has them until its end, and says when others would fit."""
    server = start(group.command())
    assert f"answers in 1 thread: a CPU quota of 1 ({group.file})" in server.errors() and event_loops(server) == 1
    group.limit(None)
    said = re.compile(rf"answers in 1 thread, and {PROCESSORS} would fit now: .*; a restart takes the new number\n")
    serving.wait_for(lambda: said.search(server.errors()), EVENTUALLY, "word of more processors")
    group.limit(0.5)
    serving.wait_for(lambda: "answers in as many threads again as fit" in server.errors(), EVENTUALLY, "word of one")
    assert server.get("/simple/foo/").status == 200 and event_loops(server) == 1
