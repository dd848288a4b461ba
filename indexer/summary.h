// SPDX-License-Identifier: Apache-2.0
// What a scan did: numbers, and lists of what somebody should look at. One thread at a time.
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "lib/base/buf.h"

enum summary_number {
	SUMMARY_FILES, // wheels and sdists seen
	SUMMARY_ADDED, // file names that are listed now
	SUMMARY_UNCHANGED,
	SUMMARY_CHANGED,     // other bytes under a listed name
	SUMMARY_GONE,        // file names that are listed no more
	SUMMARY_QUARANTINED, // files that are refused, with those of earlier scans
	SUMMARY_DUPLICATES,  // good files whose name another folder of the platform has
	SUMMARY_WAITING,     // still being written
	SUMMARY_IGNORED,     // neither wheels nor sdists
	SUMMARY_LINKS,       // links that were not followed
	SUMMARY_SHADOWED,    // files that the merged view hides behind one of the same name
	SUMMARY_FINDINGS,    // oddities of files that were read and taken all the same
	SUMMARY_PROBLEMS,    // what could not be looked at: the scan has failed
	SUMMARY_BYTES,       // hashed
	SUMMARY_NUMBERS,
};

enum summary_list {
	LIST_PROBLEMS,    // reason
	LIST_CHANGED,     // path, old and new sha256; not of mutable platforms
	LIST_QUARANTINED, // path, reason
	LIST_DUPLICATES,  // path, reason
	LIST_DIFFERING,   // file name, of which platforms list different bytes
	SUMMARY_LISTS,
};

enum { SUMMARY_FIELDS = 3, SUMMARY_KEPT = 1000 }; // of a list; more are counted only

struct summary_item {
	char *field[SUMMARY_FIELDS];
};

struct summary {
	uint64_t number[SUMMARY_NUMBERS];
	double seconds;
	struct {
		struct summary_item *item;
		size_t count, room;
		uint64_t all; // with those that were not kept
	} list[SUMMARY_LISTS];
};

// All zero is an empty one.
void summary_release(struct summary *s);
// Copies the texts; those that the list does not have are NULL.
void summary_add(struct summary *s, enum summary_list list, const char *first, const char *second,
	const char *third);
// For people, and for scripts.
void summary_print(const struct summary *s, FILE *out);
void summary_json(const struct summary *s, struct buf *out);
