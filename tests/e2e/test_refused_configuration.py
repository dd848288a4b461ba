# SPDX-License-Identifier: Apache-2.0
"""What `serve` refuses of a configuration, `doctor --check-config` and every command that reads the store refuse as well, with
the same words; and the service manager is told when a server has accepted its configuration."""
import re
import secrets
import select
import signal
import socket
import subprocess

import pytest

import attaching
import faults
import serving
import storelib

DETECTED = "debian-12-x86_64"
CASES = {  # platforms are the store's folders, so a line of the file alone is not wrong
    "a platform of a view": ("[view all]\nplatforms = debian-12-x86_64 debain-13-x86_64\n",
                             "[view all] platforms: the store has no platform debain-13-x86_64"),
    "a source": ("[view nightly]\nfrom = debain-12-x86_64\n", "[view nightly] platforms: the store has no platform debain-12-x86_64"),
    "a name for two": ("[view debian-12-x86_64]\nplatforms = debian-12-x86_64\n", "view debian-12-x86_64: a platform has that name"),
    "the default view": ("[store]\ndefault-view = tested\n", "[store] default-view: there is no view or platform tested"),
    "a policy that is away": ("[upload]\naudit-policy = {folder}/none.policy\n", "[upload] audit-policy: {folder}/none.policy: No such file"),
    "a policy": ("[upload]\naudit-policy = {folder}/audit.policy\n", "{folder}/audit.policy:1: "),
    "a list of packages that is away": ("[upstream]\ndeny = {folder}/none.list\n",
                                        "[upstream] deny: {folder}/none.list: No such file"),
    "a list of packages": ("[upstream]\nallow = {folder}/bad.list\n", "[upstream] allow: {folder}/bad.list:1: "),
    "a list of packages of all": ("[server]\ndeny = {folder}/none.list\n", "[server] deny: {folder}/none.list: No such file"),
    "too many block lists": ("[upstream]\nblock =" + "".join(f" /none/{number}" for number in range(65)) + "\n",
                             "[upstream] block: more than 64 files and folders"),
    "an index": ("[upstream]\nurl = https://h:99999/simple/\n", "{folder}/site.conf:6: [upstream] url is not a list of addresses"),
}
FILE = "demo-1.0-py3-none-any.whl"
READERS = [  # every command that reads the store or its catalog
    "index", "check", "explain demo", "missing --offline", "promote demo --to x", "demote demo --from x --reason r", "view diff x 1 2", "view log x",
    "view repair", "view rollback x --to 1", "view show x", "prune plan --offline -o {folder}/plan.json", "prune apply {folder}/plan.json",
    "prune purge", "prune restore " + FILE, "prune follow", "retain", "rebuilds --against {folder}", f"yank {FILE} --reason r", f"unyank {FILE}",
    f"remove {FILE} --reason r", "status demo archived --reason r", "audit", "compare demo==1.0 demo==1.1", "find --symbol x", "usage", "exposed",
    "mirror plan m --lock {folder}/uv.lock", "mirror fill m --lock {folder}/uv.lock", "mirror list", "evidence list", "evidence show " + 64 * "0",
    f"build --platform {DETECTED}", f"platform retire {DETECTED}", "provenance add {folder}/statement.json",
    f"bundle make --view {DETECTED} -o {{folder}}/one.bundle", "bundle load --unsigned {folder}/made.bundle"]
# What an operator does in need, and what reads only something else: the configuration, files of the state, another machine.
OTHERS = ["token", "freeze", "thaw", "hold", "waive", "holds", "doctor", "serve", "builds", "client-config", "health", "help", "lock", "log", "push",
          "provides", "mirror end", "evidence make", "evidence send"]


