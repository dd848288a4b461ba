// SPDX-License-Identifier: Apache-2.0
#include "lib/format/multi-digest.h"

#include <stdlib.h>

#include "lib/base/mem.h"

struct multi_digest {
	struct digest *sha256, *md5; // md5 may be NULL
};

struct multi_digest *multi_digest_new(void)
{
	struct multi_digest *h = xmalloc(sizeof(*h));
	h->sha256 = digest_new();
	h->md5 = digest_new_md5();
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
