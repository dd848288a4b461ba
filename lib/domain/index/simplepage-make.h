// SPDX-License-Identifier: Apache-2.0
// What the readers of both dialects do alike: facts as they come become a page, checked and bounded.
#pragma once

#include "lib/domain/index/simplepage.h"

// A file as the page has it; ptr is NULL where the page says nothing.
struct simplepage_link {
	struct str filename;
	struct str url; // as written, perhaps with a fragment
	struct str requires_python, provenance, upload_time;
	struct str sha256;   // hexadecimal
	struct str metadata; // hexadecimal
	bool has_metadata;
	bool is_yanked;
	struct str reason;
	int64_t size; // -1: unknown
};

struct simplepage_make {
	struct simplepage page; // what there is so far
	struct str base;        // borrowed: what URLs are relative to
	size_t file_room, version_room;
	size_t seen, foreign;    // files with a name; those whose name is another project's
	size_t lost;             // files without a URL that a client could use
	const char *last_python; // of the newest file that has one: most have the same
	struct str last_name;    // how the newest wheel spells the project: most files spell it alike
	struct buf url;          // room for the one that is being read
};

// base is borrowed. All below do nothing more once the page has too much.
void simplepage_make_init(struct simplepage_make *m, const char *project, struct str base);
void simplepage_make_release(struct simplepage_make *m); // for CLEANUP
void simplepage_make_link(struct simplepage_make *m, const struct simplepage_link *link);
void simplepage_make_version(struct simplepage_make *m, struct str version);
void simplepage_make_status(struct simplepage_make *m, struct str status, struct str reason);
// Of its digits; -1 where it is not made of them, or too large.
int64_t simplepage_make_number(struct str digits);
// ERR_INVALID unless it is of a major version that we understand.
int simplepage_make_api(struct str version, struct err *e) MUST_CHECK;
// Whether name is the project's, however it is spelled.
bool simplepage_make_is_named(const struct simplepage_make *m, struct str name);
// Hands the page over. The fault where it is too large, or all its files are another project's, or none of them has a
// URL: that is no project without files.
enum simplepage_fault simplepage_make_finish(struct simplepage_make *m, struct simplepage *out,
	struct err *e) MUST_CHECK;
