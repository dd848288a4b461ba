// SPDX-License-Identifier: Apache-2.0
// Compares two wheels: first a verdict, then what a person decides by: names, METADATA, members, libraries, components,
// provenance. Pure: of values that the caller has read. Bounded in what is listed; all is counted. Any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "auditor/compare/compared-wheel.h"
#include "auditor/compare/diff-rows.h"
#include "auditor/compare/library-diff.h"
#include "lib/base/arena.h"
#include "lib/base/str.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/facts/wheel-facts.h"

// Compares what two wheels were made of, by their provenance: a row for each component. Pure functions; any thread.

enum provenance_column {
	COLUMN_VERSION,
	COLUMN_SOURCE, // where it is from
	COLUMN_DIGEST,
	COLUMN_HOW,     // from source, or a package
	COLUMN_PATH,    // where it is installed
	COLUMN_OPTIONS, // of its build
	COLUMN_COUNT,
};
extern const char *const provenance_column_name[COLUMN_COUNT]; // "version", "source", …
// NULL: not said, or there is no row.
const char *provenance_column(const struct provenance_row *row, enum provenance_column column);

struct provenance_pair {
	const struct provenance_row *a, *b; // borrowed; NULL: not used
	bool is_equal;
	bool has_other_path; // both have it, at different paths
};

struct provenance_diff {
	struct provenance_pair *row; // those that differ first, by kind, then component
	size_t listed;               // at most LIMIT_COMPARE_ROWS
	size_t equal, different;
};

// a, b NULL: it has none. Borrows the rows. The arena owns what *out points to.
void provenance_diff_make(const struct provenance *a, const struct provenance *b, struct arena *text,
	struct provenance_diff *out);

// Compares the METADATA of two wheels: fields as sets, by meaning. Pure functions; any thread.

// A row for each value of a field that one of them has. Requires-Python is equal where both contain the same versions
// of Python; Requires-Dist whatever the order of its specifiers, blanks and the spelling of its name; two Requires-Dist
// of one project share a row. Of a long text, such as the description, the row has the size and the hash. The rows are
// in the arena.
void metadata_diff_make(struct str a, struct str b, struct arena *text, struct diff_rows *out);

// Which member of one wheel is which of another: by path, where the folders of the version (X-1.0.dist-info,
// .data) count as equal; then by the name without what differs between builds: the hash in the name of a bundled
// library, the ABI in that of an extension module; then, of bundled libraries, by the name without number. Pure; any
// thread.

struct member_pair {
	const struct wheel_content_member *a, *b; // NULL: there is none
	bool has_own_name;                        // the paths differ in more than the folder of the version
};

struct member_pairs {
	struct member_pair *pair; // sorted by path
	size_t count;
};

// Borrows the members. The pairs are in the arena.
void member_pairs_make(const struct wheel_content *a, const struct wheel_content *b, struct arena *text,
	struct member_pairs *out);

enum compare_verdict {
	COMPARE_IDENTICAL,     // the same bytes
	COMPARE_SAME_CONTENTS, // the same members, in another ZIP file
	COMPARE_SAME_CODE,     // the same members outside of .dist-info
	COMPARE_DIFFERENT,
	COMPARE_VERDICT_COUNT,
};
extern const char *const compare_verdict_name[COMPARE_VERDICT_COUNT]; // "identical", "same-contents", …
extern const char *const compare_verdict_words[COMPARE_VERDICT_COUNT];

enum compare_change { COMPARE_CHANGED, COMPARE_RENAMED, COMPARE_ADDED, COMPARE_REMOVED, COMPARE_CHANGE_COUNT };
extern const char *const compare_change_name[COMPARE_CHANGE_COUNT];

struct compare_member {
	enum compare_change change; // RENAMED: another name, the same bytes
	const char *a, *b;          // paths; NULL: there is none
	uint64_t a_size, b_size;
};

struct compare_members {
	struct compare_member *row; // at most LIMIT_COMPARE_ROWS, by path
	size_t listed, count[COMPARE_CHANGE_COUNT], equal;
	size_t other_modes; // of equal members: those that are executable in one wheel only
};

struct wheel_compare {
	struct compare_side a, b;
	enum compare_verdict verdict;
	bool is_by_crc; // members were compared by size and CRC-32, which is no proof that they are equal
	struct diff_rows file, metadata, components;
	struct compare_members members;
	bool has_facts;               // of both: otherwise libraries and components are unknown
	struct library_diff *library; // those whose bytes differ; at most LIMIT_COMPARE_LIBRARIES
	size_t libraries, libraries_equal, libraries_different;
	struct provenance_diff provenance;
	struct arena text; // owns all; the struct does not move
};

void wheel_compare_make(const struct compare_side *a, const struct compare_side *b, struct wheel_compare *out);
void wheel_compare_release(struct wheel_compare *c); // for CLEANUP
