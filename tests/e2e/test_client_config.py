# SPDX-License-Identifier: Apache-2.0
"""What `wheelcache client-config` prints works as it is: each client, and the commands of each CI system, install from the
server with it, with and without a token."""
import json
import re
import subprocess
import sys
import types

import pytest

import clients
import serving
import storelib
from uploading import authorization

yaml = pytest.importorskip("yaml")
PIP, UV, POETRY, PDM, TOX = "pip==26.3", "uv==0.13.9", "poetry==2.5.1", "pdm==2.29.3", "tox==4.67.15"
CLIENTS = ["pip", "uv", "poetry", "pdm", "tox", "github", "gitlab", "jenkins", "zuul", "docker"]
CONFIG = "[platform open]\n[platform team]\nprivate = yes\n[view all]\nplatforms = team open\n"


@pytest.fixture(name="site", scope="module")
def site_fixture(tmp_path_factory, serve_module):
    """A server with a public and a private platform, each with the project demo, and a token for the private one."""
    folder = tmp_path_factory.mktemp("site")
    for platform, version in (("open", "1.0"), ("team", "2.0")):
        storelib.make_wheel(folder / "store" / platform, "demo", version)
    state = folder / "state"
    state.mkdir()
    server = serve_module(config=f"[store]\npath = {folder}/store\n{CONFIG}", state=state)
    added = serving.run("token", "add", "--read", "--config", server.config_path, "--catalog", server.catalog)
    return types.SimpleNamespace(server=server, token=added.stdout.strip())


@pytest.fixture(name="index", params=["open", "team"])
def index_fixture(request, site):
    """An index: the platform, its version of demo, the token that it needs ("": none), and the texts of its files."""
    def texts(client):
        done = serving.run("client-config", "--config", site.server.config_path, "--url", site.server.url, "--view",
                           request.param, "--for", client, "--json")
        assert done.returncode == 0, done.stderr
        return [file["text"].replace("TOKEN\n", site.token + "\n") for file in json.loads(done.stdout)["files"]]
    is_private = request.param == "team"
    is_quick = is_private or request.function in (test_pip, test_uv)
    if not is_quick and not request.config.getoption("--nightly"):
        pytest.skip("without a token, only ./test --nightly tries the CI systems")
    return types.SimpleNamespace(version="2.0" if is_private else "1.0", token=site.token if is_private else "", texts=texts,
                                 is_private=is_private)


def exports(text):
    """The variables of lines "export NAME=VALUE"."""
    return dict(re.findall(r"^export (\w+)=(.*)$", text, re.M))


def write_secret(path, text):
    path.write_text(text)
    path.chmod(0o600)


def found(folder):
    """The version of demo that was installed below the folder."""
    return [path.name.removesuffix(".dist-info").split("-")[1] for path in folder.rglob("demo-*.dist-info")]


def write_project(folder, text, extra=""):
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "mine"\nversion = "1.0"\nrequires-python = ">=3.11"\ndependencies = ["demo"]\n' + extra + text)


# --- the clients ---

def test_pip(index, client, tmp_path):
    config, *netrc = index.texts("pip")
    pip = client(PIP)
    (tmp_path / "pip.conf").write_text(config)
    for text in netrc:
        write_secret(pip.home / ".netrc", text)
    pip.pip("install", "--target", tmp_path / "out", "demo", env={"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")})
    assert found(tmp_path / "out") == [index.version]
    assert len(netrc) == index.is_private


def test_uv(index, client, tmp_path):
    config, *secrets = index.texts("uv")
    (tmp_path / "uv.toml").write_text(config)
    env = {"UV_NO_CONFIG": "0", "UV_CONFIG_FILE": str(tmp_path / "uv.toml")}
    for text in secrets:
        env |= exports(text)
    client(UV).run("uv", "pip", "install", "--python", sys.executable, "--target", tmp_path / "out", "demo", env=env)
    assert found(tmp_path / "out") == [index.version]


@pytest.mark.usefixtures("only_nightly")
def test_poetry(index, client, tmp_path):
    source, *secrets = index.texts("poetry")
    write_project(tmp_path, source, "[tool.poetry]\npackage-mode = false\n")
    env = {"POETRY_VIRTUALENVS_IN_PROJECT": "true", "POETRY_NO_INTERACTION": "1"}
    for text in secrets:
        env |= exports(text)
    client(POETRY).run("poetry", "install", cwd=tmp_path, env=env)
    assert found(tmp_path / ".venv") == [index.version]


