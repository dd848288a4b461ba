// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/member-hashes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/domain/archive/zipread.h"

static int hash_piece(void *ctx, struct str piece, struct err *e)
{
	(void)e;
	digest_add(ctx, piece.ptr, piece.len);
	return 0;
}

int member_hashes_read(const struct byte_source *s, const struct zipdirectory *zip, struct member_hashes *out,
	struct err *e)
{
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	out->sha256 = xcalloc(zip->count, sizeof(*out->sha256));
	for (size_t i = 0; i < zip->count; i++) {
		if (zip->members[i].is_folder)
			continue;
		digest_begin(digest);
		if (zipread_member(s, &zip->members[i], hash_piece, digest, e) < 0) {
			member_hashes_release(out);
			return -1;
		}
		digest_end(digest, out->sha256[i]);
	}
	return 0;
}

void member_hashes_release(struct member_hashes *c)
{
	free(c->sha256);
	c->sha256 = NULL;
}

// The order of the bytes is the order of their hexadecimal digits.
static int compare_member_lines(const void *a, const void *b)
{
	const struct member_line *left = a, *right = b;
	int order = memcmp(left->sha256, right->sha256, SHA256_SIZE);
	order = order ? order : strcmp(left->mark, right->mark);
	return order ? order : str_cmp(left->name, right->name);
}

void member_lines_digest(struct member_line *line, size_t count, uint8_t out[SHA256_SIZE])
{
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	if (count)
		qsort(line, count, sizeof(*line), compare_member_lines);
	digest_begin(digest);
	for (size_t i = 0; i < count; i++) {
		char hex[SHA256_HEX];
		hex_encode(line[i].sha256, SHA256_SIZE, hex);
		digest_add(digest, hex, sizeof(hex));
		digest_add(digest, line[i].mark, strlen(line[i].mark));
		digest_add(digest, " ", 1);
		digest_add(digest, line[i].name.ptr, line[i].name.len);
		digest_add(digest, "\n", 1);
	}
	digest_end(digest, out);
}

void member_hashes_digest(const struct member_hashes *c, const struct zipdirectory *zip, uint8_t out[SHA256_SIZE])
{
	CLEANUP(mem_free) struct member_line *line = xcalloc(zip->count, sizeof(*line));
	size_t count = 0;
	for (size_t i = 0; i < zip->count; i++)
		if (!zip->members[i].is_folder)
			line[count++] = (struct member_line){c->sha256[i], "", zip->members[i].name};
	member_lines_digest(line, count, out);
}
