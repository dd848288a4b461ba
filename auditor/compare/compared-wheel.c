// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/compared-wheel.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/archive/member-hashes.h"
#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/domain/wheel/distinfo.h"
#include "lib/domain/wheel/record.h"
#include "lib/state/store/facts-reader.h"

enum { BLOCK = 1 << 18 };

static int hash_source(const struct byte_source *bytes, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	digest_begin(d);
	for (uint64_t at = 0; at < bytes->size; at += BLOCK) {
		size_t len = bytes->size - at < BLOCK ? (size_t)(bytes->size - at) : BLOCK;
		if (byte_source_read(bytes, at, block, len, e) < 0)
			return -1;
		digest_add(d, block, len);
	}
	digest_end(d, sha256);
	return 0;
}

int compared_wheel_read(const struct compared_wheel_source *from, struct compared_wheel *out, struct err *e)
{
	*out = (struct compared_wheel){.label = xstrdup(from->label), .filename = xstrdup(from->filename)};
	out->side = (struct compare_side){
		.label = out->label,
		.filename = out->filename,
		.name = &out->name,
		.size = from->bytes.size,
		.sha256 = out->sha256,
		.content = &out->content,
	};
	const struct byte_source bytes = from->bytes;
	if (filename_parse(str_from(out->filename), &out->name, e) < 0)
		return err_prefix(e, "%s: ", out->filename);
	if (out->name.kind != FILENAME_WHEEL)
		return err_set(e, ERR_USAGE, "%s is no wheel", out->filename);
	if (from->sha256)
		memcpy(out->sha256, from->sha256, SHA256_SIZE);
	else if (hash_source(&bytes, out->sha256, e) < 0)
		return err_prefix(e, "%s: ", out->label);
	if (wheel_content_read(&bytes, &out->name, &from->limits, &out->content, e) < 0)
		return err_prefix(e, "%s: ", out->label);
	// Facts that cannot be had are no failure: the comparison says so.
	size_t most = from->facts_most ? from->facts_most : LIMIT_FACTS;
	bool has_facts =
		from->catalog && facts_reader_get_most(from->catalog, out->sha256, most, &out->facts, &out->why) == 0;
	if (!has_facts && !from->only_catalog)
		has_facts = wheel_facts_read(&bytes, &out->name, &out->facts, &out->why) == 0;
	if (has_facts)
		out->side.facts = &out->facts;
	else
		out->side.why = out->why.msg;
	return 0;
}

int compared_wheel_take_provenance(struct compared_wheel *w, struct str statement, struct err *e)
{
	if (attachment_check(ATTACHMENT_STATEMENT, statement, w->filename, w->sha256, e) < 0 ||
		provenance_read(statement, &w->provenance, e) < 0)
		return -1;
	w->side.provenance = &w->provenance;
	return 0;
}

void compared_wheel_release(struct compared_wheel *w)
{
	if (w->side.facts)
		wheel_facts_release(&w->facts);
	provenance_release(&w->provenance);
	wheel_content_release(&w->content);
	filename_release(&w->name);
	free(w->label);
	free(w->filename);
	*w = (struct compared_wheel){0};
}

// --- the content ---

struct content_reader {
	const struct byte_source *bytes;
	struct zipdirectory zip;
	struct member_hashes hashes; // sha256 NULL: the members are not unpacked
	struct str folder;           // .dist-info
	struct wheel_content *out;
};

static void content_reader_release(struct content_reader *r)
{
	zipdirectory_release(&r->zip);
	member_hashes_release(&r->hashes);
}

uint64_t wheel_content_most(uint64_t size)
{
	uint64_t most = size > UINT64_MAX / LIMIT_UNPACKED_RATIO ? UINT64_MAX : size * LIMIT_UNPACKED_RATIO;
	return most > LIMIT_UNPACKED ? most : LIMIT_UNPACKED;
}

// --- RECORD ---

struct record_rows {
	struct arena text;
	const char **row;
	size_t count, room;
	struct str own; // the path of RECORD
};

static void record_rows_release(struct record_rows *r)
{
	arena_release(&r->text);
	free(r->row);
}

static int keep_record_row(void *ctx, const struct record_row *row, struct err *e)
{
	(void)e;
	struct record_rows *r = ctx;
	if (str_eq(row->path, r->own))
		return 0;
	size_t len = row->path.len + row->hash.len + row->size.len + 3;
	char *text = arena_alloc(&r->text, len);
	const struct str part[] = {row->path, row->hash, row->size};
	size_t at = 0;
	for (size_t i = 0; i < ARRAY_SIZE(part); i++) {
		if (part[i].len)
			memcpy(text + at, part[i].ptr, part[i].len);
		at += part[i].len;
		text[at++] = i + 1 < ARRAY_SIZE(part) ? '\n' : '\0';
	}
	GROW(r->row, r->count, r->room);
	r->row[r->count++] = text;
	return 0;
}

