# SPDX-License-Identifier: Apache-2.0
"""make bench: wheelcache beside nginx with the same pages and files, and the indexer beside sha256sum.
One table; ratios of one run on one machine are what counts."""
import contextlib
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import rivals
import shape

ROUNDS = 5
SECONDS = 1
JSON = "application/vnd.pypi.simple.v1+json"
PLAIN = {"Accept": JSON}
GZIP = PLAIN | {"Accept-Encoding": "gzip"}


def refuse(reason):
    sys.exit(f"bench: {reason}")


def check_tools(binary):
    data = binary.read_bytes()
    if any(mark in data for mark in (b"__asan_init", b"__ubsan_handle", b"__tsan_init")):
        refuse(f"{binary} was built with sanitizers: its figures mean nothing. ./configure without --enable-sanitizers")
    for tool in ("wrk", "taskset", "sha256sum"):
        if not shutil.which(tool):
            refuse(f"{tool} is not installed")
    if not shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"):
        refuse("nginx is not installed")
    if not {rivals.SERVER_CORE, rivals.LOAD_CORE} <= os.sched_getaffinity(0):
        refuse("two processors are wanted, one for the servers and one for the load")


# --- pages and files ---

def copy_site(server, paths, site):
    """Writes what wheelcache answers for nginx to serve, plain and packed."""
    for path in paths:
        is_page = path.endswith("/")
        target = site / path.strip("/") / "index.json" if is_page else site / path.strip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(server.get(path, PLAIN)[2])
        if is_page:
            target.with_name(target.name + ".gz").write_bytes(server.get(path, GZIP)[2])


def cases(servers, small, large, wheel):
    """Name, path, headers a server, status: the ETags differ."""
    def same(headers):
        return {server.name: headers for server in servers}

    page, known = f"/simple/{small}/", {}
    for server in servers:
        known[server.name] = PLAIN | {"If-None-Match": server.get(page, PLAIN)[1]["ETag"]}
    return [("page of 4, plain", page, same(PLAIN), 200), ("page of 4, gzip", page, same(GZIP), 200),
            ("page of 5,000, plain", f"/simple/{large}/", same(PLAIN), 200),
            ("page of 5,000, gzip", f"/simple/{large}/", same(GZIP), 200), ("304", page, known, 304),
            ("404", "/simple/none/", same(PLAIN), 404), ("wheel of 20 KB", wheel, same({}), 200)]


def check_alike(servers, case):
    """Both must send the same bytes, or the comparison is void. Returns their number."""
    name, path, headers, status = case
    seen = [server.get(path, headers[server.name]) for server in servers]
    if any(one[0] != status for one in seen) or (status == 200 and len({one[2] for one in seen}) != 1):
        refuse(f"{name}: the servers differ: {[(one[0], len(one[2])) for one in seen]}")
    return len(seen[0][2])


def measure_serving(servers, todo):
    """Name -> (bytes, server -> median requests a second, server -> median CPU µs)."""
    sizes = {case[0]: check_alike(servers, case) for case in todo}
    taken = {}
    for _ in range(ROUNDS):
        for name, path, headers, status in todo:
            for server in servers:
                result = rivals.load(server, path, headers[server.name], SECONDS, status)
                taken.setdefault((name, server.name), []).append(result)
    median = {key: [statistics.median(column) for column in zip(*runs)] for key, runs in taken.items()}
    return {name: (sizes[name], *({server.name: median[name, server.name][i] for server in servers} for i in (0, 1)))
            for name, *_ in todo}


def print_serving(results):
    print(f"\n{'':22}{'bytes':>9}  {'requests/s':>23}  {'CPU us/request':>21}  {'CPU, of':>8}")
    print(f"{'':22}{'':9}  {'wheelcache':>11}{'nginx':>12}  {'wheelcache':>11}{'nginx':>10}  {'nginx':>8}")
    for name, (size, rate, cpu) in results.items():
        print(f"{name:22}{size:9,}  {rate['wheelcache']:11,.0f}{rate['nginx']:12,.0f}  "
              f"{cpu['wheelcache']:11.1f}{cpu['nginx']:10.1f}  {cpu['wheelcache'] / cpu['nginx']:8.2f}")


