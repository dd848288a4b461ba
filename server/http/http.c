// SPDX-License-Identifier: Apache-2.0
#include "server/http/http.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "server/http/mhd.h"
#include "server/http/sockets.h"
#include "server/http/tls-handshakes.h"
#include "server/http/worker-pools.h"
#include "server/message/request.h"

enum {
	SEARCHES = 2,   // number of expensive pages that are made at once
	DECISIONS = 4,  // number of posted documents that are decided at once
	POOL_SHARE = 4, // one pool may have a quarter of all connections for bodies, as its platform's volume may hang
	LINGER_SECONDS = 2, // for the next request of a client whose connection will end
	PROBE_BODY = 20000, // bytes
	PROBE_TURNS = 32,   // of an event loop; two answers take a handful
	SPARE_MOST = 64,    // places for connections that are accepted before an idle one has ended
};

struct http {
	struct http_options options;
	struct MHD_Daemon *daemon;
	struct tls_handshakes *handshakes; // NULL: plain HTTP
	unsigned adopted;                  // connections that came from it, counted by its thread
	struct worker_pools *worker_pools;
	struct worker_pools *body_pools;
	struct connections *connections;
	struct answers *answers;
	struct share_pool *body_memory;
	char *url;
};

// --- requests ---

// Takes the reply over and drops it when the request has ended.
static enum MHD_Result send_reply(struct connection *c, struct reply *r)
{
	if (!answers_begin(c->http->answers, &c->reader, r, c->client)) {
		reply_unref(r);
		r = reply_busy(answers_unread);
	}
	c->reply = r;
	connections_note_sending(&c->link);
	return mhd_response_queue(c) ? MHD_YES : MHD_NO;
}

static const char too_many[] = "too many ask for this";

static void refuse_job(void *job)
{
	connection_refuse(job, too_many);
}

// The caller frees it; NULL: none is known.
static char *find_token(const struct connection *c)
{
	if (c->body)
		return c->body->handler && c->body->handler->token ? xstrdup(c->body->handler->token) : NULL;
	return c->http->options.token ? c->http->options.token(c->http->options.ctx, &c->request) : NULL;
}

// For a suspended connection. Where the pool takes no more jobs, or the client could not get a large answer, answers
// with 503.
static void submit_job(struct connection *c, struct worker_pool *pool, thread_pool_fn *job)
{
	bool is_costly = worker_pool_is_costly(pool);
	bool is_in_vain = !c->body && is_costly && answers_is_used_up(c->http->answers, c->client);
	CLEANUP(mem_free) char *token = is_costly && !is_in_vain ? find_token(c) : NULL;
	const struct worker_job wanted = {
		.run = job, .refuse = refuse_job, .ctx = c, .peer = c->client, .token = token};
	if (!is_in_vain && worker_pool_submit(pool, &wanted))
		return;
	connection_refuse(c, is_in_vain ? answers_unread : too_many);
}

// False: the server is stopping.
static bool suspend_for_worker(struct connection *c, struct worker_pool *pool, thread_pool_fn *job)
{
	if (!connections_suspend(c->connections, &c->link))
		return false;
	MHD_suspend_connection(c->mhd);
	submit_job(c, pool, job);
	return true;
}

// --- bodies ---

static void feed_body_job(void *job)
{
	struct connection *c = job;
	request_body_feed(c->body);
	connections_await_bytes(&c->link);
	connection_resume(c);
}

static void end_body_job(void *job)
{
	struct connection *c = job;
	request_body_end(c->body);
	connection_resume(c);
}

static void free_body_job(void *job)
{
	request_body_free(job);
}

static enum MHD_Result begin_body(struct connection *c, struct request *r, const struct request_check *s)
{
	const struct http_options *o = &c->http->options;
	const struct request_body_source source = {
		.pool = worker_pools_pick(c->http->body_pools, o->pool(o->ctx, r)),
		.memory = c->http->body_memory,
		.receive = o->receive,
		.ctx = o->ctx,
		.owner = &c->link,
		.idle_since = &c->link.idle_since,
	};
	struct reply *refusal = NULL;
	c->body = request_body_open(&source, r, s, &refusal);
	c->request.metric = r->metric;
	if (!c->body)
		return send_reply(c, refusal);
	connections_await_bytes(&c->link);
	return MHD_YES;
}

// The library may offer the next piece to a connection that it has just suspended: a worker has the body then.
static enum MHD_Result add_bytes(struct connection *c, const char *bytes, size_t *len)
{
	if (!c->body)
		return MHD_NO;
	if (MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_CONNECTION_SUSPENDED)->suspended == MHD_YES)
		return MHD_YES;
	*len -= request_body_add(c->body, (struct str){bytes, *len});
	if (request_body_is_past_limit(c->body))
		return MHD_NO;
	if (request_body_has_progress(c->body))
		connections_await_bytes(&c->link);
	if (!request_body_is_full(c->body))
		return MHD_YES;
	return suspend_for_worker(c, c->body->pool, feed_body_job) ? MHD_YES : MHD_NO;
}

