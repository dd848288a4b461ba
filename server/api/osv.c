// SPDX-License-Identifier: Apache-2.0
// The OSV database's API of version 1 (google.github.io/osv.dev/api), of what the block lists have: an audit service
// without a network. Records against the schema are in none of its answers.
#include "server/api/handlers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/advisories/advisories.h"
#include "lib/advisories/osv-record.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/purl.h"
#include "lib/os/clock.h"
#include "server/api/json-post.h"

enum {
	PAGE_RECORDS = 1000, // of one answer, as that of the OSV database,
	PAGE_BYTES = 8 << 20,
	BATCH_RECORDS = 3000, // and of all answers of a batch
};

// Codes of gRPC, which the OSV database answers with.
enum osv_code { OSV_INVALID = 3, OSV_NOT_FOUND = 5 };

// Every id is behind it: the token of a query that was not begun.
#define FIRST_PAGE "!"

static struct reply *osv_json(unsigned status, const struct jsondoc *doc)
{
	struct buf text = buf_up_to(PAGE_BYTES);
	jsondoc_write_compact(doc, &text);
	return reply_json(status, &text);
}

static struct reply *osv_error(unsigned status, enum osv_code code, const char *message)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_new("code:d message:s", code, message);
	return osv_json(status, doc);
}

// --- one record ---

struct reply *osv_record(struct server_context *s, struct catalog *c UNUSED, const struct route_match *match)
{
	struct err e = ERR_INIT;
	struct reply *r = NULL;
	struct buf text = buf_up_to(LIMIT_ADVISORY);
	struct advisories *lists = server_context_advisories(s);
	text.meter = match->meter;
	for (size_t i = 0; i < advisories_sources(lists) && !r; i++) {
		struct advisory found;
		const struct advisory_list *list = advisories_list(lists, i);
		if (!advisory_list_by_id(list, match->id, &found) || found.is_wrong)
			continue;
		r = advisory_list_text(list, &found, &text, &e) < 0 ? server_context_error(&e) : reply_json(200, &text);
	}
	advisories_unref(lists);
	buf_release(&text);
	return r ? r : osv_error(404, OSV_NOT_FOUND, "Bug not found.");
}

// --- what a client asks ---

struct osv_query {
	struct str project;     // normal form; empty: of another ecosystem, or of a commit, of which nothing is known
	struct str version;     // empty: any
	struct str after;       // the last id of the page before
	struct jsondoc *answer; // of a batch
};

static struct str text_of_key(const struct jsondoc *object, const char *key)
{
	const char *text = jsondoc_get_str(object, key);
	return str_from(text ? text : "");
}

static int read_osv_query(const struct jsondoc *doc, struct arena *a, struct osv_query *out, struct err *e)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	const struct jsondoc *package = jsondoc_get(doc, "package");
	struct str ecosystem = text_of_key(package, "ecosystem"), name = text_of_key(package, "name");
	struct str text = text_of_key(package, "purl");
	struct purl purl;
	*out = (struct osv_query){.version = text_of_key(doc, "version"), .after = text_of_key(doc, "page_token")};
	if (jsondoc_get_str(doc, "commit"))
		return 0;
	if (text.len ? name.len || !purl_read(text, a, &purl) : !package || !name.len || !ecosystem.len)
		return err_set(e, ERR_INVALID, "Invalid query: package has neither name and ecosystem, nor a purl.");
	if (text.len) {
		ecosystem = str_eq_nocase(purl.type, STR("pypi")) ? STR("PyPI") : STR("");
		name = purl.name;
		out->version = purl.version.ptr ? purl.version : out->version;
	}
	if (!str_eq(str_cut(&ecosystem, ':'), STR("PyPI")) || !name_is_valid(name))
		return 0;
	name_normalize(name, &normal);
	if (!normal.failed)
		out->project = (struct str){arena_copy(a, buf_view(&normal)), normal.len};
	return 0;
}

// --- the answer ---

struct osv_hit {
	const struct advisory_list *list;
	struct advisory advisory;
};

struct osv_hits {
	struct osv_hit *item;
	size_t count, room;
	const struct advisory_list *list; // that is searched
	struct str after;
};

static bool add_hit(void *ctx, const struct advisory *a)
{
	struct osv_hits *h = ctx;
	if (a->is_wrong || str_cmp(a->id, h->after) <= 0)
		return true;
	GROW(h->item, h->count, h->room);
	h->item[h->count++] = (struct osv_hit){h->list, *a};
	return true;
}

