// SPDX-License-Identifier: Apache-2.0
// The keys may come in any order: PyPI's are sorted, so that the files come before the page's name.
#include "lib/domain/index/simplepage-json.h"

#include <stddef.h>

#include "lib/format/json-sax.h"

enum {
	METADATA_KEYS = 3, // the key of PEP 714, the one before it, and PyPI's own; the first that says something
	TURNS = 32,
};

struct metadata {
	bool is_said, is_there;
	struct str sha256;
};

struct reading {
	struct simplepage_make *m;
	struct simplepage_link link; // of the file that is being read
	struct metadata metadata[METADATA_KEYS];
	uint8_t within[JSON_SAX_DEPTH + 1]; // the place of each object and array that is open, from the outermost on
	size_t turn;                        // values that were told of it; what is beyond counts as the last one
	uint8_t likely
		[TURNS]; // which place the same one of the file before was at: most files have the same keys in one order
	bool has_meta, has_files;
	size_t files;   // that began
	struct err why; // what is not as a page has it; the first of all
	struct str name, api, status, reason;
};

static void find_odd(struct reading *r, const char *what)
{
	if (!r->why.kind)
		err_set(&r->why, ERR_INVALID, "JSON, but no simple page: %s", what);
}

static void find_odd_file(struct reading *r, const char *what)
{
	if (!r->why.kind)
		err_set(&r->why, ERR_INVALID, "JSON, but no simple page: file %zu %s", r->files, what);
}

// ptr is NULL where it is no string.
static struct str text(const struct json_sax_value *v)
{
	return v->kind == JSON_SAX_STRING ? v->text : (struct str){0};
}

static void take_text(struct reading *r, const struct json_sax_value *v, size_t offset)
{
	*(struct str *)((char *)r + offset) = text(v);
}

static int64_t number(const struct json_sax_value *v)
{
	return v->kind == JSON_SAX_NUMBER ? simplepage_make_number(v->text) : -1;
}

static void take_size(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	r->link.size = number(v);
}

static void take_serial(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	int64_t serial = number(v);
	r->m->page.serial = serial > 0 ? (uint64_t)serial : 0;
}

static bool is_begun(const struct json_sax_value *v)
{
	return v->kind != JSON_SAX_OBJECT_END && v->kind != JSON_SAX_ARRAY_END;
}

// What is no bool counts as yanked.
static void take_yanked(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (!is_begun(v))
		return;
	r->link.is_yanked = v->kind != JSON_SAX_FALSE && v->kind != JSON_SAX_NULL;
	r->link.reason = text(v);
}

static void take_metadata(struct reading *r, const struct json_sax_value *v, size_t which)
{
	if (is_begun(v))
		r->metadata[which] = (struct metadata){
			.is_said = v->kind != JSON_SAX_NULL,
			.is_there = v->kind == JSON_SAX_TRUE || v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY,
		};
}

static void take_metadata_hash(struct reading *r, const struct json_sax_value *v, size_t which)
{
	r->metadata[which].sha256 = text(v);
}

static void end_file(struct reading *r)
{
	size_t i = 0;
	while (i < METADATA_KEYS && !r->metadata[i].is_said)
		i++;
	if (i < METADATA_KEYS) {
		r->link.has_metadata = r->metadata[i].is_there;
		r->link.metadata = r->metadata[i].sha256;
	}
	if (!r->link.filename.len || !r->link.url.len)
		find_odd_file(r, r->link.filename.len ? "has no url" : "has no filename");
	simplepage_make_link(r->m, &r->link);
}

static void take_file(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (v->kind == JSON_SAX_OBJECT_END)
		end_file(r);
	if (!is_begun(v))
		return;
	r->files++;
	if (v->kind != JSON_SAX_OBJECT) {
		find_odd_file(r, "is no object");
		return;
	}
	r->turn = 0;
	r->link = (struct simplepage_link){.size = -1};
	for (size_t i = 0; i < METADATA_KEYS; i++)
		r->metadata[i] = (struct metadata){0};
}

static void take_files(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	r->has_files = true;
	if (is_begun(v) && v->kind != JSON_SAX_ARRAY)
		find_odd(r, "its \"files\" is no list");
}

static void take_meta(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	r->has_meta = true;
	if (is_begun(v) && v->kind != JSON_SAX_OBJECT)
		find_odd(r, "its \"meta\" is no object");
}

// What may be left out may be null.
static void take_versions(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (is_begun(v) && v->kind != JSON_SAX_ARRAY && v->kind != JSON_SAX_NULL)
		find_odd(r, "its \"versions\" is no list");
}

static void take_version(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (v->kind == JSON_SAX_STRING)
		simplepage_make_version(r->m, v->text);
	else
		find_odd(r, "a version is no string");
}

static void take_project_status(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (is_begun(v) && v->kind != JSON_SAX_OBJECT && v->kind != JSON_SAX_NULL)
		find_odd(r, "its \"project-status\" is no object");
}

static void take_status(struct reading *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (is_begun(v) && v->kind != JSON_SAX_STRING && v->kind != JSON_SAX_NULL)
		find_odd(r, "the project's status is no string");
	r->status = text(v);
}

