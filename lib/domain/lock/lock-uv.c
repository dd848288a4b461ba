// SPDX-License-Identifier: Apache-2.0
// uv.lock: a graph. What is wanted is what the members of the workspace reach by dependencies whose markers hold.
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/lock/lock-parts.h"
#include "lib/domain/text/name.h"

struct uv_reading {
	struct lock_reading *r;
	struct strset members; // of the workspace; none: the one that lies in "."
	size_t *by_name;       // packages by project
};

static const struct toml_value *get(const struct lock_reading *r, const struct toml_value *table, const char *key)
{
	return toml_get(r->toml, table, str_from(key));
}

// --- packages ---

static int add_uv_file(struct lock_reading *r, const struct toml_value *f)
{
	struct str name, url, path, hash;
	const struct toml_value *size = get(r, f, "size");
	int64_t bytes = -1;
	if (lock_get_text(r, f, "filename", &name) < 0 || lock_get_text(r, f, "url", &url) < 0 ||
		lock_get_text(r, f, "path", &path) < 0 || lock_get_text(r, f, "hash", &hash) < 0)
		return -1;
	if (!name.len && !url.len) {
		name = str_slice(path, (size_t)(str_rfind(path, '/') + 1), path.len);
		if (!name.len)
			return lock_refuse(r, f->line, "a file has no name");
	}
	if (size && !toml_integer(size, &bytes))
		return lock_refuse(r, size->line, "size is no number");
	return lock_add_file(r, name, url, hash, bytes, f->line);
}

// The kind of a source that is no index, and whether the package is of the workspace: then it lies in it.
static const char *find_source(const struct lock_reading *r, const struct toml_value *source, bool *is_local)
{
	static const char *const kinds[] = {"git", "url", "path", "directory", "editable", "virtual"};
	*is_local = false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (get(r, source, kinds[i])) {
			*is_local = i >= 3;
			return kinds[i];
		}
	return NULL;
}

static bool is_member(const struct uv_reading *u, const struct toml_value *source, const struct lock_package *p)
{
	if (u->members.count)
		return strset_has(&u->members, p->project);
	return source->len == 1 && str_eq(toml_text(toml_first(source)), STR("."));
}

static void join_markers(struct lock_reading *r, const struct toml_value *list, struct lock_package *p)
{
	CLEANUP(buf_release) struct buf all = buf_up_to(LIMIT_LOCK);
	for (const struct toml_value *v = toml_first(list); v; v = toml_next(v)) {
		buf_puts(&all, all.len ? " or " : "");
		buf_str(&all, toml_text(v));
	}
	p->marker = all.len ? arena_copy(&r->lock->room, buf_view(&all)) : NULL;
}

static int add_slots(struct lock_reading *r, const struct toml_value *table, bool is_root, bool is_group)
{
	if (table && table->len > LIMIT_LOCK_GROUPS)
		return lock_refuse(r, table->line, "more than %d groups or extras", LIMIT_LOCK_GROUPS);
	for (const struct toml_value *v = toml_first(table); v; v = toml_next(v)) {
		const char *name = arena_copy(&r->lock->room, (struct str){v->key, v->key_len});
		struct lock_slot slot = {.package = r->lock->packages - 1,
			.is_root = is_root,
			.group = is_group ? name : NULL,
			.extra = is_group ? NULL : name};
		lock_add_slot(r, &slot);
	}
	return 0;
}

static const struct toml_value *groups_of(const struct lock_reading *r, const struct toml_value *t)
{
	const struct toml_value *groups = get(r, t, "dependency-groups");
	return groups ? groups : get(r, t, "dev-dependencies");
}

// Adds a package with its files and its slots; its dependencies come when all packages are known.
static int add_uv_package(struct uv_reading *u, const struct toml_value *t)
{
	struct lock_reading *r = u->r;
	struct str name, version;
	bool is_local;
	const struct toml_value *sdist = get(r, t, "sdist"), *source = get(r, t, "source");
	if (t->kind != TOML_TABLE)
		return lock_refuse(r, t->line, "a package is no table");
	if (lock_get_text(r, t, "name", &name) < 0 || lock_get_text(r, t, "version", &version) < 0 ||
		lock_add_package(r, name, version, t->line) < 0)
		return -1;
	struct lock_package *p = &r->lock->package[r->lock->packages - 1];
	p->source = find_source(r, source, &is_local);
	r->lock->skipped += p->source != NULL;
	bool is_root = is_local && is_member(u, source, p);
	r->lock->slot[p->slot].is_root = is_root;
	join_markers(r, get(r, t, "resolution-markers"), p);
	if (add_slots(r, get(r, t, "optional-dependencies"), is_root, false) < 0 ||
		add_slots(r, groups_of(r, t), is_root, true) < 0 || (sdist && add_uv_file(r, sdist) < 0))
		return -1;
	for (const struct toml_value *f = toml_first(get(r, t, "wheels")); f; f = toml_next(f))
		if (add_uv_file(r, f) < 0)
			return -1;
	return 0;
}

// --- dependencies ---

static int compare_packages(const void *a, const void *b, void *ctx)
{
	const struct lock *l = ctx;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	int order = strcmp(l->package[left].project, l->package[right].project);
	return order ? order : (left > right) - (left < right);
}

