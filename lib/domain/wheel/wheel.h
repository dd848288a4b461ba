// SPDX-License-Identifier: Apache-2.0
// Examines the content of a wheel: framing, METADATA, WHEEL and RECORD, compared with the file name. Specifications:
// binary distribution format, core metadata; PEP 427, 643, 658. Any thread; the caller owns the struct.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/findings.h"
#include "lib/domain/wheel/metadata.h"
#include "lib/format/digest.h"
#include "lib/os/byte-source.h"

struct wheel {
	struct buf metadata; // METADATA, or an sdist's PKG-INFO; empty: it has none
	uint8_t metadata_sha256[SHA256_SIZE];
	char *requires_python; // as spelled in METADATA; NULL: absent, not a valid specifier set, or longer than
			       // LIMIT_REQUIRES_PYTHON
	bool has_content;      // content_sha256 is set: only under STRICT, because it unpacks every member
	uint8_t content_sha256[SHA256_SIZE]; // member_hashes_digest(): equal for builds that differ only in time stamps
					     // and order
	bool has_installed;                  // likewise; not if its names are not clear
	uint8_t installed_sha256[SHA256_SIZE]; // installed_content_digest(): equal for builds that also install alike
	struct findings findings;
};

// The caller initialises a wheel before it is filled, and releases it.
void wheel_init(struct wheel *w);
void wheel_release(struct wheel *w);
// Fills metadata_sha256, requires_python and *facts (slices) from w->metadata. Errors as metadata_parse().
int wheel_take_metadata(struct wheel *w, enum strictness strictness, struct metadata *facts, struct err *e) MUST_CHECK;
// Examines a wheel; name is its parsed file name. LENIENT unpacks only members of the .dist-info folder; STRICT unpacks
// all members and checks the hashes in RECORD. ERR_INVALID with the reason if the wheel is to be rejected under this
// strictness, ERR_LIMIT if a part is too large, ERR_IO if the source cannot be read. The caller releases *out, whatever
// this returns.
int wheel_examine(const struct byte_source *bytes, const struct filename *name, enum strictness strictness,
	struct wheel *out, struct err *e) MUST_CHECK;
// The digest of what is installed (wheel.c), of any ZIP file whose members can be unpacked. ERR_LIMIT: they are far
// larger than the file; other errors as wheel_examine().
int wheel_content(const struct byte_source *bytes, uint8_t content_sha256[SHA256_SIZE], struct err *e) MUST_CHECK;

// Checks the file WHEEL of a wheel (binary distribution format). A pure function; any thread.

// ERR_INVALID for a Wheel-Version that no installer accepts. Tags that differ from those of the file name are a
// finding: installers use the file name, and PyPI has such wheels (psutil 5.9.8).
int wheelfile_check(struct str text, const struct filename *name, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
