// SPDX-License-Identifier: Apache-2.0
#include "server/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/pool.h"
#include "server/accesslog.h"
#include "server/clients.h"
#include "server/listen.h"
#include "server/scrutiny.h"

enum {
	LANE_THREADS = 4,
	STOP_POLL_MS = 5,
	DESCRIPTORS_KEPT = 128, // for catalogs, wheels, logs: connections must not take them
};

// A connection. It answers one request after the other, so what belongs to the request under way is here too and
// a request allocates nothing.
struct client {
	struct client_link link;
	struct http *http;
	struct MHD_Connection *connection;
	struct str target;      // in the library's buffer
	struct request request; // while a worker has it
	struct reply *reply;    // chosen, not dropped yet
	struct buf uri;         // this and what follows is for the access log
	char peer[INET6_ADDRSTRLEN];
	char method[16];
	char version[16];
};

struct http {
	struct http_options options;
	struct MHD_Daemon *daemon;
	struct pool *lane[HTTP_LANES];
	struct clients *clients;
	char *url;
	atomic_uint sleeping; // requests that a worker has
	atomic_bool is_stopping;
};

// --- replies ---

static void drop_blob(void *blob)
{
	blob_unref(blob);
}

static void drop_prepared(void *prepared)
{
	MHD_destroy_response(prepared);
}

static struct MHD_Response *checked(struct MHD_Response *m)
{
	if (!m)
		abort(); // out of memory
	return m;
}

static struct MHD_Response *prepare_body(const struct reply *r)
{
	if (!r->body || r->length == 0)
		return checked(MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT));
	// libmicrohttpd only reads it, but its parameter is not const.
	union {
		const char *ours;
		void *theirs;
	} bytes = {.ours = blob_view(r->body).ptr + r->offset};
	return checked(MHD_create_response_from_buffer_with_free_callback_cls(
		(size_t)r->length, bytes.theirs, drop_blob, blob_ref(r->body)));
}

static struct MHD_Response *prepare(const struct reply *r)
{
	struct MHD_Response *m = prepare_body(r);
	if (r->type)
		MHD_add_response_header(m, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
	if (r->etag[0])
		MHD_add_response_header(m, MHD_HTTP_HEADER_ETAG, r->etag);
	for (unsigned i = 0; i < r->header_count; i++)
		MHD_add_response_header(m, r->header[i].name, r->header[i].value);
	return m;
}

// Made at the first sending and kept with the reply: a page that is sent again costs no formatting.
static struct MHD_Response *prepared(struct reply *r)
{
	void *kept = atomic_load_explicit(&r->prepared, memory_order_acquire);
	if (kept)
		return kept;
	struct MHD_Response *mine = prepare(r);
	r->prepared_free = drop_prepared;
	if (atomic_compare_exchange_strong(&r->prepared, &kept, mine))
		return mine;
	MHD_destroy_response(mine); // another thread was first
	return kept;
}

// Takes the reply over; it is dropped when the request has ended.
static enum MHD_Result send_reply(struct client *c, struct reply *r)
{
	c->reply = r;
	return MHD_queue_response(c->connection, r->status, prepared(r));
}

// --- requests ---

static const struct {
	const char *name;
	size_t len;
} header_names[HEADER_COUNT] = {
	[HEADER_ACCEPT] = {"Accept", 6},
	[HEADER_ACCEPT_ENCODING] = {"Accept-Encoding", 15},
	[HEADER_HOST] = {"Host", 4},
	[HEADER_IF_NONE_MATCH] = {"If-None-Match", 13},
	[HEADER_IF_RANGE] = {"If-Range", 8},
	[HEADER_RANGE] = {"Range", 5},
	[HEADER_USER_AGENT] = {"User-Agent", 10},
};

static enum MHD_Result take_value(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_len,
	const char *value, size_t value_len)
{
	struct request *r = ctx;
	(void)value_len;
	if (kind == MHD_GET_ARGUMENT_KIND) {
		if (name_len == 6 && memcmp(name, "format", 6) == 0 && !r->format)
			r->format = value ? value : "";
		return MHD_YES;
	}
	for (int i = 0; i < HEADER_COUNT; i++)
		if (header_names[i].len == name_len && strncasecmp(header_names[i].name, name, name_len) == 0 &&
			!r->header[i])
			r->header[i] = value;
	return MHD_YES;
}

static enum method method_of(const char *name)
{
	static const struct {
		const char *name;
		enum method method;
	} methods[] = {{"GET", METHOD_GET}, {"HEAD", METHOD_HEAD}, {"POST", METHOD_POST}};
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(name, methods[i].name) == 0)
			return methods[i].method;
	return METHOD_OTHER;
}

static struct request read_request(struct MHD_Connection *connection, const char *url, const char *method)
{
	struct request r = {.method = method_of(method), .path = url};
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, take_value, &r);
	return r;
}

