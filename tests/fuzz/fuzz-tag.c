// SPDX-License-Identifier: Apache-2.0
// Compressed tag sets: every tag once, and each expands to itself. An input is what stands between
// a wheel's version and ".whl".
#include "lib/domain/tag.h"

#include <string.h>

#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

struct tags {
	char *tag[LIMIT_TAGS];
	size_t count;
};

static void tags_release(struct tags *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->tag[i]);
}

static int add(void *ctx, struct str tag, struct err *e UNUSED)
{
	struct tags *t = ctx;
	HOLDS(t->count < LIMIT_TAGS);
	t->tag[t->count++] = xstrndup(tag.ptr, tag.len);
	return 0;
}

static int in_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool expand(struct str sets, struct tags *out)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename f = {0};
	CLEANUP(mem_free) char *name = xasprintf("demo-1-" STR_FMT ".whl", STR_ARG(sets));
	if (filename_parse(str_from(name), &f, &e) < 0)
		return false;
	if (tag_foreach(&f, add, out, &e) == 0)
		return true;
	HOLDS(e.kind == ERR_LIMIT && out->count == 0);
	return false;
}

static void is_itself(const char *tag)
{
	CLEANUP(tags_release) struct tags one = {.count = 0};
	HOLDS(expand(str_from(tag), &one) && one.count == 1 && strcmp(one.tag[0], tag) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(tags_release) struct tags all = {.count = 0};
	if (!expand(fuzz_text(bytes, size), &all))
		return 0;
	HOLDS(all.count > 0);
	is_itself(all.tag[0]);
	is_itself(all.tag[all.count - 1]);
	qsort(all.tag, all.count, sizeof(all.tag[0]), in_order);
	for (size_t i = 1; i < all.count; i++)
		HOLDS(strcmp(all.tag[i - 1], all.tag[i]) < 0);
	return 0;
}
