#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the requirement files beside it, one for each environment that tests/e2e/clients.py makes: all that pip would install
for the requirements in WANTED, with the SHA-256 of every wheel of these releases that fits a Linux machine.

Run it with the oldest Python of PYTHONS and a pip that is set to an index; arguments are handed on to pip (--find-links)."""
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "e2e"))
import pipindex  # noqa: E402

PYTHONS = ("cp311", "cp312", "cp313", "cp314")
OLDEST_MINOR = 11
MACHINES = ("x86_64", "aarch64")
WANTED = [
    "pip==22.0.4", "pip==22.3.1", "pip==23.2.1", "pip==24.2", "pip==26.3", "uv==0.13.9", "twine==7.0.0",
    "twine==4.0.2 importlib_metadata==7.2.1 pkginfo==1.10.0",  # an old uploader, which fails at start with newer versions of these
    "flit==4.2.0", "poetry==2.5.1", "pdm==2.29.3", "pypi-simple==1.8.0 mousebender==2025.1",
    "tox==4.67.15", "check-jsonschema==0.39.0", "kubernetes-validate==1.37.0",
]
ALONE = ["axe-playwright-python==0.1.8"]  # for a file in it: without what it requires


def file_of(wanted):
    return HERE / (wanted.split()[0].replace("==", "-") + ".txt")


def resolve(wanted, options):
    """Project and version of all that pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.json")
        more = ["--no-deps"] if wanted in ALONE else []
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", *more, "--dry-run", "--ignore-installed", "--only-binary", ":all:",
                        "--report", report, *options, *wanted.split()], check=True)
        found = json.loads(report.read_text())["install"]
    return sorted((re.sub(r"[-_.]+", "-", one["metadata"]["name"]).lower(), one["metadata"]["version"]) for one in found)


def fits(filename):
    pythons, abi, platforms = filename.removesuffix(".whl").rsplit("-", 3)[1:]
    stable = abi == "abi3" and re.fullmatch(r"cp3\d+", pythons) and int(pythons[3:]) <= OLDEST_MINOR
    linux = "manylinux" in platforms and platforms.endswith(MACHINES)
    return (platforms == "any" or linux) and (stable or set(pythons.split(".")) & {"py3", *PYTHONS})


def hashes(index, context, name, version):
    """SHA-256 of the wheels of a release that fit."""
    request = urllib.request.Request(f"{index}/{name}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"})
    with urllib.request.urlopen(request, timeout=60, context=context) as answer:
        files = json.load(answer)["files"]
    return sorted({one["hashes"]["sha256"] for one in files if one["filename"].endswith(".whl") and fits(one["filename"])
                   and one["filename"].split("-")[1] == version})


def main():
    index = pipindex.url(sys.executable)
    context = ssl.create_default_context(cafile=pipindex.settings(sys.executable).get("cert") or os.environ.get("SSL_CERT_FILE"))
    known = {}
    for wanted in WANTED + ALONE:
        lines = [f"# {wanted}: made by pin.py\n"]
        for pin in resolve(wanted, sys.argv[1:]):
            known[pin] = known.get(pin) or hashes(index, context, *pin)
            lines += ["==".join(pin), *(f" \\\n    --hash=sha256:{one}" for one in known[pin]), "\n"]
        file_of(wanted).write_text("".join(lines))


if __name__ == "__main__":
    main()
