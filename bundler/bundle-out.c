// SPDX-License-Identifier: Apache-2.0
#include "bundler/bundle-out.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/domain/archive/tarstream.h"
#include "lib/format/compress.h"
#include "lib/format/signature.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/place/tempname.h"

// Wheels are compressed already.
enum { LEVEL = 1 };

struct bundle_out {
	char *path, *name;
	char tmp[TEMPNAME_NAME];
	int folder;
	struct fs_tmp file;
	struct compress_stream *zstd;
	struct digest *digest;
	uint64_t size, left; // left: bytes of the member that are still to come
	size_t padding;
};

static int write_packed(void *ctx, struct str piece, struct err *e)
{
	struct bundle_out *o = ctx;
	digest_add(o->digest, piece.ptr, piece.len);
	o->size += piece.len;
	return fs_tmp_write(&o->file, piece, e);
}

static int open_bundle(struct bundle_out *o, struct err *e)
{
	struct stat st;
	if (lstat(o->path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(e, ERR_USAGE, "it is there, and no regular file");
	o->folder = safefile_parent(o->path, false, &o->name, e);
	tempname_name(o->tmp);
	return o->folder < 0 ? -1 : fs_tmp_open_mode(&o->file, o->folder, o->tmp, o->name, SAFEFILE_MODE, e);
}

struct bundle_out *bundle_out_new(const char *path, struct err *e)
{
	struct bundle_out *o = xcalloc(1, sizeof(*o));
	o->path = xstrdup(path);
	o->folder = o->file.fd = -1;
	o->digest = digest_new();
	digest_begin(o->digest);
	o->zstd = compress_stream_new(LEVEL, write_packed, o);
	if (open_bundle(o, e) == 0)
		return o;
	err_prefix(e, "%s: ", path);
	bundle_out_free(o);
	return NULL;
}

void bundle_out_free(struct bundle_out *o)
{
	if (!o)
		return;
	fs_tmp_release(&o->file);
	mem_close(&o->folder);
	compress_stream_free(o->zstd);
	digest_free(o->digest);
	free(o->name);
	free(o->path);
	free(o);
}

static int add_packed(struct bundle_out *o, struct str bytes, struct err *e)
{
	return compress_stream_add(o->zstd, bytes, e) < 0 ? err_prefix(e, "%s: ", o->path) : 0;
}

static int add_zeros(struct bundle_out *o, size_t count, struct err *e)
{
	static const char zeros[2 * TAR_BLOCK];
	return add_packed(o, (struct str){zeros, count}, e);
}

int bundle_out_member(struct bundle_out *o, const char *path, uint64_t size, struct err *e)
{
	CLEANUP(buf_release) struct buf header = buf_up_to(SIZE_MAX / 2);
	assert(!o->left);
	tarstream_header(path, size, &header);
	if (add_zeros(o, o->padding, e) < 0)
		return -1;
	o->left = size;
	o->padding = tarstream_padding(size);
	return add_packed(o, buf_view(&header), e);
}

int bundle_out_add(struct bundle_out *o, struct str bytes, struct err *e)
{
	assert(bytes.len <= o->left);
	o->left -= bytes.len;
	return add_packed(o, bytes, e);
}

int bundle_out_end(struct bundle_out *o, struct str key, struct err *e)
{
	uint8_t sha256[SHA256_SIZE], signature[SIGNATURE_SIZE] = {0};
	char trailer[BUNDLE_TRAILER];
	assert(!o->left);
	if (add_zeros(o, o->padding, e) < 0 || add_zeros(o, (size_t)2 * TAR_BLOCK, e) < 0 ||
		compress_stream_end(o->zstd, e) < 0)
		return -1;
	digest_end(o->digest, sha256);
	if (key.len && signature_make(key, sha256, signature, e) < 0)
		return -1;
	memcpy(trailer, bundle_magic, BUNDLE_MAGIC);
	memcpy(trailer + BUNDLE_MAGIC, sha256, SHA256_SIZE);
	memcpy(trailer + BUNDLE_MAGIC + SHA256_SIZE, signature, SIGNATURE_SIZE);
	o->size += sizeof(trailer);
	if (fs_tmp_write(&o->file, (struct str){trailer, sizeof(trailer)}, e) < 0 || fs_tmp_publish(&o->file, e) < 0 ||
		fs_sync_dir(o->folder, e) < 0)
		return err_prefix(e, "%s: ", o->path);
	return 0;
}

uint64_t bundle_out_size(const struct bundle_out *o)
{
	return o->size;
}
