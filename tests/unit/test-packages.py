#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what packages are made of: one version everywhere, the libraries of configure, units that are confined, and
accounts for each of them.

The test runs in the build folder, where the units are.
"""
import pathlib
import re
import shutil
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path.cwd()
# The Debian package of each library of configure.ac whose name is not lib…-dev.
DEBIAN = {"libcrypto": "libssl-dev", "libssl": "libssl-dev", "libcurl": "libcurl4-openssl-dev", "libxml-2.0": "libxml2-dev",
          "sqlite3": "libsqlite3-dev", "jansson": "libjansson-dev", "zlib": "zlib1g-dev"}


def text(path):
    return (TOP / path).read_text(encoding="utf-8")


def libraries():
    """Returns the libraries that configure requires, or takes where they are, each with its least version or ""."""
    rows = re.findall(r"^PKG_CHECK_MODULES\(\[\w+\], \[([\w.-]+)(?: >= ([\w.]+))?\][,)]", text("configure.ac"), re.M)
    return [row for row in rows if row[0] != "cmocka"]  # for tests


def unit_rows(name):
    """Returns the values of a unit by their keys; the last one of each."""
    return dict(re.findall(r"^(\w+)=(.*)$", (BUILD / "etc" / name).read_text(encoding="utf-8"), re.M))


def exposure(unit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", BUILD / "etc" / unit],
                          capture_output=True, text=True, check=False)
    level = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    return float(level[1]) if level else None


class Packages(unittest.TestCase):
    def test_version_is_that_of_configure(self):
        version = re.search(r"^AC_INIT\(\[wheelcache\], \[(.*)\]\)", text("configure.ac"), re.M)[1]
        self.assertEqual(re.match(r"wheelcache \((.*)\) ", text("debian/changelog"))[1], version)
        self.assertEqual(re.search(r"^Version: +(.*)", text("rpm/wheelcache.spec"), re.M)[1], version)
        self.assertIn(f"> - {version}-1\n", text("rpm/wheelcache.spec"))

    def test_every_test_is_in_the_tarball(self):
        listed = "".join(path.read_text(encoding="utf-8") for path in (TOP / "tests").rglob("Makemodule.am"))
        tests = [path.name for folder in ("afs", "e2e", "unit") for path in (TOP / "tests" / folder).rglob("*.py")]
        self.assertGreater(len(tests), 100)
        self.assertEqual([name for name in tests if f"/{name}" not in listed], [])

    def test_every_library_is_there_for_the_build(self):
        control = re.findall(r"^ ([\w.-]+)", text("debian/control").partition("Rules-Requires-Root")[0], re.M)
        self.assertEqual(len(libraries()), text("configure.ac").count("PKG_CHECK_MODULES(") - 1)
        for library, least in libraries():
            self.assertIn(DEBIAN.get(library, f"{library}-dev"), control)
            row = f"BuildRequires:  pkgconfig({library})" + (f" >= {least}" if least else "")
            self.assertIn(f"{row}\n", text("rpm/wheelcache.spec"))
            self.assertRegex(text("configure.ac"), rf"(?m)^  \[.*\b{library}\b.*\],$")  # what --version names

    def test_socket_is_where_the_configuration_listens(self):
        listen = re.search(r"^listen = (.*)", text("etc/wheelcache.conf"), re.M)[1]
        self.assertIn(f"\nListenStream={listen}\n", text("etc/wheelcache.socket"))

    def test_timers_that_remove_or_build_are_not_enabled(self):
        rules, spec = text("debian/rules"), text("rpm/wheelcache.spec")
        timers = sorted(path.name for path in (TOP / "etc").glob("*.timer"))
        self.assertEqual(re.search(r"^nightly := (.*)", rules, re.M)[1].split(), timers)
        self.assertIn("dh_installsystemd --no-enable --no-start $(nightly)", rules)
        self.assertTrue(all(timer in spec.partition("%preun")[2] for timer in timers))


class Units(unittest.TestCase):
    def setUp(self):
        self.units = sorted(path.name.removesuffix(".in") for path in (TOP / "etc").glob("*.service.in"))
        self.assertEqual(len(self.units), 4)

    def test_every_unit_has_an_account_that_is_made(self):
        made = re.findall(r"^u ([\w-]+)", text("etc/wheelcache.sysusers"), re.M)
        for unit in self.units:
            self.assertIn(unit_rows(unit)["User"], made, unit)
        spec = re.search(r"^for account in (.*); do", text("rpm/wheelcache.spec"), re.M)[1].split()
        self.assertEqual(spec, made)

    def test_server_and_nightly_steps_write_files_of_one_kind(self):
        for key in ("User", "StateDirectory", "ReadWritePaths", "UMask"):
            self.assertEqual(len({unit_rows(unit)[key] for unit in self.units if "build" not in unit}), 1, key)

    def test_server_has_a_limit_of_memory(self):
        """Where a flood of large answers ends, if what bounds them is wrong."""
        self.assertEqual(unit_rows("wheelcache.service")["MemoryMax"], "1G")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_units_are_confined(self):
        for unit in self.units:
            level = exposure(unit)
            if level is None:
                self.skipTest("this systemd-analyze cannot judge files")
            self.assertLessEqual(level, 2.5 if "build" in unit else 1.9, unit)  # a build runs compilers in namespaces


if __name__ == "__main__":
    unittest.main()
