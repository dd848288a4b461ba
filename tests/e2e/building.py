# SPDX-License-Identifier: Apache-2.0
"""A small world to build in: an upstream index with sdists, a store, a configuration whose build command is a script
that writes a wheel, and `wheelcache build` on it."""
import contextlib
import hashlib
import http.server
import io
import json
import os
import subprocess
import tarfile
import threading

import serving

PLATFORM = "debian-12-x86_64"
PYTHONS = ["3.11", "3.12", "3.13"]

# Writes a wheel as plan.json says for the project, and notes each run: build command of the configuration.
MAKE_WHEEL = r'''
import base64, hashlib, json, pathlib, signal, sys, time, zipfile
here = pathlib.Path(__file__).parent
name, version, python, out = sys.argv[1:5]
plan = json.loads((here / "plan.json").read_text()).get(name, {})
with open(here / "runs", "a") as runs:
    runs.write(f"{name} {python}\n")
print("makes", name, flush=True)
sys.stdout.buffer.write(b"a\0\xff\n" * plan.get("prints", 0))
sys.stdout.flush()
while (here / "hold").exists() and plan.get("holds", True):
    time.sleep(0.05)
time.sleep(plan.get("seconds", 0))
if python in plan.get("fails", ()) or "needs" in plan and not list(pathlib.Path(plan["store"]).rglob(plan["needs"])):
    sys.exit(3)
cp = "cp" + python.replace(".", "")
tag = plan.get("tag", f"{cp}-{cp}-linux_x86_64")
info = f"{name.replace('-', '_')}-{version}.dist-info"
requires = f"Requires-Python: {plan['requires']}\n" if "requires" in plan else ""
files = {f"{name.replace('-', '_')}.py": python.encode() if plan.get("differs") else b"", f"{info}/METADATA":
         f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}".encode(), f"{info}/WHEEL":
         f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()}
digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data in files.items())
files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
with zipfile.ZipFile(f"{out}/{name.replace('-', '_')}-{version}-{tag}.whl", "w") as wheel:
    for path, data in files.items():
        wheel.writestr(path, data)
'''


