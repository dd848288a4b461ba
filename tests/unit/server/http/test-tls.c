// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/os/clock.h"

enum {
	UPDATES = 1000,
	MOST_BYTES = 4096,   // that one call reads of records without data, which have about 30
	RECORD_EXTRA = 22,   // bytes of a record beside its data
	HEAD = 300,
	BODY = 40000,
	LARGE = 3 << 20,
	HUGE_BODY = 32 << 20, // more than sockets hold
	WAIT_MS = 20000,
};

static char folder[] = "/tmp/wheelcache-tls-XXXXXX";

static FILE *create(char **path, const char *name)
{
	*path = xasprintf("%s/%s", folder, name);
	FILE *out = fopen(*path, "w");
	assert_non_null(out);
	return out;
}

static X509 *certify(EVP_PKEY *key)
{
	X509 *cert = X509_new();
	X509_gmtime_adj(X509_getm_notBefore(cert), 0);
	X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
	assert_int_equal(X509_set_pubkey(cert, key), 1);
	assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
	return cert;
}

static struct tls *make_tls(void)
{
	struct tls *tls = NULL;
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *cert_path = NULL;
	CLEANUP(mem_free) char *key_path = NULL;
	FILE *cert_file = create(&cert_path, "cert.pem"), *key_file = create(&key_path, "key.pem");
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = certify(key);
	assert_int_equal(PEM_write_X509(cert_file, cert), 1);
	assert_int_equal(PEM_write_PrivateKey(key_file, key, NULL, NULL, 0, NULL, NULL), 1);
	X509_free(cert);
	EVP_PKEY_free(key);
	fclose(cert_file);
	fclose(key_file);
	if (tls_load(cert_path, key_path, &tls, &e) < 0)
		fail_msg("%s", e.msg);
	unlink(cert_path);
	unlink(key_path);
	return tls;
}

// A client and a server session with a complete handshake.
struct pair {
	struct tls *tls;
	int fd[2]; // server, client
	struct tls_session *session;
	SSL_CTX *context;
	SSL *client;
};

// By TCP, whose events the sessions rely on.
static void connect_sockets(int fd[2])
{
	struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(here);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&here, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&here, &len), 0);
	assert_int_equal(connect(fd[1], (struct sockaddr *)&here, len), 0);
	fd[0] = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	assert_true(fd[0] >= 0);
	assert_int_equal(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
	close(listener);
}

static void connect_pair(struct pair *p)
{
	p->tls = make_tls();
	connect_sockets(p->fd);
	p->session = tls_accept(p->tls, p->fd[0]);
	p->context = SSL_CTX_new(TLS_client_method());
	p->client = SSL_new(p->context);
	assert_int_equal(SSL_set_fd(p->client, p->fd[1]), 1);
	SSL_set_connect_state(p->client);
	int server = TLS_WANTS_READ;
	for (int i = 0; i < 10 && (SSL_do_handshake(p->client) != 1 || server != 0); i++)
		if (server != 0)
			server = tls_handshake(p->session);
	assert_int_equal(server, 0);
	assert_true(SSL_is_init_finished(p->client));
}

static void pair_release(struct pair *p)
{
	SSL_free(p->client);
	SSL_CTX_free(p->context);
	tls_session_free(p->session);
	tls_free(p->tls);
	close(p->fd[0]);
	close(p->fd[1]);
}

static int arrived(const struct pair *p)
{
	int bytes = 0;
	assert_int_equal(ioctl(p->fd[0], FIONREAD, &bytes), 0);
	return bytes;
}

static void await(int fd, short events)
{
	struct pollfd wanted = {.fd = fd, .events = events};
	assert_int_equal(poll(&wanted, 1, WAIT_MS), 1);
}

// --- what the client sends ---

