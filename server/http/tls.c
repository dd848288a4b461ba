// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

enum {
	TICKET_KEYS = 80, // bytes that OpenSSL needs: a name, a MAC key and an encryption key
	AHEAD = 2 << 10,          // bytes of a read of the socket, where they are not those of one large record
	READS = 2,                // limit of such reads in one call, so that no client occupies the thread by records without data
	GATHERED = 4 * TLS_RECORD,
	SEND_MOST = 32 * TLS_RECORD, // of one call, so that others are served
};

struct tls {
	char *cert_path, *key_path;
	pthread_mutex_t lock; // of the fields below
	SSL_CTX *context;
	unsigned char keys[TICKET_KEYS];
	long keys_made;    // clock_seconds(); 0: no keys yet
	bool keys_are_set; // in the context
};

// --- tickets ---

// Makes the context encrypt tickets with the current keys. Under the lock. OpenSSL supports two generations of keys by
// a callback, which took as long as the resumption itself. So after a change of keys each client does one full
// handshake.
static bool use_keys(struct tls *t)
{
	long now = clock_seconds();
	if (!t->keys_made || now - t->keys_made >= TLS_TICKET_SECONDS) {
		if (RAND_priv_bytes(t->keys, sizeof(t->keys)) != 1)
			return false;
		t->keys_made = now;
		t->keys_are_set = false;
	}
	if (!t->keys_are_set)
		t->keys_are_set = SSL_CTX_set_tlsext_ticket_keys(t->context, t->keys, sizeof(t->keys)) == 1;
	return t->keys_are_set;
}

// --- certificate and key ---

static void free_bio(BIO **b)
{
	BIO_free(*b);
}

static void free_context(SSL_CTX **c)
{
	SSL_CTX_free(*c);
}

static void free_key(EVP_PKEY **k)
{
	EVP_PKEY_free(*k);
}

static void free_certificate(X509 **c)
{
	X509_free(*c);
}

// A server cannot ask for a password: an encrypted key is an error.
static int no_password(char *out, int room, int is_writing, void *ctx)
{
	(void)out, (void)room, (void)is_writing, (void)ctx;
	return -1;
}

// The server's certificate is the first, then come those of its authorities.
static bool use_certificates(SSL_CTX *context, struct str pem)
{
	CLEANUP(free_bio) BIO *text = BIO_new_mem_buf(pem.ptr, (int)pem.len);
	CLEANUP(free_certificate) X509 *own = text ? PEM_read_bio_X509(text, NULL, no_password, NULL) : NULL;
	if (!own || SSL_CTX_use_certificate(context, own) != 1)
		return false;
	for (;;) {
		X509 *next = PEM_read_bio_X509(text, NULL, no_password, NULL);
		if (!next) {
			bool is_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
			ERR_clear_error();
			return is_end;
		}
		if (SSL_CTX_add0_chain_cert(context, next) != 1) {
			X509_free(next);
			return false;
		}
	}
}

static bool use_key(SSL_CTX *context, struct str pem)
{
	CLEANUP(free_bio) BIO *text = BIO_new_mem_buf(pem.ptr, (int)pem.len);
	CLEANUP(free_key) EVP_PKEY *key = text ? PEM_read_bio_PrivateKey(text, NULL, no_password, NULL) : NULL;
	return key && SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;
}

static int read_pem(const char *path, struct buf *text, struct err *e)
{
	buf_init(text, LIMIT_PEM);
	return fs_read_file(path, text, e);
}

static void wipe_buf(struct buf *text)
{
	if (text->data)
		explicit_bzero(text->data, text->len);
	buf_release(text);
}

