# SPDX-License-Identifier: Apache-2.0
"""The recorded store, with the recorded pages as its upstream, for tests of pruning."""
import collections
import copy
import json
import shutil
import subprocess
import sys

import recorded
import serving

Opinion = collections.namedtuple("Opinion", "platform path source verdict pythons evidence")


def opinions(shared):
    """The verdict of the reference for each entry of the store, by its path."""
    rows = recorded.table(shared / "corpus" / "verdicts.tsv")
    return {row[1]: Opinion(*row[:4], row[4].split(), row[5]) for row in rows}


def lay_out(shared, folder, *options):
    """Hard links, where possible: no test may write into the wheels."""
    make = [sys.executable, str(shared / "corpus" / "make-store.py"), str(folder), *options]
    if subprocess.run([*make, "--link"], capture_output=True, check=False).returncode != 0:
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)


def sections(shared, **section):
    """A configuration: section by section, then the recorded platforms with their profiles."""
    text = "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()) for name, keys in section.items())
    for place in recorded.platforms(shared).values():
        text += (f"[platform {place.name}]\npythons = {' '.join(place.pythons)}\narch = {place.arch}\n"
                 f"libc = {place.libc} {place.libc_version}\n")
    return text


class CorpusStore:
    """The store in a folder, indexed. options: of make-store.py."""

    def __init__(self, shared, folder, url, *options):
        self.shared, self.store = shared, folder / "store"
        lay_out(shared, self.store, *options)
        self._place(folder)
        self.configure(url)
        self.run("index", code=0)

    def _place(self, folder):
        self.catalog, self.plan_file, self.config = folder / "catalog.db", folder / "plan.json", folder / "wheelcache.conf"

    def with_own_catalog(self, folder):
        """The same store with a copy of its catalog."""
        other = copy.copy(self)
        other._place(folder)
        shutil.copy(self.catalog, other.catalog)
        return other

    def configure(self, url, prune=None, **upstream):
        """prune, upstream: keys of these sections. By default no file is too young."""
        self.config.write_text(sections(
            self.shared, store={"path": self.store}, catalog={"path": self.catalog},
            upstream={"url": url} | {key.replace("_", "-"): value for key, value in upstream.items()},
            prune={"min-age": 0, "upstream-min-age": 0, "grace": 0, "clients-have-upstream": "yes"} | (prune or {})))

    def run(self, *command, code=None):
        done = serving.run(*command, "--config", self.config)
        assert code is None or done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def plan(self, *options, code=0):
        """The plan as it is in its file, and what was said on the way."""
        done = self.run("prune", "plan", "-o", self.plan_file, *options, code=code)
        return json.loads(self.plan_file.read_text()), done.stdout + done.stderr

    def apply(self, *options):
        return self.run("prune", "apply", "--max-files=100%", "--max-bytes=100%", *options, self.plan_file, code=0)

    def wheels(self):
        """The paths of the wheels that are still there."""
        return {str(path.relative_to(self.store)) for path in self.store.glob("*/*/*/*.whl")}


def removed(plan):
    """The entries that it removes, by their path in the store."""
    return {f"{one['platform']}/{one['path']}": one for one in plan["files"] if one["removes"]}
