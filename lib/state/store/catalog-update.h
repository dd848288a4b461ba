// SPDX-License-Identifier: Apache-2.0
// Writes a single file, mark or attachment into the catalog, without a scan. One thread at a time for each catalog
// connection. Errors as in catalog.h.
#pragma once

#include "lib/base/err.h"
#include "lib/state/store/attachment-file.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/store.h"
#include "lib/state/store/packed-facts.h"

struct catalog;

// What is known of a file that was in another store before.
struct file_past {
	int64_t modified;   // nanoseconds since 1970
	int64_t came;       // seconds since 1970: when it arrived there
	const char *yanked; // the text of its yank; NULL: it is not yanked
	const char *time;   // that of MARK_TIME; NULL: its place keeps `modified`
};

// Puts a served file into the catalog, in one transaction. ERR_DENIED: the name was removed. A removal writes its row
// before it deletes the file, so either this call sees that row, or the removal sees ours. inside: of a wheel; NULL:
// the next scan takes it. past: it is yanked, and came then; NULL: it is new.
int catalog_update_put(const struct platform *p, struct catalog *c, const struct ingest_facts *facts,
	const struct packed_facts *inside, const struct file_past *past, const char *folder,
	const struct place_version *version, struct err *e) MUST_CHECK;
// Puts an attachment of the file into the catalog, in one transaction. NULL: it is gone.
int catalog_update_attach(const struct platform *p, struct catalog *c, const char *folder, const char *filename,
	enum attachment kind, const struct attachment_facts *facts, struct err *e) MUST_CHECK;
// Reads the file, mark or attachment at this served path and updates the catalog. A file that is gone or refused is
// left to the next scan.
int catalog_update_look(const struct platform *p, struct catalog *c, const char *path, struct err *e) MUST_CHECK;
