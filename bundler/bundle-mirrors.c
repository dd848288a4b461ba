// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle-mirrors.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/place/record.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/mirror-pages.h"
#include "lib/state/upstream/mirror-pins.h"
#include "lib/state/upstream/mirror.h"

void bundle_mirrors_init(struct bundle_mirrors *m, const struct config *config, struct catalog *c, const char *by)
{
	*m = (struct bundle_mirrors){.config = config, .catalog = c, .by = by};
	m->folder = state_file(config, catalog_path(c), STATE_FILE_MIRRORS);
	m->pins = mirror_pins_new(m->folder);
}

void bundle_mirrors_release(struct bundle_mirrors *m)
{
	file_cache_writer_free(m->writer);
	for (size_t i = 0; i < LIMIT_UPSTREAMS; i++)
		file_cache_close(m->cache[i]);
	mirror_pins_free(m->pins);
	mem_free(&m->folder);
	arena_release(&m->text);
}

// The number of the upstream of this name.
static int find_upstream_named(const struct bundle_mirrors *m, const char *name, size_t *out, struct err *e)
{
	for (*out = 0; *out < m->config->upstreams.count; ++*out)
		if (strcmp(m->config->upstreams.item[*out].name, name) == 0)
			return 0;
	return err_set(e, ERR_USAGE,
		"the bundle has files of the upstream \"%s\", which the configuration does not have", name);
}

static struct file_cache *open_cache(struct bundle_mirrors *m, size_t upstream, struct err *e)
{
	const struct config_upstream *u = &m->config->upstreams.item[upstream];
	CLEANUP(mem_free) char *path = state_file_upstream(u, catalog_path(m->catalog));
	if (!m->cache[upstream] && file_cache_open(path, u->files_size, m->pins, &m->cache[upstream], e) < 0)
		return NULL;
	return m->cache[upstream];
}

// --- making ---

int bundle_mirrors_open(struct bundle_mirrors *m, const struct bundle_row *r, struct file_cache_file *out,
	struct err *e)
{
	size_t upstream;
	struct file_cache *cache = find_upstream_named(m, r->in, &upstream, e) < 0 ? NULL : open_cache(m, upstream, e);
	return cache ? file_cache_find(cache, r->project, r->name, r->sha256, out, e) : -1;
}

int bundle_mirrors_text(const struct bundle_mirrors *m, const struct bundle_row *r, struct buf *out, struct err *e)
{
	if (r->kind == BUNDLE_PAGE)
		return mirror_pages_text(m->folder, r->project, out, e) < 0 ? -1 : 0;
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(m->folder, "", false, e);
	return folder ? record_read(folder, r->name, LIMIT_MIRROR, out, e) : -1;
}

// What a mirror has, for the caller's function.
struct mirror_rows {
	struct bundle_mirrors *all;
	bundle_mirrors_fn *fn;
	void *ctx;
	uint64_t lacking;
	const char *first; // that is lacking
};

static int tell_text(struct mirror_rows *x, struct bundle_row *r, struct str text, struct err *e)
{
	r->size = text.len;
	digest_sha256(text, r->sha256);
	return x->fn(x->ctx, r, e);
}

static int tell_file(struct mirror_rows *x, const struct mirror_file *f, struct err *e)
{
	struct err missing = ERR_INIT;
	struct file_cache_file file = {.fd = -1};
	struct arena *text = &x->all->text;
	struct bundle_row r = {.kind = BUNDLE_UPSTREAM,
		.in = arena_strdup(text, f->upstream),
		.project = arena_strdup(text, f->project),
		.name = arena_strdup(text, f->filename)};
	memcpy(r.sha256, f->sha256, SHA256_SIZE);
	if (bundle_mirrors_open(x->all, &r, &file, &missing) < 0) {
		if (missing.kind != ERR_NOT_FOUND && missing.kind != ERR_USAGE) {
			*e = missing;
			return -1;
		}
		x->first = x->lacking++ ? x->first : r.name;
		return 0;
	}
	r.size = file.size;
	mem_close(&file.fd);
	return x->fn(x->ctx, &r, e);
}

static int tell_page(struct mirror_rows *x, const char *project, struct err *e)
{
	CLEANUP(buf_release) struct buf page = buf_up_to(LIMIT_MIRROR);
	struct bundle_row r = {.kind = BUNDLE_PAGE, .project = arena_strdup(&x->all->text, project)};
	int found = mirror_pages_text(x->all->folder, project, &page, e);
	return found > 0 ? tell_text(x, &r, buf_view(&page), e) : found;
}

