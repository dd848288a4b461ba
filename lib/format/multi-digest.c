// SPDX-License-Identifier: Apache-2.0
#include "lib/format/multi-digest.h"

#include <sodium.h>
#include <stdlib.h>

#include "lib/base/mem.h"

enum { BLAKE2B_256_SIZE = 32, ALIGNMENT = 64 }; // crypto_generichash_state wants that

struct multi_digest {
	struct digest *sha256, *md5; // md5 may be NULL
	crypto_generichash_state *blake2b;
};

struct multi_digest *multi_digest_new(void)
{
	struct multi_digest *h = xmalloc(sizeof(*h));
	h->sha256 = digest_new();
	h->md5 = digest_new_md5();
	h->blake2b = aligned_alloc(ALIGNMENT, crypto_generichash_statebytes());
	if (!h->blake2b || sodium_init() < 0 || crypto_generichash_init(h->blake2b, NULL, 0, BLAKE2B_256_SIZE) < 0)
		abort(); // out of memory
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
	free(h->blake2b);
	free(h);
}

void multi_digest_add(struct multi_digest *h, struct str bytes)
{
	digest_add(h->sha256, bytes.ptr, bytes.len);
	if (h->md5)
		digest_add(h->md5, bytes.ptr, bytes.len);
	crypto_generichash_update(h->blake2b, (const unsigned char *)bytes.ptr, bytes.len);
}

void multi_digest_end(struct multi_digest *h, struct digest_value out[DIGEST_COUNT])
{
	out[DIGEST_SHA256].size = SHA256_SIZE;
	digest_end(h->sha256, out[DIGEST_SHA256].bytes);
	out[DIGEST_BLAKE2B_256].size = BLAKE2B_256_SIZE;
	crypto_generichash_final(h->blake2b, out[DIGEST_BLAKE2B_256].bytes, BLAKE2B_256_SIZE);
	out[DIGEST_MD5].size = h->md5 ? MD5_SIZE : 0;
	if (h->md5)
		digest_end(h->md5, out[DIGEST_MD5].bytes);
}