static enum MHD_Result end_body(struct connection *c)
{
	if (!c->body->reply)
		return suspend_for_worker(c, c->body->pool, end_body_job) ? MHD_YES : MHD_NO;
	connections_end_wait(&c->link);
	return send_reply(c, request_body_reply(c->body));
}

// --- answers ---

static void worker_job(void *job);

// 499 is nginx's status for a client that has closed the connection. It counts in no error rate.
static void resume_worker_job(struct continuation *w)
{
	struct connection *c = connection_of_continuation(w);
	if (!continuation_has_left(w)) {
		struct http *h = c->http;
		submit_job(c, worker_pools_pick(h->worker_pools, h->options.pool(h->options.ctx, &c->request)),
			worker_job);
		return;
	}
	c->reply = reply_text(499, "499 Client Closed Request");
	connection_resume(c);
}

// Without a reply, another module has the continuation and may have resumed it: c must not be touched.
static void worker_job(void *job)
{
	struct connection *c = job;
	c->continuation.resume = resume_worker_job;
	struct reply *reply = c->http->options.handle_worker(c->http->options.ctx, &c->request, &c->continuation);
	if (!reply)
		return;
	c->reply = reply;
	connection_resume(c);
}

static enum MHD_Result answer_request(struct connection *c, const char *url, const char *method)
{
	struct http *h = c->http;
	if (c->reply) // of a worker, which resumed the connection
		return send_reply(c, c->reply);
	c->request = mhd_request_read(c, url, method);
	c->continuation.step = 0;
	c->continuation.has_left = &c->link.has_left;
	struct reply *reply = h->options.handle_inline(h->options.ctx, &c->request);
	if (reply)
		return send_reply(c, reply);
	if (suspend_for_worker(c, worker_pools_pick(h->worker_pools, h->options.pool(h->options.ctx, &c->request)),
		    worker_job))
		return MHD_YES;
	return send_reply(c, reply_text(503, "503 Service Unavailable: the server is stopping"));
}

static struct connection *connection_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

// The library calls it when the header has arrived, for each piece of the body, after the body, and when a worker has
// resumed the connection.
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url, const char *method,
	const char *version, const char *bytes, size_t *len, void **state)
{
	(void)ctx;
	struct connection *c = *state;
	if (c && *len)
		return add_bytes(c, bytes, len);
	if (c)
		return c->body && !c->reply ? end_body(c) : answer_request(c, url, method);
	c = connection_of(connection);
	if (!c)
		return MHD_NO;
	*state = c;
	connections_begin_request(&c->link);
	if (c->is_proxy)
		mhd_request_note_client(c, c->http->options.proxies);
	if (c->http->options.access_log)
		accesslog_note(&c->line, method, version);
	// Called when the header has arrived. An answer at this point ends the connection, so the library never takes
	// the bytes that follow for a request.
	struct request_check s = mhd_request_check(c, method, version);
	enum method m = request_method(method);
	c->request.method = m;
	c->request.metric = 0; // forget that of the previous request
	struct reply *refusal = request_check_refuse(&s, m, str_from(version));
	if (refusal)
		return send_reply(c, refusal);
	if (m == METHOD_GET || m == METHOD_HEAD)
		return MHD_YES;
	CLEANUP(request_release) struct request r = mhd_request_read(c, url, method);
	return begin_body(c, &r, &s);
}

// --- connections ---

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *connection)
{
	(void)ctx;
	struct connection *c = connection_of(connection);
	if (!c)
		return NULL;
	c->target = str_from(uri);
	if (c->http->options.access_log)
		accesslog_note_uri(&c->line, uri);
	return NULL;
}

// Bytes of the body. An answer that was cut off counts as 0.
static uint64_t count_sent(const struct connection *c, enum MHD_RequestTerminationCode how)
{
	return how == MHD_REQUEST_TERMINATED_COMPLETED_OK && c->request.method != METHOD_HEAD ? c->reply->length : 0;
}

