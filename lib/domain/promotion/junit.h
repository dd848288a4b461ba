// SPDX-License-Identifier: Apache-2.0
// Reads a JUnit XML report, as pytest, tox, Bazel, gtest and Maven write it, and counts its test cases. The attributes
// tests, failures, … of a suite are not believed: some writers leave them out, and a cut report still has them. Pure
// functions; any thread.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

// A test that failed. Strings are the report's: at most LIMIT_JUNIT_NAME bytes, one line, without control characters.
struct junit_failure {
	const char *name;    // "package.Class::test", or the name alone
	const char *message; // ""; what the report says in a line
};

// Owns what it points to. Each test case counts once: as failed if it has an error or a failure, else as skipped if it
// has <skipped> (pytest's xfail too) or was not run, else as passed. A test case of that name that comes twice counts
// twice, as in pytest's report of a test whose teardown fails, too. An error of a whole suite counts as failed.
struct junit {
	uint64_t passed, failed, skipped;
	struct junit_failure *failure; // the first LIMIT_JUNIT_FAILURES
	size_t failures;
	struct arena text;
};

// ERR_INVALID: no report, or one that is damaged, cut, or has a DTD; ERR_LIMIT: larger than LIMIT_JUNIT, or nested too
// deep. A report without tests is read. The caller releases *out if this returns 0.
int junit_read(struct str xml, struct junit *out, struct err *e) MUST_CHECK;
void junit_release(struct junit *j); // for CLEANUP
