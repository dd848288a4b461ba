// SPDX-License-Identifier: Apache-2.0
#include "server/message/reply.h"

#include <assert.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"

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
