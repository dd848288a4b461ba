// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipread.h"

#include <string.h>
#include <sys/mman.h>
#include <zip.h>

#include "lib/domain/archive/zipwire.h"

// libzip opens only whole archives and parses their directory itself, which for the thousand members of numpy costs
// more than the rest of the examination. So libzip gets an archive with a single member: a header, the packed bytes of
// the member, and a directory of one entry. It cannot see any other member, or confuse it with this one.
enum {
	HEAD = ZIP_LOCAL_SIZE + 1, // the member's name in it is one letter
	TAIL = ZIP_CENTRAL_SIZE + 1 + ZIP_END_SIZE,
	PIECE = 64 << 10,
};

struct single_archive {
	const struct byte_source *source;
	const struct zipmember *member;
	char head[HEAD], tail[TAIL];
	uint64_t at;    // read position of libzip
	struct err err; // why reading from the source failed
	zip_error_t zip_err;
};

static uint64_t single_archive_size(const struct single_archive *c)
{
	return HEAD + c->member->packed + TAIL;
}

// Writes the fields that a local header and a directory entry share (APPNOTE 4.3.7, 4.3.12), from "version needed" on.
static void put_shared_fields(char *at, const struct zipmember *m)
{
	zip_put16(at, 20);
	zip_put16(at + 4, m->method);
	zip_put32(at + 10, m->crc);
	zip_put32(at + 14, (uint32_t)m->packed);
	zip_put32(at + 18, (uint32_t)m->size);
	zip_put16(at + 22, 1);
}

static void single_archive_init(struct single_archive *c, const struct byte_source *s, const struct zipmember *m)
{
	*c = (struct single_archive){.source = s, .member = m};
	zip_error_init(&c->zip_err);
	zip_put32(c->head, ZIP_LOCAL);
	put_shared_fields(c->head + 4, m);
	c->head[ZIP_LOCAL_SIZE] = 'm';
	zip_put32(c->tail, ZIP_CENTRAL);
	put_shared_fields(c->tail + 6, m);
	c->tail[ZIP_CENTRAL_SIZE] = 'm';
	char *end = c->tail + ZIP_CENTRAL_SIZE + 1;
	zip_put32(end, ZIP_END);
	zip_put16(end + 8, 1);
	zip_put16(end + 10, 1);
	zip_put32(end + 12, ZIP_CENTRAL_SIZE + 1);
	zip_put32(end + 16, (uint32_t)(HEAD + m->packed));
}

// Copies from the part (head, data or tail) that contains c->at. Returns the number of bytes.
static int64_t read_from_part(struct single_archive *c, char *out, uint64_t len)
{
	uint64_t packed = c->member->packed, at = c->at;
	bool in_head = at < HEAD, in_data = !in_head && at - HEAD < packed;
	uint64_t from = in_head ? at : in_data ? at - HEAD : at - HEAD - packed;
	uint64_t part = in_head ? HEAD : in_data ? packed : TAIL;
	uint64_t n = len < part - from ? len : part - from;
	if (!in_data)
		memcpy(out, (in_head ? c->head : c->tail) + from, n);
	else if (byte_source_read(c->source, c->member->data + from, out, n, &c->err) < 0)
		return -1;
	c->at += n;
	return (int64_t)n;
}

