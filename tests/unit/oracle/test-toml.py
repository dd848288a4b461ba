# SPDX-License-Identifier: Apache-2.0
"""Compares lib/format/toml with Python's tomllib, for documents that a fixed seed makes and breaks, and with the toml-test
corpus: in $TOML_TEST, else where Go keeps modules (github.com/toml-lang/toml-test/v2). Without it that part is skipped."""
import datetime
import glob
import json
import math
import os
import pathlib
import random
import re
import sys

try:
    import tomllib
except ImportError:
    print("no tomllib here")
    sys.exit(77)

from domaintool import ask

TIMES = {"offset": "datetime", "local": "datetime-local", "date": "date-local", "time": "time-local"}
trouble = []


def complain(name, text, why):
    trouble.append(f"{name}: {why}\n{text!r}")


def timed(text):
    """The kind of a time, and its value with all parts written."""
    kind = "time" if ":" in text[:3] else "date" if len(text) == 10 else "local"
    if kind == "date":
        return kind, text
    day, clock = ("", text) if kind == "time" else (text[:10] + "T", text[11:])
    got = re.fullmatch(r"(\d\d:\d\d)(:\d\d)?(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", clock)
    zone = got[4]
    kind = "offset" if zone else kind
    zone = "" if not zone else "Z" if zone in "Zz+00:00-00:00" else zone
    part = (got[3] or "").rstrip("0").rstrip(".")[:7]
    return kind, f"{day}{got[1]}{got[2] or ':00'}{part}{zone}"


def ours(answer):
    """The document as toml-test writes it, with values in one spelling."""
    def value(v):
        if isinstance(v, dict):
            return {bytes.fromhex(key).decode(): value(inner) for key, inner in v.items()}
        if isinstance(v, list):
            return [value(inner) for inner in v]
        text = bytes.fromhex(v[1:]).decode()
        if v[0] == "t":
            kind, text = timed(text)
            return {"type": TIMES[kind], "value": text}
        if v[0] == "i":
            return {"type": "integer", "value": int(text, 0 if text.lstrip("+-")[1:2].isalpha() else 10)}
        if v[0] == "f":
            return {"type": "float", "value": repr(float(text.replace("_", "")))}
        return {"type": {"s": "string", "b": "bool"}[v[0]], "value": text}
    return value(json.loads(answer))


def theirs(v):
    """toml-test's expectation in the same spelling."""
    if isinstance(v, list):
        return [theirs(inner) for inner in v]
    if set(v) != {"type", "value"} or not isinstance(v["type"], str):
        return {key: theirs(inner) for key, inner in v.items()}
    kind, text = v["type"], v["value"]
    if kind == "integer":
        return {"type": kind, "value": int(text)}
    if kind == "float":
        return {"type": kind, "value": repr(float(text))}
    return {"type": kind, "value": timed(text)[1] if kind in TIMES.values() else text}


def of_python(v):
    """A value of tomllib in the same spelling."""
    if isinstance(v, dict):
        return {key: of_python(inner) for key, inner in v.items()}
    if isinstance(v, list):
        return [of_python(inner) for inner in v]
    if isinstance(v, bool):
        return {"type": "bool", "value": str(v).lower()}
    if isinstance(v, int):
        return {"type": "integer", "value": v}
    if isinstance(v, float):
        return {"type": "float", "value": repr(math.nan if math.isnan(v) else v)}
    if isinstance(v, (datetime.datetime, datetime.date, datetime.time)):
        kind, text = timed(v.isoformat())
        return {"type": TIMES[kind], "value": text}
    return {"type": "string", "value": v}


def compare_corpus():
    places = [os.environ.get("TOML_TEST", "")] + sorted(glob.glob(os.path.join(
        os.environ.get("GOMODCACHE", os.path.expanduser("~/go/pkg/mod")), "github.com/toml-lang/toml-test/v2@*", "tests")))
    top = next((pathlib.Path(place) for place in places if place and os.path.isdir(place)), None)
    if not top:
        print("the toml-test corpus is not here")
        return
    names = [name for name in (top / "files-toml-1.1.0").read_text().split() if name.endswith(".toml")]
    for name, answer in zip(names, ask("toml", [(top / name).read_bytes() for name in names])):
        if (answer[0] == "1") != name.startswith("valid/"):
            complain(name, (top / name).read_bytes(), answer)
        elif answer[0] == "1":
            want = theirs(json.loads((top / name).with_suffix(".json").read_text()))
            if json.dumps(ours(answer[1]), sort_keys=True) != json.dumps(want, sort_keys=True):
                complain(name, answer[1], want)
    print(f"{len(names)} documents of toml-test")
    assert len(names) > 500


PIECES = ["[a]\n", "[[a]]\n", "[a.b]\n", "[[a.b]]\n", "[b]\n", '["a"]\n', "a = 1\n", "b.c = 1\n", "a.b.c = 2\n", "a = {}\n",
          "a = [\n1, # x\n2,]\n", "b = { c = 1, d.e = [] }\n", 'c = "\\u00e9\\"\\n"\n', "d = '''\nx''y'''\n", "e = 1979-05-27\n",
          "f = 07:32:00.5\n", "g = 1979-05-27 07:32:00Z\n", "h = 0x1F\n", "i = -1_0.5e-3\n", "j = nan\n", "k = true\n", "# x\n",
          'l = """a\\\n   b\r\n"""\n', "'q r' = -922337203685\n", "\r\n", "m = [[], [{}]]\n"]
BREAKS = list("[]{}\"'=.,#\\\n\r\t _-+0123456789aefntxZT:") + ["\x00", "\x7f", "é"]


def is_of_1_1(text):
    """What 1.0 refuses and we do not: line ends and a last comma in tables, \\e, \\x, times without seconds, second 60."""
    return re.search(r"\{[^}]*(\n|,[ \t]*\})|\\[ex]|\d\d:\d\d(?!:\d\d)|:60", text)


def compare_random():
    dice = random.Random(19)
    texts = []
    for _ in range(6000):
        text = "".join(dice.choice(PIECES) for _ in range(dice.randint(1, 6)))
        for _ in range(dice.choice([0, 0, 1, 1, 2])):
            at = dice.randrange(len(text) + 1)
            text = text[:at] + dice.choice(["", dice.choice(BREAKS)]) + text[at + dice.choice([0, 1]):]
        texts.append(text)
    good = 0
    for text, answer in zip(texts, ask("toml", texts)):
        try:
            want = of_python(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, ValueError, RecursionError):
            want = None
        if (want is None) != (answer[0] == "0"):
            if want is not None or not is_of_1_1(text):
                complain("random", text, f"{answer} {want}")
        elif want is not None:
            good += 1
            if json.dumps(ours(answer[1]), sort_keys=True) != json.dumps(want, sort_keys=True):
                complain("random", text, f"{ours(answer[1])} {want}")
    assert 1000 < good < 5500, good


compare_corpus()
compare_random()
for text in trouble[:10]:
    print(text)
sys.exit(bool(trouble))
