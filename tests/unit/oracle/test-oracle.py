# SPDX-License-Identifier: Apache-2.0
"""Compares the answers of domain-tool with Python's packaging, for texts that a fixed seed generates."""

import random
import re
import sys

try:
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename
    from packaging.version import InvalidVersion, Version
except ImportError:
    print("no python3-packaging here")
    sys.exit(77)

from domaintool import ask
from reference import marker_environments

IS_NEWEST = hasattr(SpecifierSet, "to_range")  # packaging 26
dice = random.Random(440)


# The generated texts are mostly valid, some have a mistake. They are ASCII, because packaging before 24 treats some
# other letters as ASCII ones in local versions (the vectors cover those).

def number():
    return dice.choice(["0", "00", "1", "01", "2", "9", "10", "2024", "9" * 30, "1" + "0" * 30])


def maybe(make, chance=0.3):
    return make() if dice.random() < chance else ""


def separator():
    return dice.choice(["", "", ".", "-", "_"])


def suffix(words):
    return separator() + dice.choice(words) + separator() + maybe(number, 0.7)


def local():
    atoms = [number(), "a", "ubuntu", "1a", "Z9", "cu128"]
    return "+" + dice.choice([".", "-", "_"]).join(dice.choices(atoms, k=dice.randint(1, 3)))


def damage(text):
    at = dice.randint(0, len(text))
    junk = dice.choice(["", "x", ".", "-", "+", "*", "!", " ", "v", "\n"])
    return text[:at] + junk + text[at + dice.randint(0, 1):]


def version(blanks=True):
    text = maybe(lambda: "v", 0.1) + maybe(lambda: number() + "!", 0.1)
    text += ".".join(number() for _ in range(dice.choice([1, 1, 2, 2, 3, 4])))
    text += maybe(lambda: suffix(["a", "alpha", "b", "beta", "c", "rc", "pre", "preview"]))
    text += maybe(lambda: dice.choice([suffix(["post", "rev", "r"]), "-" + number()]))
    text += maybe(lambda: suffix(["dev"])) + maybe(local, 0.2)
    text = dice.choice([text, text, text.upper()])
    if blanks:
        front = maybe(lambda: dice.choice([" ", "\t\n", "\v\f\r"]), 0.1)
        text = front + text + maybe(lambda: " \n", 0.1)
    return damage(text) if dice.random() < 0.1 else text


def specifier():
    operator = dice.choice(["===", "==", "!=", "~=", "<=", ">=", "<", ">", "=", "=<", ""])
    text = dice.choice(["", "", " "]) + operator + dice.choice(["", "", " "])
    return text + version() + maybe(lambda: ".*", 0.2) + maybe(lambda: " ", 0.1)


def specifier_set():
    count = dice.choice([0, 1, 1, 1, 2, 3])
    return dice.choice([",", ", ", " ,", ",,"]).join(specifier() for _ in range(count))


def near(words):
    """A version with few different numbers, so that specifiers often match it."""
    text = maybe(lambda: "1!", 0.1) + ".".join(dice.choice("0112") for _ in range(dice.choice([1, 2, 2, 3])))
    return text + "".join(maybe(lambda word=word: dice.choice(word), 0.2) for word in words)


NEAR_PRE, NEAR_POST, NEAR_DEV = ["a1", "b1", "rc1", "rc2"], [".post0", ".post1"], [".dev0", ".dev1"]
NEAR = [NEAR_PRE, NEAR_POST, NEAR_DEV]


def near_specifier():
    operator = dice.choice(["===", "==", "!=", "~=", "<=", ">=", "<", ">"])
    if operator in ("==", "!=") and dice.random() < 0.4:
        return operator + near([]) + ".*"
    return operator + near(NEAR) + (maybe(lambda: "+x", 0.2) if operator in ("==", "!=", "===") else "")


def near_case():
    return near([*NEAR, ["+x", "+1"]]), ",".join(near_specifier() for _ in range(dice.choice([1, 1, 2])))


def requires_python():
    clause = dice.choice([">={0}.{1}", "<{0}.{1}", "!={0}.{1}.*", ">={0}.{1}.{2}", "<{0}.{1}.{2}", "!={0}.{1}.{2}", "~={0}.{1}",
                          "~={0}.{1}.{2}", "=={0}.*", "=={0}.{1}.*", "<={0}.{1}", ">{0}.{1}", "<={0}.{1}.{2}", ">{0}.{1}.{2}",
                          "==={0}.{1}.{2}", "<{0}.{1}a1", ">={0}.{1}.{2}rc1", ">={0}", "<{0}", "{0}.{1}"])
    return clause.format(dice.choice("23334"), dice.choice("01789") if dice.random() < 0.5 else "11", dice.choice("0125"))


def python_case():
    return dice.choice(["2.7", "3.8", "3.11", "3.12", "3.13t", "pp311"]), ", ".join(
        requires_python() for _ in range(dice.choice([0, 1, 1, 2, 3])))


