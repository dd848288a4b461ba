# SPDX-License-Identifier: Apache-2.0
"""The package index that this machine's pip is set to, as pip says: its files, PIP_INDEX_URL, or its default."""
import ast
import subprocess

DEFAULT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"


def settings(python):
    """pip's settings, the environment before the files: {"index-url": …, "cert": …}. python: one that has pip."""
    said = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True).stdout
    found = [line.partition("=") for line in said.splitlines()]
    found.sort(key=lambda one: (":env:", "install", "global").index(one[0].partition(".")[0])
               if one[0].startswith((":env:.", "install.", "global.")) else 3)
    kept = {}
    for name, _, value in found:
        kept.setdefault(name.partition(".")[2], ast.literal_eval(value))
    return kept


def url(python):
    """The URL of its pages, without a slash at the end. It may contain a password: not to be logged."""
    default = subprocess.run([python, "-c", DEFAULT], capture_output=True, text=True, check=True).stdout.strip()
    return settings(python).get("index-url", default).rstrip("/")
