// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

enum {
	TICKET_KEYS = 80, // bytes that OpenSSL needs: a name, a MAC key and an encryption key
	READS = 16,       // limit of socket reads in one tls_read(): a record takes two, its header and the rest
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
	unsigned reads; // of the socket in this tls_read()
};

// SSL_read() loops over records without application data (key updates, a refused renegotiation), which a client can
// send endlessly. After READS reads this callback pretends that the socket is empty.
static long limit_reads(BIO *socket, int what, const char *out UNUSED, size_t room UNUSED, int argi UNUSED,
	long argl UNUSED, int result, size_t *count UNUSED)
{
	struct tls_session *s = (struct tls_session *)(void *)BIO_get_callback_arg(socket);
	if (what != BIO_CB_READ || s->reads++ < READS)
		return result;
	BIO_clear_retry_flags(socket);
	BIO_set_retry_read(socket);
	return -1;
}

struct tls_session *tls_accept(struct tls *t, int fd)
{
	pthread_mutex_lock(&t->lock);
	SSL *ssl = use_keys(t) ? SSL_new(t->context) : NULL;
	pthread_mutex_unlock(&t->lock);
	if (!ssl || SSL_set_fd(ssl, fd) != 1) {
		SSL_free(ssl);
		return NULL;
	}
	SSL_set_accept_state(ssl);
	struct tls_session *s = xmalloc(sizeof(*s));
	*s = (struct tls_session){.ssl = ssl};
	return s;
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
		return TLS_ENDED;
	default:
		return TLS_FAILED;
	}
}

int tls_handshake(struct tls_session *s)
{
	ERR_clear_error();
	int result = SSL_do_handshake(s->ssl);
	if (result != 1)
		return outcome_of(s, result);
	BIO_set_callback_arg(SSL_get_rbio(s->ssl), (char *)s);
	BIO_set_callback_ex(SSL_get_rbio(s->ssl), limit_reads);
	return 0;
}

ssize_t tls_read(struct tls_session *s, char *out, size_t room)
{
	size_t count;
	s->reads = 0;
	ERR_clear_error();
	int result = SSL_read_ex(s->ssl, out, room, &count);
	return result == 1 ? (ssize_t)count : outcome_of(s, result);
}

ssize_t tls_write(struct tls_session *s, const char *bytes, size_t len)
{
	size_t count;
	ERR_clear_error();
	int result = SSL_write_ex(s->ssl, bytes, len, &count);
	return result == 1 ? (ssize_t)count : outcome_of(s, result);
}

void tls_end(struct tls_session *s)
{
	ERR_clear_error();
	(void)SSL_shutdown(s->ssl);
}

void tls_session_free(struct tls_session *s)
{
	if (!s)
		return;
	SSL_free(s->ssl);
	free(s);
}
