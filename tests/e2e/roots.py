# SPDX-License-Identifier: Apache-2.0
"""Roots of Debian releases with a Python and a compiler, made by mmdebstrap once and kept for the next run."""
import os
import shutil
import subprocess

import pytest

import clients

PYTHONS = {"bookworm": "3.11", "trixie": "3.13"}
WITH = "python3-venv,python3-dev,gcc,libc6-dev"
SMALL = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("doc", "man", "locale")]
NEEDS = "roots are made by root with mmdebstrap, and entered with bwrap: ./test --nightly installs them"


def can_enter():
    done = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, text=True, check=False)
    return done.returncode == 0 or pytest.skip(f"bwrap cannot make namespaces here: {done.stderr.strip()}")


def make(suite, folder, *options, leave_out=SMALL):
    """Makes a root; returns why it cannot be made, or None."""
    shutil.rmtree(folder, ignore_errors=True)
    script = '. "$1"; shift; make_root "$@"'
    done = subprocess.run(["bash", "-c", script, "bash", str(clients.ROOT / "build-aux/setup.sh"), suite, str(folder), *options,
                           "--dpkgopt=force-unsafe-io", *leave_out], capture_output=True, text=True, timeout=900, check=False)
    return None if done.returncode == 0 else f"no root of {suite}: {(done.stderr.strip().splitlines() or ['no word why'])[-1]}"


def root(suite):
    """The root folder of a release; the test is skipped if it cannot be made."""
    if os.getuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("bwrap"):
        pytest.skip(NEEDS)
    can_enter()
    folder = clients.cache_folder() / f"root-{suite}"
    made = folder.with_name(f"{folder.name}.made")
    with clients.locked(folder.with_name(f"{folder.name}.lock")):
        if not made.exists():
            why = make(suite, folder, "--variant=minbase", f"--include={WITH}")
            if why:
                pytest.skip(why)
            made.write_text(WITH)
    return folder


def libraries(suite, packages):
    """A folder with the files of these packages of a release, and of what they need; nothing in it can run."""
    if not shutil.which("mmdebstrap"):
        pytest.skip(NEEDS)
    folder = clients.cache_folder() / f"libraries-{suite}"
    made = folder.with_name(f"{folder.name}.made")
    with clients.locked(folder.with_name(f"{folder.name}.lock")):
        if not made.exists() or made.read_text() != packages:
            why = make(suite, folder, "--variant=extract", f"--include={packages}")
            if why:
                pytest.skip(why)
            made.write_text(packages)
    return folder
