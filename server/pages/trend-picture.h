// SPDX-License-Identifier: Apache-2.0
// What happened each day, as a picture: an SVG element for an HTML page, without script, with a title and a description
// for readers that see no picture, and a legend. What is good stands above the line, with what is neither above it, and
// what is bad below the line. Pure; any thread.
#pragma once

#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"

enum trend_kind { TREND_GOOD, TREND_IDLE, TREND_BAD, TREND_KIND_COUNT };

struct trend_day {
	int64_t day; // its first second, UTC
	uint64_t count[TREND_KIND_COUNT];
};

// The words of a picture: HTML, all of our own.
struct trend_words {
	const char *what;                   // of which: "Attempts"
	const char *name[TREND_KIND_COUNT]; // "good", …; NULL: there are none of this kind
};

enum { TREND_DAYS = 60 }; // of the pages

// Sets the days, up to that of now, in seconds since 1970.
void trend_begin(struct trend_day day[TREND_DAYS], int64_t now);
// The day of a time; NULL: it is none of these.
struct trend_day *trend_day_of(struct trend_day day[TREND_DAYS], int64_t seconds);
// Adds the picture in a box, and its numbers as a table for who sees none.
void trend_write(const struct trend_day day[TREND_DAYS], const struct trend_words *words, struct buf *out);
// [{"day", and the number of each kind that has a name}], which the caller frees.
struct jsondoc *trend_json(const struct trend_day day[TREND_DAYS], const struct trend_words *words);
// Adds the elements to out. count: at least 1.
void trend_picture_write(const struct trend_day *day, size_t count, const struct trend_words *words, struct buf *out);
