// SPDX-License-Identifier: Apache-2.0
// How the pages of lib/view/page are written: one renderer a format, the same facts in each.
#pragma once

#include "lib/base/buf.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/version.h"
#include "lib/state/catalog/catalog.h"

// A page on its way. All borrowed but versions.
struct rendering {
	struct buf *out;
	const char *project;       // NULL: the root
	struct str up;             // from the page's own place to where files/ is: "../../", or an absolute URL
	struct str rule;           // what stands between two entries; empty before the first
	const char *status;        // PEP 792; NULL: active, which need not be said
	const char *status_reason; // NULL: none
	struct buf versions;       // JSON: each version's text once, comma-separated
	struct buf key;            // JSON: the version key of the last file ...
	size_t key_start;          // ... and where in versions the first text of that key is
};

// A file as a page lists it. Borrowed.
struct listed {
	const char *place; // the second part of its URL: the platform, or "upstream"
	struct catalog_file
		file; // of upstream's, platform is 0, version NULL where the name has none, sha256 NULL where it
		      // is not known, and size and mtime_ns say nothing
	const struct simplepage_file *upstream; // what else is known of such a one; NULL: it is ours
};

struct renderer {
	void (*begin)(struct rendering *r);
	void (*file)(struct rendering *r, const struct listed *listed);
	void (*version)(struct rendering *r,
		const struct version *version); // one that may have no file, in the files' order
						// or after them
	void (*project)(struct rendering *r, const char *project);
	void (*end)(struct rendering *r);
};

extern const struct renderer render_html; // frozen at 1.4 (PEP 833): no size, no upload time, no versions
extern const struct renderer render_html_old_pip;
extern const struct renderer render_json;

// "../../files/<platform>/<project>/<file>", percent-encoded: needs no more escaping in HTML or JSON. Never a
// query: pip puts ".metadata" at its end (pip#12033).
void render_url(struct rendering *r, const char *platform, const char *filename);
// 64 hexadecimal digits.
void render_sha256(struct buf *out, const uint8_t *sha256);
// Whether it has .metadata, though nobody says with which hash.
bool render_has_unhashed_metadata(const struct listed *listed);
