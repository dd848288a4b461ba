// SPDX-License-Identifier: Apache-2.0
// Whether a new file is wanted that upstream has too: [upload] covered. By what the catalog knows of upstream; nobody
// is asked. Doubt means that it is.
#pragma once

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/store.h"

struct upload_policy;

// NULL where everything is wanted. Borrows nothing.
int upload_policy_new(const struct config *c, struct upload_policy **out, struct err *e) MUST_CHECK;
void upload_policy_free(struct upload_policy *a); // NULL is fine
// ERR_DENIED where upstream has it, or has what does the same on every machine of the platform, and it is on no list of
// what stays anyway. Whose the name is ([upstream] private, local-only, shared; lib/state/upstream/name-owner.h) is
// obeyed, and a private platform takes all: what upstream has under the name is no business of theirs. Any number of
// threads; a NULL takes all.
int upload_policy_check(const struct upload_policy *a, struct catalog *c, const struct platform *p,
	const struct ingest_facts *file, int64_t now, struct err *e) MUST_CHECK;
