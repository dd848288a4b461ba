// SPDX-License-Identifier: Apache-2.0
// What came into a view and what left it between two generations, with the overrides by which files came.
#include <stdlib.h>
#include <string.h>

#include "cli/view-command.h"
#include "lib/base/limits.h"

// The members of a generation, sorted.
struct diff_members {
	struct catalog_member *item;
	size_t count, room;
	struct arena text;
};

static void diff_members_release(struct diff_members *m)
{
	free(m->item);
	arena_release(&m->text);
}

static int keep_member(void *ctx, const struct catalog_member *from, struct err *e UNUSED)
{
	struct diff_members *m = ctx;
	GROW(m->item, m->count, m->room);
	struct catalog_member *to = &m->item[m->count++];
	uint8_t *sha256 = arena_alloc_aligned(&m->text, SHA256_SIZE);
	memcpy(sha256, from->sha256, SHA256_SIZE);
	*to = *from;
	to->platform_name = arena_copy(&m->text, str_from(from->platform_name));
	to->project = arena_copy(&m->text, str_from(from->project));
	to->filename = arena_copy(&m->text, str_from(from->filename));
	to->sha256 = sha256;
	return 0;
}

static int compare_diff_members(const void *a, const void *b)
{
	const struct catalog_member *x = a, *y = b;
	int order = strcmp(x->project, y->project);
	order = order ? order : strcmp(x->filename, y->filename);
	order = order ? order : strcmp(x->platform_name, y->platform_name);
	return order ? order : memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

static int read_diff_members(const struct view_command *x, int64_t generation, struct diff_members *out, struct err *e)
{
	if (catalog_view_members(x->all.catalog, x->name, generation, NULL, keep_member, out, e) < 0)
		return -1;
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), compare_diff_members);
	return 0;
}

struct view_diff {
	const struct view_command *command;
	int64_t from, to;
	struct generation_files of; // of the generation `since`: members that came together follow each other often
	int64_t since;
	struct jsondoc *rows; // NULL: text
	struct buf text;
	size_t added, removed;
};

static void view_diff_release(struct view_diff *d)
{
	generation_files_release(&d->of);
	jsondoc_cleanup(&d->rows);
	buf_release(&d->text);
}

static int take_generation_files(void *ctx, const struct catalog_generation *g, struct err *e)
{
	struct view_diff *d = ctx;
	if (g->number != d->since)
		return 0;
	return generation_files_read(d->command->all.catalog, g->packed, LIMIT_MEMBERSHIP, &d->of, e);
}

// Finds the override, or the tests of other builds, by which an added file came.
static int find_origin(struct view_diff *d, int64_t since, struct generation_file *file, struct err *e)
{
	if (since != d->since) {
		generation_files_release(&d->of);
		d->since = since;
		if (catalog_view_generations(d->command->all.catalog, d->command->name, since + 1, 1,
			    take_generation_files, d, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < d->of.files; i++) {
		const struct generation_file *f = &d->of.file[i];
		if (!f->is_removed && strcmp(f->filename, file->filename) == 0 &&
			strcmp(f->platform, file->platform) == 0) {
			file->override = f->override;
			file->override_by = f->override_by;
			file->tested = f->tested;
			file->testeds = f->testeds;
		}
	}
	return 0;
}

static int add_diff_row(struct view_diff *d, const struct catalog_member *m, bool is_removed, struct err *e)
{
	struct generation_file file = {.platform = m->platform_name,
		.project = m->project,
		.filename = m->filename,
		.is_removed = is_removed};
	memcpy(file.sha256, m->sha256, SHA256_SIZE);
	*(is_removed ? &d->removed : &d->added) += 1;
	if (!is_removed && find_origin(d, m->since, &file, e) < 0)
		return -1;
	if (d->rows)
		jsondoc_add(d->rows, generation_file_json(&file));
	else
		view_command_put_file(&file, &d->text);
	return 0;
}

// Both are sorted.
static int compare_both(struct view_diff *d, const struct diff_members *before, const struct diff_members *after,
	struct err *e)
{
	for (size_t i = 0, k = 0; i < before->count || k < after->count;) {
		int order = i == before->count  ? 1
			    : k == after->count ? -1
						: compare_diff_members(&before->item[i], &after->item[k]);
		if ((order < 0 && add_diff_row(d, &before->item[i], true, e) < 0) ||
			(order > 0 && add_diff_row(d, &after->item[k], false, e) < 0))
			return -1;
		i += order <= 0;
		k += order >= 0;
	}
	return 0;
}

static int print_diff(struct view_diff *d, struct err *e)
{
	if (d->rows) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		jsondoc_put_str(doc, "view", d->command->name);
		jsondoc_put_int(doc, "from", d->from);
		jsondoc_put_int(doc, "to", d->to);
		jsondoc_put(doc, "files", STEAL_PTR(d->rows));
		jsondoc_write(doc, 2, &d->text);
	} else {
		buf_printf(&d->text, "%s: generation %lld to %lld: +%zu -%zu\n", d->command->name, (long long)d->from,
			(long long)d->to, d->added, d->removed);
	}
	return promotion_common_write(buf_view(&d->text), e);
}

static int diff_view(const struct view_command *x, struct err *e)
{
	CLEANUP(diff_members_release) struct diff_members before = {0};
	CLEANUP(diff_members_release) struct diff_members after = {0};
	CLEANUP(view_diff_release)
	struct view_diff d = {.command = x, .rows = x->all.settings.is_json ? jsondoc_array() : NULL};
	buf_init(&d.text, SIZE_MAX / 2);
	if (view_command_generation(x, "", x->word[0], &d.from, e) < 0 ||
		view_command_generation(x, "", x->word[1], &d.to, e) < 0 ||
		view_command_check_generation(x, d.from, e) < 0 || view_command_check_generation(x, d.to, e) < 0 ||
		read_diff_members(x, d.from, &before, e) < 0 || read_diff_members(x, d.to, &after, e) < 0 ||
		compare_both(&d, &before, &after, e) < 0)
		return -1;
	return print_diff(&d, e);
}

static int run_view_diff(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(view_command_release) struct view_command x = {0};
	if (view_command_open(&x, self, argc, argv, 2, false, e) < 0 || diff_view(&x, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_view_diff = {
	.name = "view diff",
	.arguments = "VIEW FROM TO",
	.help = "list what came and what left between two generations or times",
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.run = run_view_diff,
};
