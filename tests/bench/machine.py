# SPDX-License-Identifier: Apache-2.0
"""The machine and versions of a measurement, and how much CPU time other processes used meanwhile."""
import datetime
import os
import pathlib
import platform
import resource
import subprocess

import load
import nginx
import proxies
import pypiron
import rivals
import server

TICK = os.sysconf("SC_CLK_TCK")


def first_line(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return ((done.stdout + done.stderr).strip().splitlines() or ["?"])[0]


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "?")


def text(binary, rounds, seconds, is_loaded):
    """is_loaded: wrk loads servers beside each other; other parts have a median of rounds alone."""
    here = f"{datetime.date.today()} · {processor()}, {os.cpu_count()} processors, Linux {platform.release()}\n"
    versions = [first_line(str(binary), "--version"),
                "libmicrohttpd " + first_line("pkg-config", "--modversion", "libmicrohttpd")]
    if not is_loaded:
        return f"{here}{' · '.join(versions)}\n\nMedians of {rounds} interleaved rounds.\n"
    versions += [first_line(nginx.program(), "-v").replace("nginx version: ", ""), first_line("wrk", "-v").split(" [")[0],
                *(pin.replace("==", " ") for pin in pypiron.requirements(*rivals.NAMES, *proxies.START))]
    return (f"{here}{' · '.join(versions)}\n\n"
            f"All servers on core {server.CORE}, wrk on core {load.CORE}, 32 connections kept open where a line does "
            f"not say otherwise (4 for 20 MB);\nmedians of {rounds} interleaved rounds of {seconds} s (pypiron: every other). What counts is "
            "CPU µs of the server a request, and its ratios.\n")


class Busy:
    """Measures the processors from its creation on."""

    def __init__(self):
        self.begin = self._now()

    @staticmethod
    def _now():
        """Seconds: of the clock, of all processes, of our finished children."""
        fields = [int(one) for one in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        busy = sum(fields) - fields[3] - fields[4]  # neither idle nor waiting for the disk
        own = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(fields) / TICK / os.cpu_count(), busy / TICK, own

    def others(self):
        """How many processors other processes used since then."""
        clock, busy, own = (now - then for now, then in zip(self._now(), self.begin))
        return max(0, busy - own) / clock
