#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lay out the store that store.tsv describes: DEST/<platform>/<letter>/<project>/<wheel>.

Files are copied, so a test may do to them what it likes; --link makes hard links instead (fast, no space,
but then never write into a laid-out wheel: the corpus itself would change). Standard library only.
"""
import argparse
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    ap.add_argument("dest")
    ap.add_argument("--platform", action="append", help="only this platform (may be given more than once)")
    ap.add_argument("--project", action="append", help="only this project (normalised name)")
    ap.add_argument("--max-size", type=int, help="leave out wheels larger than this many bytes")
    ap.add_argument("--link", action="store_true", help="hard links instead of copies")
    a = ap.parse_args()
    count = total = 0
    with open(os.path.join(HERE, "store.tsv"), encoding="utf-8") as rows:
        for row in rows:
            if row.startswith("#"):
                continue
            platform, path, source, mtime, _why = row.rstrip("\n").split("\t")
            source = os.path.join(HERE, source)
            size = os.path.getsize(source)
            if a.platform and platform not in a.platform or a.project and path.split("/")[2] not in a.project \
                    or a.max_size and size > a.max_size:
                continue
            target = os.path.join(a.dest, path)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.lexists(target):
                os.unlink(target)
            if a.link:
                os.link(source, target)
            else:
                shutil.copyfile(source, target)
                os.utime(target, (int(mtime), int(mtime)))
            count, total = count + 1, total + size
    print(f"{count} wheels, {total} bytes under {a.dest}")


main()
