// SPDX-License-Identifier: Apache-2.0
// Builds a struct simplepage: the parsers of both dialects pass facts on as they find them, and this module checks and
// bounds them. Any thread; one at a time per struct.
#pragma once

#include "lib/domain/index/simplepage.h"

// A file as written on the page. ptr is NULL if the page does not have the field. Borrowed.
struct simplepage_link {
	struct str filename;
	struct str url; // as written, possibly with a fragment
	struct str requires_python, provenance, upload_time;
	struct str sha256;   // hexadecimal
	struct str metadata; // hexadecimal
	bool has_metadata;
	bool is_yanked;
	struct str reason;
	int64_t size; // -1: unknown
};

struct simplepage_make {
	struct simplepage page; // the page so far
	struct str base;        // borrowed; the base of relative URLs
	size_t file_room, version_room;
	size_t seen, foreign;    // files with a valid name; those whose name belongs to another project
	size_t lost;             // files without a usable URL, or with an empty name
	const char *last_python; // of the last file that has one, shared by files with the same value
	struct str last_name;    // spelling of the project in the last wheel; most files have the same
	struct buf url;          // buffer for the URL that is being resolved
};

// base is borrowed. Once the page exceeds its limits, the functions that add to it do nothing.
void simplepage_make_init(struct simplepage_make *m, const char *project, struct str base);
void simplepage_make_release(struct simplepage_make *m); // for CLEANUP
void simplepage_make_link(struct simplepage_make *m, const struct simplepage_link *link);
void simplepage_make_version(struct simplepage_make *m, struct str version);
void simplepage_make_status(struct simplepage_make *m, struct str status, struct str reason);
// Parses a decimal number; -1 if it is not one or is too large.
int64_t simplepage_make_number(struct str digits);
// Checks the API version of the page. ERR_INVALID if its major version is not supported.
int simplepage_make_api(struct str version, struct err *e) MUST_CHECK;
// Whether name is a spelling of the project's name.
bool simplepage_make_is_named(const struct simplepage_make *m, struct str name);
// Passes ownership of the page to *out. Returns a fault, with *e set, if the page is too large, if all its files belong
// to another project, or if none of its files has a usable URL, which is not the same as a project without files.
enum simplepage_fault simplepage_make_finish(struct simplepage_make *m, struct simplepage *out,
	struct err *e) MUST_CHECK;
