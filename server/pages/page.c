// SPDX-License-Identifier: Apache-2.0
#include "server/pages/page.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/store/retired.h"
#include "server/core/build-results.h"
#include "server/http/answers.h"
#include "server/message/request.h"
#include "server/pages/html-layout.h"

enum {
	KEPT_LEAST_MS = 3000, // a costly page is kept so long,
	KEPT_SHARE = 20,      // or this many times as long as it took
	KEPT_MOST_MS = 60000,
	HOST_BYTES = 255,
};

// --- the query ---

struct reply *page_refuse(const char *what)
{
	struct reply *r = reply_text(400, "400 Bad Request: %s", what);
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

static bool is_python(struct str s)
{
	struct python python;
	struct err ignored = ERR_INIT;
	return python_parse(s, &python, &ignored) == 0;
}

static bool is_view(struct str s)
{
	return str_eq(s, STR("simple")) || platform_name_is_valid(s);
}

static bool is_glob(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!ascii_is_alnum(s.ptr[i]) && !memchr("._-*?[]!^", s.ptr[i], 9))
			return false;
	return memchr(s.ptr, '*', s.len) || memchr(s.ptr, '?', s.len) || memchr(s.ptr, '[', s.len);
}

static const struct {
	bool (*is_good)(struct str s); // a word; NULL: any, or one of the row's
	bool may_be_glob, is_list;
	const char *refusal; // NULL: the row's
} forms[FORM_COUNT] = {
	[FORM_TEXT] = {NULL, false, false, NULL},
	[FORM_CHOICE] = {NULL, false, false, NULL},
	[FORM_CHOICES] = {NULL, false, true, NULL},
	[FORM_PYTHON] = {is_python, false, false, "python is a version of Python, such as 3.12, 3.13t or pp311"},
	[FORM_PYTHONS] = {is_python, true, true,
		"python is a list of Pythons, such as 3.12, 3.13t and pp311, and globs, such as 3.*"},
	[FORM_PLATFORM] = {platform_name_is_valid, false, false, "platform is the name of a platform"},
	[FORM_PLATFORM_GLOB] = {platform_name_is_valid, true, false,
		"platform is the name of a platform, or a glob, such as ubuntu-*"},
	[FORM_PLATFORMS] = {platform_name_is_valid, true, true,
		"platforms is a list of names of platforms and globs, such as ubuntu-*"},
	[FORM_PROJECT] = {name_is_valid, false, false, "project is the name of a project"},
	[FORM_PROJECT_GLOB] = {name_is_valid, true, false,
		"project is the name of a project, or a glob, such as zope-*"},
	[FORM_PROJECTS] = {name_is_valid, true, true,
		"projects is a list of names of projects and globs, such as zope-*"},
	[FORM_VIEW] = {is_view, false, false, "view is the name of a view or a platform"},
};

static bool is_choice(const struct page_argument *a, struct str word)
{
	bool is_found = a->form == FORM_TEXT;
	for (size_t i = 0; i < a->choices && !is_found; i++)
		is_found = str_eq(word, str_from(a->choice[i]));
	return is_found;
}

static bool has_form(char *text, const struct page_argument *a)
{
	bool (*is_good)(struct str) = forms[a->form].is_good;
	for (char *at = text; forms[a->form].is_list && *at; at++)
		*at = *at == ',' ? ' ' : *at;
	struct str rest = str_from(text);
	while (rest.len) {
		struct str word = forms[a->form].is_list ? str_cut(&rest, ' ') : rest;
		rest = forms[a->form].is_list ? rest : STR("");
		bool is_good_word = is_good ? is_good(word) : is_choice(a, word);
		if (word.len && !is_good_word && !(forms[a->form].may_be_glob && is_glob(word)))
			return false;
	}
	return true;
}

