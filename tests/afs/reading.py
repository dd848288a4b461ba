# SPDX-License-Identifier: Apache-2.0
"""What a client sees of a store in a cell, and waiting until the server has seen a release."""
import hashlib
import json
import signal

import pages
import serving

SOON = 30


def listed(server, project, view=None):
    """(URL, SHA-256) of each file on the page by its name; empty where there is no page."""
    path = f"/{view}/simple/{project}/" if view else f"/simple/{project}/"
    reply = server.get(path, {"Accept": pages.JSON})
    assert reply.status in (200, 404), (path, reply.status)
    if reply.status == 404:
        return {}
    return {one.filename: (one.url, one.sha256) for one in pages.json_files(reply.body, server.url + path)}


def fetch(server, url):
    """The status, and the SHA-256 of the body."""
    reply = server.get(url.removeprefix(server.url))
    return reply.status, hashlib.sha256(reply.body).hexdigest()


def project_of(wheel):
    return wheel.name.split("-")[0].replace("_", "-")


def check_listed(server, wheel, view=None):
    """The page lists it, and its bytes can be downloaded."""
    url, sha256 = listed(server, project_of(wheel), view)[wheel.name]
    assert sha256 == wheel.sha256 and fetch(server, url) == (200, sha256)


def scan(server):
    """What /-/health says of the last scan."""
    return json.loads(server.get("/-/health").body)["scan"]


def until(server, condition, what):
    """Waits for the result of a scan. It requests the scan: after a slow one the server pauses for twenty times its duration."""
    server.signal(signal.SIGHUP)
    return serving.wait_for(condition, SOON, what)