MARKER_TEXTS = {
    "os_name": ["posix", "nt", "java"], "os.name": ["posix", "nt"],
    "sys_platform": ["linux", "linux2", "win32", "darwin"], "sys.platform": ["linux"],
    "platform_machine": ["x86_64", "aarch64", "arm64", ""], "platform.machine": ["x86_64"],
    "platform_system": ["Linux", "linux", "Windows"], "implementation_name": ["cpython", "pypy"],
    "platform_python_implementation": ["CPython", "PyPy", "cpython"], "python_implementation": ["CPython"],
    "platform_version": ["", "#1 SMP"], "extra": ["x", "Test_Extra"],
}
MARKER_VERSIONS = {
    "python_version": ["3.9", "3.10", "3.11", "3.12", "3", "3.*", "3.11.*", "3.11.1"],
    "python_full_version": ["3.11.0", "3.11.4", "3.11.5", "3.11", "3.12.0rc1", "3.11.*"],
}
if IS_NEWEST:  # older ones cannot compare an empty version
    MARKER_VERSIONS |= {"implementation_version": ["3.11.4", "7.3"], "platform_release": ["20", "6.1"]}


def quoted(text):
    return dice.choice(["'{}'", '"{}"']).format(text)


def version_comparison():
    variable = dice.choice(list(MARKER_VERSIONS))
    value = dice.choice(MARKER_VERSIONS[variable])
    operator = dice.choice(["==", "!="] if "*" in value else ["==", "!=", "<", "<=", ">", ">=", "~=", "==="])
    if operator == "~=" and "." not in value:
        operator = ">="
    # platform_release is empty, and "<" with nothing behind it is no specifier.
    if variable != "platform_release" and "*" not in value and dice.random() < 0.1:
        return f"{quoted(value)} {operator.replace('~=', '>=')} {variable}"
    if dice.random() < 0.15:
        return f"{variable} {dice.choice(['in', 'not in'])} {quoted(' '.join(MARKER_VERSIONS['python_version']))}"
    return f"{variable}{dice.choice(['', ' '])}{operator}{dice.choice(['', ' '])}{quoted(value)}"


def text_comparison():
    variable = dice.choice(list(MARKER_TEXTS))
    value = dice.choice(MARKER_TEXTS[variable])
    operator = dice.choice(["==", "==", "!=", "in", "not in", *([">=", "<=", "<", ">", "~="] if IS_NEWEST else [])])
    if dice.random() < 0.1 and variable != "extra":
        return f"{quoted(value)} {operator} {variable}"
    return f"{variable} {operator} {quoted(value)}"


def marker(depth=0):
    if depth < 3 and dice.random() < 0.3:
        return f"({marker(depth + 1)})"
    if depth < 3 and dice.random() < 0.4:
        return f"{marker(depth + 1)} {dice.choice(['and', 'or'])} {marker(depth + 1)}"
    return dice.choice([version_comparison, text_comparison])()


def marker_case():
    text = marker()
    is_damaged = dice.random() < 0.1
    if is_damaged and not IS_NEWEST:  # older ones ignore what follows the marker
        text = text.partition(" ")[0]
    elif is_damaged:
        at = dice.randint(0, len(text))
        text = text[:at] + dice.choice(["", "(", ")", "'", " and", "x", ","]) + text[at + dice.randint(0, 1):]
    python = dice.choice(["3.9", "3.11", "3.11", "3.12", "3.13t", "pp311"])
    return "\n".join([python, dice.choice(["x86_64", "aarch64"]), text])


def name():
    letters = "abzABZ019"
    text = "".join(dice.choice(letters + "..__") for _ in range(dice.randint(1, 8)))
    return dice.choice(letters) + text + dice.choice(letters)


def tag_set(atoms):
    return ".".join(dice.choices(atoms, k=dice.choice([1, 1, 1, 2, 3])))


def wheel():
    parts = [name(), version(blanks=False)]
    if dice.random() < 0.3:
        parts.append(dice.choice(["1", "007", "2abc", "0_py38h16f9016", "b1", "x"]))
    parts.append(tag_set(["py2", "py3", "cp38", "CP310", "pp39"]))
    parts.append(tag_set(["none", "abi3", "abi3t", "cp313t", "cp27mu", "pypy311_pp73"]))
    parts.append(tag_set(["any", "win32", "linux_x86_64", "manylinux1_i686", "musllinux_1_2_i686"]))
    return "-".join(parts) + ".whl"


def sdist():
    return f"{name()}-{version(blanks=False)}" + dice.choice([".tar.gz", ".zip"])


# The answers of packaging, in the columns of domain-tool.

VALID_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", re.IGNORECASE | re.ASCII)


def expect_name(text):
    return [str(int(bool(VALID_NAME.fullmatch(text)))), canonicalize_name(text).encode().hex()]


def expect_version(text):
    try:
        v = Version(text)
    except InvalidVersion:
        return ["0"]
    return ["1", str(v), str(int(v.is_prerelease)), str(int(v.local is not None))]


