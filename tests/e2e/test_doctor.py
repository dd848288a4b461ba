# SPDX-License-Identifier: Apache-2.0
"""`wheelcache doctor` names each of these faults and what to do about it, and finds none where there is none."""
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading

import pytest

import building
import serving
import storelib
from authority import Authority

PRIVATE = "[platform open]\n[platform team]\nprivate = yes\n[view all]\nplatforms = team open\n"


def clean(home, **more):
    """An environment in which no setting of the machine reaches the command."""
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PIP_CONFIG_FILE": os.devnull} | more


def examine(*words, env=None, cwd=None):
    """The exit code, and the rows as (level, what, found); each row with a fault has an advice."""
    done = serving.run("doctor", "--json", *words, env=env, cwd=cwd)
    result = json.loads(done.stdout)
    rows = [(row["level"], row["what"], row["found"]) for row in result["rows"]]
    assert all(bool(row["advice"]) == (row["level"] != "ok") for row in result["rows"]), result
    assert (result["wrong"] > 0) == (done.returncode == 1), done.stderr
    assert result["ok"] + result["warnings"] + result["wrong"] == len(rows)
    return rows


def found(rows, level, what):
    """What the rows of this level say of a thing."""
    return [text for one, thing, text in rows if (one, thing) == (level, what)]


# --- the operator's ---

class Site:
    """A store, its configuration without an upstream, and its catalog."""

    def __init__(self, folder):
        self.store = folder / "store"
        self.file = folder / "site.conf"
        self.catalog = folder / "state" / "catalog.db"
        storelib.make_wheel(self.store / "open", "demo", "1.0")
        self.catalog.parent.mkdir()
        self.configure()

    def configure(self, text="[platform open]\n", upstream="offline = yes\n"):
        self.file.write_text(f"[store]\npath = {self.store}\n[upstream]\n{upstream}{text}")

    def examine(self, *words, env=None):
        return examine("--config", self.file, "--catalog", self.catalog, *words, env=env)


@pytest.fixture(name="site")
def site_fixture(tmp_path):
    return Site(tmp_path)


def test_nothing_is_wrong_with_a_good_server(site):
    assert found(site.examine(), "warning", "catalog")
    serving.run("index", "--config", site.file, "--catalog", site.catalog)
    rows = site.examine()
    assert [row for row in rows if row[0] == "wrong"] == []
    assert {row[1] for row in rows} >= {"configuration", "platform", "writing", "disk", "catalog", "upstream", "limits"}


def test_lines_are_for_people(site):
    serving.run("index", "--config", site.file, "--catalog", site.catalog)
    shutil.rmtree(site.store / "open")
    done = serving.run("doctor", "--config", site.file, "--catalog", site.catalog)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].endswith(" 1 wrong")
    quiet = serving.run("doctor", "--quiet", "--config", site.file, "--catalog", site.catalog)
    lines = [line for line in done.stdout.splitlines()[:-1] if not line.startswith("ok ")]
    assert quiet.stdout.splitlines() == lines
    (line,) = [line for line in lines if line.startswith("wrong")]
    assert ". To do: mount the volume" in line


def test_a_mistake_in_the_configuration(site):
    site.file.write_text("[store]\npaht = /x\n")
    (row,) = site.examine()
    assert row[:2] == ("wrong", "configuration")
    assert "site.conf:2: " in row[2]


def test_folders(site, tmp_path):
    site.configure(f"[platform open]\n[platform away]\n[platform split]\npath = {site.store}/open\nwrite-path = {tmp_path}/none\n")
    rows = site.examine()
    assert any("away" in text for text in found(rows, "wrong", "platform"))
    assert any("split" in text for text in found(rows, "wrong", "writing"))
    assert any("split" in text for text in found(rows, "warning", "release"))


