// SPDX-License-Identifier: Apache-2.0
#include "server/message/reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/format/jsondoc.h"

enum { REFUSALS = 400 }; // and above: statuses of errors

struct reply *reply_new(unsigned status, const char *type, struct blob *body)
{
	struct reply *r = xcalloc(1, sizeof(*r));
	r->status = status;
	r->type = type;
	r->body = body;
	r->length = body ? blob_view(body).len : 0;
	atomic_init(&r->part, NULL);
	atomic_init(&r->prepared, NULL);
	atomic_init(&r->owners, 1);
	return r;
}

struct reply *reply_stream(unsigned status, const char *type, struct stream *stream, uint64_t length)
{
	struct reply *r = reply_new(status, type, NULL);
	r->stream = stream;
	r->length = length;
	return r;
}

void reply_set_phrase(struct reply *r, const char *text)
{
	size_t len = strcspn(text, "\r\n");
	free(r->phrase);
	r->phrase = len ? xstrndup(text, len < REPLY_PHRASE ? len : REPLY_PHRASE) : NULL;
	for (char *at = r->phrase; at && *at; at++)
		*at = *at < ' ' || *at > '~' ? '?' : *at;
}

struct reply *reply_text(unsigned status, const char *fmt, ...)
{
	char line[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	struct buf text;
	buf_init(&text, sizeof(line) + 1);
	buf_puts(&text, line);
	buf_putc(&text, '\n');
	struct reply *r = reply_new(status, "text/plain; charset=utf-8", blob_from_buf(&text));
	size_t number = strspn(line, "0123456789");
	if (status >= REFUSALS)
		reply_set_phrase(r, line + number + (number && line[number] == ' '));
	return r;
}

struct reply *reply_problem(unsigned status, const char *title, const char *detail)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct buf text;
	buf_init(&text, SIZE_MAX / 2); // both are lines of ours
	jsondoc_set(doc, "title:s status:d detail:s", title, status, detail);
	jsondoc_write(doc, 0, &text);
	struct reply *r = reply_new(status, "application/problem+json", blob_from_buf(&text));
	reply_set_phrase(r, detail);
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

struct reply *reply_json(unsigned status, struct buf *text)
{
	struct reply *r = reply_new(status, "application/json", blob_from_buf(text));
	reply_header(r, "Cache-Control", "no-store");
	return r;
}

void reply_header(struct reply *r, const char *name, const char *fmt, ...)
{
	assert(r->header_count < REPLY_HEADERS);
	va_list ap;
	va_start(ap, fmt);
	r->header[r->header_count].name = name;
	r->header[r->header_count++].value = xvasprintf(fmt, ap);
	va_end(ap);
}

struct reply *reply_busy(const char *why)
{
	struct reply *r = reply_text(503, "503 Service Unavailable: %s", why);
	reply_header(r, "Cache-Control", "no-store");
	reply_header(r, "Retry-After", "%d", LIMIT_RETRY_AFTER);
	return r;
}

void reply_set_etag(struct reply *r, const char *etag)
{
	struct reply *same = reply_new(304, NULL, NULL);
	snprintf(r->etag, sizeof(r->etag), "%s", etag);
	snprintf(same->etag, sizeof(same->etag), "%s", etag);
	for (unsigned i = 0; i < r->header_count; i++)
		reply_header(same, r->header[i].name, "%s", r->header[i].value);
	r->unchanged = same;
}

struct reply *reply_closing(const struct reply *r)
{
	struct reply *copy = reply_new(r->status, r->type, r->body ? blob_ref(r->body) : NULL);
	copy->offset = r->offset;
	copy->length = r->length;
	memcpy(copy->etag, r->etag, sizeof(copy->etag));
	if (r->phrase)
		reply_set_phrase(copy, r->phrase);
	for (unsigned i = 0; i < r->header_count; i++)
		reply_header(copy, r->header[i].name, "%s", r->header[i].value);
	reply_header(copy, "Connection", "close");
	return copy;
}

const char *reply_get_header(const struct reply *r, const char *name)
{
	for (unsigned i = 0; i < r->header_count; i++)
		if (strcmp(r->header[i].name, name) == 0)
			return r->header[i].value;
	return NULL;
}

void reply_keep_part(struct reply *whole, struct reply *part)
{
	struct reply *none = NULL;
	reply_ref(part);
	if (!atomic_compare_exchange_strong(&whole->part, &none, part))
		reply_unref(part);
}

struct reply *reply_kept_part(struct reply *whole, uint64_t offset, uint64_t length)
{
	struct reply *part = atomic_load_explicit(&whole->part, memory_order_acquire);
	return part && part->offset == offset && part->length == length ? reply_ref(part) : NULL;
}

struct reply *reply_ref(struct reply *r)
{
	atomic_fetch_add_explicit(&r->owners, 1, memory_order_relaxed);
	return r;
}

void reply_unref(struct reply *r)
{
	if (!r || atomic_fetch_sub_explicit(&r->owners, 1, memory_order_acq_rel) != 1)
		return;
	void *prepared = atomic_load(&r->prepared);
	if (prepared)
		r->prepared_free(prepared);
	for (unsigned i = 0; i < r->header_count; i++)
		free(r->header[i].value);
	reply_unref(r->unchanged);
	reply_unref(atomic_load(&r->part));
	download_counter_unref(r->count);
	free(r->phrase);
	blob_unref(r->body);
	if (r->stream)
		r->stream->ops->unref(r->stream);
	free(r);
}

void reply_cleanup(struct reply **r)
{
	reply_unref(*r);
	*r = NULL;
}

size_t reply_weight(const struct reply *r)
{
	size_t weight = sizeof(*r) + (r->body ? blob_weight(r->body) + blob_spooled(r->body) : 0);
	for (unsigned i = 0; i < r->header_count; i++)
		weight += strlen(r->header[i].value) + 32;
	return weight + (r->unchanged ? reply_weight(r->unchanged) : 0);
}

// --- conditions and ranges ---

// Cuts the next entity tag off the list, without "W/". False at the end of the list, or where it is malformed.
static bool next_etag(struct str *list, struct str *etag)
{
	while (list->len && (list->ptr[0] == ',' || list->ptr[0] == ' ' || list->ptr[0] == '\t'))
		*list = str_slice(*list, 1, list->len);
	if (str_starts(*list, STR("W/")))
		*list = str_slice(*list, 2, list->len);
	if (!list->len || list->ptr[0] != '"')
		return false;
	long end = str_find(str_slice(*list, 1, list->len), '"');
	if (end < 0)
		return false;
	*etag = str_slice(*list, 0, (size_t)end + 2);
	*list = str_slice(*list, etag->len, list->len);
	return true;
}

bool etag_matches(const char *if_none_match, const char *etag)
{
	struct str list = str_trim(str_from(if_none_match ? if_none_match : "")), one;
	if (str_eq(list, STR("*")))
		return true;
	while (next_etag(&list, &one))
		if (str_eq(one, str_from(etag)))
			return true;
	return false;
}

void etag_of_sha256(const uint8_t sha256[SHA256_SIZE], char out[ETAG_SIZE])
{
	out[0] = '"';
	hex_encode(sha256, SHA256_SIZE, out + 1);
	snprintf(out + 1 + SHA256_HEX, 2, "\"");
}

bool if_range_holds(const char *if_range, const char *etag)
{
	return !if_range || str_eq(str_trim(str_from(if_range)), str_from(etag));
}

static bool skip_dash(struct str *s)
{
	if (!s->len || s->ptr[0] != '-')
		return false;
	*s = str_slice(*s, 1, s->len);
	return true;
}

// "-500": the last 500 bytes.
static struct range range_suffix(struct str s, uint64_t size)
{
	uint64_t length;
	if (!decimal_cut(&s, UINT64_MAX, &length) || s.len)
		return (struct range){.kind = RANGE_WHOLE};
	if (length == 0)
		return (struct range){.kind = RANGE_UNSATISFIABLE};
	if (size == 0)
		return (struct range){.kind = RANGE_WHOLE}; // satisfiable, but 206 cannot say "no bytes"
	return (struct range){RANGE_PART, length < size ? size - length : 0, size - 1};
}

struct range range_parse(const char *header, uint64_t size)
{
	static const struct str unit = STR("bytes=");
	const struct range whole = {.kind = RANGE_WHOLE};
	struct str s = str_trim(str_from(header ? header : ""));
	uint64_t first, last = UINT64_MAX;
	if (s.len < unit.len || !str_eq_nocase(str_slice(s, 0, unit.len), unit))
		return whole;
	s = str_slice(s, unit.len, s.len);
	if (skip_dash(&s))
		return range_suffix(s, size);
	if (!decimal_cut(&s, UINT64_MAX, &first) || !skip_dash(&s))
		return whole;
	if ((s.len && !decimal_cut(&s, UINT64_MAX, &last)) || s.len || last < first)
		return whole;
	if (first >= size)
		return (struct range){.kind = RANGE_UNSATISFIABLE};
	return (struct range){RANGE_PART, first, last < size ? last : size - 1};
}

// --- statuses of errors ---

#define INTERNAL "Internal Server Error"
#define UNAVAILABLE "Service Unavailable"
#define NOT_WRITTEN "the store or its catalog cannot be written now: try again; the log of the server says why"

// Messages name paths of the server, so a read never sends them, and an upload only where the server is not at fault.
static const struct error_status table[ERR_COUNT][ERROR_SIDE_COUNT] = {
	[ERR_NONE] = {{500, INTERNAL, 0, true, NULL},
		{500, INTERNAL, 0, true, NOT_WRITTEN}}, // a bug: there is no error
	[ERR_USAGE] = {{500, INTERNAL, 0, true, NULL}, {500, INTERNAL, 0, true, NOT_WRITTEN}},
	[ERR_INVALID] = {{500, INTERNAL, 0, true, NULL}, {400, "Bad Request", 0, false, NULL}},
	// An upload creates its file, so what is missing is the store or a part of it.
	[ERR_NOT_FOUND] = {{404, "Not Found", 0, true, NULL}, {503, UNAVAILABLE, 30, true, NOT_WRITTEN}},
	[ERR_CONFLICT] = {{409, "Conflict", 0, true, NULL}, {409, "Conflict", 0, false, NULL}},
	// A link that leads out of the store is as good as no file. An upload's name may have been removed for good.
	[ERR_DENIED] = {{404, "Not Found", 0, true, NULL}, {410, "Gone", 0, false, NULL}},
	[ERR_LIMIT] = {{500, INTERNAL, 0, true, NULL}, {413, "Content Too Large", 0, false, NULL}},
	// A read needs room at most for what the server keeps beside a file of results, and may find it the next time.
	[ERR_FULL] = {{503, UNAVAILABLE, 30, true, "a disk of the server is full; ask again: the log of the server says why"},
		{507, "Insufficient Storage", 0, false, NULL}},
	// The scan reports it once; clients can ask a thousand times.
	[ERR_BUSY] = {{503, UNAVAILABLE, 1, false, "it is changing just now; ask again"},
		{503, UNAVAILABLE, 30, false, NULL}},
	[ERR_IO] = {{503, UNAVAILABLE, 1, true, "the store cannot be read; ask again: the log of the server says why"},
		{503, UNAVAILABLE, 30, true, NOT_WRITTEN}},
	[ERR_DB] =
		{{503, UNAVAILABLE, 1, true, "the catalog cannot be read; ask again: the log of the server says why"},
			{503, UNAVAILABLE, 5, true, NOT_WRITTEN}},
	[ERR_NET] = {{502, "Bad Gateway", 0, true, NULL}, {502, "Bad Gateway", 0, true, NOT_WRITTEN}},
	[ERR_TIME] = {{503, UNAVAILABLE, 1, false, "it takes too long; ask for less, or again"},
		{503, UNAVAILABLE, 30, true, NOT_WRITTEN}},
};

const struct error_status *error_status(enum err_kind kind, enum error_side side)
{
	assert(kind < ERR_COUNT && side < ERROR_SIDE_COUNT);
	return &table[kind][side];
}