static void count_download_of(struct connection *c)
{
	if (!c->reply->count)
		return;
	download_counter_raise(c->reply->count);
	if (c->http->options.on_downloaded)
		c->http->options.on_downloaded(c->http->options.ctx, &c->request, c->reply->count);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **state,
	enum MHD_RequestTerminationCode how)
{
	(void)ctx, (void)connection;
	struct connection *c = *state;
	if (!c)
		return;
	if (c->reply && how == MHD_REQUEST_TERMINATED_COMPLETED_OK && c->request.method == METHOD_GET)
		count_download_of(c);
	if (c->reply && c->http->options.access_log)
		connection_log(c, c->http->options.access_log);
	if (c->reply && c->http->options.on_answered)
		c->http->options.on_answered(c->http->options.ctx, &c->request, c->reply->status, count_sent(c, how));
	// A handler removes files when it is freed, so a worker does that.
	struct request_body *b = STEAL_PTR(c->body);
	request_body_leave(b);
	if (b && b->handler)
		worker_pool_submit_always(b->pool, free_body_job, b);
	else
		request_body_free(b);
	answers_end(c->http->answers, &c->reader);
	reply_unref(c->reply);
	c->reply = NULL;
	request_release(&c->request);
	connections_end_request(c->connections, &c->link);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	struct http *h = ctx;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		struct connection *c = xcalloc(1, sizeof(*c));
		c->http = h;
		c->connections = h->connections;
		c->mhd = connection;
		accesslog_line_init(&c->line);
		listen_peer(MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr,
			c->peer);
		snprintf(c->client, sizeof(c->client), "%s", c->peer);
		c->is_proxy = trusted_proxies_has(h->options.proxies, c->peer);
		connections_add(h->connections, &c->link,
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
			c->is_proxy ? NULL : c->peer);
		*context = c;
	} else if (*context) {
		struct connection *c = *context;
		connections_remove(h->connections, &c->link);
		accesslog_line_release(&c->line);
		free(c);
		*context = NULL;
	}
}

// --- start and stop ---

static size_t keep_escapes(void *ctx, struct MHD_Connection *connection, char *text)
{
	(void)ctx, (void)connection;
	return strlen(text); // urlpath decodes it once
}

static void on_library_message(void *ctx, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
static void on_library_message(void *ctx, const char *fmt, va_list ap)
{
	(void)ctx;
	char text[512];
	vsnprintf(text, sizeof(text), fmt, ap);
	log_debug("http: %s", text);
}

static void adopt_connection(void *ctx, struct tls_handshakes *handshakes, int fd, struct tls_session *session,
	const struct sockaddr *addr, socklen_t len)
{
	struct http *h = ctx;
	unsigned loops = h->options.threads ? h->options.threads : 1;
	fd = mhd_workarounds_for_loop(fd, h->adopted++, loops);
	if (sockets_secure(fd, session, tls_handshakes_note_ended, handshakes))
		MHD_add_connection(h->daemon, fd, addr, len); // where it fails it closes fd
}

static struct tls_handshakes *start_handshakes(struct http *h)
{
	const struct http_options *o = &h->options;
	const struct tls_handshakes_options how = {
		.socket = o->socket,
		.tls = o->tls,
		.connections = o->connections,
		.timeout = o->timeout,
		.adopt = adopt_connection,
		.ctx = h,
	};
	return tls_handshakes_start(&how);
}

static enum MHD_Result answer_probe(void *ctx, struct MHD_Connection *connection, const char *url,
	const char *method UNUSED, const char *version UNUSED, const char *bytes UNUSED, size_t *len UNUSED, void **state)
{
	struct MHD_Response **answer = ctx;
	if (*state)
		return MHD_queue_response(connection, MHD_HTTP_OK, answer[strcmp(url, "/file") == 0]);
	*state = answer;
	return MHD_YES;
}

static void run_probe(int fd, struct MHD_Response **answer)
{
	const struct sockaddr addr = {.sa_family = AF_UNIX};
	struct MHD_Daemon *daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, answer_probe,
		answer, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END); // so that it calls sendfile64()
	if (!daemon) {
		close(fd);
		return;
	}
	MHD_add_connection(daemon, fd, &addr, sizeof(addr));
	for (int i = 0; i < PROBE_TURNS; i++)
		MHD_run(daemon);
	MHD_stop_daemon(daemon);
}

// Whether libmicrohttpd reads and writes a connection by the functions of sockets alone, and closes it by them.
// Otherwise answers would leave a TLS port as they are.
static int check_library(struct err *e)
{
	static char body[PROBE_BODY];
	struct sockets_probe probe = {.request = "GET /memory HTTP/1.1\r\nHost: x\r\n\r\n"
						 "GET /file HTTP/1.1\r\nHost: x\r\n\r\n"};
	int pair[2], file = memfd_create("probe", MFD_CLOEXEC);
	char byte = 0;
	if (file < 0 || ftruncate(file, PROBE_BODY) < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		mem_close(&file);
		return err_errno(e, ERR_NET, "cannot check libmicrohttpd");
	}
	struct MHD_Response *answer[] = {MHD_create_response_from_buffer(PROBE_BODY, body, MHD_RESPMEM_PERSISTENT),
		MHD_create_response_from_fd(PROBE_BODY, file)};
	CLEANUP(mem_close) int other = pair[1];
	bool is_called = write(other, &byte, 1) == 1 && sockets_probe(pair[0], &probe);
	if (is_called)
		run_probe(pair[0], answer);
	MHD_destroy_response(answer[0]);
	MHD_destroy_response(answer[1]);
	if (is_called && probe.is_closed && probe.received == strlen(probe.request) && probe.sent > 2 * PROBE_BODY &&
		recv(other, &byte, 1, 0) <= 0)
		return 0;
	err_set(e, ERR_NET, "libmicrohttpd %s does not read and write by this program's functions, so HTTPS would not be encrypted",
		MHD_get_version());
	return err_advise(e, "use the libmicrohttpd of the distribution, or nginx before a server without tls-cert");
}