// Its files are sorted by project.
static int tell_files(struct mirror_rows *x, const struct mirror *m, struct err *e)
{
	for (size_t i = 0; i < m->files; i++) {
		bool is_first = !i || strcmp(m->file[i - 1].project, m->file[i].project) != 0;
		if (tell_file(x, &m->file[i], e) < 0 || (is_first && tell_page(x, m->file[i].project, e) < 0))
			return -1;
	}
	if (!x->lacking)
		return 0;
	return err_set(e, ERR_NOT_FOUND,
		"mirror %s lacks %llu of its %zu, such as %s; wheelcache mirror fill fetches what it lacks", m->name,
		(unsigned long long)x->lacking, m->files, x->first);
}

int bundle_mirrors_each(struct bundle_mirrors *all, const char *name, bundle_mirrors_fn *fn, void *ctx, struct err *e)
{
	struct mirror_rows x = {.all = all, .fn = fn, .ctx = ctx};
	struct bundle_row r = {.kind = BUNDLE_MIRROR, .name = arena_strdup(&all->text, name)};
	CLEANUP(buf_release) struct buf record = buf_up_to(LIMIT_MIRROR);
	CLEANUP(mirror_release) struct mirror m = {0};
	if (mirror_read(all->folder, name, &m, e) < 0 || bundle_mirrors_text(all, &r, &record, e) < 0 ||
		tell_text(&x, &r, buf_view(&record), e) < 0)
		return -1;
	return tell_files(&x, &m, e);
}

// --- loading ---

int bundle_mirrors_look(struct bundle_mirrors *m, const struct bundle_row *r, struct err *e)
{
	size_t upstream;
	if (find_upstream_named(m, r->in, &upstream, e) < 0)
		return -1;
	CLEANUP(mem_free)
	char *path = state_file_upstream(&m->config->upstreams.item[upstream], catalog_path(m->catalog));
	bool is_here = file_cache_has(path, r->project, r->name, r->sha256, (int64_t)r->size);
	if (is_here || r->is_omitted)
		return is_here;
	ARENA_GROW(&m->text, m->want, m->wants, m->room);
	struct mirror_want *w = &m->want[m->wants++];
	*w = (struct mirror_want){.project = arena_strdup(&m->text, r->project),
		.filename = arena_strdup(&m->text, r->name),
		.upstream = upstream,
		.size = (int64_t)r->size};
	memcpy(w->sha256, r->sha256, SHA256_SIZE);
	return 0;
}

int bundle_mirrors_check(struct bundle_mirrors *m, struct err *e)
{
	struct mirror_rest rest;
	const struct mirror_filling filling = {
		.config = m->config, .catalog = m->catalog, .want = m->want, .wants = m->wants, .text = &m->text};
	return mirror_fill_plan(&filling, &rest, e);
}

static int take_mirror_record(struct bundle_mirrors *m, const char *name, struct str text, bool stores, struct err *e)
{
	CLEANUP(mirror_release) struct mirror record = {0};
	if (!mirror_name_is_valid(str_from(name)))
		return err_set(e, ERR_INVALID, "\"%s\" is no name of a mirror", name);
	if (mirror_parse(text, name, &record, e) < 0)
		return -1;
	record.who = m->by;
	return stores ? mirror_change(m->folder, MIRROR_ADD, &record, e) : 0;
}

int bundle_mirrors_take(struct bundle_mirrors *m, const struct bundle_row *r, struct str text, bool stores,
	struct err *e)
{
	if (r->kind == BUNDLE_MIRROR)
		return take_mirror_record(m, r->name, text, stores, e);
	return mirror_pages_take(m->folder, stores ? m->catalog : NULL, r->project, text, e);
}

int bundle_mirrors_begin(struct bundle_mirrors *m, const struct bundle_row *r, struct err *e)
{
	size_t upstream;
	struct file_cache *cache = find_upstream_named(m, r->in, &upstream, e) < 0 ? NULL : open_cache(m, upstream, e);
	mirror_pins_look(m->pins);
	if (cache)
		m->writer = file_cache_begin(cache, r->project, r->name, r->sha256, r->size, e);
	return m->writer ? 0 : -1;
}

int bundle_mirrors_add(struct bundle_mirrors *m, struct str bytes, struct err *e)
{
	return file_cache_writer_write(m->writer, bytes.ptr, bytes.len, e);
}

int bundle_mirrors_end(struct bundle_mirrors *m, const struct bundle_row *r, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	int kept =
		file_cache_writer_check(m->writer, sha256, e) < 0 ? -1 : file_cache_writer_keep(m->writer, sha256, e);
	file_cache_writer_free(STEAL_PTR(m->writer));
	return kept < 0 ? err_prefix(e, "%s: ", r->name) : 0;
}
