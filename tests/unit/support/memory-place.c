// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/memory-place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/blob.h"
#include "lib/place/place-ops.h"

// What a file has; kept by each name and handle of it.
struct content {
	unsigned refs;
	struct buf bytes;
	struct place_info info;
};

struct node {
	char *path;
	struct content *content;
	bool is_there, is_durable; // is_durable alone: it comes back with a crash
	bool is_leftover, is_dead; // is_dead: its writer has ended, or has abandoned it
};

struct memory_place {
	struct place base;
	struct memory_control *control;
	struct node *node;
	size_t count, room;
	uint64_t last_id;
	unsigned readers;
	bool has_writer;
};

struct memory_folder {
	struct place_folder base;
	char *path;
	struct content *content; // tells it from a later one of the path
};

struct memory_file {
	struct place_file base;
	struct content *content;
};

struct memory_write {
	struct place_write base;
	struct memory_folder *folder; // borrowed
	char *name, *tmp;
	struct memory_file file;
};

struct memory_lock {
	struct place_lock base;
	struct memory_place *place;
	bool is_shared;
};

static const struct place_ops memory_ops;

static struct memory_place *place_of(const struct place *p)
{
	return (struct memory_place *)(uintptr_t)p;
}

static struct memory_folder *folder_of(struct place_folder *f)
{
	return (struct memory_folder *)f;
}

static struct content *content_new(struct memory_place *p, enum place_kind kind)
{
	struct content *c = xcalloc(1, sizeof(*c));
	c->refs = 1;
	buf_init(&c->bytes, SIZE_MAX / 2);
	c->info = (struct place_info){.kind = kind, .version = {0, p->control->now_ns, ++p->last_id}};
	return c;
}

static struct content *content_ref(struct content *c)
{
	c->refs++;
	return c;
}

static void content_unref(struct content *c)
{
	if (--c->refs)
		return;
	buf_release(&c->bytes);
	free(c);
}

static char *join(const char *folder, const char *name)
{
	return *folder ? xasprintf("%s/%s", folder, name) : xstrdup(name);
}

static struct node *find_node(struct memory_place *p, const char *path)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->node[i].is_there && strcmp(p->node[i].path, path) == 0)
			return &p->node[i];
	return NULL;
}

static void forget_node(struct memory_place *p, size_t i)
{
	free(p->node[i].path);
	content_unref(p->node[i].content);
	p->node[i] = p->node[--p->count];
}

static struct node *add_node(struct memory_place *p, const char *path, struct content *c)
{
	GROW(p->node, p->count, p->room);
	struct node *n = &p->node[p->count++];
	*n = (struct node){.path = xstrdup(path), .content = c, .is_there = true};
	return n;
}

static void take_name(struct memory_place *p, struct node *n)
{
	n->is_there = false;
	if (!n->is_durable)
		forget_node(p, (size_t)(n - p->node));
}

