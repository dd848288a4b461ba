// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/attachment-file.h"

#include <string.h>

#include "lib/format/compress.h"
#include "lib/os/clock.h"

enum { ZSTD_LEVEL = 6 };

char *attachment_file_name(const char *filename, enum attachment kind)
{
	if (strlen(filename) + strlen(attachment_ending[kind]) > LIMIT_FILE_NAME)
		return NULL;
	return xasprintf("%s%s", filename, attachment_ending[kind]);
}

void attachment_facts_release(struct attachment_facts *f)
{
	buf_release(&f->text);
	buf_release(&f->packed);
	*f = (struct attachment_facts){0};
}

// --- reading ---

static void examine_facts(struct attachment_facts *f, const char *filename, enum attachment kind)
{
	digest_sha256(buf_view(&f->text), f->sha256);
	buf_init(&f->packed, LIMIT_STATEMENT + LIMIT_STATEMENT / 8);
	f->refusal = (struct err)ERR_INIT;
	if (attachment_subject(kind, buf_view(&f->text), filename, f->subject, &f->refusal) == 0 &&
		compress_zstd(buf_view(&f->text), ZSTD_LEVEL, &f->packed, &f->refusal) < 0)
		buf_clear(&f->packed);
}

void attachment_file_examine(struct str text, const char *filename, enum attachment kind, struct attachment_facts *out)
{
	*out = (struct attachment_facts){0};
	buf_init(&out->text, LIMIT_STATEMENT + 1);
	buf_str(&out->text, str_slice(text, 0, text.len <= LIMIT_STATEMENT ? text.len : LIMIT_STATEMENT + 1));
	examine_facts(out, filename, kind);
}

// At most one byte more than it may have is read. Does not block: a FIFO of that name is not an attachment.
int attachment_file_read(struct place_folder *folder, const char *filename, enum attachment kind,
	struct attachment_facts *out, struct err *e)
{
	struct err why = ERR_INIT;
	struct place_info info = {.kind = PLACE_UNKNOWN};
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	CLEANUP(attachment_facts_release) struct attachment_facts f = {0};
	if (!name)
		return 0;
	CLEANUP(place_file_close) struct place_file *file = place_open_in(folder, name, &why);
	if (!file && why.kind == ERR_NOT_FOUND)
		return 0;
	if (file && place_file_info(file, &info, &why) == 0 && info.kind != PLACE_FILE)
		return 0;
	buf_init(&f.text, LIMIT_STATEMENT + 1);
	if (!file || place_file_read(file, LIMIT_STATEMENT + 1, &f.text, &why) < 0) {
		*e = why;
		return file ? err_prefix(e, "%s: ", name) : -1;
	}
	f.version = info.version;
	examine_facts(&f, filename, kind);
	*out = f;
	f = (struct attachment_facts){0};
	return 1;
}

struct catalog_attachment attachment_facts_row(const struct attachment_facts *f, const char *filename,
	enum attachment kind)
{
	bool is_valid = f->refusal.kind == ERR_NONE;
	return (struct catalog_attachment){
		.filename = filename,
		.kind = kind,
		.trusted = place_version_is_settled(&f->version, clock_wall_ns()),
		.size = f->version.size,
		.mtime_ns = f->version.time_ns,
		.inode = f->version.id,
		.sha256 = f->sha256,
		.subject = is_valid ? f->subject : NULL,
		.refusal = is_valid ? NULL : f->refusal.msg,
		.packed = is_valid ? buf_view(&f->packed) : (struct str){NULL, 0},
	};
}

// --- writing ---

struct place_write *attachment_write_begin(struct place_folder *folder, const char *filename, enum attachment kind,
	struct str text, struct err *e)
{
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	if (!name)
		err_set(e, ERR_LIMIT, "%s: too long to have a \"%s\" beside it", filename, attachment_ending[kind]);
	struct place_write *w = name ? place_write_begin(folder, name, e) : NULL;
	if (w && (place_write_add(w, text, e) < 0 || place_write_sync(w, e) < 0))
		place_write_free(&w);
	return w;
}

int attachment_file_remove(struct place_folder *folder, const char *filename, enum attachment kind, struct err *e)
{
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	return name && place_remove(folder, name, NULL, e) < 0 ? -1 : 0;
}