static void digest_rows(struct record_rows *rows, uint8_t out[SHA256_SIZE])
{
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	if (rows->count)
		qsort(rows->row, rows->count, sizeof(*rows->row), compare_strings);
	digest_begin(digest);
	for (size_t i = 0; i < rows->count; i++)
		digest_add(digest, rows->row[i], strlen(rows->row[i]) + 1);
	digest_end(digest, out);
}

// A RECORD that is absent or malformed has no digest: then its bytes alone are compared.
static int read_record(struct content_reader *r, struct err *e)
{
	const struct zipmember *m = distinfo_member(&r->zip, r->folder, "RECORD");
	struct err malformed = ERR_INIT;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_RECORD);
	if (!m || m->size > LIMIT_RECORD)
		return 0;
	if (zipread_whole(r->bytes, m, &text, e) < 0)
		return err_prefix(e, STR_FMT ": ", STR_ARG(m->name));
	CLEANUP(record_rows_release) struct record_rows rows = {.own = m->name};
	if (record_foreach(buf_view(&text), keep_record_row, &rows, &malformed) < 0)
		return 0;
	digest_rows(&rows, r->out->record);
	r->out->has_record = true;
	return 0;
}

static int read_metadata(struct content_reader *r, struct err *e)
{
	const struct zipmember *m = distinfo_member(&r->zip, r->folder, "METADATA");
	if (!m)
		return err_set(e, ERR_INVALID, "no METADATA in " STR_FMT, STR_ARG(r->folder));
	return zipread_whole(r->bytes, m, &r->out->metadata, e);
}

// --- the members ---

static int compare_members(const void *a, const void *b)
{
	return strcmp(((const struct wheel_content_member *)a)->path, ((const struct wheel_content_member *)b)->path);
}

static uint64_t sum_of_sizes(const struct zipdirectory *zip)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < zip->count; i++)
		sum = zip->members[i].size > UINT64_MAX - sum ? UINT64_MAX : sum + zip->members[i].size;
	return sum;
}

// The number of members stands at the end of the file: too many cost nothing.
static int check_count(const struct byte_source *bytes, size_t most, struct err *e)
{
	struct zipend end;
	if (zipend_read(bytes, &end, e) < 0)
		return -1;
	return end.count > most ? err_set(e, ERR_LIMIT, "it has more than %zu members", most) : 0;
}

static int read_content(struct content_reader *r, const struct filename *name,
	const struct wheel_content_limits *limits, struct err *e)
{
	CLEANUP(findings_release) struct findings ignored;
	findings_init(&ignored);
	if (check_count(r->bytes, limits->members, e) < 0 ||
		zipframe_read(r->bytes, LENIENT, &ignored, &r->zip, e) < 0 ||
		distinfo_find(&r->zip, name, LENIENT, &ignored, &r->folder, e) < 0 || read_metadata(r, e) < 0 ||
		read_record(r, e) < 0)
		return -1;
	uint64_t unpack_most = limits->unpacked;
	r->out->unpacked = sum_of_sizes(&r->zip);
	if (r->out->unpacked <= unpack_most) {
		if (member_hashes_read(r->bytes, &r->zip, &r->hashes, e) < 0)
			return -1;
		member_hashes_digest(&r->hashes, &r->zip, r->out->sha256);
		r->out->has_hashes = true;
	}
	r->out->dist_info = arena_copy(&r->out->text, r->folder);
	struct wheel_content *out = r->out;
	out->member = xcalloc(r->zip.count, sizeof(*out->member));
	for (size_t i = 0; i < r->zip.count; i++) {
		const struct zipmember *m = &r->zip.members[i];
		if (m->is_folder)
			continue;
		struct wheel_content_member *copy = &out->member[out->members++];
		*copy = (struct wheel_content_member){
			.path = arena_copy(&out->text, m->name),
			.size = m->size,
			.crc = m->crc,
			.is_executable = m->mode & 0111,
		};
		if (r->hashes.sha256)
			memcpy(copy->sha256, r->hashes.sha256[i], SHA256_SIZE);
	}
	if (out->members)
		qsort(out->member, out->members, sizeof(*out->member), compare_members);
	return 0;
}

int wheel_content_read(const struct byte_source *bytes, const struct filename *name,
	const struct wheel_content_limits *limits, struct wheel_content *out, struct err *e)
{
	*out = (struct wheel_content){0};
	buf_init(&out->metadata, LIMIT_METADATA);
	CLEANUP(content_reader_release) struct content_reader r = {.bytes = bytes, .out = out};
	int result = read_content(&r, name, limits, e);
	if (result < 0)
		wheel_content_release(out);
	return result;
}

void wheel_content_release(struct wheel_content *c)
{
	free(c->member);
	buf_release(&c->metadata);
	arena_release(&c->text);
	*c = (struct wheel_content){0};
}

bool wheel_content_is_same(const struct wheel_content *a, const struct wheel_content_member *one,
	const struct wheel_content *b, const struct wheel_content_member *other)
{
	if (one->size != other->size || one->crc != other->crc)
		return false;
	return !a->has_hashes || !b->has_hashes || memcmp(one->sha256, other->sha256, SHA256_SIZE) == 0;
}
