// SPDX-License-Identifier: Apache-2.0
// The folders that the server and its commands write to, for `wheelcache doctor`. A value that owns its strings. One
// thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/doctor/doctor-report.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

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
// Adds the folder of a platform that answers.
void doctor_writes_platform(struct doctor_writes *w, const struct platform *p);
// Adds the folders of the catalog and of all else that the configuration lets the server write, each once.
void doctor_writes_state(struct doctor_writes *w, const struct config *c, const char *catalog_path);
// Adds a row for each folder that this account cannot write to.
void doctor_writes_report(const struct doctor_writes *w, struct doctor_report *r);
