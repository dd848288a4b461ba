// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/attachment-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/format/compress.h"
#include "lib/os/clock.h"

enum { ZSTD_LEVEL = 6, BLOCK_SIZE = 16 << 10 };

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

// At most one byte more than it may have.
static int read_attachment_text(int fd, struct buf *out, struct err *e)
{
	char block[BLOCK_SIZE];
	buf_init(out, LIMIT_STATEMENT + BLOCK_SIZE);
	while (out->len <= LIMIT_STATEMENT) {
		ssize_t n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, ERR_IO, "cannot read it");
		if (n == 0)
			return 0;
		buf_add(out, block, (size_t)n);
	}
	return 0;
}

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

// Does not block: a FIFO of that name is not an attachment.
int attachment_file_read(int folder, const char *filename, enum attachment kind, struct attachment_facts *out,
	struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	CLEANUP(attachment_facts_release) struct attachment_facts f = {0};
	if (!name)
		return 0;
	CLEANUP(mem_close)
	int fd = fs_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, &why);
	if (fd < 0 && why.kind == ERR_NOT_FOUND)
		return 0;
	if (fd >= 0 && fstat(fd, &f.st) == 0 && !S_ISREG(f.st.st_mode))
		return 0;
	if (fd < 0 || read_attachment_text(fd, &f.text, &why) < 0) {
		*e = why;
		return fd < 0 ? -1 : err_prefix(e, "%s: ", name);
	}
	examine_facts(&f, filename, kind);
	*out = f;
	f = (struct attachment_facts){0};
	return 1;
}

struct catalog_attachment attachment_facts_row(const struct attachment_facts *f, const char *filename,
	enum attachment kind)
{
	bool is_valid = f->refusal.kind == ERR_NONE;
	int64_t mtime_ns = fs_mtime_ns(&f->st);
	return (struct catalog_attachment){
		.filename = filename,
		.kind = kind,
		.trusted = fs_mtime_is_reliable(mtime_ns, clock_wall_ns()),
		.size = (uint64_t)f->st.st_size,
		.mtime_ns = mtime_ns,
		.inode = f->st.st_ino,
		.sha256 = f->sha256,
		.subject = is_valid ? f->subject : NULL,
		.refusal = is_valid ? NULL : f->refusal.msg,
		.packed = is_valid ? buf_view(&f->packed) : (struct str){NULL, 0},
	};
}

// --- writing ---

int attachment_write_begin(struct attachment_write *w, int folder, const char *filename, enum attachment kind,
	struct str text, struct err *e)
{
	*w = (struct attachment_write){.tmp = {.fd = -1}};
	w->name = attachment_file_name(filename, kind);
	if (!w->name)
		return err_set(e, ERR_LIMIT, "%s: too long to have a \"%s\" beside it", filename,
			attachment_ending[kind]);
	tempname_name(w->tmp_name);
	if (fs_tmp_open(&w->tmp, folder, w->tmp_name, w->name, e) < 0 || fs_tmp_write(&w->tmp, text, e) < 0)
		return -1;
	return fsync(w->tmp.fd) < 0 ? err_errno(e, fs_kind_of_write(), "%s", w->name) : 0;
}

int attachment_write_end(struct attachment_write *w, struct err *e)
{
	return fs_tmp_publish(&w->tmp, e);
}

int attachment_write_link(struct attachment_write *w, struct err *e)
{
	if (fs_tmp_link(&w->tmp, e) < 0)
		return -1;
	fs_tmp_release(&w->tmp);
	return 0;
}

void attachment_write_release(struct attachment_write *w)
{
	if (w->name)
		fs_tmp_release(&w->tmp);
	mem_free(&w->name);
}

int attachment_file_remove(int folder, const char *filename, enum attachment kind, struct err *e)
{
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	if (name && unlinkat(folder, name, 0) < 0 && errno != ENOENT)
		return err_errno(e, ERR_IO, "%s", name);
	return 0;
}
