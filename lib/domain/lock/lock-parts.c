// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock-parts.h"

#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/domain/machine/marker.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"
#include "lib/net/url.h"

// --- errors ---

// Puts "path:line: " in front of the error.
static int prefix_lock_error(struct lock_reading *r, unsigned line)
{
	if (r->e->kind != ERR_LIMIT)
		r->e->kind = ERR_INVALID;
	return r->has_prefix ? -1 : err_prefix(r->e, "%s:%u: ", r->path, line);
}

int lock_refuse(struct lock_reading *r, unsigned line, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	CLEANUP(mem_free) char *why = xvasprintf(fmt, ap);
	va_end(ap);
	err_set(r->e, ERR_INVALID, "%s", why);
	return prefix_lock_error(r, line);
}

static int check_count(struct lock_reading *r, size_t count, size_t most, const char *what, unsigned line)
{
	if (count < most)
		return 0;
	err_set(r->e, ERR_LIMIT, "more than %zu %s", most, what);
	return prefix_lock_error(r, line);
}

// --- packages and files ---

int lock_add_package(struct lock_reading *r, struct str project, struct str version, unsigned line)
{
	struct lock *l = r->lock;
	if (check_count(r, l->packages, LIMIT_LOCK_PACKAGES, "packages", line) < 0)
		return -1;
	if (!name_is_valid(project) || project.len > LIMIT_FILE_NAME)
		return lock_refuse(r, line, "\"" STR_FMT "\" is no name of a project", STR_ARG(str_head(project, 80)));
	if (version.len && !version_is_valid(version))
		return lock_refuse(r, line, "\"" STR_FMT "\" is no version", STR_ARG(str_head(version, 80)));
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(project, &normal);
	GROW(l->package, l->packages, l->package_room);
	l->package[l->packages] = (struct lock_package){
		.project = arena_copy(&l->room, buf_view(&normal)),
		.version = version.len ? arena_copy(&l->room, version) : NULL,
		.line = line,
		.file = l->files,
		.slot = lock_add_slot(r, &(struct lock_slot){.package = l->packages}),
	};
	l->packages++;
	return 0;
}

static int read_hash(struct lock_reading *r, struct str hash, struct lock_file *f)
{
	struct str rest = hash, name = str_cut(&rest, ':');
	if (!str_eq_nocase(name, STR("sha256")))
		return 0;
	f->has_sha256 = rest.len == 2 * SHA256_SIZE && hex_decode(rest, f->sha256, SHA256_SIZE);
	return f->has_sha256 ? 0
			     : lock_refuse(r, f->line, "\"" STR_FMT "\" is no SHA-256", STR_ARG(str_head(hash, 80)));
}

int lock_add_file(struct lock_reading *r, struct str filename, struct str url, struct str hash, int64_t size,
	unsigned line)
{
	struct lock *l = r->lock;
	struct lock_file f = {.size = size, .line = line};
	CLEANUP(buf_release) struct buf last = buf_up_to(LIMIT_FILE_NAME);
	if (check_count(r, l->files, LIMIT_LOCK_FILES, "files", line) < 0 || read_hash(r, hash, &f) < 0)
		return -1;
	if (!filename.len && url.len) {
		if (!url_filename(url, &last) || last.failed)
			return lock_refuse(r, line, "\"" STR_FMT "\" names no file", STR_ARG(str_head(url, 160)));
		filename = buf_view(&last);
	}
	if (filename.len && filename_check(filename, r->e) < 0)
		return prefix_lock_error(r, line);
	f.filename = filename.len ? arena_copy(&l->room, filename) : NULL;
	f.url = url.len ? url.ptr : NULL;
	GROW(l->file, l->files, l->file_room);
	l->file[l->files++] = f;
	l->package[l->packages - 1].files++;
	return 0;
}

// --- who wants what ---

size_t lock_add_slot(struct lock_reading *r, const struct lock_slot *slot)
{
	struct lock *l = r->lock;
	GROW(l->slot, l->slots, l->slot_room);
	l->slot[l->slots] = *slot;
	return l->slots++;
}

