#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shape of the C sources: who includes whom, one file a foreign library, and the house style's limits.

Each rule is a function that yields complaints about a Tree; each is shown a made-up tree first that breaks it.
"""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]

# A file includes files of its own folder and of those above it here; "a b" stands for two that do not include each other.
FOLDERS = """
lib/base
lib/os
lib/format
lib/net lib/domain/text
lib/domain/machine lib/domain/archive
lib/domain/wheel lib/domain/index
lib/state/config lib/state/catalog
lib/state/store lib/state/access
lib/state/upstream
lib/state/publish
lib/view
uploader indexer/walk pruner/plan server/message
indexer/scan indexer/check indexer/export pruner/operations server/http
server/core
server/upstream
server/handlers
server
cli/common
cli/prune
cli
"""
PEERS = {"uploader", "indexer", "pruner", "server"}  # None of these includes another.
LAYER = {name: number for number, line in enumerate(FOLDERS.split("\n")) for name in line.split()}
TOPS = sorted({name.partition("/")[0] for name in LAYER})

# Which file alone may include the headers of a foreign library.
OWNER = {
    "curl/": "lib/net/fetch.c",
    "ini.h": "lib/format/ini-file.c",
    "jansson.h": "lib/format/jsondoc.c",
    "libdeflate.h": "lib/format/compress.c",
    "libxml/": "lib/format/html.c",
    "microhttpd.h": "server/http/connection.c server/http/http.c server/http/mhd-response.c",
    "openssl/": "lib/format/digest.c server/http/tls.c",
    "sodium.h": "lib/format/multi-digest.c",
    "sqlite3.h": "lib/state/catalog/catalog.c",
    "zip.h": "lib/domain/archive/zipread.c",
    "zlib.h": "lib/format/compress.c",
    "zstd.h": "lib/format/compress.c",
}

# C, POSIX and Linux; any other header in <> is a foreign library's.
SYSTEM = set("""assert.h ctype.h dirent.h errno.h fcntl.h fnmatch.h getopt.h grp.h inttypes.h langinfo.h limits.h
locale.h math.h netdb.h poll.h pthread.h pwd.h sched.h semaphore.h setjmp.h signal.h spawn.h stdalign.h
stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h syslog.h termios.h threads.h
time.h unistd.h""".split())
SYSTEM_FOLDERS = ("sys/", "linux/", "net/", "netinet/", "arpa/")

BANNED = "alloca atoi atol goto gets sprintf strcat strcpy strncpy strtok vsprintf".split()
FUNCTION_LINES = 60
FILE_LINES = 500


class Tree:
    """The C files below some folders, by their path from the top."""

    def __init__(self, top, folders):
        self.top = top
        paths = sorted(p for f in folders for p in (top / f).rglob("*.[ch]"))
        self.text = {str(p.relative_to(top)): p.read_text(encoding="utf-8") for p in paths}

    def includes(self, path):
        return re.findall(r'^\s*#\s*include\s*([<"][^>"]+)[>"]', self.text[path], re.M)

    def own_includes(self, path):
        """Included files of ours, by their path from the top."""
        for name in self.includes(path):
            if name[0] == '"':
                yield name[1:]

    def code(self, path):
        """The text without comments, strings and characters."""
        pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/'
        return re.sub(pattern, lambda m: "\n" * m[0].count("\n"), self.text[path], flags=re.S)


def module(path):
    return path.rsplit(".", 1)[0]


def folder(path):
    return path.rpartition("/")[0]


def arrows_go_one_way(tree):
    for path in tree.text:
        here = LAYER.get(folder(path))
        if here is None:
            yield f"{path}: its folder is in no layer"
            continue
        for target in tree.own_includes(path):
            there = LAYER.get(folder(target))
            tops = {folder(file).partition("/")[0] for file in (path, target)}
            if folder(target) != folder(path) and (there is None or there >= here or tops <= PEERS and len(tops) == 2):
                yield f"{path}: may not include {target}"


def there_is_no_circle(tree):
    arrows = {module(path): set() for path in tree.text}
    for path in tree.text:
        arrows[module(path)] |= {module(t) for t in tree.own_includes(path)} - {module(path)}
    left = dict(arrows)
    while True:
        done = [m for m in left if not any(t in left for t in left[m])]
        if not done:
            break
        for name in done:
            del left[name]
    if left:
        yield f"includes go in a circle among {' '.join(sorted(left))}"


def one_file_a_foreign_library(tree):
    for path in tree.text:
        for name in (n[1:] for n in tree.includes(path) if n[0] == "<"):
            if name in SYSTEM or name.startswith(SYSTEM_FOLDERS):
                continue
            owners = next((o for lib, o in OWNER.items() if name == lib or lib[-1] == "/" and name.startswith(lib)), "")
            if path not in owners.split():
                yield f"{path}: <{name}> belongs into {owners or 'a row of OWNER'}"


def own_header_is_first(tree):
    for path in tree.text:
        header = module(path) + ".h"
        names = list(tree.includes(path))
        if path.endswith(".c") and header in tree.text and names[:1] != ['"' + header]:
            yield f"{path}: does not include {header} first"
        if names and folder(names[0][1:]) == folder(path):  # its own, or one that it shares with a sibling
            del names[0]
        kinds = [name[0] for name in names]
        if '"' in kinds and "<" in kinds[kinds.index('"'):]:
            yield f"{path}: a <header> stands behind one of ours"


def files_begin_as_they_should(tree):
    for path, text in tree.text.items():
        if not text.startswith("// SPDX-License-Identifier: Apache-2.0\n"):
            yield f"{path}: does not begin with the SPDX line"
        if path.endswith(".h") and "\n#pragma once\n" not in text:
            yield f"{path}: has no #pragma once"


def limits_are_kept(tree):
    for path, text in tree.text.items():
        lines = text.splitlines()
        if len(lines) > FILE_LINES:
            yield f"{path}: has {len(lines)} lines"
        begin = None
        for number, line in enumerate(lines, 1):
            if line == "{":
                begin = number
            elif line == "}" and begin:
                if number - begin - 1 > FUNCTION_LINES:
                    yield f"{path}:{begin}: a function of {number - begin - 1} lines"
                begin = None


def nothing_banned_is_used(tree):
    for path in tree.text:
        for word in re.findall(rf"\b(?:{'|'.join(BANNED)})\b", tree.code(path)):
            yield f"{path}: uses {word}"
        for word in re.findall(r"\b(?:TODO|FIXME|XXX)\b", tree.text[path]):
            yield f"{path}: holds a {word}"


def headers_compile_alone(tree):
    compiler = [*shlex.split(os.environ.get("CC") or "cc"), "-std=gnu11", "-fsyntax-only", "-D_GNU_SOURCE", "-Wall",
                "-Wextra", "-Werror", f"-I{tree.top}"]
    for path in (p for p in tree.text if p.endswith(".h")):
        source = f'#include "{path}"\n#include "{path}"\nint main(void);\n'
        done = subprocess.run([*compiler, "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{path}: does not compile alone: {done.stderr}"


SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"

# Rule, files that break it, the complaint.
BROKEN = [
    (arrows_go_one_way, {"lib/base/a.c": '#include "lib/os/b.h"\n'}, "lib/base/a.c: may not include lib/os/b.h"),
    (arrows_go_one_way, {"lib/net/a.c": '#include "lib/domain/text/b.h"\n'},
     "lib/net/a.c: may not include lib/domain/text/b.h"),
    (arrows_go_one_way, {"server/a.c": '#include "indexer/walk/b.h"\n'}, "server/a.c: may not include indexer/walk/b.h"),
    (arrows_go_one_way, {"uploader/a.c": '#include "server/b.h"\n'}, "uploader/a.c: may not include server/b.h"),
    (arrows_go_one_way, {"lib/view/a.c": '#include "cli/b.h"\n'}, "lib/view/a.c: may not include cli/b.h"),
    (arrows_go_one_way, {"lib/a.c": ""}, "lib/a.c: its folder is in no layer"),
    (there_is_no_circle, {"cli/a.c": '#include "cli/b.h"\n', "cli/b.h": "", "cli/b.c": '#include "cli/a.h"\n'},
     "includes go in a circle among cli/a cli/b"),
    (one_file_a_foreign_library, {"cli/a.c": "#include <sqlite3.h>\n"},
     "cli/a.c: <sqlite3.h> belongs into lib/state/catalog/catalog.c"),
    (one_file_a_foreign_library, {"lib/format/digest.h": "#include <openssl/evp.h>\n"},
     "lib/format/digest.h: <openssl/evp.h> belongs into lib/format/digest.c"),
    (one_file_a_foreign_library, {"cli/a.c": "#include <ldap.h>\n"},
     "cli/a.c: <ldap.h> belongs into a row of OWNER"),
    (own_header_is_first, {"cli/a.h": "", "cli/a.c": '#include <stdio.h>\n#include "cli/a.h"\n'},
     "cli/a.c: does not include cli/a.h first"),
    (own_header_is_first, {"cli/a.c": '#include "lib/base/b.h"\n#include <stdio.h>\n'},
     "cli/a.c: a <header> stands behind one of ours"),
    (files_begin_as_they_should, {"cli/a.c": "int a;\n"}, "cli/a.c: does not begin with the SPDX line"),
    (files_begin_as_they_should, {"cli/a.h": SPDX}, "cli/a.h: has no #pragma once"),
    (limits_are_kept, {"cli/a.c": "\n" * 501}, "cli/a.c: has 501 lines"),
    (limits_are_kept, {"cli/a.c": "int f(void)\n{\n" + "\t;\n" * 61 + "}\n"}, "cli/a.c:2: a function of 61 lines"),
    (nothing_banned_is_used, {"cli/a.c": "\tstrcpy(a, b);\n"}, "cli/a.c: uses strcpy"),
    (nothing_banned_is_used, {"cli/a.c": "\tgoto out;\n"}, "cli/a.c: uses goto"),
    (nothing_banned_is_used, {"cli/a.c": "// TO" + "DO: more\n"}, "cli/a.c: holds a TO" + "DO"),
    (headers_compile_alone, {"cli/a.h": HEADER + "size_t f(void);\n"}, "cli/a.h: does not compile alone: "),
]

# Looks like a breach, is none.
SOUND = {
    "lib/base/a.h": HEADER + "#include <stddef.h>\n\nsize_t a_size(void);\n",
    "lib/base/a.c": SPDX + '#include "lib/base/a.h"\n\n#include <sys/stat.h>\n\n#include "lib/base/b.h"\n'
                    "\n// never goto, never strcpy()\nsize_t a_size(void)\n{\n" + "\t;\n" * 60 + "}\n",
    "lib/base/b.h": HEADER + "\nint b_snprintf(const char *atoi_like);\n",
    "lib/format/ini-file.c": SPDX + '#include <ini.h>\n\nstatic const char *text = "goto \\" strtok(a)";\n',
    "cli/main.c": SPDX + '#include "lib/base/a.h"\n#include "server/s.h"\n#include "indexer/scan/i.h"\n',
}
RULES = sorted({rule for rule, _, _ in BROKEN}, key=lambda rule: rule.__name__)


def made_up(files):
    """The complaints of all rules about a tree that holds these files, by rule."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text, encoding="utf-8")
        tree = Tree(top, ["."])
        return {rule: list(rule(tree)) for rule in RULES}


