# SPDX-License-Identifier: Apache-2.0
"""Parses the text format of Prometheus (0.0.4), more strictly than Prometheus does."""
import dataclasses
import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
HELP = re.compile(rf"# HELP ({NAME}) (\S.*)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\\\|\\"|\\n)*)"(,|$)')
VALUE = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")
PLAIN = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@dataclasses.dataclass
class Family:
    """The samples below one HELP and TYPE; values by sample name and labels, which are a sorted tuple of pairs."""
    help: str
    type: str = ""
    values: dict = dataclasses.field(default_factory=dict)


def _labels(text):
    found = {}
    while text:
        label = LABEL.match(text)
        assert label and label[1] not in found, text
        found[label[1]] = re.sub(r'\\[\\"n]', lambda escape: PLAIN[escape[0]], label[2])
        text = text[label.end():]
        assert bool(text) == bool(label[3]), label[0]
    return found


def _value(text):
    assert VALUE.fullmatch(text), text
    return float(text)


def _check_buckets(name, family):
    """For each set of other labels: the bounds rise up to +Inf, the counts do not fall, and the last one is the count."""
    series = {}
    for (sample, labels), value in family.values.items():
        if sample == f"{name}_bucket":
            rest = tuple(pair for pair in labels if pair[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    assert series or not family.values, name
    for rest, buckets in series.items():
        bounds, counts = zip(*buckets)
        assert list(bounds) == sorted(set(bounds)) and bounds[-1] == math.inf, (name, bounds)
        assert list(counts) == sorted(counts), (name, counts)
        assert family.values[f"{name}_count", rest] == counts[-1], name
        assert (f"{name}_sum", rest) in family.values, name


def _check(name, family):
    suffixes = ("_bucket", "_sum", "_count") if family.type == "histogram" else ("",)
    for sample, labels in family.values:
        assert sample in [name + suffix for suffix in suffixes], f"{sample} below {name}"
        assert sample.endswith("_bucket") == ("le" in dict(labels)), sample
    if family.type == "counter":
        assert name.endswith("_total"), name
    if family.type != "gauge":
        assert all(value >= 0 for value in family.values.values()), name
    if family.type == "histogram":
        _check_buckets(name, family)


def parse(text):
    """{name: Family}."""
    families, name = {}, None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if found := HELP.fullmatch(line):
            name = found[1]
            assert name not in families, f"{name} twice"
            assert not re.search(r"\\(?![\\n])", found[2]), line
            families[name] = Family(found[2])
        elif found := TYPE.fullmatch(line):
            assert found[1] == name and not families[name].type and not families[name].values, line
            families[name].type = found[2]
        else:
            found = SAMPLE.fullmatch(line)
            assert found and name and families[name].type, line
            key = found[1], tuple(sorted(_labels(found[2] or "").items()))
            assert key not in families[name].values, line
            families[name].values[key] = _value(found[3])
    for one, family in families.items():
        assert family.type, one
        _check(one, family)
    return families


class Metrics:
    """All metrics of a server, read at once."""

    def __init__(self, text):
        self.families = parse(text)
        self.values = {key: value for family in self.families.values() for key, value in family.values.items()}

    def __call__(self, name, **labels):
        """The value of wheelcache_NAME with exactly these labels; 0 if it is missing."""
        return self.values.get((f"wheelcache_{name}", tuple(sorted(labels.items()))), 0)

    def counters(self):
        return {key: value for family in self.families.values() if family.type != "gauge"
                for key, value in family.values.items()}
