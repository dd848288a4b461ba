# SPDX-License-Identifier: Apache-2.0
"""Random cases for verdicts: a platform, some files of a project there, and upstream's page of it. The same seed gives
the same case. Most files resemble each other, so that a single property decides."""
import copy
import datetime
import hashlib
import html
import json
import os
import random
import urllib.parse

import reference

NOW = 1_790_000_000
DAY = 86_400
PYTHONS = ["3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.13t", "3.14t", "pp39", "pp310", "pp311"]
PLATFORMS = ["ubuntu-22.04-x86_64", "debian-12-aarch64", "alpine-3.20-x86_64"]
ARCHES = ["x86_64", "x86_64", "x86_64", "aarch64"]
LIBCS = ["glibc 2.17", "glibc 2.31", "glibc 2.36", "glibc 2.41", "musl 1.1", "musl 1.2"]
PROJECTS = {"foo": ["foo", "Foo", "FOO"], "foo-bar": ["foo_bar", "foo.bar", "Foo_Bar", "foo_Bar"], "a1": ["a1", "A1"]}
# Equal ones, and some that only look equal.
VERSIONS = [["1.0", "1", "1.0.0", "01.0"], ["1.0+local", "1.0.0+local", "1.0+LOCAL"], ["1.0+ubuntu.1", "1.0+ubuntu_1"],
            ["1.0rc1", "1.0_rc_1", "1.0c1"], ["1.0.post1", "1.0.post01"], ["1!1.0", "1!1"], ["2.0", "2"], ["1.0.dev3"],
            ["10.0"], ["2024.1", "2024.01"]]
REQUIRES = [None] * 15 + [">=3.8"] * 3 + [
    "", ">= 3.9", ">3.11", ">3.11.0", ">=3.11", ">=3.11.4", "<3.12", "<4", "<=3.11", "<3.13.0a1", ">=3.13.0rc1", "~=3.10",
    "~=3.11.2", "==3.11.*", "==3.11", "!=3.11.*", "!=3.11.0", "===3.11.2", ">=2.7,!=3.0.*,!=3.1.*", "!=3.0.*, !=3.1.*, >=2.7",
    ">=3.7, <4", ">=3.9,<3.13", ">=3.8,!=3.9.7,!=3.12.1", ">=3.6.*", "3.8", "nonsense", ">=3.8,", ">=3.10;", "<3", ">=4",
    "==3.*", "!=3.8.1,>=3.8"]
REASONS = ["broken", "", "a \"quoted\" reason\nand a second line, <b>ä</b>"]
BROKEN_PAGES = ["cut", "other project", "version 2", "quarantined", "not json", "list"]
FAILURES = ["not-found", "refused", "timeout", "throttled", "server-error"]


FEW = 200  # seeds of a run


def seeds(variable, many):
    """The seeds to test: those that the environment variable names ("5000-9000"); in a nightly run the first ones, as many
    as that; otherwise a few, which are others in each run."""
    if os.environ.get("NIGHTLY"):
        few = range(many)
    else:
        first = random.SystemRandom().randrange(1_000_000)
        few = range(first, first + FEW)
    first, last = map(int, os.environ.get(variable, f"{few[0]}-{few[-1]}").split("-"))
    print(f"{variable}={first}-{last}")
    return range(first, last + 1)


def lacking(counts, must_occur, seeds_tested, many):
    """What occurs less often than must_occur says for many seeds. Of fewer seeds only what is frequent must occur."""
    if len(seeds_tested) >= many:
        return {what for what, least in must_occur.items() if counts[what] < least}
    return {what for what, least in must_occur.items() if least * len(seeds_tested) >= 20 * many and not counts[what]}


class Dice(random.Random):
    """margin: seconds between an age and its limit, because the clock advances."""

    def __init__(self, seed, now=NOW, margin=1):
        super().__init__(seed)
        self.now, self.margin = now, margin

    def around(self, limit):
        """An age near the limit, on either side."""
        return limit + self.choice([self.margin - 1, -self.margin])

    def maybe(self, chance):
        return self.random() < chance

    def some(self, values, most):
        return self.sample(values, self.randint(0, min(most, len(values))))


def platform_of(dice):
    if dice.maybe(0.03):
        return {"name": "unknown"}
    pythons = sorted(dice.sample(PYTHONS, dice.choice([1, 1, 2, 2, 3, 4])))
    return {"name": dice.choice(PLATFORMS), "pythons": " ".join(pythons), "arch": dice.choice(ARCHES), "libc": dice.choice(LIBCS)}


