# SPDX-License-Identifier: Apache-2.0
"""Asks pip's finder which file it picks. Runs inside the environment of pip 26.3, as a library:
standard input is a list of {"indexes": [url, ...], "python": "3.11", "platforms": [...], "requirements": [...]}, standard
output a list of their answers: [version, file name] or null for each requirement. With "resolves": true, sdists and yanked
files count as they do when pip resolves, and the answer is [version, [[URL of the page, file name], ...]] with the files of
the version that it takes. A page is fetched and read once, and so is the name of a wheel."""
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
    full = tuple(map(int, python.rstrip("t").split(".")))
    version = full[:2]
    name = "".join(map(str, version))
    abi = f"cp{name}t" if python.endswith("t") else f"cp{name}"
    target = TargetPython(py_version_info=full)
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


def make_finder(indexes, python, platforms, resolves):
    scope = SearchScope.create(find_links=[], index_urls=indexes, no_index=False)
    wheels_only = FormatControl(set(), set() if resolves else {":all:"})
    collector = LinkCollector(PipSession(), scope)
    collector.fetch_response = fetch_once
    return PackageFinder.create(link_collector=collector, target_python=target_python(python, platforms),
                                selection_prefs=SelectionPreferences(allow_yanked=resolves, format_control=wheels_only))


def is_pinned(specifiers):
    """As pip's resolver has it (Factory._iter_found_candidates), and what it does with yanked files then."""
    return any(one.operator == "===" or one.operator == "==" and not one.version.endswith(".*") for one in specifiers)


def taken(found, specifiers):
    usable = [one for one in found if not one.link.is_yanked] or (found if is_pinned(specifiers) else [])
    if not usable:
        return None
    newest = max(one.version for one in usable)
    files = [[one.link.comes_from, one.link.filename] for one in usable if one.version == newest]
    return [str(newest), files]


def answer(task):
    resolves = task.get("resolves", False)
    finder = make_finder(task["indexes"], task["python"], task["platforms"], resolves)
    for text in task["requirements"]:
        wanted = Requirement(text)
        result = finder.find_best_candidate(wanted.name, wanted.specifier)
        if resolves:
            yield taken(result.applicable_candidates, wanted.specifier)
        else:
            best = result.best_candidate
            yield best and [str(best.version), best.link.filename]


json.dump([list(answer(task)) for task in json.load(sys.stdin)], sys.stdout)
