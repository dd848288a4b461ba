// SPDX-License-Identifier: Apache-2.0
#include "server/pages/compare-handler.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "auditor/compare/wheel-compare-forms.h"
#include "lib/os/clock.h"
#include "lib/os/path-probe.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "lib/state/store/hashed-file.h"
#include "auditor/compare/compared-wheel.h"
#include "server/core/auth.h"
#include "server/pages/compare-page.h"
#include "server/pages/html-layout.h"
#include "server/pages/packed-reply.h"
#include "server/pages/page-frame.h"

enum {
	PAGE_BYTES = 16 << 20,
	KEPT_SECONDS = 60,
	PROBE_MS = 2000, // in which a volume must answer
};

// One of the two wheels of the path.
struct compared_file {
	struct str platform_name, file;
	const struct platform *platform;
	char *filename;
	struct filename name;
	struct catalog_place place;
	struct compared_wheel wheel;
};

struct compare_request {
	struct server_context *context;
	struct catalog *catalog;
	const struct route_match *match;
	struct compared_file side[2];
	bool is_json, is_private;
	enum page_coding coding;
	struct page_key key;
};

static void compare_request_release(struct compare_request *x)
{
	for (int i = 0; i < 2; i++) {
		compared_wheel_release(&x->side[i].wheel);
		catalog_place_release(&x->side[i].place);
		filename_release(&x->side[i].name);
		mem_free(&x->side[i].filename);
	}
}

// --- rights, which are checked before anything is looked up ---

static struct reply *reply_no_such_wheel(const struct compare_request *x)
{
	return server_context_not_found_in(x->context, x->is_private, "no such wheel");
}

// The project is that of the name; that the file is of it is checked when the file is known.
static struct reply *check_side(struct compare_request *x, struct compared_file *f)
{
	struct err ignored = ERR_INIT;
	f->filename = xstrndup(f->file.ptr, f->file.len);
	bool is_name = filename_parse(str_from(f->filename), &f->name, &ignored) == 0;
	const char *project = is_name ? f->name.project : NULL;
	f->platform = site_platform(x->match->site, f->platform_name);
	if (!f->platform) {
		struct reply *refused =
			auth_unknown(x->context, x->match->request, TOKEN_READ, f->platform_name, project);
		return refused ? refused : server_context_not_found(x->context, "no such platform");
	}
	x->is_private |= f->platform->is_private;
	if (!f->platform->is_private)
		return NULL;
	return auth_check(x->context, x->match->request, TOKEN_READ, f->platform->name, project, NULL);
}

static struct reply *check_sides(struct compare_request *x)
{
	for (int i = 0; i < 2; i++) {
		struct reply *refused = check_side(x, &x->side[i]);
		if (refused)
			return refused;
	}
	for (int i = 0; i < 2; i++)
		if (x->side[i].name.kind != FILENAME_WHEEL)
			return reply_no_such_wheel(x);
	return NULL;
}

// --- the files ---

static struct reply *reply_not_compared(const struct err *e)
{
	struct reply *r = reply_text(422, "422 Unprocessable Content: %s: wheelcache compare may compare it", e->msg);
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static struct reply *find_place(struct compare_request *x, struct compared_file *f)
{
	struct err e = ERR_INIT;
	if (catalog_find_file(x->catalog, f->platform->id, f->filename, &f->place, &e) < 0 && e.kind != ERR_NOT_FOUND)
		return server_context_error(&e);
	if (e.kind == ERR_NOT_FOUND)
		return f->platform->scanned == CATALOG_SCANNED ? reply_no_such_wheel(x) : server_context_not_filled();
	return strcmp(f->place.project, f->name.project) == 0 ? NULL : reply_no_such_wheel(x);
}

// A volume that hangs must not stop the only thread of searches.
static int check_answers(const struct compared_file *f, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", f->platform->path, f->place.path);
	CLEANUP(mem_free) char *real = NULL;
	if (path_probe_wait(path_probe_start(path), clock_ms() + PROBE_MS, &real))
		return 0;
	return err_set(e, ERR_IO, "platform %s: its volume does not answer", f->platform->name);
}

// Opens the file if it is still the one that was hashed.
static int open_place(struct compare_request *x, const struct compared_file *f, struct err *e)
{
	struct stat st;
	const struct hashed_state known = {f->place.size, f->place.mtime_ns, f->place.inode};
	if (check_answers(f, e) < 0)
		return -1;
	int fd = hashed_file_open(f->platform, f->place.path, &known, &st, e);
	if (fd >= 0 || (e->kind != ERR_BUSY && e->kind != ERR_NOT_FOUND))
		return fd;
	store_scans_hurry(x->context->scans);
	return err_set(e, ERR_BUSY, "%s has changed on the disk since it was indexed", f->place.path);
}

static void read_provenance(struct compare_request *x, struct compared_file *f)
{
	struct err e = ERR_INIT;
	struct catalog_attached attached;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_STATEMENT);
	int found =
		catalog_attached(x->catalog, f->platform->id, f->filename, ATTACHMENT_STATEMENT, &attached, &text, &e);
	if (found < 0 || (found > 0 && compared_wheel_take_provenance(&f->wheel, buf_view(&text), &e) < 0))
		log_error("%s/%s: its provenance: %s", f->platform->name, f->filename, e.msg);
}

