// SPDX-License-Identifier: Apache-2.0
// Parses simple pages in HTML (PEP 503, 592, 629, 658, 714, 740, 792, and dialects of mirrors) and JSON (PEP 691, 700,
// 714, 740, 792).
#include <stddef.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage-make.h"
#include "lib/format/json-sax.h"
#include "lib/format/markup.h"
#include "lib/net/url.h"

// --- HTML ---

struct html_page {
	struct simplepage_make *make;
	struct err *e;
	enum simplepage_fault fault;
	bool is_page;  // it has a feature of a simple page
	bool has_base; // the base is final: only the first <base> counts, and none after the first link
	struct buf base;
	struct buf heading; // the text of the title or h1 that is being read
	bool in_heading;
	struct buf status_text, reason_text;
};

static struct str get_attribute(const char *const *attributes, const char *name)
{
	const char *value = markup_attribute(attributes, name);
	return value ? str_from(value) : (struct str){0};
}

// Whether the name has an ending of files in an index. Other links do not lead to files.
static bool has_file_ending(struct str name)
{
	static const char *const endings[] = {".whl", ".tar.gz", ".zip", ".egg", ".exe", ".tar.bz2", ".tgz", ".msi",
		".rpm", ".dmg", ".deb", ".tar.xz", ".tar.Z", ".tar"};
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(name, str_from(endings[i])))
			return true;
	return false;
}

// The value of "#sha256=…", possibly among further parameters that "&" separates.
static struct str fragment_sha256(struct str href)
{
	str_cut(&href, '#');
	while (href.ptr) {
		struct str part = str_cut(&href, '&');
		if (str_starts(part, STR("sha256=")))
			return str_slice(part, sizeof("sha256=") - 1, part.len);
	}
	return (struct str){0};
}

static void begin_link(struct html_page *r, const char *const *attributes)
{
	CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_FILE_NAME);
	struct str href = str_trim(get_attribute(attributes, "href"));
	struct simplepage_link link = {
		.url = href,
		.requires_python = get_attribute(attributes, "data-requires-python"),
		.provenance = get_attribute(attributes, "data-provenance"),
		.upload_time = get_attribute(attributes, "data-upload-time"),
		.sha256 = fragment_sha256(href),
		.reason = get_attribute(attributes, "data-yanked"),
		.size = simplepage_make_number(get_attribute(attributes, "data-size")),
	};
	link.is_yanked = link.reason.ptr;
	// PEP 714: the new name takes precedence. The value is "true" or a hash.
	struct str value = get_attribute(attributes, "data-core-metadata");
	if (!value.ptr)
		value = get_attribute(attributes, "data-dist-info-metadata");
	link.has_metadata = value.len && !str_eq(value, STR("false"));
	if (str_starts(value, STR("sha256=")))
		link.metadata = str_slice(value, sizeof("sha256=") - 1, value.len);
	r->has_base = true;
	if (!url_filename(href, &name) || name.failed) {
		r->make->lost += !href.len;
		return;
	}
	if (!has_file_ending(buf_view(&name)))
		return;
	link.filename = buf_view(&name);
	simplepage_make_link(r->make, &link);
}

static void begin_base(struct html_page *r, const char *const *attributes)
{
	struct str href = get_attribute(attributes, "href");
	if (r->has_base || !href.ptr)
		return;
	r->has_base = true;
	if (url_resolve(r->make->base, href, &r->base) && !r->base.failed)
		r->make->base = buf_view(&r->base);
}

static void set_fault(struct html_page *r, enum simplepage_fault fault)
{
	r->fault = r->fault ? r->fault : fault;
}

static void begin_meta(struct html_page *r, const char *const *attributes)
{
	struct str name = get_attribute(attributes, "name"), content = get_attribute(attributes, "content");
	if (str_eq(name, STR("pypi:repository-version"))) {
		r->is_page = true;
		if (!r->fault && simplepage_make_api(content, r->e) < 0)
			set_fault(r, SIMPLEPAGE_NOT_A_PAGE);
	} else if (str_eq(name, STR("pypi:project-status"))) {
		buf_clear(&r->status_text);
		buf_str(&r->status_text, content);
	} else if (str_eq(name, STR("pypi:project-status-reason"))) {
		buf_clear(&r->reason_text);
		buf_str(&r->reason_text, content);
	}
}

static void begin_heading(struct html_page *r, const char *const *attributes UNUSED)
{
	r->in_heading = true;
	buf_clear(&r->heading);
}

static void begin_page_element(void *ctx, const char *name, const char *const *attributes)
{
	static const struct {
		const char *name;
		void (*begin)(struct html_page *r, const char *const *attributes);
	} elements[] = {
		{"a", begin_link},
		{"base", begin_base},
		{"meta", begin_meta},
		{"title", begin_heading},
		{"h1", begin_heading},
	};
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++)
		if (strcmp(name, elements[i].name) == 0)
			elements[i].begin(ctx, attributes);
}

// Nearly all dialects have a heading "Links for foo", which names the project.
static void end_page_element(void *ctx, const char *name)
{
	struct html_page *r = ctx;
	if (!r->in_heading || (strcmp(name, "title") != 0 && strcmp(name, "h1") != 0))
		return;
	r->in_heading = false;
	struct str heading = str_trim(buf_view(&r->heading)), words = STR("Links for ");
	if (!str_starts(heading, words))
		return;
	heading = str_slice(heading, words.len, heading.len);
	r->is_page = true;
	if (simplepage_make_is_named(r->make, heading) || r->fault)
		return;
	err_set(r->e, ERR_INVALID, "the page belongs to another project: %.100s", heading.ptr);
	set_fault(r, SIMPLEPAGE_WRONG_PROJECT);
}

