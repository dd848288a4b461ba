// SPDX-License-Identifier: Apache-2.0
#include "uploader/upload-client.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/jsondoc.h"
#include "lib/net/url.h"

// --- URLs ---

// The authority of a URL, between "//" and the path.
static struct str host_of(struct str url)
{
	str_cut(&url, '/');
	str_cut(&url, '/');
	return str_cut(&url, '/');
}

static struct str cut_last_segment(struct str *path)
{
	long at = str_rfind(*path, '/');
	struct str last = str_slice(*path, (size_t)(at + 1), path->len);
	*path = str_slice(*path, 0, at < 0 ? 0 : (size_t)at);
	return last;
}

int upload_url_init(struct upload_url *u, const char *url, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url read = {0};
	struct str rest = str_from(url);
	*u = (struct upload_url){0};
	if (!str_starts(rest, STR("http://")) && !str_starts(rest, STR("https://")))
		return err_set(e, ERR_USAGE,
			"the URL begins with neither http:// nor https://"); // it may hold a password
	if (str_find(host_of(rest), '@') >= 0)
		return err_set(e, ERR_USAGE,
			"the URL contains a user name, which every user of this machine can read: use "
			"WHEELCACHE_TOKEN or a netrc file");
	if (fetch_url_parse(url, &read, e) < 0)
		return err_prefix(e, "%s: ", url);
	if (str_ends(rest, STR("/")))
		rest = str_slice(rest, 0, rest.len - 1);
	struct str platform = cut_last_segment(&rest), upload = cut_last_segment(&rest);
	if (!str_eq(upload, STR("upload")) || !platform_name_is_valid(platform) || !host_of(rest).len)
		return err_set(e, ERR_USAGE, "%s is no upload URL: it is https://HOST/upload/PLATFORM/", url);
	u->platform = xstrndup(platform.ptr, platform.len);
	u->upload = xasprintf(STR_FMT "/upload/%s/", STR_ARG(rest), u->platform);
	u->simple = xasprintf(STR_FMT "/%s/simple/", STR_ARG(rest), u->platform);
	return 0;
}

void upload_url_release(struct upload_url *u)
{
	free(u->upload);
	free(u->simple);
	free(u->platform);
	*u = (struct upload_url){0};
}

// The URL of the page of a project (normalised). The caller frees it.
static char *page_of_project(const struct upload_url *u, const char *project)
{
	return xasprintf("%s%s/?upstream=no", u->simple, project);
}

char *upload_url_route(const char *url, const char *option, const char *route, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	if (fetch_url_parse(url, &parts, e) < 0) {
		err_prefix(e, "%s: ", option);
		return NULL;
	}
	CLEANUP(mem_free) char *base = parts.user || parts.password ? NULL : url_base(str_from(url));
	if (!base) {
		err_set(e, ERR_USAGE, "%s: not the base URL of a server; a token is in WHEELCACHE_TOKEN or in netrc",
			option);
		return NULL;
	}
	return str_ends(str_from(base), str_from(route)) ? STEAL_PTR(base) : xasprintf("%s%s", base, route);
}

// --- pauses ---

int64_t retry_pause(unsigned try, uint64_t retry_after)
{
	int64_t ms = RETRY_PAUSE_FIRST_MS;
	while (try-- && ms < RETRY_PAUSE_LONGEST_MS)
		ms *= 2;
	if (retry_after > RETRY_PAUSE_ASKED_MS / 1000)
		return -1;
	int64_t asked = (int64_t)retry_after * 1000;
	return asked > ms ? asked : ms;
}

// --- answers ---

struct upload_client_page {
	struct jsondoc *doc; // PEP 691
};

enum { REASON_MAX = 400 };