def test_folders_of_state(site, tmp_path):
    """The folder of each file that the server writes; the server makes what is missing."""
    (tmp_path / "file").write_text("")
    for keys, what in ((f"[server]\naccess-log = {tmp_path}/file/x/log\n", "the access log"),
                       (f"[server]\nlisten = unix:{tmp_path}/file/socket\n", "the socket"),
                       (f"[tokens]\npath = {tmp_path}/file/tokens\n", "the tokens"),
                       (f"[change-log]\npath = {tmp_path}/file/audit\n", "the audit log"),
                       (f"[build]\nresults = {tmp_path}/file/builds\n[branch main]\nrequirements = {tmp_path}/file\n", "the results of builds")):
        site.configure(f"{keys}[platform open]\n")
        (text,) = found(site.examine(), "wrong", "writing")
        assert text == f"{what}: this account cannot write to {tmp_path}/file: Permission denied"
    site.configure(f"[tokens]\npath = {tmp_path}/new/er/tokens\n[platform open]\n")
    assert found(site.examine(), "wrong", "writing") == []


def test_units_of_systemd(site, tmp_path):
    """systemctl tells what the units permit."""
    program = tmp_path / "bin" / "systemctl"
    program.parent.mkdir()
    block = "Id={}\nLoadState=loaded\nActiveState={}\nResult=exit-code\nMainPID=0\nProtectSystem=strict\nReadWritePaths={}\n"
    program.write_text("#!/bin/sh\ncat <<'END'\n" + "\n".join([
        block.format("wheelcache.service", "inactive", tmp_path),
        block.format("wheelcache-prune.service", "failed", f"-{site.catalog.parent}"),
        "Id=wheelcache-retain.service\nLoadState=not-found\n"]) + "END\n")
    program.chmod(0o755)
    rows = site.examine(env={"PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert found(rows, "warning", "service") == ["wheelcache.service does not run"]
    assert found(rows, "wrong", "service") == ["wheelcache-prune.service failed: exit-code"]
    assert found(rows, "ok", "systemd") == ["wheelcache.service may write to all of these folders"]
    assert found(rows, "warning", "systemd") == [
        f"platform open: {site.store}/open is read-only for wheelcache-prune.service"]
    program.write_text("#!/bin/sh\necho Id=wheelcache.service\necho LoadState=loaded\nexit 1\n")
    rows = site.examine(env={"PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert {row[1] for row in rows}.isdisjoint({"service", "systemd"})


def test_secrets_that_everybody_can_read(site):
    serving.run("token", "add", "--config", site.file, "--catalog", site.catalog)
    tokens = site.catalog.with_name("catalog.db.tokens")
    assert found(site.examine(), "warning", "tokens") == []
    tokens.chmod(0o644)
    (text,) = found(site.examine(), "warning", "tokens")
    assert str(tokens) in text


def test_a_damaged_catalog(site):
    site.catalog.write_bytes(b"nonsense" * 1000)
    assert found(site.examine(), "wrong", "catalog")


def test_upstream(site):
    with answering(500) as url:
        site.configure(upstream=f"url = {url}\nallow-private = yes\n")
        assert found(site.examine(), "warning", "upstream")
    assert found(site.examine(), "wrong", "upstream")


def make_certificate(folder, days):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                    folder / "key.pem", "-out", folder / "cert.pem", "-days", str(days), "-subj", "/CN=h"],
                   check=True, capture_output=True)
    return folder / "cert.pem"


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_days_of_a_certificate(site, tmp_path):
    for days, level in ((3, "warning"), (90, "ok")):
        make_certificate(tmp_path, days)
        site.configure(f"[server]\ntls-cert = {tmp_path}/cert.pem\ntls-key = {tmp_path}/key.pem\n[platform open]\n")
        (text,) = found(site.examine(), level, "certificate")
        assert f"{days - 1} more days" in text or f"{days} more days" in text
    (tmp_path / "key.pem").write_text("nonsense")
    assert found(site.examine(), "wrong", "certificate")


# --- a client's ---

class answering:
    """A server that gives one answer to every request."""

    def __init__(self, status, body=b"", **headers):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response_only(status)
                given = {name.replace("_", "-"): value for name, value in headers.items()}
                for header in ({"Date": self.date_time_string(), "Content-Length": str(len(body))} | given).items():
                    self.send_header(*header)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/simple/"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(name="served", scope="module")
def served_fixture(tmp_path_factory, serve_module):
    """A server with a private platform, and a token for it."""
    folder = tmp_path_factory.mktemp("served")
    for platform in ("open", "team"):
        storelib.make_wheel(folder / "store" / platform, "demo", "1.0")
    state = folder / "state"
    state.mkdir()
    server = serve_module(config=f"[store]\npath = {folder}/store\n{PRIVATE}", state=state)
    added = serving.run("token", "add", "--read", "--config", server.config_path, "--catalog", server.catalog)
    server.token = added.stdout.strip()
    return server


def ask(url, home, *words, **env):
    return examine("--client", url, *words, env=clean(home, **env), cwd=home)


def test_a_client_that_is_set_up_finds_nothing(served, tmp_path):
    url = f"{served.url}/simple/"
    rows = ask(url, tmp_path, "--project", "Demo", PIP_INDEX_URL=url, UV_DEFAULT_INDEX=url)
    assert [row for row in rows if row[0] != "ok"] == []
    assert found(rows, "ok", "project") == ["demo has 1 file here"]
    assert found(rows, "ok", "clock") and found(rows, "ok", "pip") and found(rows, "ok", "uv")


def test_what_client_config_prints_is_found(served, tmp_path):
    for client, place in (("pip", "pip/pip.conf"), ("uv", "uv/uv.toml")):
        file = tmp_path / ".config" / place
        file.parent.mkdir(parents=True)
        file.write_text(serving.run("client-config", "--url", served.url, "--view", "open", "--for", client).stdout)
    rows = ask(f"{served.url}/open/simple/", tmp_path, PIP_CONFIG_FILE="")
    assert [row for row in rows if row[0] != "ok"] == []


def test_tokens(served, tmp_path):
    url = f"{served.url}/team/simple/"
    assert "needs a token" in found(ask(url, tmp_path), "wrong", "token")[0]
    assert "unknown" in found(ask(url, tmp_path, WHEELCACHE_TOKEN="wc_" + "x" * 43), "wrong", "token")[0]
    assert found(ask(url, tmp_path, WHEELCACHE_TOKEN=served.token), "ok", "index")
    netrc = tmp_path / ".netrc"
    netrc.write_text(f"machine 127.0.0.1\nlogin __token__\npassword {served.token}\n")
    rows = ask(url, tmp_path)
    assert found(rows, "ok", "index")
    assert served.token not in str(rows)


def test_a_password_in_the_url_is_not_shown(tmp_path):
    with answering(401) as url:
        rows = ask(url.replace("//", "//user:secret@"), tmp_path)
        assert "secret" not in str(rows)
        assert found(rows, "wrong", "token")


def test_wrong_urls(served, tmp_path):
    assert found(ask(f"{served.url}/open/", tmp_path), "warning", "index")
    assert "no such index" in found(ask(f"{served.url}/simple/x/y/", tmp_path), "wrong", "index")[0]
    done = serving.run("doctor", "--client", f"{served.url}/nowhere/", env=clean(tmp_path))
    assert f"To do: try {served.url}/nowhere/simple/: " in done.stdout
    assert found(ask("wheels.example.org", tmp_path), "wrong", "index")
    assert found(ask("http://127.0.0.1:1/simple/", tmp_path), "wrong", "reach")
    assert found(ask(f"{served.url}/open/simple/", tmp_path, "--project", "other"), "wrong", "project")


def test_a_server_without_an_index_of_all_platforms(serve, tmp_path):
    """The URL of a platform is the advice, never one that the server answers with 404. A private platform is not named."""
    for platform in ("debian", "ubuntu", "team"):
        storelib.make_wheel(tmp_path / "store" / platform, "demo", "1.0")
    config = f"[store]\npath = {tmp_path}/store\ndefault-view = none\n[platform debian]\n[platform ubuntu]\n[platform team]\nprivate = yes\n"
    url = serve(config=config).url
    advice = f"To do: use the index of the platform that this job runs on, {url}/PLATFORM/simple/; there are debian, ubuntu\n"
    for path in ("", "/", "/simple/", "/simple/demo/"):
        done = serving.run("doctor", "--client", url + path, env=clean(tmp_path))
        assert done.returncode == 1 and advice in done.stdout, (path, done.stdout)
        assert f"{url}/simple/ " not in done.stdout.replace(f"{url}{path}: each", "")
    assert found(ask(f"{url}/ubuntu/simple/", tmp_path, "--project", "demo"), "ok", "project")
    done = serving.run("doctor", "--client", f"{url}/debian/nowhere/simple/", env=clean(tmp_path))
    assert "as https://HOST/ lists them: https://HOST/PLATFORM/simple/" in done.stdout


def test_other_answers(tmp_path):
    for status, body, level, what in ((503, b"", "wrong", "index"), (500, b"", "wrong", "index"), (403, b"", "wrong", "token"),
                                      (429, b"", "wrong", "token"), (200, b"<html>Log in</html>", "wrong", "index")):
        with answering(status, body, Content_Type="text/html") as url:
            assert found(ask(url, tmp_path), level, what), status


@pytest.mark.parametrize("date, level", [("Mon, 01 Jan 2001 00:00:00 GMT", "wrong"), ("Fri, 01 Jan 2100 00:00:00 GMT", "wrong"),
                                         ("yesterday", None)])
def test_clock(tmp_path, date, level):
    with answering(200, b'<a href="x">x</a>', Content_Type="text/html", Date=date) as url:
        rows = ask(url, tmp_path)
    assert [row[0] for row in rows if row[1] == "clock"] == ([level] if level else [])


def test_proxies(served, tmp_path):
    url = f"{served.url}/simple/"
    rows = ask(url, tmp_path, http_proxy="http://127.0.0.1:1/")
    assert "http_proxy" in found(rows, "warning", "proxy")[0]
    assert "http_proxy" in found(rows, "wrong", "proxy")[0]
    assert found(ask(url, tmp_path, http_proxy="http://127.0.0.1:1/", no_proxy="x,127.0.0.1"), "ok", "index")


def test_settings_of_clients(served, tmp_path):
    url = f"{served.url}/simple/"
    other = "https://pypi.example.org/simple/"
    rows = ask(url, tmp_path, PIP_INDEX_URL=other, PIP_EXTRA_INDEX_URL=url, PIP_NO_INDEX="1", UV_DEFAULT_INDEX=url, UV_INDEX=other)
    assert "PIP_INDEX_URL" in found(rows, "wrong", "pip")[0]
    assert "PIP_NO_INDEX" in found(rows, "wrong", "no-index")[0]
    assert [text.split(":")[0] for text in found(rows, "warning", "order")] == ["pip", "uv"]
    rows = ask(url, tmp_path, PIP_INDEX_URL=url, UV_OFFLINE="1", SSL_CERT_FILE="/nonexistent")
    assert found(rows, "wrong", "offline")
    assert "SSL_CERT_FILE" in found(rows, "wrong", "TLS")[0]


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_certificates(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / "wheels", "demo", "1.0")
    (tmp_path / "authority").mkdir()
    authority = Authority(tmp_path / "authority")
    url = f"{serve(tmp_path / 'store', authority=authority).url}/simple/"
    home = tmp_path / "home"
    home.mkdir()
    assert "not trusted" in found(ask(url, home), "wrong", "TLS")[0]
    rows = ask(url, home, "--ca-file", authority.ca)
    assert found(rows, "ok", "index")
    assert len(found(rows, "warning", "TLS")) == 2
    rows = ask(url, home, "--ca-file", authority.ca, PIP_CERT=str(authority.ca), SSL_CERT_FILE=str(authority.ca))
    assert [text for level, what, text in rows if what == "TLS"] == []
    rows = ask(url, home, "--ca-file", authority.ca, PIP_CERT=str(make_certificate(tmp_path, 9)), SSL_CERT_FILE=str(authority.ca))
    (text,) = found(rows, "wrong", "TLS")
    assert "PIP_CERT" in text


def test_mistakes_of_the_command_line():
    for words in (["--project", "x"], ["--client", "https://h/", "--timeout", "0"], ["a", "b"]):
        assert serving.run("doctor", *words).returncode == 2


# --- whether a file installs here ---

@pytest.fixture(name="many", scope="module")
def many_fixture(tmp_path_factory, serve_module):
    """Projects whose wheels are for various Pythons and machines."""
    folder = tmp_path_factory.mktemp("many")
    store = folder / "store" / "open"
    storelib.make_wheel(store, "pure", "1.0")
    storelib.make_wheel(store, "old", "1.0")
    storelib.make_wheel(store, "old", "2.0", "cp39-cp39-manylinux_2_17_x86_64")
    storelib.make_wheel(store, "distant", "1.0", "cp312-cp312-manylinux_2_17_s390x")
    storelib.make_wheel(store, "libc", "1.0", "cp312-cp312-manylinux_2_99_x86_64")
    storelib.make_wheel(store, "libc", "2.0rc1")
    (store / "source-1.0.tar.gz").write_bytes(building.sdist("source", "1.0"))
    return serve_module(folder / "store")


def install(many, home, project, *words, **env):
    rows = ask(f"{many.url}/simple/", home, "--project", project, *words, **env)
    return [(row[0], row[2]) for row in rows if row[1] == "install"][0]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the wheels are for x86_64")
def test_why_a_file_does_not_install(many, tmp_path):
    level, text = install(many, tmp_path, "pure", "--python", "3.12")
    assert level == "ok" and text.startswith("pure-1.0-py3-none-any.whl installs on Python 3.12 on x86_64 with glibc ")
    level, text = install(many, tmp_path, "old", "--python", "3.12")
    assert level == "warning" and text.startswith("pip takes old-1.0-py3-none-any.whl on Python 3.12") and "of 2.0: " in text and "cp39" in text
    level, text = install(many, tmp_path, "old", "--python", "3.9")
    assert level == "ok" and "old-2.0-cp39" in text
    level, text = install(many, tmp_path, "distant", "--python", "3.12")
    assert level == "wrong" and "s390x" in text
    level, text = install(many, tmp_path, "libc", "--python", "3.12")
    assert level == "wrong" and "glibc 2.99" in text
    level, text = install(many, tmp_path, "source", "--python", "3.12")
    assert level == "warning" and "it has an sdist" in text


def fake_python(folder, answer):
    folder.mkdir(parents=True)
    (folder / "python").write_text(f"#!/bin/sh\necho {answer}\n")
    (folder / "python").chmod(0o755)
    (folder / "python3").symlink_to("python")
    return folder


def test_which_python_is_judged(many, tmp_path):
    url = f"{many.url}/simple/"
    venv = fake_python(tmp_path / "venv" / "bin", "3.9 2 x86_64 glibc 2.36").parent
    path = fake_python(tmp_path / "bin", "3.13t 1 aarch64 glibc 2.39")
    env = {"PATH": f"{path}:{os.environ['PATH']}", "VIRTUAL_ENV": str(venv)}
    assert "Python 3.9 on x86_64 with glibc 2.36" in install(many, tmp_path, "pure", **env)[1]
    assert found(ask(url, tmp_path, "--project", "pure", **env), "ok", "python") == [f"{venv}/bin/python is Python 3.9"]
    assert "Python 3.13t on aarch64 with glibc 2.39" in install(many, tmp_path, "pure", PATH=env["PATH"])[1]
    assert "Python 3.9 on" in install(many, tmp_path, "pure", "--python", str(venv / "bin" / "python"), PATH=env["PATH"])[1]
    assert found(ask(url, tmp_path, "--project", "pure", "--python", "/nonexistent"), "wrong", "python")
    (tmp_path / "empty").mkdir()
    level, text = install(many, tmp_path, "distant", PATH=str(tmp_path / "empty"))
    assert level == ("wrong" if os.uname().machine != "s390x" else "warning") and "no Python is found here; of 1 file of distant 0" in text
    assert serving.run("doctor", "--client", url, "--python", "3.12").returncode == 2


def test_this_python_is_known(many, tmp_path):
    level, text = install(many, tmp_path, "pure", "--python", sys.executable)
    assert level == "ok" and f"Python {sys.version_info[0]}.{sys.version_info[1]} on {os.uname().machine}" in text


# --- what is no index ---

def test_pages_that_are_no_index(many, tmp_path):
    done = serving.run("doctor", "--client", f"{many.url}/", env=clean(tmp_path))
    assert done.returncode == 1 and f"{many.url}/ is no index of packages. To do: try {many.url}/simple/" in done.stdout
    done = serving.run("doctor", "--client", f"{many.url}/simple/pure/", env=clean(tmp_path))
    assert done.returncode == 1
    assert f"{many.url}/simple/pure/ is the page of one project, and no index. To do: use the URL of the index above it: {many.url}/simple/" in done.stdout
    page = b'<html><body><a href="/simple/x/x-1.0-py3-none-any.whl#sha256=0">x</a></body></html>'
    with answering(200, page, Content_Type="text/html") as url:
        assert "page of one project" in found(ask(f"{url}x/", tmp_path), "wrong", "index")[0]
    with answering(200, b'<html><a href="x/">x</a></html>', Content_Type="text/html") as url:
        assert found(ask(url, tmp_path), "ok", "index")


# --- certificates ---

@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_each_fault_of_a_certificate_has_its_advice(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / "wheels", "demo", "1.0")
    (tmp_path / "authority").mkdir()
    authority = Authority(tmp_path / "authority")
    server = serve(tmp_path / "store", authority=authority, listen="127.0.0.3:0")

    def advice(*words, **env):
        done = serving.run("doctor", "--client", f"{server.url}/simple/", *words, env=clean(tmp_path, **env))
        (line,) = [one for one in done.stdout.splitlines() if one.startswith("wrong") and "certificate is" in one]
        return line

    assert "is not trusted" in advice() and "set PIP_CERT and SSL_CERT_FILE" in advice()
    for variable in ("PIP_CERT", "SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        line = advice(**{variable: str(authority.ca)})
        assert "is for another host" in line and "use a name that the certificate has" in line, line
    other = {"SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt", "PIP_CERT": str(authority.ca)}
    done = serving.run("doctor", "--client", f"{server.url}/simple/", env=clean(tmp_path, **other))
    assert "pip trusts only" not in done.stdout, "pip trusts the authority, and no file of authorities mends the name"


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_plain_http_to_a_port_of_https(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / "wheels", "demo", "1.0")
    (tmp_path / "authority").mkdir()
    server = serve(tmp_path / "store", authority=Authority(tmp_path / "authority"))
    url = f"http://{server.host}:{server.port}/simple/"
    (line,) = found(ask(url, tmp_path), "wrong", "TLS")
    assert line == f"{url} is plain HTTP, and the server speaks HTTPS there"
    with answering(400, b"<h1>400 Bad Request</h1> The plain HTTP request was sent to HTTPS port", Content_Type="text/html") as url:
        assert found(ask(url, tmp_path), "wrong", "TLS")
    with answering(400, b"no", Content_Type="text/html") as url:
        assert found(ask(url, tmp_path), "wrong", "index") and not found(ask(url, tmp_path), "wrong", "TLS")


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_an_expired_certificate(tmp_path):
    (tmp_path / "index").write_text("")
    (tmp_path / "ca.conf").write_text(f"[ca]\ndefault_ca = d\n[d]\ndatabase = {tmp_path}/index\nnew_certs_dir = {tmp_path}\nserial = {tmp_path}/serial\n"
                                      "default_md = sha256\npolicy = p\nx509_extensions = e\n[p]\ncommonName = supplied\n"
                                      "[e]\nsubjectAltName = IP:127.0.0.1\n")
    for words in (["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=h", "-keyout", tmp_path / "key.pem", "-out", tmp_path / "req.pem"],
                  ["ca", "-batch", "-selfsign", "-config", tmp_path / "ca.conf", "-create_serial", "-in", tmp_path / "req.pem", "-keyfile",
                   tmp_path / "key.pem", "-startdate", "20200101000000Z", "-enddate", "20200102000000Z", "-out", tmp_path / "cert.pem", "-notext"]):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    one = answering(200)
    one.server.socket = context.wrap_socket(one.server.socket, server_side=True)
    with one as url:
        done = serving.run("doctor", "--client", url.replace("http:", "https:"), "--ca-file", tmp_path / "cert.pem", env=clean(tmp_path))
    assert "the certificate is out of its time" in done.stdout and "look at the clock of this machine" in done.stdout


@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl")
def test_push_and_health_trust_the_same_variables(serve, tmp_path):
    storelib.make_wheel(tmp_path / "store" / "wheels", "demo", "1.0")
    (tmp_path / "authority").mkdir()
    authority = Authority(tmp_path / "authority")
    url = f"{serve(tmp_path / 'store', authority=authority).url}/"
    assert serving.run("health", url, env=clean(tmp_path)).returncode == 1
    for variable in ("PIP_CERT", "SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        assert serving.run("health", url, env=clean(tmp_path, **{variable: str(authority.ca)})).returncode == 0
    wheel = next((tmp_path / "store" / "wheels").glob("*.whl"))
    done = serving.run("push", wheel, "--to", f"{url}upload/wheels/", "--retries", "0", env=clean(tmp_path, SSL_CERT_FILE=str(authority.ca)))
    assert "certificate" not in done.stderr + done.stdout
