// SPDX-License-Identifier: Apache-2.0
// Parses the list of all projects of another index (PEP 503 and 691, "/simple/"). Any thread.
#pragma once

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

// Appends the names to out in normal form and in the order of the list, each with a line end. Invalid names are
// omitted. The ceiling of out bounds the names: the caller checks out->failed. content_type selects the parser: JSON of
// PEP 691, or else HTML, whose links are the projects. ERR_INVALID if body is not such a list or is truncated,
// ERR_LIMIT if HTML is nested too deeply.
int project_names_read(struct str body, struct str content_type, struct buf *out, struct err *e) MUST_CHECK;
