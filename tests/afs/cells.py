# SPDX-License-Identifier: Apache-2.0
"""A real AFS cell on the loopback, brought up and down by the scripts of the shared folder: file server, volume server,
databases, and two clients (FUSE), so that AFS sees the builder and the reader as two machines."""
import contextlib
import dataclasses
import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import time

import clients

SCRIPTS = clients.SHARED / "afs"
STATE = pathlib.Path("/run/afs-test-cell")
LOCK = "/run/lock/wheelcache-afs.lock"
ADDRESS = "127.77.0.1"
NAME = "test.cell"
READER, BUILDER = "/afs", "/afs2"  # where the clients are mounted; AFS sees them as two machines
PROGRAMS = ["afsd.fuse", "asetkey", "bc", "bosserver", "ss", "taskset", "unshare", "vos"]
UP_SECONDS, DOWN_SECONDS, CALL_SECONDS = 75, 90, 60
CPU = 1  # of the tests. The servers have CPU 0; otherwise Rx sometimes waits for seconds.
CPUS = os.sched_getaffinity(0)  # before pin(): the script that brings up the cell divides them
PRIORITY = -10  # of the servers and their clients. A client that waits too long takes a server for dead, for minutes.


class Unavailable(Exception):
    """Why there can be no cell here."""


def _is_of_the_scripts(mount):
    return any(path.read_text().strip() == mount for path in STATE.glob("client.*.mnt"))


def reason_against():
    """Why there can be no cell here; None: try it."""
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=path)]
    foreign = [mount for mount in (READER, BUILDER) if os.path.ismount(mount) and not _is_of_the_scripts(mount)]
    if not (SCRIPTS / "afs-cell-up.sh").exists():
        return f"{SCRIPTS} is absent: its scripts bring up the cell"
    if os.geteuid() != 0:
        return "only root can bring up a cell"
    if not os.path.exists("/dev/fuse"):
        return "/dev/fuse is absent: there is no AFS client without it"
    if missing:
        return f"not installed: {', '.join(missing)} (OpenAFS; ./test --nightly installs it)"
    if foreign:
        return f"this machine is a client of some cell already: {', '.join(foreign)}"
    if pathlib.Path("/etc/openafs/server/KeyFileExt").exists() and not pathlib.Path(
            "/etc/openafs/.afs-test-cell").exists():
        return "this machine is a server of some cell already"
    return None


@contextlib.contextmanager
def alone():
    """One cell per machine. The lock ends with the process."""
    with open(LOCK, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Unavailable("another run of these tests has the cell") from None
        yield


@dataclasses.dataclass(frozen=True)
class Volume:
    """A volume that is a platform: the reader sees at `read` what was written at `write` after a release."""
    name: str
    read: pathlib.Path   # the replica, as the reader's client sees it
    write: pathlib.Path  # the writable volume, as the builder's client sees it

    def release(self):
        """Releases the volume, after the data of closed files has reached the file server."""
        os.stat(self.write)
        done = self.try_release()
        assert done.returncode == 0, done.stderr

    def try_release(self, seconds=CALL_SECONDS):
        return vos("release", self.name, seconds=seconds)

    def entry(self):
        """The volume's entry in the volume location database."""
        return vos("listvldb", self.name, "-noresolve").stdout

    def unlock(self):
        """Unlocks the volume after a killed release. The caller makes sure that no other release runs."""
        done = vos("unlock", self.name)
        assert done.returncode == 0, done.stderr

    def copy(self, path, name=None):
        """Copies into the volume, to the final name, as builders do. Returns the path."""
        place = self.write / (name or pathlib.Path(path).name)
        shutil.copyfile(path, place)
        os.stat(place)  # close() is asynchronous: the next call waits for it
        return place

    def clear(self):
        """Empty, and released so."""
        for path in self.write.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.release()


def vos(*arguments, seconds=CALL_SECONDS):
    """Runs a command as administrator of the volume server."""
    return subprocess.run(["vos", *arguments, "-localauth"], capture_output=True, text=True, timeout=seconds,
                          check=False)


class Cell:
    """A cell that is up. Its folder is empty but for the volumes, so `read` is a store whose platforms they are."""

    def __init__(self, names):
        self.read = pathlib.Path(READER, NAME)
        self.volumes = [Volume(name, self.read / name, pathlib.Path(BUILDER, "." + NAME, name))
                        for name in names]

    @staticmethod
    def processes(name):
        """The ids of the servers' processes of this name."""
        return _processes(name)

    @contextlib.contextmanager
    def stopped(self, name):
        """The servers of this name do not answer within the block."""
        pids = self.processes(name)
        assert pids, f"no {name} runs"
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)


def _processes(name=None):
    """Of the servers, which are known by their UTS namespace."""
    spaces = {path.read_text().strip() for path in STATE.glob("bos.*.uts")} - {os.readlink("/proc/self/ns/uts")}
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.readlink(path / "ns/uts") in spaces and name in (None, (path / "comm").read_text().strip()):
                found.append(int(path.name))
    return found


def _down():
    """Takes the cell down, in any state; also one that a killed run left, with stopped servers."""
    for pid in _processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([SCRIPTS / "afs-cell-down.sh"], stdout=subprocess.DEVNULL, timeout=DOWN_SECONDS, check=False)
    with contextlib.suppress(OSError):
        os.rmdir(BUILDER)


def _up(names, log):
    environment = os.environ | {"AFS_VOLUMES": " ".join(names), "AFS_CLIENTS": "2", "AFS_TMPFS_SIZE": "1g"}
    with open(log, "wb") as out:
        with subprocess.Popen(["taskset", "-c", ",".join(map(str, CPUS)), SCRIPTS / "afs-cell-up.sh"], env=environment,
                              stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True) as script:
            try:
                code = script.wait(UP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(script.pid, signal.SIGKILL)
                code = None
    last = (log.read_text(errors="replace").strip().splitlines() or ["no word why"])[-1]
    if code is None:
        raise Unavailable(f"the cell did not come up in {UP_SECONDS} s: {last}")
    if code != 0:
        raise Unavailable(f"the cell does not come up: {last}")


def _clients():
    """The ids of the clients' processes."""
    return [int(path.read_text()) for path in STATE.glob("client.*.pid")]


def _prefer(pid):
    """Lets all threads of a process run before those of other programs."""
    for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, int(thread.name), PRIORITY)


@contextlib.contextmanager
def cell(names, folder):
    """Brings up a cell with these volumes, and takes it down after the block. Raises Unavailable."""
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    with alone():
        try:
            _down()
            begin = time.monotonic()
            _up(names, folder / "afs-cell-up.log")
            for pid in _processes() + _clients():
                _prefer(pid)
            print(f"\ncell: up in {time.monotonic() - begin:.1f} s")
            yield Cell(names)
        finally:
            _down()


def pin():
    """Pins this process and its children away from the servers' processor, if there are two."""
    if CPU in CPUS:
        os.sched_setaffinity(0, {CPU})

