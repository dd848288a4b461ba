// SPDX-License-Identifier: Apache-2.0
// The catalog's rows of what is inside wheels: the packed facts (lib/facts/wheel-facts.h), once for each SHA-256, and
// the names and symbols that searches find. A row is there for each SHA-256 of a good wheel, listed or not, and goes
// with the last such file; it lacks its facts until a scan or an upload puts them. Writes stand between catalog_begin
// and catalog_commit. One thread at a time for each connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/format/name-hashes.h"
#include "lib/state/catalog/catalog-write.h"

// The kinds of names that a search finds. The numbers are in the catalog.
enum catalog_facts_kind {
	CATALOG_FACTS_NEEDS,     // a SONAME that an ELF member needs and the wheel does not bundle
	CATALOG_FACTS_BUNDLES,   // the plain name of a bundled library: "libssl.so.3"
	CATALOG_FACTS_COMPONENT, // a component of an SBOM
	CATALOG_FACTS_TOOLCHAIN, // a string of .comment
	CATALOG_FACTS_KIND_COUNT,
};
struct catalog_facts_name {
	enum catalog_facts_kind kind;
	const char *name;
	const char *version; // "": none is known
	const char *purl;    // of a component; "": none
};

// The facts of some bytes. Borrowed for the call.
struct catalog_facts {
	int version;     // of the form of the facts; at least 1
	const char *why; // why there are none; NULL: they are in what follows
	struct str packed;
	const struct catalog_facts_name *name;
	size_t names;
	const struct name_hashes *symbols; // NULL: none
};
// Replaces the facts of these bytes. Nothing happens if the catalog has no good wheel with them.
int catalog_facts_put(struct catalog *c, const uint8_t sha256[SHA256_SIZE], const struct catalog_facts *inside,
	struct err *e) MUST_CHECK;
// Appends the packed facts to out. ERR_NOT_FOUND: there are none of this version, and e says why.
int catalog_facts_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int version, struct buf *out,
	struct err *e) MUST_CHECK;
// The id of the row of these bytes. 1: found; 0: the catalog has no good wheel with them.
int catalog_facts_id(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int64_t *id, struct err *e) MUST_CHECK;
// The digest of the members of these bytes, which builds of equal contents share (lib/domain/wheel/wheel.h). 1: it is
// known; 0: it is not, or the bytes have none.
int catalog_content_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], uint8_t content[SHA256_SIZE],
	struct err *e) MUST_CHECK;
// content: NULL: the bytes have none. Nothing happens if the catalog has no good wheel with them.
int catalog_content_put(struct catalog *c, const uint8_t sha256[SHA256_SIZE], const uint8_t *content,
	struct err *e) MUST_CHECK;
// The ids of the rows whose digest is wanted: there is evidence for other bytes of their name. The caller frees *id.
int catalog_content_wanted(struct catalog *c, int64_t **id, size_t *count, struct err *e) MUST_CHECK;
// Whether the bytes were looked at with this version, with or without success.
int catalog_facts_is_known(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int version, bool *known,
	struct err *e) MUST_CHECK;

// How many different wheels have facts of this version, and how many have not.
struct catalog_facts_counts {
	uint64_t known;
	uint64_t unreadable; // they were looked at, and have none
	uint64_t lacking;    // no scan has looked
};
int catalog_facts_count(struct catalog *c, int version, struct catalog_facts_counts *out, struct err *e) MUST_CHECK;
// The ids of the rows that lack facts of this version. The caller frees *id.
int catalog_facts_lacking(struct catalog *c, int version, int64_t **id, size_t *count, struct err *e) MUST_CHECK;

// A file with the bytes of a row.
struct catalog_facts_place {
	int64_t platform;
	const char *filename, *path; // below the platform
	const uint8_t *sha256;
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
};
typedef int catalog_facts_place_fn(void *ctx, const struct catalog_facts_place *place, struct err *e);
// Listed ones first.
int catalog_facts_places(struct catalog *c, int64_t id, catalog_facts_place_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// A listed wheel that a search has found.
struct catalog_facts_wheel {
	const char *platform, *project, *filename, *path;
	const uint8_t *sha256;
	int64_t id; // of its row
};
typedef int catalog_facts_wheel_fn(void *ctx, const struct catalog_facts_wheel *wheel, struct err *e);

// All different names of a kind, by name; word: its id.
typedef int catalog_facts_word_fn(void *ctx, int64_t word, const struct catalog_facts_name *name, struct err *e);
int catalog_facts_words(struct catalog *c, enum catalog_facts_kind kind, catalog_facts_word_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The listed wheels that have a word.
int catalog_facts_uses(struct catalog *c, int64_t word, catalog_facts_wheel_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
// The ids of the rows that probably have a hash of a symbol (name_hashes_has). The caller frees *id.
int catalog_facts_symbol(struct catalog *c, uint64_t hash, int64_t **id, size_t *count, struct err *e) MUST_CHECK;
// The listed wheels with the bytes of a row.
int catalog_facts_files(struct catalog *c, int64_t id, catalog_facts_wheel_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// How many listed wheels of a platform searches cannot find, because they have no facts of this version.
typedef int catalog_facts_unknown_fn(void *ctx, const char *platform, uint64_t wheels, struct err *e);
int catalog_facts_unknown(struct catalog *c, int version, catalog_facts_unknown_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// A listed wheel with its facts.
struct catalog_facts_listed {
	struct catalog_facts_wheel wheel;
	uint64_t size;
	int64_t mtime_ns;
	uint64_t inode;
	int version;       // of the facts
	const char *why;   // why there are none; NULL: they are there, or version is 0
	struct str packed; // ptr NULL: none
};
typedef int catalog_facts_listed_fn(void *ctx, const struct catalog_facts_listed *listed, struct err *e);
// The listed wheels of a platform, by project, then file name. project, filename: NULL: all.
int catalog_facts_wheels(struct catalog *c, int64_t platform, const char *project, const char *filename,
	catalog_facts_listed_fn *fn, void *ctx, struct err *e) MUST_CHECK;
