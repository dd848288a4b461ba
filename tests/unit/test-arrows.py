#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the C sources: the direction of includes and calls, one file per foreign library, the house style.

Each rule is a function that yields complaints about a Tree, or about the Objects of a build. A test shows that each
rule finds a made-up breach. The tests run in the build folder, where the objects are.
"""
import fnmatch
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path.cwd()

# A file includes and calls files of its own folder and of the folders in lines above. Folders in one line do not use
# each other.
FOLDERS = """
lib/base
lib/os
lib/format
lib/net lib/domain/text lib/readme
lib/place
lib/domain/machine lib/domain/archive lib/domain/elf
lib/domain/wheel lib/domain/index lib/domain/lock
lib/domain/promotion
lib/facts
lib/state/config lib/state/database
lib/audit lib/advisories
lib/state/catalog
lib/state/store lib/state/access lib/state/results
lib/state/upstream lib/state/views
lib/install
lib/state/publish
lib/view
auditor/compare auditor/rebuild
builder/missing
promoter
explainer
bundler uploader indexer/walk pruner/plan server/message builder/run
indexer/scan indexer/watch indexer/check indexer/export pruner/operations server/http builder/step
builder/probe
builder
server/core
server/upstream
server/pages
server/api
server
cli/common
cli/doctor
cli
"""
PEERS = {"uploader", "indexer", "pruner"}  # None of these uses another.
LAYER = {name: number for number, line in enumerate(FOLDERS.split("\n")) for name in line.split()}
TOPS = sorted({name.partition("/")[0] for name in LAYER})

# The only files that may include the headers of a foreign library.
OWNER = {
    "cmark-gfm-core-extensions.h": "lib/readme/readme.c",
    "cmark-gfm.h": "lib/readme/readme.c",
    "curl/": "lib/net/fetch.c",
    "gelf.h": "lib/domain/elf/elf-facts.c lib/domain/elf/elf-outline.c",
    "jansson.h": "lib/format/jsondoc.c",
    "isa-l/igzip_lib.h": "lib/format/compress.c",
    "libdeflate.h": "lib/format/compress.c lib/format/inflate.c",
    "libxml/": "lib/format/markup.c",
    "microhttpd.h": "server/http/http.c server/http/mhd.c",
    "openssl/": "lib/format/digest.c lib/format/signature.c server/http/tls.c",
    "sqlite3.h": "lib/state/database/database.c",
    "zip.h": "lib/domain/archive/zipread.c",
    "zlib.h": "lib/format/compress.c lib/format/inflate.c",
    "zstd.h": "lib/format/compress.c",
}

# C, POSIX and Linux; any other header in <> is a foreign library's.
SYSTEM = set("""assert.h ctype.h dirent.h dlfcn.h endian.h errno.h fcntl.h fnmatch.h getopt.h glob.h grp.h inttypes.h
langinfo.h limits.h locale.h malloc.h math.h mntent.h netdb.h poll.h pthread.h pwd.h regex.h sched.h search.h semaphore.h
setjmp.h signal.h spawn.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h
strings.h syslog.h termios.h threads.h time.h unistd.h""".split())
SYSTEM_FOLDERS = ("sys/", "linux/", "net/", "netinet/", "arpa/")

BANNED = "alloca atoi atol goto gets sprintf strcat strcpy strncpy strtok vsprintf".split()
# What is counted for people.
COUNTED = "|".join("changes connections days dependencies errors failures files findings folders generations hashes holds hours libraries "
                   "lines look-ups members modules names packages platforms processors projects records results rows tests threads times "
                   "tokens versions views waivers warnings wheels yanks".split())
COMMENT_COLUMNS = 120
FUNCTION_LINES = 60
FILE_LINES = 800
# A word with one meaning: the modules whose names and texts may have it for that, and names that may stand anywhere.
# Comments are free.
RESERVED = {
    # A view, as the versions of each project that it keeps.
    "channel": ("promoter/view-channel pruner/operations/* cli/retain server/pages/* server/api/routes",
                r"view_channel\w*|channel_page|PAGE_CHANNEL|LIMIT_CHANNEL_\w+"),
    # The page of what installs of many projects on each platform.
    "coverage": ("server/pages/* server/api/routes", r"PAGE_COVERAGE|LIMIT_COVERAGE_\w+"),
    # What the bytes of a file show, above all of what is inside a wheel.
    "facts": ("auditor/* bundler/* builder/step/* builder/probe/* cli/* explainer/* indexer/* lib/audit/* lib/domain/* lib/facts/* "
              "lib/state/catalog/catalog-facts lib/state/catalog/schema* lib/state/config/* lib/state/publish/* "
              "lib/state/store/* lib/view/exposure server/* uploader/*", r"LIMIT_(COMPARE_)?FACTS\w*"),
    # The wheel that comes nearest to one that installs. What a mistyped word was meant to be is a suggestion.
    "nearest": ("lib/install/nearest-wheel cli/doctor/* server/pages/html-script", r"nearest_wheel\w*"),
    # The libraries that the machines of a platform have. A mistyped word has suggestions, evidence has candidates. Of files of
    # upstreams: they may be used yet.
    "offer": ("lib/audit/* auditor/rebuild/* cli/provides lib/state/upstream/* lib/state/config/* server/upstream/* cli/hold "
              "cli/doctor/doctor* cli/locked-output builder/missing/* explainer/* server/pages/*", r"LIMIT_OFFER_\w+"),
}
# Names for what has another word: an "inside" that facts are of, a "room" that is a sandbox, a "release" that is not of a
# project, a "coverage" that is a replacement, two enums that are one.
GONE = r"""catalog_inside scan_inside inside_search taken_facts stored_facts step_room release_(want|run|is_wanted|backlog)
coverage_(rule|compute) suggest_offer name_choice_offer \w+_nearest(_row|_key|_section)? matrix_state missing_status
missing_matrix take_back left_reason view_post walk_channel packed_reply_costly""".split()
STATIC_NAME_FILES = 3  # fewer files share the name of a static function, so that a backtrace identifies it


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


# What a module of ours defines in place of the C library, whose functions callers mean.
OF_C_LIBRARY = {"close", "epoll_wait", "recv", "send", "sendfile64", "sendmsg", "shutdown"}


class Objects:
    """The global symbols that the objects of a build define and use, by the path of their source without .c."""

    def __init__(self, build, modules):
        found = {name: self.object(build, name) for name in modules}
        self.missing = [name for name in modules if not found[name]]
        self.defined_by, self.used_by = {}, {name: set() for name in modules}
        for name, symbol, kind in self.symbols({str(path): name for name, path in found.items() if path}):
            if kind in "Uwv":
                self.used_by[name].add(symbol)
            elif symbol not in OF_C_LIBRARY:
                self.defined_by[symbol] = name

    @staticmethod
    def object(build, name):
        """The object of a module, or None. Of a program with flags of its own it is PROGRAM-NAME.o."""
        path = build / f"{name}.o"
        return path if path.is_file() else next(iter(path.parent.glob(f"wheelcache_*-{path.name}")), None)

    @staticmethod
    def symbols(names):
        """The module, name and kind of each symbol in these objects, whose modules are by path."""
        command = [*shlex.split(os.environ.get("NM") or "nm"), "-A", "-P", "-g", *names]
        done = subprocess.run(command if names else ["true"], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            path, _, rest = line.partition(": ")
            yield names[path], *rest.split()[:2]

    def calls(self, name):
        """Each symbol of another module of ours that this one uses, with that module."""
        for symbol in sorted(self.used_by[name]):
            if self.defined_by.get(symbol, name) != name:
                yield symbol, self.defined_by[symbol]


def module(path):
    return path.rsplit(".", 1)[0]


def folder(path):
    return path.rpartition("/")[0]


def may_use(path, target):
    """Whether the first file may include or call the second one."""
    here, there = LAYER.get(folder(path)), LAYER.get(folder(target))
    tops = {folder(file).partition("/")[0] for file in (path, target)}
    are_peers = tops <= PEERS and len(tops) == 2
    return folder(target) == folder(path) or there is not None and there < here and not are_peers


def on_circles(arrows):
    """The nodes that are on a circle, or between two circles."""
    left = {node: targets - {node} for node, targets in arrows.items()}
    while True:
        reached = set().union(*left.values())
        left, before = {node: targets & left.keys() for node, targets in left.items()
                        if targets & left.keys() and node in reached}, left
        if left.keys() == before.keys():
            return sorted(left)


def arrows_go_one_way(tree):
    for path in tree.text:
        if folder(path) not in LAYER:
            yield f"{path}: its folder is in no layer"
            continue
        for target in tree.own_includes(path):
            if not may_use(path, target):
                yield f"{path}: may not include {target}"


def there_is_no_circle(tree):
    arrows = {module(path): set() for path in tree.text}
    for path in tree.text:
        arrows[module(path)] |= {module(t) for t in tree.own_includes(path)}
    if circle := on_circles(arrows):
        yield f"includes go in a circle among {' '.join(circle)}"


def each_source_has_an_object(objects):
    for name in objects.missing:
        yield f"{name}.c: the build folder has no object of it"


def calls_go_one_way(objects):
    for name in objects.used_by:
        for symbol, target in objects.calls(name):
            if not may_use(name, target):
                yield f"{name}.c: may not use {symbol} of {target}.c"


def calls_have_no_circle(objects):
    if circle := on_circles({name: {target for _, target in objects.calls(name)} for name in objects.used_by}):
        yield f"calls go in a circle among {' '.join(circle)}"


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
        if names and folder(names[0][1:]) == folder(path):  # its own header, or one that it shares with a sibling
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
            if line.lstrip().startswith("//") and len(line.expandtabs(8)) > COMMENT_COLUMNS:
                yield f"{path}:{number}: a comment of {len(line.expandtabs(8))} columns"
            if line == "{":
                begin = number
            elif line == "}" and begin:
                if number - begin - 1 > FUNCTION_LINES:
                    yield f"{path}:{begin}: a function of {number - begin - 1} lines"
                begin = None


def static_names_say_of_what(tree):
    files = {}
    for path in (path for path in tree.text if path.endswith(".c")):
        for name in set(re.findall(r"^static [^=;{]*?\b(\w+)\([^;]*?\)\n\{", tree.text[path], re.M)):
            files.setdefault(name, []).append(path)
    for name, paths in sorted(files.items()):
        if len(paths) >= STATIC_NAME_FILES:
            yield f"the static name {name} is in {' '.join(paths)}"


def structs_have_names_of_their_own(tree):
    files = {}
    for path in tree.text:
        for name in set(re.findall(r"^(?:static const |static )?((?:struct|enum) \w+) \{", tree.text[path], re.M)):
            files.setdefault(name, []).append(path)
    for name, paths in sorted(files.items()):
        if len(paths) > 1:
            yield f"{name} is in {' '.join(paths)}"


def nothing_banned_is_used(tree):
    for path in tree.text:
        for word in re.findall(rf"\b(?:{'|'.join(BANNED)})\b", tree.code(path)):
            yield f"{path}: uses {word}"
        for word in re.findall(r"\b(?:TODO|FIXME|XXX)\b", tree.text[path]):
            yield f"{path}: holds a {word}"


def counts_have_words_for_one(tree):
    """COUNTED() or "%m" says "1 file". "%d" is for constants, and limits are larger than one."""
    for path in tree.text:
        text = re.sub(r"//[^\n]*", "", tree.text[path])
        text = re.sub(r'"\s*PRI([ud])64\s*"', r"ll\1", text)
        counted = rf"(?<!more than )%(?:(?:z|j|ll?)?u|lld) (?!with )(?:[a-z]+ ){{0,2}}(?:{COUNTED})\b"
        for found in re.findall(counted, re.sub(r'"\s*\n\s*"', "", text)):
            yield f"{path}: \"{found}\" is for several only"
        for found in re.findall(r'== 1 \? "" : "\w+"', text):
            yield f"{path}: {found}"


def declared_functions_have_users(tree):
    """What only its own file calls is static; a call in a test counts."""
    tests = Tree(tree.top, ["tests"]) if (tree.top / "tests").is_dir() else tree
    files = {}
    for path in {**tree.text, **tests.text}:
        for name in set(re.findall(r"\w+", (tree if path in tree.text else tests).code(path))):
            files.setdefault(name, set()).add(path)
    for path in (path for path in tree.text if path.endswith(".h")):
        for name in re.findall(r"^(?!static|typedef)[a-z][^;{}=()]*?\b(\w+)\([^;{]*;", tree.code(path), re.M):
            is_for_macro = len(re.findall(rf"\b{name}\b", tree.code(path))) > 1
            if len(files[name] - {path}) < 2 and not is_for_macro:
                yield f"{path}: no other file calls {name}"


def words_in(name):
    return set(re.split(r"[-_/]", name.lower()))


def reserved_words_have_one_meaning(tree):
    for path in tree.text:
        names = set(re.findall(r"\b[a-z]\w*\b", tree.code(path), re.I)) | {module(path).rpartition("/")[2]}
        texts = re.findall(r'"((?:\\.|[^"\\\n])*)"', re.sub(r"^\s*#\s*include.*|//[^\n]*", "", tree.text[path], flags=re.M))
        for word, (modules, anywhere) in RESERVED.items():
            if any(fnmatch.fnmatch(module(path), glob) for glob in modules.split()):
                continue
            for name in sorted(n for n in names if word in words_in(n) and not re.fullmatch(anywhere, n)):
                yield f"{path}: {name}: \"{word}\" is reserved for another meaning"
            for text in (t for t in texts if re.search(rf"\b{word}", t, re.I)):
                yield f"{path}: the text \"{text}\": \"{word}\" is reserved for another meaning"
        for name in sorted(n for n in names if any(re.fullmatch(gone, n.replace("-", "_")) for gone in GONE)):
            yield f"{path}: {name}: what it names has another word"


def headers_compile_alone(tree):
    """A header with a source compiles alone, because the source includes it first (own_header_is_first)."""
    compiler = [*shlex.split(os.environ.get("CC") or "cc"), "-std=gnu11", "-fsyntax-only", "-D_GNU_SOURCE", "-Wall",
                "-Wextra", "-Werror", f"-I{tree.top}"]
    for path in (p for p in tree.text if p.endswith(".h") and p[:-1] + "c" not in tree.text):
        source = f'#include "{path}"\n#include "{path}"\nint main(void);\n'
        done = subprocess.run([*compiler, "-x", "c", "-"], input=source, capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{path}: does not compile alone: {done.stderr}"


SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"

# A rule, files that break it, the complaint.
BROKEN = [
    (arrows_go_one_way, {"lib/base/a.c": '#include "lib/os/b.h"\n'}, "lib/base/a.c: may not include lib/os/b.h"),
    (arrows_go_one_way, {"lib/net/a.c": '#include "lib/domain/text/b.h"\n'},
     "lib/net/a.c: may not include lib/domain/text/b.h"),
    (arrows_go_one_way, {"pruner/plan/a.c": '#include "indexer/walk/b.h"\n'},
     "pruner/plan/a.c: may not include indexer/walk/b.h"),
    (arrows_go_one_way, {"uploader/a.c": '#include "server/b.h"\n'}, "uploader/a.c: may not include server/b.h"),
    (arrows_go_one_way, {"lib/view/a.c": '#include "cli/b.h"\n'}, "lib/view/a.c: may not include cli/b.h"),
    (arrows_go_one_way, {"lib/a.c": ""}, "lib/a.c: its folder is in no layer"),
    (there_is_no_circle, {"cli/a.c": '#include "cli/b.h"\n', "cli/b.h": "", "cli/b.c": '#include "cli/a.h"\n'},
     "includes go in a circle among cli/a cli/b"),
    (one_file_a_foreign_library, {"cli/a.c": "#include <sqlite3.h>\n"},
     "cli/a.c: <sqlite3.h> belongs into lib/state/database/database.c"),
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
    (limits_are_kept, {"cli/a.c": "\n" * 801}, "cli/a.c: has 801 lines"),
    (limits_are_kept, {"cli/a.c": "int f(void)\n{\n" + "\t;\n" * 61 + "}\n"}, "cli/a.c:2: a function of 61 lines"),
    (limits_are_kept, {"cli/a.c": "\t// " + "x" * 110 + "\n"}, "cli/a.c:1: a comment of 121 columns"),
    (structs_have_names_of_their_own, {"cli/a.c": "struct row {\n", "cli/b.h": "static const struct row {\n"},
     "struct row is in cli/a.c cli/b.h"),
    (static_names_say_of_what, {f"cli/{name}.c": "static int\nrun(int a,\n\tint b)\n{\n}\n" for name in "abc"},
     "the static name run is in cli/a.c cli/b.c cli/c.c"),
    (nothing_banned_is_used, {"cli/a.c": "\tstrcpy(a, b);\n"}, "cli/a.c: uses strcpy"),
    (nothing_banned_is_used, {"cli/a.c": "\tgoto out;\n"}, "cli/a.c: uses goto"),
    (nothing_banned_is_used, {"cli/a.c": "// TO" + "DO: more\n"}, "cli/a.c: holds a TO" + "DO"),
    (counts_have_words_for_one, {"cli/a.c": 'puts("%" PRIu64\n" more files");\n'}, 'cli/a.c: "%llu more files" is for several only'),
    (counts_have_words_for_one, {"cli/a.c": 'puts(n == 1 ? "" : "s");\n'}, 'cli/a.c: == 1 ? "" : "s"'),
    (declared_functions_have_users, {"cli/a.h": "int a_size(void);\n", "cli/a.c": "int a_size(void)\n{\n}\n", "cli/b.c": ""},
     "cli/a.h: no other file calls a_size"),
    (reserved_words_have_one_meaning, {"lib/net/a.c": "static int offer_line(int a)\n"},
     'lib/net/a.c: offer_line: "offer" is reserved'),
    (reserved_words_have_one_meaning, {"lib/net/coverage.h": ""}, 'lib/net/coverage.h: coverage: "coverage" is reserved'),
    (reserved_words_have_one_meaning, {"lib/net/a.c": 'puts("the nearest name");\n'},
     'lib/net/a.c: the text "the nearest name": "nearest" is reserved'),
    (reserved_words_have_one_meaning, {"lib/net/a.c": "struct step_room r;\n"}, "lib/net/a.c: step_room: what it names"),
    (headers_compile_alone, {"cli/a.h": HEADER + "size_t f(void);\n"}, "cli/a.h: does not compile alone: "),
]

# The same for calls; headers are not needed.
BROKEN_CALLS = [
    (each_source_has_an_object, {"cli/a.c": None}, "cli/a.c: the build folder has no object of it"),
    (calls_go_one_way, {"lib/base/a.c": "void b(void); void a(void) { b(); }", "lib/os/b.c": "void b(void) {}"},
     "lib/base/a.c: may not use b of lib/os/b.c"),
    (calls_go_one_way, {"pruner/plan/a.c": "extern int b; int a(void) { return b; }", "indexer/scan/b.c": "int b = 1;"},
     "pruner/plan/a.c: may not use b of indexer/scan/b.c"),
    (calls_have_no_circle, {f"cli/{a}.c": f"void {b}(void); void {a}(void) {{ {b}(); }}" for a, b in ("ab", "ba", "ca")},
     "calls go in a circle among cli/a cli/b"),
]
SOUND_CALLS = {
    "lib/base/a.c": "#include <stdlib.h>\nstatic int b(void) { return abs(-1); } int a(void) { return b(); }",
    "lib/os/b.c": "int a(void); static int c(void) { return 1; } int b(void) { return a() + c(); }",
    "lib/os/c.c": "int b(void); int c(void) { return b(); }",
}

# Sources that resemble breaches and are none.
SOUND = {
    "lib/base/a.h": HEADER + "#include <stddef.h>\n\nsize_t a_size(void);\n",
    "lib/base/a.c": SPDX + '#include "lib/base/a.h"\n\n#include <sys/stat.h>\n\n#include "lib/base/b.h"\n'
                    "\n// never goto, never strcpy()\nsize_t a_size(void)\n{\n" + "\t;\n" * 60 + "}\n",
    "lib/base/b.h": HEADER + "\nint b_snprintf(const char *atoi_like);\n",
    "lib/base/b.c": SPDX + '#include "lib/base/b.h"\n\nint b_snprintf(const char *a)\n{\n}\n',
    "lib/audit/offer-a.c": SPDX + '// the nearest\nint offer_size(void);\nstatic const char *text = "an offer";\n',
    "lib/format/jsondoc.c": SPDX + '#include <jansson.h>\n\nstatic const char *text = "goto \\" strtok(a)";\n',
    "cli/main.c": SPDX + '#include "lib/base/a.h"\n#include "server/s.h"\n#include "indexer/scan/i.h"\n'
                  "\nstatic size_t sum(void)\n{\n\treturn a_size() + b_snprintf(NULL);\n}\n",
}
RULES = sorted({rule for rule, _, _ in BROKEN}, key=lambda rule: rule.__name__)
CALL_RULES = sorted({rule for rule, _, _ in BROKEN_CALLS}, key=lambda rule: rule.__name__)


def made_up(files, rules):
    """The complaints of the rules about a tree that holds these files, by rule."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for path, text in files.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text, encoding="utf-8")
        tree = Tree(top, ["."])
        return {rule: list(rule(tree)) for rule in rules}


