# SPDX-License-Identifier: Apache-2.0
"""Another user, to which root switches in some tests. The program and the folders are placed where it may enter them,
wherever the clone and TMPDIR are."""
import contextlib
import os
import pathlib
import shutil
import tempfile
from unittest import mock

import serving

NOBODY = 65534
IDENTITY = {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def as_nobody():
    """The options of subprocess with which root drops its rights; none for an ordinary user."""
    return IDENTITY if os.geteuid() == 0 else {}


def may_enter(path):
    """Whether all users may enter a folder and the folders above it."""
    path = pathlib.Path(path).resolve()
    return all(one.stat().st_mode & 0o001 for one in (path, *path.parents))


@contextlib.contextmanager
def open_folder():
    """A temporary folder that others may enter."""
    places = [one for one in (tempfile.gettempdir(), "/tmp", "/var/tmp") if may_enter(one)]
    with tempfile.TemporaryDirectory(dir=places[0] if places else None) as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


@contextlib.contextmanager
def open_program():
    """Makes the program executable for others: if they may not enter its folder, a copy is tested."""
    program = pathlib.Path(serving.binary()).resolve()
    if os.geteuid() != 0 or may_enter(program.parent):
        yield
        return
    with open_folder() as folder:
        copy = folder / program.name
        shutil.copyfile(program, copy)
        copy.chmod(0o755)
        with mock.patch.dict(os.environ, WHEELCACHE=str(copy)):
            yield
