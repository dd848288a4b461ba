// SPDX-License-Identifier: Apache-2.0
#include "lib/place/s3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/format/base64.h"
#include "lib/format/escape.h"
#include "lib/format/markup.h"
#include "lib/os/clock.h"

enum {
	PART = 32 << 20, // bytes; of an object that has more than so many parts, more
	PARTS_MOST = 9000,
	PAGE = 1000,
	LINE = 200,
	MISSING = 404,
	NO_RANGE = 416,
	PARTIAL = 206,
	REFUSALS = 300,
};

bool s3_object_is(const struct s3_object *a, const struct s3_object *b)
{
	return a->size == b->size && a->time == b->time && strcmp(a->etag, b->etag) == 0;
}

// --- what answers say ---

static void set_etag(struct str text, char out[LIMIT_S3_ETAG])
{
	text = str_starts(text, STR("\"")) && str_ends(text, STR("\"")) && text.len > 1 ? str_slice(text, 1, text.len - 1)
										     : text;
	bool is_taken = text.len < LIMIT_S3_ETAG;
	snprintf(out, LIMIT_S3_ETAG, STR_FMT, is_taken ? (int)text.len : 0, text.ptr);
}

// No engine has a key that is longer.
static bool is_possible(const char *key)
{
	return strlen(key) <= LIMIT_S3_KEY;
}

static int read_object(const struct fetch_answer *a, struct s3_object *out, struct err *e)
{
	struct str date = fetch_header(a, "Last-Modified"), range = fetch_header(a, "Content-Range");
	CLEANUP(mem_free) char *text = xstrndup(date.ptr, date.len);
	struct str total = a->status == PARTIAL ? str_slice(range, (size_t)(str_rfind(range, '/') + 1), range.len)
						: fetch_header(a, "Content-Length");
	*out = (struct s3_object){0};
	set_etag(fetch_header(a, "ETag"), out->etag);
	if (!decimal_parse(total, INT64_MAX, &out->size) || !clock_read_http(text, &out->time))
		return err_set(e, ERR_IO, "the answer has no size or no Last-Modified");
	return 0;
}

static int send_simple(struct s3_bucket *b, const struct s3_request *r, struct s3_answer *out, struct err *e)
{
	if (s3_request_send(b, r, out, e) < 0)
		return -1;
	return out->http.status >= REFUSALS || *out->code ? s3_request_refuse(b, r, out, e) : 0;
}

int s3_head(struct s3_bucket *b, const char *key, struct s3_object *out, char nonce[S3_NONCE], struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(s3_answer_release) struct s3_answer a = {0};
	const struct s3_request r = {.method = "HEAD", .key = key};
	if (!is_possible(key))
		return 0;
	if (send_simple(b, &r, &a, &why) < 0)
		return err_unless_missing(e, &why);
	if (read_object(&a.http, out, e) < 0)
		return err_prefix(e, "%s: %s: ", s3_bucket_title(b), key);
	if (nonce) {
		struct str noted = fetch_header(&a.http, "x-amz-meta-wheelcache-put");
		snprintf(nonce, S3_NONCE, STR_FMT, STR_ARG(noted));
	}
	return 1;
}

// --- reading ---

struct s3_reading {
	const struct s3_sink *sink;
	const struct fetch_answer *answer;
	uint64_t offset, len, left;
	bool has_begun, is_stopped;
	struct err why;
};

static void restart_reading(void *ctx)
{
	struct s3_reading *r = ctx;
	r->has_begun = false;
	r->left = r->len;
}

static int begin_reading(struct s3_reading *r)
{
	struct s3_object object;
	if (r->has_begun)
		return 0;
	r->has_begun = true;
	if (read_object(r->answer, &object, &r->why) < 0)
		return -1;
	uint64_t there = object.size > r->offset ? object.size - r->offset : 0;
	r->left = there < r->len ? there : r->len;
	return r->sink->begin(r->sink->ctx, &object, &r->why);
}