static int use_files(const struct tls *t, SSL_CTX *context, struct err *e)
{
	CLEANUP(buf_release) struct buf cert = {0};
	CLEANUP(wipe_buf) struct buf key = {0};
	if (read_pem(t->cert_path, &cert, e) < 0 || read_pem(t->key_path, &key, e) < 0)
		return -1;
	ERR_clear_error();
	if (use_certificates(context, buf_view(&cert)) && use_key(context, buf_view(&key)))
		return 0;
	const char *why = ERR_reason_error_string(ERR_peek_last_error());
	err_set(e, ERR_USAGE, "%s and %s do not form a certificate/key pair in PEM%s%s", t->cert_path, t->key_path,
		why ? ": " : "", why ? why : "");
	ERR_clear_error();
	return -1;
}

int tls_certificate_end(const char *cert_path, int64_t *end, struct err *e)
{
	CLEANUP(buf_release) struct buf pem = {0};
	struct tm tm;
	if (read_pem(cert_path, &pem, e) < 0)
		return -1;
	CLEANUP(free_bio) BIO *text = BIO_new_mem_buf(pem.len ? pem.data : "", (int)pem.len);
	CLEANUP(free_certificate) X509 *own = text ? PEM_read_bio_X509(text, NULL, no_password, NULL) : NULL;
	ERR_clear_error();
	if (!own || ASN1_TIME_to_tm(X509_get0_notAfter(own), &tm) != 1)
		return err_set(e, ERR_USAGE, "%s is no certificate in PEM", cert_path);
	*end = (int64_t)timegm(&tm);
	return 0;
}

// --- the context ---

// ALPN: chooses HTTP/1.1 where the client offers it; otherwise the handshake continues without ALPN.
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len, const unsigned char *offered,
	unsigned offered_len, void *ctx)
{
	static const unsigned char http[] = "\x08http/1.1";
	(void)ssl, (void)ctx;
	for (unsigned at = 0; at < offered_len && offered[at] < offered_len - at; at += offered[at] + 1U)
		if (offered[at] == http[0] && memcmp(offered + at, http, sizeof(http) - 1) == 0) {
			*out = offered + at + 1;
			*out_len = offered[at];
			return SSL_TLSEXT_ERR_OK;
		}
	return SSL_TLSEXT_ERR_NOACK;
}

int tls_renew(struct tls *t, struct err *e)
{
	CLEANUP(free_context) SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	if (!context)
		return err_set(e, ERR_IO, "OpenSSL gives no context");
	if (use_files(t, context, e) < 0)
		return -1;
	static const unsigned char name[] = "wheelcache";
	SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
	// An end without close_notify is a normal end: HTTP's lengths show whether a message was cut off.
	SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	SSL_CTX_set_mode(context,
		SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_session_id_context(context, name, sizeof(name) - 1);
	SSL_CTX_set_timeout(context, TLS_TICKET_SECONDS);
	SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
	pthread_mutex_lock(&t->lock);
	SSL_CTX *before = t->context;
	t->context = context;
	t->keys_are_set = false;
	context = before;
	pthread_mutex_unlock(&t->lock);
	return 0;
}

int tls_load(const char *cert_path, const char *key_path, struct tls **out, struct err *e)
{
	*out = NULL;
	if (!cert_path && !key_path)
		return 0;
	if (!cert_path || !key_path)
		return err_set(e, ERR_USAGE, "[server] %s is there without %s; set both", cert_path ? "tls-cert" : "tls-key",
			cert_path ? "tls-key" : "tls-cert");
	struct tls *t = xcalloc(1, sizeof(*t));
	pthread_mutex_init(&t->lock, NULL);
	t->cert_path = xstrdup(cert_path);
	t->key_path = xstrdup(key_path);
	if (tls_renew(t, e) < 0) {
		tls_free(t);
		return -1;
	}
	*out = t;
	return 0;
}

void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_CTX_free(t->context);
	pthread_mutex_destroy(&t->lock);
	explicit_bzero(t->keys, sizeof(t->keys));
	free(t->cert_path);
	free(t->key_path);
	free(t);
}

