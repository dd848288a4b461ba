// SPDX-License-Identifier: Apache-2.0
// The renderers of lib/view/page, one per format. Each writes the same facts. One thread at a time per page.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/version.h"
#include "lib/state/catalog/catalog.h"

// A page that is being written. versions and key are owned; the rest is borrowed.
struct render_state {
	struct buf *out;
	const char *project;       // NULL: the list of all projects
	struct str link_prefix;    // what precedes files/ in links: "../../", or an absolute URL
	struct str separator;      // between two entries; empty before the first
	const char *status;        // PEP 792; NULL: active, which is not written
	const char *status_reason; // NULL: none
	const char *left_out;      // names of platforms, of which the page lacks files for their names; NULL: none
	struct buf versions;       // JSON: each version's text once, comma-separated
	struct buf key;            // JSON: the version key of the last file ...
	size_t key_start;          // ... and the offset in versions of the first text of that key
};

// A file on a page. Borrowed.
struct page_file {
	const char *place; // in its URL: the platform, or "upstream"
	struct catalog_file
		file; // upstream's files: platform is 0, version and sha256 may be NULL, size and mtime_ns are unset
	const struct simplepage_file *upstream; // the file on upstream's page; NULL: the file is ours
};

struct renderer {
	void (*begin)(struct render_state *r);
	void (*file)(struct render_state *r, const struct page_file *listed);
	void (*version)(struct render_state *r,
		const struct version *version); // a version without a file, between the files or after them
	void (*project)(struct render_state *r, const char *project);
	void (*end)(struct render_state *r);
};

extern const struct renderer render_html; // frozen at 1.4 (PEP 833): no size, no upload time, no versions
extern const struct renderer render_html_old_pip;
extern const struct renderer render_json;

// Appends "../../files/<platform>/<project>/<file>", percent-encoded, so that it needs no escaping in HTML or JSON. A
// link never has a query, because pip appends ".metadata" after it (pip#12033).
void render_url(struct render_state *r, const char *platform, const char *filename);
// Appends 64 hexadecimal digits.
void render_sha256(struct buf *out, const uint8_t *sha256);
// Whether the file has a provenance object (PEP 740); if so, appends its URL to out: upstream's, or that of our file with
// ".provenance" behind it.
bool render_provenance(struct render_state *r, const struct page_file *listed, struct buf *out);
// Whether the file has .metadata whose hash is unknown.
bool render_has_unhashed_metadata(const struct page_file *listed);