// A client that sends many records without data does not keep the thread: a call returns in between, and says that it
// wants to be called again.
static void a_call_reads_few_records(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	char out[TLS_RECORD];
	const char *bytes;
	connect_pair(&p);
	BIO *wire = BIO_new(BIO_s_mem()); // so that all arrive at once
	SSL_set0_wbio(p.client, wire);
	for (int i = 0; i < UPDATES; i++) {
		assert_int_equal(SSL_key_update(p.client, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		assert_int_equal(SSL_do_handshake(p.client), 1);
	}
	assert_int_equal(SSL_write(p.client, "x", 1), 1);
	long len = BIO_get_mem_data(wire, &bytes);
	assert_int_equal(send(p.fd[1], bytes, (size_t)len, 0), len);
	while (arrived(&p) < len)
		;
	int calls = 0, before = arrived(&p);
	ssize_t got;
	for (; (got = tls_receive(p.session, out, sizeof(out))) < 0 && errno == EINTR; calls++, before = arrived(&p)) {
		assert_true(arrived(&p) < before);
		assert_true(before - arrived(&p) <= MOST_BYTES);
	}
	assert_int_equal(got, 1);
	assert_int_equal(out[0], 'x');
	assert_true(calls > 4);
	assert_int_equal(tls_receive(p.session, out, sizeof(out)), -1);
	assert_int_equal(errno, EAGAIN);
}

// What does not fit stays, and the next call has it without an event. A record that is not complete is waited for.
static void records_are_read_in_pieces(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	static char sent[BODY], got[BODY];
	size_t len = 0;
	ssize_t n;
	connect_pair(&p);
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i * 7 + i / 256);
	for (size_t at = 0, size = 1; at < sizeof(sent); at += size, size = size % 777 + 13)
		assert_true(SSL_write(p.client, sent + at, (int)(size < sizeof(sent) - at ? size : sizeof(sent) - at)) > 0);
	await(p.fd[0], POLLIN);
	for (; len < sizeof(got); len += n > 0 ? (size_t)n : 0) {
		n = tls_receive(p.session, got + len, len % 2 ? 1 : 500);
		assert_true(n > 0 || errno == EINTR || errno == EAGAIN);
		if (n < 0 && errno == EAGAIN)
			await(p.fd[0], POLLIN); // never where the session has kept the bytes
	}
	assert_memory_equal(got, sent, sizeof(got));
	// Other sessions of the thread read meanwhile.
	CLEANUP(pair_release) struct pair other;
	connect_pair(&other);
	assert_int_equal(SSL_write(other.client, "other", 5), 5);
	assert_int_equal(SSL_write(p.client, sent, 100), 100);
	assert_int_equal(SSL_write(p.client, sent + 100, 1), 1);
	await(p.fd[0], POLLIN);
	await(other.fd[0], POLLIN);
	assert_int_equal(tls_receive(p.session, got, 10), 10);
	assert_int_equal(tls_receive(other.session, got, 100), 5);
	assert_memory_equal(got, "other", 5);
	assert_int_equal(tls_receive(p.session, got, 1000), 91);
	assert_memory_equal(got, sent + 10, 91);
}

// close_notify that comes with a request does not hide it, and is an end of its own, with an event.
static void an_end_follows_the_last_bytes(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	CLEANUP(mem_close) int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
	char out[100];
	connect_pair(&p);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, p.fd[0], &event), 0);
	assert_int_equal(SSL_write(p.client, "last", 4), 4);
	assert_int_equal(SSL_shutdown(p.client), 0);
	await(p.fd[0], POLLIN);
	while (arrived(&p) < 4 + 2 + 2 * RECORD_EXTRA)
		;
	while (epoll_wait(epoll, &event, 1, 0) > 0)
		;
	assert_int_equal(tls_receive(p.session, out, sizeof(out)), 4);
	assert_int_equal(epoll_wait(epoll, &event, 1, WAIT_MS), 1);
	assert_true(event.events & EPOLLIN);
	assert_int_equal(tls_receive(p.session, out, sizeof(out)), 0);
	assert_int_equal(tls_receive(p.session, out, sizeof(out)), 0);
	const struct iovec answer = {out, 4};
	assert_int_equal(tls_send(p.session, &answer, 1), 4);
	await(p.fd[1], POLLIN);
	assert_int_equal(SSL_read(p.client, out, sizeof(out)), 4);
}

// What is no record of this session ends the connection; nothing more is sent.
static void garbage_ends_the_connection(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	char out[100];
	connect_pair(&p);
	assert_int_equal(send(p.fd[1], "\x17\x03\x03\x00\x20 no record of this session at all", 37, 0), 37);
	await(p.fd[0], POLLIN);
	assert_int_equal(tls_receive(p.session, out, sizeof(out)), -1);
	assert_int_equal(errno, ECONNRESET);
	const struct iovec answer = {out, 4};
	assert_int_equal(tls_send(p.session, &answer, 1), -1);
	assert_int_equal(errno, ECONNRESET);
}

