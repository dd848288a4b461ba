# SPDX-License-Identifier: Apache-2.0
"""A block list of 300,000 records, as the export of the OSV database has them (four of five are malware; the others have vectors and
two dozen versions): how long it takes to read, and in how much memory; how much of it stays, and what a look-up costs."""
import json
import os
import random
import statistics
import subprocess
import zipfile

import table

RECORDS = 300_000
MOST = {"seconds of a processor": 10, "MB, peak": 200, "MB, resident": 60, "ns a file": 2000}
DETAILS = "This package contains code that runs at its installation and sends data of the machine away. "


def record(i, chance):
    name = f"project-{i:06}"
    affected = {"package": {"ecosystem": "PyPI", "name": name, "purl": f"pkg:pypi/{name}"}}
    found = {"id": f"MAL-2026-{i}", "modified": "2026-01-02T03:04:05.123456Z", "published": "2026-01-01T03:04:05Z",
             "schema_version": "1.7.0", "summary": f"Malicious code in {name} (PyPI)", "details": DETAILS * chance.randrange(1, 6),
             "affected": [affected], "references": [{"type": "WEB", "url": f"https://example.org/{chance.getrandbits(128):032x}"}],
             "database_specific": {"malicious-packages-origins": [{
                 "import_time": "2026-01-02T03:04:05.6Z", "modified_time": "2026-01-02T03:04:05Z",
                 "sha256": f"{chance.getrandbits(256):064x}", "source": "ossf-package-analysis", "versions": ["1.0.0"]}]}}
    if i % 5 == 0:
        affected["versions"] = [f"{x}.{y}.{i % 7}" for x in range(2) for y in range(12)]
        affected["ranges"] = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": f"2.{i % 9}.0"}]}]
        found |= {"id": f"PYSEC-2026-{i}", "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N"}]}
    elif i % 2:
        affected["versions"] = ["1.0.0"]
    else:
        affected["ranges"] = [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]
    return found


def make_list(path):
    chance = random.Random(7)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for i in range(RECORDS):
            one = record(i, chance)
            archive.writestr(f"{one['id']}.json", json.dumps(one, indent=2))


def numbers(*command):
    done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True)
    return [float(word) for word in done.stdout.split()]


def bench(program, folder, rounds):
    source, state = folder / "all.zip", folder / "state"
    make_list(source)
    read = [numbers(program, "read", source, state) for _ in range(rounds)]
    find = [numbers(program, "find", state, RECORDS) for _ in range(rounds)]
    found = {
        "seconds": statistics.median(one[0] for one in read),
        "seconds of a processor": statistics.median(one[1] for one in read),
        "MB, peak": max(one[2] for one in read) / 1024,
        "MB of the list on the disk": os.path.getsize(state / "list") / 1e6,
        "seconds to open it": statistics.median(one[1] for one in find),
        "MB, resident": max(one[2] for one in find) / 1024,
        "ns a file": statistics.median(one[0] for one in find),
    }
    rows = []
    for name, value in found.items():
        is_over = value > MOST.get(name, value)
        rows.append([name, f"{value:.3g}" if value < 10 else f"{value:.0f}", f"{MOST[name]}" if name in MOST else "",
                     "" if name not in MOST else "no" if is_over else "yes"])
    return table.text([f"a block list of {RECORDS:,} records, {os.path.getsize(source) / 1e6:.0f} MB", "", "most", "reached"], rows)
