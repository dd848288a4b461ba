// SPDX-License-Identifier: Apache-2.0
// [view NAME] on-change: the command that learns that tests of a kind which the view requires begin to fail, or succeed
// again. What changes is a platform, Python and project in a view: the state before is what the newest earlier record of
// that kind says, about any wheel of the project; without one, only a failure is a change. One thread at a time for each
// catalog connection.
//
// The facts are in the environment of the command: WHEELCACHE_CHANGE ("red" or "green"), _VIEW, _KIND, _PLATFORM,
// _PYTHON, _PROJECT, _VERSION, _PASSED, _FAILED, _SKIPPED, _EVIDENCE (the id of the record) and _BY (who sent it).
#pragma once

#include "lib/domain/promotion/evidence.h"
#include "lib/os/hook-queue.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "lib/state/config/config.h"

// To be called once for each record that is new, after it was noted. Adds the commands to the queue. An override changes
// nothing. The catalog's errors.
int view_change_tell(const struct config *config, struct catalog *c, const struct evidence *r,
	const struct catalog_evidence *note, struct hook_queue *queue, struct err *e) MUST_CHECK;
