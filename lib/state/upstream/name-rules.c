// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/name-rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"

const char *const rule_name[RULE_COUNT] = {
	[RULE_MERGE] = "merge",
	[RULE_PRIVATE] = "private",
	[RULE_LOCAL] = "local-only",
	[RULE_UPSTREAM] = "upstream-only",
	[RULE_SHARED] = "shared",
};

// "Foo_Bar-*" as projects are called. A glob's own characters stay.
static char *normalized(const char *names)
{
	struct buf out;
	if (!names)
		return NULL;
	buf_init(&out, LIMIT_CONFIG);
	name_normalize(str_from(names), &out);
	return buf_steal(&out);
}

void rules_init(struct rules *r, const struct config *c)
{
	const char *const names[RULE_COUNT] = {
		[RULE_PRIVATE] = c->upstream_private,
		[RULE_LOCAL] = c->upstream_local_only,
		[RULE_UPSTREAM] = c->upstream_upstream_only,
		[RULE_SHARED] = c->upstream_shared,
	};
	for (int i = 0; i < RULE_COUNT; i++)
		r->names[i] = normalized(names[i]);
}

void rules_release(struct rules *r)
{
	for (int i = 0; i < RULE_COUNT; i++)
		free(r->names[i]);
	*r = (struct rules){0};
}

static bool has(const char *names, const char *project)
{
	struct str rest = str_from(names);
	while (rest.len) {
		char glob[LIMIT_FILE_NAME + 1];
		struct str one = str_cut(&rest, ' ');
		if (one.len >= sizeof(glob))
			continue;
		memcpy(glob, one.ptr, one.len);
		glob[one.len] = '\0';
		if (fnmatch(glob, project, 0) == 0)
			return true;
	}
	return false;
}

enum rule rules_find(const struct rules *r, const char *project)
{
	for (int i = 0; i < RULE_COUNT; i++)
		if (r->names[i] && has(r->names[i], project))
			return (enum rule)i;
	return RULE_MERGE;
}

bool rule_asks(enum rule rule)
{
	return rule != RULE_PRIVATE && rule != RULE_LOCAL;
}
