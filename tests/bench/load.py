# SPDX-License-Identifier: Apache-2.0
"""One round: wrk requests a line of the table from a server, whose CPU time is read before and after."""
import dataclasses
import json
import pathlib
import subprocess

import server
import veth

CORE = server.CORE + 1
SUMMARY = pathlib.Path(__file__).with_name("summary.lua")


@dataclasses.dataclass
class Round:
    """The result of a round."""
    rate: float    # requests a second
    cpu_us: float  # of the server, a request


class Unusable(RuntimeError):
    """wrk's result cannot be used."""


def check(one, line, seen):
    wrong = seen["requests"] if line.status >= 400 else 0
    if seen["broken"] or seen["bad_status"] != wrong or not seen["requests"]:
        raise Unusable(f"{one.name}, {line.name}: {seen}")


def run(one, line, seconds):
    path, headers = line.ask(one)
    options = [word for name, value in headers.items() for word in ("-H", f"{name}: {value}")]
    one.settle()
    before = one.cpu_seconds()
    words = ["wrk", "-t1", f"-c{line.connections}", f"-d{seconds}s", "-s", str(SUMMARY), *options,
             f"http://127.0.0.1:{one.port}{path}"]
    done = subprocess.run(server.pinned(CORE, *(veth.command(*words) if line.is_far else words)),
                          capture_output=True, text=True, check=True)
    used = one.cpu_seconds() - before
    seen = json.loads(done.stdout.splitlines()[-1])
    check(one, line, seen)
    # wrk does not count large answers that are incomplete when the round ends, so they are counted by bytes.
    requests = seen["bytes"] / one.size[line.name] if line.is_large else seen["requests"]
    return Round(requests * 1e6 / seen["us"], used * 1e6 / requests)