// RFC 9110, section 15.3.7: an engine may send less than the range, or another part. Then nothing of it is used.
static int check_part(const struct s3_reading *r, struct err *e)
{
	uint64_t first = 0;
	struct str range = fetch_header(r->answer, "Content-Range"), unit = str_cut(&range, ' ');
	if (r->answer->status == PARTIAL && (!str_eq(unit, STR("bytes")) ||
		!decimal_parse(str_cut(&range, '-'), INT64_MAX, &first) || first != r->offset))
		return err_set(e, ERR_IO, "it answers a range with another one");
	return r->left ? err_set(e, ERR_IO, "it sends less than it has") : 0;
}

static bool take_piece(void *ctx, struct str piece)
{
	struct s3_reading *r = ctx;
	bool has_begun = begin_reading(r) == 0;
	struct str wanted = str_slice(piece, 0, piece.len < r->left ? piece.len : (size_t)r->left);
	bool is_taken = has_begun && (!wanted.len || r->sink->add(r->sink->ctx, wanted, &r->why) == 0);
	r->left -= wanted.len;
	r->is_stopped = !is_taken || wanted.len < piece.len; // an engine without ranges sends all
	return !r->is_stopped;
}

// An empty object has no range.
static int read_empty(struct s3_bucket *b, const char *key, const struct s3_sink *sink, struct err *e)
{
	struct s3_object object;
	int found = s3_head(b, key, &object, NULL, e);
	return found <= 0 ? found : sink->begin(sink->ctx, &object, e) < 0 ? -1 : 1;
}

int s3_read(struct s3_bucket *b, const char *key, uint64_t offset, uint64_t len, const struct s3_sink *sink, struct err *e)
{
	char range[LINE];
	struct err why = ERR_INIT;
	struct s3_answer a;
	struct s3_reading reading = {.sink = sink, .answer = &a.http, .offset = offset, .len = len, .left = len, .why = ERR_INIT};
	snprintf(range, sizeof(range), "Range: bytes=%llu-%llu", (unsigned long long)offset,
		(unsigned long long)(offset + len - 1));
	const struct s3_request r = {.method = "GET",
		.key = key,
		.header = {range},
		.on_body = take_piece,
		.restart = restart_reading,
		.is_stopped = &reading.is_stopped,
		.ctx = &reading};
	if (!is_possible(key))
		return 0;
	int sent = s3_request_send(b, &r, &a, &why);
	unsigned status = a.http.status;
	int result = 1;
	if (reading.why.kind != ERR_NONE) {
		*e = reading.why;
		result = -1;
	} else if (sent < 0) {
		*e = why;
		result = -1;
	} else if (sent == 0 && status == MISSING && strcmp(a.code, "NoSuchBucket") != 0) {
		result = 0;
	} else if (sent == 0 && status == NO_RANGE) {
		result = read_empty(b, key, sink, e);
	} else if (sent == 0 && status >= REFUSALS) {
		result = s3_request_refuse(b, &r, &a, e);
	} else if (offset && status != PARTIAL) {
		result = err_set(e, ERR_IO, "%s: it answers a range with the whole", s3_bucket_title(b));
	} else if (begin_reading(&reading) < 0) { // no byte came
		*e = reading.why;
		result = -1;
	} else if (check_part(&reading, e) < 0) {
		result = err_prefix(e, "%s: %s: ", s3_bucket_title(b), key);
	}
	s3_answer_release(&a);
	return result;
}

// --- putting ---

static void make_nonce(char out[S3_NONCE])
{
	uint8_t random[S3_NONCE / 2];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		abort(); // so few bytes are never cut short once the system has started (getrandom(2))
	hex_encode(random, sizeof(random), out);
	out[S3_NONCE - 1] = '\0';
}

// An object that has the key now is that of this nonce, although its answer was lost.
static bool is_ours(struct s3_bucket *b, const char *key, const char *nonce)
{
	struct s3_object object;
	struct err ignored = ERR_INIT;
	char found[S3_NONCE];
	return s3_head(b, key, &object, found, &ignored) > 0 && strcmp(found, nonce) == 0;
}

struct put_headers {
	char nonce[S3_NONCE], meta[LINE], condition[LINE], checksum[LINE];
};

