// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/tag.h"

#include <stdbool.h>

#include "lib/base/limits.h"
#include "lib/base/mem.h"

// The members of a compressed set such as "py2.py3". No file name has room for more.
struct tag_set {
	struct str member[LIMIT_FILE_NAME / 2 + 1];
	size_t count;
};

static bool tag_set_has(const struct tag_set *set, struct str member)
{
	for (size_t i = 0; i < set->count; i++)
		if (str_eq_nocase(set->member[i], member))
			return true;
	return false;
}

static int tag_set_parse(struct str text, struct tag_set *set, struct err *e)
{
	set->count = 0;
	while (text.ptr) {
		struct str member = str_cut(&text, '.');
		if (tag_set_has(set, member))
			continue;
		if (set->count == ARRAY_SIZE(set->member))
			return err_set(e, ERR_LIMIT, "more than %zu tags in one set", ARRAY_SIZE(set->member));
		set->member[set->count++] = member;
	}
	return 0;
}

// Returns the end of the written text.
static char *put_lower(char *at, struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		*at++ = ascii_lower(s.ptr[i]);
	return at;
}

static int call_with_tag(struct str python, struct str abi, struct str platform, tag_fn *fn, void *ctx, struct err *e)
{
	size_t len = python.len + abi.len + platform.len + 2;
	CLEANUP(mem_free) char *tag = xmalloc(len + 1);
	char *at = put_lower(tag, python);
	*at++ = '-';
	at = put_lower(at, abi);
	*at++ = '-';
	*put_lower(at, platform) = '\0';
	return fn(ctx, (struct str){tag, len}, e);
}

int tag_foreach(const struct filename *wheel, tag_fn *fn, void *ctx, struct err *e)
{
	struct tag_set python, abi, platform;
	if (wheel->python.len + wheel->abi.len + wheel->platform.len > LIMIT_FILE_NAME)
		return err_set(e, ERR_LIMIT, "tags longer than any file name");
	if (tag_set_parse(wheel->python, &python, e) < 0 || tag_set_parse(wheel->abi, &abi, e) < 0 ||
		tag_set_parse(wheel->platform, &platform, e) < 0)
		return -1;
	size_t count = python.count * abi.count * platform.count;
	if (count > LIMIT_TAGS)
		return err_set(e, ERR_LIMIT, "%zu tags, more than %d", count, LIMIT_TAGS);
	for (size_t i = 0; i < python.count; i++)
		for (size_t j = 0; j < abi.count; j++)
			for (size_t k = 0; k < platform.count; k++)
				if (call_with_tag(python.member[i], abi.member[j], platform.member[k], fn, ctx, e) < 0)
					return -1;
	return 0;
}
