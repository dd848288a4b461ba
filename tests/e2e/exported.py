# SPDX-License-Identifier: Apache-2.0
"""A store with its static export, and what clients ask for."""
import contextlib
import io
import tarfile

import others
import storelib
from indexing import Indexed, age

FIRST, SECOND = "debian-12-x86_64", "ubuntu-22.04-x86_64"
VIEWS = f"[view both]\nplatforms = {SECOND} {FIRST}\n"

SIMPLE = "application/vnd.pypi.simple"
PIP = f"{SIMPLE}.v1+json, {SIMPLE}.v1+html; q=0.1, text/html; q=0.01"


def headers(accept, coding, agent=None):
    pairs = {"Accept": accept, "Accept-Encoding": coding, "User-Agent": agent}
    return {name: value for name, value in pairs.items() if value is not None}


def sdist(folder, name, version):
    path = folder / f"{name}-{version}.tar.gz"
    data = storelib.metadata_bytes(name, version, ">=3.6")
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo(f"{name}-{version}/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))


def fill(at):
    """Wheels in each layout; two platforms with a file of the same name; names that must be escaped."""
    at.wheel(f"{FIRST}/f/foo", name="foo", requires=["bar"], requires_python=">=3.8,<4")
    at.wheel(f"{FIRST}/f/foo", name="foo", version="1.1+local.1", requires=["bar"])
    at.wheel(f"{FIRST}/bar", name="bar", version="2.0")
    at.wheel(FIRST, name="flat.Name")
    at.wheel(FIRST, name="large", size=300_000)
    sdist(at.store / FIRST, "bar", "1.0")
    at.wheel(f"{SECOND}/foo", name="foo", requires=["bar", "large"])
    at.wheel(SECOND, name="other")
    age(at.store)


class Exported(Indexed):
    """A store and its static export, in folders that the user of a web server may enter."""

    def __init__(self, folder):
        super().__init__(folder)
        self.tree = folder / "tree"
        for platform in (FIRST, SECOND):
            (self.store / platform).mkdir()
        self.config = folder / "wheelcache.conf"
        self.config.write_text(f"[store]\npath = {self.store}\n{VIEWS}")

    def export(self, *options, code=0, **how):
        """The summary of a run; its numbers begin with "export_"."""
        return self.index("--config", self.config, "--static", self.tree, *options, code=code, **how)

    def fails(self, *options, code=1, tree=None, **how):
        """The one line of a run that fails."""
        done = self.run("--quiet", "--config", self.config, "--static", tree or self.tree, *options, **how)
        assert (done.returncode, done.stderr.count("\n")) == (code, 1), done.stderr
        return done.stderr


@contextlib.contextmanager
def made():
    with others.open_program(), others.open_folder() as folder:
        yield Exported(folder)
