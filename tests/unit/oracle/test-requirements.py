# SPDX-License-Identifier: Apache-2.0
"""Compares how domain-tool and pip parse requirements files, for files that a fixed seed generates."""

import glob
import os
import pathlib
import random
import sys
import tempfile

sys.path += glob.glob("/usr/share/python-wheels/pip-*.whl")
try:
    from pip._internal.exceptions import PipError
    from pip._internal.req import req_file
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
    from pip._vendor.packaging.utils import canonicalize_name
except ImportError:
    print("no pip here")
    sys.exit(77)

from domaintool import ask

dice = random.Random(508)


def maybe(text, chance=0.3):
    return text if dice.random() < chance else ""


def blank():
    return dice.choice(["", "", " ", "  ", "\t"])


def specifier():
    if dice.random() < 0.1:
        return "===1.0"  # alone: versions of pip differ about a comma after it
    one = [dice.choice(["==1.0", ">=1.2", "<2", "!=1.5.*", "~=1.4", ">=1.0rc1", "== 2.0", "==1.0+cu128"])
           for _ in range(dice.choice([1, 1, 1, 2]))]
    text = (blank() + "," + blank()).join(one)
    return f"({text})" if dice.random() < 0.1 else text


def requirement():
    text = dice.choice(["numpy", "Foo.Bar", "a-b_c", "zope.interface", "x"])
    text += blank() + maybe(f"[{blank()}{dice.choice(['', 'a', 'a,b', 'test , Doc'])}{blank()}]", 0.2)
    if dice.random() < 0.08:
        return f"{text} @ https://host.test/x-1.0.tar.gz" + maybe(" ; python_version > '3'")
    text += maybe(blank() + specifier(), 0.8)
    text += maybe(f"{' ' if '===' in text else blank()};{blank()}python_version {dice.choice(['<', '>=', '=='])} '3.{dice.randint(6, 14)}'")
    for _ in range(dice.choice([0, 0, 0, 1, 2])):
        text += dice.choice([" ", " \\\n    "]) + f"--hash{dice.choice(['=', ' '])}sha256:{dice.randrange(16 ** 64):064x}"
    return text


def option():
    return dice.choice(["--pre", "--index-url https://host.test/simple", "-i https://host.test/simple", "--no-index",
                        "--extra-index-url=https://host.test/other", "-f ./wheels", "--trusted-host host.test", "--require-hashes",
                        "--only-binary :all:", "--no-binary=numpy", "--prefer-binary"])


def comment():
    return dice.choice(["# a comment", "  # another \\", "#", "", "   "])


def line():
    text = dice.choice([requirement, requirement, requirement, requirement, option, comment])()
    if dice.random() < 0.15 and " " in text:
        at = text.index(" ")
        text = text[:at] + dice.choice(["\\\n", " \\\n"]) + text[at:]
    return text + maybe(dice.choice([" # why", "\t# why"]), 0.15)


def damage(text):
    at = dice.randint(0, len(text))
    return text[:at] + dice.choice(["", "(", "]", "\\\n", "\n# in between\n", "#no comment", ";", " -", "=", "@", "#", "-e "]) + text[at + dice.randint(0, 1):]


def file():
    text = maybe("\ufeff", 0.03) + dice.choice(["\n", "\n", "\r\n"]).join(line() for _ in range(dice.choice([1, 2, 4])))
    text += maybe("\n", 0.7)
    return text


def in_hex(*parts):
    return " ".join(part.encode().hex() for part in parts)


def of_requirement(parsed):
    r = Requirement(parsed.requirement)
    return r, parsed.options.get("hashes", {})


def expect(text, folder):
    """(project, extras, specifiers, has a marker, url, hashes) of each requirement; None if pip refuses the file."""
    path = pathlib.Path(folder, "file")
    path.write_bytes(text.encode())
    try:
        lines = list(req_file.parse_requirements(str(path), session=None))
        if any(one.is_editable for one in lines):
            return None
        rows = []
        for one in lines:
            r, hashes = of_requirement(one)
            rows.append((canonicalize_name(r.name), sorted(r.extras), sorted(map(str, r.specifier)), r.marker is not None, r.url or "",
                         sorted(f"{name}:{value}" for name, values in hashes.items() for value in values)))
        return rows
    except (PipError, InvalidRequirement, SystemExit, ValueError):
        return None


def found(answer):
    if answer[0] == "0":
        return None
    rows = []
    for row in answer[1:]:
        kind, project, extras, specifier_text, marker, url, _, *hashes = row.split(" ")
        if kind != "project":
            continue
        project, extras, specifier_text, marker, url = (bytes.fromhex(part).decode()
                                                        for part in (project, extras, specifier_text, marker, url))
        try:
            specifiers = sorted(map(str, Requirement(f"x {specifier_text}").specifier))
        except InvalidRequirement:
            specifiers = specifier_text
        rows.append((project, sorted(filter(None, (one.strip() for one in extras.split(",")))), specifiers,
                     bool(marker), url, sorted(hashes)))
    return rows


def agree(text, answer, should, is_whole):
    """Whether both parse a damaged file alike, if both accept it. (pip accepts some damage. Markers are not read.)"""
    if not is_whole and (answer[0] == "0" or should is None or "===" in text):
        return True
    return found(answer) == should


def main():
    whole = {file() for _ in range(2000)}
    texts = sorted(whole | {damage(file()) for _ in range(2000)})
    wrong = both = 0
    with tempfile.TemporaryDirectory() as folder, open(os.devnull, "w") as sink:
        stderr, sys.stderr = sys.stderr, sink
        try:
            expected = [expect(text, folder) for text in texts]
        finally:
            sys.stderr = stderr
    for text, answer, should in zip(texts, ask("requirements", texts), expected):
        both += should is not None and answer[0] == "1"
        if not agree(text, answer, should, text in whole):
            wrong += 1
            if wrong <= 10:
                print(f"{text!r}:\n  {found(answer)}\n  instead of {should}")
    print(f"requirements files: {len(texts)}, {both} of them read by both, {wrong} wrong")
    assert len(texts) > both > 2000, "the generator is no good"
    return wrong > 0


sys.exit(main())
