// SPDX-License-Identifier: Apache-2.0
// What a client may read, and whose names it may see: the token is looked up once for a request. One thread at a time.
#pragma once

#include "lib/state/access/tokens.h"
#include "lib/view/view.h"

struct owned_names;
struct project_entry;
struct server_context;
struct request;

struct readable {
	const struct site *site;
	struct token_grant grant; // what the request's token may read
	bool *is_readable;        // by site->store.platform: the client may read it, or some projects on it
	size_t *of_id;            // by the catalog's id of a platform: its index + 1; 0: the site has none
	size_t ids;
	bool has_private; // a private platform is readable: the answer is for this client alone
};

// The caller releases *out. site and the request's token as they are now.
void readable_init(struct readable *out, struct server_context *s, const struct request *r, const struct site *site);
// What everybody may read.
void readable_init_public(struct readable *out, const struct site *site);
void readable_release(struct readable *r); // for CLEANUP
// The platform with this id in the catalog, if the client may read the project on it; NULL.
const struct platform *readable_platform(const struct readable *r, int64_t id, const char *project);
// The same for a platform of the site.
bool readable_has(const struct readable *r, const struct platform *p, const char *project);
// Whether the client may read the project on a platform that has files of it.
bool readable_has_project(const struct readable *r, const struct project_entry *p);
// Whether the client may read all that a view has, of all projects or of this one.
bool readable_has_view(const struct readable *r, const struct view *v, const char *project);
// The platforms on which the client may read the project; NULL: the list of all projects. The caller frees the array.
const struct platform **readable_list(const struct readable *r, const char *project, size_t *count);
// Whether an answer shows the client the names of people and tokens, and their addresses, of a platform: of those that
// its token may read; without a token of none, also where everybody may read the files.
bool readable_names(const struct readable *r, const struct platform *p, const char *project);
// Leaves out the private platforms of which the client may not read the list of all projects.
void readable_keep_whole(struct readable *r);
// Which upstreams are merged by views of which the client may read all, or all of this project: bits by number.
uint32_t readable_upstreams(const struct readable *r, const char *project);
// From which of these the client gets files of the project, by the rules for names. ours: names that are not merged;
// NULL: there are none.
uint32_t readable_merged(const struct readable *r, struct owned_names *ours, const char *project);
