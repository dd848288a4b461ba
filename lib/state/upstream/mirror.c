// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/mirror.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/domain/text/name.h"
#include "lib/format/jsonmap.h"
#include "lib/os/clock.h"
#include "lib/place/record.h"

enum { NAME_MOST = 64, VALUES_OF_FILE = 8, VALUES_OF_MIRROR = 32 };

// --- the form ---

static bool is_project_of_mirror(struct str text)
{
	return name_is_valid(text) && name_is_normal(text);
}

static const struct jsonmap_field file_fields[] = {
	JSONMAP_TEXT("upstream", struct mirror_file, upstream, .limit = LIMIT_FILE_NAME),
	JSONMAP_TEXT("project", struct mirror_file, project, .limit = LIMIT_FILE_NAME,
		.is_valid = is_project_of_mirror),
	JSONMAP_TEXT("filename", struct mirror_file, filename, .limit = LIMIT_FILE_NAME),
	JSONMAP_INTEGER("size", struct mirror_file, size, .none = -1, .absent = JSONMAP_OMITTED),
	JSONMAP_SHA256("sha256", struct mirror_file, sha256),
};
static const struct jsonmap file_map = JSONMAP(struct mirror_file, file_fields);

static const struct jsonmap_field mirror_fields[] = {
	JSONMAP_TEXT("by", struct mirror, who, .limit = LIMIT_WORDS, .is_sentence = true),
	JSONMAP_TIME("made", struct mirror, made),
	JSONMAP_TIME("changed", struct mirror, changed),
	JSONMAP_LIST("files", struct mirror, file, files, &file_map, .limit = LIMIT_MIRROR_FILES),
};
static const struct jsonmap mirror_map = JSONMAP(struct mirror, mirror_fields);

bool mirror_name_is_valid(struct str name)
{
	return name.len <= NAME_MOST && name_is_valid(name);
}

// Its name is not in the text.
static int parse_mirror(struct str json, struct mirror *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_MIRROR_FILES * VALUES_OF_FILE + VALUES_OF_MIRROR, e);
	return doc ? jsonmap_read(&mirror_map, doc, out, &out->text, e) : -1;
}

// --- reading ---

// *folder NULL: there is none.
static int open_mirrors(const char *path, bool make, struct place_folder **folder, struct err *e)
{
	struct err missing = ERR_INIT;
	*folder = record_secret_folder(path, "", make, &missing);
	return *folder ? 0 : err_unless_missing(e, &missing);
}

static int refuse_mirror(const char *name, struct err *e)
{
	e->kind = e->kind == ERR_NOT_FOUND || e->kind == ERR_IO ? e->kind : ERR_INVALID;
	return err_prefix(e, "mirror %s: ", name);
}

int mirror_parse(struct str json, const char *name, struct mirror *out, struct err *e)
{
	*out = (struct mirror){0};
	if (parse_mirror(json, out, e) < 0) {
		mirror_release(out);
		return refuse_mirror(name, e);
	}
	out->name = arena_strdup(&out->text, name);
	return 0;
}

static int read_mirror(struct place_folder *folder, const char *name, struct mirror *out, struct err *e)
{
	CLEANUP(buf_release) struct buf json = buf_up_to(LIMIT_MIRROR);
	*out = (struct mirror){0};
	return record_read(folder, name, LIMIT_MIRROR, &json, e) < 0 ? refuse_mirror(name, e)
								      : mirror_parse(buf_view(&json), name, out, e);
}

int mirror_read(const char *path, const char *name, struct mirror *out, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	*out = (struct mirror){0};
	if (open_mirrors(path, false, &folder, e) < 0)
		return -1;
	if (!folder || !mirror_name_is_valid(str_from(name)))
		return err_set(e, ERR_NOT_FOUND, "there is no mirror %s; wheelcache mirror list names them", name);
	if (read_mirror(folder, name, out, e) == 0)
		return 0;
	return e->kind == ERR_NOT_FOUND
		       ? err_set(e, ERR_NOT_FOUND, "there is no mirror %s; wheelcache mirror list names them", name)
		       : -1;
}

void mirror_release(struct mirror *m)
{
	arena_release(&m->text);
	*m = (struct mirror){0};
}

static int add_mirror_name(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e UNUSED)
{
	if (mirror_name_is_valid(str_from(name)))
		strset_add(ctx, name);
	return 0;
}

static int list_mirrors(struct place_folder *folder, struct strset *names, struct err *e)
{
	if (folder && record_names(folder, add_mirror_name, names, e) < 0)
		return -1;
	strset_sort(names);
	return 0;
}

