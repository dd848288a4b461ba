// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/name-rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"

const char *const name_rule_text[NAME_RULE_COUNT] = {
	[NAME_RULE_MERGE] = "merge",
	[NAME_RULE_PRIVATE] = "private",
	[NAME_RULE_LOCAL] = "local-only",
	[NAME_RULE_UPSTREAM] = "upstream-only",
	[NAME_RULE_SHARED] = "shared",
};

// Normalises "Foo_Bar-*" like a project name; the special characters of a glob stay.
static char *normalized(const char *names)
{
	struct buf out;
	if (!names)
		return NULL;
	buf_init(&out, LIMIT_CONFIG);
	name_normalize(str_from(names), &out);
	return buf_steal(&out);
}

void name_rules_init(struct name_rules *r, const struct config *c)
{
	const char *const names[NAME_RULE_COUNT] = {
		[NAME_RULE_PRIVATE] = c->upstream_private,
		[NAME_RULE_LOCAL] = c->upstream_local_only,
		[NAME_RULE_UPSTREAM] = c->upstream_upstream_only,
		[NAME_RULE_SHARED] = c->upstream_shared,
	};
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		r->names[i] = normalized(names[i]);
}

void name_rules_release(struct name_rules *r)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		free(r->names[i]);
	*r = (struct name_rules){0};
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

enum name_rule name_rules_find(const struct name_rules *r, const char *project)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		if (r->names[i] && has(r->names[i], project))
			return (enum name_rule)i;
	return NAME_RULE_MERGE;
}

bool name_rule_asks_upstream(enum name_rule rule)
{
	return rule != NAME_RULE_PRIVATE && rule != NAME_RULE_LOCAL;
}
