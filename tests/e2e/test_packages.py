# SPDX-License-Identifier: Apache-2.0
"""The Debian package and the RPM: built of the tarball, without a remark of lintian and rpmlint; installed, upgraded, removed
and purged in a root; and the units run by a systemd that boots in it. Only with --nightly, since building takes minutes."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import clients
import machines
import packages
import serving
import steadyclients
import storelib

CONFIG = "/etc/wheelcache/wheelcache.conf"
STATE = "/var/lib/wheelcache"
STORE = f"{STATE}/wheels"
PLATFORM = "debian-12-x86_64"
EVENTUALLY = 120
UPSTREAM = """import sys, tinyupstream
upstream = tinyupstream.Upstream()
upstream.add("old", "old-1.0-py3-none-any.whl", sys.argv[1])
print(upstream.url, flush=True)
sys.stdin.read()"""


@pytest.fixture(scope="module", name="folder")
def folder_fixture(pytestconfig, tmp_path_factory):
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly builds packages")
    folder = tmp_path_factory.mktemp("packages")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module", name="tarball")
def tarball_fixture(folder):
    return packages.tarball(folder)


@pytest.fixture(scope="module", name="changes")
def changes_fixture(tarball, folder):
    packages.require("dpkg-buildpackage", "dh")
    return packages.debian(tarball, folder / "debian")


@pytest.fixture(scope="module", name="package")
def package_fixture(changes):
    return packages.deb(changes)


@pytest.fixture(scope="module", name="before")
def before_fixture(package, folder):
    """The package of the version before."""
    return packages.version_before(package, folder)


@pytest.fixture(scope="module", name="kept")
def kept_fixture(package):
    return machines.kept_root([*packages.needs(package), "bubblewrap"])


@pytest.fixture(scope="module", name="wheel")
def wheel_fixture(folder):
    return storelib.make_wheel(folder, "foo", "1.0")


def rows(text):
    return [line for line in text.splitlines() if line.strip()]


# --- what the packages are ---

def test_lintian_has_nothing_to_say(changes):
    packages.require("lintian")
    done = subprocess.run(["lintian", "--allow-root", "--info", "--fail-on", "error,warning", changes], capture_output=True, text=True,
                          check=False)
    assert [row for row in rows(done.stdout) if row[:2] in ("E:", "W:")] == [] and done.returncode == 0, done.stdout


def test_symbols_are_in_a_package_of_their_own(changes, package, tmp_path):
    symbols = packages.deb(changes, "wheelcache-dbgsym")
    for number, one in enumerate((package, symbols)):
        packages.run("dpkg-deb", "--extract", one, tmp_path / str(number), cwd=tmp_path)
    program = packages.run("readelf", "-n", tmp_path / "0/usr/bin/wheelcache", cwd=tmp_path)
    build_id = re.search(r"Build ID: (\w+)", program)[1]
    assert (tmp_path / f"1/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug").is_file()
    assert ".symtab" not in packages.run("readelf", "-SW", tmp_path / "0/usr/bin/wheelcache", cwd=tmp_path)


def test_rpm_has_the_same_files_and_rpmlint_nothing_to_say(tarball, package, folder):
    packages.require("rpmbuild", "rpmlint", "rpm")
    made = packages.rpm(tarball, folder / "rpm")
    spec = clients.ROOT / "rpm/wheelcache.spec"
    done = subprocess.run(["rpmlint", "-r", clients.ROOT / "rpm/wheelcache.rpmlintrc", spec, *made], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0 and re.search(r"\b0 errors, 0 warnings", done.stdout), done.stdout
    listed = rows(packages.run("rpm", "-qlp", *made, cwd=folder))
    wanted = {line.split()[-1][1:] for line in rows(packages.run("dpkg-deb", "--contents", package, cwd=folder))
              if not line.startswith("d") and "/usr/share/doc/" not in line and "lintian" not in line}
    assert len(wanted) > 40

    def at_home(path):  # each distribution has its own folder for these
        path = re.sub(r"^/lib/", "/usr/lib/", path).removesuffix(".gz")
        return path.replace("/zsh/vendor-completions/", "/zsh/site-functions/")
    assert {at_home(path) for path in wanted} - {at_home(path) for path in listed} == set()


# --- without systemd ---

@pytest.fixture(name="root")
def root_fixture(kept, tmp_path):
    with machines.root(kept, tmp_path / "root") as made:
        yield made


def install(place, package):
    place.run("dpkg", "--install", "--force-confold", place.copy(package))


def leave_state(place, wheel):
    """A wheel, a token and a line of the audit log, as a server leaves them; returns the files by path."""
    platform = place.path(f"{STORE}/{PLATFORM}")
    platform.mkdir()
    shutil.copy(wheel.path, platform)
    place.run("chown", "-R", "wheelcache:wheelcache", STORE)
    for words in (["token", "add", "--config", CONFIG], ["index", "--config", CONFIG]):
        place.run("runuser", "-u", "wheelcache", "--", "wheelcache", *words)
    place.path(f"{STATE}/audit.log").write_text("a line\n")
    place.path("/var/log/wheelcache/access.log").write_text("a line\n")
    return state_of(place)


def state_of(place):
    state = place.path(STATE)
    return {str(path.relative_to(state)): path.read_bytes() for path in sorted(state.rglob("*")) if path.is_file() and path.suffix != ".db-shm"}


def test_upgrade_removal_and_purge_lose_nothing(root, before, package, wheel):
    install(root, before)
    assert root.run("stat", "-c", "%U:%G %a", STATE) == "wheelcache:wheelcache 750"
    config = root.path(CONFIG)
    assert config.read_text().endswith("# a line of the version before\n")
    state = leave_state(root, wheel)
    assert {"wheels/debian-12-x86_64/foo-1.0-py3-none-any.whl", "audit.log"} < state.keys()
    assert any("token" in path for path in state)
    install(root, package)
    assert state_of(root) == state and not config.read_text().endswith("# a line of the version before\n")
    config.write_text("# ours\n" + config.read_text())
    root.run("dpkg", "--remove", "wheelcache")
    assert state_of(root) == state and config.read_text().startswith("# ours\n")
    assert not root.path("/usr/bin/wheelcache").exists()
    install(root, before)
    assert config.read_text().startswith("# ours\n")
    root.run("dpkg", "--purge", "wheelcache")
    assert state_of(root) == state and not config.exists()
    assert not root.path("/var/log/wheelcache/access.log").exists()
    install(root, package)
    assert state_of(root) == state


# --- with systemd ---

@pytest.fixture(scope="module", name="machine")
def machine_fixture(kept, before, folder):
    """A booted machine on which the version before was installed."""
    with machines.machine(kept, folder / "machine") as made:
        install(made, before)
        yield made


def fetch(machine, path):
    """The body, as a program outside the root gets it; None where there is none."""
    script = "import sys, urllib.request; sys.stdout.write(urllib.request.urlopen(sys.argv[1], timeout=60).read().decode())"
    done = subprocess.run([*machine.outside(), sys.executable, "-c", script, f"http://127.0.0.1:8080{path}"], capture_output=True, text=True,
                          check=False)
    return done.stdout if done.returncode == 0 else None


def wait_for_text(machine, path, text):
    serving.wait_for(lambda: text in (fetch(machine, path) or ""), EVENTUALLY, text)


def as_server(machine, *words):
    return machine.run("runuser", "-u", "wheelcache", "--", "wheelcache", *words, "--config", CONFIG)


def configure(machine, **sections):
    """Sets keys of the configuration, whose lines are there."""
    config = machine.path(CONFIG)
    text = config.read_text()
    for section, keys in sections.items():
        head, name, rest = text.partition(f"\n[{section}]\n")
        body, following, tail = rest.partition("\n[")
        for key, value in keys.items():
            body, count = re.subn(rf"(?m)^#?{key} = .*", f"{key} = {value}", body)
            assert count == 1, key
        text = head + name + body + following + tail
    config.write_text(text)


def is_active(machine, unit):
    return machine.attempt("systemctl", "is-active", unit).stdout.strip() in ("active", "activating")


def main_process(machine):
    return machine.run("systemctl", "show", "--property=MainPID", "--value", "wheelcache.service")


def upload(machine, wheel):
    token = re.search(r"\bwc_[\w-]+", as_server(machine, "token", "add"))[0]
    script = f"WHEELCACHE_TOKEN={token} wheelcache push --to http://127.0.0.1:8080/upload/{PLATFORM}/ {machine.copy(wheel.path)}"
    machine.run("sh", "-c", script)


def test_installed_server_runs_as_its_account_and_takes_uploads(machine, wheel):
    assert machine.run("systemctl", "is-active", "wheelcache.socket", "wheelcache.service") == "active\nactive"
    assert machine.run("stat", "-c", "%U", f"/proc/{main_process(machine)}") == "wheelcache"
    machine.run("install", "-d", "-o", "wheelcache", "-g", "wheelcache", f"{STORE}/{PLATFORM}")
    machine.run("systemctl", "reload", "wheelcache")
    serving.wait_for(lambda: fetch(machine, f"/{PLATFORM}/simple/") is not None, EVENTUALLY, "the platform")
    upload(machine, wheel)
    wait_for_text(machine, "/simple/foo/", "foo-1.0")


def test_reload_reads_the_configuration_and_fails_no_request(machine):
    process = main_process(machine)
    with steady(machine) as go_on:
        machine.run("systemctl", "reload", "wheelcache")
        go_on()
    assert main_process(machine) == process
    assert "the configuration is reloaded" in machine.journal("wheelcache.service")


@contextlib.contextmanager
def steady(machine):
    """Clients that ask all the time during the block; none may fail. The function that it gives waits for more answers."""
    words = [*machine.outside(), sys.executable, steadyclients.__file__, "127.0.0.1", "8080", "/simple/foo/"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        def go_on():
            process.stdin.write("\n")
            process.stdin.flush()
            return process.stdout.readline()
        try:
            go_on()
            yield go_on
        finally:
            _, errors = process.communicate(timeout=EVENTUALLY)
        assert (process.returncode, errors) == (0, "")


def test_upgrade_under_load_fails_no_request(machine, package):
    old, state = main_process(machine), state_of(machine)
    with steady(machine) as go_on:
        install(machine, package)
        go_on()
    new = main_process(machine)
    assert new not in ("0", old) and "(deleted)" not in machine.run("readlink", f"/proc/{new}/exe")
    wheels = {path for path in state if path.startswith("wheels/")}
    assert {path: state_of(machine)[path] for path in wheels} == {path: state[path] for path in wheels} and wheels
    assert packages.BEFORE not in machine.run("dpkg-query", "--show", "wheelcache")


ROTATION = """{log} {{
	su wheelcache wheelcache
	missingok
	rotate 1
	postrotate
		systemctl reload wheelcache
	endscript
}}
"""


def test_rotated_log_goes_on_in_a_new_file(machine):
    log = machine.path("/var/log/wheelcache/access.log")
    configure(machine, server={"access-log": "/var/log/wheelcache/access.log"})
    machine.run("systemctl", "restart", "wheelcache")
    fetch(machine, "/simple/?before")
    serving.wait_for(lambda: "?before" in log.read_text(), EVENTUALLY, "a line")
    machine.run("sh", "-c", "cat >/etc/logrotate.d/access", input=ROTATION.format(log="/var/log/wheelcache/access.log"))
    machine.run("logrotate", "--force", "/etc/logrotate.d/access")
    assert "?before" in log.with_name("access.log.1").read_text()

    def goes_on():
        fetch(machine, "/simple/?after")
        return log.exists() and "?after" in log.read_text()
    serving.wait_for(goes_on, EVENTUALLY, "a line in the new file")


def test_connection_starts_a_server_that_does_not_run(machine):
    machine.run("systemctl", "stop", "wheelcache.service")
    assert main_process(machine) == "0"
    wait_for_text(machine, "/simple/foo/", "foo-1.0")


@pytest.mark.parametrize("name", sorted(path.name for path in (clients.ROOT / "debian/tests").iterdir() if os.access(path, os.X_OK)))
def test_tests_of_the_debian_package_pass(machine, name):
    machine.run("sh", "-c", f"cat >/root/{name} && chmod 755 /root/{name} && cd /root && ./{name}",
                input=(clients.ROOT / "debian/tests" / name).read_text(encoding="utf-8"))


def test_timer_prunes(machine, folder):
    old = storelib.make_wheel(folder, "old", "1.0")
    machine.run("install", "-o", "wheelcache", "-g", "wheelcache", "-m", "644", "-p", machine.copy(old.path), f"{STORE}/{PLATFORM}/")
    os.utime(machine.path(f"{STORE}/{PLATFORM}/{old.path.name}"), (storelib.OLD, storelib.OLD))
    machine.run("systemctl", "reload", "wheelcache")
    wait_for_text(machine, "/simple/old/", "old-1.0")
    words = [*machine.outside(), sys.executable, "-c", UPSTREAM, old.sha256]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=clients.ROOT / "tests/e2e") as upstream:
        configure(machine, upstream={"url": upstream.stdout.readline().strip(), "allow-private": "yes"},
                  prune={"max-files": "100%", "max-bytes": "100%", "clients-have-upstream": "yes"})
        drop_in = machine.path("/etc/systemd/system/wheelcache-prune.timer.d/soon.conf")
        drop_in.parent.mkdir()
        drop_in.write_text("[Timer]\nOnCalendar=\nOnActiveSec=1s\nRandomizedDelaySec=0\nAccuracySec=100ms\n")
        machine.run("systemctl", "daemon-reload")
        machine.run("systemctl", "enable", "--now", "wheelcache-prune.timer")
        pruned = machine.path(f"{STORE}/{PLATFORM}/{old.path.name}.pruned")
        serving.wait_for(lambda: machine.run("systemctl", "show", "--property=ExecMainExitTimestampMonotonic", "--value",
                                             "wheelcache-prune.service") != "0" and not is_active(machine, "wheelcache-prune.service"),
                         EVENTUALLY, "the prune")
        upstream.communicate()
    assert pruned.exists(), machine.journal("wheelcache-prune.service")
    assert machine.run("systemctl", "show", "--property=Result", "--value", "wheelcache-prune.service") == "success"
    serving.wait_for(lambda: "old-1.0" not in (fetch(machine, "/simple/old/") or ""), EVENTUALLY, "the page without it")
    wait_for_text(machine, "/simple/foo/", "foo-1.0")


@pytest.mark.parametrize("unit, most", [("wheelcache.service", 1.9), ("wheelcache-prune.service", 1.9), ("wheelcache-retain.service", 1.9),
                                        ("wheelcache-build.service", 2.5)])
def test_running_unit_is_confined(machine, unit, most):
    judged = machine.run("systemd-analyze", "security", "--no-pager", unit)
    assert float(re.search(rf"exposure level for {unit}: ([\d.]+)", judged)[1]) <= most


BUILDING = """[Service]
EnvironmentFile=
ExecStart=
ExecStart=/usr/bin/bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp \\
    sh -c 'test -e /proc/self/status && echo a proc of its own'