int tls_url(char **url, struct err *e)
{
	if (strncmp(*url, "http://", 7) != 0)
		return err_set(e, ERR_USAGE, "%s: a socket file has no TLS", *url);
	char *plain = *url;
	*url = xasprintf("https%s", plain + 4);
	free(plain);
	return 0;
}

// --- sessions ---

struct tls_session {
	SSL *ssl;
	int fd;
	bool is_open;      // the handshake is complete
	bool has_failed;   // OpenSSL takes no further call
	bool has_ended;    // the client sends nothing more
	bool is_cut;       // a part of a record was sent
	const char *ahead; // what was read and not used: during a call in the thread's buffer, then in kept
	size_t ahead_len;
	char *kept; // owned; NULL: nothing
	// Of the call under way.
	unsigned reads;
	bool is_drained; // the socket has no more
	bool is_full;    // the socket has no room
	bool has_more;   // another record follows at once
};

// --- the socket of a session, for OpenSSL ---

static ssize_t read_socket(struct tls_session *s, char *out, size_t room)
{
	ssize_t n = syscall(SYS_recvfrom, s->fd, out, room, MSG_DONTWAIT, NULL, NULL);
	s->is_drained = n >= 0 ? (size_t)n < room : errno == EAGAIN;
	s->has_ended |= n == 0;
	s->reads++;
	return n;
}

static void drop_kept(struct tls_session *s)
{
	free(s->kept);
	s->kept = NULL;
}

// OpenSSL asks for the header of a record and then for the rest. After the handshake a read takes more than the header:
// mostly the whole request.
static int bio_read(BIO *bio, char *out, int room)
{
	static _Thread_local char buffer[AHEAD];
	struct tls_session *s = BIO_get_data(bio);
	BIO_clear_retry_flags(bio);
	if (!s->ahead_len) {
		bool is_ahead = s->is_open && room < AHEAD;
		ssize_t n = -1;
		if (!s->is_drained && (s->reads < READS || !s->is_open))
			n = read_socket(s, is_ahead ? buffer : out, is_ahead ? AHEAD : (size_t)room);
		else
			errno = EAGAIN;
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			BIO_set_retry_read(bio);
		if (n <= 0 || !is_ahead)
			return (int)n;
		drop_kept(s);
		s->ahead = buffer;
		s->ahead_len = (size_t)n;
	}
	size_t len = s->ahead_len < (size_t)room ? s->ahead_len : (size_t)room;
	memcpy(out, s->ahead, len);
	s->ahead += len;
	s->ahead_len -= len;
	return (int)len;
}

// After a write of a part the socket has no room.
static int bio_write(BIO *bio, const char *bytes, int len)
{
	struct tls_session *s = BIO_get_data(bio);
	struct iovec part = {.iov_len = (size_t)len};
	memcpy(&part.iov_base, &bytes, sizeof(bytes));
	const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	BIO_clear_retry_flags(bio);
	ssize_t n = -1;
	if (!s->is_full)
		n = syscall(SYS_sendmsg, s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT | (s->has_more ? MSG_MORE : 0));
	else
		errno = EAGAIN;
	s->is_full = n >= 0 ? n < len : errno == EAGAIN;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		BIO_set_retry_write(bio);
	return (int)n;
}

static long bio_control(BIO *bio, int what, long argument UNUSED, void *out UNUSED)
{
	const struct tls_session *s = BIO_get_data(bio);
	return what == BIO_CTRL_FLUSH || (what == BIO_CTRL_EOF && s->has_ended);
}

static BIO_METHOD *socket_method;

static void make_method(void)
{
	socket_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
	if (!socket_method)
		abort(); // out of memory
	BIO_meth_set_read(socket_method, bio_read);
	BIO_meth_set_write(socket_method, bio_write);
	BIO_meth_set_ctrl(socket_method, bio_control);
}

// --- handshakes ---