static bool is_in_folder(const char *path, const char *folder)
{
	size_t len = strlen(folder);
	const char *name = path + len + (len > 0);
	return strncmp(path, folder, len) == 0 && (!len || path[len] == '/') && *name && !strchr(name, '/');
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

// Returns -1 if the operation is not to be done; *loses: it is done, and fails.
static int begin_operation(struct memory_place *p, const char *operation, const char *name, bool *loses, struct err *e)
{
	p->control->operations++;
	enum memory_fate fate =
		p->control->before ? p->control->before(p->control->ctx, operation, name) : MEMORY_GOES_ON;
	*loses = fate == MEMORY_LOSES;
	return fate == MEMORY_FAILS ? err_set(e, p->control->kind, "%s: %s fails", name, operation) : 0;
}

static int end_operation(const struct memory_place *p, bool loses, int result, struct err *e)
{
	return loses ? err_set(e, p->control->kind, "the answer is lost") : result;
}

// --- the place ---

struct place *memory_place_new(struct memory_control *control)
{
	struct memory_place *p = xcalloc(1, sizeof(*p));
	p->base = (struct place){&memory_ops, xstrdup("(memory)")};
	p->control = control;
	add_node(p, "", content_new(p, PLACE_FOLDER))->is_durable = true;
	return &p->base;
}

void memory_place_crash(struct place *place)
{
	struct memory_place *p = place_of(place);
	for (size_t i = p->count; i-- > 0;)
		if (!p->node[i].is_durable)
			forget_node(p, i);
	for (size_t i = 0; i < p->count; i++)
		p->node[i].is_there = p->node[i].is_dead = true;
	p->readers = 0;
	p->has_writer = false;
}

static void memory_free(struct place *place)
{
	struct memory_place *p = place_of(place);
	while (p->count)
		forget_node(p, p->count - 1);
	free(p->node);
	free(p->base.path);
	free(p);
}

static bool memory_answers(const struct place *p UNUSED, const char *below UNUSED, int64_t until_ms UNUSED,
	struct err *why UNUSED)
{
	return true;
}

static int memory_room(const struct place *p, uint64_t *bytes, struct err *e UNUSED)
{
	*bytes = place_of(p)->control->room;
	return 0;
}

static int memory_lock(const struct place *place, bool is_shared, unsigned wait_ms UNUSED, struct place_lock **out,
	struct err *e)
{
	bool loses;
	struct memory_place *p = place_of(place);
	if (begin_operation(p, "lock", "", &loses, e) < 0)
		return -1;
	if (p->has_writer || (p->readers && !is_shared))
		return err_set(e, ERR_BUSY, "another process holds the lock of %s", p->base.path);
	struct memory_lock *lock = xmalloc(sizeof(*lock));
	*lock = (struct memory_lock){{&memory_ops}, p, is_shared};
	p->readers += is_shared;
	p->has_writer = !is_shared;
	*out = &lock->base;
	return 1;
}

static void memory_unlock(struct place_lock *base)
{
	struct memory_lock *lock = (struct memory_lock *)base;
	if (!lock->is_shared)
		lock->place->has_writer = false;
	else if (lock->place->readers) // else the machine has ended meanwhile
		lock->place->readers--;
	free(lock);
}

// --- folders ---

static struct place_folder *open_node(struct memory_place *p, const char *path, struct err *e)
{
	bool loses;
	if (begin_operation(p, "open_folder", path, &loses, e) < 0)
		return NULL;
	const struct node *n = find_node(p, path);
	if (!n || n->content->info.kind != PLACE_FOLDER) {
		err_set(e, ERR_NOT_FOUND, "%s", path);
		return NULL;
	}
	struct memory_folder *f = xmalloc(sizeof(*f));
	*f = (struct memory_folder){{.place = &p->base}, xstrdup(path), content_ref(n->content)};
	return &f->base;
}

static struct place_folder *memory_open_folder(const struct place *p, const char *path, struct err *e)
{
	return open_node(place_of(p), path, e);
}

static struct place_folder *memory_enter(struct place_folder *f, const char *name, struct err *e)
{
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	return open_node(place_of(f->place), path, e);
}

static void memory_folder_close(struct place_folder *base)
{
	struct memory_folder *f = folder_of(base);
	free(f->path);
	content_unref(f->content);
	free(f);
}

// A handle of a folder that was removed meanwhile is of no use.
static int begin_in_folder(struct place_folder *base, const char *operation, const char *name, bool *loses, struct err *e)
{
	struct memory_folder *f = folder_of(base);
	struct memory_place *p = place_of(base->place);
	if (begin_operation(p, operation, name, loses, e) < 0)
		return -1;
	const struct node *n = find_node(p, f->path);
	return n && n->content == f->content ? 0 : err_set(e, ERR_NOT_FOUND, "%s is gone", f->path);
}

static void touch(struct place_folder *f)
{
	folder_of(f)->content->info.version.time_ns = place_of(f->place)->control->now_ns;
}

static int memory_make_folder(struct place_folder *f, const char *name, struct err *e)
{
	bool loses;
	struct memory_place *p = place_of(f->place);
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	if (begin_in_folder(f, "make_folder", name, &loses, e) < 0)
		return -1;
	if (find_node(p, path))
		return end_operation(p, loses, 0, e);
	for (size_t i = p->count; i-- > 0;)
		if (strcmp(p->node[i].path, path) == 0)
			forget_node(p, i);
	add_node(p, path, content_new(p, PLACE_FOLDER))->is_durable = true;
	touch(f);
	return end_operation(p, loses, 1, e);
}

static bool has_entries(const struct memory_place *p, const char *folder)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->node[i].is_there && is_in_folder(p->node[i].path, folder))
			return true;
	return false;
}

