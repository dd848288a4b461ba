// SPDX-License-Identifier: Apache-2.0
// Reads one wheel for a comparison (auditor/compare/wheel-compare.h): its members from the file, what is inside them from the
// catalog if that has it. One thread at a time for each catalog connection.
#pragma once

#include "lib/facts/wheel-facts.h"
#include "auditor/compare/wheel-compare.h"
#include "auditor/compare/wheel-content.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/state/catalog/catalog.h"

// Owns its parts. Must not move once it was read.
struct compared_wheel {
	struct compare_side side; // borrows from the rest
	char *label, *filename;
	struct filename name;
	uint8_t sha256[SHA256_SIZE];
	struct wheel_content content;
	struct wheel_facts facts;
	struct err why; // of facts that are unknown
	struct provenance provenance;
};

struct compared_wheel_source {
	const char *label;    // as the client named it
	const char *filename; // of the wheel
	int fd;               // borrowed
	uint64_t size;
	const uint8_t *sha256;   // of the bytes, if the caller knows; NULL: they are hashed
	struct catalog *catalog; // for facts; NULL: none
	bool only_catalog;       // facts are not read from the file
	struct wheel_content_limits limits;
	size_t facts_most; // bytes of facts before compression: more are unknown; 0: LIMIT_FACTS
};

// ERR_USAGE: the name is no wheel's; ERR_INVALID: it is no wheel, or damaged; ERR_LIMIT; ERR_IO. The caller releases
// *out, whatever this returns.
int compared_wheel_read(const struct compared_wheel_source *from, struct compared_wheel *out, struct err *e) MUST_CHECK;
void compared_wheel_release(struct compared_wheel *w); // for CLEANUP; all zero is fine
// Adds the statement of how the wheel was made (FILE.intoto.json). ERR_INVALID: it is no such statement, or not about
// these bytes.
int compared_wheel_take_provenance(struct compared_wheel *w, struct str statement, struct err *e) MUST_CHECK;
