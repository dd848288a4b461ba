#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the fuzz targets to tests/fuzz/corpus: seeds.py [FOLDER]. The same folders have inputs that
fuzzing found, named found-*."""
import base64
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
import elfmaker  # noqa: E402

INFO = "demo-1.0.dist-info"
METADATA = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Python: >=3.8\n\nAbout it.\n"
WHEEL = b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
CODE = b"answer = 42\n" * 20


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def members(metadata=METADATA, wheel=WHEEL):
    files = {"demo/__init__.py": CODE, f"{INFO}/METADATA": metadata, f"{INFO}/WHEEL": wheel}
    record = "".join(record_line(*f) for f in files.items()) + f"{INFO}/RECORD,,\n"
    return files | {f"{INFO}/RECORD": record.encode()}


class Stream(io.BytesIO):
    """A stream that cannot seek, so that zipfile writes data descriptors."""

    def seekable(self):
        return False

    def seek(self, *_):
        raise io.UnsupportedOperation


def zipped(files, packing=zipfile.ZIP_DEFLATED, comment=b"", out=None, extra=b"", zip64=False, gap=(b"", 0)):
    """gap: bytes, and the index of the member that they precede."""
    out = out or io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = comment
        for place, (name, content) in enumerate(files if isinstance(files, list) else files.items()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.external_attr, entry.extra = packing, 0o100644 << 16, extra
            if gap[0] and gap[1] == place:
                archive.fp.seek(archive.start_dir)
                archive.start_dir += archive.fp.write(gap[0])
            with archive.open(entry, "w", force_zip64=zip64) as member:
                member.write(content)
    return out.getvalue()


def zips():
    stored = zipped(members(), zipfile.ZIP_STORED)
    return {
        "deflated": zipped(members()),
        "stored": stored,
        "descriptors": zipped(members(), out=Stream()),
        "zip64-extras": zipped(members(), zip64=True),
        "end-comment": zipped(members(), comment=b"PK\5\6 behind the end"),
        "bytes-before": b"#!/bin/sh\n" + stored,
        "bytes-behind": stored + b"\0" * 30,
        "gap-before": zipped(members(), gap=(b"PK\3\4 and more", 0)),
        "gap-between": zipped(members(), gap=(b"PK\3\4 and more", 2)),
        "truncated": stored[:-40],
        "size-lies": zipped(members()).replace(len(METADATA).to_bytes(4, "little"),
                                               (len(METADATA) + 1).to_bytes(4, "little")),
        "control-in-name": zipped(members() | {"demo/\x01\x1b": b""}),
        "twice-the-same-name": zipped([*members().items(), (f"{INFO}/METADATA", METADATA)]),
        "local-name-differs": stored.replace(b"METADATA", b"METADATB", 1),
        "crc-differs": stored.replace(b"answer = 42", b"answer = 43", 1),
        "path-leads-out": zipped(members() | {"../../etc/passwd": b"root"}),
        "name-not-ascii": zipped(members() | {"demo/é\U0001f600.py": b""}),
        "folder": zipped(members() | {"demo/data/": b""}, zipfile.ZIP_STORED),
        "unicode-path-extra": zipped(members(), extra=b"\x75\x70\x09\x00\x01\0\0\0\0evil"),
        "no-members": zipped({}),
        "rate-of-a-bomb": zipped(members() | {"demo/zeros": b"\0" * 200000}),
        "lzma": zipped(members(), zipfile.ZIP_LZMA),
    }


def sdist_members(metadata=METADATA):
    return {"demo-1.0/PKG-INFO": metadata, "demo-1.0/demo.py": CODE, "demo-1.0/demo.egg-info/PKG-INFO": b"other"}


def tarred(files, form=tarfile.PAX_FORMAT, **fields):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            for field, value in fields.items():
                setattr(entry, field, value)
            archive.addfile(entry, io.BytesIO(content))
    blocks = -(-len(out.getvalue().rstrip(b"\0")) // 512) + 2
    return out.getvalue()[:blocks * 512]


def sdists():
    plain = tarred(sdist_members())
    long_name = {f"demo-1.0/{'deep/' * 30}file": b"x"} | sdist_members()
    return {
        "plain.tar": plain,
        "packed.tar.gz": gzip.compress(plain, mtime=0),
        "two-streams.tar.gz": gzip.compress(plain[:700], mtime=0) + gzip.compress(plain[700:], mtime=0),
        "cut-off.tar.gz": gzip.compress(plain, mtime=0)[:-9],
        "truncated.tar": plain[:1200],
        "pax-long-name.tar": tarred(long_name),
        "pax-size.tar": tarred(sdist_members(), pax_headers={"size": "85", "comment": "x"}),
        "gnu-long-name.tar": tarred(long_name, tarfile.GNU_FORMAT),
        "ustar-prefix.tar": tarred(long_name, tarfile.USTAR_FORMAT),
        "path-leads-out.tar": tarred({"demo-1.0/../../x": b""} | sdist_members()),
        "two-tops.tar": tarred({"other/x": b""} | sdist_members()),
        "sparse.tar": tarred(sdist_members(), type=b"S"),
        "links.tar": tarred({"demo-1.0/link": b""} | sdist_members(), type=b"2", linkname="/etc"),
        "no-pkg-info.tar": tarred({"demo-1.0/setup.py": CODE}),
        "other-version.tar": tarred(sdist_members(METADATA.replace(b"1.0", b"1.1"))),
        "plain.zip": zipped(sdist_members()),
        "no-pkg-info.zip": zipped({"demo-1.0/setup.py": CODE}),
        "descriptors.zip": zipped(sdist_members(), out=Stream()),
    }


def parts():
    good = list(members().values())[1:]
    record = good[2].split(b"\n", 1)[1]
    tail = [b"\f".join([good[0], good[1], record])]
    odd_wheel = WHEEL.replace(b"py3-none", b"cp39-cp39").replace(b": 1.0", b": 1.9")
    return {
        "good": tail[0],
        "further-member": tail[0] + b"demo/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
                                    b"\fdemo/__init__.py",
        "signed": tail[0] + b"\f" + INFO.encode() + b"/RECORD.jws",
        "not-in-record": tail[0] + b"\fdemo/__init__.py",
        "second-dist-info": tail[0] + b"\fdemo-1.1.dist-info/METADATA",
        "odd-path": tail[0] + b"\fdemo\\..\\x",
        "odd-wheel-file": b"\f".join([good[0], odd_wheel, record]),
        "wheel-version-2": b"\f".join([good[0], WHEEL.replace(b": 1.0", b": 2.0"), record]),
        "other-name": b"\f".join([METADATA.replace(b"demo", b"Demo_"), WHEEL, b""]),
        "no-record": b"\f".join([METADATA, WHEEL]),
        "odd-requires-python": b"\f".join([METADATA.replace(b">=3.8", b">=3.8 and more"), WHEEL, record]),
        "only-metadata": METADATA,
    }


WHEEL_NAMES = {
    "plain": "demo-1.0-py3-none-any.whl",
    "build-tag": "demo-1.0-1abc-cp38.cp39-abi3-manylinux1_x86_64.manylinux2014_x86_64.whl",
    "local": "torch-2.1.0+cu118-cp311-cp311-linux_x86_64.whl",
    "odd-spelling": "My.Cool_Project-V01.0RC1.POST2-py2.py3-none-any.whl",
    "not-ascii": "d\u00e9mo-1-py3-none-any.whl",
    "sdist": "zope.interface-5.0.0rc1.tar.gz",
    "sdist-zip": "demo-1!2.0.dev3.zip",
    "sdist-many-dashes": "cffi-1.0.2-2.tar.gz",
    "empty-part": "demo--py3-none-any.whl",
    "control": "demo-1.0\n-py3-none-any.whl",
}


def form(*parts, boundary="b", before="", after="\r\n", piece=b"\x07", content_type=None):
    """The size of the pieces, a Content-Type, and a form with parts: (parameters, bytes)."""
    lines = "".join(f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n{data}\r\n" for head, data in parts)
    content_type = content_type or f"multipart/form-data; boundary={boundary}"
    return piece + f"{content_type}\n{before}{lines}--{boundary}--{after}".encode()


def forms():
    fields = [('name=":action"', "file_upload"), ('name="protocol_version"', "1"), ('name="name"', "demo")]
    wheel = ('name="content"; filename="demo-1.0-py3-none-any.whl"\r\nContent-Type: application/octet-stream', "PK\x03\x04")
    return {
        "twine": form(*fields, wheel, boundary="0123456789abcdef0123456789abcdef"),
        "uv": form(wheel, *fields, ('name="attestations"', "[]"), piece=b"\x00", after=""),
        "tokens": form(("name=content; filename=demo.whl", "x"), piece=b"\x01"),
        "encoded": form(("name*=utf-8''na%C3%AFve; filename*=UTF-8'en'a%2fb", "x")),
        "quoted": form(('filename="a \\"b\\\\c;d"; name="x y"', "x"), content_type='multipart/form-data; boundary="b"'),
        "nearly": form(("name=x", "\r\r\n-\r\n--\r\n--c\r\n--\n--b\n"), before="a\r\n--c\r\n", after=" \r\nb\r\n--b\r\n"),
        "empty": form(),
        "no-name": form(("filename=x", "x")),
        "cut": form(wheel)[:-8],
        "encoding": form(("name=x\r\nContent-Transfer-Encoding: base64", "eA==")),
        "no-form": form(wheel, content_type="application/json"),
    }


FILE = {
    "filename": "demo-1.0-py3-none-any.whl", "url": "../../files/demo-1.0-py3-none-any.whl#x", "size": 7,
    "hashes": {"sha256": "ab" * 32}, "upload-time": "2026-01-02T03:04:05.678901Z", "requires-python": ">=3.8",
    "core-metadata": {"sha256": "cd" * 32}, "yanked": "a\n<b>", "provenance": "https://example.org/p"}


def simple_json():
    def page(*files, **more):
        return json.dumps({"meta": {"api-version": "1.4", "_last-serial": 7}, "name": "demo", "files": files} | more)

    plain = {"filename": "Demo-2.tar.gz", "url": "https://u:p@files.example.org/a b/Demo-2.tar.gz?q", "hashes": {}}
    return {
        "whole": page(FILE, plain, versions=["1.0", "2"]),
        "nulls": page(FILE | dict.fromkeys(k for k in FILE if k not in ("filename", "url"))),
        "twice": page(FILE, plain, FILE | {"size": 8}),
        "others": page(FILE, FILE | {"filename": "other-1-py3-none-any.whl"}, FILE | {"filename": "demo/1.zip"}),
        "quarantined": page(**{"project-status": {"status": "quarantined", "reason": "malware"}}),
        "old-metadata": page({"data-dist-info-metadata": True, "yanked": True} | plain),
        "wrong-kinds": page(1, None, [], FILE | {"size": "7", "hashes": [], "yanked": 1}, versions={"a": 1}),
        "another": page().replace('"demo"', '"other"'),
        "next-api": page().replace("1.4", "2.0"),
        "urls": page(*(FILE | {"filename": f"demo-{i}.zip", "url": url} for i, url in enumerate(
            ["/a", "//h", "?q", "..", "http:a", "file:///a", "a/./../b", "\u00e9%zz"]))),
        "no-url": page(FILE, FILE | {"url": ""}),
        "files-of-strings": page("demo-1.0-py3-none-any.whl"),
        "versions-of-numbers": page(FILE, versions=["1", 2]),
        "long-fields": page(FILE | {"requires-python": ">" * 1025, "yanked": "\u20ac" * 342}, FILE | {
            "filename": "demo-2.zip", "provenance": "https://example.org/" + "p" * 2029}),
        "long-status": page(**{"project-status": {"status": "archived", "reason": "\u20ac" * 342}}),
        "cut": page(FILE)[:-40],
    }


def simple_html():
    top = '<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.4"><title>Links for demo</title>'
    link = ('<a href="../../files/demo-1.0-py3-none-any.whl#sha256=' + "ab" * 32 + '" data-requires-python="&gt;=3.8" '
            'data-core-metadata="sha256=' + "cd" * 32 + '" data-yanked="a &lt;b&gt;" data-size=7 '
            'data-upload-time="2026-01-02T03:04:05Z">demo-1.0-py3-none-any.whl</a><br />')
    end = "</body></html>"
    return {
        "whole": f"{top}</head><body><h1>Links for demo</h1>{link}{end}<!--SERIAL 7-->",
        "status": f'{top}<meta name="pypi:project-status" content="archived">{end}',
        "base": f"{top}<base href=//files.example.org/a/><base href=/b/>{link}{end}",
        "bare": f"{link}<a href=demo-2.zip data-yanked>x<a href=Demo-3.egg#md5=1&sha256=>y</html>",
        "folder": "<title>Index of /demo/</title><a href=../>../</a><a href=demo-1%2Bx.tar.gz>d</a></BODY></HTML>",
        "error": "<html><head><title>Error</title></head><body><h1>Unavailable</h1><a href=/>x</a></body></html>",
        "another": f"{top.replace('demo', 'other')}{end}",
        "next-api": top.replace("1.4", "2.0") + end,
        "deep": "<b>" * 300 + "</i>" * 300,
        "entities": f"{top}<a href='demo-1.zip?a&copy=1&#0;&#x110000;&amp' data-yanked='&&lt'>&nbsp;</a>{end}",
        "comments": f"{top}<!-- a --!><script>'</html>'</script><![CDATA[x]]>{link}{end}<!--SERIAL x--><!---->",
        "long-fields": f'{top}<meta name="pypi:project-status" content="archived"><meta name="pypi:project-status-reason" '
                       f'content="{"r" * 1030}"><a href=demo-1.zip data-requires-python="{">" * 1025}" '
                       f'data-yanked="{"y" * 1025}">{end}',
        "no-href": f"{top}<a>demo-1.zip</a>{end}",
        "cut": f"{top}{link}"[:-20],
    }


def missing_document(*rows, **changed):
    totals = {"missing": 2, "here": 5}
    files = [{"name": "c.txt", "kind": "constraints", "sha256": "ab" * 32}]
    return json.dumps({
        "made": "2026-11-22T20:00:00Z",
        "branches": [{"name": "master", "until": None, "is_over": False, "files": files}, {"name": "old", "until": "2026-03-31", "is_over": True}],
        "environments": [{"platform": "ubuntu-22.04-x86_64", "python": "3.10", "totals": totals}],
        "totals": totals, "rows": list(rows), **changed})


def missing_rows():
    sdist = {"filename": "a-1.tar.gz", "url": "https://u.example/a-1.tar.gz", "sha256": "ab" * 32, "size": 12}
    row = {"platform": "ubuntu-22.04-x86_64", "python": "3.10", "project": "a", "version": "1.0+cu128", "status": "missing",
           "why": "no wheel at all", "branches": ["master", "old"], "sdist": sdist, "attempts": None}
    attempts = {"count": 2, "last": "2026-11-20T20:00:00Z", "retry": None, "result": "timed-out", "step": "build", "recipe": None}
    return {
        "whole": missing_document(row, row | {"project": "a-b", "python": "3.13t"}),
        "failed": missing_document(row | {"status": "failed", "attempts": attempts}),
        "ours": missing_document(row | {"sdist": sdist | {"url": "file:p/a/a-1.tar.gz", "sha256": None, "size": None}}),
        "outside": missing_document(row | {"sdist": sdist | {"url": "file:p/../a-1.tar.gz"}}),
        "unknown": missing_document(row | {"status": "unknown", "version": None, "sdist": None, "why": "a\nb\u001b\u00e9"}),
        "other-branch": missing_document(row | {"branches": ["old", "master"]}),
        "no-rows": missing_document(),
        "not-lists": missing_document(rows={}, branches=[[]]),
        "numbers": missing_document(row | {"python": 3.10}),
    }


def provenance():
    """Statements, an array of attestations, and a provenance object."""
    subject = {"name": "foo_bar-1.0-py3-none-any.whl", "digest": {"sha256": "0" * 64}}
    definition = {"buildType": "t", "externalParameters": {"branch": "main", "options": ["-Da=1", "-Db"], "w": {"ref": "v1"}},
                  "internalParameters": {"toolchain": {"gcc": "14", "rustc": 1.9}, "python": "3.12", "fast": True},
                  "resolvedDependencies": [
                      {"name": "ucx", "uri": "https://x/u.tar.gz", "digest": {"md5": "5", "sha256": "7"},
                       "annotations": {"version": "1.19", "prefix": "/usr", "how": "source", "options": ["a", "b"]}},
                      {"uri": "https://y/base/"}, {}, 1]}
    run = {"builder": {"id": "https://b", "version": {"w": "1", "pip": "26"}},
           "metadata": {"invocationId": "i", "startedOn": "s", "finishedOn": "f"}}
    whole = {"_type": "https://in-toto.io/Statement/v1", "subject": [subject], "predicateType": "https://slsa.dev/provenance/v1",
             "predicate": {"buildDefinition": definition, "runDetails": run}}
    statement = base64.b64encode(json.dumps(whole).encode()).decode()
    attestation = {"version": 1, "verification_material": {"certificate": "eA==", "transparency_entries": [{}]},
                   "envelope": {"statement": statement, "signature": "eA=="}}
    text = json.dumps(whole)
    return {"whole": text, "twice": text.replace('"predicate":', '"subject": [], "predicate":'),
            "nul": text.replace("main", "ma\\u0000in"), "controls": text.replace("main", "\\u001b[31m"),
            "other-predicate": text.replace("slsa.dev", "example.org"), "no-digest": text.replace("sha256", "sha512"),
            "attestations": json.dumps([attestation, attestation]),
            "object": json.dumps({"version": 1, "attestation_bundles": [
                {"publisher": {"kind": "wheelcache-token", "claims": {}}, "attestations": [attestation]}]})}


def results():
    whole = {"id": "0123456789abcdef" * 2, "platform": "debian-12-x86_64", "python": "3.11", "project": "six",
             "version": "1.17.0", "result": "failed", "step": "build", "why": "pip </td><script> ended with 1",
             "begun": "2026-11-22T20:00:00Z", "seconds": 12.5, "peak_memory": 123456789,
             "files": [{"filename": "six-1.17.0-py3-none-any.whl", "sha256": "ef" * 32, "size": 11050}],
             "sdist": {"filename": "six-1.17.0.tar.gz", "sha256": "ab" * 32}, "awaiting": ["cffi"], "recipe": "cd" * 32,
             "builder": "<b>host</b>", "provenance": {"compiler": "gcc", "<i>": ["</pre><!--", None, 1.5, {"a": True}]},
             "has_log": True, "log": "a\r\nb\x1b[31m"}
    bare = whole | {"result": "running", "files": [], "sdist": None, "awaiting": [], "recipe": "", "provenance": {}, "why": ""}
    bare.pop("log")
    return {"whole": json.dumps(whole), "bare": json.dumps(bare), "wrong": json.dumps(whole | {"seconds": -1}),
            "log": "\u009b31m\u202e\r\x07\u2028" + "\u241b\u00e9"}


TEXTS = {
    "missing-json": missing_rows(),
    "offer-list": {
        "three": "wheelcache-provides 1 3 11\nlibrary * libtorn.so lib/libtorn.so\nunreadable\nname libtorn.so\n"
                 "library x86_64 libc.so.6 lib/libc.so.6\nname libc.so.6\nversion GLIBC_2.34\n puts@GLIBC_2.34\n"
                 "library x86_64 libre2.so.11 lib/a%20b\nname libre2.so.11\nneeded libc.so.6\n odd%40name%25\n",
        "wrong-count": "wheelcache-provides 1 1 3\nlibrary x86_64 libc.so.6 lib/libc.so.6\nname libc.so.6\n",
        "no-name": "wheelcache-provides 1 1 2\nlibrary x86_64 a a\n b@c\n",
        "same-name": "wheelcache-provides 1 2 6\nlibrary x86_64 a z\nname a\n b@2\nlibrary x86_64 a b\nname a\n b\n",
    },
    "version": {
        "all-parts": "1!2.0.3rc4.post5.dev6+ubuntu.7\n1!2.0.3rc4.post5.dev7",
        "spellings": " v1.0-ALPHA_3-4.DEV \n1.0a3.post4.dev0",
        "zeros": "0!01.0.0.0\n1",
        "huge": "9" * 300 + "\n1" + "0" * 300,
        "local-order": "1+abc.5\n1+abc.def",
        "implicit-post": "1-1\n1.post1",
        "unicode-blanks": "\u00a01.0\u2003\n\u20281.0",
        "not-one": "1.0+\n1..0",
    },
    "specifier": {
        "range": ">=3.8, <4, !=3.9.*, ~=3.8",
        "identity": "===foobar-baz_2",
        "local": "==1.0+cu118",
        "prefix-wrong": "==1.0.dev1.*",
        "compatible-wrong": "~=3",
        "blanks": "\u2003>= 3.8 ,, \t",
        "version": "1.0.post3",
        "local-version": "1.0+cu118",
        "not-one": "=>3;<2)",
    },
    "marker": {
        "versions": "python_version >= '3.8' and python_full_version<'3.11.4'",
        "texts": "os_name == 'posix' or \"linux\" in sys_platform and platform_machine!='aarch64'",
        "nested": "((extra == 'x') or (implementation_name=='pypy'))",
        "not-in": "python_version not in '3.9 3.1'",
        "sets": "'x' in extras or 'y' not in dependency_groups",
        "compatible": "python_version ~= '3.8' and implementation_version === '3.11.2'",
        "wrong": "os_name ~= 'posix'",
        "unended": "(os_name == 'posix",
    },
    "requirements-file": {
        "pins": "requests===2.32.0\nPint===0.17;python_version=='3.6'  # why\n",
        "lock": "a[x,y]==1.0 ; os_name == 'posix' \\\n    --hash=sha256:00 \\\n    --hash=sha256:01\n# via b\n",
        "options": "-r other.txt\n--constraint=c.txt\n--pre\n-i https://u:p@a.example/simple\n--no-binary :all:\n",
        "url": "a @ https://a.example/a.whl ; os_name == 'nt'\nb>=1,<2\n",
        "wrong": "a=1\n-e .\n",
        "no-file": "-r''",
    },
    "build-output": {
        "pip": "--- pip wheel\n  error: subprocess-exited-with-error\n  \u00d7 Getting requirements to build wheel did not run "
               "successfully.\n  \u2502 exit code: -11\n  \u2570\u2500> [2 lines of output]\n      ValueError: bad\n      "
               "[end of output]\n  note: This error\n\0a/b.cpython-311-x86_64-linux-gnu.so\0"
               '{"version": "1", "install": [{"metadata": {"name": "A.b", "version": "1"}, "download_info": '
               '{"archive_info": {"hashes": {"sha256": "ab"}}}}]}\n{"install": []}',
        "compiler": "x.c:1:2: error: 'a' undeclared\nerror: command 'gcc' failed with exit code 1\n\0a-1.data/purelib/b.py\0[1]",
        "colours": "\x1b[31ma\x1b[0m\x07\n--- b\n\x1b\n\0__init__.so\0{",
        "cut": "make: *** [x] Error 1\0a/b/__init__.py",
    },
    "filename": WHEEL_NAMES,
    "tag": {
        "plain": "py3-none-any",
        "sets": "cp38.cp39.CP38-abi3.none-manylinux1_x86_64.manylinux2014_x86_64",
        "build-tag": "7-py2.py3-none-any",
        "wheel": "py2.py3-none-any\nWheel-Version: 1.0\nTag: py2-none-any\nTag: py3-none-any\n",
        "wheel-of-sets": "py2.py3-none-any\nTag: py2.py3-none-any\nTag: PY3-none-any\n",
        "wheel-of-long-sets": "py3-none-any\nTag: " + "p" * 250 + "-a.b.c-" + ".".join("defgh") + "\n",
        "wheel-of-many-tags": "py3-none-any\n" + "Tag: " + "-".join([".".join("abcdefghijklmnop")] * 3) + "\n",
        "too-many": "-".join(".".join(f"{p}{n}" for n in range(17)) for p in "abc"),
        "empty-member": "py3..py2-none-any",
    },
    "metadata": {
        "plain": METADATA.decode(),
        "folded": "Metadata-Version: 2.2\r\nName: demo\r\nSummary: a\r\n\t b\r\n c\r\nVersion:\r\n 1.0\r\n\r\nbody",
        "several-names": "Metadata-Version: 2.0\nName: a\nname: b\nVersion: 1\nVersion: 1\n",
        "stray-fold": " folded first\nName: a\n:nameless\n more\nVersion: 1\n",
        "lone-cr": "Name: a\rVersion: 1\rMetadata-Version: 1.2\r",
        "version-3": "Metadata-Version: 3.0\nName: a\nVersion: 1\n",
        "not-utf-8": b"Metadata-Version: 2.1\nName: a\nVersion: 1\nAuthor: \xff\xc3\n",
        "no-fields": "\n\nName: a\n",
        "empty-name": "Metadata-Version: 2.1\nName:\nVersion: 1\n",
        "long-python": "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Python: >=3" + "," * 1022 + "\n",
        "longest-python": "Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Python: >=3" + "," * 1021 + "\n",
    },
    "record": {
        "plain": members()[f"{INFO}/RECORD"].decode(),
        "quoted": '"a,b ""c""\nd.py",,"12"\r\n"x"y,md5=abc,007\r\r\n\n',
        "better-hashes": f"a,sha512={'A' * 85}Q,18446744073709551615\nb,SHA384={'A' * 64},18446744073709551616\n",
        "open-quote": 'a,"b,1\n',
        "quote-inside": 'a"b,,\nx,y",1\n',
        "two-fields": "a,b\n",
        "four-fields": "a,b,c,d\n",
    },
    "multipart": forms(),
    "negotiate": {
        "pip-new": "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01"
                   "\ngzip, deflate, br, zstd\npip/24.0 {}\n",
        "pip-old": "application/vnd.pypi.simple.v1+json, text/html; q=0.01\ngzip, deflate\npip/22.3.1 {}",
        "nothing-wanted": "*/*;q=0\nidentity;q=0, *;q=0",
        "quoted": 'text/html;a="b,\\"c;q=0";Q=0.5, image/*;q=1.001\nx-gzip;q=0.001,zstd;q=2',
        "format-json": "text/html\n*\ncurl\napplication/vnd.pypi.simple.latest json",
        "format-unknown": "*/*\n\n\napplication/xml",
        "empty": "",
    },
    "conditional": {
        "part": 'bytes=0-499\n"abc"\n"abc"',
        "open-end": 'bytes=500-\nW/"abc", "x"\nW/"abc"',
        "suffix": 'Bytes=-18446744073709551617\n*\nSat, 29 Oct 1994 19:43:31 GMT',
        "several": 'bytes=0-1,3-4\n"a", "abc" \n',
        "backwards": 'bytes=5-2\n"abc',
        "huge": "bytes=18446744073709551614-18446744073709551615\n\"x\"\"abc\"",
        "malformed": "bytes=a-b\nabc\nabc",
        "other-etag": "bytes=0-\n\"xyz\"\n\"xyz\"",
    },
    "urlpath": {
        "project": "/ubuntu-22.04-x86_64/simple/zope-interface/",
        "file": "/files/p/torch/torch-1%212.0%2Bcu118-py3-none-any.whl.metadata",
        "root": "/",
        "encoded-slash": "/simple/a%2fb/",
        "dots": "/simple/%2e%2e/x",
        "nul": "/simple/a%00b",
        "escape": "/simple/a%1bb%7f",
        "line-end": "/simple/a%0d%0aSet-Cookie:x",
        "twice-encoded": "/simple/%252e%252e/",
        "not-utf-8": b"/simple/%ff\xc3",
        "bad-hex": "/%g1/%2",
        "too-deep": "/a" * 9,
        "backslash": "/a%5cb",
        "utf-8": "/simple/%C3%A9\u00e9/",
        "longest-segment": "/" + "a" * 255 + "/" + "b" * 256,
    },
    "config": {
        "whole": "[store]\npath = /srv/wheels\ndefault-view = jammy\n[server]\nlisten = [::1]:0\nlog-level = debug\n"
                 "threads = 4\npage-cache = 1G\ntimeout = 5m\npage-max-age = 0\n\n[platform ubuntu-22.04-x86_64]\n"
                 "mutable = yes\n[platform b]\npath = x\n# c\n[view jammy]\nplatforms = ubuntu-22.04-x86_64\n b\n",
        "unknown-key": "[store]\nfoo = 1\n",
        "unknown-section": "[sotre]\npath = 1\n",
        "unknown-platform": "[platform a]\n[view v]\nplatforms = a b\n",
        "view-is-platform": "[platform a]\n[view a]\nplatforms = a\n",
        "twice": "[platform a]\nmutable = yes\nmutable = no\n[platform a]\n",
        "no-section": "path = /x\n",
        "too-much": "[server]\nconnections = 99999999999999999999\n",
        "too-few": "[server]\nconnections = 0\n",
        "long-line": "[store]\npath = " + "x" * 300 + "\n",
        "indented": "[index]\nthreads = 2\n settle = 3\n",
        "nul": "[store]\npath = a\0b\n",
        "no-line-end": "[index]\nsettle=2d ; comment",
    },
    "page": {
        "plain": "demo-1.0-py3-none-any.whl\0" "1.0\0>=3.8,<4",
        "markup": "<script>\"'&amp;\\</a>.whl\0" "1\"<\0</title>\"><!--",
        "controls": "a\x01\x1f\x7f\r\n\t.whl\0\x02\0\x03\x7f",
        "not-utf-8": b"a\xff\xc3\xa9\xed\xa0\x80.whl\0\xfe\0\xc0\x80<",
        "line-separators": "\u2028\u2029\u0085\ufeff\U0001f600.zip\0" "1",
        "empty": "",
    },
    "toml": {
        "values": 'a = 1\nb = [1, "x\\u00e9\\n", \'y\', [], {}]\nc = 1979-05-27 07:32:00.5Z\nd = -1_0.5e-3\n'
                  'e = """\n a\\\n  b"""\nf = true\n',
        "tables": "[a.b]\nc.d = 1\n[[e]]\n[[e.f]]\n[e.f.g]\n[a]\nb2 = { c.d = 1, e = 2, }\n'' = 1\n",
        "twice": "a = 1\na = 2\n",
        "deep": "a = " + "[" * 70,
        "many": "a = [\n" + "0," * 6000,
        "not-utf-8": b"a = '\xff'",
    },
    "lock": {
        **{path.name: path.read_bytes() for path in sorted((pathlib.Path(__file__).parents[1] / "data/locks").iterdir())},
        "poetry-1": "[[package]]\nname = 'a'\nversion = '1'\ncategory = 'dev'\n[metadata]\nlock-version = '1.1'\n"
                    "[metadata.files]\na = [{ file = 'a-1.tar.gz', hash = 'md5:00' }]\n",
        "uv-workspace": "version = 1\nrequires-python = '>=3'\n[manifest]\nmembers = ['a']\n[manifest.dependency-groups]\n"
                        "d = [{ name = 'b', extra = ['x'] }]\n[[package]]\nname = 'a'\nsource = { editable = '.' }\n"
                        "[[package]]\nname = 'b'\nversion = '1'\n[package.optional-dependencies]\nx = [{ name = 'a' }]\n",
        "cargo": 'version = 4\n\n[[package]]\nname = "a"\nversion = "1"\n',
        "cut": '{"_meta": {"pipfile-spec": 6}, "default": {"a": {',
    },
    "json-sax": {
        "page": simple_json()["whole"],
        "escapes": '{"a\\u00e9\\n": ["\\ud83d\\ude00", "\\u0000\\/", "\\uD800x", "\\uDC00\\uD800"], "\\u0000": ""}',
        "numbers": "[0, -0, 1.50, -2e3, 1E-400, 123456789012345678901, 1e999, 01]",
        "utf-8": b'["\xc3\xa9", "\xf0\x9f\x98\x80", "\xed\xa0\x80"]',
        "deep": "[" * 3000 + "{}" + "]" * 3000,
        "twice": '{"a": 1, "a": {"b": [true, false, null]}} \r\n\t',
        "behind": "{} {",
        "bare": "12",
    },
    "junit": {
        "pytest": "<?xml version='1.0' encoding='utf-8'?><testsuites name='pytest tests'><testsuite name='pytest' errors='1' "
                  "failures='1' skipped='2' tests='6'><testcase classname='test_x' name='test_ok' time='0.001' />"
                  "<testcase classname='test_x' name='test_bad'><failure message='assert 1 == 2'>E   assert</failure></testcase>"
                  "<testcase classname='' name='t'><error message='collection failure'/></testcase>"
                  "<testcase name='s'><skipped type='pytest.xfail' message='no&#10;no'/></testcase></testsuite></testsuites>",
        "bazel": "<testsuites>\n<testsuite name='a'>\n<testsuite><testcase name='x' status='notrun'/></testsuite>"
                 "<system-out><![CDATA[<failure/>]]></system-out><error/></testsuite></testsuites>",
        "utf-16": "<?xml version='1.0' encoding='utf-16'?><testsuite><testcase name='\u00e4'><failure/></testcase></testsuite>"
                  .encode("utf-16"),
        "doctype": "<!DOCTYPE a [<!ENTITY b 'c'>]><testsuites>&b;</testsuites>",
        "cut": "<testsuites><testsuite><testcase name='",
        "deep": "<testsuite>" * 70 + "</testsuite>" * 70,
    },
    # "{" and "\t" are odd, "<" is even.
    "project-names": {
        "json": '{"meta": {"api-version": "1.4"}, "projects": [{"name": "Zope.Event", "_last-serial": 1}, {"name": "a"}]}',
        "json-others": '\t{"name": "no", "projects": [{"x": {"name": "no"}, "n\\u0061me": "b"}, null, {"name": 1}], "z": [[]]}',
        "html": '<!DOCTYPE html><html><body><a href="/simple/a/">a</a><br/><a href=b><b>B</b>.c</a></body></html>',
        "html-odd": "<a>a&#45;b</a><!-- <a>no</a> --><a><a>c</a></a><a>d",
    },
    "provenance": provenance(),
    "results-json": results(),
    "simplepage-json": simple_json(),
    "simplepage-html": simple_html(),
    "wheelparts": parts(),
    "zipframe": zips(),
    "wheel": zips(),
    "sdist": sdists(),
    "tarstream": {n: b"\x63" + tar for n, tar in sdists().items() if n.endswith(".tar")} |
                 {"too-much-to-keep.tar": b"\0" + tarred({"PKG-INFO": b"\n" * 5000})},
}


def elves():
    plain = {"soname": "libx.so.1", "needed": ("libc.so.6", "libm.so.6"), "runpath": "$ORIGIN/../x.libs",
             "versions": {"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.17"), "libm.so.6": ("GLIBC_2.29",)}, "defines": ("X_1", "X_2"),
             "imports": ("puts@GLIBC_2.2.5", "PyList_New"), "weak": ("__gmon_start__",), "exports": ("PyInit_x", "f@X_2"),
             "build_id": "00ff" * 10, "toolchain": ("GCC: (GNU) 14.2.1", "rustc version 1.90.0")}
    return {
        "x86_64": elfmaker.elf(**plain, isa_needed=3, isa_used=15),
        "i686": elfmaker.elf(machine="i686", isa_used=1, **plain),
        "s390x": elfmaker.elf(machine="s390x", **plain),
        "object": elfmaker.elf(kind="object", is_dynamic=False),
        "program": elfmaker.elf(kind="executable", interpreter="/lib64/ld-linux-x86-64.so.2", needed=("libc.so.6",)),
        "odd": elfmaker.elf(rpath="/opt/lib", textrel=True, stack="rwx"),
        "no-stack": elfmaker.elf(stack=None),
        "header": elfmaker.elf()[:64],
    }


def sboms():
    component = {"name": "openssl", "version": "3.0.15", "purl": "pkg:generic/openssl@3.0.15"}
    nested = component | {"components": [component, {"name": "x", "components": [{"name": "deep"}]}, {"version": "1"}]}
    reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:pypi/demo@1.0"}
    return {
        "cyclonedx": json.dumps({"bomFormat": "CycloneDX", "specVersion": "1.6", "metadata": {
            "component": nested, "tools": {"components": [{"name": "no"}]}}, "components": [component, nested]}),
        "spdx-2": json.dumps({"spdxVersion": "SPDX-2.3", "packages": [
            {"name": "demo", "versionInfo": "1.0", "externalRefs": [{"referenceType": "cpe23Type"}, reference]}]}),
        "spdx-3": json.dumps({"@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld", "@graph": []}),
        "other": "<bom/>",
        "cut": '{"bomFormat": "CycloneDX", "components": [{"name": "a',
    }


def native_wheels():
    files = members(wheel=WHEEL.replace(b"true", b"false"))
    extra = {"demo/core.so": elves()["x86_64"], "demo.libs/liby-0a1b2c3d.so.1": elves()["i686"], "demo/bad.so": b"\x7fELF",
             "demo/a.pyc": b"x", "Demo/A.pyc": b"x", "tests/a.py": b"x", f"{INFO}/sboms/a.json": sboms()["cyclonedx"].encode(),
             f"{INFO}/sboms/b.json": sboms()["cut"].encode()}
    return {"native": zipped(files | extra), "native-stored": zipped(files | extra, zipfile.ZIP_STORED)} | zips()


def packed_facts():
    """Facts before compression: no ELF, SBOM component or oddity and one member; a damaged ELF; a made-up one."""
    def text(value):
        return bytes([len(value) + 1]) + value + b"\0" if value is not None else b"\0"
    path, hash_ = text(b"a.so"), b"\x11" * 32
    versions = b"\x01" + text(b"libc.so.6") + text(b"GLIBC_2.17") + b"\0" + b"\0"
    symbols = b"\x02" + b"\x0d" + text(b"puts") + b"\x04" + text(b"PyInit_a")
    elf = path + b"\x10" + hash_ + b"\0\0" + b"\x3e" + b"\x65" + text(b"a.so") + b"\0\0" + b"\x01" + text(b"libc.so.6") + \
        versions + symbols + b"\0" + text(b"") + b"\0\0"
    end = b"\x01" + text(b"s.json") + text(b"x") + b"\0" + b"\0" + b"\x01\x00" + text(b"a.pyc") + b"\0" + b"\x01" + text(b"a.so")
    return {
        "pure": b"\x01\0\0\0\0\0\x01" + text(b"a.py"),
        "damaged": b"\0\x01" + text(b"why") + b"\x01" + path + b"\x10" + hash_ + text(b"bad") + b"\x01" + end,
        "native": b"\0\0\0\x01" + elf + end,
    }


BINDING = "     14230:\tbinding file ./libplugin_UCX.so [0] to "
TEXTS["bind-log"] = {
    "plain": BINDING + "./libucp.so.0 [0]: normal symbol `ucp_init_version'",
    "version": BINDING + "/lib/x86_64-linux-gnu/libc.so.6 [0]: normal symbol `puts' [GLIBC_2.2.5]",
    "protected": BINDING + "./libucp.so.0 [12]: protected symbol 'f'",
    "brackets": "1:\tbinding file /x [0] y/a [0] to /x [1]/b].so [0]: normal symbol `f'",
    "other": "     14230:\tcalling init: ./libucp.so.0",
}
def generations():
    member = {"platform": "debian-12-x86_64", "project": "six", "filename": "six-1.0-py3-none-any.whl", "sha256": "1" * 64}
    sdist = member | {"project": "cffi", "filename": "cffi-1.0.2-2.tar.gz"}
    first = {"view": "tested", "generation": 1, "previous": None, "made": "2026-11-20T01:02:03Z", "action": "promote",
             "by": "token ci", "address": "127.0.0.1", "reason": "the night", "evidence": [], "adds": [member, sdist],
             "removes": []}
    rows = {
        "first": first,
        "next": first | {"generation": 2, "previous": "2" * 64, "evidence": ["3" * 64], "adds": [], "removes": [member]},
        "twice": first | {"removes": [sdist]},
        "tested": first | {"adds": [member | {"tested": [{"sha256": "4" * 64, "as": "equal-contents"},
                                                         {"sha256": "5" * 64, "as": "same-commit"}]}]},
        "tested-by-none": first | {"adds": [member | {"tested": [{"sha256": "4" * 64, "as": "same"}]}]},
        "outside": first | {"adds": [member | {"filename": "../six-1.0-py3-none-any.whl", "platform": ".."}]},
        "others": first | {"view": "../x", "generation": 1.5, "reason": "a\nb\u2028", "adds": [[], 1, None]},
    }
    return {name: json.dumps(row) for name, row in rows.items()} | {"cut": json.dumps(first)[:200], "empty": ""}


def evidence():
    wheel = {"filename": "six-1.0-py3-none-any.whl", "sha256": "1" * 64}
    record = {"failed": 1, "failures": [{"message": "assert 1 == 2", "name": "test_x"}], "kind": "unit-gpu",
              "made": "2026-11-20T01:02:03Z", "passed": 3, "platform": "debian-12-x86_64", "python": "3.13t", "skipped": 2,
              "wheels": [wheel]}
    override = {key: record[key] for key in ("kind", "made", "platform", "python", "wheels")} | {"override": "it is urgent"}
    notes = {"received": "2026-11-20T01:02:04.000000005Z", "by": "token ci", "address": "::1", "views": "nightly rel*"}
    rows = {
        "run": notes | {"record": record},
        "override": notes | {"record": override},
        "sorts": notes | {"record": record | {"wheels": [{"filename": f"six-{n}.0-py3-none-any.whl", "sha256": "A" * 64}
                                                         for n in (3, 1, 2)]}},
        "builds": notes | {"record": record | {"wheels": [wheel | {"content_sha256": "2" * 64, "commit": "a" * 40}]}},
        "builds-256": notes | {"record": record | {"wheels": [wheel | {"content_sha256": "B" * 64, "commit": "c" * 64}]}},
        "builds-wrong": notes | {"record": record | {"wheels": [wheel | {"content_sha256": 1, "commit": "A" * 40}]}},
        "others": notes | {"received": "2026-11-20T01:02:04.5Z", "record": [record]},
        "numbers": notes | {"record": record | {"passed": -1, "failed": 1e9, "python": ""}},
    }
    return {name: json.dumps(row) for name, row in rows.items()}


def records():
    """The first letter is the record."""
    row = {"platform": "debian-12-x86_64", "project": "six", "version": "1.0", "filename": "six-1.0-py3-none-any.whl",
           "sha256": "1" * 64, "result": "done", "reason": "", "override": False, "repeated": False,
           "tested": [{"as": "same-commit", "sha256": "2" * 64}]}
    answer = {"view": "tested", "generation": 3, "dry_run": False, "files": [row, row | {"result": "left", "tested": []}],
              "counts": {"done": 1, "already": 0, "refused": 0, "held": 0, "left": 1, "overtaken": 0, "ended": 0}}
    stone = {"reason": "upstream has it", "when": "2026-11-20T01:02:03Z", "by": "root", "verdict": "duplicate", "run": "r",
             "project": "six", "sha256": "3" * 64, "size": 12, "requires-python": ">=3.8",
             "upstream": {"filename": "six-1.0-py3-none-any.whl", "url": "https://u.example/six", "sha256": "4" * 64,
                          "uploaded": "2026-11-19T01:02:03Z", "index": "https://u.example/", "identical": True}}
    rebuild = {"platform": "debian-12-x86_64", "filename": "six-1.0-py3-none-any.whl", "state": "symbol-gone",
               "why": "two\nlines", "build": 2}
    bundled = {"kind": "file", "in": "debian-12-x86_64", "project": "six", "name": "six-1.0-py3-none-any.whl", "size": 7,
               "sha256": "8" * 64, "modified": 1795000000123456789, "came": 1795000000, "by": "ci",
               "parts": [{"part": "yank", "size": 0, "sha256": "9" * 64}, {"part": "provenance", "size": 3, "sha256": "a" * 64}]}
    texts = {
        "answer": ("a", answer), "answer-counts": ("a", answer | {"counts": {}}), "answer-row": ("a", answer | {"files": [{}]}),
        "arrivals": ("c", {"arrivals": [{"platform": "debian-12-x86_64", "name": "six", "arrived": "2026-11-20T01:02:03Z"}, {
            "platform": "debian-12-x86_64", "name": "six-1.0-py3-none-any.whl", "sha256": "5" * 64, "arrived": "2026-11-21T01:02:03Z"}]}),
        "arrivals-wrong": ("c", {"arrivals": [{"platform": "debian-12-x86_64", "name": 1, "arrived": None}]}),
        "told": ("v", {"retained": [{"view": "tested", "looked": 1795000000, "ended": 1, "ending": 2, "stale": 0, "doubt": False}],
                       "expected": [{"view": "tested", "kind": "unit", "platform": "debian-12-x86_64", "python": "3.11",
                                     "known": 1795000000, "newest": 0, "silent": True}],
                       "lost": [{"view": "tested", "platform": "debian-12-x86_64", "filename": "six-1.0-py3-none-any.whl",
                                 "sha256": "5" * 64, "since": 1795000000}]}),
        "told-wrong": ("v", {"retained": [], "expected": [{"view": "tested"}], "lost": []}),
        "tombstone": ("t", stone), "tombstone-odd": ("t", stone | {"size": -5, "when": 7, "upstream": [], "by": None}),
        "status": ("s", {"status": "quarantined", "reason": "it steals", "when": "2026-11-20T01:02:03Z", "by": "user root"}),
        "status-wrong": ("s", {"status": "frozen", "reason": 1}),
        "bundle-head": ("h", {"bundle": 1, "made": "2026-11-20T01:02:03Z", "by": "user root", "contents": ["view a", "mirror b"],
                              "since": "6" * 64}),
        "bundle-newer": ("h", {"bundle": 2, "made": "2026-11-20T01:02:03Z", "by": "user root", "contents": []}),
        "bundle-file": ("w", bundled), "bundle-omitted": ("w", bundled | {"omitted": True, "parts": []}),
        "bundle-above": ("w", bundled | {"name": "../x"}), "bundle-parts": ("w", bundled | {"parts": bundled["parts"] * 2}),
        "bundle-status": ("w", {"kind": "status", "in": "debian-12-x86_64", "project": "six", "size": 2, "sha256": "7" * 64}),
        "bundle-upstream": ("w", bundled | {"kind": "upstream", "in": "upstream", "parts": []}),
        "rebuilds": ("r", {"platforms": [], "rows": [rebuild, rebuild | {"state": "fits", "build": None}]}),
        "rebuilds-build": ("r", {"platforms": [], "rows": [rebuild | {"build": 0}]}),
    }
    return ({name: letter + json.dumps(value) for name, (letter, value) in texts.items()} | {"words": "tno JSON\nat all"}
            | {"build-" + name: "b" + json.dumps({"attempt": json.loads(text), "number": 3, "sent": True}) + "\n" + log
               for name, text, log in [("whole", results()["whole"], "packed"), ("bare", results()["bare"], ""), ("wrong", results()["wrong"], "")]}
            | {"membership-" + name: "m" + text for name, text in generations().items()}
            | {"evidence-" + name: "e" + json.dumps(json.loads(text)["record"]) for name, text in evidence().items()})


TEXTS |= {"membership": generations(), "evidence": evidence(), "records": records()}
def osv_records():
    """Records of the OSV database, and what breaks its schema."""
    package = {"ecosystem": "PyPI", "name": "Acme.Tool", "purl": "pkg:pypi/acme-tool"}
    events = [{"introduced": "0"}, {"fixed": "1.2rc1"}, {"introduced": "2.0"}, {"last_affected": "2.1.post1"}, {"limit": "3!1"}]
    affected = {"package": package, "versions": ["1.0", "2004d-x", "1.0+cu118"], "ranges": [{"type": "ECOSYSTEM", "events": events},
                {"type": "GIT", "repo": "https://h/r", "events": [{"introduced": "0"}]}]}
    whole = {"id": "MAL-2026-1", "modified": "2026-01-02T03:04:05.25Z", "withdrawn": None, "affected": [affected],
             "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N"}, {"type": "CVSS_V4",
                          "score": "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N"}],
             "database_specific": {"severity": "HIGH"}}
    texts = {"whole": whole, "withdrawn": whole | {"withdrawn": "2026-01-03T00:00:00Z"}, "unnamed": whole | {"id": 7},
             "name": whole | {"affected": [affected | {"package": {"ecosystem": "PyPI", "name": "../\0"}}]},
             "events": whole | {"affected": [affected | {"ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "1"}, {}, 7]}]}]},
             "other": whole | {"affected": [{"package": {"ecosystem": "npm", "name": "a"}}, {"ranges": []}, 7]},
             "severity": {"id": "A-1", "modified": "2026", "affected": [{"package": package, "severity": [{"score": 9.8}]}]}}
    found = {name: json.dumps(value) for name, value in texts.items()}
    return found | {"cut": found["whole"][:300], "twice": found["whole"][:-1] + ', "id": "MAL-2026-2", "affected": []}', "no-object": "[]"}


TEXTS |= {"osv-record": osv_records(), "elf": elves(), "sbom": sboms(), "wheel-facts": native_wheels(), "facts-unpack": packed_facts()}


# The first letter is the kind.
TEXTS["readme"] = {
    "markdown": "m# A b\n\n*c* **d** ~~e~~ `f` [g](https://h \"i\") ![j](k.png) <https://l> [m]\n\n- n\n  1. o\n\n> p\n\n"
                "|q|r|\n|:-|-:|\n|s|t|\n\n```u\nv\n```\n\n    w\n\n---\n\n[m]: ../x 'y'\n",
    "markdown-html": "m<p align=center>\n<a href=\"https://a\"><img src=b alt='c'></a>\n</p>\n\nd <br> <a href=e>f</a> <!-- g -->\n\n"
                     "<script>h</script>\n<details><summary>i</summary>\n\nj &#x202e; &amp; &colon;\n\n</details>\n",
    "markdown-links": "m[a](javascript:b) [c](<d e>) [f](//g) [h](#i) [j](mailto:k) <l@m.n> http://o.p/q_(r). [![s](t)](http://u)",
    "rst": "r=\nA\n=\n\nB\n---\n\n*c* **d** ``e`` `f <https://g>`_ h_ i__ |j| :k:`l` [1]_ https://m\n\n* n\n\n  1. o\n\np\n  q\n\n"
           ":r: s\n\n-t  u\n\n| v\n\n>>> w\n\nx::\n\n  y\n\n.. _h: z\n__ a\n.. |j| image:: b\n   :alt: c\n   :target: d\n\n.. [1] e\n",
    "rst-tables": "r=== ===\na   b\n=== ===\nc   d\n    e\n=== ===\n\n+---+---+\n| f | g |\n+===+===+\n| h | i |\n+---+---+\n\n+-+\n|jk\n",
    "rst-directives": "r.. image:: a\n   :alt: b\n.. image:: c\n\n.. note:: d\n   e\n\n.. code:: f\n\n   g\n\n.. raw:: html\n\n   <b>\n\n"
                      ".. h:: i\n   :j: k\n\n   l\n\n.. |m| replace:: n\n.. comment\n   o\n\n..\n\n  p |m|\n",
    "plain": "p<b>\n\x01\u202e\n",
}


def main():
    top = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")
    for target, seeds in TEXTS.items():
        (top / target).mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (top / target / name).write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    main()
