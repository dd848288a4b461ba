# SPDX-License-Identifier: Apache-2.0
"""The servers beside each other: interleaved rounds of each line, and the medians against what is to be reached."""
import contextlib
import statistics

import floor
import lines
import load
import nginx
import ours
import pypiron
import table
import veth


def start_all(stack, binary, floor_binary, store, shape, folder):
    """Starts wheelcache first, then the others with copies of its answers."""
    def kept(one):
        stack.callback(one.stop)
        return one

    first = kept(ours.start(binary, store, folder))
    todo = [line for line in lines.all_lines(shape) if veth.is_possible() or not line.is_far]
    if veth.is_possible():
        stack.enter_context(veth.link())
    look(first, todo)
    found = [first, kept(nginx.start(first, todo, folder)),
             kept(floor.start(floor_binary, first, todo, folder / "floor"))]
    rival = pypiron.start(shape, store, folder / "pypiron")
    if rival:
        found.append(kept(rival))
        pypiron.check_lists(rival, shape)
    return todo, found


def look(one, todo):
    """One request per line: gets the ETag for 304 lines and the sizes, and checks the answer."""
    one.etag, one.size, bodies = {}, {}, {}
    for line in todo:
        if line.status == 304:
            one.etag[line.name] = one.get(*line.ask(one))[1]["ETag"]
        status, _, body = one.get(*line.ask(one))
        if status != line.status:
            raise RuntimeError(f"{one.name}, {line.name}: {status}, not {line.status}")
        one.size[line.name] = len(body)
        bodies[line.name] = body
        if isinstance(one, ours.Wheelcache):
            line.bytes = len(body)
    return bodies


def check_alike(servers, todo):
    """Checks that copies of our pages and files have the same bytes; otherwise the comparison is void."""
    first, *others = ((one, look(one, todo)) for one in servers)
    for one, bodies in others:
        for line in todo:
            is_copy = one.gives_our_bytes and line.status in (200, 206) and (not line.is_zstd or one.has_zstd)
            if is_copy and bodies[line.name] != first[1][line.name]:
                raise RuntimeError(f"{one.name}, {line.name}: {len(bodies[line.name])} bytes that differ from ours")


def medians(rounds):
    return load.Round(statistics.median(one.rate for one in rounds), statistics.median(one.cpu_us for one in rounds))


def measure(servers, todo, count, seconds):
    """(line's name, server's name) -> medians. A competitor that is far slower is measured only in every other round."""
    taken = {}
    for i in range(count):
        for line in todo:
            for one in (one for one in servers if one.gives_our_bytes or i % 2 == 0):
                taken.setdefault((line.name, one.name), []).append(load.run(one, line, seconds))
    return {key: medians(rounds) for key, rounds in taken.items()}


def shortfalls(line, results):
    """What a line does not reach, as text."""
    mine = results[line.name, "wheelcache"]
    for other, most in line.goals.items():
        key = (line.name, other) if (line.name, other) in results else (other, "wheelcache")
        if (share := line.share(mine, results[key])) > most:
            yield f"{share:.2f} > {most} of {other}"
    rival = results.get((line.name, "pypiron"))
    if rival and line.share(mine, rival) >= 1:
        yield "behind pypiron"


def row(line, results, names):
    of = [results[line.name, name] for name in names]
    return [line.name, f"{line.bytes:,}", *(f"{one.rate:,.0f}" for one in of[:2]), *(f"{one.cpu_us:,.1f}" for one in of),
            *(f"{of[0].cpu_us / one.cpu_us:.2f}" for one in of[1:]), "; ".join(shortfalls(line, results)) or "yes"]


def bench(binary, floor_binary, store, shape, folder, count, seconds):
    """Returns the table as text."""
    with contextlib.ExitStack() as stack:
        todo, servers = start_all(stack, binary, floor_binary, store, shape, folder)
        check_alike(servers, todo)
        servers[1].choose_ways(todo, seconds)
        results = measure(servers, todo, count, seconds)
        names = [one.name for one in servers]
        heads = ["", "bytes", "requests/s", "nginx", "CPU µs", *names[1:], *(f"of {name}" for name in names[1:]), "reached"]
        text = table.text(heads, [row(line, results, names) for line in todo])
        absent = "" if "pypiron" in names else f"No pypiron: {pypiron.CLIENTS}/peers.txt is not there.\n"
        absent += "" if veth.is_possible() else "Nothing over veth: that takes root and ip.\n"
        by_sendfile = [name for name, way in servers[1].way.items() if way == "sendfile"]
        return (f"{text}\nnginx took less with sendfile for: {', '.join(by_sendfile) or 'none'}.\n{absent}"
                f"RSS of wheelcache after it: {servers[0].rss_bytes() / 2**20:.0f} MB.\n")