static void make_headers(const struct s3_put *put, struct put_headers *h)
{
	CLEANUP(buf_release) struct buf sum = buf_up_to(LINE);
	make_nonce(h->nonce);
	snprintf(h->meta, sizeof(h->meta), "x-amz-meta-wheelcache-put: %s", h->nonce);
	snprintf(h->condition, sizeof(h->condition), put->is_new ? "If-None-Match: *" : "If-Match: \"%s\"",
		put->if_match ? put->if_match : "");
	base64_encode(put->sha256, SHA256_SIZE, BASE64_PLAIN, &sum);
	snprintf(h->checksum, sizeof(h->checksum), "x-amz-checksum-sha256: %s", sum.data);
}

static bool has_condition(const struct s3_put *put)
{
	return put->is_new || put->if_match;
}

// What an answer to a put means. A refusal may be of the second of two: we repeat what got no answer, and libcurl
// repeats, without a word, what a kept connection lost. An object that is gone belongs to an upload in parts that was
// completed.
static int judge_put(struct s3_bucket *b, const struct s3_request *r, const struct s3_answer *a, const char *key,
	const char *nonce, struct err *e)
{
	if (a->http.status < REFUSALS && !*a->code)
		return 0;
	bool is_decided = a->http.status == 412 || a->http.status == MISSING;
	return is_decided && is_ours(b, key, nonce) ? 0 : s3_request_refuse(b, r, a, e);
}

static int put_whole(struct s3_bucket *b, const struct s3_put *put, struct err *e)
{
	struct put_headers h;
	make_headers(put, &h);
	CLEANUP(s3_answer_release) struct s3_answer a;
	const struct s3_request r = {.method = "PUT",
		.key = put->key,
		.header = {h.meta, h.checksum, has_condition(put) ? h.condition : NULL},
		.body = put->body,
		.size = put->size,
		.sha256 = put->sha256};
	if (s3_request_send(b, &r, &a, e) < 0)
		return -1;
	return judge_put(b, &r, &a, put->key, h.nonce, e);
}

// --- in parts ---

// The text of the first element of this name.
struct upload_id {
	const char *name;
	char text[1024];
	bool is_inside, is_done;
};

static void begin_element(void *ctx, const char *name, const char *const *attributes UNUSED)
{
	struct upload_id *x = ctx;
	x->is_inside = !x->is_done && strcmp(name, x->name) == 0;
}

static void end_element(void *ctx, const char *name UNUSED)
{
	struct upload_id *x = ctx;
	x->is_done |= x->is_inside;
	x->is_inside = false;
}

static void add_element_text(void *ctx, struct str text)
{
	struct upload_id *x = ctx;
	size_t have = strlen(x->text);
	if (x->is_inside)
		snprintf(x->text + have, sizeof(x->text) - have, STR_FMT, STR_ARG(text));
}

static int begin_parts(struct s3_bucket *b, const char *key, const char *meta, struct buf *id, struct err *e)
{
	static const struct markup_handler handler = {begin_element, end_element, add_element_text, NULL};
	struct upload_id upload = {.name = "UploadId"};
	CLEANUP(s3_answer_release) struct s3_answer a;
	const struct s3_request r = {.method = "POST", .key = key, .query = "uploads=", .header = {meta}};
	if (send_simple(b, &r, &a, e) < 0)
		return -1;
	if (markup_read_xml(buf_view(&a.http.body), &handler, &upload, e) < 0 || !*upload.text)
		return err_set(e, ERR_IO, "%s: no UploadId in the answer", s3_bucket_title(b));
	escape_url(id, str_from(upload.text));
	return 0;
}

static int hash_part(const struct s3_put *put, uint64_t offset, uint64_t size, uint8_t out[SHA256_SIZE], struct err *e)
{
	enum { BLOCK = 256 << 10 };
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	digest_begin(d);
	for (uint64_t at = 0; at < size; at += BLOCK) {
		size_t len = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
		if (byte_source_read(put->body, offset + at, block, len, e) < 0)
			return -1;
		digest_add(d, block, len);
	}
	digest_end(d, out);
	return 0;
}

