# SPDX-License-Identifier: Apache-2.0
"""A store with views that have memberships, records of test runs, and the commands that promote."""
import datetime
import hashlib
import json

import indexing
import serving
import storelib

X86, ARM = "ubuntu-22.04-x86_64", "debian-12-aarch64"
KINDS = "integration unit"
CELLS = ((X86, "3.10"), (X86, "3.12"), (ARM, "3.12"))
NATIVE = {X86: "cp312-cp312-manylinux_2_17_x86_64", ARM: "cp312-cp312-manylinux_2_17_aarch64"}


class Promoted(indexing.Indexed):
    """staging has all files of both platforms; tested requires KINDS in CELLS; released has its files from tested."""

    def __init__(self, folder, requires=KINDS):
        super().__init__(folder)
        self.config, self.records = folder / "wheelcache.conf", 0
        cells = "\n    ".join(f"{platform}/{python}" for platform, python in CELLS)
        more = f"requires = {requires}\ncells = {cells}\n" if requires else ""
        self.config.write_text(
            f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n"
            f"[platform {X86}]\npythons = 3.10 3.12\n[platform {ARM}]\npythons = 3.12\n"
            f"[view staging]\nplatforms = {X86} {ARM}\n[view tested]\nfrom = staging\n{more}[view released]\nfrom = tested\n")
        for platform in (X86, ARM):
            (self.store / platform).mkdir(parents=True, exist_ok=True)

    def add(self, project="six", version="1.0", tag="py3-none-any", platform=X86, **parts):
        return storelib.make_wheel(self.store / platform / project[0] / project, project, version, tag, **parts)

    def index(self):
        self.tool("index", "--quiet")

    def tool(self, *words, status=0, **more):
        """Runs a command with the configuration."""
        command = (words[0], words[1]) if words[0] == "view" else words[:1]
        done = serving.run(*command, "--config", self.config, *words[len(command):], **more)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done

    def ask(self, *words, status=0):
        return json.loads(self.tool(*words, "--json", status=status).stdout)

    def promote(self, *words, status=0, to="tested"):
        return self.ask("promote", "--to", to, *words, status=status)

    def results(self, *words, status=0, to="tested"):
        """{file name: result} of a promotion."""
        return {one["filename"]: one["result"] for one in self.promote(*words, status=status, to=to)["files"]}

    def members(self, view="tested", at=None):
        shown = self.ask("view", "show", *(["--at", str(at)] if at is not None else []), view)
        return sorted(one["filename"] for one in shown["files"] if one["listed"])

    def record(self, wheels, kind="unit", cell=CELLS[0], *, passed=7, failed=0, skipped=0, made=None):
        """Writes a record of a test run. Returns its path."""
        self.records += 1
        made = made or datetime.datetime.now(datetime.timezone.utc)
        path = self.folder / f"{self.records}.json"
        path.write_text(json.dumps({
            "kind": kind, "platform": cell[0], "python": cell[1], "made": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "passed": passed, "failed": failed, "skipped": skipped, "failures": [],
            "wheels": [{"filename": one.path.name, "sha256": hashlib.sha256(one.path.read_bytes()).hexdigest()}
                       for one in wheels]}))
        return path

    def green(self, wheels, cells=CELLS, kinds=KINDS):
        return [self.record(wheels, kind, cell) for kind in kinds.split() for cell in cells]
