// SPDX-License-Identifier: Apache-2.0
#include "server/pages/docs-text.h"

#include "lib/base/mem.h"

const struct docs_page docs_page[] = {
#include "server/pages/docs-pages.inc"
};
const size_t docs_page_count = ARRAY_SIZE(docs_page);

const struct docs_page *docs_page_named(struct str name)
{
	for (size_t i = 0; i < docs_page_count; i++)
		if (str_eq(name, str_from(docs_page[i].name)))
			return &docs_page[i];
	return NULL;
}

// On a forge README.md is one folder above the others.
struct str docs_page_link(struct str target)
{
	static const struct str folder[] = {STR("docs/"), STR("../")};
	for (size_t i = 0; i < ARRAY_SIZE(folder); i++)
		if (str_starts(target, folder[i]))
			target = str_slice(target, folder[i].len, target.len);
	struct str rest = target;
	return docs_page_named(str_cut(&rest, '#')) ? target : STR("");
}