static int send_part(struct s3_bucket *b, const struct s3_put *put, const char *id, unsigned number, uint64_t offset,
	uint64_t size, struct buf *list, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(mem_free) char *query = xasprintf("partNumber=%u&uploadId=%s", number, id);
	CLEANUP(s3_answer_release) struct s3_answer a = {0};
	const struct s3_request r = {.method = "PUT",
		.key = put->key,
		.query = query,
		.body = put->body,
		.offset = offset,
		.size = size,
		.sha256 = sha256};
	if (hash_part(put, offset, size, sha256, e) < 0 || send_simple(b, &r, &a, e) < 0)
		return -1;
	buf_printf(list, "<Part><PartNumber>%u</PartNumber><ETag>", number);
	escape_html(list, fetch_header(&a.http, "ETag"));
	buf_puts(list, "</ETag></Part>");
	return 0;
}

// Returns 0 with the answer.
static int complete_parts(struct s3_bucket *b, const char *key, const char *query, struct str list, const char *condition,
	struct s3_request *r, struct s3_answer *a, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(mem_free)
	char *text = xasprintf("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">" STR_FMT
			       "</CompleteMultipartUpload>",
		STR_ARG(list));
	const struct byte_source body = byte_source_memory(str_from(text));
	digest_sha256(str_from(text), sha256);
	*r = (struct s3_request){.method = "POST",
		.key = key,
		.query = query,
		.header = {condition},
		.body = &body,
		.size = body.size,
		.sha256 = sha256};
	int result = s3_request_send(b, r, a, e);
	r->body = NULL;
	r->sha256 = NULL;
	r->query = NULL;
	return result;
}

static void abort_parts(struct s3_bucket *b, const char *key, const char *query)
{
	struct err ignored = ERR_INIT;
	struct s3_answer a;
	const struct s3_request r = {.method = "DELETE", .key = key, .query = query};
	if (s3_request_send(b, &r, &a, &ignored) < 0)
		buf_clear(&a.http.body); // its parts stay until the bucket's rule for unfinished uploads removes them
	s3_answer_release(&a);
}

static int send_parts(struct s3_bucket *b, const struct s3_put *put, const char *id, struct buf *list, struct err *e)
{
	uint64_t part = put->size / PARTS_MOST > PART ? put->size / PARTS_MOST : PART;
	unsigned number = 0;
	for (uint64_t at = 0; at < put->size || !number; at += part) {
		uint64_t left = put->size - at;
		if (send_part(b, put, id, ++number, at, left < part ? left : part, list, e) < 0)
			return -1;
	}
	return 0;
}

static int put_parts(struct s3_bucket *b, const struct s3_put *put, struct err *e)
{
	struct put_headers h;
	make_headers(put, &h);
	CLEANUP(buf_release) struct buf id = buf_up_to(4 * LIMIT_S3_KEY);
	CLEANUP(buf_release) struct buf list = buf_up_to((size_t)2 * PARTS_MOST * LIMIT_S3_ETAG);
	if (begin_parts(b, put->key, h.meta, &id, e) < 0)
		return -1;
	CLEANUP(mem_free) char *query = xasprintf("uploadId=%s", id.data);
	struct s3_answer a = {0};
	struct s3_request r;
	int result = send_parts(b, put, id.data, &list, e);
	if (result == 0)
		result = complete_parts(b, put->key, query, buf_view(&list), has_condition(put) ? h.condition : NULL, &r, &a, e);
	if (result == 0)
		result = judge_put(b, &r, &a, put->key, h.nonce, e);
	if (result < 0)
		abort_parts(b, put->key, query);
	s3_answer_release(&a);
	return result;
}

int s3_put(struct s3_bucket *b, const struct s3_put *put, struct err *e)
{
	return put->size > S3_PART_FROM && !put->in_one ? put_parts(b, put, e) : put_whole(b, put, e);
}

int s3_complete_is_conditional(struct s3_bucket *b, const char *key, bool *out, struct err *e)
{
	struct s3_answer a = {0};
	struct s3_request r;
	struct byte_source body = byte_source_memory(STR("other"));
	const struct s3_put put = {.key = key, .body = &body, .size = body.size};
	CLEANUP(buf_release) struct buf id = buf_up_to(4 * LIMIT_S3_KEY);
	CLEANUP(buf_release) struct buf list = buf_up_to(LIMIT_ANSWER);
	if (begin_parts(b, key, NULL, &id, e) < 0)
		return -1;
	CLEANUP(mem_free) char *query = xasprintf("uploadId=%s", id.data);
	int result = send_parts(b, &put, id.data, &list, e);
	if (result == 0)
		result = complete_parts(b, key, query, buf_view(&list), "If-None-Match: *", &r, &a, e);
	*out = result == 0 && a.http.status == 412;
	abort_parts(b, key, query);
	s3_answer_release(&a);
	return result;
}

