// SPDX-License-Identifier: Apache-2.0
// Makes the record of a test run (lib/domain/promotion/evidence.h) from reports in JUnit XML and the wheels that were
// tested. It needs no store and no configuration: it runs on the machine where the tests ran. One thread at a time.
#pragma once

#include "lib/base/arena.h"
#include "lib/domain/promotion/evidence.h"

struct evidence_make {
	const char *kind, *platform, *python;
	const char *const *junit, *const *wheel; // paths
	size_t junits, wheels;
	const struct evidence_wheel *named; // further wheels, which are not here
	size_t nameds;
	bool takes_older; // reports that are older than a wheel
};

// The digest of a wheel's contents and the commit that the statement of provenance beside it names are taken along,
// where there are such.
// The reports add up. The record is as old as the oldest of them. ERR_USAGE: kind, platform or Python is none, a wheel
// is not named like one, or two with other bytes have one name. ERR_NOT_FOUND, ERR_IO, ERR_LIMIT: a file. ERR_INVALID:
// a report that is empty, cut, or has no tests, or that is older than a wheel, and so is a report about another one.
// The caller releases *out if this returns 0.
int evidence_make(const struct evidence_make *from, struct evidence *out, struct err *e) MUST_CHECK;

// Names and hashes of wheels that are not here, for `evidence make --wheels-from`.
struct named_wheels {
	struct evidence_wheel *item;
	size_t count, room;
	struct arena *text; // the caller's, for all that is read
};
// Adds the wheels of a list, and leaves out what is no wheel: the report of pip install --report, a page of a project
// (PEP 691) whose wheels are of one version, or lines as of sha256sum. from is for messages. ERR_INVALID: it is none of
// these, a wheel has no hash, or a page has several versions; ERR_LIMIT: more than LIMIT_EVIDENCE_WHEELS.
int named_wheels_read(struct named_wheels *n, const char *from, struct str text, struct err *e) MUST_CHECK;
