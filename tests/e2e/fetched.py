# SPDX-License-Identifier: Apache-2.0
"""The recorded wheels if ../shared is absent: tests/data/corpus lists them by project, name and SHA-256, and they are fetched
once from the package index that pip is set to, and kept beside the clients. Locally built wheels (linux_x86_64) are on no
index. The pages of most projects list only these files."""
import collections
import datetime
import gzip
import hashlib
import json
import os
import pathlib
import shutil
import subprocess

import pytest

import clients

HERE = pathlib.Path(__file__).parent
RECORDED = clients.DATA / "corpus"
REASON = ("recorded wheels are absent: set pip to an index that has them, or lay the folder of shared test data into "
          f"{clients.SHARED}, or name it by WHEELCACHE_SHARED")
OTHER = "other bytes"  # in fetch.py's words
PIP = "pip==26.3"
File = collections.namedtuple("File", "project path sha256 time")


def files(pages):
    """All that is held, with its place below the corpus."""
    for project, page in pages.items():
        for one in page["files"]:
            kind = "wheels" if one["filename"].endswith(".whl") else "sdists"
            time = datetime.datetime.fromisoformat(one["upload-time"].replace("Z", "+00:00")).timestamp()
            yield File(project, pathlib.Path(kind, one["filename"]), one["hashes"]["sha256"], time)


def is_there(corpus, file):
    path = corpus / file.path
    return path.exists() and hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256


def lay_out(pages, corpus):
    """What is recorded in the project, as ../shared has it."""
    if corpus.is_dir():
        return
    half = corpus.with_name("half")
    shutil.rmtree(half, ignore_errors=True)
    shutil.copytree(RECORDED, half)
    for kind in ("wheels", "sdists"):
        (half / kind).mkdir()
    for project, page in pages.items():
        path = half / "pages" / f"{project}.json.gz"
        if not path.exists():
            path.write_bytes(gzip.compress(json.dumps(page).encode(), mtime=0))
    half.rename(corpus)


def fetch(corpus, missing, **variables):
    """{file name: why it cannot be fetched}. variables: the environment variables for pip."""
    wanted = collections.defaultdict(dict)
    for file in missing:
        wanted[file.project][file.path.name] = file.sha256
    into = corpus / "fetched"
    into.mkdir(exist_ok=True)
    python = clients.environment(PIP) / "bin" / "python"
    done = subprocess.run([python, HERE / "fetch.py", into], input=json.dumps(wanted), text=True, capture_output=True, timeout=900,
                          env=os.environ | variables, check=False)
    assert done.returncode == 0, done.stderr
    for file in missing:
        path = into / file.path.name
        if path.exists():
            path.chmod(0o444)  # tests lay links to it
            os.utime(path, (file.time, file.time))
            path.replace(corpus / file.path)
    return json.loads(done.stdout)


def judge(absent):
    """Other bytes are a failure; a file that cannot be fetched is not."""
    wrong = sorted(name for name, why in absent.items() if OTHER in why)
    assert not wrong, f"the index has other bytes than tests/data/corpus says: {wrong}"
    if absent:
        pytest.skip(f"{REASON} ({len(absent)} files, as {': '.join(next(iter(absent.items())))})")


def shared():
    """A folder with the layout of ../shared, which has only the corpus."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(RECORDED.rglob("*.*")) if path.is_file())).hexdigest()[:8]
    pages = json.loads((RECORDED / "held.json").read_text())
    place = clients.cache_folder() / f"shared-{digest}"
    corpus = place / "corpus"
    with clients.locked(f"{place}.lock"):
        lay_out(pages, corpus)
        missing = [file for file in files(pages) if not is_there(corpus, file)]
        absent = fetch(corpus, missing) if missing else {}
    judge(absent)
    return place