static size_t find_first(const struct uv_reading *u, const char *project)
{
	const struct lock *l = u->r->lock;
	size_t low = 0, high = l->packages;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (strcmp(l->package[u->by_name[middle]].project, project) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_extras(struct uv_reading *u, size_t from, const struct lock_package *p, const struct toml_value *extras,
	size_t marker)
{
	const struct lock *l = u->r->lock;
	for (const struct toml_value *v = toml_first(extras); v; v = toml_next(v))
		for (size_t i = p->slot + 1; i < l->slots && l->slot[i].package == l->slot[p->slot].package; i++)
			if (l->slot[i].extra && str_eq(str_from(l->slot[i].extra), toml_text(v)) &&
				lock_add_edge(u->r, from, i, marker) < 0)
				return -1;
	return 0;
}

// A dependency {name, version, extra, marker}; without a version on all versions of the lock.
static int add_dependency(struct uv_reading *u, size_t from, const struct toml_value *t)
{
	struct lock *l = u->r->lock;
	struct str name, version, marker;
	size_t number;
	if (lock_get_text(u->r, t, "name", &name) < 0 || lock_get_text(u->r, t, "version", &version) < 0 ||
		lock_get_text(u->r, t, "marker", &marker) < 0 || lock_find_marker(u->r, marker, t->line, &number) < 0)
		return -1;
	CLEANUP(buf_release) struct buf project = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(name, &project);
	const struct toml_value *extras = get(u->r, t, "extra");
	bool is_found = false;
	for (size_t i = find_first(u, project.data); i < l->packages; i++) {
		const struct lock_package *p = &l->package[u->by_name[i]];
		if (strcmp(p->project, project.data) != 0)
			break;
		if (version.len && p->version && !str_eq(str_from(p->version), version))
			continue;
		is_found = true;
		if (lock_add_edge(u->r, from, p->slot, number) < 0 || add_extras(u, from, p, extras, number) < 0)
			return -1;
	}
	return is_found ? 0 : lock_refuse(u->r, t->line, "the lock has no " STR_FMT, STR_ARG(str_head(name, 80)));
}

static int add_dependencies(struct uv_reading *u, size_t from, const struct toml_value *list)
{
	for (const struct toml_value *v = toml_first(list); v; v = toml_next(v))
		if (add_dependency(u, from, v) < 0)
			return -1;
	return 0;
}

// The slots stand in the order in which add_uv_package() has added them.
static int add_all_dependencies(struct uv_reading *u, const struct toml_value *packages)
{
	size_t slot = 0;
	for (const struct toml_value *t = toml_first(packages); t; t = toml_next(t)) {
		if (add_dependencies(u, slot++, get(u->r, t, "dependencies")) < 0)
			return -1;
		const struct toml_value *tables[] = {get(u->r, t, "optional-dependencies"), groups_of(u->r, t)};
		for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
			for (const struct toml_value *v = toml_first(tables[i]); v; v = toml_next(v))
				if (add_dependencies(u, slot++, v) < 0)
					return -1;
	}
	return 0;
}

// What a script, or a workspace that is no project, wants itself. What nobody wants otherwise, because the lock has no
// member, is wanted everywhere.
static int add_own_dependencies(struct uv_reading *u, const struct toml_value *manifest)
{
	struct lock *l = u->r->lock;
	size_t root;
	const struct toml_value *own = get(u->r, manifest, "requirements"),
				*groups = get(u->r, manifest, "dependency-groups");
	for (const struct toml_value *v = toml_first(groups); v; v = toml_next(v)) {
		CLEANUP(mem_free) char *name = xstrndup(v->key, v->key_len);
		if (lock_find_root(u->r, name, NULL, v->line, &root) < 0 || add_dependencies(u, root, v) < 0)
			return -1;
	}
	if (own)
		return lock_find_root(u->r, NULL, NULL, own->line, &root) < 0 ? -1 : add_dependencies(u, root, own);
	for (size_t i = 0; i < l->slots; i++)
		if (l->slot[i].is_root)
			return 0;
	if (lock_find_root(u->r, NULL, NULL, 1, &root) < 0)
		return -1;
	for (size_t i = 0; i < root; i++)
		if (lock_add_edge(u->r, root, i, 0) < 0)
			return -1;
	return 0;
}

static int read_all(struct uv_reading *u)
{
	struct lock_reading *r = u->r;
	const struct toml_value *root = &r->toml->root, *manifest = get(r, root, "manifest"),
				*packages = get(r, root, "package");
	struct str python;
	if (lock_check_version(r, root, "version", 1, 1) < 0 || lock_get_text(r, root, "requires-python", &python) < 0)
		return -1;
	lock_set_python(r, python);
	for (const struct toml_value *v = toml_first(get(r, manifest, "members")); v; v = toml_next(v))
		if (v->kind == TOML_STRING)
			strset_add(&u->members, toml_text(v).ptr);
	strset_sort(&u->members);
	for (const struct toml_value *t = toml_first(packages); t; t = toml_next(t))
		if (add_uv_package(u, t) < 0)
			return -1;
	u->by_name = xcalloc(r->lock->packages + 1, sizeof(size_t));
	for (size_t i = 0; i < r->lock->packages; i++)
		u->by_name[i] = i;
	qsort_r(u->by_name, r->lock->packages, sizeof(size_t), compare_packages, r->lock);
	return add_all_dependencies(u, packages) < 0 ? -1 : add_own_dependencies(u, manifest);
}

int lock_read_uv(struct lock_reading *r)
{
	struct uv_reading u = {.r = r};
	int result = read_all(&u);
	strset_release(&u.members);
	free(u.by_name);
	return result;
}