static struct reply *check_argument(const struct page_argument *a, char text[REQUEST_ARGUMENT_SIZE])
{
	if (!has_form(text, a))
		return page_refuse(forms[a->form].refusal ? forms[a->form].refusal : a->refusal);
	if (a->is_normalized) {
		// The normal form may be longer than the text by nothing.
		CLEANUP(buf_release) struct buf normal = buf_up_to(REQUEST_ARGUMENT_SIZE - 1);
		name_normalize(str_from(text), &normal);
		memcpy(text, normal.data, normal.len);
		text[normal.len] = '\0';
	}
	return NULL;
}

// What a kept page does not name is not in its key, so the page does not see it.
struct reply *page_read_arguments(struct page_query *q, const struct request *r)
{
	struct reply *refused = NULL;
	for (int i = 0; i < ARGUMENT_COUNT && !refused; i++) {
		bool is_seen = q->page->kind < PAGE_COSTLY || i == ARGUMENT_LIMIT;
		if (i != ARGUMENT_CHOSEN && !request_read_argument(r, (enum request_argument)i, q->text[i]))
			return page_refuse("a part of the query is malformed or too long");
		for (size_t k = 0; k < q->page->arguments && !refused; k++)
			if (q->page->argument[k].name == (enum request_argument)i) {
				is_seen = true;
				refused = check_argument(&q->page->argument[k], q->text[i]);
			}
		if (!is_seen)
			q->text[i][0] = '\0';
	}
	const struct page_row *p = q->page;
	uint64_t limit = 0;
	struct str digits = str_from(q->text[ARGUMENT_LIMIT]);
	decimal_cut(&digits, p->rows_most, &limit);
	size_t usual = q->form == PAGE_FORM_HTML || !p->rows_of_data ? p->rows : p->rows_of_data;
	q->limit = limit ? (size_t)limit : usual;
	return refused;
}

static bool has_page_form(const struct page_row *p, enum page_form form)
{
	unsigned all = p->forms ? p->forms : 1U << PAGE_FORM_HTML | 1U << PAGE_FORM_JSON;
	return all & 1U << form;
}

static enum page_form choose_form(const struct page_row *p, const struct request *r)
{
	static const char *const word[PAGE_FORM_COUNT] = {[PAGE_FORM_CSV] = "csv", [PAGE_FORM_TEXT] = "text"};
	const char *accept = r->header[HEADER_ACCEPT];
	for (int i = 0; i < PAGE_FORM_COUNT; i++)
		if (word[i] && has_page_form(p, (enum page_form)i) &&
			(p->forms == 1U << i || (r->format && strcmp(r->format, word[i]) == 0)))
			return (enum page_form)i;
	if (!has_page_form(p, PAGE_FORM_JSON))
		return PAGE_FORM_HTML;
	bool is_json = p->is_data_first ? !negotiate_data_html(accept, r->format) : negotiate_page_json(accept, r->format);
	return is_json ? PAGE_FORM_JSON : PAGE_FORM_HTML;
}

// Whether it is a host and a port (RFC 9110 section 7.2). Other values are not put into a page.
static bool is_host_header(struct str host)
{
	for (size_t i = 0; i < host.len; i++)
		if (!ascii_is_alnum(host.ptr[i]) && !strchr(".-_:[]", host.ptr[i]))
			return false;
	return host.len > 0 && host.len <= HOST_BYTES;
}

// The URL of the server: the configured one, or that of the request, without "/" at its end. The caller frees it.
static char *page_base_url(const struct server_context *s, const struct site *site, const struct request *r)
{
	if (site->base)
		return xstrdup(site->base);
	const char *host = r->header[HEADER_HOST], *scheme = r->header[HEADER_FORWARDED_PROTO];
	bool is_https = scheme ? str_eq_nocase(str_from(scheme), STR("https")) : s->has_tls;
	return xasprintf("%s://%s" STR_FMT, is_https ? "https" : "http",
		host && is_host_header(str_from(host)) ? host : "localhost",
		STR_ARG(trusted_proxies_prefix(r->header[HEADER_FORWARDED_PREFIX])));
}

// --- what the asker may read ---

static void list_names(struct page_query *q)
{
	mem_free(&q->named);
	q->nameds = 0;
	q->named = xcalloc(q->platforms + 1, sizeof(const struct platform *));
	for (size_t i = 0; i < q->platforms && q->page->shows_names; i++)
		if (readable_names(&q->readable, q->platform[i], *q->project ? q->project : NULL))
			q->named[q->nameds++] = q->platform[i];
}