static void http_free(struct http *h)
{
	worker_pools_free(h->worker_pools);
	worker_pools_free(h->body_pools);
	connections_free(h->connections);
	share_pool_free(h->body_memory);
	free(h->url);
	free(h);
}

// The last places make room: what is accepted there ends an idle connection, and the library stops accepting beyond
// them.
static unsigned count_spare_places(const struct http_options *o)
{
	unsigned eighth = o->connections / 8;
	return o->tls ? tls_handshakes_most(o->connections) : eighth < SPARE_MOST ? eighth : SPARE_MOST;
}

struct http *http_start(const struct http_options *options, struct err *e)
{
	if ((options->tls && check_library(e) < 0) || listen_begin(options->socket, options->url, e) < 0)
		return NULL;
	struct http *h = xcalloc(1, sizeof(*h));
	h->options = *options;
	h->options.connections = listen_limit(options->connections);
	h->url = xstrdup(options->url);
	const struct http_options *o = &h->options;
	const struct share_options bodies = {.most = o->connections / POOL_SHARE + 1, .end = connections_end};
	const struct share_options memory = {.most = LIMIT_BODIES_ARRIVING, .end = connections_end};
	h->connections = connections_new(o->timeout, o->connections - count_spare_places(o), o->on_checked, o->ctx);
	h->answers = o->answers;
	h->body_memory = share_pool_new(&memory);
	h->worker_pools = worker_pools_new("work", SEARCHES, NULL);
	h->body_pools = worker_pools_new("receive", DECISIONS, &bodies);
	unsigned threads = o->threads ? o->threads : 1;
	// With TLS, tls_handshakes keeps the limit. The library gives each loop a part of its own, and it may end one
	// late.
	unsigned connections = o->tls ? 2 * h->options.connections : h->options.connections;
	struct MHD_OptionItem items[] = {
		{MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)on_library_message, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, (intptr_t)(connections < threads ? threads : connections), NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, LIMIT_REQUEST_HEADER, NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)o->timeout, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, h},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, h},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_uri, h},
		{MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)keep_escapes, h},
		// The library refuses a pool of one thread.
		{threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)threads, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
					(o->tls ? MHD_USE_NO_LISTEN_SOCKET : 0),
		0, NULL, NULL, on_request, h, MHD_OPTION_ARRAY, items,
		o->tls ? MHD_OPTION_END : MHD_OPTION_LISTEN_SOCKET, o->socket, MHD_OPTION_END);
	if (!h->daemon) {
		err_set(e, ERR_NET, "cannot serve on %s", options->url);
		http_free(h);
		return NULL;
	}
	if (options->tls)
		h->handshakes = start_handshakes(h);
	return h;
}

const char *http_url(const struct http *h)
{
	return h->url;
}

// Refuses connections from now on; those to a passed socket wait for another process. The caller closes the socket
// after the daemon's stop: the library's threads may still pass it to epoll_ctl(), and abort where that fails.
static int stop_accepting(struct http *h)
{
	if (h->handshakes) {
		tls_handshakes_quiesce(h->handshakes, h->options.is_passed ? 1000 * LINGER_SECONDS : 0);
		return -1;
	}
	int fd = MHD_quiesce_daemon(h->daemon);
	if (!h->options.is_passed)
		shutdown(fd, SHUT_RDWR);
	return fd;
}

void http_stop(struct http *h, unsigned grace)
{
	if (!h)
		return;
	CLEANUP(mem_close) int fd UNUSED = stop_accepting(h); // closed after the daemon
	connections_drain(h->connections, grace, h->options.is_passed ? LINGER_SECONDS : 0);
	if (h->options.cancel)
		h->options.cancel(h->options.ctx);
	connections_await_resumed(h->connections);
	MHD_stop_daemon(h->daemon);
	tls_handshakes_free(h->handshakes);
	if (!h->options.is_passed)
		listen_end(h->url);
	http_free(h);
}