// Half of a record is neither bytes nor an end.
static void half_a_record_is_waited_for(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	char out[100];
	connect_pair(&p);
	BIO *wire = BIO_new(BIO_s_mem());
	SSL_set0_wbio(p.client, wire);
	assert_int_equal(SSL_write(p.client, "abc", 3), 3);
	const char *bytes;
	long len = BIO_get_mem_data(wire, &bytes);
	for (long i = 0; i < len; i++) {
		assert_int_equal(tls_receive(p.session, out, sizeof(out)), -1);
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(send(p.fd[1], bytes + i, 1, 0), 1);
		await(p.fd[0], POLLIN);
	}
	assert_int_equal(tls_receive(p.session, out, sizeof(out)), 3);
}

// --- what is sent ---

static char *make_body(size_t len)
{
	char *body = xmalloc(len);
	for (size_t i = 0; i < len; i++)
		body[i] = (char)(i * 13 + i / 512);
	return body;
}

// How many bytes the client's socket has, when so many have come.
static void await_bytes(const struct pair *p, int wanted)
{
	int bytes = 0;
	for (int64_t begin = clock_ms(); bytes < wanted && clock_ms() < begin + WAIT_MS;)
		assert_int_equal(ioctl(p->fd[1], FIONREAD, &bytes), 0);
	assert_int_equal(bytes, wanted);
}

static void drain_client(const struct pair *p, const char *head, size_t head_len, const char *body, size_t len)
{
	CLEANUP(mem_free) char *got = xmalloc(head_len + len);
	for (size_t at = 0; at < head_len + len;) {
		int n = SSL_read(p->client, got + at, (int)(head_len + len - at));
		if (n <= 0)
			await(p->fd[1], POLLIN);
		else
			at += (size_t)n;
	}
	assert_memory_equal(got, head, head_len);
	assert_memory_equal(got + head_len, body, len);
}

// A header and its body share records.
static void few_records_are_sent(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	CLEANUP(mem_free) char *body = make_body(BODY);
	char head[HEAD];
	memset(head, 'h', sizeof(head));
	connect_pair(&p);
	const struct iovec first = {head, 1};
	assert_int_equal(tls_send(p.session, &first, 1), 1);
	drain_client(&p, head, 1, "", 0); // and the tickets
	const struct iovec part[] = {{head, sizeof(head)}, {body, BODY}};
	assert_int_equal(tls_send(p.session, part, 2), HEAD + BODY);
	await_bytes(&p, HEAD + BODY + RECORD_EXTRA * ((HEAD + BODY + TLS_RECORD - 1) / TLS_RECORD));
	drain_client(&p, head, sizeof(head), body, BODY);
}

// A body of a file that shrinks is an error, as where the kernel sends it. What is there is sent.
static void a_file_that_shrinks_is_an_error(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	CLEANUP(mem_free) char *body = make_body(BODY);
	CLEANUP(mem_close) int file = memfd_create("body", MFD_CLOEXEC);
	char head[HEAD] = "";
	connect_pair(&p);
	assert_int_equal(write(file, body, BODY), BODY);
	char *mapped = mmap(NULL, BODY, PROT_READ, MAP_SHARED, file, 0);
	const struct iovec part[] = {{head, sizeof(head)}, {mapped, BODY}};
	assert_int_equal(tls_send(p.session, part, 2), HEAD + BODY);
	drain_client(&p, head, sizeof(head), body, BODY);
	const struct iovec rest = {mapped + 100, BODY - 100};
	assert_int_equal(tls_send(p.session, &rest, 1), BODY - 100);
	drain_client(&p, "", 0, body + 100, BODY - 100);

	enum { LEFT = 5 << 12 }; // whole pages: the rest of the last one is zeros
	assert_int_equal(ftruncate(file, LEFT), 0);
	assert_int_equal(tls_send(p.session, part, 2), HEAD + LEFT);
	drain_client(&p, head, sizeof(head), body, LEFT);
	const struct iovec gone = {mapped + LEFT, BODY - LEFT};
	assert_int_equal(tls_send(p.session, &gone, 1), -1);
	assert_int_equal(errno, EFAULT);
	munmap(mapped, BODY);
}

