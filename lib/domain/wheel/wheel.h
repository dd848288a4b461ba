// SPDX-License-Identifier: Apache-2.0
// What a wheel's bytes say: framing, METADATA, WHEEL, RECORD, held against the file name.
// Specifications: binary distribution format, core metadata; PEP 427, 643, 658. Thread-safe.
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
	struct buf metadata; // METADATA, or an sdist's PKG-INFO (empty where it has none)
	uint8_t metadata_sha256[SHA256_SIZE];
	char *requires_python; // as METADATA spells it; NULL where absent, no valid specifier set, or longer than
			       // LIMIT_REQUIRES_PYTHON
	bool has_content;      // content_sha256 was computed: STRICT only, it inflates every member
	uint8_t content_sha256[SHA256_SIZE]; // of the sorted lines "<sha256 of member> <name>\n",
					     // no folders: equal for builds that differ in time
					     // stamps and order only
	struct findings findings;
};

void wheel_init(struct wheel *w);
void wheel_release(struct wheel *w);
// Fills what follows from w->metadata, and *facts (slices of it). Errors as metadata_parse().
int wheel_take_metadata(struct wheel *w, enum strictness strictness, struct metadata *facts, struct err *e) MUST_CHECK;
// Examines a wheel; name is its parsed file name. ERR_INVALID with the reason where it is to be
// refused (which of the two strictnesses decides), ERR_IO where it could not be read, ERR_LIMIT
// where a part is too large. LENIENT opens only the members of the .dist-info folder; STRICT reads
// every one and checks RECORD's hashes.
int wheel_examine(const struct byte_source *bytes, const struct filename *name, enum strictness strictness,
	struct wheel *out, struct err *e) MUST_CHECK;
