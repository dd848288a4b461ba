// SPDX-License-Identifier: Apache-2.0
// An attempt as JSON: what a builder sends to POST /-/builds/PLATFORM/, and what `wheelcache builds --json` and the
// server print. Pure functions; any thread.
//
//   {"id", "platform", "python", "project", "version", "result", "step", "why", "begun": time, "seconds",
//       "peak_memory",
//    "files": [{"filename", "sha256", "size"}], "sdist": {"filename", "sha256"} or null, "awaiting": [names], "recipe",
//    "builder", "provenance": {…}, "has_log": bool, "log": text, only in what a builder sends}
#pragma once

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"
#include "lib/state/results/results.h"

// Without a log. The caller frees the document.
struct jsondoc *results_json(const struct results_attempt *a);
// Sets "log", for a server. In JSON a log has no NUL, and is UTF-8: other bytes become "?".
void results_json_put_log(struct jsondoc *doc, struct str log);
// Reads such a document, which has every key but "log". Every value is checked (results_put) and limited, and *out is
// what a server stores: is_sent is true. The strings of *out are in text, *log (ptr NULL: none) is borrowed from doc.
// ERR_INVALID names the value.
int results_json_read(const struct jsondoc *doc, struct results_attempt *out, struct arena *text, struct str *log,
	struct err *e) MUST_CHECK;
