// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-read.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/lock/lock-parts.h"
#include "lib/os/fs.h"

static int (*const readers[LOCK_KIND_COUNT])(struct lock_reading *r) = {
	[LOCK_UV] = lock_read_uv,
	[LOCK_PYLOCK] = lock_read_pylock,
	[LOCK_POETRY] = lock_read_poetry,
	[LOCK_PDM] = lock_read_pdm,
	[LOCK_PIPFILE] = lock_read_pipfile,
	[LOCK_REQUIREMENTS] = lock_read_requirements,
};

// LOCK_KIND_COUNT: it is none of these. Cargo.lock has a version and packages too, but no Requires-Python.
static enum lock_kind find_toml_kind(const struct toml *t)
{
	const struct toml_value *root = &t->root, *metadata = toml_get(t, root, STR("metadata"));
	if (toml_get(t, metadata, STR("lock_version")))
		return LOCK_PDM;
	if (toml_get(t, metadata, STR("lock-version")) || toml_get(t, metadata, STR("content-hash")))
		return LOCK_POETRY;
	if (toml_get(t, root, STR("lock-version")))
		return LOCK_PYLOCK;
	return toml_get(t, root, STR("version")) && toml_get(t, root, STR("requires-python")) ? LOCK_UV
											      : LOCK_KIND_COUNT;
}

static bool is_toml_key(struct str text)
{
	struct str key = str_trim(text);
	if (!key.len || key.ptr[0] == '-')
		return false;
	for (size_t i = 0; i < key.len; i++)
		if (!ascii_is_alnum(key.ptr[i]) && !strchr("-_.\"'", key.ptr[i]))
			return false;
	return true;
}

// The first line that is no comment decides: "[…" or "key =" is TOML. In requirements "=" behind one word is never
// alone.
static bool is_toml(struct str text)
{
	while (text.ptr) {
		struct str line = str_trim(str_cut(&text, '\n'));
		if (str_starts(line, STR("\xEF\xBB\xBF")))
			line = str_slice(line, 3, line.len);
		if (!line.len || line.ptr[0] == '#')
			continue;
		long at = str_find(line, '=');
		return line.ptr[0] == '[' || (at > 0 && (size_t)at + 1 < line.len && line.ptr[at + 1] != '=' &&
						     is_toml_key(str_slice(line, 0, (size_t)at)));
	}
	return false;
}

static int read_toml(struct lock_reading *r)
{
	CLEANUP(toml_release) struct toml t = {0};
	if (toml_read(r->lock->text.data, r->lock->text.len, &t, r->e) < 0)
		return err_prefix(r->e, "%s:", r->path); // the line follows
	r->toml = &t;
	r->lock->kind = find_toml_kind(&t);
	if (r->lock->kind == LOCK_KIND_COUNT)
		return lock_refuse(r, 1, "not a lock file of uv, poetry or pdm, and no pylock.toml");
	int result = readers[r->lock->kind](r);
	r->toml = NULL;
	return result;
}

static int read_kind(struct lock_reading *r)
{
	struct lock *l = r->lock;
	struct str text = buf_view(&l->text);
	if (is_toml(text))
		return read_toml(r);
	l->kind = str_starts(str_trim(text), STR("{")) ? LOCK_PIPFILE : LOCK_REQUIREMENTS;
	return readers[l->kind](r);
}

// Puts the edges of each slot together.
static void sort_edges(struct lock *l)
{
	struct lock_edge *sorted = xcalloc(l->edges + 1, sizeof(*sorted));
	size_t next = 0;
	for (size_t i = 0; i < l->slots; next += l->slot[i++].edges)
		l->slot[i].edge = next;
	for (size_t i = 0; i < l->slots; i++)
		l->slot[i].edges = 0;
	for (size_t i = 0; i < l->edges; i++) {
		struct lock_slot *from = &l->slot[l->edge[i].from];
		sorted[from->edge + from->edges++] = l->edge[i];
	}
	free(l->edge);
	l->edge = sorted;
}

int lock_parse(struct buf *text, const char *path, struct lock *out, struct err *e)
{
	*out = (struct lock){.text = *text};
	buf_init(text, 0);
	struct lock_reading r = {.lock = out, .path = path, .e = e};
	GROW(out->marker, out->markers, out->marker_room);
	out->marker[out->markers++] = "";
	int result = read_kind(&r);
	free(r.marker_index);
	free(r.root);
	if (result == 0)
		sort_edges(out);
	return result;
}

int lock_read(const char *path, struct lock *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_LOCK);
	*out = (struct lock){0};
	return fs_read_regular(path, &text, e) < 0 ? -1 : lock_parse(&text, path, out, e);
}
