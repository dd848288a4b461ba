// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/catalog-attachment.h"

#include <stdio.h>

#include "lib/format/compress.h"
#include "lib/state/catalog/catalog-query.h"

static int tell_known_attachments(struct query *q, catalog_known_attachment_fn *fn, void *ctx, struct err *e)
{
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_known_attachment known = {
			.filename = query_text(q, 0),
			.kind = (enum attachment)query_int(q, 1),
			.trusted = query_int(q, 2) != 0,
			.size = (uint64_t)query_int(q, 3),
			.mtime_ns = query_int(q, 4),
			.inode = (uint64_t)query_int(q, 5),
			.written = query_int(q, 6),
			.sha256 = query_sha256(q, 7),
		};
		if (known.kind < ATTACHMENT_COUNT && known.sha256 && fn(ctx, &known, e) < 0)
			return -1;
	}
	return row;
}

int catalog_folder_attachments(struct catalog *c, int64_t folder, catalog_known_attachment_fn *fn, void *ctx,
	struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_ATTACHMENTS, BY(SQL_INT(folder)), e);
	return tell_known_attachments(q, fn, ctx, e);
}

int catalog_folder_attachment(struct catalog *c, int64_t folder, const char *filename, enum attachment kind,
	catalog_known_attachment_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, FOLDER_ATTACHMENT, BY(SQL_INT(folder),
		SQL_TEXT(filename), SQL_INT(kind)), e);
	return tell_known_attachments(q, fn, ctx, e);
}

static void bind_place(struct query *q, const struct catalog_attachment *a)
{
	query_bind_int(q, 1, a->folder);
	query_bind_text(q, 2, a->filename);
	query_bind_int(q, 3, a->kind);
}

// 1: the row is as the caller knows it, or it does not matter; 0: another process has written it.
static int may_write_row(struct catalog *c, const struct catalog_attachment *a, struct err *e)
{
	if (!a->is_guarded)
		return 1;
	CLEANUP(query_end) struct query *q = catalog_query(c, ATTACHMENT_GET, e);
	bind_place(q, a);
	int row = query_step(q, e);
	return row < 0 ? -1 : (row ? query_int(q, 0) : 0) == a->written;
}

int catalog_attachment_put(struct catalog *c, const struct catalog_attachment *a, struct err *e)
{
	int may = may_write_row(c, a, e);
	if (may <= 0)
		return may;
	CLEANUP(query_end) struct query *q = catalog_query(c, ATTACHMENT_SET, e);
	bind_place(q, a);
	query_bind_int(q, 4, a->platform);
	query_bind_int(q, 5, a->trusted);
	query_bind_int(q, 6, (int64_t)a->size);
	query_bind_int(q, 7, a->mtime_ns);
	query_bind_int(q, 8, (int64_t)a->inode);
	query_bind_sha256(q, 9, a->sha256);
	query_bind_sha256(q, 10, a->subject);
	query_bind_text(q, 11, a->refusal);
	query_bind_str(q, 12, a->packed);
	return query_run(q, e);
}

int catalog_attachment_remove(struct catalog *c, const struct catalog_attachment *a, struct err *e)
{
	int may = may_write_row(c, a, e);
	if (may <= 0)
		return may;
	CLEANUP(query_end) struct query *q = catalog_query(c, ATTACHMENT_REMOVE, e);
	bind_place(q, a);
	return query_run(q, e);
}

int catalog_attached(struct catalog *c, int64_t platform, const char *filename, enum attachment kind,
	struct catalog_attached *found, struct buf *out, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query_by(c, ATTACHED, BY(SQL_TEXT(filename), SQL_INT(platform),
		SQL_INT(kind)), e);
	int row = query_step(q, e);
	if (row <= 0)
		return row;
	const uint8_t *sha256 = query_sha256(q, 1);
	if (!sha256)
		return err_set(e, ERR_DB, "%s%s: the catalog has no hash of it", filename, attachment_ending[kind]);
	memcpy(found->sha256, sha256, SHA256_SIZE);
	snprintf(found->project, sizeof(found->project), "%s", query_text(q, 2));
	return decompress_zstd(query_bytes(q, 0), out, e) < 0 ? -1 : 1;
}

int catalog_attached_to(struct catalog *c, const uint8_t sha256[SHA256_SIZE], const char *platform, enum attachment kind,
	catalog_attached_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, ATTACHED_TO_BYTES, e);
	int row;
	query_bind_sha256(q, 1, sha256);
	query_bind_int(q, 2, kind);
	query_bind_text(q, 3, platform);
	while ((row = query_step(q, e)) > 0) {
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_STATEMENT);
		if (decompress_zstd(query_bytes(q, 0), &text, e) < 0 || fn(ctx, buf_view(&text), e) < 0)
			return -1;
	}
	return row;
}

int catalog_stray_attachments(struct catalog *c, catalog_stray_attachment_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(query_end) struct query *q = catalog_query(c, ATTACHMENTS_STRAY, e);
	int row;
	while ((row = query_step(q, e)) > 0) {
		const struct catalog_stray_attachment stray = {
			.platform = query_int(q, 0),
			.folder_path = query_text(q, 1),
			.filename = query_text(q, 2),
			.kind = (enum attachment)query_int(q, 3),
			.refusal = query_text(q, 4),
			.has_file = query_int(q, 5) != 0,
		};
		if (stray.kind < ATTACHMENT_COUNT && fn(ctx, &stray, e) < 0)
			return -1;
	}
	return row;
}
