// SPDX-License-Identifier: Apache-2.0
#include "server/tls.h"

#include <stdlib.h>
#include <string.h>

#include <gnutls/gnutls.h>

#include "lib/base/buf.h"
#include "lib/base/fs.h"
#include "lib/base/limits.h"

static int read_pem(const char *path, char **out, struct err *e)
{
	struct buf text;
	buf_init(&text, LIMIT_PEM);
	int result = fs_read_file(path, &text, e);
	*out = buf_steal(&text);
	return result;
}

static void free_credentials(gnutls_certificate_credentials_t *c)
{
	if (*c)
		gnutls_certificate_free_credentials(*c);
}

static int check_pair(const struct tls *t, const char *cert_path, const char *key_path, struct err *e)
{
	CLEANUP(free_credentials) gnutls_certificate_credentials_t credentials = NULL;
	union {
		char *ours;
		unsigned char *theirs;
	} cert = {.ours = t->cert}, key = {.ours = t->key};
	const gnutls_datum_t certificates = {cert.theirs, (unsigned)strlen(t->cert)};
	const gnutls_datum_t private_key = {key.theirs, (unsigned)strlen(t->key)};
	int code = gnutls_certificate_allocate_credentials(&credentials);
	if (code == GNUTLS_E_SUCCESS)
		code = gnutls_certificate_set_x509_key_mem(
			credentials, &certificates, &private_key, GNUTLS_X509_FMT_PEM);
	if (code == GNUTLS_E_SUCCESS)
		return 0;
	return err_set(e, ERR_USAGE, "%s and %s are no certificate and its key in PEM: %s", cert_path, key_path,
		gnutls_strerror(code));
}

int tls_load(const char *cert_path, const char *key_path, struct tls *out, struct err *e)
{
	*out = (struct tls){0};
	if (!cert_path && !key_path)
		return 0;
	if (!cert_path || !key_path)
		return err_set(e, ERR_USAGE, "[server] %s is there without %s", cert_path ? "tls-cert" : "tls-key",
			cert_path ? "tls-key" : "tls-cert");
	if (read_pem(cert_path, &out->cert, e) == 0 && read_pem(key_path, &out->key, e) == 0 &&
		check_pair(out, cert_path, key_path, e) == 0)
		return 0;
	tls_release(out);
	return -1;
}

void tls_release(struct tls *t)
{
	if (t->key)
		explicit_bzero(t->key, strlen(t->key));
	free(t->cert);
	free(t->key);
	*t = (struct tls){0};
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
