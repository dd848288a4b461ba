# SPDX-License-Identifier: Apache-2.0
"""Parses pages with pypi-simple and mousebender. Runs inside their environment: standard input is a list of
{"project", "url", "type", "body"}, standard output, for each page, what either of the two saw: a list with
[file name, url, sha256, requires-python, has metadata] for each file."""
import json
import sys

import mousebender.simple
import pypi_simple


def by_pypi_simple(page):
    if page["type"].endswith("json"):
        seen = pypi_simple.ProjectPage.from_json_data(json.loads(page["body"]), page["url"])
    else:
        seen = pypi_simple.ProjectPage.from_html(page["project"], page["body"], page["url"])
    assert seen.repository_version == "1.4"
    for one in seen.packages:
        assert one.project is not None and one.version is not None, f"{one.filename} was not understood"
    return [[one.filename, one.url, one.digests["sha256"], one.requires_python, bool(one.has_metadata)]
            for one in seen.packages]


def by_mousebender(page):
    if page["type"].endswith("json"):
        seen = mousebender.simple.parse_project_details(page["body"], mousebender.simple.ACCEPT_JSON_V1,
                                                        page["project"])
    else:
        seen = mousebender.simple.from_project_details_html(page["body"], page["project"])
    return [[one["filename"], one["url"].partition("#")[0], one["hashes"]["sha256"], one.get("requires-python"),
             bool(one.get("core-metadata"))] for one in seen["files"]]


json.dump([{"pypi-simple": by_pypi_simple(page), "mousebender": by_mousebender(page)}
           for page in json.load(sys.stdin)], sys.stdout)
