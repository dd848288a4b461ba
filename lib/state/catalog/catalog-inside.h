// SPDX-License-Identifier: Apache-2.0
// The catalog's rows of what is inside wheels: the packed facts (lib/audit/wheel-facts.h), once for each SHA-256, and
// the names that searches find. Writes stand between catalog_begin and catalog_commit. One thread at a time for each
// connection. Errors and callbacks as in catalog.h.
#pragma once

#include "lib/state/catalog/catalog-write.h"

// The kinds of names that a search finds.
enum catalog_inside_kind {
	CATALOG_INSIDE_NEEDS,     // a SONAME that an ELF member needs and the wheel does not bundle
	CATALOG_INSIDE_BUNDLES,   // the stem of a bundled library, with its version where one is known
	CATALOG_INSIDE_COMPONENT, // a purl of an SBOM
	CATALOG_INSIDE_SYMBOL,    // a symbol that is imported from outside of the wheel, or exported
	CATALOG_INSIDE_TOOLCHAIN, // a string of .comment
	CATALOG_INSIDE_KIND_COUNT,
};
struct catalog_inside_name {
	enum catalog_inside_kind kind;
	const char *name;
	const char *version; // NULL: none is known
};

int catalog_inside_put(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int version, struct str packed,
	const struct catalog_inside_name *name, size_t names, struct err *e) MUST_CHECK;
// Appends the packed facts to out. ERR_NOT_FOUND: there are none of this version.
int catalog_inside_get(struct catalog *c, const uint8_t sha256[SHA256_SIZE], int version, struct buf *out,
	struct err *e) MUST_CHECK;

// A listed wheel without facts of this version, for the indexer. Strings are borrowed for the call.
typedef int catalog_inside_lacking_fn(void *ctx, int64_t platform, const char *path, const char *filename,
	const uint8_t *sha256, struct err *e);
int catalog_inside_lacking(struct catalog *c, int version, catalog_inside_lacking_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;

// Listed wheels that have a name. pattern: a GLOB of SQLite. Ordered by platform, file name.
typedef int catalog_inside_found_fn(void *ctx, int64_t platform, const char *project, const char *filename,
	const struct catalog_inside_name *name, struct err *e);
int catalog_inside_find(struct catalog *c, enum catalog_inside_kind kind, const char *pattern,
	catalog_inside_found_fn *fn, void *ctx, struct err *e) MUST_CHECK;
