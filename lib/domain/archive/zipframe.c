// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipframe.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/tarstream.h"
#include "lib/domain/archive/zipwire.h"
#include "lib/os/byte-source.h"

// --- a window of the file ---
//
// A read buffer over a byte source, so that a walk over the records reads each block once. One thread at a time.

// Initialise it with {.source = s}.
struct zipwindow {
	const struct byte_source *source; // borrowed
	char *bytes;
	size_t room, len; // allocated; filled
	uint64_t at;      // offset in the source of the first byte
};

enum { READ_AHEAD = 4096 }; // one read covers the headers of several small members

static void zipwindow_release(struct zipwindow *w)
{
	free(w->bytes);
}

// Returns the len bytes at the offset, which are valid until the next call. NULL on an error: ERR_INVALID if the source
// ends before, ERR_IO if it cannot be read.
static const char *zipwindow_get(struct zipwindow *w, uint64_t at, size_t len, struct err *e)
{
	const struct byte_source *s = w->source;
	if (at > s->size || len > s->size - at) {
		err_set(e, ERR_INVALID, "Malformed zip file: truncated");
		return NULL;
	}
	if (s->memory)
		return s->memory + at;
	if (at >= w->at && at - w->at <= w->len && len <= w->len - (at - w->at))
		return w->bytes + (at - w->at);
	size_t want = len > READ_AHEAD ? len : READ_AHEAD;
	if (want > s->size - at)
		want = (size_t)(s->size - at);
	if (want > w->room) {
		w->bytes = xreallocarray(w->bytes, want, 1);
		w->room = want;
	}
	w->len = 0;
	if (byte_source_read(s, at, w->bytes, want, e) < 0)
		return NULL;
	w->at = at;
	w->len = want;
	return w->bytes;
}

// --- records ---

// Sets the error for bytes that belong to no record of the central directory.
static int reject_stray(struct zipwindow *w, uint64_t at, struct err *e)
{
	const char *bytes = zipwindow_get(w, at, 4, e);
	if (bytes && zip_get32(bytes) == ZIP_LOCAL)
		return err_set(e, ERR_INVALID, "Filename not in central directory: record at %llu",
			(unsigned long long)at);
	return err_set(e, ERR_INVALID, "Unknown record signature at %llu", (unsigned long long)at);
}

// Whether a number of a local header is that of the central directory, or 0 if a data descriptor follows.
static bool agrees_with_central(uint64_t local, uint64_t central, bool later)
{
	return local == central || (later && local == 0);
}

static int check_header(const char *at, const struct zipmember *m, struct err *e)
{
	unsigned flags = zip_get16(at + 6), differ = flags ^ m->flags;
	bool later = flags & ZIP_FLAG_DESCRIPTOR;
	if (differ & (ZIP_FLAG_ENCRYPTED | ZIP_FLAG_PATCHED | ZIP_FLAG_STRONG | ZIP_FLAG_MASKED))
		return err_set(e, ERR_INVALID, "Mis-matched flags: " STR_FMT, STR_ARG(m->name));
	// The flag is the encoding of the name. Unless the name is ASCII, two flags are two names.
	if ((differ & ZIP_FLAG_UTF8) && !str_is_ascii(m->name))
		return err_set(e, ERR_INVALID, "Mis-matched flags: " STR_FMT, STR_ARG(m->name));
	if (zip_get16(at + 8) != m->method)
		return err_set(e, ERR_INVALID, "Mis-matched compression type: " STR_FMT, STR_ARG(m->name));
	if (!agrees_with_central(zip_get32(at + 14), m->crc, later))
		return err_set(e, ERR_INVALID, "Mis-matched checksum: " STR_FMT, STR_ARG(m->name));
	return 0;
}