void page_show_view(struct page_query *q, const struct view *v)
{
	mem_free(&q->platform);
	q->platform = xcalloc(v->platform_count + 1, sizeof(const struct platform *));
	for (q->platforms = 0; q->platforms < v->platform_count; q->platforms++)
		q->platform[q->platforms] = v->platform[q->platforms];
	list_names(q);
}

bool page_names(const struct page_query *q, const struct platform *p)
{
	for (size_t i = 0; i < q->nameds; i++)
		if (q->named[i] == p)
			return true;
	return false;
}

bool page_names_view(const struct page_query *q, const struct view *v)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (!page_names(q, v->platform[i]))
			return false;
	return v->platform_count > 0;
}

// --- the key ---

static bool is_page_kept(const struct page_query *q)
{
	return q->page->kind >= PAGE_COSTLY && !(q->page->scope == PAGE_SCOPE_ALL && q->readable.has_private);
}

// Of all that the page may depend on beside the catalog.
static void make_key(struct page_query *q)
{
	enum { MOST = 16 + PAGE_QUERY_NUMBERS + ARGUMENT_COUNT };
	const struct route_match *m = q->match;
	const struct page_readers readers = {.site = q->site,
		.platform = (const struct platform *const *)q->platform,
		.platforms = q->platforms,
		.named = (const struct platform *const *)q->named,
		.nameds = q->nameds};
	struct page_value value[MOST] = {PAGE_NUMBER(changes_read(q->context->changes)), PAGE_NUMBER(q->form),
		PAGE_NUMBER(q->coding), PAGE_NUMBER(q->limit), PAGE_TEXT(m->view), PAGE_TEXT(m->platform),
		PAGE_TEXT(m->file), PAGE_TEXT(m->other_platform), PAGE_TEXT(m->other_file), PAGE_TEXT(str_from(q->project)),
		PAGE_TEXT(str_from(q->base ? q->base : "")), PAGE_NUMBER(q->view != NULL),
		PAGE_TEXT(str_from(q->view && q->view->name ? q->view->name : ""))};
	size_t values = 13;
	for (size_t i = 0; i < PAGE_QUERY_NUMBERS; i++)
		value[values++] = (struct page_value)PAGE_NUMBER(q->number[i]);
	for (size_t i = 0; i < q->page->arguments; i++)
		value[values++] = (struct page_value)PAGE_TEXT(str_from(q->text[q->page->argument[i].name]));
	page_key_make(&q->key, q->page->kind, &readers, value, values);
}

static void query_release(struct page_query *q)
{
	readable_release(&q->readable);
	mem_free(&q->platform);
	mem_free(&q->named);
	mem_free(&q->base);
	buf_release(&q->link);
}

// A reply unless the page can be made.
static struct reply *read_query(struct page_query *q)
{
	const struct request *r = q->match->request;
	q->site = q->match->site;
	q->now = clock_wall_seconds();
	q->form = choose_form(q->page, r);
	q->coding = negotiate_coding(r->header[HEADER_ACCEPT_ENCODING]);
	buf_init(&q->link, LIMIT_PATH);
	// The normal form of a project's name; "": it is none.
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	if (name_is_valid(q->match->project))
		name_normalize(q->match->project, &normal);
	size_t len = normal.failed ? 0 : normal.len;
	memcpy(q->project, normal.data, len);
	q->project[len] = '\0';
	struct reply *refused = q->page->reads_query ? page_read_arguments(q, r) : NULL;
	if (refused)
		return refused;
	const struct view *v = q->match->found_view;
	readable_init(&q->readable, q->context, q->match->request, q->site);
	if (q->page->scope == PAGE_SCOPE_WHOLE)
		readable_keep_whole(&q->readable);
	if (q->page->scope == PAGE_SCOPE_PROJECT || q->page->scope == PAGE_SCOPE_WHOLE)
		q->platform = readable_list(&q->readable, *q->project ? q->project : NULL, &q->platforms);
	if (q->page->scope == PAGE_SCOPE_VIEW)
		page_show_view(q, v);
	else
		list_names(q);
	q->is_private = q->site->has_private || (v && v->is_private) || q->nameds > 0;
	if (q->match->project.len && !*q->project)
		return server_context_not_found_in(q->context,
			q->match->found_view ? q->match->found_view->is_private : q->site->has_private,
			"no such project");
	if (q->page->has_base)
		q->base = page_base_url(q->context, q->site, r);
	refused = q->page->prepare ? q->page->prepare(q) : NULL;
	if (!refused && is_page_kept(q))
		make_key(q);
	return refused;
}

