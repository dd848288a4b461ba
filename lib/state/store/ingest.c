// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/ingest.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/sdist.h"
#include "lib/format/compress.h"

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

void ingest_cleanup(struct ingest **in)
{
	ingest_free(*in);
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

// Digests all bytes; in->block then has the whole file if it is small. is_unchanged finds a file whose size has
// changed.
static int hash_bytes(struct ingest *in, struct place_file *file, uint64_t size, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	if (size > BLOCK)
		place_file_read_ahead(file);
	digest_begin(in->digest);
	for (uint64_t at = 0; at < size;) {
		size_t want = size - at < BLOCK ? (size_t)(size - at) : BLOCK, got;
		if (place_file_read_at(file, at, in->block, want, &got, e) < 0)
			return -1;
		if (got < want)
			return err_set(e, ERR_BUSY, "became shorter while it was read");
		digest_add(in->digest, in->block, got);
		at += got;
		if (in->throttle)
			throttle_account(in->throttle, got);
	}
	digest_end(in->digest, sha256);
	return 0;
}

static int is_unchanged(struct place_file *file, const struct place_version *before, struct err *e)
{
	struct place_info after;
	if (place_file_info(file, &after, e) < 0)
		return -1;
	if (place_version_match(&after.version, before) == PLACE_OTHER)
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

static int look_at_regular(struct place_file *file, struct place_version *version, struct err *e)
{
	struct place_info info;
	if (place_file_info(file, &info, e) < 0)
		return -1;
	*version = info.version;
	return info.kind == PLACE_FILE ? 0 : err_set(e, ERR_IO, "not a regular file");
}

struct byte_source ingest_bytes(const struct ingest *in, struct place_file *file, const struct ingest_facts *f)
{
	uint64_t size = f->version.size;
	if (size > BLOCK)
		return place_file_source(file, size);
	return byte_source_memory((struct str){in->block, (size_t)size});
}

int ingest_hash(struct ingest *in, struct place_file *file, struct place_version *version, uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	if (look_at_regular(file, version, e) < 0 || hash_bytes(in, file, version->size, sha256, e) < 0)
		return -1;
	return is_unchanged(file, version, e);
}

int ingest_read(struct ingest *in, struct place_file *file, const char *filename, enum strictness strictness,
	struct ingest_facts *out, struct err *e)
{
	struct err why = ERR_INIT;
	out->filename = xstrdup(filename);
	if (look_at_regular(file, &out->version, e) < 0)
		return -1;
	// The name of an old sdist may follow no rule; then its PKG-INFO decides.
	bool is_named = filename_parse(str_from(out->filename), &out->name, &why) == 0;
	out->name.kind = filename_kind(str_from(out->filename));
	if (!is_named && out->name.kind != FILENAME_SDIST)
		return refuse_file(out, &why, e);
	if (hash_bytes(in, file, out->version.size, out->sha256, e) < 0)
		return -1;
	out->was_read = true;
	struct byte_source bytes = ingest_bytes(in, file, out);
	bool is_bad = examine_bytes(&bytes, strictness, out, &why) < 0 || pack_metadata(in, out, &why) < 0;
	if (is_unchanged(file, &out->version, e) < 0)
		return -1;
	return is_bad ? refuse_file(out, &why, e) : 0;
}

struct catalog_entry ingest_entry(const struct ingest_facts *f)
{
	return (struct catalog_entry){
		.filename = f->filename,
		.size = f->version.size,
		.mtime_ns = f->version.time_ns,
		.inode = f->version.id,
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
