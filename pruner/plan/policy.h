// SPDX-License-Identifier: Apache-2.0
// The operator's policy for pruning: [prune] of the configuration, the lists that it names, and the optional classes to
// remove. A plain value: one thread reads it, then any thread may use it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/text/requirement.h"
#include "lib/format/digest.h"
#include "builder/missing/branch.h"
#include "builder/missing/kept-locks.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

// The classes of files that are removed only on request: --pure --off-list --unusable --corrupt, and --name-taken-over
// for files of a project that may be another one at upstream.
struct policy_takes {
	bool pure, off_list, unusable, corrupt, taken_over;
};
enum { POLICY_CLASSES = 4, POLICY_OPTIONS };
extern const char *const policy_class
	[POLICY_OPTIONS]; // "pure", "off-list", …: as options, plans and, but for the last, verdicts name them
// The member of takes for a class name; NULL: there is no such class.
bool *policy_takes_class(struct policy_takes *takes, const char *name);

struct policy {
	struct policy_takes takes;
	int64_t min_age, upstream_min_age; // seconds
	int64_t downloaded;                // seconds: files downloaded within them are kept; 0: downloads do not matter
	bool has_packages;                 // a list of packages is configured
	struct requirements packages, pins;
	struct kept_locks locks;
	struct branches branches; // those of the configuration; off-list keeps what one that is not over wants
	// SHA-256 of all that decides: the values above, the bytes of the lists, what the locks name, each platform's
	// name and profile, and the upstream configuration. In hex. Not what comes from outside, which each file is
	// judged by again: pages of upstream, and records of block lists, of which hundreds come each day and few are
	// about files of ours.
	char hash[SHA256_HEX + 1];
};

// ERR_USAGE where a list or a file of a branch has an invalid line, a constraints file pins nothing, or off_list is set
// without a list of packages; ERR_NOT_FOUND or ERR_IO where a list cannot be read; the errors of kept_locks_read(). To
// be released if it returns 0.
int policy_init(struct policy *p, const struct config *c, const struct store *s, const struct policy_takes *takes,
	struct err *e) MUST_CHECK;
void policy_release(struct policy *p);

struct downloads; // lib/state/access/downloads.h
// Opens the servers' download counts, if the policy uses them. *out is NULL where it does not, or where there are none,
// which is logged: every file counts as downloaded then. The caller closes *out.
int policy_open_downloads(const struct policy *p, const struct config *c, const char *catalog_path,
	struct downloads **out, struct err *e) MUST_CHECK;
// Whether the file was downloaded within p->downloaded, or that is unknown; false where the policy does not use
// downloads.
bool policy_was_downloaded(const struct policy *p, const struct downloads *d, const char *platform,
	const char *filename, int64_t now);