@pytest.mark.usefixtures("only_nightly")
def test_pdm(index, client, tmp_path):
    source, *secrets = index.texts("pdm")
    write_project(tmp_path, source, "[tool.pdm]\ndistribution = false\n")
    env = clients.pdm_settings(tmp_path)
    for text in secrets:
        env |= exports(text)
    pdm = client(PDM)
    pdm.run("pdm", "use", "-f", sys.executable, cwd=tmp_path, env=env)
    pdm.run("pdm", "install", cwd=tmp_path, env=env)
    assert found(tmp_path / ".venv") == [index.version]


@pytest.mark.usefixtures("only_nightly")
def test_tox(index, client, tmp_path):
    config, *secrets = index.texts("tox")
    (tmp_path / "tox.ini").write_text(config + "deps = demo\nskip_install = true\ncommands = python -m pip freeze\n")
    env = {name: value for text in secrets for name, value in exports(text).items()}
    done = client(TOX).run("tox", "-e", "py", cwd=tmp_path, env=env)
    assert f"demo=={index.version}" in done.stdout


# --- CI systems: their files are well formed, and their commands work with their variables ---

def run_script(script, client, folder, env):
    """Runs the commands of a job as its runner does, with a pip that exists and installs beside the job."""
    (folder / "requirements.txt").write_text("demo\n")
    pip = client(PIP)
    env = clients.clean_environment(pip.home, PIP_NO_CACHE_DIR="1", PIP_TARGET=f"{folder}/job") | env
    done = subprocess.run(["sh", "-ec", script], cwd=folder, capture_output=True, text=True, check=False, timeout=300,
                          env=env | {"PATH": f"{pip.folder}/bin:{env['PATH']}"})
    assert done.returncode == 0, done.stdout + done.stderr
    return found(folder / "job")


def expand(text, token):
    """As the runner expands variables and secrets."""
    return re.sub(r"\$\{\{ secrets\.WHEELCACHE_TOKEN \}\}|\$\{WHEELCACHE_TOKEN\}", token, text)


def test_github(index, client, tmp_path):
    (text,) = index.texts("github")
    job = yaml.safe_load(text)["jobs"]["test"]
    env = {name: expand(value, index.token) for name, value in job["env"].items()}
    assert "secrets." not in "".join(env.values())
    assert run_script(job["steps"][-1]["run"], client, tmp_path, env) == [index.version]


def test_gitlab(index, client, tmp_path):
    (text,) = index.texts("gitlab")
    job = yaml.safe_load(text)["test"]
    env = {name: expand(value, index.token) for name, value in job["variables"].items()}
    assert run_script("\n".join(job["script"]), client, tmp_path, env) == [index.version]


@pytest.mark.usefixtures("only_nightly")
@pytest.mark.parametrize("url", ["https://wheels.example.org", "http://wheels.example.org:8080"])
@pytest.mark.parametrize("token", [[], ["--token"]])
@pytest.mark.parametrize("name, schema", [("github", "vendor.github-workflows"), ("gitlab", "vendor.gitlab-ci")])
def test_workflows_fit_their_schema(name, schema, token, url, client, tmp_path):
    (tmp_path / "file.yml").write_text(serving.run("client-config", "--for", name, "--url", url, *token).stdout)
    client("check-jsonschema==0.39.0").run("check-jsonschema", "--builtin-schema", schema, tmp_path / "file.yml")


def test_jenkins(index, client, tmp_path):
    (text,) = index.texts("jenkins")
    assert text.count("{") == text.count("}")
    env = dict(re.findall(r"^ +(\w+) = '(.*)'$", text, re.M))
    assert ("credentials('wheelcache-token')" in text) == index.is_private
    script = re.search(r"sh '''\n(.*?)'''", text, re.S)[1]
    assert "python3 -m venv venv\n" in script
    script = script.replace("python3 -m venv venv", f"ln -s {client(PIP).folder} venv")
    assert run_script(script, client, tmp_path, env | {"WHEELCACHE_TOKEN": index.token}) == [index.version]