// --- the frame ---

static bool has_always(struct server_context *s UNUSED, struct catalog *c UNUSED, const struct readable *r UNUSED)
{
	return true;
}

static size_t platforms_in_use(const struct readable *r, const char **name)
{
	const struct store *store = &r->site->store;
	size_t count = 0;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->is_readable[i] && !retired_is(&store->platform[i]))
			name[count++] = store->platform[i].name;
	return count;
}

static int note_attempt(void *ctx, const struct results_attempt *a UNUSED, struct err *e UNUSED)
{
	*(bool *)ctx = true;
	return 0;
}

static bool has_builds(struct server_context *s, struct catalog *c UNUSED, const struct readable *r)
{
	struct err e = ERR_INIT;
	bool has_any = false;
	const char **name CLEANUP(mem_free) = xcalloc(r->site->store.platform_count + 1, sizeof(const char *));
	const struct results_filter filter = {.platforms = name, .platform_count = platforms_in_use(r, name), .limit = 1};
	CLEANUP(results_cleanup) struct results *results = page_find_results(s);
	if (results && results_list(results, &filter, note_attempt, &has_any, &e) < 0)
		log_error("%s", e.msg);
	return has_any;
}

static bool has_plan(struct server_context *s UNUSED, struct catalog *c, const struct readable *r UNUSED)
{
	return catalog_plan_exists(c);
}

static bool has_coverage(struct server_context *s UNUSED, struct catalog *c UNUSED, const struct readable *r)
{
	const struct store *store = &r->site->store;
	for (size_t i = 0; i < store->platform_count; i++)
		if (r->is_readable[i] && !retired_is(&store->platform[i]) &&
			store->platform[i].profile.environment_count)
			return true;
	return false;
}

// NULL: no server has it.
static bool (*const has_section[HTML_SECTION_COUNT])(struct server_context *, struct catalog *, const struct readable *) = {
	[HTML_SECTION_HOME] = has_always,
	[HTML_SECTION_COVERAGE] = has_coverage,
	[HTML_SECTION_BUILDS] = has_builds,
	[HTML_SECTION_PLAN] = has_plan,
	[HTML_SECTION_DOCS] = has_always,
};

// The path has a folder for each slash but the first.
static const char *root_from(const char *path)
{
	static const char ups[] = "../../../../../../../../";
	size_t folders = 0;
	for (const char *p = path + 1; *p; p++)
		folders += *p == '/';
	return 3 * folders < sizeof(ups) ? ups + sizeof(ups) - 1 - 3 * folders : "/";
}

struct html_frame *page_frame(struct page_query *q)
{
	struct html_frame *f = &q->frame;
	if (f->root)
		return f;
	CLEANUP(readable_release) struct readable everybody;
	*f = (struct html_frame){.root = root_from(q->match->request->path), .here = q->page->section, .has_search = true};
	readable_init_public(&everybody, q->site);
	const struct readable *readable = q->page->has_own_frame ? &q->readable : &everybody;
	for (int i = 0; i < HTML_SECTION_COUNT; i++)
		if (has_section[i] && has_section[i](q->context, q->catalog, readable))
			f->sections |= 1U << i;
	return f;
}

// --- the answer ---