// The meaning of an HTTP status: the first matching row; UPLOAD_CLIENT_REFUSED where none matches.
static const struct status_row {
	unsigned first, last;
	enum upload_client_result result;
} statuses[] = {
	{200, 299, UPLOAD_CLIENT_OK},
	{300, 399, UPLOAD_CLIENT_STOP}, // the URL is wrong: the operator has to correct it
	{401, 401, UPLOAD_CLIENT_STOP},
	{403, 403, UPLOAD_CLIENT_STOP},
	{404, 405, UPLOAD_CLIENT_STOP}, // no such platform, or not an upload URL
	{408, 408, UPLOAD_CLIENT_RETRY},
	{409, 409, UPLOAD_CLIENT_CONFLICT},
	{429, 429, UPLOAD_CLIENT_RETRY},
	{507, 507, UPLOAD_CLIENT_REFUSED}, // the disk is full: a retry in a minute does not help
	{500, 599, UPLOAD_CLIENT_RETRY},
};

static enum upload_client_result result_of_status(unsigned status)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (status >= statuses[i].first && status <= statuses[i].last)
			return statuses[i].result;
	return UPLOAD_CLIENT_REFUSED;
}

static bool has_type(const struct fetch_answer *a, struct str type)
{
	return str_starts(fetch_header(a, "content-type"), type);
}

// The string of this key in a JSON answer; empty where there is none. The caller frees it.
static char *get_json_str(const struct fetch_answer *a, const char *key)
{
	struct err ignored = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	if (has_type(a, STR("application/json")))
		doc = jsondoc_read_bounded(buf_view(&a->body), LIMIT_PROMOTE_VALUES, &ignored); // of the largest answer
	const char *word = doc ? jsondoc_get_str(doc, key) : NULL;
	return xstrdup(word ? word : "");
}

static void set_reason(const struct fetch_answer *a, struct err *why)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(REASON_MAX);
	CLEANUP(mem_free) char *number = xasprintf("%u", a->status);
	struct str where = fetch_header(a, "location");
	// Appends the first line of the server's message, without control characters. An HTML page gives none.
	CLEANUP(mem_free) char *message = get_json_str(a, "message");
	struct str body = str_trim(has_type(a, STR("text/plain")) ? buf_view(&a->body) : str_from(message));
	struct str line = str_head(str_cut(&body, '\n'), REASON_MAX);
	bool is_text = str_is_utf8(line);
	for (size_t i = 0; is_text && i < line.len && !text.failed; i++)
		buf_putc(&text, line.ptr[i] >= 0 && line.ptr[i] < ' ' ? '?' : line.ptr[i]);
	if (str_starts(buf_view(&text), str_from(number)))
		err_set(why, ERR_DENIED, "%s", text.data);
	else if (text.len)
		err_set(why, ERR_DENIED, "%u: %s", a->status, text.data);
	else if (where.len && a->status / 100 == 3)
		err_set(why, ERR_DENIED, "%u: it is at " STR_FMT, a->status, STR_ARG(where));
	else
		err_set(why, ERR_DENIED, "answered with %u", a->status);
}

// err: the error of fetch where there was no answer (result < 0).
static void set_answer(const struct fetch_answer *a, int result, const struct err *err,
	struct upload_client_answer *out)
{
	*out = (struct upload_client_answer){.retry_after = a->retry_after};
	if (result < 0) {
		out->result = err->kind == ERR_NET ? UPLOAD_CLIENT_RETRY : UPLOAD_CLIENT_STOP;
		out->why = *err;
		if (err->kind == ERR_DENIED)
			err_advise(&out->why, "if the server's authority is another, name it with --ca-file");
		return;
	}
	out->status = a->status;
	out->result = result_of_status(a->status);
	if (out->result != UPLOAD_CLIENT_OK)
		set_reason(a, &out->why);
}

static void parse_page(const struct fetch_answer *a, const char *url, struct upload_client_page **out,
	struct upload_client_answer *answer)
{
	struct jsondoc *doc = jsondoc_read_bounded(buf_view(&a->body), LIMIT_CLIENT_VALUES, &answer->why);
	if (!doc || !jsondoc_get(doc, "files")) {
		jsondoc_cleanup(&doc);
		answer->result = UPLOAD_CLIENT_STOP;
		if (answer->why.kind == ERR_LIMIT)
			err_prefix(&answer->why, "%s: ", url);
		else
			err_set(&answer->why, ERR_INVALID, "%s: no simple page in JSON", url);
		return;
	}
	*out = xmalloc(sizeof(**out));
	(*out)->doc = doc;
}

