// SPDX-License-Identifier: Apache-2.0
// Who may see who: of which platforms an answer shows the names of people and tokens, and their addresses. Of those that
// a token of the asker may read; without a token of none, also where everybody may read the files. Every page asks this,
// and its key has the answer. One thread at a time.
#pragma once

#include "lib/state/access/tokens.h"
#include "server/core/server-context.h"

struct named {
	const struct platform **platform; // owned; they are the site's
	size_t platforms;
};

// Among these platforms. project: in normal form; NULL: the names stand beside files of any project. The caller releases
// *out.
void named_find(struct server_context *s, const struct request *r, const struct platform *const *platform,
	size_t platforms, const char *project, struct named *out);
void named_release(struct named *n); // for CLEANUP
bool named_has(const struct named *n, const struct platform *p);
// All platforms of a view that has some: for what is said of the view itself.
bool named_has_view(const struct named *n, const struct view *v);