// The callback of libzip's source (zip_source_function(3)).
static zip_int64_t single_archive_call(void *ctx, void *data, zip_uint64_t len, zip_source_cmd_t cmd)
{
	struct single_archive *c = ctx;
	if (cmd == ZIP_SOURCE_SUPPORTS)
		return ZIP_SOURCE_SUPPORTS_SEEKABLE;
	if (cmd == ZIP_SOURCE_READ) {
		char *out = data;
		uint64_t done = 0;
		while (done < len && c->at < single_archive_size(c)) {
			int64_t n = read_from_part(c, out + done, len - done);
			if (n < 0) {
				zip_error_set(&c->zip_err, ZIP_ER_READ, 0);
				return -1;
			}
			done += (uint64_t)n;
		}
		return (int64_t)done;
	}
	if (cmd == ZIP_SOURCE_SEEK) {
		int64_t at = zip_source_seek_compute_offset(c->at, single_archive_size(c), data, len, &c->zip_err);
		if (at < 0)
			return -1;
		c->at = (uint64_t)at;
		return 0;
	}
	if (cmd == ZIP_SOURCE_TELL)
		return (zip_int64_t)c->at;
	if (cmd == ZIP_SOURCE_STAT) {
		zip_stat_t *st = data;
		zip_stat_init(st);
		st->valid = ZIP_STAT_SIZE;
		st->size = single_archive_size(c);
		return sizeof(*st);
	}
	if (cmd == ZIP_SOURCE_ERROR)
		return zip_error_to_data(&c->zip_err, data, len);
	if (cmd == ZIP_SOURCE_OPEN)
		c->at = 0;
	else if (cmd != ZIP_SOURCE_CLOSE && cmd != ZIP_SOURCE_FREE)
		return -1;
	return 0;
}

static void archive_discard(zip_t **archive)
{
	if (*archive)
		zip_discard(*archive);
}

static void file_close(zip_file_t **file)
{
	if (*file)
		zip_fclose(*file);
}

// The error is that of the source if reading it failed, and otherwise what libzip reports.
static int set_read_error(const struct single_archive *c, zip_error_t *why, struct err *e)
{
	if (c->err.kind != ERR_NONE) {
		*e = c->err;
		return err_prefix(e, STR_FMT ": ", STR_ARG(c->member->name));
	}
	return err_set(e, ERR_INVALID, "Damaged member " STR_FMT ": %s", STR_ARG(c->member->name),
		why ? zip_error_strerror(why) : "size differs");
}

static zip_t *open_single_archive(struct single_archive *c)
{
	zip_source_t *source = zip_source_function_create(single_archive_call, c, &c->zip_err);
	if (!source)
		return NULL;
	zip_t *archive = zip_open_from_source(source, ZIP_RDONLY, &c->zip_err);
	if (!archive)
		zip_source_free(source);
	return archive;
}

int zipread_member(const struct byte_source *s, const struct zipmember *m, zipread_sink *sink, void *ctx, struct err *e)
{
	if (m->packed > UINT32_MAX - HEAD - TAIL || m->size >= UINT32_MAX)
		return err_set(e, ERR_LIMIT, STR_FMT ": larger than 4 GiB", STR_ARG(m->name));
	struct single_archive c;
	single_archive_init(&c, s, m);
	CLEANUP(archive_discard) zip_t *archive = open_single_archive(&c);
	if (!archive)
		return set_read_error(&c, &c.zip_err, e);
	CLEANUP(file_close) zip_file_t *file = zip_fopen_index(archive, 0, 0);
	if (!file)
		return set_read_error(&c, zip_get_error(archive), e);
	char piece[PIECE];
	uint64_t left = c.member->size;
	for (;;) {
		zip_int64_t n = zip_fread(file, piece, sizeof(piece));
		if (n < 0)
			return set_read_error(&c, zip_file_get_error(file), e);
		if (n == 0)
			return left ? set_read_error(&c, NULL, e) : 0;
		if ((uint64_t)n > left)
			return set_read_error(&c, NULL, e);
		left -= (uint64_t)n;
		if (sink(ctx, (struct str){piece, (size_t)n}, e) < 0)
			return -1;
	}
}

static int append_piece(void *ctx, struct str piece, struct err *e)
{
	(void)e;
	buf_str(ctx, piece);
	return 0;
}

int zipread_whole(const struct byte_source *s, const struct zipmember *m, struct buf *out, struct err *e)
{
	if (m->size > out->cap - out->len || !buf_reserve(out, (size_t)m->size))
		return err_set(e, ERR_LIMIT, STR_FMT ": %llu bytes, more than %zu", STR_ARG(m->name),
			(unsigned long long)m->size, out->cap);
	return zipread_member(s, m, append_piece, out, e);
}

