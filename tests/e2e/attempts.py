# SPDX-License-Identifier: Apache-2.0
"""An index of attempts to build wheels, made without wheelcache; its rows have no files. schema 1: as the first release made
it."""
import contextlib
import pathlib
import sqlite3
import struct
import time

SCHEMA = pathlib.Path(__file__).with_name("results-schema-1.sql")
SECOND = """ALTER TABLE attempt ADD COLUMN packed INTEGER NOT NULL DEFAULT -1;
ALTER TABLE state ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE state ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
CREATE TRIGGER attempt_packed AFTER UPDATE OF packed ON attempt BEGIN
  UPDATE state SET bytes = bytes + max(new.packed, 0) - max(old.packed, 0); END;
CREATE TRIGGER attempt_removed AFTER DELETE ON attempt BEGIN UPDATE state SET bytes = bytes - max(old.packed, 0); END;"""
APPLICATION_ID = 0x77627264
BLOCK = 128 << 10  # the largest of zstd
NEITHER = ("running", "interrupted")


def packed(log):
    """A zstd frame of raw blocks (RFC 8878)."""
    blocks = [log[begin:begin + BLOCK] for begin in range(0, len(log), BLOCK)] or [b""]
    return (bytes.fromhex("28b52ffda0") + struct.pack("<I", len(log))
            + b"".join(struct.pack("<I", len(one) << 3 | (number == len(blocks)))[:3] + one for number, one in enumerate(blocks, 1)))


class Attempts:
    """The file of a path, which is created."""

    def __init__(self, path, schema=2):
        self.path, self.count = path, 0
        path.parent.mkdir(parents=True, exist_ok=True)
        with self.open() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(SCHEMA.read_text(encoding="utf-8"))
            if schema > 1:
                connection.executescript(SECOND)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {schema}")

    @contextlib.contextmanager
    def open(self):
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection

    def add(self, project, result="ok", log=None, **values):
        """The id of a new attempt, which began so many seconds ago (default: 60)."""
        self.count += 1
        row = {"key": f"{self.count:08x}" * 4, "platform": "debian-12-x86_64", "python": "3.11", "project": project,
               "version": "1.0", "result": result, "step": "push" if result == "ok" else "build",
               "kind": 0 if result in NEITHER else 1 if result == "ok" else 2,
               "why": "" if result == "ok" else "gcc ended with 1", "begun": int(time.time()) - values.pop("ago", 60),
               "milliseconds": 1500, "peak_memory": 0, "files": "", "sdist": "", "awaiting": "", "recipe": "",
               "builder": "host", "provenance": "{}", "sent": 1, **values}
        names = ", ".join(row)
        with self.open() as connection:
            done = connection.execute(f"INSERT INTO attempt ({names}) VALUES ({', '.join('?' * len(row))})",
                                      list(row.values()))
            if log is not None:
                connection.execute("INSERT INTO log VALUES (?, ?)", [done.lastrowid, packed(log)])
        return row["key"]

    def rows(self, sql):
        with self.open() as connection:
            return connection.execute(sql).fetchall()
