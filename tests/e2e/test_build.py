# SPDX-License-Identifier: Apache-2.0
"""`wheelcache build`: which rows it takes and in which order, what it keeps, and what another run goes on with."""
import contextlib
import hashlib
import json
import os
import platform
import signal
import sqlite3
import subprocess
import time

import building
import pytest
import serving
from building import PLATFORM, PYTHONS, states


@pytest.fixture
def world(tmp_path):
    with building.world(tmp_path) as made:
        yield made


# --- the command line ---

@pytest.mark.parametrize("options, words", [
    (["--platform", "nowhere-1-x86_64"], "nowhere-1-x86_64"),
    (["--python", "four"], "--python"),
    (["--only", "-x-"], "--only"),
    (["--shard", "3/2"], "shard"),
    (["--retry", "sometimes"], "--retry"),
    (["--from", "nowhere"], "--from"),
    (["--from", "http://me:secret@127.0.0.1:1/"], "WHEELCACHE_TOKEN"),
    (["--to", "http://127.0.0.1:1/"], "--to"),
    (["--to", "http://127.0.0.1:1/upload/other-1-x86_64/"], "other-1-x86_64"),
    (["--jobs", "many"], "jobs"),
])
def test_usage_errors_end_with_2(world, options, words):
    world.want("alpha")
    world.build(*options, code=2)
    assert words in world.errors and "secret" not in world.errors


def test_a_platform_is_needed(world):
    world.write()
    done = serving.run("build", "--config", world.config_path)
    assert done.returncode == 2 and "--platform" in done.stderr


def test_nothing_to_do_is_0(world):
    world.want("alpha")
    world.build()
    report = world.build()
    assert report["rows"] == [] and world.runs() == [f"alpha {one}" for one in PYTHONS]


def test_nothing_to_do_at_first_is_no_error(world):
    world.want("alpha")
    world.keys["branch main"]["until"] = "2020-01-01"
    assert world.build()["rows"] == [] and "error" not in world.errors


def statement_of(world, wheel):
    """The predicate of the statement beside a built wheel of the store."""
    path, = (world.store / PLATFORM).rglob(f"{wheel}.intoto.json")
    statement = json.loads(path.read_bytes())
    assert statement["subject"][0]["name"] == wheel
    return statement["predicate"]


def test_the_statement_says_of_what_and_where_it_was_built(world):
    """Of what: the sdist and the files of the branches that want it. Where: what decides on which machines it runs."""
    requirements = world.folder / "more.txt"
    requirements.write_text("-c constraints.txt\nalpha\n")
    (world.folder / "other.txt").write_text("beta\n")
    world.want("alpha")
    world.keys |= {"branch more": {"requirements": requirements}, "branch other": {"requirements": world.folder / "other.txt"}}
    world.keys["build"]["environment"] = "PATH CFLAGS"
    world.build("--python", "3.11", "--only", "alpha", env={"CFLAGS": "-O2 -march=x86-64-v3"} if os.uname().machine == "x86_64" else {})
    built = statement_of(world, "alpha-1.0-cp311-cp311-linux_x86_64.whl")["buildDefinition"]
    sdist, *files = built["resolvedDependencies"]
    digests = {name: hashlib.sha256((world.folder / name).read_bytes()).hexdigest() for name in ("constraints.txt", "more.txt")}
    assert sdist["name"] == "sdist"
    assert [(one["name"], one["digest"]["sha256"], one["annotations"]["how"]) for one in files] == [
        ("main/constraints.txt", digests["constraints.txt"], "constraints"),
        ("more/more.txt", digests["more.txt"], "requirements"),
        ("more/constraints.txt", digests["constraints.txt"], "constraints")]
    machine = built["internalParameters"]
    assert machine["host_libc"] == " ".join(platform.libc_ver()) == machine["libc"]
    assert machine["cpu_baseline"] == {"x86_64": "x86-64-v3", "aarch64": "armv8"}[os.uname().machine]


# --- which rows, in which order ---

