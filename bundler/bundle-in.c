// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle-in.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/tarstream.h"
#include "lib/format/compress.h"
#include "lib/format/signature.h"
#include "lib/os/byte-source.h"
#include "lib/os/fs.h"

enum { PIECE = 64 << 10 };

struct bundle_in {
	char *path;
	int fd;
	uint64_t size;   // without the trailer
	uint64_t offset; // of a reading
	struct digest *whole, *member;
	struct decompress_stream *zstd;
	uint8_t sha256[SHA256_SIZE], signature[SIGNATURE_SIZE]; // of the trailer
	bool has_manifest;                                      // a reading has confirmed it
	uint8_t manifest_sha256[SHA256_SIZE];
	struct buf manifest;
	uint64_t bytes; // of files
	char block[PIECE];
};

static int open_regular(struct bundle_in *in, struct err *e)
{
	struct stat st;
	in->fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		return err_errno(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot open it");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "it is no regular file, which is read twice");
	in->size = (uint64_t)st.st_size;
	return 0;
}

static int read_trailer(struct bundle_in *in, struct err *e)
{
	char trailer[BUNDLE_TRAILER];
	const struct byte_source file = byte_source_file(in->fd, in->size);
	if (in->size < BUNDLE_TRAILER)
		return err_set(e, ERR_INVALID, "it is no bundle: too short");
	in->size -= BUNDLE_TRAILER;
	if (byte_source_read(&file, in->size, trailer, sizeof(trailer), e) < 0)
		return -1;
	if (memcmp(trailer, bundle_magic, BUNDLE_MAGIC) != 0)
		return err_set(e, ERR_INVALID, "it is no bundle, or was cut: its last %d bytes are no trailer",
			BUNDLE_TRAILER);
	memcpy(in->sha256, trailer + BUNDLE_MAGIC, SHA256_SIZE);
	memcpy(in->signature, trailer + BUNDLE_MAGIC + SHA256_SIZE, SIGNATURE_SIZE);
	return 0;
}

static struct bundle_in *new_reader(const char *path)
{
	struct bundle_in *in = xcalloc(1, sizeof(*in));
	in->path = xstrdup(path);
	in->fd = -1;
	in->whole = digest_new();
	in->member = digest_new();
	buf_init(&in->manifest, LIMIT_BUNDLE_MANIFEST);
	return in;
}

struct bundle_in *bundle_in_new(const char *path, struct err *e)
{
	CLEANUP(bundle_in_cleanup) struct bundle_in *in = new_reader(path);
	if (open_regular(in, e) == 0 && read_trailer(in, e) == 0)
		return STEAL_PTR(in);
	err_prefix(e, "%s: ", path);
	return NULL;
}

void bundle_in_cleanup(struct bundle_in **open)
{
	struct bundle_in *in = STEAL_PTR(*open);
	if (!in)
		return;
	mem_close(&in->fd);
	decompress_stream_free(in->zstd);
	digest_free(in->whole);
	digest_free(in->member);
	buf_release(&in->manifest);
	free(in->path);
	free(in);
}

bool bundle_in_is_signed(const struct bundle_in *in)
{
	static const uint8_t none[SIGNATURE_SIZE];
	return memcmp(in->signature, none, SIGNATURE_SIZE) != 0;
}

int bundle_in_check_key(const struct bundle_in *in, struct str key, struct err *e)
{
	return signature_check(key, in->sha256, in->signature, e);
}

uint64_t bundle_in_bytes(const struct bundle_in *in)
{
	return in->bytes;
}

// --- members ---

static int read_packed(void *ctx, void *out, size_t room, size_t *got, struct err *e)
{
	struct bundle_in *in = ctx;
	const struct byte_source file = byte_source_file(in->fd, in->size);
	*got = in->size - in->offset < room ? (size_t)(in->size - in->offset) : room;
	if (*got && byte_source_read(&file, in->offset, out, *got, e) < 0)
		return -1;
	in->offset += *got;
	digest_add(in->whole, out, *got);
	return 0;
}

static void rewind_bundle(struct bundle_in *in)
{
	in->offset = in->bytes = 0;
	digest_begin(in->whole);
	decompress_stream_free(in->zstd);
	in->zstd = decompress_stream_new(LIMIT_BUNDLE_WINDOW, read_packed, in);
	buf_clear(&in->manifest);
}

static int expect_bytes(struct bundle_in *in, struct str expected, const char *what, struct err *e)
{
	while (expected.len) {
		size_t len = expected.len < sizeof(in->block) ? expected.len : sizeof(in->block);
		if (decompress_stream_read(in->zstd, in->block, len, e) < 0)
			return -1;
		if (memcmp(in->block, expected.ptr, len) != 0)
			return err_set(e, ERR_INVALID, "%s is not where the manifest says", what);
		expected = str_slice(expected, len, expected.len);
	}
	return 0;
}

static int expect_zeros(struct bundle_in *in, size_t count, const char *what, struct err *e)
{
	static const char zeros[2 * TAR_BLOCK];
	return expect_bytes(in, (struct str){zeros, count}, what, e);
}

static int expect_header(struct bundle_in *in, const char *path, uint64_t size, struct err *e)
{
	CLEANUP(buf_release) struct buf header = buf_up_to(SIZE_MAX / 2);
	tarstream_header(path, size, &header);
	return expect_bytes(in, buf_view(&header), path, e);
}

// A member of this size and SHA-256, whose bytes are passed on.
static int read_member(struct bundle_in *in, const struct bundle_visit *visit, const struct bundle_row *r,
	const struct bundle_piece *piece, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	const uint64_t size = piece ? piece->size : r->size;
	CLEANUP(buf_release) struct buf path = buf_up_to(LIMIT_PATH);
	bundle_row_path(r, piece, &path);
	if (expect_header(in, path.data, size, e) < 0)
		return -1;
	digest_begin(in->member);
	for (uint64_t left = size; left;) {
		size_t len = left < sizeof(in->block) ? (size_t)left : sizeof(in->block);
		if (decompress_stream_read(in->zstd, in->block, len, e) < 0)
			return -1;
		digest_add(in->member, in->block, len);
		if (visit->bytes && visit->bytes(visit->ctx, r, piece, (struct str){in->block, len}, e) < 0)
			return -1;
		left -= len;
	}
	digest_end(in->member, sha256);
	if (!digest_equal(sha256, piece ? piece->sha256 : r->sha256))
		return err_set(e, ERR_INVALID, "%s: it has another SHA-256 than the manifest says", path.data);
	return expect_zeros(in, tarstream_padding(size), path.data, e);
}

static int read_row(struct bundle_in *in, const struct bundle_visit *visit, const struct bundle_row *r, struct err *e)
{
	in->bytes += bundle_row_is_file(r) && !r->is_omitted ? r->size : 0;
	if (visit->row && visit->row(visit->ctx, r, e) < 0)
		return -1;
	if (!r->is_omitted && read_member(in, visit, r, NULL, e) < 0)
		return -1;
	for (size_t i = 0; i < r->pieces; i++)
		if (read_member(in, visit, r, &r->piece[i], e) < 0)
			return -1;
	return visit->done ? visit->done(visit->ctx, r, e) : 0;
}

// --- the manifest ---

// Only its size is not known before; the header with this size must be as it is.
static int read_manifest_size(struct bundle_in *in, uint64_t *size, struct err *e)
{
	enum { SIZE_AT = 124, SIZE_DIGITS = 11 };
	char block[TAR_BLOCK];
	CLEANUP(buf_release) struct buf header = buf_up_to(SIZE_MAX / 2);
	if (decompress_stream_read(in->zstd, block, sizeof(block), e) < 0)
		return -1;
	*size = 0;
	for (size_t i = SIZE_AT; i < SIZE_AT + SIZE_DIGITS; i++)
		*size = *size << 3 | (uint64_t)(block[i] & 7);
	tarstream_header(BUNDLE_MANIFEST, *size, &header);
	if (header.len != sizeof(block) || memcmp(block, header.data, sizeof(block)) != 0)
		return err_set(e, ERR_INVALID, "it does not begin with " BUNDLE_MANIFEST);
	return *size <= LIMIT_BUNDLE_MANIFEST
		       ? 0
		       : err_set(e, ERR_LIMIT, "its manifest has %llu bytes", (unsigned long long)*size);
}

static int read_manifest(struct bundle_in *in, struct err *e)
{
	uint64_t size;
	if (read_manifest_size(in, &size, e) < 0)
		return -1;
	for (uint64_t left = size; left;) {
		size_t len = left < sizeof(in->block) ? (size_t)left : sizeof(in->block);
		if (decompress_stream_read(in->zstd, in->block, len, e) < 0)
			return -1;
		buf_add(&in->manifest, in->block, len);
		left -= len;
	}
	return expect_zeros(in, tarstream_padding(size), BUNDLE_MANIFEST, e);
}

typedef int row_reader(struct bundle_in *in, const struct bundle_visit *visit, const struct bundle_row *r,
	struct err *e);

// Two rows are in memory, to be compared.
static int each_row(struct bundle_in *in, struct str rest, row_reader *fn, const struct bundle_visit *visit,
	struct err *e)
{
	struct arena text[2] = {{0}, {0}};
	struct bundle_row row[2];
	int result = 0;
	size_t line = 2;
	for (unsigned i = 0; rest.len && result == 0; i ^= 1, line++) {
		struct str one = str_cut(&rest, '\n');
		arena_release(&text[i]);
		result = bundle_row_read(one, &row[i], &text[i], e);
		if (result == 0 && line > 2 && bundle_row_compare(&row[i ^ 1], &row[i]) >= 0)
			result = err_set(e, ERR_INVALID, "it is not behind the row before it, or is there twice");
		if (result < 0)
			err_prefix(e, "line %zu of the manifest: ", line);
		else
			result = fn(in, visit, &row[i], e);
	}
	arena_release(&text[0]);
	arena_release(&text[1]);
	return result;
}

static int visit_manifest(struct bundle_in *in, row_reader *fn, const struct bundle_visit *visit, struct err *e)
{
	struct bundle_head head;
	CLEANUP(arena_release) struct arena text = {0};
	struct str rest = buf_view(&in->manifest), first = str_cut(&rest, '\n');
	if (in->manifest.len && in->manifest.data[in->manifest.len - 1] != '\n')
		return err_set(e, ERR_INVALID, "the last line of its manifest has no end");
	if (bundle_head_read(first, &head, &text, e) < 0)
		return err_prefix(e, "line 1 of the manifest: ");
	if (visit->head && visit->head(visit->ctx, &head, e) < 0)
		return -1;
	return each_row(in, rest, fn, visit, e);
}

// --- a reading ---

static int read_archive(struct bundle_in *in, const struct bundle_visit *visit, struct err *e)
{
	uint8_t sha256[SHA256_SIZE], manifest[SHA256_SIZE];
	rewind_bundle(in);
	if (read_manifest(in, e) < 0)
		return -1;
	digest_sha256(buf_view(&in->manifest), manifest);
	if (in->has_manifest && !digest_equal(manifest, in->manifest_sha256))
		return err_set(e, ERR_INVALID, "it was changed while it was read");
	if (visit_manifest(in, read_row, visit, e) < 0 || expect_zeros(in, (size_t)2 * TAR_BLOCK, "its end", e) < 0 ||
		decompress_stream_end(in->zstd, e) < 0)
		return -1;
	digest_end(in->whole, sha256);
	if (!digest_equal(sha256, in->sha256))
		return err_set(e, ERR_INVALID, "its bytes do not have the SHA-256 of its trailer");
	memcpy(in->manifest_sha256, manifest, SHA256_SIZE);
	in->has_manifest = true;
	return 0;
}

int bundle_in_read(struct bundle_in *in, const struct bundle_visit *visit, struct err *e)
{
	return read_archive(in, visit, e) < 0 ? err_prefix(e, "%s: ", in->path) : 0;
}

static int pass_row(struct bundle_in *in UNUSED, const struct bundle_visit *visit, const struct bundle_row *r,
	struct err *e)
{
	return visit->row ? visit->row(visit->ctx, r, e) : 0;
}

// A manifest begins with "{", and a frame of zstd never does.
static int read_any_manifest(struct bundle_in *in, struct err *e)
{
	char first = 0;
	const struct byte_source file = byte_source_file(in->fd, in->size);
	if (byte_source_read(&file, 0, &first, 1, e) < 0)
		return -1;
	if (first == '{')
		return fs_read_fd(in->fd, in->path, &in->manifest, e);
	if (read_trailer(in, e) < 0)
		return -1;
	rewind_bundle(in);
	return read_manifest(in, e);
}

int bundle_in_manifest(const char *path, const struct bundle_visit *visit, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(bundle_in_cleanup) struct bundle_in *in = new_reader(path);
	if (open_regular(in, e) < 0 || read_any_manifest(in, e) < 0 || visit_manifest(in, pass_row, visit, e) < 0)
		return err_prefix(e, "%s: ", path);
	digest_sha256(buf_view(&in->manifest), sha256);
	return 0;
}