static bool is_same_word(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

int lock_find_root(struct lock_reading *r, const char *group, const char *extra, unsigned line, size_t *slot)
{
	struct lock *l = r->lock;
	for (size_t i = 0; i < r->roots; i++) {
		const struct lock_slot *root = &l->slot[r->root[i]];
		*slot = r->root[i];
		if (is_same_word(root->group, group) && is_same_word(root->extra, extra))
			return 0;
	}
	if (check_count(r, r->roots, LIMIT_LOCK_GROUPS, "groups and extras", line) < 0)
		return -1;
	struct lock_slot root = {.package = LOCK_NO_PACKAGE,
		.is_root = true,
		.group = arena_strdup(&l->room, group),
		.extra = arena_strdup(&l->room, extra)};
	*slot = lock_add_slot(r, &root);
	GROW(r->root, r->roots, r->root_room);
	r->root[r->roots++] = *slot;
	return 0;
}

static size_t *find_marker_place(const struct lock_reading *r, struct str marker)
{
	size_t at = hash_of(marker, 0) & (r->marker_room - 1);
	while (r->marker_index[at] && !str_eq(str_from(r->lock->marker[r->marker_index[at]]), marker))
		at = (at + 1) & (r->marker_room - 1);
	return &r->marker_index[at];
}

static void enlarge_marker_index(struct lock_reading *r)
{
	free(r->marker_index);
	r->marker_room = r->marker_room ? r->marker_room * 2 : 64;
	r->marker_index = xcalloc(r->marker_room, sizeof(*r->marker_index));
	for (size_t i = 1; i < r->lock->markers; i++)
		*find_marker_place(r, str_from(r->lock->marker[i])) = i;
}

int lock_find_marker(struct lock_reading *r, struct str marker, unsigned line, size_t *number)
{
	struct lock *l = r->lock;
	*number = 0;
	if (!marker.len)
		return 0;
	if (l->markers * 2 >= r->marker_room)
		enlarge_marker_index(r);
	size_t *place = find_marker_place(r, marker);
	if (!*place) {
		if (marker_check(marker, r->e) < 0)
			return prefix_lock_error(r, line);
		GROW(l->marker, l->markers, l->marker_room);
		l->marker[l->markers] = arena_copy(&l->room, marker);
		*place = l->markers++;
	}
	*number = *place;
	return 0;
}

int lock_add_edge(struct lock_reading *r, size_t from, size_t to, size_t marker)
{
	struct lock *l = r->lock;
	// As many as values: a dependency on a name with many versions is multiplied.
	if (check_count(r, l->edges, LIMIT_TOML_VALUES + l->text.len / LIMIT_TOML_VALUE, "dependencies", 1) < 0)
		return -1;
	GROW(l->edge, l->edges, l->edge_room);
	l->edge[l->edges++] = (struct lock_edge){from, to, marker};
	l->slot[from].edges++;
	return 0;
}

int lock_add_wanted(struct lock_reading *r, const char *group, struct str marker, unsigned line)
{
	struct lock_package *p = &r->lock->package[r->lock->packages - 1];
	size_t root, number;
	if (lock_find_root(r, group, NULL, line, &root) < 0 || lock_find_marker(r, marker, line, &number) < 0)
		return -1;
	if (number)
		p->marker = r->lock->marker[number];
	return lock_add_edge(r, root, p->slot, number);
}

// --- TOML ---

int lock_get_text(struct lock_reading *r, const struct toml_value *table, const char *key, struct str *out)
{
	const struct toml_value *v = toml_get(r->toml, table, str_from(key));
	*out = v && v->kind == TOML_STRING ? toml_text(v) : STR("");
	if (v && (v->kind != TOML_STRING || memchr(out->ptr, '\0', out->len)))
		return lock_refuse(r, v->line, "%s is no text", key);
	return 0;
}

int lock_check_version(struct lock_reading *r, const struct toml_value *table, const char *key, int least, int most)
{
	const struct toml_value *v = toml_get(r->toml, table, str_from(key));
	struct str text = v ? toml_text(v) : STR("");
	char major[8] = "";
	struct str rest = text, head = str_cut(&rest, '.');
	if (head.len && head.len < sizeof(major) && ascii_is_digit(head.ptr[0]))
		memcpy(major, head.ptr, head.len);
	long version = strtol(major, NULL, 10);
	if (*major && version >= least && version <= most)
		return 0;
	return lock_refuse(r, v ? v->line : 1, "version \"" STR_FMT "\" of %s is not known",
		STR_ARG(str_head(text, 40)), lock_kind_name[r->lock->kind]);
}

void lock_set_python(struct lock_reading *r, struct str specifier)
{
	if (specifier.len && specifier_set_is_valid(specifier))
		r->lock->requires_python = arena_copy(&r->lock->room, specifier);
}