static int memory_remove_folder(struct place_folder *f, const char *name, struct err *e)
{
	bool loses;
	struct memory_place *p = place_of(f->place);
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	if (begin_in_folder(f, "remove_folder", name, &loses, e) < 0)
		return -1;
	struct node *n = find_node(p, path);
	if (!n || n->content->info.kind != PLACE_FOLDER || has_entries(p, path))
		return err_set(e, ERR_IO, "%s: no empty folder", path);
	take_name(p, n);
	touch(f);
	return end_operation(p, loses, 0, e);
}

static int memory_folder_info(struct place_folder *f, struct place_info *out, struct err *e)
{
	bool loses;
	*out = folder_of(f)->content->info;
	return begin_in_folder(f, "folder_info", "", &loses, e);
}

// The names are collected first, because fn may change the folder.
static int memory_list(struct place_folder *f, place_list_fn *fn, void *ctx, struct err *e)
{
	bool loses;
	int result = 0;
	struct memory_place *p = place_of(f->place);
	CLEANUP(buf_release) struct buf names;
	buf_init(&names, SIZE_MAX / 2);
	if (begin_in_folder(f, "list", "", &loses, e) < 0)
		return -1;
	for (size_t i = 0; i < p->count; i++) {
		const struct node *n = &p->node[i];
		const char *name = last_name(n->path);
		if (!n->is_there || !is_in_folder(n->path, folder_of(f)->path) || (place_hides(name) && !n->is_leftover))
			continue;
		buf_putc(&names, (char)(n->is_leftover ? PLACE_LEFTOVER : n->content->info.kind));
		buf_add(&names, name, strlen(name) + 1);
	}
	for (const char *at = names.data; at < names.data + names.len && result == 0; at += strlen(at + 1) + 2)
		result = fn(ctx, at + 1, (enum place_kind)*at, e);
	return result;
}

static int memory_stat(struct place_folder *f, const char *name, struct place_info *out, struct err *e)
{
	bool loses;
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	if (begin_in_folder(f, "stat", name, &loses, e) < 0)
		return -1;
	const struct node *n = find_node(place_of(f->place), path);
	if (n)
		*out = n->content->info;
	return n != NULL;
}

static int check_expected(const struct node *n, const char *name, const struct place_version *expected, struct err *e)
{
	return place_is_expected(n ? &n->content->info : NULL, expected) ? 0 : err_set(e, ERR_CONFLICT, "%s has changed", name);
}

static int memory_remove(struct place_folder *f, const char *name, const struct place_version *expected, struct err *e)
{
	bool loses;
	struct memory_place *p = place_of(f->place);
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	if (begin_in_folder(f, "remove", name, &loses, e) < 0)
		return -1;
	struct node *n = find_node(p, path);
	if (check_expected(n, name, expected, e) < 0)
		return -1;
	if (n && n->content->info.kind == PLACE_FOLDER)
		return err_set(e, ERR_IO, "%s: a folder", name);
	bool was_there = n != NULL;
	if (n)
		take_name(p, n);
	touch(f);
	return end_operation(p, loses, was_there, e);
}

static int memory_sync(struct place_folder *f, struct err *e)
{
	bool loses;
	struct memory_place *p = place_of(f->place);
	if (begin_in_folder(f, "sync", "", &loses, e) < 0)
		return -1;
	for (size_t i = p->count; i-- > 0;) {
		struct node *n = &p->node[i];
		if (!is_in_folder(n->path, folder_of(f)->path))
			continue;
		n->is_durable = n->is_there;
		if (!n->is_there)
			forget_node(p, i);
	}
	return end_operation(p, loses, 0, e);
}

