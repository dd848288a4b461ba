# SPDX-License-Identifier: Apache-2.0
"""audit --bind: two libraries with the same symbols, and a plugin that needs one of them."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys

import pytest

import serving


def compile_library(path, source, *options):
    command = [*shlex.split(os.environ.get("CC") or "cc"), "-shared", "-fPIC", "-o", str(path), "-x", "c", "-", "-x", "none"]
    subprocess.run([*command, *options], input=source, text=True, check=True)
    return path


@pytest.fixture(scope="module", name="ucx")
def ucx_fixture(tmp_path_factory):
    """The folder of libucp.so.0, libucp-nixl.so.0.0.0 and libplugin_UCX.so, which needs libucp-nixl.so.0."""
    folder = tmp_path_factory.mktemp("ucx")
    source = "int ucp_init_version(void) { return 1; }\nint ucp_cleanup(void) { return 2; }\n"
    compile_library(folder / "libucp.so.0", source, "-Wl,-soname,libucp.so.0")
    private = compile_library(folder / "libucp-nixl.so.0.0.0", source, "-Wl,-soname,libucp-nixl.so.0")
    (folder / "libucp-nixl.so.0").symlink_to(private.name)
    compile_library(folder / "libplugin_UCX.so", "int puts(const char *); int ucp_init_version(void); int ucp_cleanup(void);\n"
                    'int plugin(void) { return puts("x") + ucp_init_version() + ucp_cleanup(); }\n', str(private),
                    "-Wl,-rpath,$ORIGIN")
    return folder


def bind(*words, code=0):
    done = serving.run("audit", "--bind", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def lines(folder, mode, library, *more):
    return [f"{mode}:", "needed ok: libucp-nixl.so.0",
            *(f"binding {'ok' if library != 'libucp.so.0' else 'error'}: {symbol} -> {folder}/{library}"
              f"{', not libucp-nixl*' if library == 'libucp.so.0' else ''}" for symbol in ("ucp_cleanup", "ucp_init_version")),
            *more]


def test_three_runs_and_which_of_them_decides(ucx):
    words = [ucx / "libplugin_UCX.so", "--needed", "libucp-nixl.so.?", "--expect", "ucp_*=libucp-nixl*"]
    preload = ["--preload", ucx / "libucp.so.0"]
    done = bind(*words, *preload, code=1)
    assert done.stdout.splitlines() == [*lines(ucx, "plain", "libucp-nixl.so.0"), *lines(ucx, "preloaded", "libucp.so.0"),
                                        *lines(ucx, "deepbind", "libucp-nixl.so.0"), "judged by preloaded: 2 errors"]
    assert "--bind runs the code of" in done.stderr
    assert bind(*words, *preload, "--mode", "deepbind").stdout.endswith("judged by deepbind: 0 errors\n")
    assert bind(*words, *preload, "--mode=plain").stdout.endswith("judged by plain: 0 errors\n")
    assert "preloaded: no run: there is no --preload\n" in bind(*words).stdout


def test_json(ucx):
    found = json.loads(bind(ucx / "libplugin_UCX.so", "--preload", ucx / "libucp.so.0", "--expect", "ucp_cleanup=libucp-nixl*",
                            "--json", code=1).stdout)
    assert {key: found[key] for key in ("mode", "errors")} == {"mode": "preloaded", "errors": 1}
    assert [(run["mode"], run["errors"], run["failure"], run["skipped"]) for run in found["runs"]] == [
        ("plain", 0, None, None), ("preloaded", 1, None, None), ("deepbind", 0, None, None)]
    assert found["runs"][1]["lines"] == [{"kind": "binding", "name": "ucp_cleanup", "target": f"{ucx}/libucp.so.0",
                                          "expected": "libucp-nixl*", "ok": False}]


def test_library_is_its_soname_too(ucx):
    """The file name is libucp-renamed.so, its SONAME libucp-nixl.so.0. Without --expect, all bindings are printed."""
    folder = ucx / "renamed"
    folder.mkdir()
    (folder / "libucp-nixl.so.0").symlink_to("../libucp-nixl.so.0.0.0")
    module = compile_library(folder / "a.so", "int ucp_cleanup(void); int a(void) { return ucp_cleanup(); }\n",
                             str(ucx / "libucp-nixl.so.0.0.0"))
    path = ["--env", f"LD_LIBRARY_PATH={folder}"]
    bind(module, *path, "--expect", "ucp_cleanup=libucp-nixl.so.0")
    assert f"binding ok: ucp_cleanup -> {folder}/libucp-nixl.so.0\n" in bind(module, *path).stdout
    bind(module, *path, "--expect", "ucp_cleanup=libucp-other*", code=1)
    assert "the module binds no symbol nothing" in bind(module, *path, "--expect", "nothing=*", code=1).stdout


def test_extension_module_in_its_python(ucx):
    """It needs symbols of the interpreter, so no other program can load it."""
    module = compile_library(ucx / "_x.so", "void *PyModule_New(char *); void *PyInit__x(void) { return PyModule_New(0); }\n")
    assert "load error: " in bind(module, code=1).stdout
    python = "%d.%d" % sys.version_info[:2] if sys.prefix == "/usr" else os.path.realpath(sys.executable)
    assert "binding ok: PyModule_New -> " in bind(module, "--python", python, "--expect", "PyModule_New=*python*").stdout


def test_module_that_does_not_load(ucx):
    module = compile_library(ucx / "lost.so", "int lost(void); int puts(const char *); int a(void) { return puts(0) + lost(); }\n")
    done = bind(module, "--needed", "libc.so.*", code=1)
    assert "load error: " in done.stdout and "undefined symbol: lost" in done.stdout
    assert "needed ok: libc.so.6\n" in done.stdout
    crash = compile_library(ucx / "crash.so", "__attribute__((constructor)) static void crash(void) { __builtin_trap(); }\n")
    assert "it was ended by signal 4 (Illegal instruction)" in bind(crash, code=1).stdout


def test_stopping_leaves_nothing(ucx, tmp_path):
    """SIGINT ends the module's process too, and removes the scratch folder."""
    module = compile_library(ucx / "stopped.so", '#include <stdio.h>\n#include <unistd.h>\n'
                             '__attribute__((constructor)) static void hang(void) { FILE *f = fopen(PID, "w");'
                             ' fprintf(f, "%d", (int)getpid()); fclose(f); for (;;) pause(); }\n', f'-DPID="{tmp_path}/pid"')
    with subprocess.Popen([serving.binary(), "audit", "--bind", str(module)], env=os.environ | {"TMPDIR": str(tmp_path)},
                          stderr=subprocess.PIPE) as process:
        pid = serving.wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), 30, "the constructor")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 2
        assert b"stopped" in process.stderr.read()
    serving.wait_for(lambda: not pathlib.Path(f"/proc/{pid}").exists(), 30, "the end of its process")
    assert [path.name for path in tmp_path.iterdir()] == ["pid"]


@pytest.mark.parametrize("words, reason", [
    (["/nowhere.so"], "No such file"), (["/dev/null"], "no ELF file"), (["/etc/passwd"], "no ELF file"),
    (["/bin/sh", "--mode", "x"], "--mode"), (["/bin/sh", "--mode", "preloaded"], "--preload"),
    (["/bin/sh", "--expect", "a"], "SYMBOL=LIBRARY"), (["/bin/sh", "--expect", "=a"], "SYMBOL=LIBRARY"),
    (["/bin/sh", "--env", "a"], "NAME=VALUE"), (["/bin/sh", "--env", "LD_DEBUG=all"], "LD_DEBUG"),
    (["/bin/sh", "--timeout", "0"], "--timeout"), (["/bin/sh", "--python", "x"], "--python"),
    (["/bin/sh", "--cpu", "v2"], "exclude each other"), (["/bin/sh", "a.whl"], "takes one library")])
def test_usage(words, reason):
    done = serving.run("audit", "--bind", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert reason in done.stderr
