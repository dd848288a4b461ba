// SPDX-License-Identifier: Apache-2.0
// Names and hashes of wheels that are not here, for `evidence make --wheels-from`. Pure; one thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/domain/promotion/evidence.h"

struct named_wheels {
	struct evidence_wheel *item;
	size_t count, room;
	struct arena text; // of their names
};

void named_wheels_release(struct named_wheels *n); // for CLEANUP
// Adds the wheels of a list, and leaves out what is no wheel: the report of pip install --report, a page of a project
// (PEP 691) whose wheels are of one version, or lines as of sha256sum. from is for messages. ERR_INVALID: it is none of
// these, a wheel has no hash, or a page has several versions; ERR_LIMIT: more than LIMIT_EVIDENCE_WHEELS.
int named_wheels_read(struct named_wheels *n, const char *from, struct str text, struct err *e) MUST_CHECK;
