// SPDX-License-Identifier: Apache-2.0
#include "lib/format/digest.h"

#include <pthread.h>
#include <stdlib.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/base/mem.h"

struct digest {
	EVP_MD_CTX *ctx;
	const EVP_MD *kind;
};

// Looked up once: an implicit look-up for each file takes longer than hashing a small wheel.
static const EVP_MD *sha256, *md5;

static void fetch_kinds(void)
{
	sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	md5 = EVP_MD_fetch(NULL, "MD5", NULL);
}

static void abort_unless(int ok)
{
	if (ok != 1)
		abort(); // libcrypto without SHA-256, or out of memory
}

static struct digest *new_digest(const EVP_MD *const *kind)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fetch_kinds);
	if (!*kind)
		return NULL;
	struct digest *d = xmalloc(sizeof(*d));
	d->kind = *kind;
	d->ctx = EVP_MD_CTX_new();
	abort_unless(d->ctx != NULL);
	return d;
}

struct digest *digest_new(void)
{
	struct digest *d = new_digest(&sha256);
	abort_unless(d != NULL);
	return d;
}

// Of MD5, which old clients send besides better digests. NULL if libcrypto has no MD5 (FIPS mode).
static struct digest *new_md5(void)
{
	return new_digest(&md5);
}

void digest_free(struct digest *d)
{
	if (!d)
		return;
	EVP_MD_CTX_free(d->ctx);
	free(d);
}

void digest_cleanup(struct digest **d)
{
	digest_free(*d);
	*d = NULL;
}

void digest_begin(struct digest *d)
{
	abort_unless(EVP_DigestInit_ex2(d->ctx, d->kind, NULL));
}

void digest_add(struct digest *d, const void *bytes, size_t len)
{
	abort_unless(EVP_DigestUpdate(d->ctx, bytes, len));
}

void digest_end(struct digest *d, uint8_t *out)
{
	abort_unless(EVP_DigestFinal_ex(d->ctx, out, NULL));
}

void digest_sha256(struct str bytes, uint8_t out[SHA256_SIZE])
{
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	digest_begin(d);
	digest_add(d, bytes.ptr, bytes.len);
	digest_end(d, out);
}

void digest_hmac(struct str key, struct str bytes, uint8_t out[SHA256_SIZE])
{
	if (!HMAC(EVP_sha256(), key.ptr, (int)key.len, (const uint8_t *)bytes.ptr, bytes.len, out, NULL))
		abort(); // out of memory
}

bool digest_equal(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE])
{
	return CRYPTO_memcmp(a, b, SHA256_SIZE) == 0;
}

void hex_encode(const uint8_t *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
}

// The value of each digit plus 1; 0: no digit.
static const uint8_t hex_value[UINT8_MAX + 1] = {
	['0'] = 1,
	['1'] = 2,
	['2'] = 3,
	['3'] = 4,
	['4'] = 5,
	['5'] = 6,
	['6'] = 7,
	['7'] = 8,
	['8'] = 9,
	['9'] = 10,
	['a'] = 11,
	['b'] = 12,
	['c'] = 13,
	['d'] = 14,
	['e'] = 15,
	['f'] = 16,
	['A'] = 11,
	['B'] = 12,
	['C'] = 13,
	['D'] = 14,
	['E'] = 15,
	['F'] = 16,
};

bool hex_decode(struct str hex, uint8_t *out, size_t len)
{
	if (hex.len != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned high = hex_value[(uint8_t)hex.ptr[2 * i]], low = hex_value[(uint8_t)hex.ptr[2 * i + 1]];
		if (!high || !low)
			return false;
		out[i] = (uint8_t)((high - 1) << 4 | (low - 1));
	}
	return true;
}

// --- several digests at once ---

struct multi_digest {
	struct digest *sha256, *md5; // md5 may be NULL
};

struct multi_digest *multi_digest_new(void)
{
	struct multi_digest *h = xmalloc(sizeof(*h));
	h->sha256 = digest_new();
	h->md5 = new_md5();
	digest_begin(h->sha256);
	if (h->md5)
		digest_begin(h->md5);
	return h;
}

void multi_digest_free(struct multi_digest *h)
{
	if (!h)
		return;
	digest_free(h->sha256);
	digest_free(h->md5);
	free(h);
}

void multi_digest_add(struct multi_digest *h, struct str bytes)
{
	digest_add(h->sha256, bytes.ptr, bytes.len);
	if (h->md5)
		digest_add(h->md5, bytes.ptr, bytes.len);
}

void multi_digest_end(struct multi_digest *h, struct digest_value out[DIGEST_COUNT])
{
	out[DIGEST_SHA256].size = SHA256_SIZE;
	digest_end(h->sha256, out[DIGEST_SHA256].bytes);
	out[DIGEST_MD5].size = h->md5 ? MD5_SIZE : 0;
	if (h->md5)
		digest_end(h->md5, out[DIGEST_MD5].bytes);
}
