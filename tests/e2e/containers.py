# SPDX-License-Identifier: Apache-2.0
"""An image that buildah makes of etc/Containerfile, and containers of it: its root in namespaces of its own, without a
container engine, so that they run where podman may not set limits."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess

import pytest

import clients
import roots

NO_ARCHIVE = r"Failed to fetch|Could not resolve|Temporary failure resolving|Could not connect"
NEEDS = "images are built by root with buildah and run with unshare: ./test --nightly installs them"


class Image:
    """The root folder of an image, and its configuration."""

    def __init__(self, root, config):
        self.root, self.config = root, config


def _source(folder):
    """A folder with the sources, as a clone has them."""
    names = subprocess.run(["git", "-C", clients.ROOT, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=False)
    if names.returncode != 0:
        pytest.skip("the sources are not a clone of git")
    folder.mkdir()
    kept = b"\0".join(name for name in names.stdout.split(b"\0") if name and (clients.ROOT / os.fsdecode(name)).exists())
    packed = subprocess.run(["tar", "-C", clients.ROOT, "--null", "-T", "-", "-cf", "-"], input=kept, capture_output=True, check=True)
    subprocess.run(["tar", "-C", folder, "-xf", "-"], input=packed.stdout, check=True)
    return folder


@contextlib.contextmanager
def image(folder):
    """Builds the image on a root of Debian 12. The folder is new; afterwards nothing of buildah's is left in it."""
    if os.getuid() != 0 or not shutil.which("buildah") or not shutil.which("unshare"):
        pytest.skip(NEEDS)
    base, storage = roots.root("bookworm"), folder / "storage"

    def buildah(*arguments, timeout=900):
        done = subprocess.run(["buildah", "--root", storage, "--runroot", folder / "run", "--storage-driver", "vfs", *arguments],
                              capture_output=True, text=True, check=False, timeout=timeout)
        if done.returncode != 0 and re.search(NO_ARCHIVE, done.stdout + done.stderr):
            pytest.skip("the archive of Debian does not answer")
        assert done.returncode == 0, (arguments, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout.strip()

    try:
        empty = buildah("from", "scratch")
    except AssertionError as reason:
        pytest.skip(f"buildah cannot work here: {reason}")
    buildah("add", "-q", empty, str(base), "/")
    buildah("commit", "-q", "--rm", empty, "localhost/base")
    buildah("build", "-q", "--isolation", "chroot", "--pull-never", "--format", "docker", "--build-arg", "BASE=localhost/base",
            "--build-arg", "CFLAGS=-O0", "-f", "etc/Containerfile", "-t", "localhost/wheelcache", str(_source(folder / "source")))
    made = buildah("from", "--pull-never", "localhost/wheelcache")
    config = json.loads(buildah("inspect", made))["Docker"]["config"]
    root = folder / "image"
    shutil.copytree(buildah("mount", made), root, symlinks=True)
    buildah("umount", made)
    shutil.rmtree(storage)
    yield Image(root, config)
    shutil.rmtree(folder, ignore_errors=True)


# As container engines do: the root is read-only, the program is the first process of its namespace, has no privileges and
# no group but its own. The arguments are the root, user:group, the two volumes ("": none), and "ro" or "rw" for the first.
ENTER = """set -eu
root=$1 account=$2 store=$3 state=$4 mode=$5
shift 5
mount --bind "$root" "$root"
[ -z "$store" ] || { mount --bind "$store" "$root/srv/wheels" && mount -o "remount,bind,$mode" "$root/srv/wheels"; }
if [ -n "$state" ]; then mount --bind "$state" "$root/var/lib/wheelcache"
else mount -t tmpfs -o mode=1777 tmpfs "$root/var/lib/wheelcache"; fi
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot --userspec="$account" --groups= "$root" "$@"
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Container:
    """A running container of the image's command, with the port in place of 8080."""

    def __init__(self, made, account, store="", state="", mode="rw"):
        self.made, self.port, self.account, self.mounts = made, free_port(), account, (str(store), str(state), mode)
        self.url = f"http://127.0.0.1:{self.port}"
        command = [word.replace("0.0.0.0:8080", f"127.0.0.1:{self.port}") for word in made.config["Cmd"]]
        self.process = subprocess.Popen(self._words([*made.config["Entrypoint"], *command]), env=self._variables(),
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        assert first == f"{self.url}/\n", (first, self.process.stderr.read() if not first else "")

    def _words(self, command):
        return ["unshare", "--mount", "--pid", "--ipc", "--fork", "bash", "-c", ENTER, "enter", self.made.root,
                self.account, *self.mounts, *command]

    def _variables(self):
        return dict(line.split("=", 1) for line in self.made.config["Env"]) | {"PATH": os.environ["PATH"]}

    def run(self, *command):
        """Runs a command of the image with the same volumes, as `podman exec` does."""
        return subprocess.run(self._words(["/usr/bin/wheelcache", *command]), env=self._variables(), capture_output=True, text=True,
                              check=False, timeout=60)

    def probe(self):
        """Runs the health check of the image."""
        kind, program, *words = self.made.config["Healthcheck"]["Test"]
        assert (kind, program) == ("CMD", "wheelcache")
        return self.run(*words, self.url).returncode

    def child(self):
        """The process number, outside, of the first process in the container."""
        return int(subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=True).stdout)

    def terminate(self):
        """Sends the image's stop signal; returns the exit status."""
        os.kill(self.child(), getattr(signal, self.made.config["StopSignal"]))
        return self.process.wait(60)

    def kill(self):
        """The kernel kills all processes of the container with its first one."""
        if self.process.poll() is None:
            os.kill(self.child(), signal.SIGKILL)
        self.process.communicate()
