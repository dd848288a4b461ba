// SPDX-License-Identifier: Apache-2.0
// The facts of a project's page of another index (PEP 503, 592, 629, 658, 691, 700, 714, 740, 792): parsed from JSON or
// HTML, and packed into a compact binary form for storage. Any thread; any thread may read a page.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

// PEP 792. A page without a status is active.
enum simplepage_status {
	SIMPLEPAGE_ACTIVE,
	SIMPLEPAGE_ARCHIVED,
	SIMPLEPAGE_DEPRECATED,
	SIMPLEPAGE_QUARANTINED, // has no files
	SIMPLEPAGE_UNFAMILIAR,  // an unknown status, which clients treat as active
	SIMPLEPAGE_STATUS_COUNT,
};
extern const char *const simplepage_status_name[SIMPLEPAGE_STATUS_COUNT];

struct simplepage_file {
	const char *filename;        // passes filename_check(); unique on a page
	const char *url;             // absolute, http: or https:, without fragment, user and password
	const char *requires_python; // NULL: none
	const char *yanked;          // the reason, or ""; NULL: not yanked
	const char *provenance;      // a URL; NULL: none
	const char *upload_time;     // as upstream wrote it, "2026-01-02T03:04:05.678901Z"; NULL: unknown
	int64_t uploaded;            // upload_time in seconds since 1970; 0: unknown
	int64_t seen;                // when lib/state/upstream first saw it without that; 0: unknown. It is not packed
	int64_t size;                // bytes; -1: unknown
	bool is_cut; // a field exceeded its limit and was omitted or cut; no decision relies on such a file
	bool has_sha256;
	bool has_metadata;        // METADATA is at url + ".metadata"
	bool has_metadata_sha256; // metadata_sha256 is set
	uint8_t sha256[SHA256_SIZE], metadata_sha256[SHA256_SIZE];
};

// A page owns everything that it points to.
struct simplepage {
	const char *project; // normal form: the requested project
	enum simplepage_status status;
	const char *status_reason; // NULL: none
	uint64_t serial;           // _last-serial; 0: unknown
	const char **version;      // in upstream's spelling; HTML pages have none
	size_t versions;
	struct simplepage_file *file; // in the order of the page
	size_t files;
	struct arena text;
};

// Why a body is not a page of this project.
enum simplepage_fault {
	SIMPLEPAGE_GOOD,
	SIMPLEPAGE_NOT_A_PAGE, // another content type, invalid JSON, JSON of another structure, HTML without the marks
			       // of a simple page, another API major, or no file with a usable URL
	SIMPLEPAGE_TRUNCATED,  // its end is missing
	SIMPLEPAGE_WRONG_PROJECT, // it belongs to another project
	SIMPLEPAGE_TOO_LARGE,     // beyond LIMIT_SIMPLEPAGE_FILES or LIMIT_SIMPLEPAGE_TEXT
};

// The request header for the supported formats. JSON is preferred, because HTML has fewer facts.
extern const char simplepage_accept[];

// Parses a page. content_type is the value of the header, url that of the response after redirects, project is in
// normal form. On success the caller releases *out. On -1 *fault has the reason, *e describes it, and nothing is to be
// released.
//
// A file that no client could use is omitted: an invalid name, no HTTP URL or one longer than LIMIT_PATH, or a wheel of
// another project. Of several files of one name the first wins. A "yanked" that is not a bool counts as yanked. Fields
// longer than LIMIT_REQUIRES_PYTHON or LIMIT_PROVENANCE and versions longer than LIMIT_FILE_NAME are omitted; a reason
// is cut to LIMIT_REASON.
int simplepage_parse(struct str body, struct str content_type, const char *url, const char *project,
	struct simplepage *out, enum simplepage_fault *fault, struct err *e) MUST_CHECK;

// Appends the packed form to out. ERR_LIMIT if the page or out is too large for it.
int simplepage_pack(const struct simplepage *page, struct buf *out, struct err *e) MUST_CHECK;
// Unpacks a page; on success the caller releases *out. ERR_INVALID if this version of simplepage_pack() did not write
// the bytes; then the page must be requested again.
int simplepage_unpack(struct str packed, struct simplepage *out, struct err *e) MUST_CHECK;

void simplepage_release(struct simplepage *page); // for CLEANUP; zeros are allowed
// The file of this name, borrowed; NULL: none. It is a linear search.
const struct simplepage_file *simplepage_find(const struct simplepage *page, const char *filename);
