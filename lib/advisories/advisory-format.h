// SPDX-License-Identifier: Apache-2.0
// The file of a list: frames of records as they were, the index, and where that is. advisory-build writes it,
// advisory-list reads it; no other file includes this. Numbers are this machine's: a file of another one is read again
// from its source.
//
// A text is its length in two bytes, and its bytes; a reference is its place behind the beginning of all texts, which
// is never 0. A key (lib/domain/text/version.h) is a text; equal keys are one text.
#pragma once

#include <stdint.h>

#define ADVISORY_MAGIC "WCADVIS2"

enum {
	ADVISORY_FRAME = 64 << 10, // bytes of records in a frame; a larger record has one of its own
	ADVISORY_OTHER = 1 << 31, // with the reference of a version: it is none of PEP 440
	ADVISORY_BEHIND = 1 << 31, // with a key: the place right behind that version
};
#define ADVISORY_NOBODY UINT32_MAX

enum advisory_flag { ADVISORY_MALICIOUS = 1, ADVISORY_WITHDRAWN = 2, ADVISORY_WRONG = 4 };

struct advisory_frame {
	uint64_t offset; // in the file
	uint32_t packed, size;
};

struct advisory_row { // of a record; sorted by id
	uint32_t id;
	uint32_t frame, at, size; // where its text is
	uint32_t modified[2];     // nanoseconds since 1970, the lower half first
	uint8_t severity;         // tenths; 0: none is known
	uint8_t flags;
	uint16_t unused;
};

struct advisory_entry { // a project in a record; sorted by project, then by record
	uint32_t project, record;
	uint32_t range, ranges;
	uint32_t version, versions;
};

struct advisory_range {
	uint32_t from; // a key, or 0: the first version
	uint32_t to;   // a key, with ADVISORY_BEHIND if it belongs to the range; 0: there is no end
};

// From this version up to the next step, this is the worst record.
struct advisory_step {
	uint32_t at; // a key, with ADVISORY_BEHIND; 0: the first version
	uint32_t record; // ADVISORY_NOBODY: none
};

struct advisory_project { // sorted by name
	uint32_t name;
	uint32_t entry, step; // the first ones; those of the next project follow. A last row has the ends
};

struct advisory_head { // of the index; the arrays follow in the order of the counts, then the texts
	uint64_t fingerprint; // of the source; 0: it was still changing
	int64_t loaded;       // seconds since 1970
	uint64_t unpacked;    // bytes of all records
	uint32_t skipped;     // records about no project of PyPI
	uint32_t wrong;       // records against the schema
	uint32_t notes;       // names of some of those, a text; 0: none
	uint32_t frames, rows, entries, ranges, versions, steps, projects, text;
	uint32_t unused;
};

struct advisory_tail { // the end of the file
	char magic[8];
	uint64_t offset, size; // of the index
	uint8_t sha256[32];    // of the index
};
