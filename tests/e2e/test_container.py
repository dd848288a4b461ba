# SPDX-License-Identifier: Apache-2.0
"""etc/Containerfile and etc/kubernetes.yaml. The image is built and run only with --nightly, since this takes two minutes."""
import json
import os
import pathlib
import shutil
import tempfile
import urllib.error
import urllib.request

import pytest
import yaml

import clients
import containers
import serving
import storelib

ANYONE = ["65532:0", "1000730000:0", "12345:12345"]  # the image's own, one of OpenShift's, and `podman run --user`
PLATFORM = "debian-12-x86_64"
KUBERNETES = "kubernetes-validate==1.37.0"
MANIFEST = clients.ROOT / "etc" / "kubernetes.yaml"


@pytest.fixture(scope="module", name="made")
def made_fixture(pytestconfig):
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly builds an image")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wheelcache-image-"))
    try:
        with containers.image(folder) as made:
            yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(name="volumes")
def volumes_fixture():
    """Two folders that every account may reach: wheels and state."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wheelcache-volumes-"))
    folder.chmod(0o755)
    (folder / "wheels").mkdir()
    (folder / "state").mkdir()
    (folder / "state").chmod(0o777)
    yield folder / "wheels", folder / "state"
    shutil.rmtree(folder)


@pytest.fixture(name="run")
def run_fixture(made):
    running = []

    def start(*arguments, **options):
        running.append(containers.Container(made, *arguments, **options))
        return running[-1]

    yield start
    for one in running:
        one.kill()


def get(container, path):
    try:
        with urllib.request.urlopen(container.url + path, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, ""


def test_image_has_nothing_but_the_program(made):
    programs = [path for path in made.root.rglob("*") if path.is_file() and os.access(path, os.X_OK) and ".so" not in path.name]
    assert programs == [made.root / "usr/bin/wheelcache"]
    assert made.config["User"] == "65532:0"
    assert sum(path.stat().st_size for path in made.root.rglob("*") if path.is_file()) < 80 << 20


@pytest.mark.parametrize("account", ANYONE)
def test_empty_store_and_no_other_volume(run, volumes, account):
    """Wheels that come later are found; SIGTERM to the first process of the container ends it cleanly."""
    wheels, _ = volumes
    container = run(account, store=wheels)
    assert container.probe() == 0
    assert get(container, "/-/ready")[0] == 200
    storelib.make_wheel(wheels / PLATFORM, "demo", "1.0")
    os.utime(wheels / PLATFORM / "demo-1.0-py3-none-any.whl", (storelib.OLD, storelib.OLD))
    assert container.terminate() == 0
    again = run(account, store=wheels)
    assert "demo-1.0-py3-none-any.whl" in get(again, f"/{PLATFORM}/simple/demo/")[1]
    assert container.probe() != 0


@pytest.mark.parametrize("account", ANYONE)
def test_store_that_is_read_only(run, volumes, account):
    wheels, state = volumes
    storelib.make_wheel(wheels / PLATFORM, "demo", "1.0")
    container = run(account, store=wheels, state=state, mode="ro")
    assert "demo-1.0-py3-none-any.whl" in get(container, "/simple/demo/")[1]
    added = container.run("token", "add", "--note", "ci", "/srv/wheels")
    assert added.returncode == 0, added.stderr
    assert container.terminate() == 0
    listed = run(account, store=wheels, state=state, mode="ro").run("token", "list", "/srv/wheels")
    assert "ci" in listed.stdout, listed.stderr
    assert not list(wheels.glob(".*"))


def test_store_without_platform_folders(run, volumes):
    wheels, state = volumes
    storelib.make_wheel(wheels, "demo", "1.0")
    container = run("65532:0", store=wheels, state=state)
    assert json.loads(get(container, "/-/health")[1])["platforms"][0]["name"] == "wheels"
    assert get(container, "/wheels/simple/demo/")[0] == 200


def documents():
    return list(yaml.safe_load_all(MANIFEST.read_text(encoding="utf-8")))


def test_manifest_is_valid(pytestconfig, client):
    """Every field by the schemas of Kubernetes, of which unknown ones are errors."""
    if not pytestconfig.getoption("--nightly"):
        pytest.skip("only ./test --nightly installs the schemas, which are large")
    validator = client(KUBERNETES)
    done = validator.run("kubernetes-validate", "--strict", str(MANIFEST))
    assert done.stdout.count("INFO") == len(documents()), done.stdout + done.stderr
    broken = validator.home / "broken.yaml"
    broken.write_text(MANIFEST.read_text(encoding="utf-8").replace("readOnlyRootFilesystem", "readOnlyRootFileSystem"), encoding="utf-8")
    validator.run("kubernetes-validate", "--strict", str(broken), code=1)


def test_manifest_and_image_agree(serve, tmp_path):
    """Paths, port and command are those of the Containerfile; the probes ask what the server answers."""
    image = (clients.ROOT / "etc/Containerfile").read_text(encoding="utf-8")
    pod = next(one for one in documents() if one["kind"] == "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    volumes = json.loads(next(line for line in image.splitlines() if line.startswith("VOLUME")).removeprefix("VOLUME "))
    assert [one["mountPath"] for one in container["volumeMounts"]] == [*volumes, "/tmp"]
    assert [one["name"] for one in container["volumeMounts"]] == [one["name"] for one in pod["volumes"]]
    assert f"EXPOSE {container['ports'][0]['containerPort']}\n" in image
    assert (container["securityContext"]["readOnlyRootFilesystem"], pod["securityContext"]["runAsNonRoot"]) == (True, True)
    storelib.make_wheel(tmp_path / "store", "demo", "1.0")
    server = serve(tmp_path / "store")
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert server.get(container[probe]["httpGet"]["path"]).status == 200
    assert serving.run("serve", *container["args"][1:-1], "--help").returncode == 0