static void take_nothing(struct reading *r UNUSED, const struct json_sax_value *v UNUSED, size_t what UNUSED)
{
}

// The values that we know. Those that hold others have a name; UNKNOWN holds none.
enum { PAGE, FILES, A_FILE, HASHES, METADATA, DIST_INFO, DATA_DIST_INFO, VERSIONS, META, STATUS, UNKNOWN = UINT8_MAX };

#define MEMBER                                                                                                         \
	{                                                                                                              \
		NULL, 0                                                                                                \
	} // of an array
#define OF_LINK(field) offsetof(struct reading, link.field)

static const struct place {
	uint8_t within;
	struct str key; // in that
	void (*take)(struct reading *r, const struct json_sax_value *v, size_t what);
	size_t what;
} places[] = {
	[PAGE] = {UNKNOWN, MEMBER, take_nothing, 0},
	[FILES] = {PAGE, STR("files"), take_files, 0},
	[A_FILE] = {FILES, MEMBER, take_file, 0},
	[HASHES] = {A_FILE, STR("hashes"), take_nothing, 0},
	[METADATA] = {A_FILE, STR("core-metadata"), take_metadata, 0},
	[DIST_INFO] = {A_FILE, STR("dist-info-metadata"), take_metadata, 1},
	[DATA_DIST_INFO] = {A_FILE, STR("data-dist-info-metadata"), take_metadata, 2},
	[VERSIONS] = {PAGE, STR("versions"), take_versions, 0},
	[META] = {PAGE, STR("meta"), take_meta, 0},
	[STATUS] = {PAGE, STR("project-status"), take_project_status, 0},
	{PAGE, STR("name"), take_text, offsetof(struct reading, name)},
	{A_FILE, STR("filename"), take_text, OF_LINK(filename)},
	{A_FILE, STR("url"), take_text, OF_LINK(url)},
	{A_FILE, STR("requires-python"), take_text, OF_LINK(requires_python)},
	{A_FILE, STR("provenance"), take_text, OF_LINK(provenance)},
	{A_FILE, STR("upload-time"), take_text, OF_LINK(upload_time)},
	{A_FILE, STR("size"), take_size, 0},
	{A_FILE, STR("yanked"), take_yanked, 0},
	{HASHES, STR("sha256"), take_text, OF_LINK(sha256)},
	{METADATA, STR("sha256"), take_metadata_hash, 0},
	{DIST_INFO, STR("sha256"), take_metadata_hash, 1},
	{DATA_DIST_INFO, STR("sha256"), take_metadata_hash, 2},
	{VERSIONS, MEMBER, take_version, 0},
	{META, STR("api-version"), take_text, offsetof(struct reading, api)},
	{META, STR("_last-serial"), take_serial, 0},
	{STATUS, STR("status"), take_status, 0},
	{STATUS, STR("reason"), take_text, offsetof(struct reading, reason)},
};

static bool is_at(const struct place *p, uint8_t within, struct str key)
{
	return p->within == within && !p->key.ptr == !key.ptr && str_eq(p->key, key);
}

// UNKNOWN where we know nothing of such a value.
static uint8_t place_of(struct reading *r, const struct json_sax_value *v)
{
	if (v->depth == 0)
		return PAGE;
	uint8_t within = r->within[v->depth - 1], *likely = &r->likely[r->turn];
	struct str key = v->key[v->depth - 1];
	r->turn += r->turn < TURNS - 1;
	if (within == UNKNOWN)
		return UNKNOWN;
	if (is_at(&places[*likely], within, key))
		return *likely;
	for (uint8_t i = 0; i < ARRAY_SIZE(places); i++)
		if (is_at(&places[i], within, key))
			return *likely = i;
	return UNKNOWN;
}

static void on_value(void *ctx, const struct json_sax_value *v)
{
	struct reading *r = ctx;
	uint8_t at = place_of(r, v);
	if (v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_ARRAY)
		r->within[v->depth] = at;
	if (at != UNKNOWN)
		places[at].take(r, v, places[at].what);
}

static enum simplepage_fault check(const struct reading *r, struct err *e)
{
	if (!r->has_meta || !r->has_files || !r->name.ptr) {
		err_set(e, ERR_INVALID, "JSON, but no simple page: it has no meta, name and files");
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
	err_set(e, ERR_INVALID, "the page is another project's: " STR_FMT, STR_ARG(start));
	return SIMPLEPAGE_WRONG_PROJECT;
}

enum simplepage_fault simplepage_read_json(struct simplepage_make *m, struct str body, struct err *e)
{
	bool is_cut = false;
	CLEANUP(arena_release) struct arena room = {0};
	struct reading r = {.m = m};
	if (json_sax_read(body, &room, on_value, &r, &is_cut, e) < 0)
		return is_cut ? SIMPLEPAGE_TRUNCATED : SIMPLEPAGE_NOT_A_PAGE;
	if (r.status.ptr)
		simplepage_make_status(m, r.status, r.reason);
	return check(&r, e);
}