struct tls_session *tls_accept(struct tls *t, int fd)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_method);
	pthread_mutex_lock(&t->lock);
	SSL *ssl = use_keys(t) ? SSL_new(t->context) : NULL;
	pthread_mutex_unlock(&t->lock);
	BIO *bio = ssl ? BIO_new(socket_method) : NULL;
	if (!bio) {
		SSL_free(ssl);
		return NULL;
	}
	struct tls_session *s = xmalloc(sizeof(*s));
	*s = (struct tls_session){.ssl = ssl, .fd = fd};
	BIO_set_data(bio, s);
	BIO_set_init(bio, 1);
	SSL_set_bio(ssl, bio, bio);
	SSL_set_accept_state(ssl);
	return s;
}

static void begin_call(struct tls_session *s)
{
	s->reads = 0;
	s->is_drained = s->is_full = s->has_more = false;
	ERR_clear_error();
}

// The outcome of a call that failed.
static int outcome_of(struct tls_session *s, int result)
{
	switch (SSL_get_error(s->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		return TLS_WANTS_READ;
	case SSL_ERROR_WANT_WRITE:
		return TLS_WANTS_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		s->has_ended = true;
		return TLS_FAILED;
	default:
		s->has_failed = true;
		return TLS_FAILED;
	}
}

int tls_handshake(struct tls_session *s)
{
	begin_call(s);
	int result = SSL_do_handshake(s->ssl);
	s->is_open = result == 1;
	return s->is_open ? 0 : outcome_of(s, result);
}

void tls_move(struct tls_session *s, int fd)
{
	s->fd = fd;
}

// --- bytes ---

// The thread's buffer of what was read ahead is another session's next.
static void end_call(struct tls_session *s)
{
	if (!s->ahead_len)
		drop_kept(s);
	else if (!s->kept) {
		s->kept = xmalloc(s->ahead_len);
		memcpy(s->kept, s->ahead, s->ahead_len);
		s->ahead = s->kept;
	}
}

// Makes edge-triggered epoll report what the socket is ready for once more, if it has room. The kernel looks again
// where this option is set, to its present value; where there is no room, poll() makes it report the room.
static void ask_for_event(const struct tls_session *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};
	const int present = 0;
	if (poll(&p, 1, 0) == 1)
		setsockopt(s->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &present, sizeof(present));
}

// Whether the call ended because it had read enough of the socket, which has more.
static bool has_unread(struct tls_session *s)
{
	char next;
	return !s->is_drained && s->reads >= READS &&
	       syscall(SYS_recvfrom, s->fd, &next, 1, MSG_PEEK | MSG_DONTWAIT, NULL, NULL) >= 0;
}

static ssize_t fail(int reason)
{
	errno = reason;
	return -1;
}

// A client that makes us send something of the protocol and does not read it is not waited for.
static ssize_t result_of_failure(struct tls_session *s, int outcome, bool is_reading)
{
	if (outcome == TLS_WANTS_READ)
		return fail(has_unread(s) ? EINTR : EAGAIN);
	if (outcome == TLS_WANTS_WRITE && !is_reading)
		return fail(EAGAIN);
	if (is_reading && s->has_ended && !s->has_failed)
		return 0;
	s->has_failed = true;
	return fail(ECONNRESET);
}

ssize_t tls_receive(struct tls_session *s, char *out, size_t room)
{
	size_t done = 0;
	int result = 1;
	if (s->has_failed)
		return fail(ECONNRESET);
	begin_call(s);
	while (result == 1 && done < room) {
		size_t count = 0;
		result = SSL_read_ex(s->ssl, out + done, room - done, &count);
		done += count;
	}
	int outcome = result == 1 ? 0 : outcome_of(s, result);
	end_call(s);
	if (!done)
		return result_of_failure(s, outcome, true);
	if (outcome == TLS_WANTS_READ && has_unread(s))
		ask_for_event(s);
	else if (outcome && outcome != TLS_WANTS_READ)
		shutdown(s->fd, SHUT_RD); // causes an event
	return (ssize_t)done;
}