static bool memory_sweep(struct place_folder *f, const char *name)
{
	bool loses;
	struct err ignored = ERR_INIT;
	struct memory_place *p = place_of(f->place);
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	struct node *n = find_node(p, path);
	if (begin_in_folder(f, "sweep", name, &loses, &ignored) < 0 || !n || !n->is_leftover || !n->is_dead)
		return false;
	take_name(p, n);
	return true;
}

static enum place_watched memory_watch(struct place_folder *f UNUSED, struct folder_watch *w UNUSED, const char *as UNUSED,
	const char **silent)
{
	*silent = "memory";
	return PLACE_IS_SILENT;
}

// --- files ---

static struct place_file *open_file(struct memory_place *p, const char *path, struct err *e)
{
	bool loses;
	if (begin_operation(p, "open", path, &loses, e) < 0)
		return NULL;
	const struct node *n = find_node(p, path);
	if (!n) {
		err_set(e, ERR_NOT_FOUND, "%s", path);
		return NULL;
	}
	struct memory_file *f = xmalloc(sizeof(*f));
	*f = (struct memory_file){{&memory_ops}, content_ref(n->content)};
	return &f->base;
}

static struct place_file *memory_open(const struct place *p, const char *path, struct err *e)
{
	return open_file(place_of(p), path, e);
}

static struct place_file *memory_open_in(struct place_folder *f, const char *name, struct err *e)
{
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, name);
	return open_file(place_of(f->place), path, e);
}

static struct content *content_of(struct place_file *f)
{
	return ((struct memory_file *)f)->content;
}

static void memory_file_close(struct place_file *f)
{
	content_unref(content_of(f));
	free(f);
}

static int memory_file_info(struct place_file *f, struct place_info *out, struct err *e UNUSED)
{
	*out = content_of(f)->info;
	return 0;
}

static struct byte_source memory_file_source(struct place_file *f, uint64_t size)
{
	return byte_source_memory(str_slice(buf_view(&content_of(f)->bytes), 0, size));
}

static int memory_file_read_at(struct place_file *f, uint64_t offset, void *out, size_t len, size_t *got,
	struct err *e UNUSED)
{
	const struct buf *bytes = &content_of(f)->bytes;
	size_t left = offset < bytes->len ? bytes->len - (size_t)offset : 0;
	*got = left < len ? left : len;
	if (*got)
		memcpy(out, bytes->data + offset, *got);
	return 0;
}

static struct blob *memory_file_blob(struct place_file *f, uint64_t size, struct err *e UNUSED)
{
	struct buf copy;
	buf_init(&copy, SIZE_MAX / 2);
	buf_str(&copy, str_slice(buf_view(&content_of(f)->bytes), 0, size));
	return blob_from_buf(&copy);
}

// --- writing ---

static struct place_write *memory_write_begin(struct place_folder *f, const char *name, struct err *e)
{
	bool loses;
	struct memory_place *p = place_of(f->place);
	if (begin_in_folder(f, "write_begin", name, &loses, e) < 0)
		return NULL;
	struct memory_write *w = xcalloc(1, sizeof(*w));
	struct content *c = content_new(p, PLACE_FILE);
	*w = (struct memory_write){.base = {&memory_ops},
		.folder = folder_of(f),
		.name = xstrdup(name),
		.tmp = xasprintf(".tmp-%llu", (unsigned long long)p->last_id),
		.file = {{&memory_ops}, content_ref(c)}};
	CLEANUP(mem_free) char *path = join(folder_of(f)->path, w->tmp);
	struct node *n = add_node(p, path, c);
	n->is_leftover = n->is_durable = true;
	p->control->leftovers++;
	return &w->base;
}

static struct memory_place *place_of_write(struct memory_write *w)
{
	return place_of(w->folder->base.place);
}

static int memory_write_add(struct place_write *base, struct str bytes, struct err *e)
{
	bool loses;
	struct memory_write *w = (struct memory_write *)base;
	struct memory_place *p = place_of_write(w);
	if (begin_operation(p, "write_add", w->name, &loses, e) < 0)
		return -1;
	if (bytes.len > p->control->room)
		return err_set(e, ERR_FULL, "%s: no room", w->name);
	if (p->control->room != UINT64_MAX)
		p->control->room -= bytes.len;
	buf_str(&w->file.content->bytes, bytes);
	w->file.content->info.version.size += bytes.len;
	return end_operation(p, loses, 0, e);
}