def python_tags(dice, python):
    """A pair of interpreter and ABI tags that an environment accepts, or almost."""
    if python.startswith("pp"):
        return dice.choice([(python, f"pypy{python[2:]}_pp73"), (python, "none"), ("py3", "none"), ("pp3", "none")])
    nodot, threaded = "cp" + python.rstrip("t").replace(".", ""), "t" if python.endswith("t") else ""
    older = "cp3" + str(dice.randint(2, int(python.rstrip("t").split(".")[1])))
    usual = [(nodot, nodot + threaded), (older, "abi3" + threaded), ("py3", "none"), ("py2.py3", "none")]
    odd = [(nodot, nodot), (older, "abi3"), ("cp315", "abi3.abi3t"), (older, "abi3.abi3t"), (nodot, "none"),
           ("py" + nodot[2:], "none"), (older, older), (nodot, nodot + "t")]
    return dice.choice(usual * 4 + odd)


def platform_tag(dice, place):
    arch = place.get("arch", "x86_64") if dice.maybe(0.95) else "riscv64"
    libc, version = place.get("libc", "glibc 2.31").split()
    if dice.maybe(0.1):
        libc = "musl" if libc == "glibc" else "glibc"
    minor = int(version.split(".")[1])
    if dice.maybe(0.2):
        return f"linux_{arch}"
    if libc == "musl":
        return f"musllinux_1_{dice.choice([0, 1, 2])}_{arch}"
    old = dice.choice([f"manylinux2014_{arch}", f"manylinux_2_17_{arch}", f"manylinux_2_17_{arch}.manylinux2014_{arch}",
                       f"manylinux2014_{arch}.manylinux_2_17_{arch}", f"manylinux1_{arch}", f"manylinux2010_{arch}"])
    return dice.choice([old, old, old, f"manylinux_2_{minor}_{arch}", f"manylinux_2_{minor - 1}_{arch}",
                        f"manylinux_2_{minor + 1}_{arch}", f"manylinux_2_28_{arch}",
                        f"manylinux_2_5_{arch}.manylinux1_{arch}.manylinux_2_{minor}_{arch}"])


def tag_set(dice, place):
    if dice.maybe(0.05):
        return dice.choice(["cp27-none-win32", "cp311-cp311-macosx_11_0_arm64", "cp311-cp311-win_amd64", "cp26-none-any"])
    python, abi = python_tags(dice, dice.choice((place.get("pythons") or "3.11").split()))
    if dice.maybe(0.05):
        python += ".cp310"
    is_any = abi == "none" and dice.maybe(0.7)
    return f"{python}-{abi}-{'any' if is_any else platform_tag(dice, place)}"


def file_name(dice, place, project, versions):
    spelled, version = dice.choice(PROJECTS[project]), dice.choice(versions)
    if dice.maybe(0.08):
        return f"{spelled}-{version.replace('_', '.')}" + dice.choice([".tar.gz", ".tar.gz", ".zip"])
    build = dice.choice(["", "", "", "", "-1", "-2", "-0_py38h16f9016"])
    return f"{spelled}-{version}{build}-{tag_set(dice, place)}.whl"


def sha256(dice):
    return hashlib.sha256(str(dice.random()).encode()).hexdigest()


def local_file(dice, place, project, versions):
    """Files that are young, downloaded or corrupt are rare, so that upstream usually decides."""
    age = dice.choice([30 * DAY] * 8 + [dice.around(2 * DAY)] * 2 + [2 * dice.margin, -dice.margin])
    return {"filename": file_name(dice, place, project, versions), "sha256": sha256(dice), "mtime": dice.now - age,
            "requires-python": dice.choice(REQUIRES), "corrupt": "truncated" if dice.maybe(0.02) else None,
            "downloaded": dice.now - dice.choice([4, 20, 60]) * DAY if dice.maybe(0.1) else 0,
            "view": "tested" if dice.maybe(0.03) else None, "lock": "uv.lock" if dice.maybe(0.03) else None}


def local_files(dice, place, project, versions):
    """Most of them install somewhere on the platform."""
    judge = reference.Judge({"platform": place, "policy": None, "upstream": {"result": "timeout"}, "oldest": 0})
    files = {}
    for _ in range(dice.choice([2, 4, 6])):
        one = local_file(dice, place, project, versions)
        if judge.is_usable(one) or dice.maybe(0.2):
            files.setdefault(one["filename"], one)
    return list(files.values())


def upload_time(dice):
    age = dice.choice([100 * DAY] * 8 + [dice.around(DAY)] * 2 + [60])
    when = datetime.datetime.fromtimestamp(dice.now - age, datetime.timezone.utc)
    return when.strftime("%Y-%m-%dT%H:%M:%S") + dice.choice(["Z", ".000000Z"])


