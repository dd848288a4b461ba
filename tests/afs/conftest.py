# SPDX-License-Identifier: Apache-2.0
"""Tests in a real AFS cell. Run as WHEELCACHE=…/wheelcache python3 -m pytest tests/afs, as root; where there can be no
cell they are skipped, with the reason. They use the helpers of the end-to-end tests."""
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

# pylint: disable=wrong-import-position
import clients  # noqa: E402
import serving  # noqa: E402
import storelib  # noqa: E402

import cells  # noqa: E402

VOLUMES = ["debian-12-x86_64", "ubuntu-24.04-x86_64"]  # a volume's name has 22 characters at most


def pytest_configure():
    try:
        serving.binary()
    except RuntimeError as reason:
        pytest.exit(str(reason), returncode=2)
    cells.pin()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM also takes the cell down


@pytest.fixture(scope="session", name="whole_cell")
def whole_cell_fixture(tmp_path_factory):
    reason = cells.reason_against()
    if reason:
        pytest.skip(reason)
    try:
        with cells.cell(VOLUMES, tmp_path_factory.mktemp("cell")) as cell:
            yield cell
    except cells.Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture
def cell(whole_cell):
    """The cell, with empty volumes."""
    for volume in whole_cell.volumes:
        volume.clear()
    return whole_cell


@pytest.fixture
def make(tmp_path):
    """make(name, version, …) is a new wheel outside of the cell."""
    return lambda *what, **parts: storelib.make_wheel(tmp_path / "built", *what, mtime=None, **parts)


@pytest.fixture
def serve(tmp_path):
    """serve(store, *options, config=text) starts a server with its catalog on the disk; it must stop cleanly after the test."""
    with serving.servers(tmp_path) as start:
        yield start


@pytest.fixture
def client(tmp_path):
    """client("pip==24.2") is that client in an environment of its own, with an empty home."""
    return lambda requirements: clients.Client(requirements, tmp_path)
