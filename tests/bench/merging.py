# SPDX-License-Identifier: Apache-2.0
"""wheelcache and others as proxies of one upstream: real installs, cold and warm; many clients that request one cold page
or one cold large file; warm pages, merged and local."""
import contextlib
import dataclasses
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import clients  # of tests/e2e, which shape knows
import lines
import load
import origin
import proxies
import server
import shape
import table

CROWD = 200
REST = 0.5   # seconds; longer than the delay of server/upstream/debounce
TICK = 0.02  # seconds between two looks at a server's memory
WARM_FILES = {30: 32, 5_000: 4}  # of a project, and the connections that ask
TINY = 100  # bytes in a wheel
MEMORY, HOME_BYTES = pathlib.Path("/dev/shm"), 1 << 30
SAME = 1.05
UV, PIP = "uv==0.13.9", "pip==26.3"


# --- installs ---

@dataclasses.dataclass
class Install:
    """The cost of one install."""
    seconds: float
    cpu: float   # of the server
    own: int     # bytes of the server after it
    asked: int   # requests that reached upstream


def uv_command(url, target):
    return ["uv", "pip", "install", "-q", "--no-cache", "--python", sys.executable, "--target", target, "--index-url", url]


def pip_command(url, target):
    return ["pip", "install", "-q", "--no-compile", "--only-binary", ":all:", "--target", target, *clients.pip_index(url)]


COMMANDS = {"uv": (UV, uv_command), "pip": (PIP, pip_command)}