// The catalog is on this disk, and must not be stopped by it.
static int check_spool_room(int folder, struct err *e)
{
	struct statvfs disk;
	if (fstatvfs(folder, &disk) < 0)
		return err_errno(e, ERR_IO, "the disk of the catalog");
	uint64_t left = (uint64_t)disk.f_bavail * disk.f_frsize;
	return left < 2 * (uint64_t)LIMIT_ANSWERS_SPOOLED ? err_set(e, ERR_FULL, "the disk of the catalog is nearly full") : 0;
}

static struct blob *write_spool_file(const char *catalog_path, struct str bytes, struct err *e)
{
	CLEANUP(mem_close) int folder = safefile_parent(catalog_path, false, NULL, e);
	CLEANUP(fs_tmp_release) struct fs_tmp file = {.fd = -1};
	if (folder < 0 || check_spool_room(folder, e) < 0 || fs_tmp_open_nameless(&file, folder, "an answer", e) < 0 ||
		fs_tmp_write(&file, bytes, e) < 0)
		return NULL;
	return blob_map_own(file.fd, bytes.len, e);
}

// Large answers go into files without a name, beside the catalog: clients that hardly read them then take no memory,
// and what pip needs finds room. Takes over the bytes. They stay in memory where the disk is nearly full or has no such
// files.
static struct blob *answer_spool(const char *catalog_path, struct buf *bytes)
{
	struct err e = ERR_INIT;
	if (bytes->len <= LIMIT_ANSWER_KEPT || !catalog_path)
		return blob_from_buf(bytes);
	struct blob *b = write_spool_file(catalog_path, buf_view(bytes), &e);
	if (!b) {
		log_debug("%s", e.msg);
		return blob_from_buf(bytes);
	}
	buf_release(bytes);
	return b;
}

static const char *const form_type[PAGE_FORM_COUNT] = {
	[PAGE_FORM_HTML] = "text/html; charset=utf-8",
	[PAGE_FORM_JSON] = "application/json",
	[PAGE_FORM_CSV] = "text/csv; charset=utf-8",
	[PAGE_FORM_TEXT] = "text/plain; charset=utf-8",
};

struct reply *page_not_found(const struct page_query *q, const char *what)
{
	return server_context_not_found_in(q->context, q->is_private, what);
}

int page_answer(struct page_query *q, struct reply *answer)
{
	q->refused = answer;
	return 1;
}

int page_write_json(struct jsondoc *doc, struct buf *out)
{
	jsondoc_write(doc, 2, out);
	jsondoc_cleanup(&doc);
	return 0;
}

int page_open_results(struct server_context *s, struct results **out, struct err *e)
{
	struct err why = ERR_INIT;
	*out = NULL;
	return build_results_open(s->build_results, s->search_ms, out, &why) == 0 ? 0 : err_unless_missing(e, &why);
}

struct results *page_find_results(struct server_context *s)
{
	struct err e = ERR_INIT;
	struct results *found;
	if (page_open_results(s, &found, &e) < 0)
		log_error("%s", e.msg);
	return found;
}

struct downloads *page_find_downloads(const char *path)
{
	struct err e = ERR_INIT;
	struct downloads *d = NULL;
	if (downloads_open(path, &d, &e) < 0 && e.kind != ERR_NOT_FOUND)
		log_warn("%s", e.msg);
	return d;
}

bool page_list_has(const char *list, const char *name)
{
	struct str rest = str_from(list);
	bool has_any = false;
	while (rest.len) {
		char glob[REQUEST_ARGUMENT_SIZE];
		struct str word = str_cut(&rest, ' ');
		if (!word.len)
			continue;
		has_any = true;
		memcpy(glob, word.ptr, word.len); // a word of an argument is no longer than it
		glob[word.len] = '\0';
		if (strcmp(glob, name) == 0 || fnmatch(glob, name, 0) == 0)
			return true;
	}
	return !has_any;
}

static int write_document(struct page_query *q, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	int result = q->page->make ? q->page->make(q, &doc, e) : 0;
	if (result)
		return result;
	if (q->page->form[q->form])
		q->page->form[q->form](q, doc, out);
	else
		jsondoc_write(doc, q->page->indent, out);
	return 0;
}

