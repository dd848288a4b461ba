# SPDX-License-Identifier: Apache-2.0
"""Random worlds of upstreams, globs, views and orders against a slow reference: which file, by its hash, each page lists, who
may have been asked, and that every way to a file agrees with its page."""
import fnmatch
import random

import merging
import storelib
from test_merged_several import check_ways, listed, path_of

NAMES = ("a", "b", "c")
PROJECTS = ("torch", "torch-x", "acme-y", "six")
GLOBS = ("torch*", "acme-*", "six", "*-*", "t* s*")
SEEDS, MORE = range(100, 106), range(200, 240)


def pytest_generate_tests(metafunc):
    metafunc.parametrize("seed", [*SEEDS, *MORE] if metafunc.config.getoption("--nightly") else SEEDS)


class World:
    def __init__(self, seed, folder, start):
        self.random = random.Random(seed)
        self.index = {name: start() for name in NAMES}
        self.wheels = {}  # (upstream, project, file name): wheel
        self.keys = {name: {} for name in NAMES}
        for name in NAMES:
            for key, chance in (("projects", 0.3), ("not-projects", 0.3), ("private", 0.2), ("local-only", 0.1)):
                if self.random.random() < chance:
                    self.keys[name][key] = self.random.choice(GLOBS)
        shared = {}
        for name in NAMES:
            for project in PROJECTS:
                for version in ("1.0", "2.0", "3.0"):
                    if self.random.random() < 0.45:
                        self._add(name, project, version, folder, shared)
        self.views = {}
        for i in range(4):
            some = self.random.sample(NAMES, self.random.randint(1, len(NAMES)))
            self.views[f"v{i}"] = (some, self.random.choice(("first", "together")))

    def _add(self, name, project, version, folder, shared):
        """Half of the time the bytes that another one has, too."""
        module = project.replace("-", "_")
        of = shared.get((project, version), name) if self.random.random() < 0.5 else name
        shared.setdefault((project, version), name)
        wheel = storelib.make_wheel(folder / of, module, version, files={f"{module}.py": f"{of}\n".encode()})
        self.index[name].add(project, wheel)
        self.wheels[name, project, wheel.name] = wheel

    def config(self):
        text = ""
        for name in NAMES:
            text += f"[upstream {name}]\nurl = {self.index[name].url}\n"
            text += "".join(f"{key} = {value}\n" for key, value in self.keys[name].items())
        for view, (some, indexes) in self.views.items():
            text += f"[view {view}]\nplatforms = p\nupstream = {' '.join(some)}\nindexes = {indexes}\n"
        return text + "[platform p]\n"

    def may_be_asked(self, name, project):
        def has(key):
            return any(fnmatch.fnmatchcase(project, glob) for glob in self.keys[name].get(key, "").split())
        return (has("projects") or "projects" not in self.keys[name]) and \
            not (has("not-projects") or has("private") or has("local-only"))

    def files_of(self, name, project):
        return {file: wheel for (of, for_project, file), wheel in self.wheels.items() if (of, for_project) == (name, project)}

    def page(self, view, project):
        """What the page lists: {file name: (upstream, wheel)}, and who may be asked for it."""
        some, indexes = self.views[view]
        found, asked = {}, []
        for name in some:
            if not self.may_be_asked(name, project):
                continue
            asked.append(name)
            files = self.files_of(name, project)
            for file, wheel in files.items():
                found.setdefault(file, (name, wheel))
            if files and indexes == "first":
                break
        return found, asked


def test_pages_and_files_are_those_of_the_reference(seed, serve, tmp_path):
    with merging.indexes() as start:
        world = World(seed, tmp_path / "theirs", start)
        (tmp_path / "store" / "p").mkdir(parents=True)
        server = serve(tmp_path / "store", config=world.config())
        allowed, rounds = {name: set() for name in NAMES}, [(v, p) for v in world.views for p in PROJECTS] * 2
        world.random.shuffle(rounds)
        for view, project in rounds:
            wanted, asked = world.page(view, project)
            for name in asked:
                allowed[name].add(project)
            found = listed(server, project, f"/{view}")
            assert {file: (path_of(url).split("/")[3], sha256) for file, (url, sha256) in found.items()} == \
                {file: (name, wheel.sha256) for file, (name, wheel) in wanted.items()}, (view, project)
            for file in world.random.sample(sorted(found), min(1, len(found))):
                check_ways(server, found[file][0], wanted[file][1])
        for name in NAMES:
            for one in world.index[name].asked:
                kind, project = one.path.split("/")[1:3]
                assert kind == "packages" or project in allowed[name], (name, one.path)
        # A file of one that no page names is that one's, or there is none.
        for (name, project, file), wheel in world.wheels.items():
            reply = server.get(f"/files/upstream/{name}/{project}/{file}")
            assert reply.body == wheel.path.read_bytes() if reply.status == 200 else reply.status in (404, 502)