ExecStart=/bin/sh -c 'umask; touch $STATE_DIRECTORY/results && echo a state; touch /srv/x || echo no store'
ExecStart=/bin/sh -c 'test -e /sys/fs/cgroup/cgroup.controllers || exit 0; \\
    mkdir /sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)/one || exit 1; mkdir /sys/fs/cgroup/one || echo no other cgroup'
"""


def test_build_unit_permits_what_a_builder_needs(machine):
    """bwrap with a /proc of its own, a cgroup for each wheel, the folder of results, and no more."""
    place = machine.path("/etc/systemd/system/wheelcache-build.service.d/what-is-run.conf")
    place.parent.mkdir(parents=True)
    place.write_text(BUILDING)
    machine.run("systemctl", "daemon-reload")
    try:
        machine.run("systemctl", "start", "wheelcache-build.service")
        said = machine.journal("wheelcache-build.service")
        assert all(text in said for text in ("a proc of its own", "0077", "a state", "no store")), said
        assert "no other cgroup" in said or not pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
    finally:
        place.unlink()
        machine.run("systemctl", "daemon-reload")


def test_restart_fails_where_the_configuration_is_refused(machine):
    """systemctl says so, and the journal why; doctor says it before."""
    file = machine.path(CONFIG)
    text = file.read_text()
    file.write_text(f"{text}\n[view wrong]\nplatforms = debain-12-x86_64\n")
    refused = "[view wrong] platforms: the store has no platform debain-12-x86_64"
    try:
        assert refused in machine.attempt("runuser", "-u", "wheelcache", "--", "wheelcache", "doctor", "--check-config").stderr
        assert machine.attempt("systemctl", "restart", "wheelcache.service").returncode != 0
        assert refused in machine.journal("wheelcache.service")
    finally:
        file.write_text(text)
        machine.attempt("systemctl", "reset-failed", "wheelcache.service", "wheelcache.socket")
        machine.run("systemctl", "restart", "wheelcache.service")
    wait_for_text(machine, "/simple/foo/", "foo-1.0")


def test_nothing_failed(machine):
    assert machine.run("systemctl", "--failed", "--no-legend", "--plain") == ""
    assert "ERROR" not in machine.journal("wheelcache.service").upper()


def test_removal_ends_the_server_and_keeps_its_state(machine):
    state = state_of(machine)
    machine.run("dpkg", "--remove", "wheelcache")
    assert machine.attempt("systemctl", "is-active", "wheelcache.socket", "wheelcache.service").stdout == "inactive\ninactive\n"
    assert fetch(machine, "/-/health") is None
    assert {path for path in state if ".db" not in path} <= state_of(machine).keys()
