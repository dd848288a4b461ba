// SPDX-License-Identifier: Apache-2.0
// Why a file that was a member of a view does not come back by a promotion of everything: what a person or the rules
// took out stays out until its version or the file is named. One thread at a time for each catalog connection.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/catalog/catalog-view.h"

// For a file that is no member now. 1: it left by a demotion, a rollback or retention, and the sentence is appended to
// out; 0: it never was a member, or a prune was at work at the moment of its promotion.
int left_reason(struct catalog *c, const char *view, int64_t platform, const char *filename,
	const uint8_t sha256[SHA256_SIZE], struct buf *out, struct err *e) MUST_CHECK;