static struct reply *read_side(struct compare_request *x, struct compared_file *f)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int fd = open_place(x, f, &e);
	CLEANUP(mem_free) char *label = xasprintf("%s/%s", f->platform->name, f->filename);
	const struct compared_wheel_source from = {
		.label = label,
		.filename = f->filename,
		.fd = fd,
		.size = f->place.size,
		.sha256 = f->place.sha256,
		.catalog = x->catalog,
		.only_catalog = true,
		.facts_most = LIMIT_COMPARE_FACTS,
		.limits = {.unpacked = LIMIT_COMPARE_UNPACKED, .members = LIMIT_COMPARE_MEMBERS},
	};
	if (fd < 0)
		return server_context_error(&e);
	if (compared_wheel_read(&from, &f->wheel, &e) < 0)
		return e.kind == ERR_LIMIT || e.kind == ERR_INVALID ? reply_not_compared(&e) : server_context_error(&e);
	read_provenance(x, f);
	return NULL;
}

// --- the answer ---

static void write_comparison(const struct compare_request *x, struct buf *out)
{
	CLEANUP(wheel_compare_release) struct wheel_compare result = {0};
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	wheel_compare_make(&x->side[0].wheel.side, &x->side[1].wheel.side, &result);
	if (x->is_json) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = wheel_compare_json(&result);
		jsondoc_write(doc, 0, out);
		return;
	}
	wheel_compare_sheet(&result, &sheet);
	const struct html_frame frame = page_frame(x->context, x->catalog, x->match->request->path, HTML_SECTION_NONE);
	compare_page_write(&frame, &sheet, "<a href=\"?format=json\">JSON</a>", out);
}

static struct reply *make_comparison(struct compare_request *x)
{
	struct reply *refused = NULL;
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, PAGE_BYTES);
	page.meter = x->match->meter;
	for (int i = 0; i < 2 && !refused; i++)
		refused = find_place(x, &x->side[i]);
	for (int i = 0; i < 2 && !refused; i++)
		refused = read_side(x, &x->side[i]);
	if (refused)
		return refused;
	write_comparison(x, &page);
	struct err e = ERR_INIT;
	if (page.failed) {
		err_set(&e, ERR_LIMIT, "the comparison has more than %d bytes", PAGE_BYTES);
		return page.meter && page.meter->is_refused ? packed_reply_failed(&page, &e) : reply_not_compared(&e);
	}
	return packed_reply(x->context, x->coding, x->is_json ? "application/json" : "text/html; charset=utf-8",
		html_policy, &page, x->is_private);
}

static void make_comparison_key(struct compare_request *x)
{
	const struct platform *const both[] = {x->side[0].platform, x->side[1].platform};
	const struct page_readers readers = {.site = x->match->site, .platform = both, .platforms = ARRAY_SIZE(both)};
	page_key_make(&x->key, PAGE_COMPARE, &readers,
		PAGE_VALUES(PAGE_NUMBER(changes_read(x->context->changes)), PAGE_TEXT(str_from(both[0]->name)),
			PAGE_TEXT(str_from(x->side[0].filename)), PAGE_TEXT(str_from(both[1]->name)),
			PAGE_TEXT(str_from(x->side[1].filename)), PAGE_NUMBER(x->is_json), PAGE_NUMBER(x->coding)));
}

static struct reply *find_or_make(struct compare_request *x)
{
	struct pagecache *cache = x->context->pagecache;
	uint64_t epoch = pagecache_epoch(cache, &x->key, x->match->pages_cleared);
	struct reply *r = pagecache_get(cache, &x->key);
	if (r)
		return r;
	r = make_comparison(x);
	if (r->status == 200)
		pagecache_put(cache, &x->key, r, KEPT_SECONDS, epoch);
	return r;
}

struct reply *compare_handler_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	const struct request *r = match->request;
	CLEANUP(compare_request_release)
	struct compare_request x = {
		.context = s,
		.catalog = c,
		.match = match,
		.side = {{.platform_name = match->platform, .file = match->file},
			{.platform_name = match->other_platform, .file = match->other_file}},
		.is_json = negotiate_page_json(r->header[HEADER_ACCEPT], r->format),
		.coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]),
	};
	struct reply *refused = check_sides(&x);
	if (refused)
		return refused;
	make_comparison_key(&x);
	return find_or_make(&x);
}