// Reads the local header of m, fills in m->data, and compares the header with the central directory. next is where the
// record after m begins.
static int read_local(struct zipwindow *w, struct zipmember *m, uint64_t next, unsigned *flags, struct zipextra *extra,
	struct err *e)
{
	const char *at = zipwindow_get(w, m->header, ZIP_LOCAL_SIZE, e);
	if (!at)
		return -1;
	if (zip_get32(at) != ZIP_LOCAL)
		return err_set(e, ERR_INVALID, "Missing filename in local headers: " STR_FMT, STR_ARG(m->name));
	size_t name_len = zip_get16(at + 26), extra_len = zip_get16(at + 28);
	size_t whole = ZIP_LOCAL_SIZE + name_len + extra_len;
	if (whole > next - m->header)
		return err_set(e, ERR_INVALID,
			"Malformed zip file: the header of " STR_FMT " reaches into the next record", STR_ARG(m->name));
	at = zipwindow_get(w, m->header, whole, e);
	if (!at)
		return -1;
	if (!str_eq((struct str){at + ZIP_LOCAL_SIZE, name_len}, m->name))
		return err_set(e, ERR_INVALID,
			"Filename not in central directory: it says " STR_FMT
			" where the record at %llu has another name",
			STR_ARG(m->name), (unsigned long long)m->header);
	*flags = zip_get16(at + 6);
	m->data = m->header + whole;
	struct str fields = {at + ZIP_LOCAL_SIZE + name_len, extra_len};
	if (zipextra_parse(fields, m->name, extra, e) < 0 || check_header(at, m, e) < 0)
		return -1;
	// Compares the sizes in the header and those in its ZIP64 field, which must have both (APPNOTE 4.5.3). Bazel
	// writes the field even if the sizes fit the header.
	bool later = *flags & ZIP_FLAG_DESCRIPTOR;
	uint64_t packed = zip_get32(at + 18), size = zip_get32(at + 22);
	size_t len = extra->zip64.len;
	if (extra->has_zip64 && len == 0 && (packed == UINT32_MAX || size == UINT32_MAX))
		return err_set(e, ERR_INVALID, "Malformed zip file: empty ZIP64 extra field");
	if (len == 8 && m->method != ZIP_STORED)
		return err_set(e, ERR_INVALID, "Malformed zip file: ZIP64 extra field with one size");
	uint64_t wide_size = len >= 8 ? zip_get64(extra->zip64.ptr) : size;
	uint64_t wide_packed = len >= 16 ? zip_get64(extra->zip64.ptr + 8) : len == 8 ? wide_size : packed;
	if (!agrees_with_central(wide_packed, m->packed, later) ||
		(packed != UINT32_MAX && !agrees_with_central(packed, m->packed, later)))
		return err_set(e, ERR_INVALID, "Mis-matched data size: " STR_FMT, STR_ARG(m->name));
	if (!agrees_with_central(wide_size, m->size, later) ||
		(size != UINT32_MAX && !agrees_with_central(size, m->size, later)))
		return err_set(e, ERR_INVALID, "Mis-matched file size: " STR_FMT, STR_ARG(m->name));
	return 0;
}

// The descriptor fills the bytes between the data and the next record exactly, so its length shows which of the four
// forms it has (APPNOTE 4.3.9). Sizes have 64 bits if the member has a ZIP64 field, as streaming readers expect.
static int check_descriptor(struct zipwindow *w, const struct zipmember *m, uint64_t next, bool wide, struct err *e)
{
	uint64_t at = m->data + m->packed;
	size_t numbers = wide ? 20 : 12;
	bool is_signed = next - at == numbers + 4;
	if (!is_signed && next - at != numbers)
		return err_set(e, ERR_INVALID, "Malformed data descriptor: " STR_FMT, STR_ARG(m->name));
	const char *bytes = zipwindow_get(w, at, (size_t)(next - at), e);
	if (!bytes)
		return -1;
	bool ok = !is_signed || zip_get32(bytes) == ZIP_DESCRIPTOR;
	bytes += is_signed ? 4 : 0;
	uint64_t packed = wide ? zip_get64(bytes + 4) : zip_get32(bytes + 4);
	uint64_t size = wide ? zip_get64(bytes + 12) : zip_get32(bytes + 8);
	if (!ok || zip_get32(bytes) != m->crc || packed != m->packed || size != m->size)
		return err_set(e, ERR_INVALID, "Mis-matched data descriptor: " STR_FMT, STR_ARG(m->name));
	return 0;
}

