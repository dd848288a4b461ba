// SPDX-License-Identifier: Apache-2.0
// Projects that are met while requirements are followed (lib/install/closure.h): the files of ours and of upstream that
// clients of the platforms get, and what the METADATA of a file says. Whoever asks for what is not known yet notes it;
// known_projects_get() gets all of it, many at once. METADATA comes from the catalog, the cache of upstream's files, or
// upstream (PEP 658); of a file without it, and of an sdist, the file is downloaded. One thread.
#pragma once

#include "builder/missing/missing.h"
#include "lib/install/closure.h"
#include "lib/state/upstream/upstream.h"

struct rule_list;

struct known_order {
	const struct config *config;
	const struct store *store;
	struct catalog *catalog;
	struct upstreams *upstreams;
	struct fits *fits;                     // all its places are there
	const struct rule_list *denied;        // [server] deny
	const struct missing_options *options; // is_offline, view and the progress
};

struct known_projects;
// Borrows what the order points to.
struct known_projects *known_projects_new(const struct known_order *order);
void known_projects_free(struct known_projects *k); // NULL is fine

// For struct closure_order, with k as ctx. NULL: it is noted. The files are those that install in one of the places, or
// sdists.
struct index_files *known_projects_files(void *k, const char *project);
const struct closure_metadata *known_projects_metadata(void *k, struct index_files *of, const struct index_file *file);
// The same, without downloading a whole file. NULL: it is noted, or cannot be known so.
const struct closure_metadata *known_projects_glance(struct known_projects *k, struct index_files *of,
	const struct index_file *file);
// Why upstream has nothing of a project that is known: "upstream: 404"; "": it has it, or is not asked for it.
const char *known_projects_says(struct known_projects *k, const char *project);
// Whether it could tell what it has.
bool known_projects_is_certain(struct known_projects *k, const char *project);
// Gets what was noted. Afterwards all of it is known: of what could not be got METADATA has its fault, and a project no
// file of upstream. ERR_LIMIT: LIMIT_SIMPLEPAGE_TEXT, of all projects together. Errors of upstream.h.
int known_projects_get(struct known_projects *k, struct err *e) MUST_CHECK;