def test_zuul(index, client, tmp_path):
    """What the playbook writes is a configuration of pip and of uv that works."""
    jobs, playbook = index.texts("zuul")
    (job,) = yaml.safe_load(jobs)
    assert job["job"]["pre-run"] == "playbooks/wheelcache.yaml"
    assert job["job"].get("secrets", []) == ["wheelcache"] * index.is_private
    (play,) = yaml.safe_load(playbook)
    copies = [task["ansible.builtin.copy"] for task in play["tasks"] if "ansible.builtin.copy" in task]
    content = {copy["dest"]: copy["content"] for copy in copies}
    assert all(task.get("no_log") for task in play["tasks"] if "wheelcache.token" in str(task))
    (tmp_path / "pip.conf").write_text(content["/etc/pip.conf"])
    (tmp_path / "uv.toml").write_text(content["/etc/uv/uv.toml"])
    pip = client(PIP)
    if index.is_private:
        write_secret(pip.home / ".netrc", content["~/.netrc"].replace("{{ wheelcache.token }}", index.token))
    pip.pip("install", "--target", tmp_path / "pip", "demo", env={"PIP_CONFIG_FILE": str(tmp_path / "pip.conf")})
    client(UV).run("uv", "pip", "install", "--python", sys.executable, "--target", tmp_path / "uv", "demo",
                   env={"UV_NO_CONFIG": "0", "UV_CONFIG_FILE": str(tmp_path / "uv.toml")})
    assert (found(tmp_path / "pip"), found(tmp_path / "uv")) == ([index.version], [index.version])


def test_docker(index, client, tmp_path):
    text, *netrc = index.texts("docker")
    env = dict(word.split("=", 1) for line in re.findall(r"^ENV (.*)$", text, re.M) for word in line.split())
    (command,) = re.findall(r"^RUN (?:--mount=\S+ )?(.*)$", text, re.M)
    assert ("--mount=type=secret,id=netrc,target=/root/.netrc" in text) == index.is_private
    home = client(PIP).home
    for one in netrc:
        write_secret(home / ".netrc", one)
    assert run_script(command, client, tmp_path, env) == [index.version]


# --- the command and the page ---

def test_all_clients_without_a_configuration():
    done = serving.run("client-config", "--url", "http://wheels.example.org")
    assert done.returncode == 0, done.stderr
    assert "trusted-host = wheels.example.org\n" in done.stdout
    assert "http://wheels.example.org/simple/" in done.stdout
    assert "token" not in done.stdout.lower()
    files = json.loads(serving.run("client-config", "--url", "http://wheels.example.org/", "--json").stdout)["files"]
    assert list(dict.fromkeys(file["client"] for file in files)) == CLIENTS
    assert done.stdout == "\n".join(file["text"] for file in files)


@pytest.mark.parametrize("words, message", [
    ([], "the URL of the server is not known"),
    (["--url", "wheels.example.org"], "--url"),
    (["--url", "https://h", "--for", "conda"], "--for conda: it is one of pip, uv"),
    (["--url", "https://h", "more"], "not more"),
])
def test_mistakes_are_named(words, message):
    done = serving.run("client-config", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_view_must_be_one_of_the_configuration(site):
    words = ["client-config", "--config", site.server.config_path, "--url", "https://h", "--for", "pip", "--view"]
    done = serving.run(*words, "al")
    assert done.returncode != 0
    assert "no view or platform al" in done.stderr
    assert "machine h\n" in serving.run(*words, "all").stdout
    assert "machine" not in serving.run(*words, "open").stdout


def test_page_has_the_same(site):
    server = site.server
    page = server.get("/-/client-config/open", {"Accept": "text/html"})
    assert page["Content-Type"].startswith("text/html")
    printed = serving.run("client-config", "--config", server.config_path, "--url", server.url, "--view", "open", "--json")
    data = server.get("/-/client-config/open?format=json")
    assert json.loads(data.body) == json.loads(printed.stdout)
    assert f"index-url = {server.url}/open/simple/".encode() in page.body
    assert all(f'<h2 id="{name}">'.encode() in page.body for name in CLIENTS)


def test_page_of_a_private_platform_needs_a_token(site):
    assert site.server.get("/-/client-config/team").status == 401
    assert site.server.get("/-/client-config/simple").status == 200
    assert site.server.get("/-/client-config/none").status == 401
    page = site.server.get("/-/client-config/team", authorization(site.token))
    assert page.status == 200
    assert b"login __token__" in page.body
    assert "private" in page["Cache-Control"] or "no-store" in page["Cache-Control"]
