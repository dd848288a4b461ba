// SPDX-License-Identifier: Apache-2.0
// The locks that say of each package where it is wanted: pylock.toml (PEP 751), poetry.lock and pdm.lock.
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/lock/lock-parts.h"

static const struct toml_value *get(const struct lock_reading *r, const struct toml_value *table, const char *key)
{
	return toml_get(r->toml, table, str_from(key));
}

// Adds the package of a table with name and version.
static int add_table(struct lock_reading *r, const struct toml_value *t)
{
	struct str name, version, python;
	const char *key = r->lock->kind == LOCK_PDM      ? "requires_python"
			  : r->lock->kind == LOCK_POETRY ? "python-versions"
							 : "requires-python";
	if (t->kind != TOML_TABLE)
		return lock_refuse(r, t->line, "a package is no table");
	if (lock_get_text(r, t, "name", &name) < 0 || lock_get_text(r, t, "version", &version) < 0 ||
		lock_get_text(r, t, key, &python) < 0 || lock_add_package(r, name, version, t->line) < 0)
		return -1;
	r->lock->package[r->lock->packages - 1].requires_python = python.len ? python.ptr : NULL;
	return 0;
}

static void set_source(struct lock_reading *r, const char *source)
{
	r->lock->package[r->lock->packages - 1].source = source;
	r->lock->skipped++;
}

// The first of these keys that a table has is the package's source, which is no index. NULL ends them.
static void find_source(struct lock_reading *r, const struct toml_value *t, const char *const *key)
{
	for (; *key; key++)
		if (get(r, t, *key)) {
			set_source(r, *key);
			return;
		}
}

// Adds a file of a list of tables: {file | url, hash}.
static int add_listed_files(struct lock_reading *r, const struct toml_value *list)
{
	for (const struct toml_value *f = toml_first(list); f; f = toml_next(f)) {
		struct str file, url, hash;
		if (lock_get_text(r, f, "file", &file) < 0 || lock_get_text(r, f, "url", &url) < 0 ||
			lock_get_text(r, f, "hash", &hash) < 0)
			return -1;
		if (!file.len && !url.len)
			return lock_refuse(r, f->line, "a file has no name");
		if (lock_add_file(r, file, url, hash, -1, f->line) < 0)
			return -1;
	}
	return 0;
}

// --- pylock.toml ---

static int add_pylock_file(struct lock_reading *r, const struct toml_value *f)
{
	struct str name, url, path, sha256;
	const struct toml_value *hashes = get(r, f, "hashes"), *size = get(r, f, "size");
	int64_t bytes = -1;
	if (lock_get_text(r, f, "name", &name) < 0 || lock_get_text(r, f, "url", &url) < 0 ||
		lock_get_text(r, f, "path", &path) < 0 || lock_get_text(r, hashes, "sha256", &sha256) < 0)
		return -1;
	if (!name.len && !url.len) {
		name = str_slice(path, (size_t)(str_rfind(path, '/') + 1), path.len);
		if (!name.len)
			return lock_refuse(r, f->line, "a file has no name");
	}
	if (size && !toml_integer(size, &bytes))
		return lock_refuse(r, size->line, "size is no number");
	CLEANUP(mem_free) char *hash = sha256.len ? xasprintf("sha256:" STR_FMT, STR_ARG(sha256)) : NULL;
	return lock_add_file(r, name, url, str_from(hash ? hash : ""), bytes, f->line);
}

// Of an archive only the bytes count: its URL may name no file.
static int add_pylock_archive(struct lock_reading *r, const struct toml_value *archive)
{
	struct str sha256;
	if (!archive || lock_get_text(r, get(r, archive, "hashes"), "sha256", &sha256) < 0)
		return archive ? -1 : 0;
	CLEANUP(mem_free) char *hash = xasprintf("sha256:" STR_FMT, STR_ARG(sha256));
	return sha256.len ? lock_add_file(r, STR(""), STR(""), str_from(hash), -1, archive->line) : 0;
}

int lock_read_pylock(struct lock_reading *r)
{
	static const char *const sources[] = {"vcs", "directory", "archive", NULL};
	const struct toml_value *root = &r->toml->root, *list = get(r, root, "packages");
	struct str python, marker;
	if (lock_check_version(r, root, "lock-version", 1, 1) < 0 ||
		lock_get_text(r, root, "requires-python", &python) < 0)
		return -1;
	lock_set_python(r, python);
	for (const struct toml_value *t = toml_first(list); t; t = toml_next(t)) {
		const struct toml_value *sdist = get(r, t, "sdist");
		if (add_table(r, t) < 0 || lock_get_text(r, t, "marker", &marker) < 0 ||
			lock_add_wanted(r, NULL, marker, t->line) < 0)
			return -1;
		find_source(r, t, sources);
		if (add_pylock_archive(r, get(r, t, "archive")) < 0 || (sdist && add_pylock_file(r, sdist) < 0))
			return -1;
		for (const struct toml_value *f = toml_first(get(r, t, "wheels")); f; f = toml_next(f))
			if (add_pylock_file(r, f) < 0)
				return -1;
	}
	return 0;
}

// --- poetry.lock ---

