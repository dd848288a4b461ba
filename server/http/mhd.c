// SPDX-License-Identifier: Apache-2.0
#include "server/http/mhd.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <microhttpd.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "server/message/reply.h"

// --- workarounds ---

const char *MHD_get_reason_phrase_for(unsigned status);
size_t MHD_get_reason_phrase_len_for(unsigned status);

int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
	return epoll_pwait(epoll, events, room > 1 ? room - 1 : room, timeout, NULL);
}

static _Thread_local struct {
	unsigned status; // 0: none is set
	bool was_given, was_measured;
	char text[REPLY_PHRASE + 1];
} next_phrase;

// Once: a response that libmicrohttpd makes itself has the phrase of its status.
static bool takes_phrase(unsigned status, bool *was_taken)
{
	bool takes = next_phrase.status == status && !*was_taken;
	*was_taken = true;
	return takes;
}

static const char *phrase_of_status(unsigned status)
{
	static _Atomic(void *) original;
	void *function = atomic_load(&original);
	if (!function)
		atomic_store(&original, function = dlsym(RTLD_NEXT, "MHD_get_reason_phrase_for"));
	const char *(*ask)(unsigned);
	memcpy(&ask, &function, sizeof(ask));
	return ask ? ask(status) : "Unknown";
}

const char *MHD_get_reason_phrase_for(unsigned status)
{
	return takes_phrase(status, &next_phrase.was_given) ? next_phrase.text : phrase_of_status(status);
}

size_t MHD_get_reason_phrase_len_for(unsigned status)
{
	return strlen(takes_phrase(status, &next_phrase.was_measured) ? next_phrase.text : phrase_of_status(status));
}

int mhd_workarounds_for_loop(int fd, unsigned loop, unsigned loops)
{
	unsigned number = (unsigned)fd, ahead = (loop % loops + loops - number % loops) % loops;
	int moved = ahead ? fcntl(fd, F_DUPFD_CLOEXEC, (int)(number + ahead)) : -1;
	if (moved < 0)
		return fd; // it belongs to the loop already, or no descriptor is free
	close(fd);
	return moved;
}

// --- the connection ---

void connection_resume(struct connection *c)
{
	struct connections *connections = c->connections;
	MHD_resume_connection(c->mhd); // may free c
	connections_note_resumed(connections);
}

struct connection *connection_of_continuation(struct continuation *w)
{
	return (struct connection *)(void *)((char *)w - offsetof(struct connection, continuation));
}

void connection_refuse(struct connection *c, const char *why)
{
	if (c->body)
		request_body_refuse(c->body, reply_busy(why));
	else
		c->reply = reply_busy(why);
	connection_resume(c);
}

void connection_log(struct connection *c, FILE *access_log)
{
	accesslog_write(access_log,
		&(struct accesslog_entry){
			.peer = c->client,
			.method = c->line.method,
			.uri = c->line.uri.data,
			.version = c->line.version,
			.user_agent = MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, "User-Agent"),
			.status = c->reply->status,
			.bytes = c->reply->length,
		});
}

static enum MHD_Result read_value(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_len,
	const char *value, size_t value_len)
{
	(void)value_len;
	if (kind == MHD_GET_ARGUMENT_KIND)
		request_take_argument(ctx, (struct str){name, name_len}, value);
	else
		request_take_header(ctx, (struct str){name, name_len}, value);
	return MHD_YES;
}

struct request mhd_request_read(struct connection *c, const char *url, const char *method)
{
	struct request r = {.method = request_method(method), .path = url, .peer = c->client};
	MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, read_value, &r);
	if (!c->is_proxy)
		request_forget_forwarded(&r);
	return r;
}

void mhd_request_note_client(struct connection *c, const struct trusted_proxies *proxies)
{
	CLEANUP(request_release) struct request r = mhd_request_read(c, NULL, "GET");
	trusted_proxies_client(proxies, c->peer, r.header[HEADER_FORWARDED_FOR], c->client);
}

static enum MHD_Result check_header(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_len,
	const char *value, size_t value_len)
{
	(void)kind;
	request_check_header(ctx, (struct str){name, name_len}, (struct str){value, value_len});
	return MHD_YES;
}

// The address of the empty line.
static const char *end_of_header(struct connection *c, const char *begin)
{
	return begin - strlen("\r\n") +
	       MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
}

