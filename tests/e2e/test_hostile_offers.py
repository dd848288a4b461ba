# SPDX-License-Identifier: Apache-2.0
"""Block lists and pages of upstreams that are made to harm: what they name is hidden, or what was good before counts. The
server answers meanwhile, in little memory."""
import io
import json
import re
import struct
import zipfile
import zlib

import pytest

import merging
import serving
import storelib
from test_blocked import MALWARE, Lists
from test_cooling import DAY, SOON, stamp, ways

MOST_MB = 150  # that a server may take more
RECORD_LIMIT = 16 << 20  # LIMIT_ADVISORY


@pytest.fixture(name="site")
def site_fixture(serve, index, tmp_path):
    """six 1.0 is offered, 2.0 is blocked by a good list; of seven nothing is blocked yet."""
    for project, version in (("six", "1.0"), ("six", "2.0"), ("seven", "1.0")):
        index.add(project, storelib.make_wheel(tmp_path / "theirs", project, version))
    lists = Lists(tmp_path / "lists")
    lists.put("MAL-2026-1", "six", MALWARE)
    server = serve(None, config=merging.config(index, block=lists.folder))
    server.lists = lists
    assert versions(server) == {"six": ["1.0"], "seven": ["1.0"]}
    return server


def versions(server):
    return {project: [name.split("-")[1] for name in merging.names(server, project)] for project in ("six", "seven")}


def peak_mb(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmHWM:\s*(\d+)", status.read())[1]) / 1024


def listed(server):
    return json.loads(server.get("/-/health").body)["block-lists"][0]


def zip_of(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def of_seven(rest):
    """A record about seven; rest: of its only object in `affected`, and what follows, as text."""
    return ('{"id": "MAL-2026-7", "modified": "2026-01-02T03:04:05Z", "affected": [{"package": {"ecosystem": "PyPI", "name": "seven"}, '
            + rest)


def million_ranges():
    one = '{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "0.1"}]}, '
    return of_seven('"ranges": [' + one * 1_000_000 + one[:-2] + "]}]}")


def many_events():
    """As many as a record of full length has."""
    return of_seven('"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}' + ', {"fixed": "0.1"}' * 900_000 + "]}]}]}")


@pytest.mark.parametrize("record, is_packed", [(million_ranges, False), (million_ranges, True), (many_events, True)])
def test_record_with_a_million_ranges_hides_all_that_it_names(site, record, is_packed):
    """test-osv-record.c has records that break the schema otherwise."""
    before = peak_mb(site)
    if is_packed:
        site.lists.write("all.zip", zip_of(("MAL-2026-7.json", record())))
    else:
        site.lists.write("MAL-2026-7.json", record())
    serving.wait_for(lambda: versions(site) == {"six": ["1.0"], "seven": []}, SOON, "the record")
    assert "error" not in listed(site) and listed(site)["malformed"] == 1
    assert peak_mb(site) - before < MOST_MB


def test_versions_that_do_not_parse_mean_no_other_ones(site):
    for number, (rest, wanted) in enumerate([('"versions": ["2004d-x", "", "0.1"]}]}', ["1.0"]), ('"versions": ["2004d-x", "1"]}]}', []),
                                             ('"versions": ["0.1"]}]}', ["1.0"]),
                                             ('"versions": ["1.0"], "versions": ["0.1"]}]}', [])]):  # the key comes twice: both count
        site.lists.write("MAL-2026-7.json", of_seven(rest))
        serving.wait_for(lambda wanted=wanted: versions(site) == {"six": ["1.0"], "seven": wanted}, SOON, f"record {number}")
    assert listed(site)["malformed"] == 0


def bomb_that_lies():
    """It says 100 bytes, and has 200 MB."""
    data = bytearray(zip_of(("a.json", bytes(200 << 20))))
    at = data.index(b"PK\1\2")
    struct.pack_into("<I", data, 22, 100)
    struct.pack_into("<I", data, at + 24, 100)
    return bytes(data)


def bomb_of_one_kernel():
    """A thousand names for the same 16 MB."""
    kernel = bytes(RECORD_LIMIT)
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    packed = packer.compress(kernel) + packer.flush()
    check = zlib.crc32(kernel)
    out = struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 8, 0, 33, check, len(packed), len(kernel), 6, 0) + b"a.json" + packed
    begin = len(out)
    for i in range(1000):
        name = b"a.json" if i == 0 else b"%05d.json" % i
        out += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 8, 0, 33, check, len(packed), len(kernel), len(name), 0, 0, 0, 0, 0, 0)
        out += name
    return out + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1000, 1000, len(out) - begin, begin, 0)


