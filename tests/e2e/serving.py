# SPDX-License-Identifier: Apache-2.0
"""Starts `wheelcache serve`, sends it requests, reads its access log, and stops it."""
import contextlib
import dataclasses
import http.client
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

START_SECONDS = 120  # a cold index of a large store under sanitizers
STOP_SECONDS = 60
ONE_LOOP = ("--threads", "1")
SANITIZER_REPORT = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:")
# Starts a program with a listening socket, as sd_listen_fds(3) says.
PASS_SOCKET = """import os, sys
os.dup2(int(sys.argv[1]), 3)
os.execve(sys.argv[2], sys.argv[2:], {**os.environ, "LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"})"""
os.environ["WHEELCACHE_CONFIG"] = ""  # commands look at no configuration of the machine
# Runs a command and appends what it used to the file named first. A program's peak of memory begins with that of the
# process that started it, so this small one starts it.
MEASURE = """import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    print(used.ru_utime, used.ru_stime, used.ru_maxrss >> 10, file=file)
sys.exit(code)"""
LOG_LINE = re.compile(r'"(?P<method>[A-Z]+) (?P<path>\S+) HTTP/1\.[01]" (?P<status>\d{3})')


@dataclasses.dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def __getitem__(self, name):
        """The header's value; None where there is none."""
        return self.headers[name]


@dataclasses.dataclass(frozen=True)
class Entry:
    """A line of the access log."""
    method: str
    path: str
    status: int


def binary():
    path = os.environ.get("WHEELCACHE")
    if not path:
        raise RuntimeError("set WHEELCACHE to the wheelcache program to be tested")
    return os.path.abspath(path)


def run(*arguments, timeout=600, program=None, **options):
    """Runs the program to its end; a report of a sanitizer fails the test. program: a command that starts it."""
    if options.get("env"):
        options["env"] = {"WHEELCACHE_CONFIG": ""} | options["env"]
    done = subprocess.run([*(program or [binary()]), *map(str, arguments)], capture_output=True, text=True,
                          timeout=timeout, check=False, **options)
    assert not SANITIZER_REPORT.search(done.stderr), done.stderr
    return done


@dataclasses.dataclass(frozen=True)
class Used:
    """What a process used: seconds of a processor, and its peak of memory in MB."""
    user: float
    system: float
    megabytes: int


def measure(*arguments, **options):
    """run(), and what the program used."""
    with tempfile.NamedTemporaryFile("r") as file:
        done = run(*arguments, program=[sys.executable, "-I", "-S", "-c", MEASURE, file.name, binary()], **options)
        user, system, megabytes = file.read().split()
    return done, Used(float(user), float(system), int(megabytes))


def answers(server, path):
    """Whether the answer is 200; a refused or closed connection is not."""
    try:
        return server.get(path).status == 200
    except (OSError, http.client.HTTPException):
        return False


