// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/index/simplepage-html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/html.h"
#include "lib/net/url.h"

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
	const char *value = html_attribute(attributes, name);
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

// PEP 714: the new name takes precedence. The value is "true" or a hash.
static void parse_metadata(const char *const *attributes, struct simplepage_link *link)
{
	struct str value = get_attribute(attributes, "data-core-metadata");
	if (!value.ptr)
		value = get_attribute(attributes, "data-dist-info-metadata");
	link->has_metadata = value.len && !str_eq(value, STR("false"));
	if (str_starts(value, STR("sha256=")))
		link->metadata = str_slice(value, sizeof("sha256=") - 1, value.len);
}

static void begin_link(struct html_page *r, const char *const *attributes)
{
	CLEANUP(buf_release) struct buf name;
	buf_init(&name, LIMIT_FILE_NAME);
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
	parse_metadata(attributes, &link);
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

enum simplepage_fault simplepage_read_html(struct simplepage_make *m, struct str body, struct err *e)
{
	static const struct html_handler handler = {
		begin_page_element, end_page_element, add_heading_text, parse_serial};
	CLEANUP(html_page_release) struct html_page r = {.make = m, .e = e};
	buf_init(&r.base, LIMIT_PATH);
	buf_init(&r.heading, LIMIT_PATH);
	buf_init(&r.status_text, LIMIT_WORDS);
	buf_init(&r.reason_text, LIMIT_WORDS);
	if (html_read(body, &handler, &r, e) < 0)
		return SIMPLEPAGE_NOT_A_PAGE;
	check_page(&r, body);
	return r.fault;
}
