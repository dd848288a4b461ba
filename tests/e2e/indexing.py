# SPDX-License-Identifier: Apache-2.0
"""A store, its catalog, and the indexer."""
import contextlib
import json
import os
import pty
import sqlite3
import subprocess

import others
import serving
import storelib

PLATFORM = "debian-12-x86_64"


class Indexed:
    """A store in a folder, with the catalog beside it."""

    def __init__(self, folder):
        self.folder = folder
        self.store = folder / "store"
        self.catalog = folder / "state" / "catalog.db"
        self.store.mkdir()

    def command(self, *options, name="index"):
        store = [] if "--config" in options else [str(self.store)]
        return [name, "--catalog", str(self.catalog), *map(str, options), *store]

    def run(self, *options, **how):
        return serving.run(*self.command(*options), **how)

    def start(self, *options):
        return subprocess.Popen([serving.binary(), *self.command(*options)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def index(self, *options, code=0, **how):
        """The summary of a run that must end with this code."""
        done = self.run("--json", *options, **how)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def check(self, *options, code=0, **how):
        """The summary of a check that must end with this code."""
        done = serving.run(*self.command("--json", *options, name="check"), **how)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def wheel(self, path, name="six", version="1.0", **parts):
        """A wheel in a folder below the store."""
        return storelib.make_wheel(self.store / path, name, version, **parts)

    def query(self, sql):
        connection = sqlite3.connect(self.catalog)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def listed(self):
        """{platform/path: sha256} of all that is listed."""
        rows = self.query("SELECT p.name, d.path, f.filename, hex(f.sha256) FROM file f JOIN folder d"
                          " ON d.id = f.folder JOIN platform p ON p.id = f.platform WHERE f.state = 0")
        return {"/".join(filter(None, row[:3])): row[3].lower() for row in rows}

    def names(self):
        return sorted(path.rsplit("/", 1)[-1] for path in self.listed())

    def facts(self):
        """All that a page could show."""
        return self.query("SELECT p.name, p.projects, p.files, p.bytes, j.name, j.files, j.bytes, f.filename, f.size,"
                          " f.mtime_ns, f.sha256, f.version, f.version_key, f.requires_python, m.packed, m.uses FROM file f"
                          " JOIN platform p ON p.id = f.platform JOIN project j ON j.id = f.project"
                          " LEFT JOIN metadata m ON m.sha256 = f.metadata_sha256 WHERE f.state = 0"
                          " ORDER BY p.name, f.filename")


@contextlib.contextmanager
def open_store():
    """A store that other users may enter, and a program that they may run, for tests that drop root."""
    with others.open_program(), others.open_folder() as folder:
        at = Indexed(folder)
        at.catalog.parent.mkdir()
        os.chmod(at.catalog.parent, 0o777)
        yield at
        for path, _, _ in os.walk(folder):
            os.chmod(path, 0o755)


def one_line(done, code, *parts):
    assert done.returncode == code
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert str(part) in done.stderr


def on_terminal(command, **options):
    """What a command, which must exit with 0, writes to a terminal on its standard error."""
    ours, theirs = pty.openpty()
    running = subprocess.Popen([serving.binary(), *command], stdout=subprocess.DEVNULL, stderr=theirs, **options)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # EIO: the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    assert running.wait(timeout=120) == 0
    return text


def numbers(summary, **expected):
    """The named numbers of a summary."""
    assert {key: summary[key] for key in expected} == expected, summary


def age(path, seconds=storelib.OLD):
    """Sets the mtime of a folder and all in it. The mtime of folders has a fraction, as on a disk, because the scan does not
    trust whole seconds."""
    for folder, _, files in os.walk(path, topdown=False):
        for name in files:
            os.utime(os.path.join(folder, name), (seconds, seconds), follow_symlinks=False)
        os.utime(folder, (seconds + 0.5, seconds + 0.5))