struct request_check mhd_request_check(struct connection *c, const char *method, const char *version)
{
	// Whether this version of libmicrohttpd parses request headers laxly. 0.9 cuts a line at a NUL, and joins a
	// line that begins with a blank to the name before it; its strings are in the buffer that the client filled, so
	// gaps between them show that. 1.0 refuses such headers itself, and moves strings. Upstream: mended in 1.0.0 by
	// commit eaf1fa08 ("Re-implemented parsing of the request headers and footers from scratch", 2023). 0.9.77
	// mends joined lines ("Fixed processing of folded headers in the requests" in its NEWS).
	struct request_check s = {.next = strncmp(MHD_get_version(), "0.", 2) == 0 ? method : NULL};
	request_check_piece(&s, str_from(method), strlen(" "));
	request_check_piece(&s, c->target, strlen(" "));
	request_check_piece(&s, str_from(version), strlen("\r\n"));
	MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND, check_header, &s);
	if (s.next)
		request_check_piece(&s, (struct str){end_of_header(c, method), 0}, 0);
	return s;
}

// --- answers ---

static void unref_blob(void *blob)
{
	blob_unref(blob);
}

static void destroy_prepared(void *prepared)
{
	MHD_destroy_response(prepared);
}

static struct MHD_Response *require_response(struct MHD_Response *m)
{
	if (!m)
		abort(); // out of memory
	return m;
}

static struct MHD_Response *prepare_body(const struct reply *r)
{
	if (!r->body || r->length == 0)
		return require_response(MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
	// libmicrohttpd only reads the bytes, but its parameter is not const.
	union {
		const char *ours;
		void *theirs;
	} bytes = {.ours = blob_view(r->body).ptr + r->offset};
	return require_response(MHD_create_response_from_buffer_with_free_callback_cls((size_t)r->length, bytes.theirs,
		unref_blob, blob_ref(r->body)));
}

static struct MHD_Response *add_headers(struct MHD_Response *m, const struct reply *r)
{
	if (r->type)
		MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
	if (r->etag[0])
		MHD_add_response_header(m, MHD_HTTP_HEADER_ETAG, r->etag);
	for (unsigned i = 0; i < r->header_count; i++)
		MHD_add_response_header(m, r->header[i].name, r->header[i].value);
	return m;
}

// Made when the reply is sent for the first time, and kept with the reply, so that a page that is sent again needs no
// formatting. Several event loops may make one at once; the first is kept. prepared_free is set by the loop whose
// response is kept, which still has its reference to the reply: reply_unref() sees it.
static struct MHD_Response *prepare_response(struct reply *r)
{
	void *kept = atomic_load_explicit(&r->prepared, memory_order_acquire);
	if (kept)
		return kept;
	struct MHD_Response *mine = add_headers(prepare_body(r), r);
	if (!atomic_compare_exchange_strong(&r->prepared, &kept, mine)) {
		MHD_destroy_response(mine);
		return kept;
	}
	r->prepared_free = destroy_prepared;
	return mine;
}

static void resume_connection(struct continuation *w)
{
	connection_resume(connection_of_continuation(w));
}

static ssize_t read_stream(void *ctx, uint64_t at, char *out, size_t room)
{
	struct connection *c = ctx;
	struct stream *s = c->reply->stream;
	ssize_t n = s->ops->read(s, at, out, room);
	if (n > 0)
		return n;
	if (n < 0 || atomic_load_explicit(&c->link.has_left, memory_order_relaxed) ||
		!connections_suspend(c->connections, &c->link))
		return MHD_CONTENT_READER_END_WITH_ERROR;
	MHD_suspend_connection(c->mhd);
	c->continuation.resume = resume_connection;
	s->ops->await(s, at, &c->continuation);
	return 0;
}

static struct MHD_Response *prepare_stream(struct connection *c)
{
	return require_response(MHD_create_response_from_callback(c->reply->length, ANSWERS_STREAM_BLOCK, read_stream, c,
		NULL));
}

bool mhd_response_queue(struct connection *c)
{
	struct reply *r = c->reply;
	bool is_last = connections_is_draining(c->connections);
	// libmicrohttpd has no way to set the reason phrase of a response. So this module defines the functions that
	// give it the phrase of a status, and answers with ours for the response that the thread queues next. Each of
	// them is asked once for each response, by the thread that queued it and before it queues another. Copied.
	// Upstream: the same in 0.9.75, in 1.0.1 and after it.
	next_phrase.status = r->phrase ? r->status : 0;
	next_phrase.was_given = next_phrase.was_measured = false;
	size_t len = r->phrase ? strnlen(r->phrase, REPLY_PHRASE) : 0;
	if (len)
		memcpy(next_phrase.text, r->phrase, len);
	next_phrase.text[len] = '\0';
	if (!r->stream && !is_last)
		return MHD_queue_response(c->mhd, r->status, prepare_response(r)) == MHD_YES;
	struct MHD_Response *m = add_headers(r->stream ? prepare_stream(c) : prepare_body(r), r);
	if (is_last)
		MHD_add_response_header(m, MHD_HTTP_HEADER_CONNECTION, "close");
	enum MHD_Result result = MHD_queue_response(c->mhd, r->status, m);
	MHD_destroy_response(m);
	return result == MHD_YES;
}
