# SPDX-License-Identifier: Apache-2.0
"""What resolvers take through wheelcache and others, and from their upstream itself: pip install --dry-run through a server
that has nothing cached, and uv lock --upgrade through one that has everything. Of each project there is the page, and the
wheel of its newest version."""
import contextlib
import dataclasses
import json
import subprocess
import sys
import time

import clients  # of tests/e2e, which shape knows
import load
import merging
import origin
import proxies
import server
import table

storelib = merging.shape.storelib
FILES = (30, 100, 300, 1_000)  # of a project, in turn
ROOTS, CHILDREN = 8, 3         # one project in ROOTS is asked for; each requires up to CHILDREN others
DIRECT = "direct"
RIVALS = (DIRECT, "nginx", "pypiron")


@dataclasses.dataclass
class Resolver:
    """A client with so many projects, whose names begin with its own."""
    client: str
    requirements: str
    projects: int
    is_warm: bool
    words: str

    @property
    def text(self):
        return f"{self.words} of {self.projects}, {'warm' if self.is_warm else 'cold'}"

    def names(self):
        return [f"{self.client}-{i}" for i in range(self.projects)]

    def roots(self):
        return self.names()[:self.projects // ROOTS]

    def run(self, url, folder):
        """Seconds."""
        done = folder / f"{self.client}.done"
        project = folder / "project"
        program = clients.environment(self.requirements) / "bin" / self.client
        begin = time.monotonic()
        if self.client == "pip":
            command = [program, "install", "-q", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--report", done,
                       *clients.pip_index(url), *self.roots()]
        else:
            project.mkdir(exist_ok=True)
            (project / "pyproject.toml").write_text('[project]\nname = "locked"\nversion = "1"\nrequires-python = ">=3.11"\n'
                                                    f"dependencies = {json.dumps(self.roots())}\n")
            command = [program, "lock", "-q", "--upgrade", "--no-cache", "--python", sys.executable, "--default-index", url]
        ran = subprocess.run(server.pinned(load.CORE, *command), cwd=project if project.exists() else folder,
                             env=clients.clean_environment(folder, TMPDIR=str(folder)), capture_output=True, text=True,
                             check=False)
        seconds = time.monotonic() - begin
        if ran.returncode != 0 or self.count(done, project) != self.projects:
            raise RuntimeError(f"{self.text} from {url}: {ran.stdout[-2000:]} {ran.stderr[-2000:]}")
        return seconds

    def count(self, report, project):
        """How many projects were chosen."""
        if self.client == "pip":
            return len(json.loads(report.read_text())["install"])
        return (project / "uv.lock").read_text().count("\n[[package]]\n") - 1  # one is the project


RESOLVERS = (Resolver("pip", merging.PIP, 35, False, "pip install --dry-run"),
             Resolver("uv", merging.UV, 200, True, "uv lock --upgrade"))


def make_projects(upstream, names):
    """A forest below the roots."""
    for i, name in enumerate(names):
        roots, below = len(names) // ROOTS, range(i * CHILDREN, (i + 1) * CHILDREN)
        needed = [names[roots + j] for j in below if roots + j < len(names)]
        count = FILES[i % len(FILES)]
        made = storelib.make_wheel(upstream.folder, name, f"1.{count}", requires_python=">=3.9", requires=needed)
        page = [origin.listed(f"{name.replace('-', '_')}-1.{k}-py3-none-any.whl", None) for k in range(count - 1)]
        page.append(origin.listed(made.path.name, made.path))
        upstream.add_wheel(made.path, page[-1]["url"])
        upstream.add_files(name, page)


def resolve(resolver, kinds, name, home):
    """A warm server has what the same client asked for before."""
    one = kinds.origin if name == DIRECT else kinds.start(name)
    try:
        if resolver.is_warm:
            resolver.run(one.url, home)
        merging.rest(one)
        kinds.origin.asked()
        before = one.cpu_seconds()
        seconds = resolver.run(one.url, home)
        merging.rest(one)
        return merging.Install(seconds, one.cpu_seconds() - before, 0, kinds.origin.asked())
    finally:
        if name != DIRECT:
            one.stop()


def row(resolver, results, name, names):
    rounds = results[resolver.client, name]
    said = merging.behind(results, name, names[1:], resolver.client) if name == names[0] else ""
    return [f"{resolver.text}, {name}", *(f"{merging.median(rounds, field):.{places}f}" for field, places in
                                          (("seconds", 2), ("cpu", 3), ("asked", 0))), said]


def bench(binary, folder, count):
    """Returns the table as text."""
    results = {}
    (folder / "upstream").mkdir()
    (folder / "store").mkdir()
    with contextlib.ExitStack() as stack:
        upstream = origin.start(folder / "upstream")
        stack.callback(upstream.stop)
        for resolver in RESOLVERS:
            make_projects(upstream, resolver.names())
        upstream.add_list()
        kinds = proxies.Kinds(stack, binary, folder, upstream, folder / "store", ("wheelcache", *RIVALS))
        home = merging.make_home(stack, folder)
        names = [kinds.names[0], DIRECT, *kinds.names[1:]]
        for number in range(count):
            for name in merging.turned(names, number):
                for resolver in RESOLVERS:
                    results.setdefault((resolver.client, name), []).append(resolve(resolver, kinds, name, home))
    heads = ["what a resolver takes", "seconds", "CPU s", "asked upstream", "ahead"]
    return table.text(heads, [row(one, results, name, names) for one in RESOLVERS for name in names])