class Installer:
    """A real client with its own home and caches, in a folder."""

    def __init__(self, name, folder):
        requirements, self.command = COMMANDS[name]
        self.name, self.folder = name, folder
        self.programs = clients.environment(requirements) / "bin"

    def run(self, url):
        """Seconds."""
        target = self.folder / "target"
        program, *arguments = self.command(url, target)
        begin = time.monotonic()
        done = subprocess.run(server.pinned(load.CORE, self.programs / program, *arguments, *origin.WANTED),
                              env=clients.clean_environment(self.folder, TMPDIR=str(self.folder)),
                              capture_output=True, text=True, check=False)
        seconds = time.monotonic() - begin
        if done.returncode != 0 or len(list(target.glob("*.dist-info"))) != len(origin.WANTED):
            raise RuntimeError(f"{self.name} from {url}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        shutil.rmtree(target)
        return seconds


def rest(one):
    """Waits until a server is idle, so that its deferred work is counted."""
    time.sleep(REST)
    one.settle()


def install(installer, one, upstream):
    one.settle()
    upstream.asked()
    before = one.cpu_seconds()
    seconds = installer.run(one.url)
    rest(one)
    return Install(seconds, one.cpu_seconds() - before, one.own_bytes(), upstream.asked())


def install_twice(installer, kinds, name, results):
    """Installs through a server that has nothing cached, and again."""
    one = kinds.start(name)
    try:
        for state in ("cold", "warm"):
            results.setdefault((installer.name, state, name), []).append(install(installer, one, kinds.origin))
    finally:
        one.stop()


def median(rounds, field):
    return statistics.median(getattr(one, field) for one in rounds)


def behind(results, own, rivals, *of):
    """The servers that ours is slower than, as text."""
    def ahead(field):
        mine = median(results[(*of, own)], field)
        return [name for name in rivals if median(results[(*of, name)], field) <= mine]

    found = [f"{field} behind {', '.join(ahead(field))}" for field in ("seconds", "cpu") if ahead(field)]
    return "; ".join(found) or "yes"


def sources(kinds):
    """The servers to install from, ours first."""
    return [kinds.names[0], proxies.FITTING, *kinds.names[1:]]


def installs_table(results, kinds):
    rows = []
    for client in COMMANDS:
        for state in ("cold", "warm"):
            for name in sources(kinds):
                rounds = results[client, state, name]
                said = behind(results, name, kinds.names[1:], client, state) if name.startswith("wheelcache") else ""
                rows.append([f"{client}, {state}, {name}", f"{median(rounds, 'seconds'):.2f}", f"{median(rounds, 'cpu'):.3f}",
                             f"{median(rounds, 'own') / 2**20:.0f}", f"{median(rounds, 'asked'):.0f}", said])
    return table.text([f"install of {len(origin.WANTED)} packages", "seconds", "CPU s", "MB", "asked upstream", "ahead"], rows)


# --- a crowd ---

@dataclasses.dataclass
class Rush:
    """The cost of a crowd."""
    seconds: float
    cpu: float
    own: int    # bytes of the server, the most that was seen
    asked: int
    whole: int  # clients that got all of it


def watch(one, process):
    """The most memory of the server until the process ends."""
    most = one.own_bytes()
    while process.poll() is None:
        most = max(most, one.own_bytes())
        time.sleep(TICK)
    return most


def rush(one, upstream, path, headers=()):
    rest(one)
    upstream.asked()
    before = one.cpu_seconds()
    program = pathlib.Path(__file__).with_name("crowd.py")
    with subprocess.Popen(server.pinned(load.CORE, sys.executable, program, one.port, path, CROWD, *headers),
                          stdout=subprocess.PIPE, text=True) as process:
        own = watch(one, process)
        seen = json.loads(process.stdout.read() or '{"seconds": 0, "whole": 0}')
    rest(one)
    return Rush(seen["seconds"], one.cpu_seconds() - before, own, upstream.asked(), seen["whole"])


JSON_GZIP = ("Accept: application/vnd.pypi.simple.v1+json", "Accept-Encoding: gzip")
WHAT = {"page": f"cold page of {origin.CROWD_FILES:,} files, JSON, gzip", "file": f"cold wheel of {origin.LARGE_BYTES // 1_000_000} MB"}


def rush_twice(kinds, name, number, results):
    one = kinds.start(name)
    try:
        page = rush(one, kinds.origin, f"{one.index}crowd{number}/", JSON_GZIP)
        file = rush(one, kinds.origin, one.place_of_file(f"large{number}"))
    finally:
        one.stop()
    for what, found in (("page", page), ("file", file)):
        results.setdefault((what, name), []).append(found)


def rushes_table(results, kinds):
    rows = []
    for what, text in WHAT.items():
        for name in kinds.names:
            rounds = results[what, name]
            said = behind(results, name, kinds.names[1:], what) if name == "wheelcache" else ""
            rows.append([f"{text}, {name}", f"{median(rounds, 'seconds'):.2f}", f"{median(rounds, 'cpu'):.2f}",
                         f"{median(rounds, 'own') / 2**20:.0f}", f"{median(rounds, 'asked'):.0f}",
                         f"{median(rounds, 'whole'):.0f}", said])
    return table.text([f"{CROWD} clients at once", "seconds", "CPU s", "MB at most", "asked upstream", "got it", "ahead"], rows)


# --- warm pages ---

def warm_lines():
    """Merged pages, and local pages of the same size, which only wheelcache has."""
    for files, connections in WARM_FILES.items():
        for kind in ("merged", "local"):
            yield lines.Line(f"{kind} page of {files:,}", f"{kind}{files}/", lines.FORMS["JSON, gzip"], {},
                             connections=connections)


def make_warm(store, upstream):
    """Each merged page has one local file."""
    for files in WARM_FILES:
        shape.make_project((store, f"merged{files}", 1, TINY))
        shape.make_project((store, f"local{files}", files, TINY))
        upstream.add_files(f"merged{files}", [origin.listed(f"merged{files}-1.{i}-py3-none-any.whl", None)
                                              for i in range(1, files)])


def warm_round(kinds, name, seconds, results):
    one = kinds.start(name)
    try:
        for line in warm_lines():
            if name != "wheelcache" and line.name.startswith("local"):
                continue
            body = one.get(*line.ask(one))[2]
            rest(one)
            with contextlib.suppress(load.Unusable):  # devpi answers less than one per second
                results.setdefault((line.name, name), []).append((load.run(one, line, seconds), len(body)))
    finally:
        one.stop()


def warm_row(line, results, names):
    of = {name: statistics.median(one.cpu_us for one, _ in results[line.name, name]) for name in names
          if (line.name, name) in results}
    mine, said = of["wheelcache"], []
    if line.name.startswith("merged"):
        local = statistics.median(one.cpu_us for one, _ in results[line.name.replace("merged", "local"), "wheelcache"])
        said = [f"{mine / local:.2f} > {SAME} of local"] * (mine > SAME * local)
        said += [f"behind {name}" for name in names[1:] if mine >= of[name]]
    length = results[line.name, "wheelcache"][-1][1]
    return [line.name, f"{length:,}", *(f"{of[name]:,.1f}" if name in of else "" for name in names),
            "; ".join(said) or ("yes" if line.name.startswith("merged") else "")]


def warm_table(results, kinds):
    heads = ["CPU µs a request, JSON, gzip, warm", "bytes", *kinds.names, "reached"]
    return table.text(heads, [warm_row(line, results, kinds.names) for line in warm_lines()])


# --- all of it ---

def make_all(folder, upstream, count):
    for pin in origin.WANTED:
        upstream.add_recorded(pin.partition("==")[0])
    for number in range(count):
        upstream.add_crowd(f"crowd{number}")
        upstream.add_large(f"large{number}")
    store = folder / "store"
    store.mkdir()
    make_warm(store, upstream)
    upstream.add_list()
    return store


def make_home(stack, folder):
    """Where clients have their files: in memory, where there is room. What a file system takes to make thousands of them
    differs from round to round (ext4 looks at each file that was removed in the last minutes), and is no server's."""
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= HOME_BYTES
    home = tempfile.TemporaryDirectory(prefix="wheelcache-bench-", dir=MEMORY if has_room else folder)
    return pathlib.Path(stack.enter_context(home))


def absent(names):
    missing = [name for name in proxies.START if name not in (*names, proxies.FITTING)]
    return f"Not there, as {proxies.pypiron.CLIENTS}/peers.txt has no such pin: {', '.join(missing)}.\n" if missing else ""


def turned(names, number):
    turn = number % len(names)
    return names[turn:] + names[:turn]


def bench(binary, folder, count, seconds):
    """Returns the tables as text."""
    if not origin.HELD.is_dir():
        return f"No proxies: {origin.CORPUS} is not there.\n"
    installs, rushes, warm = {}, {}, {}
    (folder / "upstream").mkdir()
    with contextlib.ExitStack() as stack:
        upstream = origin.start(folder / "upstream")
        stack.callback(upstream.stop)
        kinds = proxies.Kinds(stack, binary, folder, upstream, make_all(folder, upstream, count))
        home = make_home(stack, folder)
        installers = [Installer(name, home) for name in COMMANDS]
        for number in range(count):
            for name in turned(sources(kinds), number):
                for installer in installers:
                    install_twice(installer, kinds, name, installs)
            for name in turned(kinds.names, number):
                rush_twice(kinds, name, number, rushes)
                warm_round(kinds, name, seconds, warm)
        tables = [installs_table(installs, kinds), rushes_table(rushes, kinds), warm_table(warm, kinds)]
        place = f"\nClients have their files {'in memory' if home.parent == MEMORY else 'on the disk'}.\n"
        return "\n".join(tables) + place + absent(kinds.names)
