# SPDX-License-Identifier: Apache-2.0
"""A running server of any kind: its port, its answers, and its CPU time."""
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

CORE = 0  # for all servers; the load runs on the next one


def pinned(core, *command):
    return ["taskset", "-c", str(core), *map(str, command)]


def start(*command, **options):
    """Starts it in a process group of its own, but in our session: kernel autogroups share processor time by session, so
    all measured processes have the same share."""
    return subprocess.Popen(pinned(CORE, *command), process_group=0, **options)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def cpu_clock(pid):
    """The clock of a process's CPU time, all its threads, in nanoseconds: see clock_getcpuclockid(3). utime and
    stime of proc(5) are the same, rounded to ticks of 10 ms."""
    return (~pid << 3) | 2


class Server:
    """A subclass knows the path of a line of the table (place)."""
    name = "?"
    gives_our_bytes = True  # its pages and files are copies of ours
    has_zstd = False        # otherwise gzip is requested, its best coding

    def __init__(self, process, port):
        self.process, self.port = process, port

    def place(self, line):
        """The path of a line of the table at this server."""
        return line.path

    def _processes(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]

    def cpu_seconds(self):
        return sum(time.clock_gettime(cpu_clock(pid)) for pid in self._processes())

    def settle(self):
        """Waits until it is idle: a slow server still has a queue when the load ends, which must not count in the next round."""
        deadline, before = time.monotonic() + 60, self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(0.02)
            now = self.cpu_seconds()
            if now - before < 0.001:
                return
            before = now

    def rss_bytes(self):
        """Resident memory of the process, without its children."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+) kB", text, re.M).group(1)) * 1024

    def get(self, path, headers=None):
        """Status, headers, body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.putrequest("GET", path, skip_accept_encoding=True)
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def wait_until_up(self):
        deadline = time.monotonic() + 120  # on a busy machine devpi takes its time
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"{self.name} does not answer")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)  # its own process group
            self.process.wait()
