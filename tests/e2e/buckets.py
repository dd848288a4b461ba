# SPDX-License-Identifier: Apache-2.0
"""Stores in buckets: the small S3 of the tests, and versitygw, whose buckets are folders, where it is."""
import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request

import serving
import small_s3

PACKED = pathlib.Path(__file__).resolve().parents[2] / "../shared/engines/versitygw.xz"
KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


class Bucket:
    """The bucket "wheels" of an engine."""

    name = "wheels"

    def __init__(self, url):
        self.url = url

    @property
    def address(self):
        return f"s3://{self.name}/the/store"

    def config(self, more="", place=""):
        return (f"[store]\npath = {self.address}\n[place s3://{self.name}]\nendpoint = {self.url}\n{place}\n"
                f"[server]\nrescan = 1\n[upload]\naudit = off\n{more}")


class Small(Bucket):
    """Of the small S3, in this process."""

    def __init__(self, *options):
        self.server = small_s3.new_server(options)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        super().__init__(f"http://127.0.0.1:{self.server.server_port}")
        self.store = self.server.store

    def stop(self):
        self.store.is_closed = True  # also for connections that are open
        self.server.shutdown()
        self.server.server_close()

    def put_tree(self, folder):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                thing = small_s3.Thing(path.read_bytes(), [])
                thing.time = path.stat().st_mtime
                self.store.things[self.name, f"the/store/{path.relative_to(folder)}"] = thing

    def keys(self):
        return sorted(key.removeprefix("the/store/") for _, key in list(self.store.things))

    def requests(self):
        with self.store.lock:
            seen, self.store.requests = self.store.requests, []
        return seen


class Gateway(Bucket):
    """Of versitygw, which has a folder as its bucket."""

    def __init__(self, program, folder):
        self.folder = folder / "buckets"
        self.tree = self.folder / self.name / "the/store"
        self.tree.mkdir(parents=True)
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as free:
            port = free.getsockname()[1]
        super().__init__(f"http://127.0.0.1:{port}")
        self.process = subprocess.Popen(
            [program, "--port", f"127.0.0.1:{port}", "posix", str(self.folder)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "ROOT_ACCESS_KEY": "test", "ROOT_SECRET_KEY": "secret"})
        serving.wait_for(self.is_up, 60, "versitygw")

    def is_up(self):
        try:
            urllib.request.urlopen(self.url, timeout=5)
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def put_tree(self, folder):
        shutil.copytree(folder, self.tree, dirs_exist_ok=True)

    def keys(self):
        return sorted(str(path.relative_to(self.tree)) for path in self.tree.rglob("*") if path.is_file())


def versitygw():
    """The program; None where it is not."""
    if os.environ.get("VERSITYGW"):
        return os.environ["VERSITYGW"]
    if not PACKED.exists():
        return None
    program = pathlib.Path(tempfile.gettempdir(), f"wheelcache-versitygw-{os.getuid()}")
    if not program.exists():
        mine = program.with_suffix(f".{os.getpid()}-{time.monotonic_ns()}")
        mine.write_bytes(subprocess.run(["xz", "-dc", PACKED], check=True, capture_output=True).stdout)
        mine.chmod(0o755)
        mine.rename(program)
    return str(program)
