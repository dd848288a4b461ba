// SPDX-License-Identifier: Apache-2.0
// Reading one file of the store once: digest, framing, metadata. For the scan and for uploads.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/format/digest.h"
#include "lib/os/throttle.h"
#include "lib/state/catalog/catalog-file.h"

// What a thread reuses from file to file. One thread at a time.
struct ingest;

struct ingest *ingest_new(void);
void ingest_free(struct ingest *in); // NULL is fine
// All reading keeps this rate from now on. Borrowed; NULL: none.
void ingest_throttle(struct ingest *in, struct throttle *throttle);

// What a file is. A plain value that owns its parts; may be handed to another thread.
struct ingest_facts {
	struct stat st; // of the bytes that were read
	char *filename;
	char *refusal; // why it is not to be listed; NULL: it is good, and has all that follows
	bool was_read; // sha256 is known (a bad name is refused without a look)
	uint8_t sha256[SHA256_SIZE];
	struct filename name;
	struct wheel wheel;
	bool has_metadata;
	struct buf metadata_packed; // wheel.metadata as a zstd frame
};

void ingest_facts_init(struct ingest_facts *f);
void ingest_facts_release(struct ingest_facts *f);

// Reads the file (a wheel or sdist by its name) from its start, where fd must stand; it stays open.
// A file that is refused is no error. ERR_BUSY: it changed while it was read. ERR_IO: it could not
// be read.
int ingest_read(struct ingest *in, int fd, const char *filename, enum strictness strictness, struct ingest_facts *out,
	struct err *e) MUST_CHECK;

// The facts as a row of the catalog, without where the file lies. Borrows from f.
struct catalog_entry ingest_entry(const struct ingest_facts *f);

// Digests the bytes and nothing more; *st is of what was read. Errors as above.
int ingest_hash(struct ingest *in, int fd, struct stat *st, uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