@pytest.mark.parametrize("options", [
    ("--only", "beta", "Alpha", "--python", "3.12", "3.11", "--dry-run"),
    ("--only=beta", "alpha", "--dry-run", "--python=3.12", "--python", "3.11"),
    ("--python", "3.12", "3.11", "--dry-run", "--only", "beta", "--only", "alpha"),
])
def test_an_option_takes_a_list(world, options):
    world.want("beta", "alpha", "gamma")
    report = world.build(*options)
    ready = [f"{row['project']} {row['python']}" for row in report["rows"] if row["state"] == "ready"]
    assert ready == ["alpha 3.11", "alpha 3.12", "beta 3.11", "beta 3.12"]


def test_a_word_that_belongs_to_no_option_is_refused(world):
    for words in [["alpha"], ["--only", "alpha", "--dry-run", "beta"], ["--only", "alpha", "--", "beta"]]:
        world.build(*words, code=2)
        assert f"{words[-1]}: no argument" in world.errors
    world.build("--only", "alpha", "no project", code=2)
    assert "no project is not a valid" in world.errors


def test_a_dry_run_shows_the_order_and_runs_nothing(world):
    world.want("beta", "alpha")
    report = world.build("--dry-run", "--python", "3.12", "--python", "3.11")
    ready = [f"{row['project']} {row['python']}" for row in report["rows"] if row["state"] == "ready"]
    assert ready == ["alpha 3.11", "alpha 3.12", "beta 3.11", "beta 3.12"]
    assert report["dry_run"] and world.runs() == [] and world.wheels() == []
    text = subprocess.run(world.command("--dry-run"), capture_output=True, text=True, check=True, env=world.env).stdout
    assert text.index("alpha 1.0") < text.index("beta 1.0") and "9 ready" not in text and "6 ready" in text


def test_each_python_gets_its_wheel(world):
    world.want("alpha")
    report = world.build("--jobs", 3)
    assert states(report) == {f"alpha {one}": "ok" for one in PYTHONS}
    assert world.wheels() == [f"alpha-1.0-cp{one.replace('.', '')}-cp{one.replace('.', '')}-linux_x86_64.whl"
                              for one in PYTHONS]


def test_it_is_said_what_the_memory_limit_holds_for(world):
    world.want("alpha")
    world.build("--python", "3.11")
    assert "memory limits" not in world.errors
    world.keys["build"]["memory"] = "2G"
    world.build("--python", "3.12")
    kinds = ["the whole group, by cgroup v2", "each process, by RLIMIT_AS: no cgroup is writable"]
    assert sum(f"[build] memory limits {kind}" in world.errors for kind in kinds) == 1


@pytest.mark.parametrize("tag, requires, runs", [
    ("cp311-abi3-linux_x86_64", ">=3.8", ["3.11"]),
    ("py3-none-any", "<3.13", ["3.11"]),
    ("cp312-abi3-linux_x86_64", ">=3.8", ["3.11", "3.12"]),  # the build for 3.11 made a wheel that 3.11 cannot install
])
def test_one_wheel_fills_later_pythons(world, tag, requires, runs):
    world.want("alpha", tag=tag, requires=requires)
    report = world.build(code=1 if len(runs) > 1 else 0)
    assert world.runs() == [f"alpha {one}" for one in runs]
    assert states(report)["alpha 3.12"] == ("covered" if len(runs) == 1 else "ok")


def test_only_python_and_shard_choose_rows(world):
    names = [f"project-{one}" for one in "abcdefgh"]
    world.want(*names)
    world.build("--python", "3.12", "--only", "Project_A")
    assert world.runs() == ["project-a 3.12"]
    halves = [{f"{row['project']}" for row in world.build("--dry-run", "--shard", f"{k}/2")["rows"]
               if row["state"] == "ready"} for k in (1, 2)]
    assert halves[0] | halves[1] == set(names) and not halves[0] & halves[1] and halves[0] and halves[1]


