// SPDX-License-Identifier: Apache-2.0
// The keys may have any order. PyPI sorts them, so the files come before the name of the page.
#include "lib/domain/index/simplepage-json.h"

#include <stddef.h>

#include "lib/format/json-sax.h"

enum {
	METADATA_KEYS = 3, // the key of PEP 714, the older one, and PyPI's own; the first one that is set counts
	TURNS = 32,
};

struct metadata_value {
	bool is_set, is_available;
	struct str sha256;
};

struct json_page {
	struct simplepage_make *m;
	struct simplepage_link link; // the file that is being read
	struct metadata_value metadata[METADATA_KEYS];
	uint8_t parent[JSON_SAX_DEPTH + 1]; // the known value of each open object and array, from the outermost on
	size_t turn;                        // values of the file so far; from the last index on it stays there
	uint8_t likely
		[TURNS]; // the known value at this index in the file before; most files have the same keys in one order
	bool has_meta, has_files;
	size_t files;   // objects that have begun
	struct err why; // the first fault of the structure
	struct str name, api, status, reason;
};

static void note_fault(struct json_page *r, const char *what)
{
	if (!r->why.kind)
		err_set(&r->why, ERR_INVALID, "JSON, but not a simple page: %s", what);
}

static void note_file_fault(struct json_page *r, const char *what)
{
	if (!r->why.kind)
		err_set(&r->why, ERR_INVALID, "JSON, but not a simple page: file %zu %s", r->files, what);
}

// ptr is NULL if the value is not a string.
static struct str string_of(const struct json_sax_value *v)
{
	return v->kind == JSON_SAX_STRING ? v->text : (struct str){0};
}

static void on_string(struct json_page *r, const struct json_sax_value *v, size_t offset)
{
	*(struct str *)((char *)r + offset) = string_of(v);
}

static int64_t number_of(const struct json_sax_value *v)
{
	return v->kind == JSON_SAX_NUMBER ? simplepage_make_number(v->text) : -1;
}

static void on_size(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	r->link.size = number_of(v);
}

static void on_serial(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	int64_t serial = number_of(v);
	r->m->page.serial = serial > 0 ? (uint64_t)serial : 0;
}

static bool is_beginning(const struct json_sax_value *v)
{
	return v->kind != JSON_SAX_OBJECT_END && v->kind != JSON_SAX_ARRAY_END;
}

// A value that is not a bool counts as yanked.
static void on_yanked(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (!is_beginning(v))
		return;
	r->link.is_yanked = v->kind != JSON_SAX_FALSE && v->kind != JSON_SAX_NULL;
	r->link.reason = string_of(v);
}

static void on_metadata(struct json_page *r, const struct json_sax_value *v, size_t which)
{
	if (is_beginning(v))
		r->metadata[which] = (struct metadata_value){
			.is_set = v->kind != JSON_SAX_NULL,
			.is_available =
				v->kind == JSON_SAX_TRUE || v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY,
		};
}

static void on_metadata_hash(struct json_page *r, const struct json_sax_value *v, size_t which)
{
	r->metadata[which].sha256 = string_of(v);
}

static void finish_file(struct json_page *r)
{
	size_t i = 0;
	while (i < METADATA_KEYS && !r->metadata[i].is_set)
		i++;
	if (i < METADATA_KEYS) {
		r->link.has_metadata = r->metadata[i].is_available;
		r->link.metadata = r->metadata[i].sha256;
	}
	if (!r->link.filename.ptr || !r->link.url.ptr) // an empty one spoils its row only
		note_file_fault(r, r->link.filename.ptr ? "has no url" : "has no filename");
	simplepage_make_link(r->m, &r->link);
}

static void on_file_object(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (v->kind == JSON_SAX_OBJECT_END)
		finish_file(r);
	if (!is_beginning(v))
		return;
	r->files++;
	if (v->kind != JSON_SAX_OBJECT) {
		note_file_fault(r, "is not an object");
		return;
	}
	r->turn = 0;
	r->link = (struct simplepage_link){.size = -1};
	for (size_t i = 0; i < METADATA_KEYS; i++)
		r->metadata[i] = (struct metadata_value){0};
}

static void on_files(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	r->has_files = true;
	if (is_beginning(v) && v->kind != JSON_SAX_ARRAY)
		note_fault(r, "its \"files\" is not a list");
}

static void on_meta(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	r->has_meta = true;
	if (is_beginning(v) && v->kind != JSON_SAX_OBJECT)
		note_fault(r, "its \"meta\" is not an object");
}

// An optional key may be null.
static void on_versions(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (is_beginning(v) && v->kind != JSON_SAX_ARRAY && v->kind != JSON_SAX_NULL)
		note_fault(r, "its \"versions\" is not a list");
}

static void on_version_string(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (v->kind == JSON_SAX_STRING)
		simplepage_make_version(r->m, v->text);
	else
		note_fault(r, "a version is not a string");
}

static void on_project_status(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (is_beginning(v) && v->kind != JSON_SAX_OBJECT && v->kind != JSON_SAX_NULL)
		note_fault(r, "its \"project-status\" is not an object");
}

static void on_status(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (is_beginning(v) && v->kind != JSON_SAX_STRING && v->kind != JSON_SAX_NULL)
		note_fault(r, "the project's status is not a string");
	r->status = string_of(v);
}

static void on_ignored(struct json_page *r UNUSED, const struct json_sax_value *v UNUSED, size_t what UNUSED)
{
}