int mirror_each(const char *path, mirror_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	CLEANUP(strset_release) struct strset names = {0};
	if (open_mirrors(path, false, &folder, e) < 0 || list_mirrors(folder, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		struct err why = ERR_INIT;
		CLEANUP(mirror_release) struct mirror m = {0};
		if (read_mirror(folder, names.item[i], &m, &why) == 0) {
			if (fn(ctx, &m, e) < 0)
				return -1;
		} else if (err_unless_missing(e, &why) < 0) { // it has just ended
			return -1;
		}
	}
	return 0;
}

struct mirror_marking {
	struct place_folder *folder;
	uint64_t mark;
};

static int add_mirror_mark(void *ctx, const char *name, enum place_kind kind UNUSED, struct err *e)
{
	struct mirror_marking *m = ctx;
	struct place_info info = {0};
	if (!mirror_name_is_valid(str_from(name)))
		return 0;
	int found = place_stat(m->folder, name, &info, e);
	CLEANUP(mem_free)
	char *text = xasprintf("%s %llu %lld %llu", name, (unsigned long long)info.version.size,
		(long long)info.version.time_ns, (unsigned long long)info.version.id);
	if (found > 0)
		m->mark += hash_of(str_from(text), 1);
	return found < 0 ? -1 : 0;
}

int mirror_mark(const char *path, uint64_t *mark, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	*mark = 0;
	if (open_mirrors(path, false, &folder, e) < 0)
		return -1;
	struct mirror_marking m = {folder, 0};
	if (folder && record_names(folder, add_mirror_mark, &m, e) < 0)
		return -1;
	*mark = m.mark;
	return 0;
}

// --- changing ---

static int compare_mirror_files(const void *a, const void *b)
{
	const struct mirror_file *x = a, *y = b;
	int order = strcmp(x->project, y->project);
	order = order ? order : strcmp(x->filename, y->filename);
	order = order ? order : strcmp(x->upstream, y->upstream);
	return order ? order : memcmp(x->sha256, y->sha256, SHA256_SIZE);
}

// Sorts the files, each once.
static void put_in_order(struct mirror *m)
{
	size_t kept = 0;
	if (m->files)
		qsort(m->file, m->files, sizeof(*m->file), compare_mirror_files);
	for (size_t i = 0; i < m->files; i++) {
		struct mirror_file *last = kept ? &m->file[kept - 1] : NULL;
		if (!last || compare_mirror_files(last, &m->file[i]) != 0)
			m->file[kept++] = m->file[i];
		else if (last->size < 0)
			last->size = m->file[i].size;
	}
	m->files = kept;
}

struct mirror_writing {
	enum mirror_change way;
	const struct mirror *with;
};

static int write_mirror(void *ctx, struct str before, struct place_write *now, struct err *e)
{
	const struct mirror_writing *w = ctx;
	CLEANUP(mirror_release) struct mirror m = {0};
	CLEANUP(buf_release) struct buf json = buf_up_to(LIMIT_MIRROR);
	const bool is_new = !before.len;
	if (is_new && w->way != MIRROR_ADD)
		return err_set(e, ERR_NOT_FOUND, "mirror %s has ended meanwhile", w->with->name);
	if (!is_new && parse_mirror(before, &m, e) < 0)
		return err_prefix(e, "mirror %s: ", w->with->name);
	struct mirror_file *file = m.file;
	size_t files = w->way == MIRROR_REPLACE ? 0 : m.files;
	m.file = arena_alloc_aligned(&m.text, (files + w->with->files + 1) * sizeof(*file));
	if (files)
		memcpy(m.file, file, files * sizeof(*file));
	if (w->with->files)
		memcpy(m.file + files, w->with->file, w->with->files * sizeof(*file));
	m.files = files + w->with->files;
	put_in_order(&m);
	if (m.files > LIMIT_MIRROR_FILES)
		return err_set(e, ERR_LIMIT, "mirror %s would have more than %d files", w->with->name,
			LIMIT_MIRROR_FILES);
	m.changed = clock_wall_seconds();
	m.made = is_new ? m.changed : m.made;
	m.who = w->with->who;
	jsonmap_write(&mirror_map, &m, &json);
	if (json.failed)
		return err_set(e, ERR_LIMIT, "mirror %s: its record is too long", w->with->name);
	return place_write_add(now, buf_view(&json), e) < 0 ? -1 : 1;
}

int mirror_change(const char *path, enum mirror_change way, const struct mirror *with, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	CLEANUP(strset_release) struct strset names = {0};
	struct mirror_writing w = {way, with};
	CLEANUP(mem_free) char *file = xasprintf("%s/%s", path, with->name);
	if (!mirror_name_is_valid(str_from(with->name)))
		return err_set(e, ERR_USAGE, "\"%s\" is no name of a mirror: letters, digits, and . _ - between them",
			with->name);
	if (open_mirrors(path, way == MIRROR_ADD, &folder, e) < 0 || list_mirrors(folder, &names, e) < 0)
		return -1;
	if (way == MIRROR_ADD && names.count >= LIMIT_MIRRORS && !strset_has(&names, with->name))
		return err_set(e, ERR_LIMIT, "there are %d mirrors already: end one", LIMIT_MIRRORS);
	return record_change(file, false, LIMIT_MIRROR, write_mirror, &w, e);
}

int mirror_end(const char *path, const char *name, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = NULL;
	if (!mirror_name_is_valid(str_from(name)))
		return 0;
	if (open_mirrors(path, false, &folder, e) < 0)
		return -1;
	int removed = folder ? place_remove(folder, name, NULL, e) : 0;
	return removed > 0 && place_sync(folder, e) < 0 ? -1 : removed;
}
