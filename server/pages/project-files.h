// SPDX-License-Identifier: Apache-2.0
// The files of a project that its page shows: the listed ones of one version, and those that are not listed, with what is
// known of each. Only of the platforms that the query names. One thread reads them; any thread may read a value.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "builder/missing/project-matrix.h"
#include "lib/audit/wheel-gate.h"

struct project_file {
	const char *platform, *filename;
	uint64_t size;
	int64_t came; // seconds since 1970
	char sha256[SHA256_HEX + 1];
	bool has_metadata;
	uint8_t metadata_sha256[SHA256_SIZE];
	const char *requires_python; // NULL: none
	const char *yanked;          // the reason, "" for none; NULL: it is not yanked
	bool has_attestations;
	const char *builder;   // that its statement of provenance names; NULL: none
	const char *uploader;  // the token that uploaded these bytes; NULL: not known
	const char *before;    // the file of the version before with the same tags on this platform; NULL: none
	struct jsondoc *audit; // of explain-audit.h; NULL: not judged
};

// A file that is on no page.
struct project_unlisted {
	const char *platform, *filename;
	const char *state;  // "quarantined", "copy", "unlisted", "removed"
	const char *reason; // NULL: none
};

struct project_files {
	struct arena text;
	struct project_file *file; // by platform, then file name
	size_t files, file_room;
	struct project_unlisted *unlisted; // by file name
	size_t unlisted_count, unlisted_room;
	uint64_t all_files, all_unlisted; // also beyond the limit
	bool has_all_uploads;             // the audit log was read from its beginning
};

struct project_files_query {
	const struct platform *const *platform;
	size_t platforms;
	const struct matrix_view *members; // only these files; NULL: all
	const char *project, *version;     // version NULL: none is listed
	const char *before;                // the version before; NULL: none
	uint64_t limit;                    // of each list
	struct wheel_gate *gate;           // NULL: wheels are not audited
	const char *audit_path;            // NULL: no log
	const struct platform *const *named; // whose uploaders are read
	size_t nameds;
};

// Errors of the catalog. The caller releases *out if this returns 0.
int project_files_read(struct catalog *c, const struct project_files_query *query, struct project_files *out,
	struct err *e) MUST_CHECK;
void project_files_release(struct project_files *f); // all zero is fine; for CLEANUP
