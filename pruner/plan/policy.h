// SPDX-License-Identifier: Apache-2.0
// What the operator says of pruning, as decisions need it: [prune] of the configuration, the lists that it names, and
// which of the optional classes may go. A plain value, read once; then read by any number of threads.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"
#include "lib/domain/text/requirement.h"
#include "lib/format/digest.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

// What goes only where it is asked for: --pure --off-list --unusable --corrupt; and what upstream's files replace of a project
// that may be another one there, --name-taken-over.
struct policy_takes {
	bool pure, off_list, unusable, corrupt, taken_over;
};
enum { POLICY_CLASSES = 4, POLICY_OPTIONS };
extern const char *const policy_class
	[POLICY_OPTIONS]; // "pure", "off-list", …: as options, plans and, but for the last, verdicts name them
// Where takes says whether a class of this name goes; NULL: there is no such class.
bool *policy_takes_class(struct policy_takes *takes, const char *name);

struct policy {
	struct policy_takes takes;
	int64_t min_age, upstream_min_age; // seconds
	int64_t downloaded;                // seconds: what was downloaded within stays; 0: that decides nothing
	bool has_packages;                 // there is a list of packages
	struct requirements packages, pins;
	// Of all that decides: the values above, the bytes of the lists, each platform's name and profile, the upstream.
	char hash[SHA256_HEX + 1];
};

// ERR_USAGE where a list has a line that is no requirement, or off_list is taken and there is no list of packages;
// ERR_NOT_FOUND or ERR_IO where a list cannot be read. To be released if it returns 0.
int policy_init(struct policy *p, const struct config *c, const struct store *s, const struct policy_takes *takes,
	struct err *e) MUST_CHECK;
void policy_release(struct policy *p);

struct downloads; // lib/state/access/downloads.h
// What servers counted, if that decides anything. *out is NULL where it does not, or nobody counted (which is logged): then
// every file counts as downloaded. To be closed by the caller.
int policy_open_downloads(const struct policy *p, const char *catalog_path, struct downloads **out,
	struct err *e) MUST_CHECK;
// Whether it was downloaded lately, or nobody can tell; false where that decides nothing.
bool policy_was_downloaded(const struct policy *p, const struct downloads *d, const char *platform,
	const char *filename, int64_t now);
