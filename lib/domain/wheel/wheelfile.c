// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/wheelfile.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/text/tag.h"

// Expanded tags, lower case; owned.
struct taglist {
	char **tags;
	size_t count, room;
};

static void taglist_release(struct taglist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->tags[i]);
	free(list->tags);
}

static int taglist_add(void *ctx, struct str tag, struct err *e)
{
	struct taglist *list = ctx;
	if (list->count == LIMIT_TAGS)
		return err_set(e, ERR_LIMIT, "more than %d tags", LIMIT_TAGS);
	GROW(list->tags, list->count, list->room);
	list->tags[list->count++] = xstrndup(tag.ptr, tag.len);
	return 0;
}

// Adds the tags of one "Tag: python-abi-platform" line. Its parts may be compressed sets, as in a file name.
static int taglist_add_line(struct taglist *list, struct str value, struct err *e)
{
	struct filename parts = {0};
	struct str rest = str_trim(value);
	parts.python = str_cut(&rest, '-');
	parts.abi = rest.ptr ? str_cut(&rest, '-') : STR("");
	parts.platform = rest.ptr ? rest : STR("");
	return tag_foreach(&parts, taglist_add, list, e);
}

static int compare_tags(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;
	return str_cmp(str_from(*left), str_from(*right));
}

// Sorts the tags and removes duplicates.
static void taglist_tidy(struct taglist *list)
{
	size_t kept = 0;
	if (list->count)
		qsort(list->tags, list->count, sizeof(*list->tags), compare_tags);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && compare_tags(&list->tags[kept - 1], &list->tags[i]) == 0)
			free(list->tags[i]);
		else
			list->tags[kept++] = list->tags[i];
	}
	list->count = kept;
}

// Whether the Tag lines expand to exactly the tags of the file name. Lines that expand to too many tags do not, because
// a file name is short.
static bool tags_agree(struct str text, struct taglist *ours)
{
	CLEANUP(taglist_release) struct taglist theirs = {0};
	struct rfc822_field field;
	struct err ignored = ERR_INIT;
	while (rfc822_fields_next(&text, &field))
		if (str_eq_nocase(field.name, STR("Tag")) && taglist_add_line(&theirs, field.value, &ignored) < 0)
			return false;
	taglist_tidy(ours);
	taglist_tidy(&theirs);
	bool same = ours->count == theirs.count;
	for (size_t i = 0; same && i < ours->count; i++)
		same = compare_tags(&ours->tags[i], &theirs.tags[i]) == 0;
	return same;
}

static void compare_with_filename(struct str text, const struct filename *name, struct findings *findings)
{
	CLEANUP(taglist_release) struct taglist ours = {0};
	struct err why = ERR_INIT;
	if (tag_foreach(name, taglist_add, &ours, &why) < 0)
		findings_add(findings, "WHEEL: tags not compared; those of the file name: %s", why.msg);
	else if (!tags_agree(text, &ours))
		findings_add(findings, "WHEEL: tags differ from those of the file name");
}

int wheelfile_check(struct str text, const struct filename *name, enum strictness strictness, struct findings *findings,
	struct err *e)
{
	struct str version = STR("");
	if (!rfc822_fields_first(text, STR("Wheel-Version"), &version)) {
		if (findings_add_or_fail(findings, strictness, e, "WHEEL: no Wheel-Version") < 0)
			return -1;
	} else if (!str_starts(version, STR("1."))) { // pip: "please upgrade pip"
		return err_set(e, ERR_INVALID, "WHEEL: unknown Wheel-Version");
	}
	compare_with_filename(text, name, findings);
	return 0;
}
