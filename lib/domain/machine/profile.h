// SPDX-License-Identifier: Apache-2.0
// The profile of a platform: the architecture and libc of its machines, and an environment for each of their Pythons.
// The usual platform names (ubuntu-22.04-x86_64) have built-in defaults, which the configuration overrides. Pure
// functions; any thread may read a profile.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/text/filename.h"

// The keys of a [platform] section. NULL: the built-in default. Borrowed.
struct profile_keys {
	const char *pythons; // "3.10 3.11 3.13t pp311"
	const char *arch;    // "x86_64"
	const char *libc;    // "glibc 2.35"
};

struct profile {
	struct machine machine;
	struct environment *environment; // in the order of the key "pythons"
	size_t environment_count;        // 0: the platform is unknown
};

// Makes the profile of the platform of this name. A platform without keys and without defaults is unknown, which is no
// error. ERR_INVALID names the key that is wrong or missing. On success the caller releases the profile.
int profile_init(struct profile *p, const char *name, const struct profile_keys *keys, struct err *e) MUST_CHECK;
void profile_release(struct profile *p);
// Appends a description of a known platform: "Python 3.10 3.11 on x86_64 with glibc 2.35".
void profile_describe(const struct profile *p, struct buf *out);
// Whether the platform tags of the file fit the machines of the platform, whatever their Pythons. As profile_admits().
bool profile_fits_machine(const struct profile *p, const struct filename *file, struct err *why);
// Whether the tags of the file fit at least one environment of the platform. Always true for sdists and for unknown
// platforms. If false, *why has the reason: ERR_INVALID, or ERR_LIMIT for a wheel with too many tags. If true, *why is
// not touched.
bool profile_admits(const struct profile *p, const struct filename *file, struct err *why);
