# SPDX-License-Identifier: Apache-2.0
"""A Debian of its own for a package: a root made by mmdebstrap once and kept, copied for each use, and booted by
systemd-nspawn with a network of its own."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

import pytest

import clients
import roots

BOOT_SECONDS = 120
COMMAND_SECONDS = 300
BASE = "systemd-sysv,dbus,logrotate"
NEEDS = "a Debian root is made by root with mmdebstrap: ./test --nightly installs it"
NEEDS_BOOT = "a root is booted by systemd-nspawn (systemd-container): ./test --nightly installs it"
WITHOUT = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("doc", "locale")]


def suite():
    """The release of Debian that this machine runs, for which its packages are."""
    found = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(encoding="utf-8"), re.M)
    return found[1] if found else pytest.skip("this is no release of Debian")


def kept_root(packages):
    """The root with these packages; the test is skipped if it cannot be made."""
    if os.getuid() != 0 or not shutil.which("mmdebstrap"):
        pytest.skip(NEEDS)
    folder = clients.cache_folder() / f"machine-{suite()}"
    made = folder.with_name(f"{folder.name}.made")
    wanted = f"{BASE},{','.join(sorted(packages))}"
    with clients.locked(folder.with_name(f"{folder.name}.lock")):
        if not made.exists() or made.read_text() != wanted:
            made.unlink(missing_ok=True)
            why = roots.make(suite(), folder, "--variant=minbase", f"--include={wanted}", leave_out=WITHOUT)
            if why:
                pytest.skip(why)
            made.write_text(wanted)
    return folder


class Root:
    """A copy of a root. Commands run in it with its own /proc, without which systemd-tmpfiles does nothing."""

    def __init__(self, kept, folder):
        self.folder = folder
        subprocess.run(["cp", "-a", "--reflink=auto", str(kept), str(folder)], check=True)

    def enter(self):
        return ["unshare", "--mount", "--pid", "--fork", f"--root={self.folder}", "--mount-proc"]

    def attempt(self, *words, **options):
        """Runs a command, of which the test looks at the end itself."""
        return subprocess.run([*self.enter(), *map(str, words)], capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False,
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
                              **options)

    def run(self, *words, **options):
        """Runs a command, which must succeed; returns its output."""
        done = self.attempt(*words, **options)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout.strip()

    def path(self, path):
        return self.folder / path.lstrip("/")

    def copy(self, path):
        """Copies a file into the root; returns its path there."""
        shutil.copy(path, self.folder / "root" / path.name)
        return f"/root/{path.name}"


class Machine(Root):
    """A booted root. Commands run in all its namespaces; outside() runs a program of this machine in its network."""

    def __init__(self, kept, folder):
        super().__init__(kept, folder)
        self.name = f"wheelcache-{os.getpid()}-{time.monotonic_ns() % 10**6}"
        alone = [] if pathlib.Path("/run/systemd/system").exists() else ["--keep-unit"]
        words = ["systemd-nspawn", f"--directory={folder}", f"--machine={self.name}", "--boot", "--register=no", "--private-network",
                 "--console=pipe", *alone]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.said = bytearray()
        self.reader = threading.Thread(target=lambda: self.said.extend(self.process.stdout.read()))
        self.reader.start()
        self.leader = None
        self._wait_for_boot()

    def _has_booted(self):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split()
        if not children or pathlib.Path(f"/proc/{children[0]}/comm").read_text(encoding="ascii") != "systemd\n":
            return False
        self.leader = children[0]
        return self.attempt("systemctl", "is-system-running").stdout.strip() in ("running", "degraded")

    def _wait_for_boot(self):
        end = time.monotonic() + BOOT_SECONDS
        while self.process.poll() is None and time.monotonic() < end:
            with contextlib.suppress(OSError):
                if self._has_booted():
                    return
            time.sleep(0.1)
        self.stop()
        why = self.said.decode(errors="replace").strip().splitlines() or ["without a word"]
        pytest.skip(f"systemd-nspawn cannot boot a root here: {why[-1]}")

    def enter(self):
        return ["nsenter", f"--target={self.leader}", "--all"]

    def outside(self):
        return ["nsenter", f"--target={self.leader}", "--net"]

    def journal(self, unit):
        return self.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()


@contextlib.contextmanager
def machine(kept, folder):
    """A booted copy; the test is skipped, with the reason, where it cannot boot."""
    if not shutil.which("systemd-nspawn"):
        pytest.skip(NEEDS_BOOT)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        made = Machine(kept, folder)
        stack.callback(made.stop)
        yield made


@contextlib.contextmanager
def root(kept, folder):
    """A copy for commands, without systemd."""
    try:
        yield Root(kept, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
