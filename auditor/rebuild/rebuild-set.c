// SPDX-License-Identifier: Apache-2.0
#include "auditor/rebuild/rebuild-set.h"

#include <stdlib.h>
#include <string.h>

#include "auditor/rebuild/rebuild.h"
#include "lib/base/arena.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/format/jsonmap.h"
#include "lib/os/fs.h"

struct set_row {
	const char *platform, *filename, *why;
	enum rebuild_state state;
	struct filename name; // parsed from filename
	unsigned build;
};

struct rebuild_set {
	struct set_row *row; // by platform, project, file name
	size_t count, room;
	const struct set_row **by_version; // by platform, project, version; of each the highest build tag first
	struct arena text;
};

// --- reading ---

static bool is_wheel_name(struct str text)
{
	struct err ignored = ERR_INIT;
	return filename_kind(text) == FILENAME_WHEEL && filename_check(text, &ignored) == 0;
}

#define ROW struct set_row
static const struct jsonmap_field set_fields[] = {
	JSONMAP_TEXT("platform", ROW, platform, .is_valid = platform_name_is_valid,
		.wrong = "is not the name of a platform"),
	JSONMAP_TEXT("filename", ROW, filename, .is_valid = is_wheel_name, .wrong = "is not the name of a wheel"),
	JSONMAP_NAME("state", ROW, state, rebuild_state_name),
	JSONMAP_TEXT("why", ROW, why, .is_sentence = true, .absent = JSONMAP_OLDER),
	JSONMAP_INTEGER("build", ROW, build, .least = 1, .most = LIMIT_BUILD_TAG),
};
static const struct jsonmap set_map = JSONMAP(ROW, set_fields, .words = JSONMAP_COLON);

static bool is_wanted_state(const char *text)
{
	for (size_t i = 0; i < REBUILD_STATE_COUNT; i++)
		if (strcmp(text, rebuild_state_name[i]) == 0)
			return rebuild_is_wanted((enum rebuild_state)i);
	return false;
}

// Other rows of the document are of wheels that are not to be rebuilt.
static int read_set_row(struct rebuild_set *s, const struct jsondoc *from, struct err *e)
{
	struct set_row row = {0};
	const char *state = jsondoc_get_str(from, "state");
	if (!state)
		return err_set(e, ERR_INVALID, "it has no state");
	if (!is_wanted_state(state))
		return 0;
	if (jsonmap_read(&set_map, from, &row, &s->text, e) < 0 ||
		filename_parse(str_from(row.filename), &row.name, e) < 0)
		return -1;
	row.why = arena_copy(&s->text, str_head(str_from(row.why ? row.why : ""), LIMIT_REASON));
	ARENA_GROW(&s->text, s->row, s->count, s->room);
	s->row[s->count++] = row;
	return 0;
}

static int compare_set_projects(const struct set_row *one, const struct set_row *other)
{
	int order = strcmp(one->platform, other->platform);
	return order ? order : strcmp(one->name.project, other->name.project);
}

static int compare_set_rows(const void *a, const void *b)
{
	const struct set_row *one = a, *other = b;
	int order = compare_set_projects(one, other);
	return order ? order : strcmp(one->filename, other->filename);
}

static int compare_set_versions(const void *a, const void *b)
{
	const struct set_row *one = *(const struct set_row *const *)a, *other = *(const struct set_row *const *)b;
	int order = compare_set_projects(one, other);
	order = order ? order : version_cmp(&one->name.version, &other->name.version);
	order = order ? order : (one->build < other->build) - (one->build > other->build);
	return order ? order : strcmp(one->filename, other->filename);
}

static int read_set_rows(struct rebuild_set *s, const struct jsondoc *doc, struct err *e)
{
	const struct jsondoc *rows = jsondoc_get(doc, "rows");
	if (!rows || !jsondoc_get(doc, "platforms"))
		return err_set(e, ERR_INVALID, "not a document of wheelcache rebuilds --json");
	for (size_t i = 0; i < jsondoc_count(rows); i++)
		if (read_set_row(s, jsondoc_at(rows, i), e) < 0)
			return err_prefix(e, "row %zu: ", i + 1);
	s->by_version = ARENA_NEW(&s->text, const struct set_row *, s->count);
	if (s->count) {
		qsort(s->row, s->count, sizeof(*s->row), compare_set_rows);
		for (size_t i = 0; i < s->count; i++)
			s->by_version[i] = &s->row[i];
		qsort(s->by_version, s->count, sizeof(struct set_row *), compare_set_versions);
	}
	return 0;
}

