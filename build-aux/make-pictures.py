#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of README.md and docs/pruning.md: the page of a project and that of a prune's plan, of the store that the tests of all
pages show (tests/e2e/showcase.py). Needs chromium and the built program:

    WHEELCACHE=build/wheelcache build-aux/make-pictures.py"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(TOP / "tests" / "e2e"))
import merging  # noqa: E402
import serving  # noqa: E402
import showcase  # noqa: E402

PICTURES = {"project-page.png": ("/-/project/numerics", "980,880"), "plan-page.png": ("/-/plan/?verdict=removed", "980,850")}
MOST = 150_000  # bytes


def take_picture(url, size, path, profile):
    browser = shutil.which("chromium") or sys.exit("there is no chromium")
    subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}",
                    "--blink-settings=preferredColorScheme=1", "--force-device-scale-factor=1", f"--window-size={size}",
                    f"--screenshot={path}", url], check=True, capture_output=True, timeout=120)
    assert path.stat().st_size < MOST, f"{path} has {path.stat().st_size} bytes"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with merging.indexes() as start_index, serving.servers(folder) as start_server:
            _, server = showcase.start(folder, start_index(), start_server)
            for picture, (path, size) in PICTURES.items():
                take_picture(server.url + path, size, TOP / "docs" / picture, folder / "profile")
                print(TOP / "docs" / picture)


if __name__ == "__main__":
    main()
