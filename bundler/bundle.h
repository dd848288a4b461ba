// SPDX-License-Identifier: Apache-2.0
// A bundle: files of a store with their history in one file, for another store that no network reaches.
//
//   FILE    = a zstd frame (RFC 8878) of a tar archive, whose window has LIMIT_BUNDLE_WINDOW; then the trailer
//   trailer = BUNDLE_TRAILER bytes, a skippable frame, so that zstd and tar unpack a bundle too:
//             4 bytes 50 2a 4d 18, 4 bytes 78 00 00 00, the 24 bytes of bundle_magic,
//             32 bytes SHA-256 of all bytes before the trailer,
//             64 bytes the Ed25519 signature of this SHA-256, or zeros: it is not signed
//   archive = "manifest.jsonl", then what its rows name, in their order. tarstream_header() makes the headers, and a
//             reader accepts no others: it knows each path and size from the manifest, compares, and parses nothing.
//             So there are no links, no devices, no paths that lead elsewhere, and no sizes that lie.
//
// The manifest has a JSON object a line. The first one is the head:
//   {"bundle": 1, "made": time, "by": account, "contents": ["view stable", …], "since": SHA-256 of a manifest}
// and each other one is a row. Rows are sorted by kind, then by path, and no two have the same path, so a name cannot
// come twice. A row:
//   {"kind", "in", "project", "name", "size", "sha256", "omitted": true (the bytes are in the bundle "since"),
//    "modified": nanoseconds since 1970, "came": time, "by": who uploaded it,
//    "parts": [{"part", "size", "sha256"}] that follow the file}
//
//   kind        in        project  name            is
//   file        platform  project  its name        a wheel or an sdist; parts: its yank, statement and attestations
//   status      platform  project                  the status of the project (lib/state/store/project-status.h)
//   evidence                       ID.json         a record of tests (lib/state/views/evidence-file.h)
//   generation  view               000001.json     of a membership (lib/state/views/membership.h)
//   mirror                         its name        which files of upstreams it keeps (lib/state/upstream/mirror.h)
//   upstream    upstream  project  its name        a file of a mirror, whose path has its SHA-256 too
//   page                  project                  upstreams' pages of it (lib/state/upstream/mirror-pages.h)
//   osv                            its name        records of OSV, .json or .zip (lib/advisories/advisory-source.h)
//
// Reading and writing rows is pure; any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"

enum { BUNDLE_FORMAT = 1, BUNDLE_TRAILER = 128, BUNDLE_MAGIC = 32 };
extern const char bundle_magic[BUNDLE_MAGIC + 1]; // the first bytes of the trailer
#define BUNDLE_MANIFEST "manifest.jsonl"

enum bundle_kind {
	BUNDLE_FILE,
	BUNDLE_STATUS,
	BUNDLE_EVIDENCE,
	BUNDLE_GENERATION,
	BUNDLE_MIRROR,
	BUNDLE_UPSTREAM,
	BUNDLE_PAGE,
	BUNDLE_OSV,
	BUNDLE_KIND_COUNT
};
extern const char *const bundle_kind_name[BUNDLE_KIND_COUNT];
enum bundle_part { BUNDLE_YANK, BUNDLE_STATEMENT, BUNDLE_PROVENANCE, BUNDLE_PART_COUNT };

// What follows a file.
struct bundle_piece {
	enum bundle_part part;
	uint64_t size;
	uint8_t sha256[SHA256_SIZE];
};

// Strings are borrowed.
struct bundle_row {
	enum bundle_kind kind;
	const char *in, *project, *name; // NULL: its kind has none
	uint64_t size;
	uint8_t sha256[SHA256_SIZE];
	bool is_omitted;
	int64_t modified, came;
	const char *by;             // NULL: unknown
	struct bundle_piece *piece; // in the order of enum bundle_part
	size_t pieces;
};

struct bundle_head {
	int64_t format, made;
	const char *by;
	const char *const *contents;
	size_t count;
	bool has_since;
	uint8_t since[SHA256_SIZE];
};

void bundle_head_write(const struct bundle_head *h, struct buf *out);
void bundle_row_write(const struct bundle_row *r, struct buf *out);
// A line. ERR_INVALID names what is wrong; the strings lie in text.
int bundle_head_read(struct str line, struct bundle_head *out, struct arena *text, struct err *e) MUST_CHECK;
int bundle_row_read(struct str line, struct bundle_row *out, struct arena *text, struct err *e) MUST_CHECK;
// Appends the path in the archive of the row, or of a piece of it (NULL: of the row itself).
void bundle_row_path(const struct bundle_row *r, const struct bundle_piece *piece, struct buf *out);
// Whether a file of this name may have records of the OSV database.
bool bundle_is_osv(struct str name);
// Whether it is a file, which another bundle may have.
bool bundle_row_is_file(const struct bundle_row *r);
// The order of rows. 0: they have the same path.
int bundle_row_compare(const struct bundle_row *a, const struct bundle_row *b);