def made_up_calls(files):
    """The complaints of the rules about calls, by rule; a file without text is not compiled."""
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        for path, text in ((path, text) for path, text in files.items() if text):
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text, encoding="utf-8")
            subprocess.run([*shlex.split(os.environ.get("CC") or "cc"), "-c", "-o", top / f"{module(path)}.o", top / path],
                           check=True)
        objects = Objects(top, [module(path) for path in files])
        return {rule: list(rule(objects)) for rule in CALL_RULES}


class Rules(unittest.TestCase):
    def test_each_rule_can_fail(self):
        for rule, files, complaint in BROKEN:
            with self.subTest(rule.__name__, complaint=complaint):
                self.assertEqual([c[:len(complaint)] for c in made_up(files, [rule])[rule]], [complaint])

    def test_each_rule_of_calls_can_fail(self):
        for rule, files, complaint in BROKEN_CALLS:
            with self.subTest(rule.__name__, complaint=complaint):
                self.assertEqual(made_up_calls(files)[rule], [complaint])

    def test_sound_calls_are_left_alone(self):
        for rule, complaints in made_up_calls(SOUND_CALLS).items():
            with self.subTest(rule.__name__):
                self.assertEqual(complaints, [])

    def test_sound_tree_is_left_alone(self):
        for rule, complaints in made_up(SOUND, RULES).items():
            with self.subTest(rule.__name__):
                self.assertEqual(complaints, [])


class Sources(unittest.TestCase):
    def test_our_sources_keep_every_rule(self):
        tree = Tree(TOP, TOPS)
        self.assertGreater(len(tree.text), 40)
        for rule in RULES:
            with self.subTest(rule.__name__):
                self.assertEqual(list(rule(tree)), [])

    @unittest.skipUnless((BUILD / "config.status").is_file(), "it reads the objects of a build: run it in the folder of one")
    def test_our_calls_keep_every_rule(self):
        objects = Objects(BUILD, [module(path) for path in Tree(TOP, TOPS).text if path.endswith(".c")])
        self.assertGreater(len(objects.defined_by), 500)
        for rule in CALL_RULES:
            with self.subTest(rule.__name__):
                self.assertEqual(list(rule(objects)), [])

    def test_each_owner_includes_its_library(self):
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
