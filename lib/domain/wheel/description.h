// SPDX-License-Identifier: Apache-2.0
// The description of a project in METADATA or PKG-INFO (core metadata; PEP 566, 643): the text for people and its type.
// The bytes come from the catalog (catalog_metadata()), which has them of each listed file, so that a page with the
// description opens no file of a platform. Pure functions; any thread.
#pragma once

#include "lib/base/buf.h"

// Appends the text to out: the body, or else the field Description without the indentation of its lines. The slice is
// what Description-Content-Type says, as it is spelled, and empty without one; it lasts as long as metadata. Nothing is
// appended if there is no description, or if it is "UNKNOWN", which old tools write for none. The
// ceiling of out is LIMIT_METADATA, which no text exceeds.
struct str description_take(struct str metadata, struct buf *out);
