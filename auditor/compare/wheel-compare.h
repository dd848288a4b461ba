// SPDX-License-Identifier: Apache-2.0
// Compares two wheels: first a verdict, then what a person decides by: names, METADATA, members, libraries, components,
// provenance. Pure: of values that the caller has read. Bounded in what is listed; all is counted. Any thread.
#pragma once

#include "auditor/compare/diff-rows.h"
#include "auditor/compare/library-diff.h"
#include "auditor/compare/provenance-diff.h"
#include "auditor/compare/compared-wheel.h"
#include "lib/facts/wheel-facts.h"
#include "lib/base/arena.h"

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
