// SPDX-License-Identifier: Apache-2.0
// What a platform's machines are: their architecture, their libc, and an environment for each of
// their Pythons. Built in for the usual names (ubuntu-22.04-x86_64), and as configured. Pure; read
// by any number of threads.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/text/filename.h"

// [platform] keys; NULL: as built in.
struct profile_keys {
	const char *pythons; // "3.10 3.11 3.13t pp311"
	const char *arch;    // "x86_64"
	const char *libc;    // "glibc 2.35"
};

struct profile {
	struct machine machine;
	struct environment *environment; // in the order of the key
	size_t environment_count;        // 0: nothing is known of this platform
};

// Of the platform of this name. Nothing is known where no key is given and nothing built in.
// ERR_INVALID names the key that is wrong, or that is needed beside those that are given. To be
// released if it returns 0.
int profile_init(struct profile *p, const char *name, const struct profile_keys *keys, struct err *e) MUST_CHECK;
void profile_release(struct profile *p);
// "Python 3.10 3.11 on x86_64 with glibc 2.35"
void profile_describe(const struct profile *p, struct buf *out);
// Whether at least one of the platform's environments installs this file by its tags: always for an
// sdist, and where nothing is known. If not, *why says so: ERR_INVALID, or ERR_LIMIT for a wheel
// with too many tags. Else *why is not touched.
bool profile_admits(const struct profile *p, const struct filename *file, struct err *why);
