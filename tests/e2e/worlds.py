# SPDX-License-Identifier: Apache-2.0
"""Random stores with an upstream each, for pruning: real files, pages that are served, and the verdicts of the reference
(tests/unit/oracle/reference.py). The same seed gives the same world."""
import datetime
import http.server
import json
import os
import pathlib
import sys
import threading
import time

import channels
import storelib

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "unit" / "oracle"))
import randomcase  # noqa: E402
import reference  # noqa: E402

PLATFORMS = ["ubuntu-next-x86_64", "debian-next-aarch64", "alpine-next-x86_64"]  # nothing is built in for them
STATUS = {"absent": 404, "not-found": 404, "throttled": 429}  # else 500
CLASSES = ("pure", "off-list", "unusable", "corrupt")  # verdicts that remove a file without a replacement, on request
MARGIN = 3600  # distance of an age from its limit, because the clock goes on


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves server.answers: {project: (status, type, text)}."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        status, kind, text = self.server.answers.get(self.path.strip("/").split("/")[-1], (404, "text/html", "none"))
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def write_wheel(folder, file):
    """Writes the wheel with this name, Requires-Python and time, and notes its hash; a corrupt one lacks its end."""
    name, version, *build, python, abi, platform = file["filename"].removesuffix(".whl").split("-")
    wheel = storelib.make_wheel(folder, name, version, f"{python}-{abi}-{platform}", build="".join(build),
                                requires_python=file["requires-python"], mtime=file["mtime"])
    file["sha256"] = wheel.sha256
    if file["corrupt"]:
        wheel.path.write_bytes(wheel.path.read_bytes()[:-9])
        os.utime(wheel.path, (file["mtime"], file["mtime"]))