// The known values. Only those that contain others have a constant.
enum { PAGE, FILES, A_FILE, HASHES, METADATA, DIST_INFO, DATA_DIST_INFO, VERSIONS, META, STATUS, UNKNOWN = UINT8_MAX };

#define MEMBER                                                                                                         \
	{                                                                                                              \
		NULL, 0                                                                                                \
	} // an element of an array
#define OF_LINK(field) offsetof(struct json_page, link.field)

static const struct known_value {
	uint8_t parent;
	struct str key; // in its parent
	void (*on_value)(struct json_page *r, const struct json_sax_value *v, size_t what);
	size_t what;
} known_values[] = {
	[PAGE] = {UNKNOWN, MEMBER, on_ignored, 0},
	[FILES] = {PAGE, STR("files"), on_files, 0},
	[A_FILE] = {FILES, MEMBER, on_file_object, 0},
	[HASHES] = {A_FILE, STR("hashes"), on_ignored, 0},
	[METADATA] = {A_FILE, STR("core-metadata"), on_metadata, 0},
	[DIST_INFO] = {A_FILE, STR("dist-info-metadata"), on_metadata, 1},
	[DATA_DIST_INFO] = {A_FILE, STR("data-dist-info-metadata"), on_metadata, 2},
	[VERSIONS] = {PAGE, STR("versions"), on_versions, 0},
	[META] = {PAGE, STR("meta"), on_meta, 0},
	[STATUS] = {PAGE, STR("project-status"), on_project_status, 0},
	{PAGE, STR("name"), on_string, offsetof(struct json_page, name)},
	{A_FILE, STR("filename"), on_string, OF_LINK(filename)},
	{A_FILE, STR("url"), on_string, OF_LINK(url)},
	{A_FILE, STR("requires-python"), on_string, OF_LINK(requires_python)},
	{A_FILE, STR("provenance"), on_string, OF_LINK(provenance)},
	{A_FILE, STR("upload-time"), on_string, OF_LINK(upload_time)},
	{A_FILE, STR("size"), on_size, 0},
	{A_FILE, STR("yanked"), on_yanked, 0},
	{HASHES, STR("sha256"), on_string, OF_LINK(sha256)},
	{METADATA, STR("sha256"), on_metadata_hash, 0},
	{DIST_INFO, STR("sha256"), on_metadata_hash, 1},
	{DATA_DIST_INFO, STR("sha256"), on_metadata_hash, 2},
	{VERSIONS, MEMBER, on_version_string, 0},
	{META, STR("api-version"), on_string, offsetof(struct json_page, api)},
	{META, STR("_last-serial"), on_serial, 0},
	{STATUS, STR("status"), on_status, 0},
	{STATUS, STR("reason"), on_string, offsetof(struct json_page, reason)},
};

static bool is_value_at(const struct known_value *p, uint8_t parent, struct str key)
{
	return p->parent == parent && !p->key.ptr == !key.ptr && str_eq(p->key, key);
}

// The index of a value in known_values; UNKNOWN: it is ignored.
static uint8_t find_known_value(struct json_page *r, const struct json_sax_value *v)
{
	if (v->depth == 0)
		return PAGE;
	uint8_t parent = r->parent[v->depth - 1], *likely = &r->likely[r->turn];
	struct str key = v->key[v->depth - 1];
	r->turn += r->turn < TURNS - 1;
	if (parent == UNKNOWN)
		return UNKNOWN;
	if (is_value_at(&known_values[*likely], parent, key))
		return *likely;
	for (uint8_t i = 0; i < ARRAY_SIZE(known_values); i++)
		if (is_value_at(&known_values[i], parent, key))
			return *likely = i;
	return UNKNOWN;
}

static void on_page_value(void *ctx, const struct json_sax_value *v)
{
	struct json_page *r = ctx;
	uint8_t at = find_known_value(r, v);
	if (v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY)
		r->parent[v->depth] = at;
	if (at != UNKNOWN)
		known_values[at].on_value(r, v, known_values[at].what);
}

static enum simplepage_fault check_json_page(const struct json_page *r, struct err *e)
{
	if (!r->has_meta || !r->has_files || !r->name.ptr) {
		err_set(e, ERR_INVALID, "JSON, but not a simple page: it has no meta, name and files");
		return SIMPLEPAGE_NOT_A_PAGE;
	}
	if (r->why.kind) {
		*e = r->why;
		return SIMPLEPAGE_NOT_A_PAGE;
	}
	if (simplepage_make_api(r->api, e) < 0)
		return SIMPLEPAGE_NOT_A_PAGE;
	if (simplepage_make_is_named(r->m, r->name))
		return SIMPLEPAGE_GOOD;
	struct str start = str_slice(r->name, 0, r->name.len > 100 ? 100 : r->name.len);
	err_set(e, ERR_INVALID, "the page belongs to another project: " STR_FMT, STR_ARG(start));
	return SIMPLEPAGE_WRONG_PROJECT;
}

enum simplepage_fault simplepage_read_json(struct simplepage_make *m, struct str body, struct err *e)
{
	bool is_cut = false;
	CLEANUP(arena_release) struct arena room = {0};
	struct json_page r = {.m = m};
	if (json_sax_read(body, &room, on_page_value, &r, &is_cut, e) < 0)
		return is_cut ? SIMPLEPAGE_TRUNCATED : SIMPLEPAGE_NOT_A_PAGE;
	if (r.status.ptr)
		simplepage_make_status(m, r.status, r.reason);
	return check_json_page(&r, e);
}
