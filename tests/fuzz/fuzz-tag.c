// SPDX-License-Identifier: Apache-2.0
// Compressed tag sets: each tag occurs once and expands to itself, and no short input expands to much. An input is the
// text between a wheel's version and ".whl", a line end, and its WHEEL, whose tags are these or are reported to differ.
#include "lib/domain/text/filename.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/wheel.h"
#include "tests/fuzz/fuzz.h"

struct expanded_tags {
	char *tag[LIMIT_TAGS];
	size_t count;
};

static void tags_release(struct expanded_tags *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->tag[i]);
}

static int add_tag(void *ctx, struct str tag, struct err *e UNUSED)
{
	struct expanded_tags *t = ctx;
	HOLDS(t->count < LIMIT_TAGS);
	t->tag[t->count++] = xstrndup(tag.ptr, tag.len);
	return 0;
}

static int compare_tags(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool expand(struct str sets, struct expanded_tags *out)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename f = {0};
	CLEANUP(mem_free) char *name = xasprintf("demo-1-" STR_FMT ".whl", STR_ARG(sets));
	if (filename_parse(str_from(name), &f, &e) < 0)
		return false;
	if (filename_tags(&f, add_tag, out, &e) == 0)
		return true;
	HOLDS(e.kind == ERR_LIMIT && out->count == 0);
	return false;
}

static void check_expands_to_itself(const char *tag)
{
	CLEANUP(tags_release) struct expanded_tags one = {.count = 0};
	HOLDS(expand(str_from(tag), &one) && one.count == 1 && strcmp(one.tag[0], tag) == 0);
}

static int check_limits(void *ctx, struct str tag, struct err *e UNUSED)
{
	size_t *count = ctx;
	HOLDS(tag.len <= LIMIT_FILE_NAME + 2 && ++*count <= LIMIT_TAGS);
	return 0;
}

// Any Tag line expands to a limited number of tags of a limited length, or to none.
static void check_lines(struct str wheel)
{
	struct rfc822_field field;
	while (rfc822_fields_next(&wheel, &field)) {
		struct err e = ERR_INIT;
		struct str rest = field.value;
		struct filename sets = {.python = str_cut(&rest, '-')};
		sets.abi = rest.ptr ? str_cut(&rest, '-') : STR("");
		sets.platform = rest.ptr ? rest : STR("");
		size_t count = 0;
		if (filename_tags(&sets, check_limits, &count, &e) < 0)
			HOLDS(e.kind == ERR_LIMIT && count == 0);
	}
}

static bool tags_differ(struct str sets, struct str wheel)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename f = {0};
	CLEANUP(findings_release) struct findings findings;
	CLEANUP(mem_free) char *name = xasprintf("demo-1-" STR_FMT ".whl", STR_ARG(sets));
	findings_init(&findings);
	HOLDS(filename_parse(str_from(name), &f, &e) == 0);
	int result = wheelfile_check(wheel, &f, LENIENT, &findings, &e);
	HOLDS(result == 0 || e.kind == ERR_INVALID);
	HOLDS(findings.count <= 2 && findings.text.len <= LIMIT_FINDINGS);
	return result < 0 || strstr(findings.text.data, "WHEEL: tags");
}

// A WHEEL that lists exactly these tags is accepted; with one more tag it is not.
static void check_wheel(struct str sets, const struct expanded_tags *all)
{
	CLEANUP(buf_release) struct buf wheel;
	buf_init(&wheel, 2 * LIMIT_TAGS * LIMIT_FILE_NAME);
	buf_puts(&wheel, "Wheel-Version: 1.0\n");
	for (size_t i = 0; i < all->count; i++)
		buf_printf(&wheel, "Tag: %s\n", all->tag[i]);
	HOLDS(!tags_differ(sets, buf_view(&wheel)));
	buf_puts(&wheel, "Tag: zz9-none-any\n");
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->tag[i], "zz9-none-any") == 0)
			return;
	HOLDS(tags_differ(sets, buf_view(&wheel)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(tags_release) struct expanded_tags all = {.count = 0};
	struct str wheel = fuzz_text(bytes, size), sets = str_cut(&wheel, '\n');
	check_lines(wheel);
	if (!expand(sets, &all))
		return 0;
	HOLDS(all.count > 0);
	check_expands_to_itself(all.tag[0]);
	check_expands_to_itself(all.tag[all.count - 1]);
	check_wheel(sets, &all);
	if (wheel.len)
		tags_differ(sets, wheel);
	qsort(all.tag, all.count, sizeof(all.tag[0]), compare_tags);
	for (size_t i = 1; i < all.count; i++)
		HOLDS(strcmp(all.tag[i - 1], all.tag[i]) < 0);
	return 0;
}