static enum MHD_Result scrutinize_header(void *ctx, enum MHD_ValueKind kind, const char *name,
	size_t name_len, const char *value, size_t value_len)
{
	(void)kind;
	scrutiny_header(ctx, (struct str){name, name_len}, (struct str){value, value_len});
	return MHD_YES;
}

// Version 0.9 cuts a line at a NUL, and glues one that begins with a blank to the name before it.
// But it hands out its buffer as the client filled it: a gap tells. Version 1.0 refuses all this
// itself, and moves things.
static bool library_is_lax(void)
{
	return strncmp(MHD_get_version(), "0.", 2) == 0;
}

// Where its empty line lies.
static const char *end_of_header(struct client *c, const char *begin)
{
	const union MHD_ConnectionInfo *size =
		MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	return begin + size->header_size - strlen("\r\n");
}

static struct scrutiny scrutinize(struct client *c, const char *method, const char *version)
{
	struct scrutiny s = {.next = library_is_lax() ? method : NULL};
	scrutiny_piece(&s, str_from(method), strlen(" "));
	scrutiny_piece(&s, c->target, strlen(" "));
	scrutiny_piece(&s, str_from(version), strlen("\r\n"));
	MHD_get_connection_values_n(c->connection, MHD_HEADER_KIND, scrutinize_header, &s);
	if (s.next)
		scrutiny_piece(&s, (struct str){end_of_header(c, method), 0}, 0);
	return s;
}

// A reply to a request that is not answered further: it must not be read as one without a body, for what follows
// would be taken for the next request. NULL: all is well.
static struct reply *refuse(struct client *c, const char *method, const char *version)
{
	struct scrutiny s = scrutinize(c, method, version);
	enum method m = method_of(method);
	if (s.is_malformed || s.hosts > 1)
		return reply_text(400, "400 Bad Request: malformed header");
	if (m != METHOD_GET && m != METHOD_HEAD) {
		struct reply *r = reply_text(405, "405 Method Not Allowed: %s; GET and HEAD are", method);
		reply_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
		return r;
	}
	return s.has_body ? reply_text(400, "400 Bad Request: %s with a body", method) : NULL;
}

static void work_job(void *job)
{
	struct client *c = job;
	struct http *h = c->http;
	c->reply = h->options.work(h->options.ctx, &c->request);
	MHD_resume_connection(c->connection);
	atomic_fetch_sub(&h->sleeping, 1);
}

// The library must not be stopped while a connection sleeps: whoever stops it says so first, and then waits until none
// does. So a request counts itself in before it asks.
static enum MHD_Result sleep_on_worker(struct client *c, const struct request *r)
{
	struct http *h = c->http;
	atomic_fetch_add(&h->sleeping, 1);
	if (atomic_load(&h->is_stopping)) {
		atomic_fetch_sub(&h->sleeping, 1);
		return send_reply(c, reply_text(503, "503 Service Unavailable: the server is stopping"));
	}
	c->request = *r;
	MHD_suspend_connection(c->connection);
	pool_submit(h->lane[h->options.lane(h->options.ctx, r) % HTTP_LANES], work_job, c);
	return MHD_YES;
}

static enum MHD_Result answer(struct client *c, const char *url, const char *method)
{
	struct http *h = c->http;
	if (c->reply) // a worker has answered, and woke us
		return MHD_queue_response(c->connection, c->reply->status, prepared(c->reply));
	struct request r = read_request(c->connection, url, method);
	struct reply *reply = h->options.quick(h->options.ctx, &r);
	return reply ? send_reply(c, reply) : sleep_on_worker(c, &r);
}

static struct client *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

// Called when the header is there, then when the (empty) body is. An answer at the first call ends the connection: so
// that is where a request is refused whose body we do not read.
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *body, size_t *body_len, void **state)
{
	(void)ctx, (void)body;
	struct client *c = *state;
	if (c)
		return *body_len ? MHD_NO : answer(c, url, method);
	c = client_of(connection);
	if (!c)
		return MHD_NO;
	*state = c;
	clients_begin(&c->link);
	if (c->http->options.access_log) {
		snprintf(c->method, sizeof(c->method), "%s", method);
		snprintf(c->version, sizeof(c->version), "%s", version);
	}
	struct reply *refusal = refuse(c, method, version);
	return refusal ? send_reply(c, refusal) : MHD_YES;
}

// --- connections ---

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	(void)ctx;
	struct client *c = client_of(connection);
	if (!c)
		return NULL;
	c->target = str_from(uri);
	if (c->http->options.access_log) {
		buf_clear(&c->uri);
		buf_puts(&c->uri, uri);
	}
	return NULL;
}

static const char *header_value(struct client *c, enum request_header which)
{
	return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, header_names[which].name);
}