class Site:
    """A store with a catalog, and a configuration that is changed."""

    def __init__(self, folder):
        self.folder, self.store, self.file, self.catalog = folder, folder / "store", folder / "site.conf", folder / "catalog.db"
        wheel = storelib.make_wheel(self.store / DETECTED, "demo", "1.0").path
        (folder / "statement.json").write_bytes(attaching.as_bytes(attaching.statement(wheel)))
        (folder / "audit.policy").write_text("[nonsense]\n")
        (folder / "bad.list").write_text("requests ==bogus!! x\n")
        (folder / "uv.lock").write_text("version = 1\n")
        self.configure("")
        for words in ["index"], ["prune", "plan", "--offline", "-o", "{folder}/plan.json"], ["bundle", "make", "--view", DETECTED, "-o", "{folder}/made.bundle"]:
            assert self.run(*words).returncode == 0

    def configure(self, text):
        self.file.write_text(f"[store]\npath = {self.store}\n[catalog]\npath = {self.catalog}\n{text.format(folder=self.folder)}")

    def run(self, *words):
        return serving.run(*(str(word).format(folder=self.folder) for word in words), "--config", self.file)

    def who_does_not_refuse(self, codes, words):
        """The commands that end otherwise than with such an exit code and these words."""
        done = {reader: self.run(*reader.split()) for reader in READERS}
        return {reader: (one.returncode, one.stderr) for reader, one in done.items()
                if one.returncode not in codes or words.format(folder=self.folder) not in one.stderr}


@pytest.fixture(name="site", scope="module")
def site_fixture(tmp_path_factory):
    return Site(tmp_path_factory.mktemp("refused"))


@pytest.mark.parametrize("case", CASES)
def test_one_check_for_all(site, case):
    text, words = CASES[case]
    site.configure(text)
    served = site.run("serve", "--listen", "127.0.0.1:0")
    assert served.returncode == 2 and words.format(folder=site.folder) in served.stderr, served.stderr
    said = served.stderr.splitlines()[-1]
    checked = site.run("doctor", "--check-config")
    assert (checked.returncode, checked.stdout, checked.stderr.splitlines()) == (2, "", [said])
    examined = site.run("doctor", "--quiet")
    assert examined.returncode == 1
    assert said.removeprefix("error: wheelcache: ") in examined.stdout


@pytest.mark.parametrize("case", CASES)
def test_every_command_that_reads_the_store(site, case):
    text, words = CASES[case]
    site.configure(text + "[branch x]\nrequirements = /none\n")
    assert site.who_does_not_refuse([2], words) == {}


def rows_of(*group):
    """The commands that this help names, those of a group each by its words."""
    text = serving.run(*group, "--help").stdout
    for name in re.findall("^  ([a-z][a-z-]*)  ", text, re.M):
        yield from rows_of(name) if not group and "COMMAND [OPTION]" in serving.run(name, "--help").stdout else [" ".join([*group, name])]


def test_each_command_is_in_one_of_the_lists():
    listed = [*(" ".join(reader.split()[:2]) for reader in READERS), *OTHERS]
    for name in rows_of():
        group = name.split()[0]
        assert sum(one == name or one.split()[0] == name or one == group for one in listed) == 1, name


def test_what_an_operator_does_in_need_goes_on(site):
    site.configure(CASES["a platform of a view"][0])
    assert site.run("token", "add").returncode == 0
    assert site.run("freeze").returncode == 0
    assert site.run("thaw").returncode == 0
    site.configure("")
    assert site.run("doctor", "--check-config").stderr == ""


def test_a_view_of_a_platform_that_is_away(site):
    """A volume that is not mounted is no mistake in the configuration: its pages stay."""
    site.configure(f"[view all]\nplatforms = {DETECTED}\n")
    folder = site.store / DETECTED
    away = folder.rename(site.folder / "away")
    try:
        done = site.run("doctor", "--check-config")
        assert (done.returncode, done.stderr) == (0, "")
    finally:
        away.rename(folder)


def test_the_certificate(site):
    site.configure(f"[server]\ntls-cert = {site.folder}/audit.policy\ntls-key = {site.folder}/audit.policy\n")
    served, checked = site.run("serve", "--listen", "127.0.0.1:0"), site.run("doctor", "--check-config")
    assert served.returncode == checked.returncode == 2
    assert served.stderr == checked.stderr