// Of records with the same id that of the first source comes first.
static int compare_hits(const void *a, const void *b)
{
	const struct osv_hit *x = a, *y = b;
	return str_cmp(x->advisory.id, y->advisory.id);
}

// The records about the version, in the order of ids, each once.
static void find_hits(const struct advisories *lists, const struct osv_query *q, struct arena *a, struct osv_hits *out)
{
	size_t kept = 0;
	struct str key = osv_version_key(q->version, a);
	out->after = q->after;
	for (size_t i = 0; i < advisories_sources(lists) && q->project.len; i++) {
		out->list = advisories_list(lists, i);
		uint32_t project = advisory_list_project(out->list, q->project);
		advisory_list_each(out->list, project, q->version, key, add_hit, out);
	}
	if (out->count)
		qsort(out->item, out->count, sizeof(*out->item), compare_hits);
	for (size_t i = 0; i < out->count; i++)
		if (!kept || !str_eq(out->item[i].advisory.id, out->item[kept - 1].advisory.id))
			out->item[kept++] = out->item[i];
	out->count = kept;
}

static void put_id(const char *key, struct str id, struct jsondoc *doc)
{
	CLEANUP(mem_free) char *text = xstrndup(id.ptr, id.len);
	jsondoc_put_str(doc, key, text);
}

static int write_records(const struct osv_hits *hits, struct buf *out, struct err *e)
{
	size_t i = 0;
	buf_puts(out, hits->count ? "{\"vulns\":[" : "{");
	for (; i < hits->count && i < PAGE_RECORDS && (!i || out->len < PAGE_BYTES); i++) {
		if (i)
			buf_putc(out, ',');
		if (advisory_list_text(hits->item[i].list, &hits->item[i].advisory, out, e) < 0)
			return -1;
	}
	if (hits->count)
		buf_putc(out, ']');
	if (i < hits->count) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *token = jsondoc_object();
		put_id("next_page_token", hits->item[i - 1].advisory.id, token);
		CLEANUP(buf_release) struct buf text = buf_up_to(PAGE_BYTES);
		jsondoc_write_compact(token, &text);
		buf_putc(out, ',');
		buf_str(out, str_slice(buf_view(&text), 1, text.len - 1));
	}
	buf_putc(out, '}');
	return out->failed ? err_set(e, ERR_LIMIT, "the answer is too large") : 0;
}

// Without zeros at the end, as the records have it.
static void put_modified(int64_t ns, struct jsondoc *doc)
{
	char seconds[CLOCK_TEXT], text[CLOCK_TEXT + 10];
	clock_write(ns / 1000000000, seconds);
	int len = snprintf(text, sizeof(text), "%.*s.%09u", CLOCK_TEXT - 2, seconds, (unsigned)(ns % 1000000000));
	while (text[len - 1] == '0')
		len--;
	len -= text[len - 1] == '.';
	text[len] = 'Z';
	text[len + 1] = '\0';
	jsondoc_put_str(doc, "modified", text);
}

// most: not 0 if there are hits.
static struct jsondoc *ids_doc(const struct osv_hits *hits, size_t most)
{
	size_t i = 0;
	struct jsondoc *doc = jsondoc_object(), *list = jsondoc_array();
	for (; i < hits->count && i < most; i++) {
		const struct advisory *a = &hits->item[i].advisory;
		struct jsondoc *one = jsondoc_object();
		put_id("id", a->id, one);
		put_modified(a->modified, one);
		jsondoc_add(list, one);
	}
	if (i)
		jsondoc_put(doc, "vulns", list);
	else
		jsondoc_cleanup(&list);
	if (i < hits->count)
		put_id("next_page_token", hits->item[i - 1].advisory.id, doc);
	return doc;
}

// --- what is posted ---

static struct reply *answer_osv_error(struct json_post *p UNUSED, const struct err *why)
{
	if (why->kind == ERR_NOT_FOUND)
		return osv_error(404, OSV_NOT_FOUND, why->msg);
	return why->kind == ERR_INVALID || why->kind == ERR_LIMIT ? osv_error(400, OSV_INVALID, why->msg)
								  : server_context_error(why);
}

// Without any list "no vulnerabilities" would be a lie.
static struct advisories *lists_of(const struct json_post *p, struct err *e)
{
	struct advisories *lists = server_context_advisories(p->sender.context);
	if (advisories_sources(lists))
		return lists;
	err_set(e, ERR_NOT_FOUND, "This server has no records: [upstream] block names none.");
	advisories_unref(lists);
	return NULL;
}

