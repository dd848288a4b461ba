# SPDX-License-Identifier: Apache-2.0
"""Makes the system fail for the program, by the libraries of tests/faults."""
import concurrent.futures
import errno
import mmap
import multiprocessing
import os
import pathlib
import struct
import tempfile

import pytest

import serving

PAUSED = -1  # the process stops (SIGSTOP), and makes the call when it is continued
KILLED = 0  # what the n-th call does: the process is killed; otherwise an errno, or several in turn
DISK = [KILLED, errno.ENOSPC, errno.EIO]
DISK_IN_TURNS = [KILLED, (errno.ENOSPC, errno.EIO)]  # for code that treats all errors alike
NETWORK = [KILLED, errno.ECONNRESET]
# One point of so many runs the program with sanitizers, which takes several times as long; the others run the
# optimised program, if there is one. The number is odd, so that each error of DISK_IN_TURNS has its turn.
SANITIZED = 3
MOST = 1000  # faults of one action; more are a failure of the test


def wrap(library, folder, program=None, **environment):
    """A wrapper script that runs the program under test, or another, with the library and these variables."""
    program = program or serving.binary()
    path = pathlib.Path(os.environ["WHEELCACHE_SANITIZED"]).parent / "tests" / "faults" / f"{library}.so"
    if not path.exists():
        pytest.skip(f"{path} is absent: make check builds it")
    wrapper = folder / f"{pathlib.Path(program).parent.name}-with-{library}"
    environment |= {"LD_PRELOAD": path}
    lines = [f"{key}='{value}'\nexport {key}\n" for key, value in environment.items()]
    wrapper.write_text("#!/bin/sh\nASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0\n"
                       f"export ASAN_OPTIONS\n{''.join(lines)}exec {program} \"$@\"\n")
    wrapper.chmod(0o755)
    return wrapper


def preload(name, folder, monkeypatch):
    """Loads a library for the program. Returns a function that sets the text in the paths that the fault affects; None: no
    path."""
    control = folder / "broken"
    monkeypatch.setenv("WHEELCACHE", str(wrap(name, folder, **{f"{name.upper()}_BENEATH": control})))

    def change(part):
        aside = folder / "broken.new"
        aside.write_text(part or "")
        aside.replace(control)
    return change


class Nth:
    """The n-th call that changes a file or sends fails, of those whose path has one of the parts."""

    def __init__(self, folder, parts):
        path = folder / "fault-control"
        path.write_bytes(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self._control = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        programs = [serving.binary(), os.environ.get("WHEELCACHE_OPTIMISED") or serving.binary()]
        settings = {"FAULT_CONTROL": path, "FAULT_PATHS": ",".join(parts)}
        self._wrappers = [str(wrap("nth", folder, program, **settings)) for program in programs]
        os.environ["WHEELCACHE"] = self._wrappers[0]

    def arm(self, at, how):
        how = how[at % len(how)] if isinstance(how, tuple) else how
        os.environ["WHEELCACHE"] = self._wrappers[at % SANITIZED != 0]
        self._control[:12] = struct.pack("iii", 0, 0, 0)
        self._control[:12] = struct.pack("iii", at, 0, how)

    def disarm(self):
        """Whether the fault came."""
        at, count, _ = struct.unpack("iii", self._control[:12])
        self._control[:12] = bytes(12)
        return count >= at


def points(every=5):
    """The numbers of the faults to be tried, one after another until none comes: one in so many, which is odd and no multiple
    of SANITIZED. Another TEST_PART tries others. Without the variable, as in a nightly run, it is each."""
    part = os.environ.get("TEST_PART")
    return range(1 + int(part) % every, MOST, every) if part else range(1, MOST)


def points_of(tries, hows, *arguments):
    """Runs tries(how, folder, *arguments) for each fault, in parallel processes; returns the sum of the results. The folders
    are in memory, if there is room: thousands of fsyncs would take minutes. A result is the number of faults that there are,
    tried or not."""
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name, \
            concurrent.futures.ProcessPoolExecutor(len(hows), multiprocessing.get_context("fork")) as pool:
        folders = [pathlib.Path(name, str(number)) for number, _ in enumerate(hows)]  # without blanks
        for folder in folders:
            folder.mkdir()
        return sum(pool.map(tries, hows, folders, *([one] * len(hows) for one in arguments)))
