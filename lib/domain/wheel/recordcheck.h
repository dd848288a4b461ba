// SPDX-License-Identifier: Apache-2.0
// RECORD held against the members of its wheel. Pure; thread-safe.
#pragma once

#include "lib/domain/archive/member-hashes.h"
#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/text/findings.h"

// record is RECORD's own member, text what it holds. Each file must be listed once, with its size
// and a good hash; RECORD itself and its signatures need not be. What is wrong is ERR_INVALID under
// STRICT, a finding under LENIENT. contents may be NULL: hashes are only looked at then.
int recordcheck(struct str text, const struct zipmember *record, const struct zipdirectory *zip,
	const struct member_hashes *contents, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
