// SPDX-License-Identifier: Apache-2.0
// Whether an uploaded file is accepted if upstream has it too: [upload] covered. Decides by the catalog alone, without
// a request to upstream. In doubt the file is accepted. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/store.h"

struct advisories;
struct upload_policy;

// *out is NULL if every file is accepted. Borrows nothing. ERR_USAGE, ERR_IO: the lists of packages.
int upload_policy_new(const struct config *c, struct upload_policy **out, struct err *e) MUST_CHECK;
void upload_policy_free(struct upload_policy *a); // NULL is fine
// As upstreams_use_lists(). a NULL is fine.
void upload_policy_use_lists(struct upload_policy *a, struct advisories *lists);
// ERR_DENIED: upstream has the file, or files that replace it on every machine of the platform, and it is on no list of
// files to keep. A name that is ours ([upstream] private, local-only, shared; lib/state/upstream/name-owner.h) and a
// private platform accept every file. a NULL: accepts every file. now: seconds since 1970.
int upload_policy_check(const struct upload_policy *a, struct catalog *c, const struct platform *p,
	const struct ingest_facts *file, int64_t now, struct err *e) MUST_CHECK;