def bench_serving(binary, store, folder, small, large, wheel):
    path = f"/files/wheels/{small}/{wheel.name}"
    with contextlib.ExitStack() as stack:
        ours = rivals.start_wheelcache(binary, store, folder)
        stack.callback(ours.stop)
        copy_site(ours, [f"/simple/{small}/", f"/simple/{large}/", path], folder / "site")
        nginx = rivals.start_nginx(folder, large)
        stack.callback(nginx.stop)
        results = measure_serving([ours, nginx], cases([ours, nginx], small, large, path))
        print_serving(results)
        print(f"\nRSS of wheelcache after it: {ours.rss_bytes() / 2**20:.0f} MB")


# --- index ---

def timed(command):
    """Seconds, peak RSS in bytes, standard output."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        refuse(f"{command[0]} ended with {process.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss * 1024, output


def index_runs(binary, store, folder):
    """Interleaved rounds of sha256sum, a cold index and one without changes."""
    runs = {"sha256sum": [], "cold": [], "no change": []}
    hashing = f"find {store} -type f -print0 | xargs -0 -P {os.cpu_count()} -n 256 sha256sum"
    for i in range(ROUNDS):
        index = [str(binary), "index", "--json", "--catalog", str(folder / f"round-{i}.db"), str(store)]
        runs["sha256sum"].append((*timed(["sh", "-c", hashing])[:2], None))
        for name in ("cold", "no change"):
            seconds, rss, output = timed(index)
            runs[name].append((seconds, rss, json.loads(output)))
    return runs


def bench_index(binary, store, folder):
    runs = index_runs(binary, store, folder)
    median = {name: statistics.median(one[0] for one in rows) for name, rows in runs.items()}
    print(f"\nindex of {shape.ALL:,} wheels        seconds   hashed MB   RSS MB   of sha256sum's speed")
    for name, rows in runs.items():
        _, rss, summary = rows[-1]
        hashed = f"{summary['bytes_hashed'] / 1e6:.0f}" if summary else ""
        ratio = "" if name == "no change" else f"{median['sha256sum'] / median[name]:.2f}"
        memory = f"{rss / 2**20:.0f}" if summary else ""
        print(f"{name:30}{median[name]:8.2f}{hashed:>12}{memory:>9}{ratio:>23}")


# --- all ---

def first_line(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return ((done.stdout + done.stderr).strip().splitlines() or ["?"])[0]


def print_machine(binary):
    with open("/proc/cpuinfo", encoding="ascii") as info:
        model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), "?")
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    print(f"{model}, {os.cpu_count()} processors, Linux {platform.release()}")
    print(" · ".join([first_line(str(binary), "--version"), first_line(nginx, "-v"), first_line("wrk", "-v"),
                      "libmicrohttpd " + first_line("pkg-config", "--modversion", "libmicrohttpd")]))
    print(f"{rivals.CONNECTIONS} connections kept open, server on core {rivals.SERVER_CORE}, wrk on core "
          f"{rivals.LOAD_CORE}, medians of {ROUNDS} interleaved rounds of {SECONDS} s; load before: "
          f"{os.getloadavg()[0]:.1f}")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve()
    check_tools(binary)
    print_machine(binary)
    sys.stdout.flush()
    with tempfile.TemporaryDirectory(prefix="wheelcache-bench-") as name:
        folder = pathlib.Path(name)
        store = folder / "store"
        small, large, wheel = shape.make_store(store)
        bench_index(binary, store, folder)
        sys.stdout.flush()
        bench_serving(binary, store, folder, small, large, wheel)


main()