def test_a_failure_holds_up_nothing(world):
    world.want("alpha", fails=PYTHONS)
    world.want("beta", fails=["3.12"])
    report = world.build(code=1)
    assert states(report) == {**{f"alpha {one}": "failed" for one in PYTHONS},
                              "beta 3.11": "ok", "beta 3.12": "failed", "beta 3.13": "ok"}
    bad = [row for row in report["rows"] if row["project"] == "alpha"]
    assert all(row["attempt"]["result"] == "failed" and row["attempt"]["step"] == "build" for row in bad)
    assert len(world.wheels()) == 2


def want_two_that_need_another(world):
    """app is built only if backend has a wheel, for its Python."""
    files = {"pyproject.toml": '[build-system]\nrequires = ["backend"]\nbuild-backend = "backend"\n'}
    world.want("app", files=files, needs="backend-*.whl", store=str(world.store))
    world.want("backend")


def test_a_row_waits_for_its_build_requirement_in_the_same_run(world):
    want_two_that_need_another(world)
    report = world.build("--python", "3.11")
    assert states(report) == {"app 3.11": "ok", "backend 3.11": "ok"}
    assert world.runs() == ["app 3.11", "backend 3.11", "app 3.11"]


def test_a_row_whose_build_requirement_fails_waits_for_another_run(world):
    want_two_that_need_another(world)
    world.plan["backend"] = {"fails": ["3.11"]}
    report = world.build("--python", "3.11", code=1)
    assert states(report) == {"app 3.11": "awaiting", "backend 3.11": "failed"}
    report = world.build("--python", "3.11", "--only", "app")
    assert states(report)["app 3.11"] == "awaiting" and len(world.runs()) == 2
    world.plan["backend"] = {}
    report = world.build("--python", "3.11", "--retry", "failed")
    assert states(report) == {"app 3.11": "ok", "backend 3.11": "ok"}


# --- failures are kept ---

def test_a_failure_pauses_and_is_retried_when_asked(world):
    world.want("alpha", fails=["3.11"])
    world.build("--python", "3.11", code=1)
    report = world.build("--python", "3.11")
    assert states(report) == {"alpha 3.11": "left-out"} and len(world.runs()) == 1
    assert states(world.build("--python", "3.11", "--retry", "timed-out")) == {"alpha 3.11": "left-out"}
    world.plan["alpha"] = {}
    assert states(world.build("--python", "3.11", "--retry", "failed")) == {"alpha 3.11": "ok"}


def test_another_recipe_is_a_new_beginning(world):
    world.want("alpha", fails=["3.11"])
    world.build("--python", "3.11", code=1)
    world.keys["build"]["build"] += " --again"
    world.build("--python", "3.11", code=1)
    assert len(world.runs()) == 2
    world.build("--python", "3.11")
    assert len(world.runs()) == 2


def test_a_timed_out_row_is_retried_by_its_word(world):
    world.want("alpha", seconds=60)
    world.keys["build"]["timeout"] = "1s"
    report = world.build("--python", "3.11", code=1)
    assert report["rows"][0]["attempt"]["result"] == "timed-out"
    world.plan["alpha"] = {}
    assert states(world.build("--python", "3.11", "--retry", "failed")) == {"alpha 3.11": "left-out"}
    assert states(world.build("--python", "3.11", "--retry", "timed-out")) == {"alpha 3.11": "ok"}


def test_an_interval_of_no_time_is_over_at_once(world):
    world.want("alpha", fails=["3.11"])
    world.keys["build"]["retry-after"] = "1s"
    world.build("--python", "3.11", code=1)
    time.sleep(1.1)
    world.build("--python", "3.11", code=1)
    assert len(world.runs()) == 2


def test_a_failure_of_the_future_delays_nothing(world):
    """The clock was wrong once."""
    world.want("alpha", fails=["3.11"])
    world.build("--python", "3.11", code=1)
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "left-out"}
    with contextlib.closing(sqlite3.connect(f"{world.catalog}.builds")) as database, database:
        database.execute("UPDATE attempt SET begun = begun + 1000 * 86400")
    world.build("--python", "3.11", code=1)
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "left-out"}
    assert len(world.runs()) == 2


