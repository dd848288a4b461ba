// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/sdist.h"
#include "lib/format/compress.h"
#include "lib/os/fs.h"

enum {
	BLOCK = 1 << 20, // a file up to this size is examined in memory
	PACK_LEVEL = 3,
};

struct ingest {
	struct digest *digest;
	struct compress *pack;
	struct throttle *throttle;
	struct wheel_reader *wheel_reader; // NULL: not needed yet
	char *block;
};

struct ingest *ingest_new(void)
{
	struct ingest *in = xmalloc(sizeof(*in));
	in->digest = digest_new();
	in->pack = compress_new();
	in->throttle = NULL;
	in->wheel_reader = NULL;
	in->block = xmalloc(BLOCK);
	return in;
}

void ingest_free(struct ingest *in)
{
	if (!in)
		return;
	digest_free(in->digest);
	compress_free(in->pack);
	wheel_reader_free(in->wheel_reader);
	free(in->block);
	free(in);
}

void ingest_throttle(struct ingest *in, struct throttle *throttle)
{
	in->throttle = throttle;
}

struct wheel_reader *ingest_wheel_reader(struct ingest *in)
{
	if (!in->wheel_reader)
		in->wheel_reader = wheel_reader_new();
	return in->wheel_reader;
}

void ingest_facts_init(struct ingest_facts *f)
{
	*f = (struct ingest_facts){0};
	wheel_init(&f->wheel);
	buf_init(&f->metadata_packed, 2 * LIMIT_METADATA);
}

void ingest_facts_release(struct ingest_facts *f)
{
	filename_release(&f->name);
	wheel_release(&f->wheel);
	buf_release(&f->metadata_packed);
	free(f->filename);
	free(f->refusal);
}

// Reads up to len bytes; fewer only at the end of the file.
static ssize_t read_block(int fd, char *out, size_t len)
{
	size_t have = 0;
	while (have < len) {
		ssize_t n = read(fd, out + have, len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		have += (size_t)n;
	}
	return (ssize_t)have;
}

// Digests all bytes; in->block then has the whole file if it is small. is_unchanged finds a file whose size has
// changed.
static int hash_bytes(struct ingest *in, int fd, uint64_t size, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	if (size > BLOCK)
		posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	digest_begin(in->digest);
	for (uint64_t left = size; left;) {
		size_t want = left < BLOCK ? (size_t)left : BLOCK;
		ssize_t n = read_block(fd, in->block, want);
		if (n < 0)
			return err_errno(e, ERR_IO, "cannot read");
		if ((size_t)n < want)
			return err_set(e, ERR_BUSY, "became shorter while it was read");
		digest_add(in->digest, in->block, (size_t)n);
		left -= (size_t)n;
		if (in->throttle)
			throttle_account(in->throttle, (uint64_t)n);
	}
	digest_end(in->digest, sha256);
	return 0;
}

static int is_unchanged(int fd, const struct stat *before, struct err *e)
{
	struct stat after;
	if (fstat(fd, &after) < 0)
		return err_errno(e, ERR_IO, "fstat");
	if (after.st_size != before->st_size || fs_mtime_ns(&after) != fs_mtime_ns(before))
		return err_set(e, ERR_BUSY, "changed while it was read");
	return 0;
}

static int examine_bytes(const struct byte_source *bytes, enum strictness strictness, struct ingest_facts *f,
	struct err *e)
{
	if (f->name.kind == FILENAME_WHEEL)
		return wheel_examine(bytes, &f->name, strictness, &f->wheel, e);
	return sdist_examine(bytes, str_from(f->filename), strictness, &f->name, &f->wheel, e);
}

// PEP 658 allows metadata of an sdist too, but no index serves it, because older ones have less than a build produces.
static int pack_metadata(struct ingest *in, struct ingest_facts *f, struct err *e)
{
	f->has_metadata = f->name.kind == FILENAME_WHEEL && f->wheel.metadata.len > 0;
	if (!f->has_metadata)
		return 0;
	struct str metadata = buf_view(&f->wheel.metadata);
	return compress_zstd_by(in->pack, metadata, PACK_LEVEL, &f->metadata_packed, e);
}

// A fault of the contents becomes the refusal; a fault of the disk is an error.
static int refuse_file(struct ingest_facts *f, const struct err *why, struct err *e)
{
	if (why->kind != ERR_INVALID && why->kind != ERR_LIMIT) {
		*e = *why;
		return -1;
	}
	f->refusal = xstrdup(why->msg);
	return 0;
}

static int stat_file(int fd, struct stat *st, struct err *e)
{
	if (fstat(fd, st) < 0)
		return err_errno(e, ERR_IO, "fstat");
	return S_ISREG(st->st_mode) ? 0 : err_set(e, ERR_IO, "not a regular file");
}

struct byte_source ingest_bytes(const struct ingest *in, int fd, const struct ingest_facts *f)
{
	uint64_t size = (uint64_t)f->st.st_size;
	if (size > BLOCK)
		return byte_source_file(fd, size);
	return byte_source_memory((struct str){in->block, (size_t)size});
}

int ingest_hash(struct ingest *in, int fd, struct stat *st, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	if (stat_file(fd, st, e) < 0 || hash_bytes(in, fd, (uint64_t)st->st_size, sha256, e) < 0)
		return -1;
	return is_unchanged(fd, st, e);
}

int ingest_read(struct ingest *in, int fd, const char *filename, enum strictness strictness, struct ingest_facts *out,
	struct err *e)
{
	struct err why = ERR_INIT;
	out->filename = xstrdup(filename);
	if (stat_file(fd, &out->st, e) < 0)
		return -1;
	// The name of an old sdist may follow no rule; then its PKG-INFO decides.
	bool is_named = filename_parse(str_from(out->filename), &out->name, &why) == 0;
	out->name.kind = filename_kind(str_from(out->filename));
	if (!is_named && out->name.kind != FILENAME_SDIST)
		return refuse_file(out, &why, e);
	uint64_t size = (uint64_t)out->st.st_size;
	if (hash_bytes(in, fd, size, out->sha256, e) < 0)
		return -1;
	out->was_read = true;
	struct byte_source bytes = ingest_bytes(in, fd, out);
	bool is_bad = examine_bytes(&bytes, strictness, out, &why) < 0 || pack_metadata(in, out, &why) < 0;
	if (is_unchanged(fd, &out->st, e) < 0)
		return -1;
	return is_bad ? refuse_file(out, &why, e) : 0;
}

struct catalog_entry ingest_entry(const struct ingest_facts *f)
{
	return (struct catalog_entry){
		.filename = f->filename,
		.size = (uint64_t)f->st.st_size,
		.mtime_ns = fs_mtime_ns(&f->st),
		.inode = f->st.st_ino,
		.sha256 = f->was_read ? f->sha256 : NULL,
		.refusal = f->refusal,
		.project = f->name.project,
		.version = f->name.version.text,
		.version_key = f->name.version.key,
		.metadata_sha256 = f->has_metadata ? f->wheel.metadata_sha256 : NULL,
		.metadata_packed = buf_view(&f->metadata_packed),
		.requires_python = f->wheel.requires_python,
		.findings = f->wheel.findings.count,
	};
}