def upstream_file(dice, filename, requires, digest):
    file = {"filename": filename, "url": f"../../packages/{filename.replace('+', '%2B')}", "hashes": {"sha256": digest}}
    if requires is not None or dice.maybe(0.3):
        file["requires-python"] = requires
    file["yanked"] = dice.choice([True, *REASONS]) if dice.maybe(0.12) else False
    if dice.maybe(0.2):
        del file["yanked"]
    if dice.maybe(0.98):
        file["upload-time"] = upload_time(dice)
    if dice.maybe(0.7):
        file["size"] = dice.randint(1, 10**9)
    return file | dice.choice([{}, {}, {"core-metadata": False}, {"core-metadata": {"sha256": sha256(dice)}}, {"size": None},
                               {"yanked": None}, {"provenance": None}, {"_x": [{}]}])


def like(dice, ours, place, project, versions):
    """A file of upstream that resembles one of ours."""
    name, requires = ours["filename"], ours["requires-python"]
    kind = dice.choice(["same", "spelled", "tags", "tags", "tags", "pure", "sdist", "other"])
    if kind == "tags":
        name = file_name(dice, place, project, versions)
    elif kind == "pure":
        name = f"{dice.choice(PROJECTS[project])}-{dice.choice(versions)}-py3-none-any.whl"
    elif kind == "sdist":
        name = f"{dice.choice(PROJECTS[project])}-{dice.choice(versions).replace('_', '.')}.tar.gz"
    elif kind == "other":
        name = file_name(dice, place, project, dice.choice(VERSIONS))
    elif kind == "spelled":
        rest = name.split("-", 1)[1]
        name = f"{dice.choice(PROJECTS[project])}-{rest}"
    digest = ours["sha256"] if kind == "same" and dice.maybe(0.6) else sha256(dice)
    return upstream_file(dice, name, requires if dice.maybe(0.6) else dice.choice(REQUIRES), digest)


def page_of(dice, files, place, project, versions):
    theirs = []
    for ours in files:
        theirs += [like(dice, ours, place, project, versions) for _ in range(dice.choice([0, 1, 1, 2, 3]))]
    others = [f"{PROJECTS[project][0]}-1.0.{end}" for end in ("exe", "egg", "whl", "tar.bz2")]
    theirs += [upstream_file(dice, name, None, sha256(dice)) for name in dice.some(others, 1)]
    dice.shuffle(theirs)
    page = {"meta": {"api-version": dice.choice(["1.0", "1.1", "1.4", "1.9"])}, "name": project, "files": theirs}
    if dice.maybe(0.5):
        page["project-status"] = {"status": dice.choice(["active", "archived", "deprecated"])}
    if dice.maybe(0.5):
        page["versions"] = ["1.0", "2.0"]
    return page


def broken(dice, page):
    """A page of another project, or one whose status makes it unusable."""
    how = dice.choice(BROKEN_PAGES)
    if how == "quarantined":
        page["project-status"] = {"status": "quarantined"}
    if how == "version 2":
        page["meta"]["api-version"] = "2.0"
    if how == "other project":
        page["name"] = "elsewhere"
    text = json.dumps(page)
    spoilt = {"cut": text[:dice.randint(0, len(text) - 1)], "not json": "<html><body>oops</body></html>", "list": f"[{text}]"}
    return spoilt.get(how, text)


def as_html(page, has_meta):
    """HTML as PyPI writes it; or without meta elements but with upload times, as mirrors do."""
    meta = f'<meta name="pypi:repository-version" content="{page["meta"]["api-version"]}">\n'
    if "project-status" in page:
        meta += f'<meta name="pypi:project-status" content="{page["project-status"]["status"]}">\n'
    title = f"Links for {page['name']}"
    text = f"<!DOCTYPE html>\n<html>\n<head>{meta if has_meta else ''}<title>{title}</title></head>\n<body>\n"
    for file in page["files"]:
        attrs = {"href": f"../../packages/{urllib.parse.quote(file['filename'])}#sha256={file['hashes']['sha256']}"}
        if file.get("requires-python") is not None:
            attrs["data-requires-python"] = file["requires-python"]
        if file.get("yanked") not in (None, False):
            attrs["data-yanked"] = "" if file["yanked"] is True else file["yanked"]
        if "upload-time" in file and not has_meta:
            attrs["data-upload-time"] = file["upload-time"]
        text += "<a " + " ".join(f'{key}="{html.escape(value)}"' for key, value in attrs.items())
        text += f">{html.escape(file['filename'])}</a><br/>\n"
    return text + "</body>\n</html>\n"


def upstream_of(dice, page):
    if dice.maybe(0.05):
        return {"result": dice.choice([*FAILURES, "absent", "absent"])}
    if dice.maybe(0.15):
        return {"result": "known", "type": "text/html; charset=utf-8", "page": as_html(page, dice.maybe(0.2))}
    text = broken(dice, page) if dice.maybe(0.05) else json.dumps(page, ensure_ascii=dice.maybe(0.5))
    return {"result": "known", "type": reference.JSON_TYPE, "page": text}