// A call sends a part only, so that others are served. An event follows each time, whether the socket is full or not.
static void an_event_follows_a_part(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	CLEANUP(mem_free) char *body = make_body(LARGE);
	CLEANUP(mem_free) char *got = xmalloc(LARGE);
	CLEANUP(mem_close) int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET};
	size_t sent = 0, read = 0;
	int calls = 0;
	connect_pair(&p);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, p.fd[0], &event), 0);
	while (sent < LARGE) {
		assert_int_equal(epoll_wait(epoll, &event, 1, WAIT_MS), 1);
		const struct iovec part = {body + sent, LARGE - sent};
		ssize_t n = tls_send(p.session, &part, 1);
		assert_true(n < LARGE / 2);
		assert_true(n > 0 || errno == EAGAIN);
		sent += n > 0 ? (size_t)n : 0;
		for (int m; calls++ % 2 && (m = SSL_read(p.client, got + read, (int)(LARGE - read))) > 0;)
			read += (size_t)m;
		if (n < 0)
			for (int m; (m = SSL_read(p.client, got + read, (int)(LARGE - read))) > 0;)
				read += (size_t)m;
	}
	drain_client(&p, "", 0, body + read, LARGE - read);
	assert_memory_equal(got, body, read);
}

static void read_client(const struct pair *p, char *got, size_t *len)
{
	for (int n; *len < HUGE_BODY && (n = SSL_read(p->client, got + *len, (int)(HUGE_BODY - *len))) > 0;)
		*len += (size_t)n;
}

// The client wants an update of the keys while a record is half sent: it comes after the record.
static void keys_are_updated_while_an_answer_is_sent(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	CLEANUP(mem_free) char *body = make_body(HUGE_BODY);
	CLEANUP(mem_free) char *got = xmalloc(HUGE_BODY);
	char out[100];
	size_t sent = 0, read = 0;
	bool is_asked = false;
	connect_pair(&p);
	while (sent < HUGE_BODY) {
		const struct iovec part = {body + sent, HUGE_BODY - sent};
		ssize_t n = tls_send(p.session, &part, 1);
		assert_true(n > 0 || errno == EAGAIN);
		sent += n > 0 ? (size_t)n : 0;
		if (n > 0)
			continue;
		if (!is_asked) {
			assert_int_equal(SSL_key_update(p.client, SSL_KEY_UPDATE_REQUESTED), 1);
			assert_int_equal(SSL_write(p.client, "next", 4), 4);
			ssize_t received = -1;
			while (received < 0) { // the update may come first, and by itself
				await(p.fd[0], POLLIN);
				received = tls_receive(p.session, out, sizeof(out));
				assert_true(received == 4 || (received < 0 && errno == EAGAIN));
			}
			is_asked = true;
		}
		read_client(&p, got, &read);
	}
	assert_true(is_asked);
	while (read < HUGE_BODY) {
		await(p.fd[1], POLLIN);
		read_client(&p, got, &read);
	}
	assert_memory_equal(got, body, HUGE_BODY);
}

// In the middle of a record nothing else can be sent.
static void no_end_comes_into_a_record(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	CLEANUP(mem_free) char *body = make_body(HUGE_BODY);
	CLEANUP(mem_free) char *got = xmalloc(HUGE_BODY);
	size_t sent = 0, read = 0;
	connect_pair(&p);
	for (ssize_t n = 0; n >= 0; sent += n > 0 ? (size_t)n : 0) {
		const struct iovec part = {body + sent, HUGE_BODY - sent};
		n = tls_send(p.session, &part, 1);
	}
	read_client(&p, got, &read);
	assert_true(read > 0);
	tls_end(p.session);
	shutdown(p.fd[0], SHUT_WR);
	int why = SSL_ERROR_WANT_READ;
	while (why == SSL_ERROR_WANT_READ) {
		await(p.fd[1], POLLIN);
		read_client(&p, got, &read);
		why = SSL_get_error(p.client, SSL_read(p.client, got, 1));
	}
	assert_int_equal(why, SSL_ERROR_SSL); // "unexpected eof"
	assert_int_equal(read, sent);
	assert_int_equal(SSL_get_shutdown(p.client) & SSL_RECEIVED_SHUTDOWN, 0);
	assert_memory_equal(got, body, sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_reads_few_records),
		cmocka_unit_test(records_are_read_in_pieces),
		cmocka_unit_test(an_end_follows_the_last_bytes),
		cmocka_unit_test(garbage_ends_the_connection),
		cmocka_unit_test(half_a_record_is_waited_for),
		cmocka_unit_test(few_records_are_sent),
		cmocka_unit_test(a_file_that_shrinks_is_an_error),
		cmocka_unit_test(an_event_follows_a_part),
		cmocka_unit_test(keys_are_updated_while_an_answer_is_sent),
		cmocka_unit_test(no_end_comes_into_a_record),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests_name("server/http/tls", tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