static int answer_osv_query(struct json_post *p, struct reply **answer, struct err *e)
{
	struct osv_query q;
	struct osv_hits hits = {0};
	if (json_post_tree(p, e) < 0 || read_osv_query(p->json, &p->arena, &q, e) < 0)
		return -1;
	struct advisories *lists = lists_of(p, e);
	if (!lists)
		return -1;
	struct buf text = buf_up_to(PAGE_BYTES + LIMIT_ADVISORY + 1024);
	find_hits(lists, &q, &p->arena, &hits);
	int result = write_records(&hits, &text, e);
	if (result == 0)
		*answer = reply_json(200, &text);
	buf_release(&text);
	free(hits.item);
	advisories_unref(lists);
	return result;
}

static int compare_query_texts(const struct osv_query *a, const struct osv_query *b)
{
	int order = str_cmp(a->project, b->project);
	order = order ? order : str_cmp(a->version, b->version);
	return order ? order : str_cmp(a->after, b->after);
}

// Equal ones lie beside each other, in the order in which they were posted.
static int compare_queries(const void *a, const void *b)
{
	const struct osv_query *const *x = a, *const *y = b;
	int order = compare_query_texts(*x, *y);
	return order ? order : (*x > *y) - (*x < *y);
}

static struct jsondoc *ask_again(const struct osv_query *q)
{
	struct jsondoc *doc = jsondoc_object();
	put_id("next_page_token", q->after.len ? q->after : STR(FIRST_PAGE), doc);
	return doc;
}

// Sets the answers, and looks up equal queries once. What comes when the time or the room is used up has a page token.
static void answer_queries(const struct advisories *lists, struct osv_query **q, size_t count, struct arena *a)
{
	size_t left = BATCH_RECORDS;
	struct osv_hits hits = {0};
	bool is_late = false;
	int64_t begin = clock_thread_ms();
	for (size_t i = 0; i < count; i++) {
		if (!i || compare_query_texts(q[i - 1], q[i]) != 0) {
			free(hits.item);
			hits = (struct osv_hits){0};
			is_late = q[i]->project.len && (!left || (i && clock_thread_ms() - begin > LIMIT_OSV_CPU_MS));
			if (!is_late)
				find_hits(lists, q[i], a, &hits);
		}
		size_t most = left < PAGE_RECORDS ? left : PAGE_RECORDS;
		q[i]->answer = is_late || (!most && hits.count) ? ask_again(q[i]) : ids_doc(&hits, most);
		left -= hits.count < most ? hits.count : most;
	}
	free(hits.item);
}

static int answer_osv_batch(struct json_post *p, struct reply **answer, struct err *e)
{
	if (json_post_tree(p, e) < 0)
		return -1;
	const struct jsondoc *queries = jsondoc_get(p->json, "queries");
	size_t count = queries ? jsondoc_count(queries) : 0;
	if (count > LIMIT_OSV_QUERIES)
		return err_set(e, ERR_LIMIT, "Too many queries: more than %d.", LIMIT_OSV_QUERIES);
	struct osv_query *q = ARENA_NEW(&p->arena, struct osv_query, count);
	struct osv_query **sorted = ARENA_NEW(&p->arena, struct osv_query *, count);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &q[i];
		if (read_osv_query(jsondoc_at(queries, i), &p->arena, &q[i], e) < 0)
			return -1;
	}
	if (count)
		qsort(sorted, count, sizeof(*sorted), compare_queries);
	struct advisories *lists = lists_of(p, e);
	if (!lists)
		return -1;
	answer_queries(lists, sorted, count, &p->arena);
	advisories_unref(lists);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *results = jsondoc_array();
	for (size_t i = 0; i < count; i++)
		jsondoc_add(results, q[i].answer);
	jsondoc_put(doc, "results", results);
	*answer = osv_json(200, doc);
	return 0;
}

#define OSV_KIND(run_)                                                                                                 \
	{                                                                                                              \
		.size = sizeof(struct json_post), .right = TOKEN_READ, .is_open = true, .what = "the query has",       \
		.one = "a query", .many = "queries", .bytes = LIMIT_OSV_QUERY, .values = LIMIT_OSV_VALUES,             \
		.run = (run_), .fail = answer_osv_error                                                                \
	}

struct body_handler *osv_query_receive(struct server_context *s, const struct route_match *match,
	struct reply **refusal)
{
	static const struct json_post_kind kind = OSV_KIND(answer_osv_query);
	return json_post_receive(&kind, s, match, refusal);
}

struct body_handler *osv_batch_receive(struct server_context *s, const struct route_match *match,
	struct reply **refusal)
{
	static const struct json_post_kind kind = OSV_KIND(answer_osv_batch);
	return json_post_receive(&kind, s, match, refusal);
}
