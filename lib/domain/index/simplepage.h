// SPDX-License-Identifier: Apache-2.0
// A project's page of another index (PEP 503, 592, 629, 658, 691, 700, 714, 740, 792), as facts: read from JSON or
// HTML, and packed small to be kept. Pure; thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

// PEP 792. Without one, a page is active.
enum simplepage_status {
	SIMPLEPAGE_ACTIVE,
	SIMPLEPAGE_ARCHIVED,
	SIMPLEPAGE_DEPRECATED,
	SIMPLEPAGE_QUARANTINED, // offers nothing
	SIMPLEPAGE_UNFAMILIAR,  // a word that we do not know: clients take it for active
	SIMPLEPAGE_STATUS_COUNT,
};
extern const char *const simplepage_status_name[SIMPLEPAGE_STATUS_COUNT];

struct simplepage_file {
	const char *filename;        // as filename_check() lets pass; each once on a page
	const char *url;             // absolute, http: or https:, without fragment, user and password
	const char *requires_python; // NULL: none
	const char *yanked;          // the reason, "" for none; NULL: it is not yanked
	const char *provenance;      // a URL; NULL: none
	const char *upload_time;     // as upstream wrote it, "2026-01-02T03:04:05.678901Z"; NULL: unknown
	int64_t uploaded;            // the same in seconds since 1970; 0: unknown
	int64_t size;                // bytes; -1: unknown
	bool is_cut; // a field of it was beyond its limit, and is left out or cut: nobody relies on such a file
	bool has_sha256;
	bool has_metadata;        // METADATA is at url + ".metadata";
	bool has_metadata_sha256; // and its hash is known
	uint8_t sha256[SHA256_SIZE], metadata_sha256[SHA256_SIZE];
};

// It owns all that it points to.
struct simplepage {
	const char *project; // normalised: the one that was asked for
	enum simplepage_status status;
	const char *status_reason; // NULL: none
	uint64_t serial;           // _last-serial; 0: unknown
	const char **version;      // as upstream spells them; HTML pages have none
	size_t versions;
	struct simplepage_file *file; // in the page's order
	size_t files;
	struct arena text;
};

// Why a body is no page of this project.
enum simplepage_fault {
	SIMPLEPAGE_GOOD,
	SIMPLEPAGE_NOT_A_PAGE, // another type, no JSON, JSON of another shape, HTML without the marks of a simple page, another
			       // API's major, or files of which none has a URL
	SIMPLEPAGE_TRUNCATED,     // its end is missing
	SIMPLEPAGE_WRONG_PROJECT, // it is another project's
	SIMPLEPAGE_TOO_LARGE,     // beyond LIMIT_SIMPLEPAGE_FILES or LIMIT_SIMPLEPAGE_TEXT
};

// The header for asking for what is understood: JSON rather than HTML, which says less.
extern const char simplepage_accept[];

// content_type is the header's value; url is that of the answer, after redirects; project is normalised. On -1
// *fault says why, *e has it in words, and there is nothing to release. A file that no client could use (a bad name, no
// HTTP URL or one longer than LIMIT_PATH, a wheel of another project) is left out; the first of a name wins; a "yanked" that is no
// bool counts as yanked. What is longer than LIMIT_REQUIRES_PYTHON, LIMIT_PROVENANCE or, of a version, LIMIT_FILE_NAME is left
// out, and a reason is cut to LIMIT_REASON.
int simplepage_parse(struct str body, struct str content_type, const char *url, const char *project,
	struct simplepage *out, enum simplepage_fault *fault, struct err *e) MUST_CHECK;

// Adds the packed form to out; ERR_LIMIT where that does not take it.
int simplepage_pack(const struct simplepage *page, struct buf *out, struct err *e) MUST_CHECK;
// ERR_INVALID where the bytes are not what simplepage_pack() of this version wrote: to be asked for again.
int simplepage_unpack(struct str packed, struct simplepage *out, struct err *e) MUST_CHECK;

void simplepage_release(struct simplepage *page); // for CLEANUP; all zero is fine
// By its name; NULL where the page has none. A walk over all files.
const struct simplepage_file *simplepage_find(const struct simplepage *page, const char *filename);
