// SPDX-License-Identifier: Apache-2.0
// The part of views-sync for evidence. A record whose file is gone is forgotten, as long as the folder of all evidence
// is there. One thread at a time for each catalog connection.
#pragma once

#include "lib/state/catalog/catalog.h"
#include "lib/state/views/views-report.h"

int evidence_sync(const char *folder, struct catalog *c, views_sync_damage_fn *fn, void *ctx,
	struct views_sync_counts *counts, struct err *e) MUST_CHECK;
