# SPDX-License-Identifier: Apache-2.0
"""wheelcache as it is measured: one event loop, and no scan after the first."""
import re
import subprocess

import server


class Wheelcache(server.Server):
    name = "wheelcache"
    has_zstd = True


def start(binary, store, folder, settings="threads = 1\nrescan = 0\n", port=0, more=""):
    config = folder / "wheelcache.conf"
    config.write_text(f"[server]\n{settings}log-level = error\n{more}")
    process = server.start(binary, "serve", store, "--listen", f"127.0.0.1:{port}", "--config", config, "--catalog",
                           folder / "catalog.db", stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    return Wheelcache(process, int(re.search(r":(\d+)/?\s*$", line).group(1)))