// --- deleting ---

int s3_delete(struct s3_bucket *b, const char *key, const char *if_match, struct err *e)
{
	char condition[LINE] = "";
	CLEANUP(s3_answer_release) struct s3_answer a;
	struct s3_request r = {.method = "DELETE", .key = key};
	if (if_match) {
		snprintf(condition, sizeof(condition), "If-Match: \"%s\"", if_match);
		r.header[0] = condition;
	}
	if (s3_request_send(b, &r, &a, e) < 0)
		return -1;
	if (a.http.status < REFUSALS || a.http.status == MISSING)
		return 0;
	struct s3_object now;
	struct err ignored = ERR_INIT;
	bool is_gone = a.http.status == 412 && s3_head(b, key, &now, NULL, &ignored) == 0;
	return is_gone ? 0 : s3_request_refuse(b, &r, &a, e);
}

// --- listing ---

struct listing {
	const char *prefix;
	s3_list_fn *fn;
	void *ctx;
	int result;
	struct err *e;
	struct buf text;    // of the element
	bool in_object, in_prefix, is_encoded, is_truncated;
	struct s3_listed one;
	struct buf key, token;
};

static const char *local_name(const char *name)
{
	const char *colon = strchr(name, ':');
	return colon ? colon + 1 : name;
}

static void begin_listed(void *ctx, const char *name, const char *const *attributes UNUSED)
{
	struct listing *l = ctx;
	name = local_name(name);
	buf_clear(&l->text);
	if (strcmp(name, "Contents") == 0 || strcmp(name, "CommonPrefixes") == 0) {
		l->in_object = name[1] == 'o' && name[2] == 'n';
		l->in_prefix = !l->in_object;
		l->one = (struct s3_listed){.is_prefix = l->in_prefix};
		buf_clear(&l->key);
	}
}

static void add_listed_text(void *ctx, struct str text)
{
	buf_str(&((struct listing *)ctx)->text, text);
}

// As in a form: "+" is a blank.
static void decode_key(const struct listing *l, struct buf *out)
{
	struct str text = buf_view(&l->text);
	buf_clear(out);
	for (size_t i = 0; i < text.len; i++) {
		uint8_t byte = (uint8_t)text.ptr[i];
		if (l->is_encoded && byte == '%' && text.len - i > 2 && hex_decode(str_slice(text, i + 1, i + 3), &byte, 1))
			i += 2;
		else if (l->is_encoded && byte == '+')
			byte = ' ';
		buf_putc(out, (char)byte);
	}
}

static void tell_listed(struct listing *l)
{
	struct str name = buf_view(&l->key), prefix = str_from(l->prefix);
	if (!str_starts(name, prefix) || l->key.failed || memchr(name.ptr, 0, name.len))
		return; // no key that was asked for
	if (l->in_prefix && str_ends(name, STR("/")))
		l->key.data[--l->key.len] = '\0';
	l->one.name = l->key.data + prefix.len;
	if (l->key.len > prefix.len && l->result == 0)
		l->result = l->fn(l->ctx, &l->one, l->e);
}

static void end_listed(void *ctx, const char *name)
{
	struct listing *l = ctx;
	name = local_name(name);
	const char *text = l->text.data;
	if (strcmp(name, "IsTruncated") == 0)
		l->is_truncated = strcmp(text, "true") == 0;
	else if (strcmp(name, "NextContinuationToken") == 0)
		buf_str(&l->token, buf_view(&l->text));
	else if (l->in_object && strcmp(name, "Key") == 0)
		decode_key(l, &l->key);
	else if (l->in_prefix && strcmp(name, "Prefix") == 0)
		decode_key(l, &l->key);
	else if (l->in_object && strcmp(name, "ETag") == 0)
		set_etag(buf_view(&l->text), l->one.object.etag);
	else if (l->in_object && strcmp(name, "Size") == 0 && !decimal_parse(buf_view(&l->text), INT64_MAX, &l->one.object.size))
		l->one.object.size = 0;
	else if (l->in_object && strcmp(name, "LastModified") == 0) {
		char whole[CLOCK_TEXT];
		snprintf(whole, sizeof(whole), "%.19sZ", text);
		if (!clock_read(whole, &l->one.object.time))
			l->one.object.time = 0;
	} else if (strcmp(name, "Contents") == 0 || strcmp(name, "CommonPrefixes") == 0) {
		tell_listed(l);
		l->in_object = l->in_prefix = false;
	}
	buf_clear(&l->text);
}