static int write_page(struct page_query *q, struct buf *out, struct err *e)
{
	int result = q->page->write ? q->page->write(q, out, e) : write_document(q, out, e);
	return result == 0 && out->failed ? err_set(e, ERR_LIMIT, "larger than %zu bytes", out->cap) : result;
}

// Where the buffer of a page got no memory, a 503.
static struct reply *reply_failed(const struct buf *page, const struct err *e)
{
	return page->meter && page->meter->is_refused ? reply_busy(answers_unread) : server_context_error(e);
}

static struct reply *make_reply(struct page_query *q)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf page = buf_up_to(q->page->most);
	page.meter = q->match->meter;
	int result = write_page(q, &page, &e);
	if (result == 0) {
		// 200 with the page, compressed as the client accepts, with an ETag that saves the bytes of an
		// unchanged one. Takes the bytes of the page over.
		struct err why = ERR_INIT;
		char etag[PAGE_ETAG_SIZE];
		CLEANUP(buf_release) struct buf packed = buf_up_to(page.len + (1 << 20));
		packed.meter = page.meter;
		if (q->coding != PAGE_PLAIN && page_pack(buf_view(&page), q->coding, &packed, &why) < 0)
			return reply_failed(&packed, &why);
		struct buf *sent = q->coding == PAGE_PLAIN ? &page : &packed;
		page_etag(form_type[q->form], buf_view(sent), etag);
		struct reply *r = reply_new(200, form_type[q->form], answer_spool(q->context->catalog_path, sent));
		server_context_set_freshness(q->context, r, q->is_private);
		reply_header(r, "Vary", "Accept, Accept-Encoding");
		reply_header(r, "Content-Security-Policy", "%s", html_policy);
		reply_header(r, "X-Content-Type-Options", "nosniff");
		if (page_coding_name[q->coding])
			reply_header(r, "Content-Encoding", "%s", page_coding_name[q->coding]);
		if (q->link.len)
			reply_header(r, "Link", "%s", q->link.data);
		reply_set_etag(r, etag);
		return r;
	}
	if (result > 0)
		return q->refused;
	err_prefix(&e, "%s: ", q->match->request->path);
	return reply_failed(&page, &e);
}

static int64_t kept_ms(int64_t took_ms)
{
	int64_t ms = KEPT_SHARE * took_ms;
	return ms < KEPT_LEAST_MS ? KEPT_LEAST_MS : ms > KEPT_MOST_MS ? KEPT_MOST_MS : ms;
}

// The reply from the page cache, or made, once for all threads that want it now.
static struct reply *find_or_make(struct page_query *q)
{
	struct page_making making;
	struct pagecache *cache = q->context->pagecache;
	uint64_t epoch = pagecache_epoch(cache, &q->key, q->match->pages_cleared);
	pagecache_make_begin(cache, &making, &q->key);
	struct reply *r = pagecache_get(cache, &q->key);
	if (!r) {
		int64_t begun = clock_ms();
		r = make_reply(q);
		if (r->status == 200)
			pagecache_put(cache, &q->key, r, kept_ms(clock_ms() - begun), epoch);
	}
	pagecache_make_end(cache, &making);
	return r;
}

struct reply *page_inline(struct server_context *s, const struct route_match *match)
{
	CLEANUP(query_release) struct page_query q = {.page = match->page, .context = s, .match = match};
	struct reply *refused = read_query(&q);
	return refused ? refused : is_page_kept(&q) ? pagecache_get(s->pagecache, &q.key) : NULL;
}

struct reply *page_worker(struct server_context *s, struct catalog *c, const struct route_match *match)
{
	CLEANUP(query_release) struct page_query q = {.page = match->page, .context = s, .catalog = c, .match = match};
	if (match->page->needs_directory && !server_context_has_directory(s))
		return reply_busy("the names of all projects are still being read; ask again");
	struct reply *refused = read_query(&q);
	return refused ? refused : is_page_kept(&q) ? find_or_make(&q) : make_reply(&q);
}

// --- members of views that the store has lost ---

