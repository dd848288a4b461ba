// SPDX-License-Identifier: Apache-2.0
// What is missing as a JSON document: written by `wheelcache missing --format json` and the server, read by the
// builder. Pure functions; any thread.
//
//   {"made": "2026-11-22T20:00:00Z",
//    "branches": [{"name": "master", "until": null, "is_over": false,
//                  "files": [{"name": "constraints.txt", "kind": "constraints", "sha256": hexadecimal}]}],
//    "environments": [{"platform": "ubuntu-22.04-x86_64", "python": "3.10", "totals": {"here": 1, …}}],
//    "totals": {"missing": 1, …},
//    "rows": [{"platform", "python", "project", "version": "1.0" or null, "status", "why", "branches": ["master"],
//              "sdist": {"filename", "url", "sha256": hexadecimal or null, "size": bytes or null} or null,
//              "attempts": {"count", "last": time, "retry": time or null, "result", "step", "recipe"} or null,
//              "build": 1, only if a wheel is to be rebuilt}]}
#pragma once

#include "builder/missing/missing.h"

// The caller frees the document.
struct jsondoc *missing_json(const struct missing *m);
// Reads such a document, from another server too: every value is checked and limited (LIMIT_MISSING). ERR_INVALID names
// what is wrong. The caller releases *out if this returns 0.
int missing_json_read(struct str text, struct missing *out, struct err *e) MUST_CHECK;
