# SPDX-License-Identifier: Apache-2.0
"""Asks pip's finder which file it picks. Runs inside the environment of pip 26.3, as a library:
standard input is a list of {"indexes": [url, ...], "python": "3.11", "platforms": [...], "requirements": [...]}, standard
output a list of their answers: [version, file name] or null for each requirement. A page is fetched and read once, and
so is the name of a wheel."""
import dataclasses
import functools
import json
import sys

from pip._internal.index import package_finder
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
    """The tags of an interpreter as on its machine; pip's --platform would order manylinux1 right after manylinux2014."""
    version = tuple(map(int, python.rstrip("t").split(".")))
    name = "".join(map(str, version))
    abi = f"cp{name}t" if python.endswith("t") else f"cp{name}"
    target = TargetPython(py_version_info=version)
    target._valid_tags = [*tags.cpython_tags(version, [abi], platforms),
                          *tags.compatible_tags(version, f"cp{name}", platforms)]
    return target


fetch = LinkCollector(PipSession(), None).fetch_response
package_finder.Wheel = functools.cache(package_finder.Wheel)


@functools.cache
def fetch_once(*what, **more):
    """Caches the links of a page: pip does so only for pages that are not of an index."""
    page = fetch(*what, **more)
    return page and dataclasses.replace(page, cache_link_parsing=True)


def make_finder(indexes, python, platforms):
    scope = SearchScope.create(find_links=[], index_urls=indexes, no_index=False)
    wheels_only = SelectionPreferences(allow_yanked=False, format_control=FormatControl(set(), {":all:"}))
    collector = LinkCollector(PipSession(), scope)
    collector.fetch_response = fetch_once
    return PackageFinder.create(link_collector=collector, selection_prefs=wheels_only,
                                target_python=target_python(python, platforms))


def answer(task):
    finder = make_finder(task["indexes"], task["python"], task["platforms"])
    for text in task["requirements"]:
        wanted = Requirement(text)
        best = finder.find_best_candidate(wanted.name, wanted.specifier).best_candidate
        yield best and [str(best.version), best.link.filename]


json.dump([list(answer(task)) for task in json.load(sys.stdin)], sys.stdout)
