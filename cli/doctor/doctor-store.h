// SPDX-License-Identifier: Apache-2.0
// What `wheelcache doctor` says of the folders: of each platform, and of the catalog and what is beside it. One thread.
#pragma once

#include "cli/doctor/doctor-report.h"
#include "cli/doctor/doctor-writes.h"
#include "lib/state/config/config.h"

// Folders and free room of each platform; a folder that hangs is a row. Errors become rows. Adds where platforms are
// written.
void doctor_store(struct doctor_report *r, const struct config *c, const char *catalog_path,
	struct doctor_writes *writes);
// The catalog, the tokens, the audit log. Adds where state is written.
void doctor_state(struct doctor_report *r, const struct config *c, const char *catalog_path,
	struct doctor_writes *writes);
