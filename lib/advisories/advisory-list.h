// SPDX-License-Identifier: Apache-2.0
// What the records of one source say (lib/advisories/advisory-source.h): a file that advisory-build made. Its index is
// in memory, about 120 bytes a record of malware; the records are read from the file, a frame of 64 KB for one. So the
// file is also the last good list of that source. A list never changes, and any thread may use it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/place/place.h"

struct advisory_list;

// Opens the file of this name. ERR_NOT_FOUND; ERR_INVALID: it is damaged, or of another release or machine; ERR_IO. The
// caller unrefs the result.
struct advisory_list *advisory_list_open(struct place_folder *folder, const char *name, struct err *e) MUST_CHECK;
struct advisory_list *advisory_list_ref(struct advisory_list *l);
void advisory_list_unref(struct advisory_list *l); // NULL is fine

struct advisory_list_state {
	uint64_t fingerprint; // of the source; 0: it was still changing
	int64_t loaded;       // seconds since 1970
	uint64_t records;     // that are about projects of PyPI
	uint64_t skipped;     // that are about none
	uint64_t wrong;       // that break the schema
	struct str notes;     // lines "FILE: REASON" of some of these
	uint64_t bytes;       // of memory
};
void advisory_list_state(const struct advisory_list *l, struct advisory_list_state *out);

// A record, borrowed from the list.
struct advisory {
	struct str id;
	int64_t modified;  // nanoseconds since 1970
	unsigned severity; // the base score of CVSS in tenths; 0: none is known
	bool is_malicious, is_withdrawn;
	bool is_wrong;   // it breaks the schema: all versions are meant, and no more is known
	uint32_t number; // in this list
};
// Malware is worse than all else, and what is wrong is worse than each score.
bool advisory_is_worse(const struct advisory *a, const struct advisory *b);

// The project of this name, in its normal form; 0: no record is about it.
uint32_t advisory_list_project(const struct advisory_list *l, struct str name);
// The worst record that is about this version of the project: malware first, then the highest severity. key:
// osv_version_key(), empty where the version is none of PEP 440. False: there is none.
bool advisory_list_worst(const struct advisory_list *l, uint32_t project, struct str version, struct str key,
	struct advisory *out);
// Calls fn for each record about the project, in the order of ids, until it returns false; with a version, for those
// about that version. project 0: for none.
typedef bool advisory_fn(void *ctx, const struct advisory *a);
void advisory_list_each(const struct advisory_list *l, uint32_t project, struct str version, struct str key,
	advisory_fn *fn, void *ctx);
// Calls fn for the worst record of each stretch of versions, from the first version on, until it returns false; with
// NULL for a stretch that no record is about.
void advisory_list_stretches(const struct advisory_list *l, uint32_t project, advisory_fn *fn, void *ctx);
// The record with this id, withdrawn ones too. False: there is none.
bool advisory_list_by_id(const struct advisory_list *l, struct str id, struct advisory *out);
// Appends the JSON of a record that is not wrong, as it was. ERR_INVALID: the file is damaged; ERR_IO.
int advisory_list_text(const struct advisory_list *l, const struct advisory *a, struct buf *out,
	struct err *e) MUST_CHECK;