def list_line(dice, project):
    name = dice.choice([*PROJECTS[project], project, project + "x"])
    wanted = dice.choice(["", "", " ==1.0", " >=1.0,<2", " >=2", " ~=1.0", " !=1.0", " <1.0", " >1.0", " <=1.0"])
    glob = dice.choice(["", "", " platform=ubuntu-*", " platform=*-x86_64", " platform=debian-12-aarch64"])
    return f"{name}{wanted}{glob}{dice.choice(['', ' keep'])} its reason, ==1.0 # as told\n"


def pin_line(dice, project, versions):
    name = dice.choice([*PROJECTS[project], project])
    version = dice.choice(dice.choice([versions, dice.choice(VERSIONS)]))
    more = dice.choice(["", "", ";python_version<'3.9'", "  # why", ";python_version>='3.9'  # why"])
    return f"{name}==={version}{more}\n"


def policy_of(dice, project, versions):
    policy = {"min-age": 2 * DAY, "upstream-min-age": dice.choice([DAY, DAY, DAY, 0]), "downloaded": dice.choice([0, 0, 0, 30 * DAY]), "packages": None,
              "constraints": []}
    policy |= {option: dice.maybe(0.3) for option in ("pure", "unusable", "corrupt")}
    if dice.maybe(0.3):
        policy["packages"] = "# the list\n\n" + "".join(list_line(dice, project) for _ in range(dice.choice([0, 1, 2])))
    policy["off-list"] = "reason" in (policy["packages"] or "") and dice.maybe(0.5)  # an empty list is rejected
    if dice.maybe(0.1):
        policy["constraints"] = ["# pins\n" + pin_line(dice, project, versions), pin_line(dice, "a1", versions)]
    policy["branch"] = dice.choice(["", "<2", ">=2,!=2.1", "==1.*"]) if policy["off-list"] and dice.maybe(0.4) else None
    return policy


def make(seed):
    """A case in the form of reference.decide() and verdict-tool."""
    dice = Dice(seed)
    place, project, versions = platform_of(dice), dice.choice(list(PROJECTS)), dice.choice(VERSIONS)
    files = local_files(dice, place, project, versions)
    policy = policy_of(dice, project, versions)
    upstream = upstream_of(dice, page_of(dice, files, place, project, versions))
    policy["name-taken-over"] = dice.maybe(0.3)
    oldest = dice.choice([0, *(file["mtime"] for file in files), *(NOW - days * DAY for days in (1, 40, 400, 4000))])
    return {"now": NOW, "policy": policy, "platform": place, "project": project, "upstream": upstream, "files": files,
            "oldest": oldest}


def _smaller_pages(page):
    for at, file in enumerate(page["files"]):
        yield {**page, "files": page["files"][:at] + page["files"][at + 1:]}
        for key in file.keys() - {"filename", "url", "hashes", "upload-time"}:
            less = {name: value for name, value in file.items() if name != key}
            yield {**page, "files": [less if one is file else one for one in page["files"]]}


def _smaller(case):
    """Variants of the case, each with one part removed."""
    def changed(change):
        other = copy.deepcopy(case)
        change(other)
        return other

    for at, file in enumerate(case["files"]):
        if len(case["files"]) > 1:
            yield changed(lambda one, at=at: one["files"].pop(at))
        for key, nothing in (("requires-python", None), ("downloaded", 0), ("view", None), ("lock", None), ("mtime", NOW - 30 * DAY)):
            if file[key] != nothing:
                yield changed(lambda one, at=at, key=key, nothing=nothing: one["files"][at].update({key: nothing}))
    if case["upstream"].get("page", "").startswith("{"):
        try:
            for less in _smaller_pages(json.loads(case["upstream"]["page"])):
                yield changed(lambda one, less=less: one["upstream"].update(page=json.dumps(less)))
        except ValueError:  # it is not a page
            pass
    pythons = case["platform"].get("pythons", "").split()
    for python in pythons if len(pythons) > 1 else []:
        less = " ".join(one for one in pythons if one != python)
        yield changed(lambda one, less=less: one["platform"].update(pythons=less))
    for key, nothing in (("off-list", False), ("packages", None), ("constraints", []), ("pure", False), ("unusable", False),
                         ("corrupt", False), ("branch", None), ("downloaded", 0), ("name-taken-over", False)):
        if case["policy"][key] != nothing and not (key == "packages" and case["policy"]["off-list"]):
            yield changed(lambda one, key=key, nothing=nothing: one["policy"].update({key: nothing}))


def shrink(case, is_wrong):
    """Removes parts of the case as long as it still fails."""
    while True:
        smaller = next(filter(is_wrong, _smaller(case)), None)
        if smaller is None:
            return case
        case = smaller