def bomb_of_zeros():
    return zip_of(*((f"{i}.json", bytes(100 << 20)) for i in range(2)))


@pytest.mark.parametrize("bomb", [bomb_that_lies, bomb_of_one_kernel, bomb_of_zeros])
def test_bomb_keeps_what_was(site, bomb):
    before = peak_mb(site)
    site.lists.write("all.zip", bomb())
    assert "all.zip" in serving.wait_for(lambda: listed(site).get("error"), SOON, "the refusal")
    assert versions(site) == {"six": ["1.0"], "seven": ["1.0"]}
    assert peak_mb(site) - before < MOST_MB


# --- pages ---

TIMES = {  # of a file's upload-time: whether it is a time
    "9999-12-31T23:59:59Z": True, "9999-12-31T23:59:59.999999Z": True, "10000-01-01T00:00:00Z": False, "0000-01-01T00:00:00Z": False,
    "1994-12-31T23:59:59Z": False, "2026-02-30T00:00:00Z": False, "-2026-01-01T00:00:00Z": False, "1e9": False}
NO_TEXT = [1.7e9, 0, -1, 10 ** 400, True, [], ["2020-01-02T03:04:05Z"], {"time": "2020-01-02T03:04:05Z"}]


def test_times_of_all_kinds(serve, index, tmp_path):
    """What is no time is unknown, what is far ahead hides, and the other files of the page are as they would be."""
    times = [*TIMES, *NO_TEXT]
    for i, told in enumerate(times):
        index.add("six", storelib.make_wheel(tmp_path / "theirs", "six", f"2.{i}"), upload_time=told)
    old = storelib.make_wheel(tmp_path / "theirs", "six", "1.0")
    index.add("six", old)
    allows, hides = (serve(None, config=merging.config(index, cooldown="7d", cooldown_unknown=how)) for how in ("allow", "hide"))
    assert merging.names(hides, "six") == [old.name]
    offered = [i for i, told in enumerate(times) if not (isinstance(told, str) and TIMES[told])]
    assert sorted(merging.names(allows, "six")) == sorted([old.name, *(f"six-2.{i}-py3-none-any.whl" for i in offered)])
    said = json.loads(hides.get(merging.url_of("six", "six-2.0-py3-none-any.whl")).body)["detail"]
    assert said == "cooling until 9999-12-31T23:59:59Z (upstream upstream, cooldown 7d)"
    assert len(merging.names(serve(None, config=merging.config(index)), "six")) == len(times) + 1


@pytest.mark.parametrize("keys, names, offered", [(["young", "old"], [], True), (["old", "young"], [], False),
                                                  ([], ["young", "old"], False), ([], ["old", "young"], True)])
def test_keys_and_names_that_come_twice(serve, index, tmp_path, keys, names, offered):
    """Of a key the last value counts, as for Python; of a name the first file: on the page and by its URL."""
    wheel, other = (storelib.make_wheel(tmp_path / of, "six", "1.0", files={"six.py": of.encode()}) for of in ("one", "two"))
    index.add("six", wheel)
    one, times = index.pages["six"][wheel.name], {"young": stamp(-DAY), "old": "2020-01-02T03:04:05Z"}
    del one["upload-time"]
    text = json.dumps(one)[:-1]
    if keys:
        files = [text + "".join(f', "upload-time": "{times[key]}"' for key in keys) + "}"]
    else:
        again = one | {"hashes": {"sha256": other.sha256}, "size": other.size}
        files = [json.dumps(of | {"upload-time": times[name]}) for of, name in zip((one, again), names)]
    page = f'{{"meta": {{"api-version": "1.4"}}, "name": "six", "files": [{", ".join(files)}]}}'.encode()
    index.fail("six", lambda handler, _: (handler.start(200, page, Content_Type=merging.pages.JSON), handler.wfile.write(page)))
    server = serve(None, config=merging.config(index, cooldown="7d"))
    found = merging.page(server, "six")["files"]
    assert [one["hashes"]["sha256"] for one in found] == ([wheel.sha256] if offered else [])
    assert ways(server, wheel) == ({200, 206} if offered else {403})
