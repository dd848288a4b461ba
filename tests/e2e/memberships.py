# SPDX-License-Identifier: Apache-2.0
"""Writes memberships of views as the store keeps them (lib/state/views/membership.h), with any time."""
import hashlib
import json
import re


def member(platform, wheel):
    project = re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
    return {"platform": platform, "project": project, "filename": wheel.name, "sha256": wheel.sha256}


def append(store, view, adds=(), removes=(), made="2026-11-20T12:00:00Z"):
    """Writes the next generation; adds and removes are pairs of a platform and a wheel of storelib. Returns its path. The
    next scan puts it into the catalog."""
    folder = store / ".wheelcache-views" / view
    folder.mkdir(parents=True, exist_ok=True)
    before = sorted(folder.glob("*.json"))
    number = len(before) + 1
    path = folder / f"{number:06}.json"
    path.write_text(json.dumps({
        "view": view, "generation": number,
        "previous": hashlib.sha256(before[-1].read_bytes()).hexdigest() if before else None,
        "made": made, "action": "promote", "by": "test", "address": "", "reason": "", "evidence": [],
        "adds": [member(*one) for one in adds], "removes": [member(*one) for one in removes]}))
    return path