def cpu_seconds(server):
    """The CPU time of a process so far; other processes on the machine do not affect it."""
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for(condition, seconds, what):
    """Polls until the condition holds; returns its value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.02)


class Server:
    """A running server. Its folder has the catalog, the access log and the standard error. program: a command with another
    program than the one under test; it has no access log. passed: a listening socket that it gets at its start."""

    def __init__(self, store, folder, options=(), listen="127.0.0.1:0", config=None, program=None, context=None, passed=None):
        self.context = context  # of TLS; None: plain HTTP
        self.catalog = folder / "catalog.db"
        self.log_path = folder / "access.log"
        self.error_path = folder / "stderr.txt"
        self.config_path = folder / "wheelcache.conf"
        command = [*(program or [binary()]), "serve"]
        if passed:
            command = [sys.executable, "-c", PASS_SOCKET, str(passed.fileno()), *command]
        if store is not None:
            command.append(str(store))
        self.has_one_loop = tuple(options[-2:]) == ONE_LOOP
        command += ["--listen", listen, "--catalog", str(self.catalog)]
        if program is None:
            command += ["--access-log", str(self.log_path)]
        if config is not None:
            self.config_path.write_text(config)
            command += ["--config", str(self.config_path)]
        with open(self.error_path, "ab") as errors:
            self.process = subprocess.Popen(command + [str(one) for one in options], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=errors,
                                            pass_fds=(passed.fileno(),) if passed else ())
        self.url = None
        self.url = self._first_line().rstrip("/")
        place = urllib.parse.urlsplit(self.url)
        self.host, self.port = place.hostname, place.port

    def _first_line(self):
        ready, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline().decode().strip() if ready else ""
        found = re.search(r"(https?://|unix:)\S+", line)
        if not found:
            self.process.kill()
            self.process.wait()
        assert found, f"no URL but {line!r}; {self.errors()}"
        return found.group()

    def errors(self):
        return self.error_path.read_text(errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """Sends SIGTERM; the server must exit with 0, without a report of a sanitizer. A second call does nothing."""
        if self.process.stdout.closed:
            return
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()
        errors = self.errors()
        assert not SANITIZER_REPORT.search(errors), errors
        assert code == 0, f"exit code {code}: {errors}"

    def wait_killed(self):
        """Waits until it dies of SIGKILL, without a report of a sanitizer."""
        assert self.process.wait(STOP_SECONDS) == -signal.SIGKILL, self.errors()
        self.process.stdout.close()
        assert not SANITIZER_REPORT.search(self.errors()), self.errors()

    def connect(self, timeout=60, source=None):
        """source: an address of this machine."""
        more = {"source_address": (source, 0)} if source else {}
        if self.context:
            return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=self.context, **more)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout, **more)

    def plain_socket(self, timeout=60, source="127.0.0.1"):
        """A connection from an address of this machine, without TLS."""
        return socket.create_connection((self.host, self.port), timeout, (source, 0))

    def secured(self, connection, session=None):
        """The same connection, after the handshake of TLS, if any."""
        if not self.context:
            return connection
        return self.context.wrap_socket(connection, server_hostname=self.host, session=session)

    def socket(self, timeout=60):
        return self.secured(socket.create_connection((self.host, self.port), timeout))

    def get(self, path, headers=None, method="GET", source=None):
        """One request on a connection of its own, with no header but Host and these."""
        with contextlib.closing(self.connect(source=source)) as connection:
            return ask(connection, path, headers, method)

    def raw(self, data, seconds=30):
        """Sends bytes as they are and returns all that comes until the server closes."""
        with self.socket(seconds) as connection:
            with contextlib.suppress(OSError):  # it may have refused the request before it read all
                connection.sendall(data)
            return read_all(connection)

    def entries(self):
        """The access log so far."""
        text = self.log_path.read_text() if self.log_path.exists() else ""
        return [Entry(m["method"], m["path"], int(m["status"])) for m in map(LOG_LINE.search, text.splitlines())
                if m]

    def _settle(self):
        """Waits until the access log has a line for each answer so far."""
        mark = f"/-/no-such-page/{time.monotonic_ns()}"
        self.get(mark)
        wait_for(lambda: any(one.path == mark for one in self.entries()), START_SECONDS, "the access log's last line")

    @contextlib.contextmanager
    def watch(self):
        """A list that has, after the block, the requests of the block. Only for a server with one event loop: a line is
        written when the connection is done with the answer, which may be after the client has it, but before the loop
        reads the next request. Another loop could still be about to write."""
        assert self.has_one_loop, "to be watched, start it with *serving.ONE_LOOP"
        seen = []
        self._settle()
        before = len(self.entries())
        yield seen
        self._settle()
        seen += [one for one in self.entries()[before:] if not one.path.startswith("/-/no-such-page/")]


@contextlib.contextmanager
def servers(folder):
    """A function that starts servers; all must stop cleanly at the end of the block."""
    started = []

    def start(store=None, *options, listen="127.0.0.1:0", config=None, state=None, authority=None, passed=None):
        state = state or folder / f"server-{len(started)}"
        state.mkdir(exist_ok=True)
        secure = (authority.options(), authority.context()) if authority else ([], None)
        started.append(Server(store, state, (*secure[0], *options), listen, config, context=secure[1], passed=passed))
        return started[-1]

    try:
        yield start
    finally:
        with contextlib.ExitStack() as stack:
            for server in started:
                stack.callback(server.stop)


def ask(connection, path, headers=None, method="GET"):
    """One request over an open http.client connection."""
    connection.putrequest(method, path, skip_accept_encoding=True)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    return Reply(answer.status, answer.headers, answer.read())


def read_all(connection):
    """All bytes until the other side closes or resets the connection, or the socket times out."""
    data = bytearray()
    with contextlib.suppress(OSError):
        while chunk := connection.recv(65536):
            data += chunk
    return bytes(data)