// --- whole members in memory ---

enum {
	HEAD_DATA = 1 << 10, // a table of codes has less than 400 bytes (RFC 1951, 3.2.7)
	HUGE_PAGE = 2 << 20,
	ROOM_KEPT = 4 << 20, // larger pages are given back after each member
};

static void pages_release(struct zipload_pages *p)
{
	if (p->at)
		munmap(p->at, p->room);
	*p = (struct zipload_pages){0};
}

// Pages of their own, so that a large member goes back to the system at once.
static int pages_reserve(struct zipload_pages *p, uint64_t size, struct err *e)
{
	if (p->room >= size)
		return 0;
	pages_release(p);
	size_t room = size < ROOM_KEPT ? ROOM_KEPT : ((size_t)size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return err_errno(e, ERR_LIMIT, "%zu bytes of memory", room);
	madvise(at, room, MADV_HUGEPAGE); // a tenth of the page faults
	*p = (struct zipload_pages){at, room};
	return 0;
}

void zipload_release(struct zipload *l)
{
	pages_release(&l->packed);
	pages_release(&l->unpacked);
	inflater_free(l->inflater);
	l->inflater = NULL;
}

static struct inflater *inflater_of(struct zipload *l)
{
	if (!l->inflater)
		l->inflater = inflater_new();
	return l->inflater;
}

// The first len bytes of a member's data.
static int data_of(struct zipload *l, const struct zipmember *m, uint64_t len, struct str *out, struct err *e)
{
	const struct byte_source *s = l->source;
	if (m->data > s->size || len > s->size - m->data)
		return err_set(e, ERR_INVALID, "truncated");
	if (!s->memory && (pages_reserve(&l->packed, len, e) < 0 ||
				  byte_source_read(s, m->data, l->packed.at, (size_t)len, e) < 0))
		return -1;
	*out = (struct str){s->memory ? s->memory + m->data : l->packed.at, (size_t)len};
	return 0;
}

long zipload_head(struct zipload *l, const struct zipmember *m, char *out, size_t size, struct err *e)
{
	bool is_stored = m->method == ZIP_STORED;
	uint64_t want = is_stored ? size : HEAD_DATA;
	struct str data;
	if (data_of(l, m, m->packed < want ? m->packed : want, &data, e) < 0)
		return -1;
	if (!is_stored)
		return (long)inflater_head(inflater_of(l), data, out, size);
	memcpy(out, data.ptr, data.len);
	return (long)data.len;
}

static int unpack_member(struct zipload *l, const struct zipmember *m, struct str *out, struct err *e)
{
	struct str data;
	if (m->packed > SIZE_MAX || m->size > SIZE_MAX)
		return err_set(e, ERR_LIMIT, "too large");
	if (data_of(l, m, m->packed, &data, e) < 0)
		return -1;
	*out = data;
	if (m->method == ZIP_STORED)
		return 0;
	if (pages_reserve(&l->unpacked, m->size, e) < 0)
		return -1;
	*out = (struct str){l->unpacked.at, (size_t)m->size};
	return inflater_whole(inflater_of(l), data, l->unpacked.at, out->len, e);
}

void zipload_trim(struct zipload *l)
{
	if (l->packed.room > ROOM_KEPT)
		pages_release(&l->packed);
	if (l->unpacked.room > ROOM_KEPT)
		pages_release(&l->unpacked);
}

int zipload_whole(struct zipload *l, const struct zipmember *m, struct str *out, struct err *e)
{
	zipload_trim(l);
	if (unpack_member(l, m, out, e) < 0)
		return -1;
	return inflate_crc32(*out) == m->crc ? 0 : err_set(e, ERR_INVALID, "CRC differs");
}
