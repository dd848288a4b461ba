// SPDX-License-Identifier: Apache-2.0
#include "server/core/named.h"

#include "lib/base/mem.h"
#include "server/core/auth.h"

void named_find(struct server_context *s, const struct request *r, const struct platform *const *platform,
	size_t platforms, const char *project, struct named *out)
{
	CLEANUP(token_grant_release) struct token_grant grant = {0};
	*out = (struct named){.platform = xcalloc(platforms + 1, sizeof(const struct platform *))};
	if (r->header[HEADER_AUTHORIZATION])
		auth_read_grant(s, r, &grant);
	for (size_t i = 0; i < platforms; i++)
		if (token_grant_reads(&grant, platform[i]->name, project))
			out->platform[out->platforms++] = platform[i];
}

void named_release(struct named *n)
{
	mem_free(&n->platform);
	n->platforms = 0;
}

bool named_has(const struct named *n, const struct platform *p)
{
	for (size_t i = 0; i < n->platforms; i++)
		if (n->platform[i] == p)
			return true;
	return false;
}

bool named_has_view(const struct named *n, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!named_has(n, v->platform[i]))
			return false;
	return v->platform_count > 0;
}