def test_a_branch_whose_file_is_away_is_a_warning(site, tmp_path):
    site.configure(f"[branch main]\nconstraints = {tmp_path}/upper.txt\n[branch next]\nconstraints = {tmp_path}/next/*.txt\n")
    checked = site.run("doctor", "--check-config")
    assert checked.returncode == 0
    first, second = checked.stderr.splitlines()
    assert first.startswith(f"warning: wheelcache: [branch main] constraints: {tmp_path}/upper.txt: No such file") and "[branch next]" in second
    assert [row for row in site.run("doctor").stdout.splitlines() if row.startswith("warning") and "branch" in row and "upper.txt" in row]
    with serving.servers(tmp_path) as start:
        server = start(None, config=site.file.read_text(), state=tmp_path)
        assert server.get("/simple/demo/").status == 200
        assert f"[branch main] constraints: {tmp_path}/upper.txt: No such file" in server.errors()


def test_a_block_list_that_was_never_read(site, tmp_path):
    site.configure(f"[upstream]\nblock = {tmp_path}/all\n")
    served, checked = site.run("serve", "--listen", "127.0.0.1:0"), site.run("doctor", "--check-config")
    assert served.returncode == checked.returncode == 1 and f"[upstream] block: {tmp_path}/all" in served.stderr
    assert served.stderr.splitlines()[-1] == checked.stderr.splitlines()[-1]
    assert site.who_does_not_refuse([1, 2], f"[upstream] block: {tmp_path}/all: No such file") == {}
    (tmp_path / "all").mkdir()
    assert site.run("explain", "demo").returncode == 0  # this reads it
    (tmp_path / "all").rmdir()
    for words in ["find", "--symbol", "x"], ["usage"], ["check"], ["explain", "demo"]:  # as a server, they go on with the last one
        assert site.run(*words).returncode == 0


@pytest.mark.parametrize("text, mode, words", [(None, 0, "No such file"), ("me:secret\n", 0o644, "(mode 0644)"),
                                               ("secret\n", 0o600, "USER:PASSWORD")])
def test_a_password_file_that_cannot_be_used_is_a_warning(site, tmp_path, text, mode, words):
    secret = tmp_path / "secret"
    if text:
        secret.write_text(text)
        secret.chmod(mode)
    site.configure(f"[upstream]\npassword-file = {secret}\n")
    checked = site.run("doctor", "--check-config")
    assert checked.returncode == 0 and f"[upstream] password-file: {secret}" in checked.stderr
    assert words in checked.stderr


@pytest.mark.parametrize("key", ["requirements", "locks"])
def test_a_branch_whose_files_hang_is_a_warning(site, tmp_path, monkeypatch, key):
    (tmp_path / "hung").mkdir()
    site.configure(f"[branch main]\n{key} = {tmp_path}/hung/*.txt\n")
    faults.preload("hang", tmp_path, monkeypatch)("/hung")
    checked = site.run("doctor", "--check-config")
    assert checked.returncode == 0 and "[branch main]: the file system of its files does not answer" in checked.stderr


# --- the service manager ---

def notified(listener, seconds):
    return listener.recv(4096) if select.select([listener], [], [], seconds)[0] else None


@pytest.mark.parametrize("name", ["path", "abstract"])
def test_the_manager_is_told(site, tmp_path, monkeypatch, name):
    address = f"\0wheelcache-test-{secrets.token_hex(8)}" if name == "abstract" else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(address)
        monkeypatch.setenv("NOTIFY_SOCKET", address.replace("\0", "@"))
        site.configure(CASES["the default view"][0])
        assert site.run("serve", "--listen", "127.0.0.1:0").returncode == 2
        told = [notified(listener, 1) for _ in range(2)]
        assert b"READY=1" not in told
        site.configure("")
        process = subprocess.Popen([serving.binary(), "serve", "--config", site.file, "--listen", "127.0.0.1:0"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert notified(listener, serving.START_SECONDS) == b"READY=1"
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(serving.STOP_SECONDS) == 0
        assert notified(listener, 5) == b"STOPPING=1"
