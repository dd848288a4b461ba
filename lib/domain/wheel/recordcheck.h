// SPDX-License-Identifier: Apache-2.0
// Compares RECORD with the members of its wheel. A pure function; any thread.
#pragma once

#include "lib/domain/archive/member-hashes.h"
#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/text/findings.h"

// record is the member RECORD, text its content. Each file except RECORD and its signatures must be listed once, with
// its size and a well-formed hash. A fault is ERR_INVALID under STRICT and a finding under LENIENT. If contents is not
// NULL, the hashes are compared with it.
int recordcheck(struct str text, const struct zipmember *record, const struct zipdirectory *zip,
	const struct member_hashes *contents, enum strictness strictness, struct findings *findings,
	struct err *e) MUST_CHECK;
