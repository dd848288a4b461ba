// SPDX-License-Identifier: Apache-2.0
// Reads one file of the store once: digest, framing, metadata. For the scan and for uploads.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/facts/wheel-facts.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/format/digest.h"
#include "lib/os/throttle.h"
#include "lib/place/place.h"
#include "lib/state/catalog/catalog-file.h"

// Buffers and digests that a thread reuses for each file. One thread at a time.
struct ingest;

struct ingest *ingest_new(void);
void ingest_free(struct ingest *in); // NULL is fine
void ingest_cleanup(struct ingest **in); // for CLEANUP
// Limits the rate of all reads from now on. Borrowed; NULL: no limit.
void ingest_throttle(struct ingest *in, struct throttle *throttle);

// What the thread reuses to look inside wheels. Borrowed.
struct wheel_reader *ingest_wheel_reader(struct ingest *in);

// What was read of a file. Owns its parts; may be handed to another thread.
struct ingest_facts {
	struct place_version version; // of the bytes that were read
	char *filename;
	char *refusal; // why it is not listed; NULL: it is good, and all that follows is set
	bool was_read; // sha256 is known; a file with a bad name is refused unread
	uint8_t sha256[SHA256_SIZE];
	struct filename name;
	struct wheel wheel;
	bool has_metadata;
	struct buf metadata_packed; // wheel.metadata as a zstd frame
};

void ingest_facts_init(struct ingest_facts *f);
void ingest_facts_release(struct ingest_facts *f);

// Reads the file (a wheel or an sdist by its name). A refused file is no error. ERR_BUSY: the file changed while it was
// read. ERR_IO: it cannot be read.
int ingest_read(struct ingest *in, struct place_file *file, const char *filename, enum strictness strictness,
	struct ingest_facts *out, struct err *e) MUST_CHECK;

// The bytes that ingest_read has just read: in memory if they are few, else in the file. They must not have changed
// meanwhile (ingest_read has found them unchanged at its end). Borrowed until the next call with `in`.
struct byte_source ingest_bytes(const struct ingest *in, struct place_file *file, const struct ingest_facts *f);

// The facts as a row of the catalog; the caller sets the platform and the folder. Borrows from f.
struct catalog_entry ingest_entry(const struct ingest_facts *f);

// Only computes the digest; *version is of the bytes that were read. Errors as above.
int ingest_hash(struct ingest *in, struct place_file *file, struct place_version *version, uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
