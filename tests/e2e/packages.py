# SPDX-License-Identifier: Apache-2.0
"""The packages of the build under test, made of the tarball of `make dist` as docs/operating.md says."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import clients
import serving

BUILD_SECONDS = 1800
BEFORE = "0.0.9"  # the version of the package before


def run(*words, cwd, env=None):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True,
                          timeout=BUILD_SECONDS, check=False)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{(done.stdout + done.stderr)[-6000:]}"
    return done.stdout


def require(*programs):
    absent = [name for name in programs if not shutil.which(name)]
    if absent:
        pytest.skip(f"{', '.join(absent)}: not here; ./test --nightly installs them")


def with_ccache():
    """The environment that compiles through ccache where there is one."""
    return {"PATH": f"/usr/lib/ccache:{os.environ['PATH']}"}


def tarball(folder):
    """The tarball of `make dist`, in the folder."""
    build = pathlib.Path(serving.binary()).parent
    if not (build / "Makefile").exists():
        pytest.skip(f"{build} is no build folder")
    with clients.locked(folder / "lock"):
        run("make", "-s", "dist", cwd=build, env={"MAKEFLAGS": ""})
        made = next(build.glob("wheelcache-*.tar.xz"))
        return pathlib.Path(shutil.move(made, folder / made.name))


def debian(source, folder):
    """Builds the Debian packages; returns the .changes file."""
    folder.mkdir()
    run("tar", "-xf", source, cwd=folder)
    tree = next(folder.glob("wheelcache-*"))
    options = f"nocheck parallel={os.cpu_count()}"  # make check runs these tests
    run("dpkg-buildpackage", "--unsigned-source", "--unsigned-changes", cwd=tree, env=with_ccache() | {"DEB_BUILD_OPTIONS": options})
    return next(folder.glob("*.changes"))


def deb(changes, name="wheelcache"):
    return next(changes.parent.glob(f"{name}_*.deb"))


def field(package, name):
    return run("dpkg-deb", "--field", package, name, cwd=package.parent).strip()


def needs(package):
    """The packages that a package and the tests of debian/tests depend on; of alternatives the first."""
    listed = field(package, "Depends") + "," + ",".join(
        re.findall(r"^Depends: @, (.*)", (clients.ROOT / "debian/tests/control").read_text(encoding="utf-8"), re.M))
    return {re.match(r"[\w.+-]+", one.strip())[0] for one in listed.split(",")}


def version_before(package, folder):
    """The same package as if it were an older version: its configuration has another line."""
    tree = folder / "before"
    run("dpkg-deb", "--raw-extract", package, tree, cwd=folder)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*", f"Version: {BEFORE}", control.read_text(encoding="utf-8")), encoding="utf-8")
    config = tree / "etc/wheelcache/wheelcache.conf"
    config.write_text(config.read_text(encoding="utf-8") + "# a line of the version before\n", encoding="utf-8")
    made = folder / f"wheelcache_{BEFORE}.deb"
    run("dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, made, cwd=folder)
    shutil.rmtree(tree)
    return made


def rpm(source, folder):
    """Builds the RPM, without optimisation; returns the packages."""
    folder.mkdir()
    # Debian's rpm knows no package of Debian, so it cannot say what is installed.
    run("rpmbuild", "-tb", "--nodeps", "--define", f"_topdir {folder}", "--define", "optflags -O0 -g1", "--define",
        f"_smp_mflags -j{os.cpu_count()}", source, cwd=folder, env=with_ccache())
    return sorted(folder.glob("RPMS/*/*.rpm"))
