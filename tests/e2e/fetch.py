# SPDX-License-Identifier: Apache-2.0
"""Fetches files by name out of the package index that pip is set to. Runs inside the environment of pip 26.3, as a library, so that
all of pip's settings hold: certificate, proxy, password. Standard input is {project: {file name: SHA-256}}, the argument a folder;
standard output is {file name: why it is not there}."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import sys
import threading

from pip._internal.commands.download import DownloadCommand
from pip._internal.index.collector import LinkCollector, parse_links
from pip._internal.models.link import Link

AT_ONCE = 6  # requests that the index sees from a client of it
SILENT, ABSENT, OTHER = "the index does not answer", "the index does not have it", "the index has other bytes of that name"
folder = pathlib.Path(sys.argv[1])
options, _ = DownloadCommand("download", "").parse_args(["--no-cache-dir", "--no-input", "--retries", "1", "--timeout", "20"])
local = threading.local()


def session():
    """Each thread has its own."""
    if not hasattr(local, "session"):
        command = DownloadCommand("download", "")
        local.session = command._build_session(options)
    return local.session


def page(project):
    """{file name: link} of a project, or nothing."""
    answer = LinkCollector(session(), None).fetch_response(Link(f"{options.index_url.rstrip('/')}/{project}/"))
    return answer and {link.filename: link for link in parse_links(answer)}


def get(link, name, digest):
    """Why the file cannot be had; nothing where it is in the folder now."""
    if link is None:
        return ABSENT
    try:
        answer = session().get(link.url_without_fragment, headers={"Accept-Encoding": "identity"})
        answer.raise_for_status()
    except OSError as error:  # what requests raises
        return f"{SILENT} ({type(error).__name__})"
    if hashlib.sha256(answer.content).hexdigest() != digest:
        return OTHER
    part = folder / (name + ".part")
    part.write_bytes(answer.content)
    os.replace(part, folder / name)
    return None


def fetch(project, files):
    links = page(project)
    return {name: SILENT if links is None else get(links.get(name), name, digest) for name, digest in files.items()}


with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
    found = pool.map(lambda one: fetch(*one), json.load(sys.stdin).items())
    json.dump({name: why for answers in found for name, why in answers.items() if why}, sys.stdout)