static void put_text_after(struct buf *out, const char *words, const char *text)
{
	if (!text || !*text)
		return;
	html_put(out, "%h%s", words, text);
}

static void put_loss(struct buf *out, const struct jsondoc *loss, const char *up)
{
	const char *view = jsondoc_get_str(loss, "view"), *since = jsondoc_get_str(loss, "since");
	int64_t generation = 0;
	jsondoc_get_int(loss, "generation", &generation);
	html_put(out, "<tr><th scope=\"row\" class=\"file\">%s</th><td>%s</td><td><a href=\"%h/channel/%u/\">%s",
		jsondoc_get_str(loss, "filename"), jsondoc_get_str(loss, "platform"), up, view, view);
	buf_printf(out, "</a>, generation %" PRId64 "</td><td>%.16s</td><td class=\"why full\">", generation,
		since ? since : "");
	html_text(out, jsondoc_get_str(loss, "why"));
	put_text_after(out, ", by ", jsondoc_get_str(loss, "by"));
	put_text_after(out, ": ", jsondoc_get_str(loss, "reason"));
	put_text_after(out, ". What to do: ", jsondoc_get_str(loss, "advice"));
	buf_puts(out, "</td></tr>\n");
}

void losses_state(const struct jsondoc *lost, struct buf *out)
{
	if (!lost || !jsondoc_count(lost))
		return;
	html_put(out, "<span class=\"state wrong\">%n lost</span>\n", jsondoc_count(lost));
}

void losses_table(const struct jsondoc *lost, const char *up, struct buf *out)
{
	if (!lost || !jsondoc_count(lost))
		return;
	buf_puts(out, "<h2>Lost</h2>\n<p class=\"note\">Released files that the store no longer has: clients of these views "
		      "find no such file.</p>\n");
	html_begin_table(out, "Lost files", "card wide builds", "File|Platform|Member of|Lost since|Why");
	for (size_t i = 0; i < jsondoc_count(lost); i++)
		put_loss(out, jsondoc_at(lost, i), up);
	html_end_table(out);
}

// --- which index a job takes ---

// The view of the configuration that it is; NULL: none.
static const char *configured_name(const struct site *s, const struct view *v)
{
	const char *name = v->name ? v->name : s->config.default_view;
	return name && config_view(&s->config, name) ? name : NULL;
}

struct client_index install_index_of(const struct site *s, const struct view *v,
	const struct platform *const *platform, size_t platforms, const char *base)
{
	const char *name = configured_name(s, v);
	struct client_index x = {.base = base, .view = v->name, .needs_token = v->is_private};
	bool is_of_all = v == &s->view[0] && !name && s->has_no_default; // which has no platform
	if (v->platform_count < 2 && !is_of_all)
		return x;
	for (size_t i = 0; i < platforms && !x.platform; i++)
		if (is_of_all || view_has(v, platform[i])) {
			x.view = name;
			x.platform = platform[i]->name;
			x.needs_token = platform[i]->is_private;
		}
	return x;
}

void install_index_command(const struct client_index *x, const char *requirement, struct buf *out)
{
	CLEANUP(buf_release) struct buf untrusted = buf_up_to(LIMIT_PAGE);
	const char *quote = strchr(requirement, '!') ? "'" : "";
	client_config_distrusted(str_from(x->base), &untrusted);
	buf_puts(out, "pip install --index-url ");
	client_config_url(x, out);
	buf_puts(out, untrusted.len ? " --trusted-host " : "");
	buf_str(out, buf_view(&untrusted));
	buf_printf(out, " %s%s%s", quote, requirement, quote);
}

void install_index_page(const struct client_index *x, struct buf *out)
{
	const char *const part[] = {x->view, x->platform};
	buf_puts(out, "-/client-config");
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i])
			html_put(out, "/%u", part[i]);
	buf_puts(out, x->view || x->platform ? "" : "/simple");
}

void all_projects_link(const struct site *s, const char *root, struct buf *out)
{
	html_put(out, "<a href=\"%h%h\">all projects</a>", root, s->has_no_default ? "-/usage/?by=project" : "simple/");
}