static void add_heading_text(void *ctx, struct str text)
{
	struct html_page *r = ctx;
	if (r->in_heading)
		buf_str(&r->heading, text);
}

// Parses PyPI's "SERIAL 123".
static void parse_serial(void *ctx, struct str text)
{
	struct html_page *r = ctx;
	struct str word = STR("SERIAL ");
	text = str_trim(text);
	if (!str_starts(text, word))
		return;
	int64_t serial = simplepage_make_number(str_slice(text, word.len, text.len));
	if (serial > 0)
		r->make->page.serial = (uint64_t)serial;
}

// Whether the document ends with the end tag of html or body, apart from blanks and comments. The HTML parser does not
// report a missing end.
static bool has_end_tag(struct str body)
{
	static const char comment[] = "<!--";
	body = str_trim(body);
	while (str_ends(body, STR("-->"))) {
		size_t at = body.len - 3;
		while (at > 0 && !str_starts(str_slice(body, at, body.len), str_from(comment)))
			at--;
		body = str_trim(str_slice(body, 0, at));
	}
	long last = str_rfind(body, '<');
	if (last < 0 || !str_ends(body, STR(">")))
		return false;
	struct str tag = str_slice(body, (size_t)last + 1, body.len - 1);
	return str_eq_nocase(str_trim(tag), STR("/html")) || str_eq_nocase(str_trim(tag), STR("/body"));
}

static void check_page(struct html_page *r, struct str body)
{
	if (r->fault)
		return;
	if (!r->is_page && !r->make->seen) {
		err_set(r->e, ERR_INVALID,
			"HTML, but not a simple page: it has neither the marks of one nor links to files");
		set_fault(r, SIMPLEPAGE_NOT_A_PAGE);
	} else if (!has_end_tag(body)) {
		err_set(r->e, ERR_INVALID, "the page is truncated: it has no end tag");
		set_fault(r, SIMPLEPAGE_TRUNCATED);
	} else if (r->status_text.len) {
		simplepage_make_status(r->make, buf_view(&r->status_text), buf_view(&r->reason_text));
	}
}

static void html_page_release(struct html_page *r)
{
	buf_release(&r->base);
	buf_release(&r->heading);
	buf_release(&r->status_text);
	buf_release(&r->reason_text);
}

static enum simplepage_fault read_html(struct simplepage_make *m, struct str body, struct err *e)
{
	static const struct markup_handler handler = {
		begin_page_element, end_page_element, add_heading_text, parse_serial};
	CLEANUP(html_page_release) struct html_page r = {.make = m, .e = e};
	buf_init(&r.base, LIMIT_PATH);
	buf_init(&r.heading, LIMIT_PATH);
	buf_init(&r.status_text, LIMIT_WORDS);
	buf_init(&r.reason_text, LIMIT_WORDS);
	if (markup_read_html(body, &handler, &r, e) < 0)
		return SIMPLEPAGE_NOT_A_PAGE;
	check_page(&r, body);
	return r.fault;
}

// --- JSON: the keys may have any order. PyPI sorts them, so the files come before the name of the page ---

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

static void on_file_object(struct json_page *r, const struct json_sax_value *v, size_t what UNUSED)
{
	if (v->kind == JSON_SAX_OBJECT_END) {
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

static enum simplepage_fault read_json(struct simplepage_make *m, struct str body, struct err *e)
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

// --- the content types ---

typedef enum simplepage_fault parser(struct simplepage_make *m, struct str body, struct err *e);

// The content types of PEP 691. Clients accept no others.
static const struct dialect {
	const char *type;
	parser *parse;
} dialects[] = {
	{"application/vnd.pypi.simple.v1+json", read_json},
	{"application/vnd.pypi.simple.v1+html", read_html},
	{"text/html", read_html},
};

static parser *find_parser(struct str content_type)
{
	struct str type = str_trim(str_cut(&content_type, ';'));
	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++)
		if (str_eq_nocase(type, str_from(dialects[i].type)))
			return dialects[i].parse;
	return NULL;
}

static enum simplepage_fault parse_page(struct str body, struct str content_type, struct simplepage_make *m,
	struct simplepage *out, struct err *e)
{
	parser *parse = find_parser(content_type);
	if (!parse) {
		err_set(e, ERR_INVALID, "not a simple page: its type is \"%.*s\"",
			content_type.len > 100 ? 100 : (int)content_type.len, content_type.ptr ? content_type.ptr : "");
		return SIMPLEPAGE_NOT_A_PAGE;
	}
	enum simplepage_fault fault = parse(m, body, e);
	return fault ? fault : simplepage_make_finish(m, out, e);
}

int simplepage_parse(struct str body, struct str content_type, const char *url, const char *project,
	struct simplepage *out, enum simplepage_fault *fault, struct err *e)
{
	CLEANUP(simplepage_make_release) struct simplepage_make m;
	simplepage_make_init(&m, project, str_from(url));
	*fault = parse_page(body, content_type, &m, out, e);
	return *fault ? -1 : 0;
}