// Checks one record, from its header to the beginning of the next record.
static int walk_record(struct zipwindow *w, struct zipmember *m, uint64_t next, enum strictness strictness,
	size_t *descriptors, struct err *e)
{
	unsigned flags = 0;
	struct zipextra extra;
	if (read_local(w, m, next, &flags, &extra, e) < 0)
		return -1;
	bool described = flags & ZIP_FLAG_DESCRIPTOR;
	if (strictness == STRICT && (described || (m->flags & ZIP_FLAG_DESCRIPTOR)))
		return err_set(e, ERR_INVALID, "ZIP contains a data descriptor: " STR_FMT, STR_ARG(m->name));
	*descriptors += described;
	if (m->packed > next - m->data)
		return err_set(e, ERR_INVALID, "Mis-matched data size: " STR_FMT " reaches into the next record",
			STR_ARG(m->name));
	if (described)
		return check_descriptor(w, m, next, extra.has_zip64, e);
	if (m->data + m->packed != next)
		return reject_stray(w, m->data + m->packed, e);
	return 0;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct zipmember *const *left = a, *const *right = b;
	return ((*left)->header > (*right)->header) - ((*left)->header < (*right)->header);
}

// Each record must end where the next one begins, and the last record where the central directory begins. Then a reader
// from the front sees the members of the directory, without gaps and overlaps.
static int walk_records(struct zipwindow *w, struct zipdirectory *zip, enum strictness strictness,
	struct findings *findings, struct err *e)
{
	CLEANUP(mem_free) struct zipmember **order = xcalloc(zip->count + 1, sizeof(*order));
	struct zipmember end = {.header = zip->offset};
	size_t descriptors = 0;
	for (size_t i = 0; i < zip->count; i++)
		order[i] = &zip->members[i];
	qsort(order, zip->count, sizeof(*order), compare_offsets);
	order[zip->count] = &end;
	if (order[0]->header != 0)
		return reject_stray(w, 0, e);
	for (size_t i = 0; i < zip->count; i++) {
		if (order[i]->header >= end.header)
			return err_set(e, ERR_INVALID, "Missing filename in local headers: " STR_FMT,
				STR_ARG(order[i]->name));
		if (walk_record(w, order[i], order[i + 1]->header, strictness, &descriptors, e) < 0)
			return -1;
	}
	if (descriptors)
		findings_add(findings, "ZIP contains data descriptors: %s", COUNTED(descriptors, "member|members"));
	return 0;
}

static int check_bomb(const struct zipdirectory *zip, uint64_t file_size, struct err *e)
{
	uint64_t total = 0;
	for (size_t i = 0; i < zip->count; i++)
		if (__builtin_add_overflow(total, zip->members[i].size, &total))
			return err_set(e, ERR_INVALID, "Decompression bomb: sizes pass 64 bits");
	if (total > LIMIT_UNPACKED && total / LIMIT_UNPACKED_RATIO > file_size)
		return err_set(e, ERR_INVALID, "Decompression bomb: %llu bytes from %llu", (unsigned long long)total,
			(unsigned long long)file_size);
	return 0;
}

int zipframe_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e)
{
	CLEANUP(zipwindow_release) struct zipwindow w = {.source = s};
	// Checks the first bytes, which a reader that begins at the front sees.
	if (w.source->size < ZIP_END_SIZE)
		return err_set(e, ERR_INVALID, "File is not a zip file: %llu bytes",
			(unsigned long long)w.source->size);
	const char *front = zipwindow_get(&w, 0, 4, e);
	if (!front)
		return -1;
	uint32_t signature = zip_get32(front);
	if (signature == ZIP_CENTRAL)
		return err_set(e, ERR_INVALID, "Missing filename in local headers");
	if (signature != ZIP_LOCAL && signature != ZIP_END && signature != ZIP_END64)
		return err_set(e, ERR_INVALID, "Unknown record signature at the first byte");
	if (w.source->size >= TAR_BLOCK) {
		const char *block = zipwindow_get(&w, 0, TAR_BLOCK, e);
		if (!block)
			return -1;
		if (tarstream_is_header(block))
			return err_set(e, ERR_INVALID, "File is both a zip and a tar file");
	}
	if (zipdirectory_read(s, strictness, findings, out, e) < 0)
		return -1;
	int result = walk_records(&w, out, strictness, findings, e);
	if (result == 0 && strictness == STRICT)
		result = check_bomb(out, s->size, e);
	if (result < 0)
		zipdirectory_release(out);
	return result;
}