static int list_page(struct s3_bucket *b, struct listing *l, bool is_deep, unsigned most, struct str token, int64_t until_ms,
	struct err *e)
{
	static const struct markup_handler handler = {begin_listed, end_listed, add_listed_text, NULL};
	CLEANUP(buf_release) struct buf query = buf_up_to(SIZE_MAX / 2);
	if (token.len) {
		buf_puts(&query, "continuation-token=");
		escape_url(&query, token);
		buf_putc(&query, '&');
	}
	buf_printf(&query, "%sencoding-type=url&list-type=2&max-keys=%u&prefix=", is_deep ? "" : "delimiter=%2F&", most);
	escape_url(&query, str_from(l->prefix));
	CLEANUP(s3_answer_release) struct s3_answer a;
	const struct s3_request r = {
		.method = "GET", .query = query.data, .answer_limit = LIMIT_S3_PAGE, .until_ms = until_ms, .is_single = until_ms};
	if (send_simple(b, &r, &a, e) < 0) {
		e->kind = e->kind == ERR_NOT_FOUND ? ERR_IO : e->kind;
		return -1;
	}
	l->is_truncated = false;
	struct str body = buf_view(&a.http.body); // what says that keys are encoded may stand behind them
	l->is_encoded = memmem(body.ptr, body.len, "<EncodingType>url<", strlen("<EncodingType>url<")) != NULL;
	if (markup_read_xml(body, &handler, l, e) < 0)
		return err_set(e, ERR_IO, "%s: a listing that is no XML", s3_bucket_title(b));
	return 0;
}

int s3_list(struct s3_bucket *b, const char *prefix, bool is_deep, unsigned most, s3_list_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(buf_release) struct buf token = buf_up_to(LIMIT_ANSWER);
	struct listing l = {.prefix = prefix,
		.fn = fn,
		.ctx = ctx,
		.e = e,
		.text = buf_up_to(LIMIT_ANSWER),
		.key = buf_up_to(LIMIT_S3_KEY),
		.token = buf_up_to(LIMIT_ANSWER)};
	int result = 0;
	do {
		buf_clear(&l.token);
		result = list_page(b, &l, is_deep, most ? most : PAGE, buf_view(&token), 0, e);
		bool is_same = token.len && str_eq(buf_view(&token), buf_view(&l.token));
		if (result == 0 && l.result == 0 && l.is_truncated && (!l.token.len || is_same))
			result = err_set(e, ERR_IO, "%s: a listing that does not go on", s3_bucket_title(b));
		buf_clear(&token);
		buf_str(&token, buf_view(&l.token));
	} while (result == 0 && l.result == 0 && l.is_truncated);
	buf_release(&l.text);
	buf_release(&l.key);
	buf_release(&l.token);
	return result < 0 ? -1 : l.result;
}

static int ignore_listed(void *ctx UNUSED, const struct s3_listed *one UNUSED, struct err *e UNUSED)
{
	return 0;
}

bool s3_answers(struct s3_bucket *b, const char *prefix, int64_t until_ms, struct err *why)
{
	struct listing l = {.prefix = prefix,
		.fn = ignore_listed,
		.e = why,
		.text = buf_up_to(LIMIT_ANSWER),
		.key = buf_up_to(LIMIT_S3_KEY),
		.token = buf_up_to(LIMIT_ANSWER)};
	err_set(why, ERR_TIME, "it does not answer");
	bool answers = clock_ms() < until_ms && list_page(b, &l, false, 1, STR(""), until_ms, why) == 0;
	buf_release(&l.text);
	buf_release(&l.key);
	buf_release(&l.token);
	return answers;
}