void upload_client_get_page(struct fetch *f, const struct upload_url *t, const char *project,
	struct upload_client_page **out, struct upload_client_answer *answer)
{
	static const char *const headers[] = {
		"Accept: application/vnd.pypi.simple.v1+json", "Cache-Control: no-cache", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	CLEANUP(mem_free) char *url = page_of_project(t, project);
	struct err e = ERR_INIT;
	*out = NULL;
	fetch_answer_init(&a, LIMIT_CLIENT_PAGE);
	set_answer(&a, fetch_get(f, url, headers, &a, &e), &e, answer);
	if (a.status == 404)
		*answer = (struct upload_client_answer){.result = UPLOAD_CLIENT_OK};
	else if (answer->result == UPLOAD_CLIENT_OK)
		parse_page(&a, url, out, answer);
	else if (answer->result != UPLOAD_CLIENT_RETRY)
		answer->result = UPLOAD_CLIENT_STOP;
}

void upload_client_page_free(struct upload_client_page *page)
{
	if (!page)
		return;
	jsondoc_cleanup(&page->doc);
	free(page);
}

void upload_client_page_cleanup(struct upload_client_page **page)
{
	upload_client_page_free(*page);
}

static const char *sha256_of(const struct jsondoc *file)
{
	const struct jsondoc *hashes = jsondoc_get(file, "hashes");
	const char *hash = hashes ? jsondoc_get_str(hashes, "sha256") : NULL;
	return hash ? hash : "";
}

enum upload_client_found upload_client_find(const struct upload_client_page *page, const struct dist_file *p)
{
	const struct jsondoc *files = page ? jsondoc_get(page->doc, "files") : NULL;
	for (size_t i = 0; files && i < jsondoc_count(files); i++) {
		const struct jsondoc *file = jsondoc_at(files, i);
		const char *name = jsondoc_get_str(file, "filename");
		if (!name || !str_eq(str_from(name), str_from(p->filename)))
			continue;
		return str_eq_nocase(str_from(sha256_of(file)), str_from(p->sha256)) ? UPLOAD_CLIENT_SAME
										     : UPLOAD_CLIENT_OTHER;
	}
	return UPLOAD_CLIENT_ABSENT;
}

void upload_client_set_kept(struct upload_client_answer *answer)
{
	answer->result = UPLOAD_CLIENT_KEPT;
	err_set(&answer->why, ERR_CONFLICT, "the server keeps an earlier build with the same contents and other bytes");
}

void upload_client_send(struct fetch *f, const struct upload_url *t, const struct dist_file *p, int fd,
	struct upload_client_answer *answer)
{
	static const char *const headers[] = {"Accept: application/json, text/plain;q=0.9", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct fetch_field field[DIST_FILE_FIELDS];
	struct err e = ERR_INIT;
	size_t fields = dist_file_form(p, field);
	const struct fetch_form form = {
		.field = field,
		.count = fields,
		.file_field = "content",
		.file_name = p->filename,
		.fd = fd,
		.size = p->read.size,
	};
	fetch_answer_init(&a, LIMIT_ANSWER);
	set_answer(&a, fetch_post(f, t->upload, headers, &form, &a, &e), &e, answer);
	if (answer->result == UPLOAD_CLIENT_OK) {
		// A wheelcache server says which bytes it keeps under the name.
		CLEANUP(mem_free) char *sha256 = get_json_str(&a, "sha256");
		if (*sha256 && !str_eq_nocase(str_from(sha256), str_from(p->sha256)))
			upload_client_set_kept(answer);
	}
}

void upload_client_exchange(struct fetch *f, const char *url, struct str json, struct fetch_answer *a,
	struct upload_client_answer *answer)
{
	static const char *const headers[] = {
		"Content-Type: application/json", "Accept: application/json, text/plain;q=0.9", NULL};
	struct err e = ERR_INIT;
	set_answer(a, fetch_post_body(f, url, headers, json, a, &e), &e, answer);
}

void upload_client_post(struct fetch *f, const char *url, struct str json, struct upload_client_answer *answer)
{
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	fetch_answer_init(&a, LIMIT_ANSWER);
	upload_client_exchange(f, url, json, &a, answer);
}
