// SPDX-License-Identifier: Apache-2.0
// Examines the content of an sdist (PEP 517, 625, 643). Any thread.
#pragma once

#include "lib/domain/wheel/wheel.h"

// Reads a .tar.gz or .zip to its end and fills out->metadata with the PKG-INFO of its top folder, and
// out->requires_python with the field of it. Without a PKG-INFO metadata stays empty, which is a finding under LENIENT
// and ERR_INVALID under STRICT. The caller releases *out and *name, whatever this returns.
//
// *name may be zeros if filename_parse() failed; then PKG-INFO must give the project and version. *name is corrected if
// PKG-INFO shows that the file name was split at the wrong dash. ERR_INVALID if name and PKG-INFO contradict each other
// or the archive is damaged or truncated, ERR_LIMIT if a part is too large, ERR_IO if the source cannot be read.
int sdist_examine(const struct byte_source *bytes, struct str filename, enum strictness strictness,
	struct filename *name, struct wheel *out, struct err *e) MUST_CHECK;
// Appends the pyproject.toml of the top folder to out, whose ceiling it has; nothing if there is none. The same errors.
int sdist_read_pyproject(const struct byte_source *bytes, struct str filename, struct buf *out, struct err *e) MUST_CHECK;
