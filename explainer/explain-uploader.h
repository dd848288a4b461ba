// SPDX-License-Identifier: Apache-2.0
// Who uploaded the files of a project, for `wheelcache explain`. One thread.
//
// In the row of a file: "uploaded_by" (a token's name) and "uploaded" (the time).
#pragma once

#include "lib/base/arena.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"

struct explain_uploader { // an upload
	const char *platform, *filename, *sha256, *by, *when;
};

struct explain_uploaders {
	struct explain_uploader *upload; // the oldest first
	size_t uploads, room;
	struct arena text;
};

// audit_path: of the audit log; NULL: nobody is named. A log that cannot be read names nobody.
void explain_uploaders_read(const char *audit_path, const char *project, struct explain_uploaders *out);
void explain_uploaders_release(struct explain_uploaders *u);
// sha256: NULL: nothing is put.
void explain_uploaders_put(const struct explain_uploaders *u, const char *platform, const char *filename,
	const uint8_t *sha256, struct jsondoc *row);
void explain_uploader_text(const struct jsondoc *row, const char *indent, struct buf *out);
