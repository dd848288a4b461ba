// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor` says of the folders: of each platform, of the catalog and what is beside it, and of those
// that the server and its commands write. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/doctor/doctor-report.h"
#include "lib/state/config/config.h"

// A value that owns its strings.
struct doctor_write {
	char *what;     // "platform deb12"
	char *folder;   // without links; of one that the server makes, the nearest folder above it that is there
	bool is_needed; // the server cannot work without it; otherwise it only serves
};

struct doctor_writes {
	struct doctor_write *item;
	size_t count;
};

void doctor_writes_release(struct doctor_writes *w); // for CLEANUP
// Adds a row for each folder that this account cannot write to.
void doctor_writes_report(const struct doctor_writes *w, struct doctor_report *r);
// Folders and free room of each platform; a folder that hangs is a row. Errors become rows. Adds where platforms are
// written.
void doctor_store(struct doctor_report *r, const struct config *c, const char *catalog_path,
	struct doctor_writes *writes);
// The catalog, the tokens, the audit log. Adds where state is written.
void doctor_state(struct doctor_report *r, const struct config *c, const char *catalog_path,
	struct doctor_writes *writes);