static void log_request(struct client *c)
{
	accesslog_write(c->http->options.access_log,
		&(struct accesslog_entry){
			.peer = c->peer,
			.method = c->method,
			.uri = c->uri.data,
			.version = c->version,
			.user_agent = header_value(c, HEADER_USER_AGENT),
			.status = c->reply->status,
			.bytes = c->reply->length,
		});
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode how)
{
	(void)ctx, (void)connection, (void)how;
	struct client *c = *state;
	if (!c)
		return;
	if (c->reply && c->http->options.access_log)
		log_request(c);
	reply_unref(c->reply);
	c->reply = NULL;
	clients_end(c->http->clients, &c->link);
}

static void name_peer(struct client *c, const struct sockaddr *addr)
{
	const void *ip = NULL;
	if (addr && addr->sa_family == AF_INET)
		ip = &((const struct sockaddr_in *)(const void *)addr)->sin_addr;
	else if (addr && addr->sa_family == AF_INET6)
		ip = &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr;
	if (!ip || !inet_ntop(addr->sa_family, ip, c->peer, sizeof(c->peer)))
		snprintf(c->peer, sizeof(c->peer), "unix");
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	struct http *h = ctx;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		struct client *c = xcalloc(1, sizeof(*c));
		c->http = h;
		c->connection = connection;
		buf_init(&c->uri, LIMIT_REQUEST_HEADER);
		name_peer(c, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
		clients_add(h->clients, &c->link,
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
		*context = c;
	} else if (*context) {
		struct client *c = *context;
		clients_remove(h->clients, &c->link);
		buf_release(&c->uri);
		free(c);
		*context = NULL;
	}
}

// --- start and stop ---

// Our own in place of the C library's, for libmicrohttpd up to 1.0.1 at least: where as many events come as it has
// room for, it asks for more before it handles them, and is willing to wait; if each client waits for its answer,
// nothing comes, and all stand still until a connection times out. So that room is never filled. A caller must be
// content with fewer events than there are, whatever it asks for.
int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
	return epoll_pwait(epoll, events, room > 1 ? room - 1 : room, timeout, NULL);
}

static size_t keep_escapes(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx, (void)connection;
	return strlen(text); // urlpath decodes, once
}

static void on_library_message(void *ctx, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_library_message(void *ctx, const char *fmt, va_list ap)
{
	(void)ctx;
	char text[512];
	vsnprintf(text, sizeof(text), fmt, ap);
	log_debug("http: %s", text);
}

// As many descriptors as we may have; what is left for connections.
static unsigned connection_limit(unsigned wanted)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return wanted;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return wanted;
	unsigned most = limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? (unsigned)limit.rlim_cur - DESCRIPTORS_KEPT
							      : (unsigned)limit.rlim_cur / 2;
	if (most < wanted)
		log_warn("%u connections at most: the limit of open files allows no more", most);
	return most < wanted ? most : wanted;
}

static struct MHD_Daemon *start_daemon(struct http *h)
{
	const struct http_options *o = &h->options;
	unsigned threads = o->threads ? o->threads : 1;
	unsigned connections = connection_limit(o->connections);
	struct MHD_OptionItem items[] = {
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_library_message, NULL},
		{MHD_OPTION_LISTEN_SOCKET, o->socket, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, (intptr_t)(connections < threads ? threads : connections), NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, LIMIT_REQUEST_HEADER, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)o->timeout, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, h},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, h},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_uri, h},
		{MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, h},
		// One loop needs no pool, and the library refuses a pool of one.
		{threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0,
		NULL, NULL, on_request, h, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static void http_free(struct http *h)
{
	for (size_t i = 0; i < HTTP_LANES; i++)
		pool_free(h->lane[i]);
	clients_free(h->clients);
	free(h->url);
	free(h);
}

struct http *http_start(const struct http_options *options, struct err *e)
{
	if (listen_begin(options->socket, options->url, e) < 0)
		return NULL;
	struct http *h = xcalloc(1, sizeof(*h));
	h->options = *options;
	h->url = xstrdup(options->url);
	h->clients = clients_new(options->timeout);
	for (size_t i = 0; i < HTTP_LANES; i++)
		h->lane[i] = pool_new(LANE_THREADS, POOL_FIRST_IN_FIRST_OUT, "work");
	h->daemon = start_daemon(h);
	if (!h->daemon) {
		err_set(e, ERR_NET, "cannot serve on %s", options->url);
		http_free(h);
		return NULL;
	}
	return h;
}

const char *http_url(const struct http *h)
{
	return h->url;
}

void http_stop(struct http *h, unsigned grace)
{
	if (!h)
		return;
	// Refuses from here on. The library's threads may still hold it against their epoll, and abort where it is closed.
	CLEANUP(mem_close) int fd = MHD_quiesce_daemon(h->daemon);
	shutdown(fd, SHUT_RDWR);
	clients_drain(h->clients, grace);
	atomic_store(&h->is_stopping, true);
	while (atomic_load(&h->sleeping))
		nanosleep(&(struct timespec){.tv_nsec = STOP_POLL_MS * 1000000L}, NULL);
	MHD_stop_daemon(h->daemon);
	if (strncmp(h->url, "unix:", 5) == 0)
		unlink(h->url + 5);
	http_free(h);
}
