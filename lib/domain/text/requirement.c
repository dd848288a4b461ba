// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/requirement.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/search.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/pyspace.h"
#include "lib/domain/text/requirements-file.h"
#include "lib/domain/text/specifier.h"

// Cuts off the front whose bytes all match.
static struct str cut_while(struct str *text, bool (*matches)(char c))
{
	size_t len = 0;
	while (len < text->len && matches(text->ptr[len]))
		len++;
	struct str front = str_slice(*text, 0, len);
	*text = str_slice(*text, len, text->len);
	return front;
}

static bool is_name_byte(char c)
{
	return ascii_is_alnum(c) || c == '-' || c == '_' || c == '.';
}

static bool is_not_blank(char c)
{
	return c != ' ' && c != '\t';
}

// Of a valid set.
static void set_specifier(struct requirements *list, struct requirement *r, struct str text)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(2 * text.len + 1);
	while (text.ptr) {
		struct str clause = pyspace_trim(str_cut(&text, ','));
		if (clause.len) {
			// "===1.0" compares texts and would not keep 1.0.0. So it becomes "==1.0", which covers both.
			struct str same = STR("===");
			struct str version = str_slice(clause, str_starts(clause, same) ? same.len : 0, clause.len);
			bool is_pin = version.len < clause.len && version_is_valid(version);
			buf_puts(&out, out.len ? "," : "");
			buf_puts(&out, is_pin ? "==" : "");
			buf_str(&out, is_pin ? version : clause);
		}
	}
	r->specifier = arena_copy(&list->text, buf_view(&out));
}

static bool begins_specifier(struct str text)
{
	return text.len && strchr("=<>!~", text.ptr[0]);
}

// Drops the word "keep" in front of the reason. It is redundant: each listed package is kept.
static struct str without_keep(struct str reason)
{
	struct str rest = reason;
	return str_eq(cut_while(&rest, is_not_blank), STR("keep")) ? str_trim(rest) : reason;
}

// name [specifier] [platform=GLOB] [keep] reason…
static int read_package(struct requirements *list, struct requirement *r, struct str line, struct err *e)
{
	const struct str platform = STR("platform=");
	struct str name = cut_while(&line, is_name_byte);
	if (!name_is_valid(name))
		return err_set(e, ERR_USAGE, "the line does not begin with a project name");
	CLEANUP(buf_release) struct buf normal = buf_up_to(name.len);
	name_normalize(name, &normal);
	r->project = arena_copy(&list->text, buf_view(&normal));
	if (line.len && is_not_blank(line.ptr[0]) && !begins_specifier(line))
		return err_set(e, ERR_USAGE, "after the name comes neither a blank nor a specifier");
	line = str_trim(line);
	struct str specifier = {"", 0};
	if (begins_specifier(line))
		specifier = cut_while(&line, is_not_blank);
	if (!specifier_set_is_valid(specifier))
		return err_set(e, ERR_USAGE, "\"" STR_FMT "\" is not a specifier (such as ==1.2 or >=1.2,<2)",
			STR_ARG(specifier));
	set_specifier(list, r, specifier);
	line = str_trim(line);
	if (str_starts(line, platform)) {
		struct str word = cut_while(&line, is_not_blank);
		if (word.len == platform.len)
			return err_set(e, ERR_USAGE, "platform= without a name or glob");
		r->platform = arena_copy(&list->text, str_slice(word, platform.len, word.len));
	}
	r->reason = arena_copy(&list->text, without_keep(str_trim(line)));
	return 0;
}

static void set_source(struct requirements *list, struct requirement *r, const char *path, unsigned number)
{
	CLEANUP(mem_free) char *source = xasprintf("%s:%u", path, number);
	r->source = arena_copy(&list->text, str_from(source));
}

// A comment begins at the start of a line or after a blank, as in pip.
static struct str without_comment(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.ptr[i] == '#' && (!i || !is_not_blank(line.ptr[i - 1])))
			return str_slice(line, 0, i);
	return line;
}