int rebuild_set_read(const char *path, struct rebuild_set **out, struct err *e)
{
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = xcalloc(1, sizeof(*s));
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REBUILDS);
	if (fs_read_file(path, &text, e) < 0)
		return -1;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&text), e);
	if (!doc || read_set_rows(s, doc, e) < 0)
		return err_prefix(e, "%s: ", path);
	*out = STEAL_PTR(s);
	return 0;
}

int rebuild_set_parse(struct str text, struct rebuild_set **out, struct err *e)
{
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = xcalloc(1, sizeof(*s));
	if (text.len > LIMIT_REBUILDS_SENT)
		return err_set(e, ERR_LIMIT, "the list of rebuilds has more than %d bytes", LIMIT_REBUILDS_SENT);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(text, LIMIT_REBUILD_VALUES, e);
	if (!doc && e->kind == ERR_LIMIT)
		return err_set(e, ERR_LIMIT, "the list of rebuilds has more than %d values", LIMIT_REBUILD_VALUES);
	if (!doc)
		return err_prefix(e, "the list of rebuilds: ");
	if (read_set_rows(s, doc, e) < 0)
		return -1;
	*out = STEAL_PTR(s);
	return 0;
}

int rebuild_set_write(const struct rebuild_set *s, const char *platform, const char *project, struct buf *out,
	struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *rows = jsondoc_array();
	size_t before = out->len;
	for (size_t i = 0; i < s->count; i++) {
		const struct set_row *row = &s->row[i];
		if (strcmp(row->platform, platform) != 0 || (project && strcmp(row->name.project, project) != 0))
			continue;
		jsondoc_add(rows, jsonmap_json(&set_map, row));
	}
	jsondoc_put(doc, "platforms", jsondoc_array());
	jsondoc_put(doc, "rows", rows);
	jsondoc_write(doc, 0, out);
	return out->failed || out->len - before > LIMIT_REBUILDS_SENT
		       ? err_set(e, ERR_LIMIT, "the list of rebuilds has more than %d bytes", LIMIT_REBUILDS_SENT)
		       : 0;
}

void rebuild_set_free(struct rebuild_set *s)
{
	for (size_t i = 0; s && i < s->count; i++)
		filename_release(&s->row[i].name);
	if (s)
		arena_release(&s->text);
	free(s);
}

void rebuild_set_cleanup(struct rebuild_set **s)
{
	rebuild_set_free(*s);
	*s = NULL;
}

// --- questions ---

struct set_key {
	const char *platform, *project, *filename;
	const struct version *version;
};

static int compare_row_project(const struct set_row *row, const struct set_key *k)
{
	int order = strcmp(row->platform, k->platform);
	return order ? order : strcmp(row->name.project, k->project);
}

static bool is_row_before(const void *element, const void *key)
{
	const struct set_row *row = element;
	const struct set_key *k = key;
	int order = compare_row_project(row, k);
	return (order ? order : strcmp(row->filename, k->filename)) < 0;
}

static bool is_version_before(const void *element, const void *key)
{
	const struct set_row *row = *(const struct set_row *const *)element;
	const struct set_key *k = key;
	int order = compare_row_project(row, k);
	return (order ? order : version_cmp(&row->name.version, k->version)) < 0;
}

bool rebuild_set_has(const struct rebuild_set *s, const char *platform, const char *project, const char *filename)
{
	const struct set_key key = {platform, project, filename, NULL};
	if (!s)
		return false;
	size_t i = lower_bound(&key, s->row, s->count, sizeof(*s->row), is_row_before);
	return i < s->count && compare_row_project(&s->row[i], &key) == 0 && strcmp(s->row[i].filename, filename) == 0;
}

bool rebuild_set_find(const struct rebuild_set *s, const char *platform, const char *project,
	const struct version *version, struct rebuild_wanted *out)
{
	const struct set_key key = {platform, project, NULL, version};
	*out = (struct rebuild_wanted){0};
	if (!s)
		return false;
	size_t i = lower_bound(&key, s->by_version, s->count, sizeof(struct set_row *), is_version_before);
	const struct set_row *row = i < s->count ? s->by_version[i] : NULL;
	if (!row || compare_row_project(row, &key) != 0 || version_cmp(&row->name.version, version) != 0)
		return false;
	*out = (struct rebuild_wanted){row->filename, row->why, row->build};
	return true;
}