def sdist(name, version, files=None):
    """The bytes of an sdist with these files (name: text) and PKG-INFO."""
    out = io.BytesIO()
    files = {"PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", **(files or {})}
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, text in files.items():
            data = text.encode()
            member = tarfile.TarInfo(f"{name.replace('-', '_')}-{version}/{path}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


class Index:
    """An upstream index of sdists and wheels."""

    def __init__(self):
        self.files = {}  # project: {filename: bytes}
        self.is_file_host_away = False
        index = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_GET(self):
                path = self.path.strip("/").split("/")
                is_away = index.is_file_host_away and path[0] == "files"
                body = None if is_away else index.answer(path)
                self.send_response(503 if is_away else 404 if body is None else 200)
                self.send_header("Content-Type", "application/vnd.pypi.simple.v1+json")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def answer(self, path):
        if path[0] == "files":
            return self.files[path[1]][path[2]]
        if path[-1] not in self.files:
            return None
        project = path[-1]
        files = [{"filename": name, "url": f"../../files/{project}/{name}", "size": len(data),
                  "upload-time": "2020-01-02T03:04:05Z", "hashes": {"sha256": hashlib.sha256(data).hexdigest()}}
                 for name, data in self.files[project].items()]
        return json.dumps({"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": files}).encode()

    def add(self, project, version="1.0", files=None):
        name = f"{project.replace('-', '_')}-{version}.tar.gz"
        self.files.setdefault(project, {})[name] = sdist(project, version, files)

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class World:
    """plan: what the build command does with each project: tag, requires (Python), fails (Pythons), seconds, differs
    (by Python), needs (a glob of a wheel that must be in the folder `store`)."""

    def __init__(self, folder, index):
        self.folder, self.index, self.plan = folder, index, {}
        self.store = folder / "store"
        self.catalog = folder / "catalog.db"
        self.config_path = folder / "wheelcache.conf"
        self.keys = {"store": {"path": self.store}, "catalog": {"path": self.catalog},
                     "upstream": {"url": index.url, "allow-private": "yes", "retries": 0, "max-age": 0},
                     "build": {"build": f"/usr/bin/python3 {folder}/make_wheel.py %n %r %v %o", "test": "none",
                               "jobs": 1},
                     "branch main": {"constraints": folder / "constraints.txt"},
                     f"platform {PLATFORM}": {"pythons": " ".join(PYTHONS)}}
        self.env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        (folder / "bin").mkdir()
        for python in PYTHONS:  # all are the one that every machine has: no test needs more
            path = folder / "bin" / f"python{python}"
            path.write_text('#!/bin/sh\nexec /usr/bin/python3 "$@"\n')
            path.chmod(0o755)
        (self.store / PLATFORM).mkdir(parents=True)
        (folder / "make_wheel.py").write_text(MAKE_WHEEL)
        (folder / "constraints.txt").write_text("")

    def want(self, *projects, version="1.0", files=None, **plan):
        """Adds sdists with these files to the index, and pins to the branch."""
        with open(self.folder / "constraints.txt", "a", encoding="utf-8") as out:
            for project in projects:
                self.index.add(project, version, files)
                out.write(f"{project}==={version}\n")
                if plan:
                    self.plan[project] = plan

    def config(self):
        lines = []
        for section, keys in self.keys.items():
            lines += [f"[{section}]", *(f"{key} = {value}" for key, value in keys.items())]
        return "\n".join(lines) + "\n"

    def write(self):
        (self.folder / "plan.json").write_text(json.dumps(self.plan))
        self.config_path.write_text(self.config())
        if "store" in self.keys and not self.catalog.exists():
            done = serving.run("index", "--config", self.config_path, "--quiet")
            assert done.returncode == 0, done.stderr

    def command(self, *options, platform=PLATFORM):
        self.write()
        if not self.catalog.exists():
            serving.run("index", "--quiet", "--config", self.config_path)
        return [serving.binary(), "build", "--config", str(self.config_path), "--platform", platform,
                *map(str, options)]

    def build(self, *options, code=0, env=None, timeout=120, **keys):
        """Runs a build to its end; returns its report."""
        done = subprocess.run(self.command("--json", *options, **keys), capture_output=True, text=True, timeout=timeout,
                              check=False, env={**self.env, **(env or {})})
        assert not serving.SANITIZER_REPORT.search(done.stderr), done.stderr
        assert done.returncode == code, (done.returncode, done.stderr, done.stdout)
        self.errors = done.stderr
        return json.loads(done.stdout) if done.stdout else None

    @contextlib.contextmanager
    def running(self, *options, env=None):
        """A build that runs; it is killed at the end."""
        with open(self.folder / "stderr.txt", "ab") as errors, \
                open(self.folder / "stdout.txt", "wb") as out:
            process = subprocess.Popen(self.command("--json", *options), stdout=out, stderr=errors,
                                       env={**self.env, **(env or {})})
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()

    def runs(self):
        """The runs of the build command so far, as "NAME PYTHON"."""
        path = self.folder / "runs"
        return path.read_text().splitlines() if path.exists() else []

    def wheels(self, platform=PLATFORM):
        return sorted(path.name for path in (self.store / platform).rglob("*.whl"))


class Builder(World):
    """A builder that has no store, and feeds a server of a world. It has the index and the plan of that world."""

    def __init__(self, folder, fed, server, token):
        super().__init__(folder, fed.index)
        self.plan, self.server, self.token = fed.plan, server, token
        self.keys = {"build": {**self.keys["build"], "results": folder / "results"}, "upstream": self.keys["upstream"]}

    def command(self, *options, platform=PLATFORM):
        return super().command("--from", self.server.url, *options, platform=platform)

    def build(self, *options, code=0, env=None, timeout=120, **keys):
        return super().build(*options, code=code, env={"WHEELCACHE_TOKEN": self.token, **(env or {})}, **keys)


def serve(fed):
    """A server of the world's store and branches, which has looked at upstream."""
    fed.write()
    looked = serving.run("missing", "--config", fed.config_path, "--quiet")
    assert looked.returncode == 0, looked.stderr
    server = serving.Server(None, fed.folder, config=fed.config())
    serving.wait_for(lambda: server.get("/-/ready").status == 200, 30, "the first scan")
    return server


def states(report):
    """{"NAME PYTHON": state} of a report."""
    return {f"{row['project']} {row['python']}": row["state"] for row in report["rows"]}


@contextlib.contextmanager
def world(folder):
    index = Index()
    try:
        yield World(folder, index)
    finally:
        index.stop()