# --- being stopped ---

def processes_in(folder):
    """Processes whose command line names the folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as line:
                if f"{folder}/make_wheel.py".encode() in line.read():
                    found.append(int(pid))
        except OSError:
            continue
    return found


def begin_and_hold(world, build):
    """Waits until the build command runs."""
    serving.wait_for(world.runs, 30, "the build command")
    assert build.poll() is None and processes_in(world.folder)


def nothing_runs(world):
    serving.wait_for(lambda: not processes_in(world.folder), 20, "the end of the build command")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_in_order_and_the_next_run_goes_on(world, number):
    world.want("alpha", "beta")
    (world.folder / "hold").touch()
    with world.running("--jobs", "2", "--python", "3.11") as build:
        begin_and_hold(world, build)
        build.send_signal(number)
        assert build.wait(30) == 1
    nothing_runs(world)
    report = json.loads((world.folder / "stdout.txt").read_text())
    assert "interrupted" in states(report).values() and "ok" not in states(report).values()
    assert world.wheels() == []
    (world.folder / "hold").unlink()
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "ok", "beta 3.11": "ok"}


def work_folders(world):
    return [path for path in (world.folder / "catalog.db.builds.work" / PLATFORM).iterdir()]


def test_a_killed_build_leaves_nothing_and_the_next_run_goes_on(world):
    world.want("alpha", "beta")
    (world.folder / "hold").touch()
    with world.running("--python", "3.11") as build:
        begin_and_hold(world, build)
        build.kill()
        build.wait()
    nothing_runs(world)
    (world.folder / "hold").unlink()
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "ok", "beta 3.11": "ok"}
    assert work_folders(world) == []
    listed = json.loads(serving.run("builds", "--json", "--config", world.config_path).stdout)
    results = sorted(row["result"] for row in (listed["attempts"] if isinstance(listed, dict) else listed))
    assert results == ["interrupted", "ok", "ok"]


def test_a_build_that_ends_its_builder_holds_up_no_other(world):
    world.want("alpha", "beta")
    (world.folder / "hold").touch()
    with world.running("--python", "3.11") as build:
        begin_and_hold(world, build)  # alpha
        build.kill()
        build.wait()
    (world.folder / "hold").unlink()
    world.build("--python", "3.11")
    assert world.runs() == ["alpha 3.11", "beta 3.11", "alpha 3.11"]


def test_two_builders_of_one_work_folder(world):
    world.want("alpha")
    (world.folder / "hold").touch()
    with world.running() as build:
        begin_and_hold(world, build)
        world.build(code=1)
        assert "another builder" in world.errors and "work-path" in world.errors
        world.keys["build"]["work-path"] = world.folder / "elsewhere"
        world.build("--only", "nothing-of-this")
        (world.folder / "hold").unlink()
        assert build.wait(60) == 0  # the second builder took nothing of the first for dead


# --- what others do meanwhile ---

def test_what_was_published_meanwhile_is_not_built(world):
    world.want("alpha", "beta")
    world.plan["beta"] = {"holds": False}
    (world.folder / "hold").touch()
    with world.running("--python", "3.11") as build:
        begin_and_hold(world, build)  # alpha
        name = "beta-1.0-cp311-cp311-linux_x86_64.whl"
        world.index.files["beta"][name] = b"PK"
        (world.folder / "hold").unlink()
        assert build.wait(60) == 0
    report = json.loads((world.folder / "stdout.txt").read_text())
    assert states(report)["beta 3.11"] == "not-missing" and world.runs() == ["alpha 3.11"]


# --- the machine ---

def test_a_python_that_the_builder_lacks_is_left_out(world):
    """Another builder has it: nothing is red."""
    world.want("alpha")
    (world.folder / "bin" / "python3.12").unlink()
    world.keys[f"platform {PLATFORM}"] = {"pythons": "3.11 3.12 3.98"}
    report = world.build()
    assert states(report) == {"alpha 3.11": "ok", "alpha 3.12": "left-out", "alpha 3.98": "left-out"}
    assert {row["why"] for row in report["rows"]} > {"this builder does not have this Python"}
    assert "Python 3.12 is left out" in world.errors
    attempts = json.loads(serving.run("builds", "--json", "--config", world.config_path).stdout)["attempts"]
    assert [one["python"] for one in attempts] == ["3.11"]


def test_only_what_the_patch_release_of_the_machine_wants_is_built(world):
    world.want("alpha")
    world.want("alpha", version="2.0")
    micro = subprocess.run(["/usr/bin/python3", "-c", "import sys; print(sys.version_info[2])"], capture_output=True,
                           text=True, check=True).stdout.strip()
    (world.folder / "constraints.txt").write_text(f"alpha===1.0 ; python_full_version <= '3.11.{micro}'\n"
                                                  f"alpha===2.0 ; python_full_version > '3.11.{micro}'\n")
    rows = world.build("--python", "3.11")["rows"]
    assert {row["version"]: row["state"] for row in rows if row["python"] == "3.11"} == {"1.0": "ok", "2.0": "left-out"}
    assert f"other patch releases than this builder's 3.11.{micro}" in {row["version"]: row["why"] for row in rows}["2.0"]
    listed = json.loads(serving.run("missing", "--json", "--config", world.config_path).stdout)["rows"]
    micros, = [row["micros"] for row in listed if (row["python"], row["version"]) == ("3.11", "2.0")]
    assert micros == f"{int(micro) + 1}-63"


def test_a_wrapper_that_says_that_there_is_none(world):
    world.want("alpha")
    wrap = world.folder / "wrap"
    wrap.write_text('#!/bin/sh\ncase $1 in python3.12) echo "bwrap: execvp $1: No such file or directory" >&2; exit 1;; esac\n'
                    'exec "$@"\n')
    wrap.chmod(0o755)
    world.keys["build"]["wrap"] = wrap
    assert states(world.build("--python", "3.11", "--python", "3.12")) == {
        "alpha 3.11": "ok", "alpha 3.12": "left-out", "alpha 3.13": "left-out"}
    wrap.write_text("#!/bin/sh\necho broken >&2; exit 1\n")  # that is for the attempts to report
    assert states(world.build("--python", "3.12", code=1))["alpha 3.12"] == "failed"


# --- the network ---

def test_one_variable_names_the_certificates_for_all_tools(world):
    world.want("alpha")
    script = world.folder / "make_wheel.py"
    script.write_text("import os\nprint('certificates', *(os.environ.get(name, '-') for name in ('SSL_CERT_FILE', 'PIP_CERT', "
                      "'CARGO_HTTP_CAINFO', 'GIT_SSL_CAINFO')))\n" + script.read_text())
    world.env.pop("PIP_CERT", None)
    report = world.build("--python", "3.11", env={"SSL_CERT_FILE": "/a/ca.pem"})
    log = serving.run("builds", "--config", world.config_path, "--log", report["rows"][0]["attempt"]["id"]).stdout
    assert "certificates /a/ca.pem /a/ca.pem /a/ca.pem /a/ca.pem" in log


def test_a_file_host_that_is_away_is_no_failure_of_the_wheel(world):
    """Nobody is alarmed, and every night tries it."""
    world.want("alpha", "beta")
    told = world.folder / "told"
    world.keys["build"]["on-change"] = f"/usr/bin/touch {told}"
    world.index.is_file_host_away = True
    for _ in range(4):
        report = world.build("--python", "3.11")
        assert states(report) == {"alpha 3.11": "waiting", "beta 3.11": "waiting"}
        assert [row["attempt"]["step"] for row in report["rows"]] == ["fetch"] * 2 and "503" in report["rows"][0]["why"]
    listed = json.loads(serving.run("builds", "--json", "--config", world.config_path).stdout)["attempts"]
    assert {one["result"] for one in listed} == {"waiting"} and len(listed) == 8
    failed = json.loads(serving.run("builds", "--failed", "--json", "--config", world.config_path).stdout)["attempts"]
    rows = json.loads(serving.run("missing", "--json", "--config", world.config_path).stdout)["rows"]
    assert failed == [] and {row["status"] for row in rows} == {"missing"} and not told.exists()
    world.index.is_file_host_away = False
    assert set(states(world.build("--python", "3.11")).values()) == {"ok"}


def test_a_waiting_attempt_leaves_an_earlier_failure_as_it_is(world):
    world.want("alpha", fails=["3.11"])
    world.keys["build"]["retry-after"] = "1s 1d"
    world.build("--python", "3.11", code=1)
    time.sleep(1.1)
    world.index.is_file_host_away = True
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "waiting"}
    world.index.is_file_host_away = False
    world.build("--python", "3.11", code=1)  # the second failure: it rests now
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "left-out"}


# --- on-change ---

def test_on_change_is_told_when_it_begins_to_fail_and_builds_again(world):
    world.want("alpha", fails=["3.11"])
    tell = world.folder / "tell"
    tell.write_text('#!/bin/sh\necho "$WHEELCACHE_CHANGE $WHEELCACHE_PROJECT $WHEELCACHE_RESULT" >>"${0%/*}/told"\n')
    tell.chmod(0o755)
    world.keys["build"].update({"on-change": tell, "retry-after": "1s"})
    world.build("--python", "3.11", code=1)
    world.build("--python", "3.11", "--retry", "all", code=1)
    world.plan["alpha"] = {}
    world.build("--python", "3.11", "--retry", "all")
    assert (world.folder / "told").read_text().splitlines() == ["failed alpha failed", "good alpha ok"]


def test_a_second_signal_ends_it_at_once(world):
    """The program of the build ignores SIGTERM, so that the first signal takes two seconds."""
    world.want("alpha")
    (world.folder / "hold").touch()
    script = world.folder / "make_wheel.py"
    script.write_text("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + script.read_text())
    with world.running("--python", "3.11") as build:
        begin_and_hold(world, build)
        build.send_signal(signal.SIGINT)
        serving.wait_for(lambda: "stopping" in (world.folder / "stderr.txt").read_text(), 10, "the first signal")
        build.send_signal(signal.SIGINT)
        assert build.wait(1) == -signal.SIGINT
    nothing_runs(world)
    (world.folder / "hold").unlink()
    assert states(world.build("--python", "3.11")) == {"alpha 3.11": "ok"}


# --- the audit ---

def test_a_wheel_that_the_audit_refuses_has_failed(world):
    """Before its test; with "warn" it is published, and its log has the finding. Another policy is a new beginning."""
    policy = world.folder / "audit.policy"
    policy.write_text("[rule plugin]\nproject = alpha\nrequire = member *plugin.so\n")
    world.keys["upload"] = {"audit": "refuse", "audit-policy": policy}
    world.keys["build"]["test"] = f"touch {world.folder}/tested-%n"
    world.want("alpha")
    world.want("beta")
    report = world.build("--python", "3.12", code=1)
    alpha, beta = sorted(report["rows"], key=lambda row: row["project"])
    assert (alpha["attempt"]["result"], alpha["attempt"]["step"], beta["state"]) == ("refused", "audit", "ok")
    assert "error rule-required of the rule plugin: it has no member *plugin.so" in alpha["why"]
    assert (world.folder / "tested-beta").exists() and not (world.folder / "tested-alpha").exists()
    assert not [name for name in world.wheels() if "alpha" in name]
    world.keys["upload"]["audit"] = "warn"
    report = world.build("--python", "3.12")
    assert states(report)["alpha 3.12"] == "ok" and (world.folder / "tested-alpha").exists()
    policy.write_text("[rule plugin]\nrequire = plugin.so\n")
    world.build("--python", "3.12", code=2)
    assert f"{policy}:2: require: " in world.errors
