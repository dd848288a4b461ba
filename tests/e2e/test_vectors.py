# SPDX-License-Identifier: Apache-2.0
"""Each of the shared vectors as a file of a store: valid ones are listed with the right facts, invalid ones are not, and their
neighbours stay listed."""
import collections
import contextlib
import dataclasses
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import tarfile
import urllib.parse

import pytest

import clients
import indexing
import pages
import serving
import storelib

NAME_MAX = 255
OURS = (".whl", ".tar.gz", ".zip")  # files with other suffixes are ignored, not quarantined


@dataclasses.dataclass
class Vector:
    """A file to be laid into a store, and what must become of it."""
    folder: str
    filename: str
    data: bytes
    project: str | None = None  # the project that lists it; None: it is refused
    version: str | None = None
    metadata: bytes | None = None  # that is served beside it
    rank: int = 0  # of its version among the others of the project
    reason: str = ""  # a part of the expected message for a refused one

    @property
    def is_file(self):
        """Whether a file system accepts its name."""
        return len(os.fsencode(self.filename)) <= NAME_MAX and not set(self.filename) & {"/", "\0"}


def rows(table):
    """The rows of a table of vectors; a first column that begins with a quote is a JSON string."""
    path = clients.recorded(f"vectors/{table}")
    if not path.is_file():
        pytest.skip(f"{path} is absent: it holds the vectors")
    with open(path, encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if not line.startswith("#"):
                first, *rest = line.rstrip("\n").split("\t")
                yield [json.loads(first) if first.startswith('"') else first, *rest]


def zipped(members):
    data = io.BytesIO()
    storelib.zip_write(data, members)
    return data.getvalue()


def tarred(members):
    data = io.BytesIO()
    with gzip.GzipFile(fileobj=data, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in members:
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text))
    return data.getvalue()


def wheel_of(stem, name, version):
    """METADATA and bytes of a wheel that is valid if its name is; stem: of .dist-info."""
    metadata = storelib.metadata_bytes(name, version)
    members = [(f"{stem}.dist-info/METADATA", metadata),
               (f"{stem}.dist-info/WHEEL", storelib.wheel_file_bytes("py3-none-any"))]
    members.append((f"{stem}.dist-info/RECORD", storelib.record_bytes(members, f"{stem}.dist-info/RECORD")))
    return metadata, zipped(members)


def versions():
    """Each version with its spelling, in the file name and in METADATA; build tags distinguish equal versions."""
    for i, (spelled, valid, normal, _, rank, *_) in enumerate(rows("versions.tsv")):
        metadata, data = wheel_of(f"v-{spelled}", "v", spelled)
        name = f"v-{spelled}-{i}spelled-py3-none-any.whl"
        if re.search(r"\s", spelled):
            yield Vector("v", name, data, reason="file name has ")  # a blank, or a byte that is none
        elif "-" in spelled:
            yield Vector("v", name, data, reason="5 or 6 parts between dashes")
        elif valid == "0":
            yield Vector("v", name, data, reason="is not a version")
        else:
            yield Vector("v", name, data, "v", normal, metadata, int(rank))


def versions_of_build_tools():
    """Each version as build tools write it: normalised in the file name, with its spelling in METADATA."""
    for i, (spelled, valid, normal, _, rank, *_) in enumerate(rows("versions.tsv")):
        name = f"v-{normal or '1.0'}-{i}-py3-none-any.whl"
        metadata, data = wheel_of(f"v-{normal or '1.0'}", "v", spelled)
        if valid == "1":
            yield Vector("v", name, data, "v", normal, metadata, int(rank))
        else:
            yield Vector("v", name, data, reason="METADATA: its Version is not 1.0")


def names():
    """Each name as a project, in a folder of that name; build tags distinguish names with the same normal form."""
    for i, (name, valid, normal) in enumerate(rows("names.tsv")):
        escaped = re.sub(r"[-_.]+", "_", name)
        metadata, data = wheel_of(f"{escaped}-1.0", name, "1.0")
        filename = f"{escaped}-1.0-{i}-py3-none-any.whl"
        if valid == "1":
            yield Vector(name, filename, data, json.loads(normal), "1.0", metadata)
        else:
            yield Vector(name, filename, data)


def wheel_names():
    """Each file name with matching contents, so that only the name can be wrong."""
    for filename, valid, normal, version, *_ in rows("wheelnames.tsv"):
        name, spelled = filename.split("-")[:2]
        metadata, data = wheel_of(f"{name}-{spelled}", name, spelled)
        if valid == "0":
            yield Vector("wheels", filename, data)
        elif not name.isascii():  # valid in a file name, but not in METADATA (PEP 508, and names.tsv)
            yield Vector("wheels", filename, data, reason=f"METADATA: its Name is not {normal}")
        else:
            yield Vector("wheels", filename, data, normal, version, metadata)


def sdist_names(*, has_pkg_info=True):
    """Each file name with the contents that it promises."""
    for filename, valid, normal, version in rows("sdistnames.tsv"):
        stem = re.sub(r"\.(tar\.gz|zip)$", "", filename)
        name, _, spelled = stem.rpartition("-")
        members = [(f"{stem}/setup.py", b"")]
        if has_pkg_info:
            members.append((f"{stem}/PKG-INFO", storelib.metadata_bytes(name, spelled)))
        data = (zipped if filename.endswith(".zip") else tarred)(members)
        yield Vector("sdists", filename, data, *((normal, version) if valid == "1" else ()))


def old_sdist_names():
    """The same without PKG-INFO, as in old sdists."""
    return sdist_names(has_pkg_info=False)


