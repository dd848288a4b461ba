// SPDX-License-Identifier: Apache-2.0
#include "server/http/tls.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cmocka.h>

#include "lib/base/mem.h"

enum { UPDATES = 100, MOST_BYTES = 600 }; // of one call; a record has about 30

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

static void connect_pair(struct pair *p)
{
	p->tls = make_tls();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, p->fd), 0);
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

// A client that sends many records without data does not keep the thread: tls_read() returns in between.
static void a_call_reads_few_records(void **state UNUSED)
{
	CLEANUP(pair_release) struct pair p;
	static char out[TLS_RECORD];
	connect_pair(&p);
	for (int i = 0; i < UPDATES; i++) {
		assert_int_equal(SSL_key_update(p.client, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		assert_int_equal(SSL_do_handshake(p.client), 1);
	}
	assert_int_equal(SSL_write(p.client, "x", 1), 1);
	int calls = 0, before = arrived(&p);
	ssize_t got;
	for (; (got = tls_read(p.session, out, sizeof(out))) == TLS_WANTS_READ && arrived(&p);
		calls++, before = arrived(&p)) {
		assert_true(arrived(&p) < before);
		assert_true(before - arrived(&p) < MOST_BYTES);
	}
	assert_int_equal(got, 1);
	assert_int_equal(out[0], 'x');
	assert_true(calls > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_reads_few_records),
	};
	if (!mkdtemp(folder))
		return 1;
	int failed = cmocka_run_group_tests_name("server/http/tls", tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