class World:
    """Platforms with files of some projects, and an upstream that is served within the context. The program takes config and
    options. asks: whether the optional classes are pruned."""

    def __init__(self, seed, folder, asks=True):
        self.store, self.config, self.catalog = folder / "store", folder / "wheelcache.conf", folder / "catalog.db"
        self.dice = randomcase.Dice(seed, int(time.time()), MARGIN)
        self.places = {name: randomcase.platform_of(self.dice) | {"name": name} for name in PLATFORMS}
        self.versions = {project: self.dice.choice(randomcase.VERSIONS) for project in randomcase.PROJECTS}
        self.policy = randomcase.policy_of(self.dice, *self.dice.choice(list(self.versions.items())))
        if not asks:
            self.policy |= dict.fromkeys(CLASSES, False)
        self.policy["name-taken-over"] = self.dice.maybe(0.3)
        self.trusts_404 = self.dice.maybe(0.5)
        self.files = {(name, project): self._files(place, project) for name, place in self.places.items()
                      for project in self.versions}
        for name in self.places:
            (self.store / name).mkdir(parents=True, exist_ok=True)  # one without a file is there as well
        self.serial = 0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        self.answer({project: randomcase.upstream_of(self.dice, self._page(project)) for project in self.versions})
        self._configure(folder)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def _files(self, place, project):
        files = [one for one in randomcase.local_files(self.dice, place, project, self.versions[project])
                 if one["filename"].endswith(".whl")]
        for one in files:
            one["view"], one["lock"] = (None, None) if one["corrupt"] else (one["view"], one["lock"])
            write_wheel(self.store / place["name"] / project, one)
        return files

    def _write_lock(self, path):
        """Requirements with hashes; files of other platforms have the same bytes. Returns whether there are any."""
        every = [file for files in self.files.values() for file in files if not file["corrupt"]]
        lines = {file["sha256"]: "{}=={} --hash=sha256:{}\n".format(*file["filename"].split("-")[:2], file["sha256"])
                 for file in every if file["lock"]}
        for file in every:
            file["lock"] = str(path) if file["sha256"] in lines else None
        path.write_text("".join(lines.values()))
        return bool(lines)

    def _page(self, project):
        pages = [randomcase.page_of(self.dice, self.files[name, project], place, project, self.versions[project])
                 for name, place in self.places.items()]
        return pages[0] | {"files": [file for page in pages for file in page["files"]]}

    def _changed(self, upstream):
        """A later state of upstream: files are gone, yanked, for other Pythons, or upstream fails."""
        if self.dice.maybe(0.1):
            return {"result": "server-error"}
        try:
            page = json.loads(upstream["page"])
            page["files"] = [file for file in page["files"] if self.dice.maybe(0.75)]
        except (KeyError, ValueError, TypeError):
            return upstream
        for file in page["files"]:
            if self.dice.maybe(0.2):
                file["yanked"] = True
            if self.dice.maybe(0.2):
                file["requires-python"] = self.dice.choice(randomcase.REQUIRES)
        return upstream | {"page": json.dumps(page)}

    def change_upstream(self):
        """Changes the page of each project, or leaves it."""
        self.answer({project: self._changed(before) if self.dice.maybe(0.6) else before
                     for project, before in self.upstream.items()})

    def answer(self, upstream):
        """Sets the answers for each project from now on."""
        self.serial += 1
        self.upstream = upstream
        self.server.answers = {project: self._answer(one) for project, one in upstream.items()}

    def _answer(self, upstream):
        if upstream["result"] == "known":
            serial = f'"_last-serial": {self.serial}, "api-version":'  # a later answer has a higher serial
            return 200, upstream["type"], upstream["page"].replace('"api-version":', serial, 1)
        return STATUS.get(upstream["result"], 500), "text/html", "<h1>no</h1>"

    def _configure(self, folder):
        text = f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n[upstream]\nretries = 0\n"
        text += f"url = http://127.0.0.1:{self.server.server_port}/simple/\ntrust-404 = {'yes' if self.trusts_404 else 'no'}\n"
        text += "[prune]\nclients-have-upstream = yes\n" + "".join(f"{key} = {self.policy[key]}\n" for key in ("min-age", "upstream-min-age", "downloaded"))
        if self._write_lock(folder / "requirements.txt"):
            text += f"locks = {folder}/requirements.txt\n"
        lists = {"packages": [self.policy["packages"]] if self.policy["packages"] else [], "constraints": self.policy["constraints"]}
        for key, texts in lists.items():
            paths = [folder / f"{key}-{number}" for number in range(len(texts))]
            for path, content in zip(paths, texts):
                path.write_text(content)
            text += f"{key} = {' '.join(map(str, paths))}\n" if paths else ""
        for name, place in self.places.items():
            text += f"[platform {name}]\n" + "".join(f"{key} = {place[key]}\n" for key in ("pythons", "arch", "libc") if key in place)
        text += f"[view all]\nplatforms = {' '.join(self.places)}\n[view tested]\nfrom = all\n"
        self.config.write_text(text)
        self._count_downloads()
        channels.write_generation(self.store, "tested", [(name, f"{project}/{file['filename']}")
                                  for (name, project), files in self.files.items() for file in files if file["view"]])

    def _count_downloads(self):
        """Writes the download counts of a server; by day, in UTC."""
        lines = sorted(f"{name}/{file['filename']} 1 {datetime.date.fromtimestamp(file['downloaded'])}\n"
                       for (name, _), files in self.files.items() for file in files if file["downloaded"])
        path = self.catalog.with_name(self.catalog.name + ".downloads")
        path.write_text(f"wheelcache-downloads 1 2020-01-01\n{''.join(lines)}end {len(lines)}\n")

    def options(self):
        return [f"--{option}" for option in (*CLASSES, "name-taken-over") if self.policy[option]]

    def purge_options(self):
        return ["--name-taken-over"] if self.policy["name-taken-over"] else []

    def case(self, name, project):
        """As reference.decide() takes it."""
        upstream = self.upstream[project]
        if STATUS.get(upstream["result"]) == 404:
            upstream = {"result": "absent" if self.trusts_404 else "not-found"}
        return {"now": self.dice.now, "policy": self.policy, "platform": self.places[name], "project": project, "upstream": upstream,
                "files": self.files[name, project], "oldest": self._oldest(project)}

    def _oldest(self, project):
        """The oldest mtime of our files of a project; quarantined files do not count."""
        return min((file["mtime"] for (_, one), files in self.files.items() for file in files
                    if one == project and not file["corrupt"]), default=0)

    def verdicts(self):
        """The expected verdicts: {(platform, file name): Verdict}."""
        found = {}
        for name, project in self.files:
            case = self.case(name, project)
            decided = zip(case["files"], reference.decide(case))
            found |= {(name, file["filename"]): verdict for file, verdict in decided}
        return found

    def known(self):
        """The projects with a definitive answer."""
        return [project for project in self.versions if (case := self.case(PLATFORMS[0], project))["upstream"]["result"] == "absent"
                or reference.Judge(case).page is not None]

    def installable(self, kept, projects=None):
        """Which (platform, environment, micro, project, version) can be installed: from the kept files, (platform, file
        name), and from upstream. projects: only these."""
        found = set()
        for name, project in self.files:
            if projects is not None and project not in projects:
                continue
            judge = reference.Judge(self.case(name, project))
            ours = [file for file in self.files[name, project] if (name, file["filename"]) in kept and not file["corrupt"]]
            theirs = [file for file in judge.page or [] if reference.read_name(file["filename"]) and not reference.is_yanked(file)]
            for env in judge.environments:
                for serves, files in ((reference.ours_serves, ours), (reference.upstream_serves, theirs)):
                    for file in files:
                        what = reference.read_name(file["filename"])
                        if what.tags is not None and what.project == project:
                            found |= {(name, env.name, micro, project, what.version) for micro in serves(file, env)}
        return found
