# SPDX-License-Identifier: Apache-2.0
"""End-to-end tests of the built program. Run as WHEELCACHE=…/wheelcache python3 -m pytest tests/e2e."""
import os
import platform
import shutil
import subprocess
import sys
import types
import zlib

import pytest

import clients
import fetched
import merging
import serving
import upstreams
from authority import Authority

# Files that mostly wait run beside files that compute.
LONG = ["browser", "refused_configuration", "packages", "container", "build_steps", "faults", "nights", "changing_tree", "merged_freshness",
        "prune_corpus", "missing_finder", "slow_clients", "merged_files", "names", "build_roots", "build_faults",
        "real_index", "missing", "prune_random", "builds_server", "tls", "push", "bounds", "prune_faults", "release",
        "build_server", "builds_faults", "prune_failures", "view_operations", "promote_faults", "clients",
        "merged_pages", "upload_load", "operations", "upload_clients", "build", "budget", "hostile", "merged_clients",
        "tokens", "offered_clients", "offered_worlds", "lifecycle", "static", "check", "prune_undo", "prune_apply"]


def pytest_addoption(parser):
    parser.addoption("--nightly", action="store_true", help="every row of the recorded installs, not a sample, and the machine's own package index")


# With TEST_PART=N, a run is a part of all: the tests of one file in so many run the program with sanitizers, which takes
# several times as long, and those of the others the optimised one; sweeps try one fault in so many (faults.py). Each N has
# others. Without the variable all run $WHEELCACHE, and each fault is tried.
PART = os.environ.get("TEST_PART", "")
SANITIZED = 4


def pytest_configure():
    try:
        os.environ["WHEELCACHE_SANITIZED"] = serving.binary()
    except RuntimeError as reason:
        pytest.exit(str(reason), returncode=2)
    if PART and "WHEELCACHE_OPTIMISED" not in os.environ:
        pytest.exit("TEST_PART needs WHEELCACHE_OPTIMISED", returncode=2)


def pytest_terminal_summary(terminalreporter):
    if PART:
        terminalreporter.write_line(f"TEST_PART={PART}")


def program_of(path):
    """The program that the tests of a file run."""
    is_sanitized = (zlib.crc32(path.stem.encode()) + int(PART)) % SANITIZED == 0
    return os.environ["WHEELCACHE_SANITIZED" if is_sanitized else "WHEELCACHE_OPTIMISED"]


RUNNING = pytest.StashKey()  # the file whose tests run


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before a file's first test, which comes before its fixtures."""
    if PART and item.session.stash.get(RUNNING, None) != item.path:
        item.session.stash[RUNNING] = item.path
        os.environ["WHEELCACHE"] = program_of(item.path)


@pytest.fixture(name="wheelcache")
def wheelcache_fixture():
    """Runs the program with arguments and returns the finished process."""
    return serving.run


@pytest.fixture
def only_nightly(pytestconfig):
    """For tests that take seconds and whose subject changes seldom: @pytest.mark.usefixtures("only_nightly")."""
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly runs it")


@pytest.fixture
def serve(tmp_path):
    """serve(store, *options, listen=…, config=text, state=folder, authority=…) starts a server (with authority: over TLS,
    with its key). After the test it is stopped; it must exit with 0, and without a report of a sanitizer."""
    with serving.servers(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def serve_module(tmp_path_factory):
    """The same for servers that live as long as a module's tests."""
    with serving.servers(tmp_path_factory.mktemp("servers")) as start:
        yield start


@pytest.fixture(scope="session", params=["plain", "tls"])
def authority(request, tmp_path_factory):
    """The authority for TLS; None: plain HTTP. A test that uses it runs both ways."""
    if request.param == "plain":
        return None
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def upstream():
    """upstream(*options) starts the recorded pages as a loopback upstream, with upstream.py's options: .url, .fail(mode),
    .stats(). It is stopped after the module."""
    with upstreams.upstreams(clients.recorded("corpus").parent) as start:
        yield start


@pytest.fixture
def index():
    """An empty loopback upstream; the test fills it, delays it and makes it fail (merging.Index)."""
    with merging.indexes() as start:
        yield start()


@pytest.fixture
def client(tmp_path):
    """client("pip==24.2") is that client in an environment of its own, with an empty home."""
    def make(requirements):
        home = tmp_path / "home"
        home.mkdir(exist_ok=True)
        return clients.Client(requirements, home)
    return make


@pytest.fixture(scope="session", name="shared")
def shared_fixture():
    """The folder of shared test data, with recorded wheels; if it is absent, the part of it that the package index has."""
    return clients.SHARED if (clients.SHARED / "corpus").is_dir() else fetched.shared()


@pytest.fixture(scope="session", name="whole")
def whole_fixture():
    """The same with what no index has: full pages of all projects, locally built wheels, and what pip picked of them."""
    if not (clients.SHARED / "corpus").is_dir():
        pytest.skip(clients.NO_RECORDS)
    return clients.SHARED


@pytest.fixture(scope="session")
def corpus(shared, tmp_path_factory):
    """A server of the store that make-store.py lays out: .url, .store (its folder) and all of Server."""
    store = tmp_path_factory.mktemp("corpus") / "store"
    make = [sys.executable, str(shared / "corpus" / "make-store.py"), str(store)]
    if subprocess.run([*make, "--link"], capture_output=True, check=False).returncode != 0:
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)  # another file system: copies
    with serving.servers(tmp_path_factory.mktemp("corpus-server")) as start:
        server = start(store)
        server.store = store
        yield server


@pytest.fixture(scope="session")
def recorded_python():
    """Skips tests that install recorded wheels on a machine or Python that these do not fit."""
    here = sys.version_info[:2], platform.machine()
    if here != ((3, 11), "x86_64"):
        pytest.skip(f"what is installed is for Python 3.11 on x86_64, this is {here}")


@pytest.fixture(scope="session")
def native(recorded_python, corpus, tmp_path_factory):
    """The index of the corpus that fits this interpreter and machine, and the name of its platform; its server can be
    watched."""
    name = "debian-12-x86_64"
    with serving.servers(tmp_path_factory.mktemp("native")) as start:
        server = start(corpus.store, *serving.ONE_LOOP)
        yield types.SimpleNamespace(name=name, url=f"{server.url}/{name}/simple/", server=server)