def expect_specifier(text):
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return ["0"]
    return ["1"]


def same_release(one, other):
    return Version(one.base_version) == Version(other.base_version)


def as_newest_has_it(version, wanted):
    """Whether packaging before 26 agrees: it ignores some epochs, and treats more versions as pre- or post-releases."""
    if not IS_NEWEST:
        for one in wanted:
            ordered = one.operator in ("<", ">") and same_release(Version(one.version), version)
            if ordered or "!" in str(version) + one.version and (one.operator == "~=" or one.version.endswith(".*")):
                return False
    return True


def expect_admits(text):
    v, wanted = text.split("\n")
    try:
        return ["1", str(int(SpecifierSet(wanted).contains(Version(v), prereleases=True)))]
    except InvalidSpecifier:
        return ["0"]


def expect_micros(text):
    python, wanted = text.split("\n")
    try:
        wanted = SpecifierSet(wanted)
    except InvalidSpecifier:
        return ["0"]
    dotted = python.rstrip("t") if "." in python else f"3.{python[3:]}"
    return ["1", f"{sum(1 << n for n in range(64) if wanted.contains(f'{dotted}.{n}', prereleases=True)):x}"]


def expect_marker(text):
    python, arch, text = text.split("\n")
    try:
        asked = Marker(text)
        environments = enumerate(marker_environments(python, arch))
        return ["1", f"{sum(1 << n for n, environment in environments if asked.evaluate(environment)):x}"]
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, InvalidVersion):
        return ["0"]


def near_text():
    while True:
        v, wanted = near_case()
        try:
            if as_newest_has_it(Version(v), SpecifierSet(wanted)):
                return f"{v}\n{wanted}"
        except InvalidSpecifier:
            return f"{v}\n{wanted}"


def expect_wheel(text):
    # packaging allows blanks around the version; our file names have none.
    if re.search(r"\s", text):
        return ["0"]
    try:
        project, v, build, tags = parse_wheel_filename(text)
    except ValueError:
        return ["0"]
    return ["1", project, str(v), (build or None), *sorted(map(str, tags))]


def expect_sdist(text):
    stem = text.removesuffix(".zip").removesuffix(".tar.gz")
    # packaging accepts any text before the last dash as a name.
    if re.search(r"\s", text) or not VALID_NAME.fullmatch(stem.rpartition("-")[0]):
        return ["0"]
    try:
        project, v = parse_sdist_filename(text)
    except ValueError:
        return ["0"]
    return ["1", project, str(v), None]


def build_number(text):
    """The sort key of packaging: the digits as a number, then the rest."""
    digits = re.match(r"\d*", text).group()
    return (int(digits), text[len(digits):]) if digits else None


def in_words_of_packaging(kind, answer):
    if kind == "version" and len(answer) > 1:
        return answer[:2] + answer[3:]
    if kind == "filename" and len(answer) > 1:
        return answer[:3] + [build_number(answer[3])] + sorted(answer[4:])
    return answer


def compare(what, kind, make, expect, count):
    """Returns how many answers differ, and prints some."""
    texts = sorted({make() for _ in range(count)})
    answers = ask(kind, texts)
    wrong = valid = 0
    for text, answer in zip(texts, answers):
        should = expect(text)
        valid += should[0] == "1"
        if in_words_of_packaging(kind, answer) != should:
            wrong += 1
            if wrong <= 10:
                print(f"{what} {text!r}: {answer} instead of {should}")
    print(f"{what}: {len(texts)} texts, {valid} of them valid, {wrong} wrong")
    assert len(texts) > valid > 100, "the generator makes too few cases"
    return wrong


def compare_order(count):
    """Checks that the keys order versions as packaging does, and are equal for equal versions."""
    texts = sorted({version() for _ in range(count)})
    answers = zip(texts, ask("version", texts))
    keyed = [(bytes.fromhex(a[2]), Version(text)) for text, a in answers if a[0] == "1"]
    keyed.sort(key=lambda pair: pair[0])
    wrong = 0
    for (key_a, a), (key_b, b) in zip(keyed, keyed[1:]):
        if not (a == b if key_a == key_b else a < b):
            wrong += 1
            print(f"order of {a} and {b}")
    print(f"order: {len(keyed)} versions, {wrong} wrong")
    return wrong


wrong = compare("name", "name", lambda: damage(name()), expect_name, 2000)
wrong += compare("version", "version", version, expect_version, 6000)
wrong += compare("specifier set", "specifier", specifier_set, expect_specifier, 6000)
wrong += compare("version in a set", "admits", near_text, expect_admits, 8000)
wrong += compare("Pythons in a set", "micros", lambda: "\n".join(python_case()), expect_micros, 2000)
wrong += compare("marker", "marker", marker_case, expect_marker, 3000)
wrong += compare("wheel", "filename", wheel, expect_wheel, 3000)
wrong += compare("sdist", "filename", sdist, expect_sdist, 2000)
wrong += compare_order(4000)
sys.exit(wrong > 0)