class Rules(unittest.TestCase):
    def test_each_rule_can_fail(self):
        for rule, files, complaint in BROKEN:
            with self.subTest(rule.__name__, complaint=complaint):
                self.assertEqual([c[:len(complaint)] for c in made_up(files)[rule]], [complaint])

    def test_sound_tree_is_left_alone(self):
        for rule, complaints in made_up(SOUND).items():
            with self.subTest(rule.__name__):
                self.assertEqual(complaints, [])


class Sources(unittest.TestCase):
    def test_our_sources_keep_every_rule(self):
        tree = Tree(TOP, TOPS)
        self.assertGreater(len(tree.text), 40)
        for rule in RULES:
            with self.subTest(rule.__name__):
                self.assertEqual(list(rule(tree)), [])

    def test_each_owner_includes_his_library(self):
        tree = Tree(TOP, ["lib", "server"])
        for library, owners in OWNER.items():
            for owner in owners.split():
                with self.subTest(library, owner=owner):
                    self.assertTrue(any(name[1:].startswith(library) for name in tree.includes(owner)))

    def test_tests_keep_the_style(self):
        tree = Tree(TOP, ["tests"])
        for rule in (files_begin_as_they_should, limits_are_kept, nothing_banned_is_used):
            with self.subTest(rule.__name__):
                self.assertEqual(list(rule(tree)), [])


if __name__ == "__main__":
    unittest.main()
