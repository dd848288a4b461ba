// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/mirror-lacks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/domain/index/simplepage.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/file-cache.h"

struct lacking {
	const struct config *config;
	const char *catalog_path;
	struct upstreams *upstreams;
	struct catalog *catalog;
	const struct mirror *mirror;
	size_t next;
	struct mirror_lacks *out;
	mirror_lacks_fn *fn;
	void *ctx;
};

static void note_first(struct lacking *x, const struct mirror_file *f, const char *why)
{
	if (!x->out->first)
		x->out->first = xasprintf("%s: %s", f->filename, why);
}

static bool is_kept(const struct lacking *x, const struct mirror_file *f)
{
	const struct config_upstream *u = config_upstreams_named(&x->config->upstreams, f->upstream);
	CLEANUP(mem_free) char *path = u ? state_file_upstream(u, x->catalog_path) : NULL;
	return path && file_cache_has(path, f->project, f->filename, f->sha256, f->size);
}

// The metadata is found where its wheel is.
static bool is_on_page(const struct simplepage *page, const struct mirror_file *f)
{
	if (str_ends(str_from(f->filename), STR(".metadata")))
		return true;
	const struct simplepage_file *listed = page ? simplepage_find(page, f->filename) : NULL;
	return listed && (!listed->has_sha256 || memcmp(listed->sha256, f->sha256, SHA256_SIZE) == 0);
}

// The files of one project; page NULL: none is known.
static void look_at_project(struct lacking *x, const char *project, const struct simplepage *page)
{
	struct mirror_lacks *out = x->out;
	out->projects++;
	for (; x->next < x->mirror->files && strcmp(x->mirror->file[x->next].project, project) == 0; x->next++) {
		const struct mirror_file *f = &x->mirror->file[x->next];
		out->files++;
		out->bytes += f->size < 0 ? 0 : (uint64_t)f->size;
		if (!is_kept(x, f)) {
			out->gone++;
			note_first(x, f, "it is not here");
		} else if (!is_on_page(page, f)) {
			out->unlisted++;
			note_first(x, f, page ? "upstream's page does not list it, or it is not offered"
					      : "upstream's page is not known here");
		}
	}
}

static int take_mirror_page(void *ctx, const struct upstream_answer *answer, struct err *e UNUSED)
{
	look_at_project(ctx, answer->project, answer->stale);
	return 0;
}

int mirror_lacks_look(const struct config *config, const char *catalog_path, struct upstreams *u, struct catalog *c,
	const struct mirror *m, struct mirror_lacks *out, struct err *e)
{
	struct lacking x = {config, catalog_path, u, c, m, 0, out, NULL, NULL};
	*out = (struct mirror_lacks){0};
	while (x.next < m->files) {
		const char *project = m->file[x.next].project;
		if (!c) {
			look_at_project(&x, project, NULL);
		} else if (upstream_load_cached_any(u, c, project, NULL, take_mirror_page, &x, e) < 0) {
			mirror_lacks_release(out);
			return -1;
		}
	}
	return 0;
}

void mirror_lacks_release(struct mirror_lacks *l)
{
	free(l->first);
	*l = (struct mirror_lacks){0};
}

static int look_at_mirror(void *ctx, const struct mirror *m, struct err *e)
{
	struct lacking *x = ctx;
	CLEANUP(mirror_lacks_release) struct mirror_lacks found = {0};
	if (mirror_lacks_look(x->config, x->catalog_path, x->upstreams, x->catalog, m, &found, e) < 0)
		return -1;
	if (found.first)
		x->fn(x->ctx, m, &found);
	return 0;
}

int mirror_lacks_each(const struct config *config, const char *catalog_path, mirror_lacks_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(mem_free) char *folder = state_file(config, catalog_path, STATE_FILE_MIRRORS);
	struct lacking x = {.config = config, .catalog_path = catalog_path, .fn = fn, .ctx = ctx};
	if (access(folder, F_OK) < 0)
		return 0;
	int result = access(catalog_path, F_OK) < 0 ? 0 : catalog_open_read(catalog_path, &x.catalog, e);
	result = result < 0 ? -1 : upstreams_new(config, &x.upstreams, e);
	result = result < 0 ? -1 : mirror_each(folder, look_at_mirror, &x, e);
	upstreams_free(x.upstreams);
	catalog_close(x.catalog);
	return result;
}

void mirror_lacks_words(const struct mirror_lacks *l, struct buf *out)
{
	buf_printf(out, "%llu of its %s not here, and %s not found by clients", (unsigned long long)l->gone,
		COUNTED(l->files, "file is|files are"), COUNTED(l->unlisted, "is|are"));
	if (l->first)
		buf_printf(out, ", such as %s", l->first);
}