// Where the bytes of records are gathered, one of each thread. They may be of a mapped file that shrinks: who reads
// them then gets SIGBUS, but for the kernel it is an error. So the kernel copies them, into this memory, which is a
// file too. That makes a page of 392 KB a tenth more expensive than if OpenSSL read it where it is.
struct gathering {
	int file;
	char *bytes;
};

static pthread_key_t gatherings;

static void free_gathering(void *gathering)
{
	struct gathering *g = gathering;
	munmap(g->bytes, GATHERED);
	close(g->file);
	free(g);
}

static void make_key(void)
{
	if (pthread_key_create(&gatherings, free_gathering) != 0)
		abort();
}

// NULL: there is no descriptor or memory.
static struct gathering *get_gathering(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_key);
	struct gathering *g = pthread_getspecific(gatherings);
	if (g)
		return g;
	int file = memfd_create("tls", MFD_CLOEXEC);
	void *bytes = file < 0 || ftruncate(file, GATHERED) < 0
			      ? MAP_FAILED
			      : mmap(NULL, GATHERED, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (bytes == MAP_FAILED) {
		mem_close(&file);
		return NULL;
	}
	g = xmalloc(sizeof(*g));
	*g = (struct gathering){file, bytes};
	pthread_setspecific(gatherings, g);
	return g;
}

// Copies what follows the first skip bytes, as far as there is room. Returns how much; 0: it cannot be read.
static size_t gather(const struct gathering *g, const struct iovec *part, size_t parts, size_t skip)
{
	struct iovec rest[TLS_PARTS];
	size_t count = 0, room = GATHERED;
	for (size_t i = 0; i < parts && room; i++) {
		size_t skipped = skip < part[i].iov_len ? skip : part[i].iov_len, len = part[i].iov_len - skipped;
		skip -= skipped;
		rest[count] = (struct iovec){(char *)part[i].iov_base + skipped, len < room ? len : room};
		room -= rest[count++].iov_len;
	}
	ssize_t n = pwritev(g->file, rest, (int)count, 0);
	return n < 0 ? 0 : (size_t)n;
}

ssize_t tls_send(struct tls_session *s, const struct iovec *part, size_t parts)
{
	const struct gathering *g = get_gathering();
	size_t all = 0, done = 0, first = 0, gathered = 0;
	int result = 1;
	for (size_t i = 0; i < parts; i++)
		all += part[i].iov_len;
	if (s->has_failed || !g || parts > TLS_PARTS)
		return fail(s->has_failed ? ECONNRESET : ENOMEM);
	begin_call(s);
	while (done < all && done < SEND_MOST) {
		if (done == first + gathered) {
			first = done;
			gathered = gather(g, part, parts, done);
		}
		size_t rest = first + gathered - done, count = rest < TLS_RECORD ? rest : TLS_RECORD;
		if (!count)
			break;
		s->has_more = done + count < all && done + count < SEND_MOST;
		result = SSL_write_ex(s->ssl, g->bytes + (done - first), count, &count);
		if (result != 1)
			break;
		done += count;
	}
	int outcome = result == 1 ? 0 : outcome_of(s, result);
	end_call(s);
	s->is_cut = outcome == TLS_WANTS_WRITE;
	if (!done && outcome)
		return result_of_failure(s, outcome, false);
	if (!done && all)
		return fail(EFAULT);
	if (done < all && outcome != TLS_WANTS_WRITE)
		ask_for_event(s);
	return (ssize_t)done;
}

void tls_end(struct tls_session *s)
{
	if (s->has_failed || s->is_cut)
		return;
	begin_call(s);
	(void)SSL_shutdown(s->ssl);
	end_call(s);
}

void tls_session_free(struct tls_session *s)
{
	if (!s)
		return;
	SSL_free(s->ssl);
	free(s->kept);
	free(s);
}
