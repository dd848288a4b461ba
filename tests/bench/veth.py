# SPDX-License-Identifier: Apache-2.0
"""A network namespace that reaches this machine's 127.0.0.1 over a veth pair: packets are cut and acknowledged as on a
network, which the loopback device does not do. Root only."""
import contextlib
import os
import shutil
import subprocess

NAME = f"wcbench{os.getpid()}"
HERE, THERE = f"wch{os.getpid() % 10**6}", f"wct{os.getpid() % 10**6}"  # at most 15 characters
NET = "10.213.117"


def is_possible():
    return os.getuid() == 0 and shutil.which("ip") is not None


def command(*words):
    """The command, in the namespace."""
    return ["ip", "netns", "exec", NAME, *words]


def run(*words):
    subprocess.run(words, check=True)


@contextlib.contextmanager
def link():
    """Its loopback device stays down, so that 127.0.0.1 has no way but the pair."""
    run("ip", "netns", "add", NAME)
    try:
        run("ip", "link", "add", HERE, "type", "veth", "peer", "name", THERE, "netns", NAME)
        run("ip", "addr", "add", f"{NET}.1/24", "dev", HERE)
        run("ip", "link", "set", HERE, "up")
        run("sysctl", "-qw", f"net.ipv4.conf.{HERE}.route_localnet=1")
        run("ip", "-n", NAME, "addr", "add", f"{NET}.2/24", "dev", THERE)
        run("ip", "-n", NAME, "link", "set", THERE, "up")
        run(*command("sysctl", "-qw", f"net.ipv4.conf.{THERE}.route_localnet=1"))
        run("ip", "-n", NAME, "route", "add", "127.0.0.1", "dev", THERE, "src", f"{NET}.2")
        yield
    finally:
        run("ip", "netns", "del", NAME)  # and the pair with it
