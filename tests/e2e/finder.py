# SPDX-License-Identifier: Apache-2.0
"""Asks pip's own finder which file it would pick. Runs inside the environment of pip 26.3, as a library:
standard input is {"index": url, "python": "3.11", "platforms": [...], "requirements": [...]}, standard output a
list with [version, file name] or null for each requirement."""
import json
import sys

from pip._internal.index.collector import LinkCollector
from pip._internal.index.package_finder import PackageFinder
from pip._internal.models.format_control import FormatControl
from pip._internal.models.search_scope import SearchScope
from pip._internal.models.selection_prefs import SelectionPreferences
from pip._internal.models.target_python import TargetPython
from pip._internal.network.session import PipSession
from pip._vendor.packaging import tags
from pip._vendor.packaging.requirements import Requirement


def target_python(python, platforms):
    """An interpreter as it sees itself: pip's own --platform would put manylinux1 right behind manylinux2014."""
    version = tuple(map(int, python.rstrip("t").split(".")))
    name = "".join(map(str, version))
    abi = f"cp{name}t" if python.endswith("t") else f"cp{name}"
    target = TargetPython(py_version_info=version)
    target._valid_tags = [*tags.cpython_tags(version, [abi], platforms),
                          *tags.compatible_tags(version, f"cp{name}", platforms)]
    return target


def make_finder(index, python, platforms):
    scope = SearchScope.create(find_links=[], index_urls=[index], no_index=False)
    wheels_only = SelectionPreferences(allow_yanked=False, format_control=FormatControl(set(), {":all:"}))
    return PackageFinder.create(link_collector=LinkCollector(PipSession(), scope), selection_prefs=wheels_only,
                                target_python=target_python(python, platforms))


def main():
    task = json.load(sys.stdin)
    finder = make_finder(task["index"], task["python"], task["platforms"])
    answers = []
    for text in task["requirements"]:
        wanted = Requirement(text)
        best = finder.find_best_candidate(wanted.name, wanted.specifier).best_candidate
        answers.append(best and [str(best.version), best.link.filename])
    json.dump(answers, sys.stdout)


main()
