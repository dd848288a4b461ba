# SPDX-License-Identifier: Apache-2.0
"""Every recorded wheel and sdist is accepted by a platform that can install it, and its page has the facts of the file."""
import csv
import hashlib
import json
import re
import tarfile
import urllib.parse
import zipfile

import pytest

import pages
import uploading

PYTHONS = "2.7 3.4 3.5 3.6 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.13t 3.14t"
PLATFORMS = [("x86_64", "musl 1.2"), ("x86_64", "glibc 2.41"), ("aarch64", "glibc 2.41"), ("riscv64", "glibc 2.41")]
ELSEWHERE = "other-systems"  # it has no profile, so it accepts wheels for Windows and macOS
# Files that are rightly refused, with a part of the message.
REFUSED = {
    "isodatetime-1!2.0.0-py3.7.egg": "neither a wheel nor an sdist",
    "dbus-python-1.2.2-pypi.tar.gz": '"pypi" is not a version',  # pip ignores it too
    "q-2.3.macosx-10.8-intel.tar.gz": '"intel" is not a version',  # in fact a bdist_dumb for macOS
}
MOST = 1 << 20  # bytes of a file, without --nightly


def platform_of(name):
    tag = name[:-len(".whl")].rsplit("-", 1)[-1]
    if not name.endswith(".whl") or tag == "any":
        return "glibc-x86_64"
    if "musllinux" in tag:
        return "musl-x86_64"
    machine = re.search(r"linux.*_(x86_64|aarch64|riscv64)$", tag)
    return f"glibc-{machine[1]}" if machine else ELSEWHERE


@pytest.fixture(scope="module", name="server")
def server_fixture(serve_module, tmp_path_factory):
    store = tmp_path_factory.mktemp("uploads") / "store"
    config = f"[store]\npath = {store}\n[platform {ELSEWHERE}]\n"
    (store / ELSEWHERE).mkdir(parents=True)
    for arch, libc in PLATFORMS:
        name = f"{libc.split()[0]}-{arch}"
        (store / name).mkdir()
        config += f"[platform {name}]\npythons = {PYTHONS}\narch = {arch}\nlibc = {libc}\n"
    server = serve_module(config=config)
    server.token = uploading.add_token(server)
    server.store = store
    return server


def recorded(request, shared, *patterns):
    """(path, its row of expected.tsv or None) of each file."""
    corpus = shared / "corpus"
    with open(corpus / "expected.tsv", encoding="utf-8") as table:
        rows = {row[0]: row for row in csv.reader(table, delimiter="\t", quoting=csv.QUOTE_NONE)}
    found = sorted(path for pattern in patterns for path in shared.glob(pattern))
    assert len(found) > 20
    return [(path, rows.get(str(path.relative_to(corpus)) if path.is_relative_to(corpus) else None)) for path in found
            if path.stat().st_size <= MOST or request.config.getoption("--nightly")]


def metadata_of(path):
    """METADATA or PKG-INFO, as the file has it."""
    if path.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(path) as archive:
            name, = [one for one in archive.namelist() if re.fullmatch(r"[^/]+(\.dist-info/METADATA|/PKG-INFO)", one)]
            return archive.read(name)
    with tarfile.open(path) as archive:
        names = [one for one in archive.getnames() if re.fullmatch(r"(\./)?[^/]+/PKG-INFO", one)]
        return archive.extractfile(names[0]).read() if names else b""


def field(metadata, name):
    found = re.search(rf"^{name}: *(.*?)\r?$", metadata.decode("utf-8", "replace"), re.M | re.I)
    return found[1] if found else None


def upload(server, path):
    metadata = metadata_of(path) if path.suffix != ".egg" else b""
    form = uploading.form_of(path, name=field(metadata, "Name"), version=field(metadata, "Version"),
                             filetype="bdist_wheel" if path.suffix == ".whl" else "sdist")
    platform = platform_of(path.name)
    return platform, metadata, uploading.post(server, f"/upload/{platform}/", form, server.token)


def on_page(server, platform, path, project):
    """The facts of the file in both formats of the page."""
    url = f"/{platform}/simple/{re.sub('[-_.]+', '-', project).lower()}/"
    forms = [reader(server.get(url, {"Accept": accept}).body, server.url + url)
             for accept, reader in ((pages.HTML, pages.html_files), (pages.JSON, pages.json_files))]
    in_html, in_json = ([one for one in files if one.filename == path.name] for files in forms)
    assert in_html == in_json and len(in_json) == 1
    return in_json[0]


def as_set(specifier):
    return set(re.sub(r"\s", "", specifier or "").split(",")) - {""}


def check(server, path, row):
    platform, metadata, reply = upload(server, path)
    if path.name in REFUSED:
        assert reply.status == 400 and REFUSED[path.name] in reply.body.decode(), reply.body
        return
    assert reply.status == 200, f"{platform}: {reply.status} {reply.body.decode()}"
    file = on_page(server, platform, path, field(metadata, "Name"))
    assert hashlib.sha256(server.get(urllib.parse.urlsplit(file.url).path).body).hexdigest() == file.sha256
    if b"same contents" in reply.body:  # another build of it was uploaded before, and stays
        return
    data = path.read_bytes()
    assert file.sha256 == hashlib.sha256(data).hexdigest()
    assert as_set(file.requires_python) == as_set(field(metadata, "Requires-Python"))
    if path.suffix == ".whl":
        assert file.metadata_sha256 == hashlib.sha256(metadata).hexdigest()
    if row:
        assert (file.sha256, file.metadata_sha256) == (row[1], row[3])
        assert as_set(file.requires_python) == as_set(json.loads(row[10]))


def each(server, files):
    """Tries all, and reports all failures."""
    wrong = []
    for path, row in files:
        try:
            check(server, path, row)
        except AssertionError as reason:
            wrong.append(f"{path.name}: {str(reason).splitlines()[0]}")
    print(f"\n{len(files)} files, {sum(path.stat().st_size for path, _ in files) >> 20} MB")
    assert not wrong, "\n".join(wrong)


def test_wheels(server, request, shared):
    each(server, recorded(request, shared, "corpus/wheels/*.whl", "corpus/locally-built/*/*.whl", "clients/wheels/*.whl"))


def test_sdists(server, request, shared):
    each(server, recorded(request, shared, "corpus/sdists/*"))