# Our messages where they differ from the vectors, by file or by message. A scan accepts what PyPI accepted until 2025: data
# descriptors, but not wrong ones.
DIFFERENT = {
    "zipinzip.zip": "Malformed zip file",
    "data_descriptor_zip64.zip": None,
    "ZIP contains a data descriptor": "Mis-matched data descriptor",
}


def framings():
    """The bytes of each ZIP, and the expected message about its framing; None: it is valid."""
    for path, verdict, reason in rows("zipdata.tsv"):
        reason = DIFFERENT.get(pathlib.Path(path).name, DIFFERENT.get(reason, reason))
        yield clients.recorded(f"vectors/{path}").read_bytes(), None if verdict == "accept" else reason


def zips():
    """Each ZIP as an sdist, which needs no member."""
    for i, (data, reason) in enumerate(framings()):
        if reason is None:
            yield Vector("zips", f"zip-{i}.0.zip", data, "zip", f"{i}.0", rank=i)
        else:
            yield Vector("zips", f"zip-{i}.0.zip", data, reason=reason)


def zips_as_wheels():
    """Each ZIP as a wheel: none of them has the members of a wheel."""
    for i, (data, reason) in enumerate(framings()):
        yield Vector("zips", f"zip-{i}.0-py3-none-any.whl", data, reason=reason or "no .dist-info folder")


def neighbours(vectors):
    """For each folder, a valid wheel of each project with a file there, and one of another project."""
    for i, (folder, project) in enumerate(sorted({(one.folder, one.project or "beside") for one in vectors})):
        stem = f"{project.replace('-', '_')}-0.0.0.dev0"
        metadata, data = wheel_of(stem, project, "0.0.0.dev0")
        yield Vector(folder, f"{stem}-{i}-py3-none-any.whl", data, project, "0.0.0.dev0", metadata)


def lay(vectors, store):
    for one in vectors:
        path = os.fsencode(store / indexing.PLATFORM / one.folder)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, os.fsencode(one.filename)), "xb") as file:
            file.write(one.data)


def page(connection, project, accept):
    path = f"/simple/{project}/"
    reply = serving.ask(connection, path, {"Accept": accept})
    assert reply.status == 200, project
    return reply.body, f"http://here{path}"


def url_of(project, filename):
    return urllib.parse.quote(f"/files/{indexing.PLATFORM}/{project}/{filename}")


def check_page(connection, project, expected):
    """Both forms of the page have these files, ordered by version, with these facts."""
    files = pages.html_files(*page(connection, project, pages.HTML))
    body, url = page(connection, project, pages.JSON)
    assert pages.json_files(body, url) == files, project
    by_name = {one.filename: one for one in expected}
    assert sorted(one.filename for one in files) == sorted(by_name)
    ranks = [by_name[one.filename].rank for one in files]
    assert ranks == sorted(ranks), project
    assert set(json.loads(body)["versions"]) == {one.version for one in expected}
    for one in files:
        vector = by_name[one.filename]
        metadata = vector.metadata and hashlib.sha256(vector.metadata).hexdigest()
        assert one == pages.File(vector.filename, f"http://here{url_of(project, vector.filename)}",
                                 hashlib.sha256(vector.data).hexdigest(), None, metadata, False)


def check_served(connection, vector):
    path = url_of(vector.project or vector.folder, vector.filename)
    if vector.project is None:
        assert serving.ask(connection, path).status in (400, 404), vector.filename
        return
    assert serving.ask(connection, path).body == vector.data, vector.filename
    if vector.metadata:
        assert serving.ask(connection, f"{path}.metadata").body == vector.metadata, vector.filename


def quarantined(summary):
    """(folder, file name) -> reason."""
    return {tuple(one["path"].split("/")[1:]): one["reason"] for one in summary["lists"]["quarantined"]}


@pytest.mark.parametrize("kind", [versions, versions_of_build_tools, names, wheel_names, sdist_names, old_sdist_names,
                                  zips, zips_as_wheels], ids=lambda kind: kind.__name__)
def test_each_vector_in_a_store(tmp_path, serve, kind):
    vectors = list(kind())
    vectors += neighbours(vectors)
    laid = [one for one in vectors if one.is_file]
    good = [one for one in laid if one.project]
    bad = [one for one in laid if not one.project and one.filename.endswith(OURS)]
    at = indexing.Indexed(tmp_path)
    lay(laid, at.store)

    summary = at.index("--settle", "0")
    indexing.numbers(summary, added=len(good), quarantined=len(bad), duplicates=0, problems=0,
                     ignored=len(laid) - len(good) - len(bad))
    reasons = quarantined(summary)
    for one in bad:
        assert one.reason in reasons.pop((one.folder, one.filename)), one.filename
    assert not reasons

    server = serve(at.store, state=at.catalog.parent)
    listed = collections.defaultdict(list)
    for one in good:
        listed[one.project].append(one)
    with contextlib.closing(server.connect()) as connection:
        root = serving.ask(connection, "/simple/", {"Accept": pages.JSON})
        assert pages.json_projects(root.body) == sorted(listed)
        for project, expected in listed.items():
            check_page(connection, project, expected)
        for one in vectors:  # also names that no file system accepts: a request may have them
            check_served(connection, one)
    print(f"{kind.__name__}: {len(good)} listed, {len(laid) - len(good)} not, "
          f"{len(vectors) - len(laid)} that no file system takes")


@pytest.mark.parametrize("name", ["a/b.whl", "a\0b.whl", "a" * 252 + ".whl"], ids=["slash", "nul", "long"])
def test_what_no_file_system_takes_is_told_apart(tmp_path, name):
    assert not Vector("folder", name, b"").is_file
    with pytest.raises((OSError, ValueError)):
        (tmp_path / name).write_bytes(b"")
