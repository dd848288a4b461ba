#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the manuals and the example with the program: they have every key, default, option and route, and nothing
else.

The test runs in the build folder, where the program, read-config and list-routes are.
"""
import fnmatch
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path.cwd()


def output(program, *arguments):
    """Returns the output of a built program."""
    done = subprocess.run([BUILD / program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def keys(text):
    """Returns the values by (section, key) of a file. A "#" may precede a key."""
    section, found = None, {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"#?\[(\w+).*\]", line):
            section = heading[1]
        elif line_of_key := re.fullmatch(r"#?([a-z0-9-]+) =(?: (.*))?", line):
            found[section, line_of_key[1]] = line_of_key[2] or "none"
    return found


def manual_keys(text):
    """The same of wheelcache.conf(5): the value is the text after "Default:"; and which keys need a restart."""
    section, key, found, needed = None, None, {}, set()
    for line in text.splitlines():
        if heading := re.fullmatch(r"\.Ss \[(\w+).*\] section", line):
            section = heading[1]
        elif item := re.fullmatch(r"\.It Ic ([a-z0-9-]+)", line):
            key = item[1]
            found[section, key] = None
        elif default := re.fullmatch(r"Default: (.*)\.", line):
            found[section, key] = default[1]
        elif line == "Takes effect after a restart.":
            needed.add((section, key))
    return found, needed


def restart_keys(text):
    """Returns the keys of --print-config that take effect only after a restart."""
    pairs = re.findall(r"^#?\[(\w+).*\]|^# .*(Takes effect after a restart)\.\n#?([a-z0-9-]+) =", text, re.M)
    section, found = None, set()
    for heading, note, key in pairs:
        section = heading or section
        found |= {(section, key)} if note else set()
    return found


def page_options(pages):
    """Returns the options of the pages of commands by the name of their command ("prune plan"), each with its letter or ""."""
    found = {}
    for name, text in pages.items():
        parts = re.split(r"^\.Ss wheelcache (.*)\n", text, flags=re.M)
        for title, body in zip([name.removeprefix("wheelcache-").removesuffix(".1"), *parts[1::2]], parts[0::2]):
            found[title] = re.findall(r"^\.It (?:Fl (\w) , )?Fl Fl ([a-z-]+)", body, re.M)
    return found


def made(target):
    """Makes this file of the folder docs/man."""
    done = subprocess.run(["make", "-s", f"docs/man/{target}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return BUILD / "docs/man" / target


def made_pages():
    """Returns the pages that are installed, by name: one for each command, made of docs/wheelcache.1 and the rows of options."""
    made("made")
    return {path.name: path.read_text(encoding="utf-8") for path in (BUILD / "docs/man").glob("*.1")}


def rows(usage):
    """Returns the subcommands in the output of --help; none if the command has no subcommands."""
    return re.findall(r"^  (\w[\w-]*)  ", usage, re.M)


def all_commands():
    """Yields the name of each command with the output of its --help."""
    left = rows(output("wheelcache", "--help"))
    while left:
        name = left.pop(0)
        usage = output("wheelcache", *name.split(), "--help")
        left += [f"{name} {row}" for row in rows(usage)]
        yield name, usage


def options(usage):
    """Returns the options in the output of --help."""
    return set(re.findall(r"^  (?:-(\w),|   ) +--([a-z-]+)", usage, re.M))


def uncommented(text):
    """Returns the example with all keys and sections uncommented."""
    return re.sub(r"^#(?=\[|[a-z0-9-]+ = )", "", text, flags=re.M)


class Configuration(unittest.TestCase):
    def setUp(self):
        self.keys = keys(output("wheelcache", "--print-config"))
        self.assertGreater(len(self.keys), 10)

    def test_page_has_every_key_and_default_and_says_what_needs_a_restart(self):
        """It is made of docs/wheelcache.conf.5 and the rows of keys."""
        needed = restart_keys(output("wheelcache", "--print-config"))
        self.assertGreater(len(needed), 10)
        page = made("wheelcache.conf.5").read_text(encoding="utf-8")
        self.assertEqual(manual_keys(page), (self.keys, needed))
        self.assertNotRegex(page, r"(?m)^\.It Ic .*\n(Default|Takes effect|\.It|\.El)")

    def test_manual_leaves_to_the_rows_what_they_say(self):
        found, needed = manual_keys((TOP / "docs/wheelcache.conf.5").read_text(encoding="utf-8"))
        self.assertEqual((set(found.values()), needed), ({None}, set()))

    def test_example_has_every_key_and_default(self):
        example = keys((TOP / "etc/wheelcache.conf").read_text())
        self.assertEqual(example.keys(), self.keys.keys())
        for key, value in self.keys.items():
            if value != "none":
                self.assertEqual(example[key], value, key)

    def test_example_is_read(self):
        output("tests/unit/read-config", TOP / "etc/wheelcache.conf")

    def test_example_is_read_with_every_key_in_force(self):
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(uncommented((TOP / "etc/wheelcache.conf").read_text()))
            file.flush()
            output("tests/unit/read-config", file.name)

    def test_example_takes_a_0_where_its_comment_says_what_0_means(self):
        """A comment is of the keys that follow it."""
        text, count = re.subn(r"(?m)^((?:# .*\n)*# .*[;.] 0: .*\n(?:# .*\n)*)((?:#?[a-z0-9-]+ = .*\n)+)",
                              lambda found: found[1] + re.sub(r"(?m) = .*", " = 0", found[2]), (TOP / "etc/wheelcache.conf").read_text())
        self.assertGreater(count, 10)
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write(uncommented(text))
            file.flush()
            output("tests/unit/read-config", file.name)


class CommandLine(unittest.TestCase):
    def test_page_has_every_option_once(self):
        documented = page_options({name: text for name, text in made_pages().items() if name != "wheelcache.1"})
        usages = dict(all_commands())
        self.assertEqual(documented.keys(), usages.keys())
        for command, usage in usages.items():
            self.assertEqual(sorted(documented[command]), sorted(options(usage)), command)

    def test_command_takes_each_of_its_options(self):
        """Of a row of which nothing becomes, the message would have only the option."""
        taken = 0
        for command, usage in all_commands():
            for option, value in re.findall(r"^  (?:-\w,|   ) +--([a-z-]+)(=\S+)?", usage, re.M):
                if option != "help":
                    config = ["--config", "/nonexistent"] if option != "config" and "--config" in usage else []
                    done = subprocess.run([BUILD / "wheelcache", *command.split(), *config, f"--{option}", *(["x"] if value else [])],
                                          capture_output=True, text=True, check=False, timeout=60)
                    self.assertNotIn(f": --{option}\n", done.stderr, (command, option))
                    taken += 1
        self.assertGreater(taken, 100)

    def test_shared_option_is_one_row(self):
        every = [row for path in sorted((TOP / "cli").rglob("*.c")) for row in option_rows(path.read_text("utf-8"))]
        self.assertGreater(len(every), 40)
        self.assertEqual([row for row in every if every.count(row) > 1], [])


def option_rows(text):
    """Returns the option rows of a C source: name, letter and help."""
    return re.findall(r'\{"([a-z-]+)", \'(.*?)\', (?:NULL|"[^"]*"),\s*"((?:\\.|[^"\\])*)",', text)


def plain(mdoc):
    """Returns a text of a manual without its macros, in one line."""
    text = re.sub(r"^\.Nm$", "wheelcache", mdoc, flags=re.M)
    return " ".join(re.sub(r"^\.[A-Z][a-z] ", "", text, flags=re.M).split())


def manual_routes(text):
    """Returns the texts of the section WHAT IS SERVED by (method, path). Variable parts of a path are ":name"."""
    section = re.search(r"^\.Sh WHAT IS SERVED\n(.*?)^\.El$", text, re.M | re.S)[1]
    found = {}
    for head, body in re.findall(r"^\.It (.*)\n((?:(?!\.It ).*\n)*)", section, re.M):
        method = "POST" if head.startswith("POST ") else "GET"
        for item in head.removeprefix("POST ").split(" , "):
            path = re.sub(r"Ar ", ":", re.sub(r"Pa ", "", item.replace(" Ns ", "")))
            found[method, path] = plain(body)
    return found


class Routes(unittest.TestCase):
    def setUp(self):
        self.rows = [line.split("\t") for line in output("tests/unit/list-routes").splitlines()]
        self.assertGreater(len(self.rows), 10)

    def test_manual_has_every_route_with_its_line(self):
        manual = manual_routes((TOP / "docs/wheelcache.1").read_text())
        self.assertEqual(manual.keys(), {(method, path) for method, path, *_ in self.rows})
        for method, path, *_, about in self.rows:
            self.assertTrue(f"{manual[method, path]} ".startswith(f"{about} "), (path, about, manual[method, path]))

    def test_each_line_is_one_sentence(self):
        for *_, about in self.rows:
            self.assertRegex(about, r"^[A-Z0-9][^.]*\.$")


def claims(text):
    """Returns the names that a page of the documentation mentions: of limits (LIMIT_A_* are several), of test files, and of tests."""
    return (set(re.findall(r"`(LIMIT_[A-Z_]+\*?)`", text)), set(re.findall(r"`([\w-]+\.(?:py|c))`", text)),
            set(re.findall(r"`([a-z]+(?:_[a-z0-9]+)+)`", text)))


class Security(unittest.TestCase):
    def setUp(self):
        self.limits, self.files, self.tests = claims((TOP / "docs/security.md").read_text(encoding="utf-8"))
        self.sources = {path: path.read_text(encoding="utf-8")
                        for folder in ("e2e", "unit", "fuzz") for path in (TOP / "tests" / folder).rglob("*.[pc]*")
                        if path.suffix in (".c", ".py")}

    def test_limits_are_there(self):
        known = set(re.findall(r"\bLIMIT_\w+", (TOP / "lib/base/limits.h").read_text(encoding="utf-8")))
        self.assertGreater(len(self.limits), 20)
        self.assertEqual({one for one in self.limits if len(fnmatch.filter(known, one)) < 1 + one.endswith("*")}, set())

    def test_tests_are_there(self):
        self.assertGreater(len(self.files), 20)
        self.assertEqual(self.files - {path.name for path in self.sources} - {"test-manual.py"}, set())
        everything = "\n".join(self.sources.values())
        self.assertGreater(len(self.tests), 20)
        self.assertEqual({t for t in self.tests if not re.search(rf"\b(?:def|void) {t}\(", everything)}, set())


def manual_codes(text, heading):
    """Returns the codes of findings in the list of wheelcache(1) behind these words."""
    body = text.partition(f"\nThese are {heading} by default")[2].partition("\n.El")[0]
    return [code for item in re.findall(r"^\.It Li (.*)", body, re.M) for code in item.split(" , ")]


class Audit(unittest.TestCase):
    def test_manual_has_every_code_at_its_level(self):
        source = (TOP / "lib/audit/audit-report.c").read_text(encoding="utf-8")
        codes = dict(re.findall(r'\[(AUDIT_\w+)\] = "([a-z0-9-]+)"', source.partition("audit_code_name")[2]))
        first_warning = list(codes).index(re.search(r"code < (AUDIT_\w+)", source)[1])
        manual = (TOP / "docs/wheelcache.1").read_text(encoding="utf-8")
        self.assertGreater(first_warning, 10)
        self.assertEqual(manual_codes(manual, "errors"), list(codes.values())[:first_warning])
        self.assertEqual(manual_codes(manual, "warnings"), list(codes.values())[first_warning:])


class Pages(unittest.TestCase):
    """The pages that are installed: one for each command, made of docs/wheelcache.1 and the rows of options."""

    def setUp(self):
        self.folder = BUILD / "docs/man"
        self.pages = made_pages()

    def test_every_command_has_a_page_that_is_installed(self):
        commands = rows(output("wheelcache", "--help"))
        self.assertEqual(self.pages.keys(), {"wheelcache.1"} | {f"wheelcache-{command}.1" for command in commands})
        listed = re.search(r"^manual_commands = \\\n((?:.*\\\n)*.*\n)", (TOP / "docs/Makemodule.am").read_text(), re.M)[1]
        self.assertEqual(listed.replace("\\", " ").split(), commands)

    def test_page_has_the_line_of_help_and_a_synopsis(self):
        for command, line in re.findall(r"^  (\w[\w-]*) +(.*)", output("wheelcache", "--help"), re.M):
            page = self.pages[f"wheelcache-{command}.1"]
            self.assertIn(f"\n.Nd {line}\n", page)
            self.assertRegex(page, rf"\.Sh SYNOPSIS\n\.Nm wheelcache\n\.Cm {command}\n")

    def test_every_line_of_the_manual_is_in_one_page(self):
        everything = "".join(self.pages.values()).splitlines()
        manual = [line for line in (TOP / "docs/wheelcache.1").read_text(encoding="utf-8").splitlines() if line[:1] not in ".'"]
        self.assertGreater(len(manual), 1000)
        from_rows = {f"{line[0].upper()}{line[1:]}." for _, usage in all_commands()
                     for line in re.findall(r"^  (?:-\w,|   ) +--\S+ +(?:B )?(.*)", usage, re.M)}
        self.assertGreater(len(from_rows), 100)
        self.assertEqual([line for line in manual if line not in from_rows and everything.count(line) != manual.count(line)], [])

    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_mandoc_finds_nothing(self):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *sorted(self.pages)], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))


class Form(unittest.TestCase):
    @unittest.skipUnless(shutil.which("mandoc"), "there is no mandoc")
    def test_mandoc_finds_nothing(self):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", TOP / "docs/wheelcache.1", made("wheelcache.conf.5")],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("", 0))


if __name__ == "__main__":
    unittest.main()
