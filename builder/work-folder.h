// SPDX-License-Identifier: Apache-2.0
// The folder for work under way, one for each platform, which one builder at a time uses; and what a builder that was
// killed left: its folders are removed, and its running attempts become interrupted ones. One thread at a time.
#pragma once

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "lib/state/results/results.h"

struct work_folder {
	char *path;
	int lock;
};

// Creates and locks it. results: the path of the file of results, beside which it is by default. ERR_BUSY: another
// builder has it. The caller releases *out if this returns 0.
int work_folder_open(const struct config *c, const char *results, const char *platform, struct work_folder *out,
	struct err *e) MUST_CHECK;
void work_folder_release(struct work_folder *w);
// Ends the running attempts of builders of this host that live no more, with the log as far as it was written, and
// empties the folder.
int work_folder_recover(const struct work_folder *w, struct results *results, const struct config *c, const char *host,
	struct err *e) MUST_CHECK;
// The provenance of a running attempt, by which work_folder_recover finds out whether its builder lives. A JSON object;
// the caller frees it.
char *work_folder_provenance(const struct work_folder *w);
