# SPDX-License-Identifier: Apache-2.0
"""A store, an upstream, and branches whose requirements have each status that needs no earlier build."""
import functools
import json

import indexing
import serving

JAMMY, BOOKWORM = "ubuntu-22.04-x86_64", "debian-12-x86_64"
REQUIREMENTS = """\
# what master needs
ours-native==1.0
stable-abi==1.0
removed==1.0
listed-as-skipped==1.0
theirs==1.0
flaky==1.0
nowhere==1.0
too-new==1.0
pulled
plain==2.0
native==1.0 ; python_version >= '3.11' \\
    or sys_platform == 'win32'
newer-libc==1.0
gone==1.0; python_version < '3.4'
"""
STATUSES = ["not-wanted", "here", "unpromoted", "skipped", "upstream", "cooling", "unknown", "impossible", "pure",
            "awaiting", "failed", "missing"]
LISTED = {"missing", "failed", "awaiting", "unknown", "impossible"}
# By project: the status on Python 3.10 and 3.12, and a part of the reason on 3.12.
EXPECTED = {
    "ours-native": ("here", "missing", "cp310"),
    "stable-abi": ("here", "here", "stable_abi-1.0"),
    "removed": ("skipped", "skipped", "it crashes"),
    "listed-as-skipped": ("skipped", "skipped", "no use here"),
    "theirs": ("upstream", "upstream", "theirs-1.0"),
    "flaky": ("unknown", "unknown", "500"),
    "nowhere": ("impossible", "impossible", ""),
    "too-new": ("impossible", "impossible", ">=3.13"),
    "pulled": ("impossible", "impossible", "yanked"),
    "plain": ("pure", "pure", "pure"),
    "native": ("not-wanted", "missing", ""),
    "newer-libc": ("missing", "missing", "2.39"),
    "gone": ("not-wanted", "not-wanted", ""),
}


def expected(status):
    """The (Python, project) pairs of a platform that have this status."""
    return {(python, project) for project, row in EXPECTED.items()
            for python, one in zip(("3.10", "3.12"), row) if one == status}


class Wanted(indexing.Indexed):
    """A branch master for both platforms, one that is over, and one for Debian and Python 3.12."""

    def __init__(self, folder, upstream):
        super().__init__(folder)
        self.upstream, self.config = upstream, folder / "wheelcache.conf"
        self.catalog.parent.mkdir(exist_ok=True)
        self.requirements = folder / "master.txt"
        self.requirements.write_text(REQUIREMENTS)
        (folder / "old.txt").write_text("old==1\n")
        (folder / "skip.list").write_text("listed-as-skipped no use here\n")
        self.configure()
        self.fill_store()
        self.fill_upstream()
        self.tool("index", "--quiet")

    def configure(self, more="", branches=None):
        if branches is None:
            branches = (f"[branch master]\nrequirements = {self.requirements}\n"
                        f"[branch old]\nrequirements = {self.folder}/old.txt\nuntil = 2020-01-31\n"
                        f"[branch stable]\nconstraints = {self.requirements}\nplatforms = debian-*\npythons = 3.12\n")
        self.config.write_text(
            f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[index]\nsettle = 0\n"
            f"[upstream]\nurl = {self.upstream.url}\nretries = 0\n[build]\nskip = {self.folder}/skip.list\n"
            f"[platform {JAMMY}]\npythons = 3.10 3.12\n[platform {BOOKWORM}]\npythons = 3.10 3.12\n{branches}{more}")

    def fill_store(self):
        for platform in (JAMMY, BOOKWORM):
            self.wheel(f"{platform}/o/ours-native", "ours_native", "1.0", tag="cp310-cp310-linux_x86_64")
            self.wheel(f"{platform}/s/stable-abi", "stable_abi", "1.0", tag="cp39-abi3-manylinux_2_17_x86_64")
            gone = self.wheel(f"{platform}/r/removed", "removed", "1.0", tag="cp39-abi3-linux_x86_64")
            gone.path.with_name(f"{gone.name}.pruned").write_text(json.dumps({"reason": "it crashes"}) + "\n")

    def fill_upstream(self):
        add = self.upstream.add
        for project in ("ours-native", "removed", "listed-as-skipped", "native", "newer-libc"):
            add(project, f"{project.replace('-', '_')}-1.0.tar.gz", sha256="ab" * 32)
        add("theirs", "theirs-1.0-py3-none-any.whl")
        add("too-new", "too_new-1.0.tar.gz", requires_python=">=3.13")
        add("pulled", "pulled-1.0.tar.gz", yanked="broken")
        add("plain", "plain-2.0.tar.gz")
        add("plain", "plain-1.0-py3-none-any.whl")
        add("newer-libc", "newer_libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl")
        add("newer-libc", "newer_libc-1.0-cp312-cp312-manylinux_2_39_x86_64.whl")
        answer = self.upstream.answer
        self.upstream.answer = lambda path: (500, b"") if "flaky" in path else answer(path)

    def keep_answers(self):
        """For a site that does not change: each command line is run once."""
        self.tool = functools.cache(self.tool)
        return self

    def tool(self, *words, code=0):
        done = serving.run(*words, "--config", self.config)
        assert done.returncode == code, f"{done.returncode}: {done.stdout}{done.stderr}"
        return done

    def missing(self, *words, code=0):
        return self.tool("missing", *words, code=code).stdout

    def rows(self, *words):
        return json.loads(self.missing("--format", "json", *words))["rows"]


def group(rows):
    """What is to be built: "project==version" by platform and Python, in their order."""
    groups = {}
    for row in rows:
        if row["status"] == "missing":
            groups.setdefault((row["platform"], row["python"]), []).append(f"{row['project']}=={row['version']}")
    return groups
