// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "auditor/compare/compared-wheel.h"
#include "auditor/compare/wheel-compare-forms.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-attachment.h"
#include "server/core/auth.h"
#include "server/core/auth.h"
#include "server/pages/page.h"

enum { PROBE_MS = 2000 }; // in which a volume must answer

// One of the two wheels of the path.
struct compared_file {
	struct str platform_name;
	const struct platform *platform;
	char *filename;
	struct filename name;
	bool is_name;
	struct catalog_place place;
	struct compared_wheel wheel;
};

struct compare_request {
	struct page_query *query;
	struct compared_file side[2];
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
	return page_not_found(x->query, "no such wheel");
}

// The project is that of the name; that the file is of it is checked when the file is known.
static void read_sides(struct compare_request *x)
{
	const struct route_match *match = x->query->match;
	const struct str platform[] = {match->platform, match->other_platform}, file[] = {match->file, match->other_file};
	for (int i = 0; i < 2; i++) {
		struct err ignored = ERR_INIT;
		struct compared_file *f = &x->side[i];
		f->platform_name = platform[i];
		f->platform = site_platform(x->query->site, platform[i]);
		f->filename = xstrndup(file[i].ptr, file[i].len);
		f->is_name = filename_parse(str_from(f->filename), &f->name, &ignored) == 0;
	}
}

static struct reply *check_side(struct compare_request *x, const struct compared_file *f)
{
	struct server_context *s = x->query->context;
	const struct request *r = x->query->match->request;
	const char *project = f->is_name ? f->name.project : NULL;
	if (!f->platform) {
		struct reply *refused = auth_unknown(s, r, TOKEN_READ, f->platform_name, project);
		return refused ? refused : server_context_not_found(s, "no such platform");
	}
	return f->platform->is_private ? auth_check(s, r, TOKEN_READ, f->platform->name, project, NULL) : NULL;
}

static struct reply *prepare_comparison(struct page_query *q)
{
	CLEANUP(compare_request_release) struct compare_request x = {.query = q};
	struct reply *refused = NULL;
	read_sides(&x);
	for (int i = 0; i < 2 && !refused; i++)
		refused = check_side(&x, &x.side[i]);
	q->is_private = !refused && (x.side[0].platform->is_private || x.side[1].platform->is_private);
	for (int i = 0; i < 2 && !refused; i++)
		if (x.side[i].name.kind != FILENAME_WHEEL)
			refused = reply_no_such_wheel(&x);
	return refused;
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
	if (catalog_find_file(x->query->catalog, f->platform->id, f->filename, &f->place, &e) < 0 && e.kind != ERR_NOT_FOUND)
		return server_context_error(&e);
	if (e.kind == ERR_NOT_FOUND)
		return f->platform->scanned == CATALOG_SCANNED ? reply_no_such_wheel(x) : server_context_not_filled();
	return strcmp(f->place.project, f->name.project) == 0 ? NULL : reply_no_such_wheel(x);
}

// A volume that hangs must not stop the only thread of searches.
static int check_answers(const struct compared_file *f, struct err *e)
{
	struct err why = ERR_INIT; // what a bucket says is for the log of the scan
	if (place_answers(f->platform->place, f->place.path, clock_ms() + PROBE_MS, &why))
		return 0;
	return err_set(e, ERR_IO, "platform %s: its volume does not answer", f->platform->name);
}

// Opens the file if it is still the one that was hashed.
static struct place_file *open_known(struct compare_request *x, const struct compared_file *f, struct err *e)
{
	const struct place_version known = {f->place.size, f->place.mtime_ns, f->place.inode};
	if (check_answers(f, e) < 0)
		return NULL;
	struct place_file *file = store_open_known(f->platform, f->place.path, &known, e);
	if (file || (e->kind != ERR_BUSY && e->kind != ERR_NOT_FOUND))
		return file;
	store_scans_hurry(x->query->context->scans);
	err_set(e, ERR_BUSY, "%s has changed on the disk since it was indexed", f->place.path);
	return NULL;
}

static void read_provenance(struct compare_request *x, struct compared_file *f)
{
	struct err e = ERR_INIT;
	struct catalog_attached attached;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
	int found =
		catalog_attached(x->query->catalog, f->platform->id, f->filename, ATTACHMENT_STATEMENT, &attached, &text, &e);
	if (found < 0 || (found > 0 && compared_wheel_take_provenance(&f->wheel, buf_view(&text), &e) < 0))
		log_error("%s/%s: its provenance: %s", f->platform->name, f->filename, e.msg);
}

static struct reply *read_side(struct compare_request *x, struct compared_file *f)
{
	struct err e = ERR_INIT;
	CLEANUP(place_file_close) struct place_file *file = open_known(x, f, &e);
	CLEANUP(mem_free) char *label = xasprintf("%s/%s", f->platform->name, f->filename);
	const struct compared_wheel_source from = {
		.label = label,
		.filename = f->filename,
		.bytes = file ? place_file_source(file, f->place.size) : byte_source_memory(STR("")),
		.sha256 = f->place.sha256,
		.catalog = x->query->catalog,
		.only_catalog = true,
		.facts_most = LIMIT_COMPARE_FACTS,
		.limits = {.unpacked = LIMIT_COMPARE_UNPACKED, .members = LIMIT_COMPARE_MEMBERS},
	};
	if (!file)
		return server_context_error(&e);
	if (compared_wheel_read(&from, &f->wheel, &e) < 0)
		return e.kind == ERR_LIMIT || e.kind == ERR_INVALID ? reply_not_compared(&e) : server_context_error(&e);
	read_provenance(x, f);
	return NULL;
}

// --- the answer ---

static void write_result(const struct compare_request *x, struct buf *out)
{
	CLEANUP(wheel_compare_release) struct wheel_compare result = {0};
	CLEANUP(report_sheet_release) struct report_sheet sheet = {0};
	wheel_compare_make(&x->side[0].wheel.side, &x->side[1].wheel.side, &result);
	if (x->query->form == PAGE_FORM_JSON) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = wheel_compare_json(&result);
		jsondoc_write(doc, 0, out);
		return;
	}
	wheel_compare_sheet(&result, &sheet);
	html_begin(out, page_frame(x->query), sheet.title, sheet.words);
	buf_puts(out, "</header>\n");
	report_sheet_html(&sheet, out);
	html_end(out, "<a href=\"?format=json\">JSON</a>");
}

static int write_comparison(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(compare_request_release) struct compare_request x = {.query = q};
	struct reply *refused = NULL;
	read_sides(&x);
	for (int i = 0; i < 2 && !refused; i++)
		refused = find_place(&x, &x.side[i]);
	for (int i = 0; i < 2 && !refused; i++)
		refused = read_side(&x, &x.side[i]);
	if (refused)
		return page_answer(q, refused);
	write_result(&x, out);
	if (!out->failed || (out->meter && out->meter->is_refused))
		return 0;
	err_set(e, ERR_LIMIT, "the comparison has more than %zu bytes", out->cap);
	return page_answer(q, reply_not_compared(e));
}

// Who may read both files gets the same answer. Its forms are those of auditor/compare.
const struct page_row compare_page = {
	.section = HTML_SECTION_NONE,
	.kind = PAGE_COMPARE,
	.most = 16 << 20,
	.prepare = prepare_comparison,
	.write = write_comparison,
};
