// SPDX-License-Identifier: Apache-2.0
// Reads one wheel for a comparison (auditor/compare/wheel-compare.h): its members from the file, what is inside them
// from the catalog if that has it. One thread at a time for each catalog connection.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/facts/wheel-facts.h"
#include "lib/format/digest.h"
#include "lib/os/byte-source.h"
#include "lib/state/catalog/catalog.h"

// The members of a wheel with what tells their bytes apart, and its METADATA: what a comparison needs of the file
// itself (lib/facts/wheel-facts.h has the rest). Any thread; any thread may read it.

struct wheel_content_member {
	const char *path;
	uint64_t size; // unpacked
	uint32_t crc;
	bool is_executable;          // for anybody, by its mode
	uint8_t sha256[SHA256_SIZE]; // if has_hashes
};

struct wheel_content {
	struct wheel_content_member *member; // without folders, sorted by path
	size_t members;
	uint64_t unpacked;           // bytes of all members
	const char *dist_info;       // the .dist-info folder
	bool has_hashes;             // the members were unpacked; otherwise only their sizes and CRC-32 are known
	uint8_t sha256[SHA256_SIZE]; // if has_hashes: member_hashes_digest()
	struct buf metadata;         // METADATA
	bool has_record;
	uint8_t record[SHA256_SIZE]; // of the rows of RECORD, sorted, without that of RECORD itself
	struct arena text;
};

struct wheel_content_limits {
	uint64_t unpacked; // members are unpacked and hashed if all together have at most so many bytes
	size_t members;    // more are ERR_LIMIT
};

// Reads a wheel; name is its parsed file name. ERR_INVALID: it is no wheel, or a member is damaged; ERR_LIMIT; ERR_IO.
// The caller releases *out if this returns 0.
int wheel_content_read(const struct byte_source *bytes, const struct filename *name,
	const struct wheel_content_limits *limits, struct wheel_content *out, struct err *e) MUST_CHECK;
void wheel_content_release(struct wheel_content *c); // for CLEANUP; all zero is fine
// The bytes that a wheel of this size may unpack to: what is allowed for an upload.
uint64_t wheel_content_most(uint64_t size);
// Whether the bytes of two members are equal, as far as both sides know.
bool wheel_content_is_same(const struct wheel_content *a, const struct wheel_content_member *one,
	const struct wheel_content *b, const struct wheel_content_member *other);

// A wheel. All is borrowed, for as long as the comparison lives.
struct compare_side {
	const char *label; // as the client named it
	const char *filename;
	const struct filename *name;
	uint64_t size;
	const uint8_t *sha256; // of the file
	const struct wheel_content *content;
	const struct wheel_facts *facts; // NULL: unknown, and why says why
	const char *why;
	const struct provenance *provenance; // NULL: it has none
};

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
	struct byte_source bytes;
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