// The marker of a group: one for all, or from poetry 2 on a table.
static int get_poetry_marker(struct lock_reading *r, const struct toml_value *t, struct str group, struct str *out)
{
	const struct toml_value *v = get(r, t, "markers");
	*out = STR("");
	if (!v || v->kind != TOML_TABLE)
		return lock_get_text(r, t, "markers", out);
	CLEANUP(mem_free) char *key = xstrndup(group.ptr, group.len);
	return lock_get_text(r, v, key, out);
}

static int add_poetry_group(struct lock_reading *r, const struct toml_value *t, struct str group)
{
	struct str marker;
	CLEANUP(mem_free) char *name = xstrndup(group.ptr, group.len);
	if (get_poetry_marker(r, t, group, &marker) < 0)
		return -1;
	return lock_add_wanted(r, strcmp(name, "main") == 0 ? NULL : name, marker, t->line);
}

static int add_poetry_groups(struct lock_reading *r, const struct toml_value *t)
{
	struct str category;
	const struct toml_value *groups = get(r, t, "groups");
	if (lock_get_text(r, t, "category", &category) < 0)
		return -1;
	if (!toml_first(groups)) // before poetry 2; before 1.5 the category is main or dev
		return add_poetry_group(r, t, category.len ? category : STR("main"));
	for (const struct toml_value *g = toml_first(groups); g; g = toml_next(g))
		if (add_poetry_group(r, t, toml_text(g)) < 0)
			return -1;
	return 0;
}

static int add_poetry_package(struct lock_reading *r, const struct toml_value *t)
{
	const struct toml_value *source = get(r, t, "source"),
				*all = get(r, get(r, &r->toml->root, "metadata"), "files");
	struct str type, name;
	if (add_table(r, t) < 0 || lock_get_text(r, t, "name", &name) < 0 ||
		lock_get_text(r, source, "type", &type) < 0 || add_poetry_groups(r, t) < 0)
		return -1;
	if (type.len && !str_eq(type, STR("legacy")))
		set_source(r, type.ptr);
	if (add_listed_files(r, get(r, t, "files")) < 0)
		return -1;
	return add_listed_files(r, toml_get(r->toml, all, name)); // before poetry 1.3
}

int lock_read_poetry(struct lock_reading *r)
{
	const struct toml_value *root = &r->toml->root, *metadata = get(r, root, "metadata");
	struct str python;
	if (lock_check_version(r, metadata, "lock-version", 1, 2) < 0 ||
		lock_get_text(r, metadata, "python-versions", &python) < 0)
		return -1;
	lock_set_python(r, python); // "^3.9" is poetry's own: then no Python is left out
	for (const struct toml_value *t = toml_first(get(r, root, "package")); t; t = toml_next(t))
		if (add_poetry_package(r, t) < 0)
			return -1;
	return 0;
}

// --- pdm.lock ---

// pdm writes groups and extras into one list. "default" is neither.
static int add_pdm_groups(struct lock_reading *r, const struct toml_value *t)
{
	struct str marker;
	size_t number, root, slot = r->lock->package[r->lock->packages - 1].slot;
	const struct toml_value *groups = get(r, t, "groups");
	if (lock_get_text(r, t, "marker", &marker) < 0)
		return -1;
	if (!toml_first(groups))
		return lock_add_wanted(r, NULL, marker, t->line);
	if (lock_find_marker(r, marker, t->line, &number) < 0)
		return -1;
	if (number)
		r->lock->package[r->lock->packages - 1].marker = r->lock->marker[number];
	for (const struct toml_value *g = toml_first(groups); g; g = toml_next(g)) {
		CLEANUP(mem_free) char *name = xstrndup(toml_text(g).ptr, toml_text(g).len);
		const char *word = strcmp(name, "default") == 0 ? NULL : name;
		if (lock_find_root(r, word, word, g->line, &root) < 0 || lock_add_edge(r, root, slot, number) < 0)
			return -1;
	}
	return 0;
}

static int add_pdm_package(struct lock_reading *r, const struct toml_value *t)
{
	static const char *const sources[] = {"git", "hg", "svn", "bzr", "path", "url", NULL};
	const struct toml_value *all = get(r, get(r, &r->toml->root, "metadata"), "files");
	struct str name, version;
	if (add_table(r, t) < 0 || lock_get_text(r, t, "name", &name) < 0 ||
		lock_get_text(r, t, "version", &version) < 0 || add_pdm_groups(r, t) < 0)
		return -1;
	find_source(r, t, sources);
	if (add_listed_files(r, get(r, t, "files")) < 0)
		return -1;
	// Before pdm 2.8 the files stand together.
	CLEANUP(mem_free) char *key = xasprintf(STR_FMT " " STR_FMT, STR_ARG(name), STR_ARG(version));
	return add_listed_files(r, get(r, all, key));
}

int lock_read_pdm(struct lock_reading *r)
{
	const struct toml_value *root = &r->toml->root, *metadata = get(r, root, "metadata");
	const struct toml_value *target = toml_first(get(r, metadata, "targets"));
	struct str python;
	if (lock_check_version(r, metadata, "lock_version", 4, 4) < 0 ||
		lock_get_text(r, target, "requires_python", &python) < 0)
		return -1;
	if (target && !toml_next(target))
		lock_set_python(r, python);
	for (const struct toml_value *t = toml_first(get(r, root, "package")); t; t = toml_next(t))
		if (add_pdm_package(r, t) < 0)
			return -1;
	return 0;
}
