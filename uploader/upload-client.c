// SPDX-License-Identifier: Apache-2.0
#include "uploader/upload-client.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/jsondoc.h"

struct remote_page {
	struct jsondoc *doc; // PEP 691
};

enum { REASON_MAX = 400 };

// What a status means: the first row that holds it; UPLOAD_CLIENT_REFUSED where none does.
static const struct status_row {
	unsigned first, last;
	enum upload_client_word word;
} statuses[] = {
	{200, 299, UPLOAD_CLIENT_GOOD},
	{300, 399, UPLOAD_CLIENT_STOP}, // it is elsewhere, for whoever wrote the URL
	{401, 401, UPLOAD_CLIENT_STOP},
	{403, 403, UPLOAD_CLIENT_STOP},
	{404, 405, UPLOAD_CLIENT_STOP}, // no such platform, or not where uploads go
	{408, 408, UPLOAD_CLIENT_AGAIN},
	{409, 409, UPLOAD_CLIENT_CONFLICT},
	{429, 429, UPLOAD_CLIENT_AGAIN},
	{507, 507, UPLOAD_CLIENT_REFUSED}, // full: nothing that goes away in a minute
	{500, 599, UPLOAD_CLIENT_AGAIN},
};

static enum upload_client_word word_of(unsigned status)
{
	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if (status >= statuses[i].first && status <= statuses[i].last)
			return statuses[i].word;
	return UPLOAD_CLIENT_REFUSED;
}

static bool is_type(const struct fetch_answer *a, struct str type)
{
	return str_starts(fetch_header(a, "content-type"), type);
}

// The string of this key of a JSON answer; empty where there is none. To be freed by the caller.
static char *get_word(const struct fetch_answer *a, const char *key)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = NULL;
	if (is_type(a, STR("application/json")))
		doc = jsondoc_read(buf_view(&a->body), &unsaid);
	const char *word = doc ? jsondoc_get_str(doc, key) : NULL;
	return xstrdup(word ? word : "");
}

// The first line of what the server says, as something to be shown on a terminal. A page for a
// browser says nothing here.
static void put_words(const struct fetch_answer *a, struct buf *out)
{
	CLEANUP(mem_free) char *message = get_word(a, "message");
	struct str body = str_trim(is_type(a, STR("text/plain")) ? buf_view(&a->body) : str_from(message));
	struct str line = str_cut(&body, '\n');
	for (size_t i = 0; str_is_utf8(line) && i < line.len && !out->failed; i++)
		buf_putc(out, line.ptr[i] >= 0 && line.ptr[i] < ' ' ? '?' : line.ptr[i]);
}

static void put_reason(const struct fetch_answer *a, struct err *why)
{
	CLEANUP(buf_release) struct buf text;
	CLEANUP(mem_free) char *number = xasprintf("%u", a->status);
	struct str where = fetch_header(a, "location");
	buf_init(&text, REASON_MAX);
	put_words(a, &text);
	if (str_starts(buf_view(&text), str_from(number)))
		err_set(why, ERR_DENIED, "%s", text.data);
	else if (text.len)
		err_set(why, ERR_DENIED, "%u: %s", a->status, text.data);
	else if (where.len && a->status / 100 == 3)
		err_set(why, ERR_DENIED, "%u: it is at " STR_FMT, a->status, STR_ARG(where));
	else
		err_set(why, ERR_DENIED, "answered with %u", a->status);
}

// err: what fetch said where there was no answer.
static void judge(const struct fetch_answer *a, int result, const struct err *err, struct upload_client_answer *out)
{
	*out = (struct upload_client_answer){.retry_after = a->retry_after};
	if (result < 0) {
		out->word = err->kind == ERR_NET ? UPLOAD_CLIENT_AGAIN : UPLOAD_CLIENT_STOP;
		out->why = *err;
		return;
	}
	out->word = word_of(a->status);
	if (out->word != UPLOAD_CLIENT_GOOD)
		put_reason(a, &out->why);
}

static void take_page(const struct fetch_answer *a, const char *url, struct remote_page **out,
	struct upload_client_answer *answer)
{
	struct jsondoc *doc = jsondoc_read(buf_view(&a->body), &answer->why);
	if (!doc || !jsondoc_get(doc, "files")) {
		jsondoc_cleanup(&doc);
		answer->word = UPLOAD_CLIENT_STOP;
		err_set(&answer->why, ERR_INVALID, "%s: no simple page in JSON", url);
		return;
	}
	*out = xmalloc(sizeof(**out));
	(*out)->doc = doc;
}

void upload_client_ask(struct fetch *f, const struct upload_url *t, const char *project, struct remote_page **out,
	struct upload_client_answer *answer)
{
	static const char *const headers[] = {
		"Accept: application/vnd.pypi.simple.v1+json", "Cache-Control: no-cache", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	CLEANUP(mem_free) char *url = upload_url_page(t, project);
	struct err e = ERR_INIT;
	*out = NULL;
	fetch_answer_init(&a, LIMIT_PAGE);
	judge(&a, fetch_get(f, url, headers, &a, &e), &e, answer);
	if (a.status == 404)
		*answer = (struct upload_client_answer){.word = UPLOAD_CLIENT_GOOD};
	else if (answer->word == UPLOAD_CLIENT_GOOD)
		take_page(&a, url, out, answer);
	else if (answer->word != UPLOAD_CLIENT_AGAIN)
		answer->word = UPLOAD_CLIENT_STOP;
}

void upload_client_page_free(struct remote_page *page)
{
	if (!page)
		return;
	jsondoc_cleanup(&page->doc);
	free(page);
}

void upload_client_page_cleanup(struct remote_page **page)
{
	upload_client_page_free(*page);
}

static const char *sha256_of(const struct jsondoc *file)
{
	const struct jsondoc *hashes = jsondoc_get(file, "hashes");
	const char *hash = hashes ? jsondoc_get_str(hashes, "sha256") : NULL;
	return hash ? hash : "";
}

enum upload_client_state upload_client_state(const struct remote_page *page, const struct dist_file *p)
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

// Our own server says which bytes are under the name now.
static void check_kept(const struct fetch_answer *a, const struct dist_file *p, struct upload_client_answer *answer)
{
	CLEANUP(mem_free) char *sha256 = get_word(a, "sha256");
	if (*sha256 && !str_eq_nocase(str_from(sha256), str_from(p->sha256)))
		upload_client_say_kept(answer);
}

void upload_client_say_kept(struct upload_client_answer *answer)
{
	answer->word = UPLOAD_CLIENT_KEPT;
	err_set(&answer->why, ERR_CONFLICT, "the server keeps an earlier build with the same contents and other bytes");
}

void upload_client_send(struct fetch *f, const struct upload_url *t, const struct dist_file *p, int fd,
	struct upload_client_answer *answer)
{
	static const char *const headers[] = {"Accept: application/json, text/plain;q=0.9", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct fetch_field field[DIST_FILE_FIELDS];
	struct err e = ERR_INIT;
	dist_file_form(p, field);
	const struct fetch_form form = {
		.field = field,
		.count = DIST_FILE_FIELDS,
		.file_field = "content",
		.file_name = p->filename,
		.fd = fd,
		.size = (uint64_t)p->st.st_size,
	};
	fetch_answer_init(&a, LIMIT_ANSWER);
	judge(&a, fetch_post(f, t->upload, headers, &form, &a, &e), &e, answer);
	if (answer->word == UPLOAD_CLIENT_GOOD)
		check_kept(&a, p, answer);
}
