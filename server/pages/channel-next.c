// SPDX-License-Identifier: Apache-2.0
#include "server/pages/channel-next.h"

#include <limits.h>
#include <stdlib.h>

enum { TAG_SETS_MOST = 4096 };

void channel_next_init(struct channel_next *n, const struct view *view, const struct view *source)
{
	*n = (struct channel_next){.view = view, .source = source};
	for (size_t i = 0; i < view->platform_count; i++)
		fits_add_platform(&n->fits, view->platform[i]);
}

void channel_next_release(struct channel_next *n)
{
	fits_release(&n->fits);
	*n = (struct channel_next){0};
}

struct next_reader {
	struct channel_next *next;
	struct next_project *project;
};

// A file whose name cannot be parsed is one that no client installs.
static int take_next_file(void *ctx, const struct platform *p, const struct catalog_file *file, struct err *e UNUSED)
{
	struct next_reader *r = ctx;
	struct next_project *to = r->project;
	struct err ignored = ERR_INIT;
	struct next_file new = {.platform = p, .file = *file};
	if (!view_has(r->next->view, p))
		return 0;
	catalog_file_copy(&to->text, &new.file);
	if (filename_parse_listed(str_from(new.file.filename), to->project, &new.name, &ignored) < 0)
		return 0;
	new.tags = new.name.kind == FILENAME_WHEEL ? fits_tags(&r->next->fits, &new.name) : 0;
	new.python = fits_python(&r->next->fits, new.file.requires_python);
	GROW(to->file, to->files, to->room);
	to->file[to->files++] = new;
	return 0;
}

// The lower, the better; -1: it does not install there.
static long rank_in(struct channel_next *n, const struct next_file *f, size_t environment)
{
	if (f->file.yanked || !fits_micros(&n->fits, f->python, environment))
		return -1;
	return f->name.kind == FILENAME_WHEEL ? fits_rank(&n->fits, f->tags, environment) : LONG_MAX;
}

static bool is_better(struct channel_next *n, const struct next_file *f, const struct next_file *than,
	size_t environment)
{
	if (!than)
		return true;
	int order = version_cmp(&f->name.version, &than->name.version);
	long rank = rank_in(n, f, environment), other = rank_in(n, than, environment);
	if (order || rank != other)
		return order ? order > 0 : rank < other;
	return f->name.kind == FILENAME_WHEEL && filename_compare_builds(f->name.build, than->name.build) > 0;
}

int channel_next_read(struct channel_next *n, struct catalog *c, const char *project, struct next_project *out,
	struct err *e)
{
	struct next_reader r = {n, out};
	*out = (struct next_project){.project = project};
	fits_trim(&n->fits, TAG_SETS_MOST);
	if (view_files(n->source, c, project, take_next_file, &r, e) < 0) {
		next_project_release(out);
		return -1;
	}
	out->best = xcalloc(n->fits.places + 1, sizeof(*out->best));
	for (size_t k = 0; k < out->files; k++)
		for (size_t i = 0; i < n->fits.places; i++)
			if (rank_in(n, &out->file[k], i) >= 0 && is_better(n, &out->file[k], out->best[i], i))
				out->best[i] = &out->file[k];
	return 0;
}

void next_project_release(struct next_project *p)
{
	for (size_t i = 0; i < p->files; i++)
		filename_release(&p->file[i].name);
	free(p->file);
	free(p->best);
	arena_release(&p->text);
	*p = (struct next_project){0};
}
