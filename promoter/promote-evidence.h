// SPDX-License-Identifier: Apache-2.0
// The evidence that a promotion stands on: the records in the catalog that count for the view, and, in a dry run, those
// that were given and are not kept. One thread at a time.
#pragma once

#include "promoter/promotion-judge.h"
#include "promoter/tested-build.h"
#include "lib/state/views/evidence-file.h"
#include "lib/state/views/membership.h"

// A set of ids of records.
struct evidence_ids {
	uint8_t (*id)[SHA256_SIZE];
	size_t count, room;
	size_t sorted; // as many as there were when it was last sorted
};

// A wheel of a given record that is not kept.
struct given_wheel {
	struct catalog_tested wheel;
	const struct evidence *record;
	int64_t order; // as catalog_evidence.order
};

struct promote_evidence {
	struct catalog *catalog;
	struct tested_build builds;
	struct given_wheel *given; // by project, kind and cell, then the newest first
	size_t givens;
	struct arena text;             // of their projects
	struct evidence_ids file, all; // the records that were found for one file; for all files that were promoted
	struct membership_tested *build; // what records are about that were found for this file, unless it is its bytes
	size_t file_builds, build_room;
	bool has_override; // one that was found for this file
	bool has_failed;               // then *why is the catalog's error
	struct err why;
};

void promote_evidence_init(struct promote_evidence *p, struct catalog *c, const char *view);
void promote_evidence_release(struct promote_evidence *p); // for CLEANUP
// Makes given records count as if they came now, the last one last, without keeping them. They are borrowed.
int promote_evidence_give(struct promote_evidence *p, const struct evidence *record, size_t records,
	struct err *e) MUST_CHECK;
// For promotion_judge: finds the newest record.
promotion_judge_find_fn promote_evidence_find;
// Begins a file. At its end its records are kept if it is promoted.
void promote_evidence_begin(struct promote_evidence *p);
void promote_evidence_keep(struct promote_evidence *p);
// Adds a record that was made for the promotion.
void promote_evidence_add(struct promote_evidence *p, const uint8_t id[SHA256_SIZE]);
// The records of all files, sorted, each once.
void promote_evidence_finish(struct promote_evidence *p);