static int add_package(struct requirements *list, struct str line, const char *path, unsigned number, struct err *e)
{
	line = str_trim(without_comment(line));
	if (!line.len)
		return 0;
	GROW(list->item, list->count, list->room);
	struct requirement *r = &list->item[list->count];
	*r = (struct requirement){0};
	if (read_package(list, r, line, e) < 0)
		return -1;
	set_source(list, r, path, number);
	list->count++;
	return 0;
}

static int compare_projects(const void *a, const void *b)
{
	const struct requirement *left = a, *right = b;
	return strcmp(left->project, right->project);
}

static int add_packages(struct requirements *list, struct str text, const char *path, struct err *e)
{
	if (!str_is_utf8(text) || memchr(text.ptr, '\0', text.len))
		return err_set(e, ERR_USAGE, "%s: not UTF-8 text", path);
	for (unsigned number = 1; text.ptr; number++)
		if (add_package(list, str_cut(&text, '\n'), path, number, e) < 0)
			return err_prefix(e, "%s:%u: ", path, number);
	return 0;
}

struct constraints_file {
	struct requirements *list;
	const char *path;
};

// A URL says nothing of the version: every version of the project is kept.
static int add_constraint(void *ctx, const struct requirements_line *line, struct err *e)
{
	struct constraints_file *file = ctx;
	if (line->kind == REQUIREMENTS_LINE_INCLUDE || line->kind == REQUIREMENTS_LINE_CONSTRAINTS)
		return err_set(e, ERR_USAGE,
			"name \"" STR_FMT "\" in the configuration: the pruner does not follow -r and -c",
			STR_ARG(line->argument));
	if (line->kind == REQUIREMENTS_LINE_EDITABLE)
		return err_set(e, ERR_USAGE, REQUIREMENTS_EDITABLE_WORDS);
	if (line->kind != REQUIREMENTS_LINE_PROJECT)
		return 0;
	struct requirements *list = file->list;
	GROW(list->item, list->count, list->room);
	struct requirement *r = &list->item[list->count++];
	*r = (struct requirement){.project = arena_copy(&list->text, str_from(line->project)), .reason = ""};
	set_source(list, r, file->path, line->number);
	set_specifier(list, r, line->specifier);
	return 0;
}

int requirements_parse(struct requirements *list, struct str text, const char *path, enum requirement_form form,
	struct err *e)
{
	struct constraints_file file = {list, path};
	int added = form == REQUIREMENT_PACKAGES ? add_packages(list, text, path, e)
						 : requirements_file_read(text, path, add_constraint, &file, e);
	if (added < 0)
		return -1;
	if (list->count)
		qsort(list->item, list->count, sizeof(*list->item), compare_projects);
	return 0;
}

void requirements_release(struct requirements *list)
{
	free(list->item);
	arena_release(&list->text);
	*list = (struct requirements){0};
}

static bool is_before_project(const void *requirement, const void *project)
{
	return strcmp(((const struct requirement *)requirement)->project, project) < 0;
}

// The index of the first requirement of the project, or where it would be inserted.
static size_t first_of_project(const struct requirements *list, const char *project)
{
	return lower_bound(project, list->item, list->count, sizeof(*list->item), is_before_project);
}

const struct requirement *requirements_of(const struct requirements *list, const char *project, size_t *count)
{
	size_t first = first_of_project(list, project), end = first;
	while (end < list->count && strcmp(list->item[end].project, project) == 0)
		end++;
	*count = end - first;
	return list->count ? list->item + first : NULL;
}

const struct requirement *requirements_find(const struct requirements *list, const char *project,
	const struct version *version, const char *platform)
{
	for (size_t i = first_of_project(list, project); i < list->count; i++) {
		const struct requirement *r = &list->item[i];
		if (strcmp(r->project, project) != 0)
			break;
		if (r->platform && fnmatch(r->platform, platform, 0) != 0)
			continue;
		if (specifier_set_admits(str_from(r->specifier), version))
			return r;
	}
	return NULL;
}
