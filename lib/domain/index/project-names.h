// SPDX-License-Identifier: Apache-2.0
// The list of all projects of another index (PEP 503 and 691, "/simple/"), as names.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

// Adds the names to out, normalised, in the order of the list, each with a line end. What is no name is left out. out is
// the caller's, and its ceiling bounds the names (out->failed). content_type decides the parser: JSON of PEP 691, or else
// HTML, whose links are the projects. ERR_INVALID where body is not that, or is cut; ERR_LIMIT where HTML is too deep.
// Any thread.
int project_names_read(struct str body, struct str content_type, struct buf *out, struct err *e) MUST_CHECK;
