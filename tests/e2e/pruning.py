# SPDX-License-Identifier: Apache-2.0
"""A store, an upstream with a few generated files, and the commands that prune."""
import json

import indexing
import serving
import storelib
import uploading

PLATFORM = "ubuntu-22.04-x86_64"


def name(version, project="six"):
    return f"{project}-{version}-py3-none-any.whl"


class Pruned(indexing.Indexed):
    """Each platform has so many wheels of six, and upstream has the first `covered` of them. The caps are half of a platform."""

    def __init__(self, folder, upstream, covered=4, wheels=10, platforms=(PLATFORM,), state=None):
        super().__init__(folder)
        if state:
            self.catalog = state / "catalog.db"
        self.upstream, self.covered = upstream, [name(f"1.{minor}") for minor in range(covered)]
        self.plan_path, self.config = folder / "plan.json", folder / "wheelcache.conf"
        self.packages = folder / "packages.list"
        self.packages.write_text("other because it is wanted\n")
        self.configure()
        self.bytes = {}
        for platform in platforms:
            for minor in range(wheels):
                wheel = storelib.make_wheel(self.folder_of(platform), "six", f"1.{minor}")
                self.bytes[wheel.name] = wheel.path.read_bytes()
                if minor < covered:
                    upstream.add("six", wheel.name, sha256=wheel.sha256)
        self.tool("index", "--quiet")

    def configure(self, more="", caps="50%", min_age="0", clients="yes"):
        self.config.write_text(
            f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[upstream]\nurl = {self.upstream.url}\n"
            f"retries = 0\n[prune]\npackages = {self.packages}\nmin-age = {min_age}\nupstream-min-age = 0\n"
            f"max-files = {caps}\nmax-bytes = {caps}\nclients-have-upstream = {clients}\n{more}")

    def folder_of(self, platform=PLATFORM):
        return self.store / platform / "s" / "six"

    def path(self, filename, platform=PLATFORM):
        return self.folder_of(platform) / filename

    def mark(self, filename, platform=PLATFORM):
        return self.path(f"{filename}.pruned", platform)

    def unlisted(self, platform=PLATFORM):
        """The files that have a tombstone."""
        return sorted(path.name.removesuffix(".pruned") for path in self.folder_of(platform).glob("*.pruned"))

    def there(self, platform=PLATFORM):
        """The files whose bytes are there and complete."""
        found = sorted(path.name for path in self.folder_of(platform).glob("*.whl"))
        assert all(self.path(one, platform).read_bytes() == self.bytes[one] for one in found)
        return found

    def shown(self, platform=PLATFORM):
        """What the catalog lists."""
        return sorted(path.rpartition("/")[2] for path in self.listed() if path.startswith(f"{platform}/"))

    def tool(self, *words, code=0, **how):
        done = serving.run(*words, "--config", self.config, **how)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def plan(self, *options):
        self.tool("prune", "plan", "--quiet", "--output", self.plan_path, *options)
        return json.loads(self.plan_path.read_text())

    def apply(self, *options, code=0):
        return self.tool("prune", "apply", *options, self.plan_path, code=code)

    def purge(self, *options, code=0):
        return self.tool("prune", "purge", "--grace", "0", *options, code=code)

    def restore(self, *options, code=0):
        return self.tool("prune", "restore", *options, code=code)

    def retire(self, *options, code=0, platform=PLATFORM):
        return self.tool("platform", "retire", "--reason", "no machines", *options, platform, code=code)

    def tombstone(self, filename, platform=PLATFORM):
        return json.loads(self.mark(filename, platform).read_text())

    def audit(self):
        """What was done to what, of each line."""
        return [(one["action"], one.get("file"), one["result"]) for one in uploading.audit(self)]