static int memory_write_sync(struct place_write *base, struct err *e)
{
	bool loses;
	struct memory_write *w = (struct memory_write *)base;
	return begin_operation(place_of_write(w), "write_sync", w->name, &loses, e);
}

static struct place_file *memory_write_file(struct place_write *w)
{
	return &((struct memory_write *)w)->file.base;
}

static void remove_leftover(struct memory_write *w)
{
	struct memory_place *p = place_of_write(w);
	CLEANUP(mem_free) char *path = join(w->folder->path, w->tmp ? w->tmp : "");
	struct node *n = w->tmp ? find_node(p, path) : NULL;
	if (n) {
		n->is_durable = false;
		take_name(p, n);
		p->control->leftovers--;
	}
	mem_free(&w->tmp);
}

// Gives the bytes the name, which nothing has.
static void give_name(struct memory_write *w, const char *path)
{
	struct memory_place *p = place_of_write(w);
	w->file.content->info.version.time_ns = p->control->now_ns;
	add_node(p, path, content_ref(w->file.content));
	touch(&w->folder->base);
	remove_leftover(w);
}

static int memory_put_new(struct place_write *base, struct err *e)
{
	bool loses;
	struct memory_write *w = (struct memory_write *)base;
	struct memory_place *p = place_of_write(w);
	CLEANUP(mem_free) char *path = join(w->folder->path, w->name);
	if (begin_in_folder(&w->folder->base, "put_new", w->name, &loses, e) < 0)
		return -1;
	if (find_node(p, path))
		return err_set(e, ERR_CONFLICT, "%s: the name is taken", w->name);
	give_name(w, path);
	return end_operation(p, loses, 0, e);
}

static int memory_replace(struct place_write *base, const struct place_version *expected, struct err *e)
{
	bool loses;
	struct memory_write *w = (struct memory_write *)base;
	struct memory_place *p = place_of_write(w);
	CLEANUP(mem_free) char *path = join(w->folder->path, w->name);
	if (begin_in_folder(&w->folder->base, "replace", w->name, &loses, e) < 0)
		return -1;
	struct node *n = find_node(p, path);
	if (check_expected(n, w->name, expected, e) < 0)
		return -1;
	if (n)
		take_name(p, n);
	give_name(w, path);
	return end_operation(p, loses, 0, e);
}

static void memory_write_abandon(struct place_write *base)
{
	struct memory_write *w = (struct memory_write *)base;
	CLEANUP(mem_free) char *path = join(w->folder->path, w->tmp ? w->tmp : "");
	struct node *n = w->tmp ? find_node(place_of_write(w), path) : NULL;
	if (n)
		n->is_dead = true;
	mem_free(&w->tmp);
}

static void memory_write_free(struct place_write *base)
{
	struct memory_write *w = (struct memory_write *)base;
	remove_leftover(w);
	content_unref(w->file.content);
	free(w->name);
	free(w);
}

static const struct place_ops memory_ops = {
	.free = memory_free,
	.answers = memory_answers,
	.room = memory_room,
	.lock = memory_lock,
	.unlock = memory_unlock,
	.open_folder = memory_open_folder,
	.enter = memory_enter,
	.make_folder = memory_make_folder,
	.remove_folder = memory_remove_folder,
	.folder_close = memory_folder_close,
	.folder_info = memory_folder_info,
	.list = memory_list,
	.stat = memory_stat,
	.remove = memory_remove,
	.sync = memory_sync,
	.sweep = memory_sweep,
	.watch = memory_watch,
	.open = memory_open,
	.open_in = memory_open_in,
	.file_close = memory_file_close,
	.file_info = memory_file_info,
	.file_source = memory_file_source,
	.file_read_at = memory_file_read_at,
	.file_blob = memory_file_blob,
	.write_begin = memory_write_begin,
	.write_add = memory_write_add,
	.write_sync = memory_write_sync,
	.write_file = memory_write_file,
	.put_new = memory_put_new,
	.replace = memory_replace,
	.write_abandon = memory_write_abandon,
	.write_free = memory_write_free,
};
