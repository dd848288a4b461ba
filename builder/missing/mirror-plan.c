// SPDX-License-Identifier: Apache-2.0
#include "builder/missing/mirror-plan.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"

struct planning {
	struct mirror_plan *out;
	struct locked_row **row; // of upstream's files, by project and filename
	size_t rows, next;
};

static bool is_for_mirror(const struct locked_row *row)
{
	bool is_wheel = row->filename && filename_kind(str_from(row->filename)) == FILENAME_WHEEL;
	return row->status == LOCKED_UPSTREAM && row->filename && (is_wheel || row->is_wanted);
}

static int compare_locked_files(const void *a, const void *b)
{
	const struct locked_row *x = *(struct locked_row *const *)a, *y = *(struct locked_row *const *)b;
	int order = strcmp(x->project, y->project);
	return order ? order : strcmp(x->filename, y->filename);
}

static void add_mirror_want(struct planning *x, const struct locked_row *row, const struct upstream_answer *answer,
	const struct simplepage_file *f)
{
	struct arena *text = &x->out->text;
	const struct upstream_home home = upstream_home(answer, f);
	struct mirror_want *w = &x->out->want[x->out->wants++];
	*w = (struct mirror_want){.project = row->project,
		.filename = row->filename,
		.url = arena_strdup(text, f->url),
		.home = arena_strdup(text, home.url),
		.upstream = home.number,
		.size = f->size,
		.has_metadata = f->has_metadata,
		.has_metadata_sha256 = f->has_metadata_sha256};
	memcpy(w->metadata_sha256, f->metadata_sha256, SHA256_SIZE);
	if (f->has_sha256)
		memcpy(w->sha256, f->sha256, SHA256_SIZE);
	else if (!hex_decode(str_from(row->sha256), w->sha256, SHA256_SIZE))
		x->out->wants--;
}

// The rows of one file, of all locks and platforms. Without any hash its bytes could be anything.
static void take_rows(struct planning *x, size_t first, size_t end, const struct upstream_answer *answer,
	const struct simplepage_file *f)
{
	struct locked_row *hashed = NULL;
	for (size_t i = first; i < end; i++)
		if (f->has_sha256 || x->row[i]->sha256)
			hashed = x->row[i];
	if (hashed)
		add_mirror_want(x, hashed, answer, f);
	for (size_t i = first; i < end && !hashed; i++) {
		x->row[i]->status = LOCKED_UNKNOWN;
		x->row[i]->why = "neither the lock nor upstream's page has a SHA-256";
	}
}

static int take_pages_files(void *ctx, const struct upstream_answer *answer, struct err *e)
{
	struct planning *x = ctx;
	const char *project = answer->project;
	while (x->next < x->rows && strcmp(x->row[x->next]->project, project) == 0) {
		size_t first = x->next;
		const char *filename = x->row[first]->filename;
		const struct simplepage_file *f = answer->page ? simplepage_find(answer->page, filename) : NULL;
		if (!f)
			return err_set(e, ERR_NET,
				"upstream's page of %s does not have %s any more, or is too large to be kept",
				project, filename);
		while (x->next < x->rows && compare_locked_files(&x->row[x->next], &x->row[first]) == 0)
			x->next++;
		take_rows(x, first, x->next, answer, f);
	}
	return 0;
}

static int plan_wants(struct planning *x, struct catalog *catalog, struct err *e)
{
	struct mirror_plan *out = x->out;
	x->row = ARENA_NEW(&out->text, struct locked_row *, out->found.rows);
	for (size_t i = 0; i < out->found.rows; i++)
		if (is_for_mirror(&out->found.row[i]))
			x->row[x->rows++] = &out->found.row[i];
	if (x->rows)
		qsort(x->row, x->rows, sizeof(*x->row), compare_locked_files);
	out->want = ARENA_NEW(&out->text, struct mirror_want, x->rows);
	while (x->next < x->rows)
		if (upstream_load_cached(out->upstreams, catalog, x->row[x->next]->project, take_pages_files, x, e) < 0)
			return -1;
	return 0;
}

int mirror_plan_make(const struct config *c, const struct store *store, struct catalog *catalog,
	const char *const *path,
	size_t paths, const struct missing_options *options, struct mirror_plan *out, struct err *e)
{
	const struct marker_choice all = {.all_extras = true, .all_groups = true};
	struct planning x = {.out = out};
	*out = (struct mirror_plan){0};
	if (locked_files_find(c, store, catalog, path, paths, &all, options, &out->found, e) == 0 &&
		upstreams_new(c, &out->upstreams, e) == 0 && plan_wants(&x, catalog, e) == 0)
		return 0;
	mirror_plan_release(out);
	return -1;
}

void mirror_plan_release(struct mirror_plan *p)
{
	locked_files_release(&p->found);
	upstreams_free(p->upstreams);
	arena_release(&p->text);
	*p = (struct mirror_plan){0};
}
