# SPDX-License-Identifier: Apache-2.0
"""Makes the system fail for the program, by the libraries of tests/faults."""
import errno
import mmap
import pathlib
import struct

import pytest

import serving

KILLED = 0  # how the n-th call ends: the process dies there; else an errno
HOWS = [KILLED, errno.ENOSPC, errno.EIO]


def _run_with(library, folder, monkeypatch, **environment):
    """From now on the program runs with the library, and with these variables."""
    path = pathlib.Path(serving.binary()).parent / "tests" / "faults" / f"{library}.so"
    if not path.exists():
        pytest.skip(f"{path} is absent: make check builds it")
    wrapper = folder / "with-faults"
    environment |= {"LD_PRELOAD": path}
    lines = [f"{key}='{value}'\nexport {key}\n" for key, value in environment.items()]
    wrapper.write_text("#!/bin/sh\nASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0\n"
                       f"export ASAN_OPTIONS\n{''.join(lines)}exec {serving.binary()} \"$@\"\n")
    wrapper.chmod(0o755)
    monkeypatch.setenv("WHEELCACHE", str(wrapper))


def preload(name, folder, monkeypatch):
    """Loads a library for the program. Returns a function: the fault hits every path with this text in it; None: no
    path."""
    control = folder / "broken"
    _run_with(name, folder, monkeypatch, **{f"{name.upper()}_BENEATH": control})

    def change(part):
        aside = folder / "broken.new"
        aside.write_text(part or "")
        aside.replace(control)
    return change


class Nth:
    """The n-th call that changes a file fails, of those whose path has one of the parts."""

    def __init__(self, folder, monkeypatch, parts):
        path = folder / "fault-control"
        path.write_bytes(bytes(mmap.PAGESIZE))
        with open(path, "r+b") as file:
            self._control = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        _run_with("nth", folder, monkeypatch, FAULT_CONTROL=path, FAULT_PATHS=":".join(parts))

    def arm(self, at, how):
        self._control[:12] = struct.pack("iii", 0, 0, 0)
        self._control[:12] = struct.pack("iii", at, 0, how)

    def disarm(self):
        """Whether the fault came."""
        at, count, _ = struct.unpack("iii", self._control[:12])
        self._control[:12] = bytes(12)
        return count >= at
