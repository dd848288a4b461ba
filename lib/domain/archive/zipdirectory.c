// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipdirectory.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/zipwire.h"

enum {
	NEWEST_VERSION = 63, // the newest "version needed to extract" that Python's zipfile accepts
	MADE_ON_UNIX = 3,    // APPNOTE 4.4.2
};

// Python's zipfile, and so pip, does not open encrypted or patched members.
enum {
	FLAGS_REFUSED = ZIP_FLAG_ENCRYPTED | ZIP_FLAG_PATCHED | ZIP_FLAG_STRONG | ZIP_FLAG_MASKED,
};

static int check_member_name(struct str name, struct err *e)
{
	if (!name.len)
		return err_set(e, ERR_INVALID, "Empty filename");
	for (size_t i = 0; i < name.len; i++)
		if ((unsigned char)name.ptr[i] < 0x20 || name.ptr[i] == 0x7f)
			return err_set(e, ERR_INVALID, "Invalid character in filename");
	return str_is_utf8(name) ? 0 : err_set(e, ERR_INVALID, "Filename not unicode");
}

// Takes the 64-bit values from the ZIP64 field. It holds, in this order, only the values that are all ones in the
// header (APPNOTE 4.5.3). Excess values are rejected: a reader that takes the first values as sizes would read another
// member.
static int apply_zip64(struct zipmember *m, uint32_t disk, const struct zipextra *extra, struct err *e)
{
	struct str rest = extra->zip64;
	const struct {
		uint64_t *value;
		const char *name;
	} wide[] = {{&m->size, "File size"}, {&m->packed, "Compress size"}, {&m->header, "Header offset"}};
	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		if (*wide[i].value != UINT32_MAX)
			continue;
		if (rest.len < 8)
			return err_set(e, ERR_INVALID, "Corrupt zip64 extra field. %s not found.", wide[i].name);
		*wide[i].value = zip_get64(rest.ptr);
		rest = str_slice(rest, 8, rest.len);
	}
	if (disk == UINT16_MAX && rest.len >= 4) {
		disk = zip_get32(rest.ptr);
		rest = str_slice(rest, 4, rest.len);
	}
	if (disk)
		return err_set(e, ERR_INVALID, "Malformed zip file: spans several disks");
	if (rest.len)
		return err_set(e, ERR_INVALID, "Mis-matched data size: ZIP64 extra field is too long");
	return 0;
}

// Checks everything about a member except its position. A compression method that uv cannot unpack is rejected under
// both strictnesses.
static int check_member(const struct zipmember *m, unsigned version_needed, struct err *e)
{
	if (m->flags & FLAGS_REFUSED)
		return err_set(e, ERR_INVALID, "File is encrypted or patched: " STR_FMT, STR_ARG(m->name));
	if ((version_needed & 0xff) > NEWEST_VERSION)
		return err_set(e, ERR_INVALID, "File needs ZIP version %u.%u: " STR_FMT, (version_needed & 0xff) / 10,
			version_needed % 10, STR_ARG(m->name));
	if (m->method != ZIP_STORED && m->method != ZIP_DEFLATED)
		return err_set(e, ERR_INVALID, "File does not use a supported compression type: " STR_FMT " (%u)",
			STR_ARG(m->name), m->method);
	if (m->method == ZIP_STORED && m->packed != m->size)
		return err_set(e, ERR_INVALID, "Mis-matched data size: " STR_FMT " is stored, with two sizes",
			STR_ARG(m->name));
	if (m->is_folder && m->size) // extractors create a folder and drop the bytes
		return err_set(e, ERR_INVALID, "Malformed zip file: the folder " STR_FMT " has content",
			STR_ARG(m->name));
	return 0;
}

// Reads the entry at *rest into m and advances *rest. *commented is whether the entry has a comment.
static int read_entry(struct str *rest, struct zipmember *m, bool *commented, struct err *e)
{
	const char *at = rest->ptr;
	if (rest->len < ZIP_CENTRAL_SIZE || zip_get32(at) != ZIP_CENTRAL)
		return err_set(e, ERR_INVALID, "Truncated central directory");
	size_t name = zip_get16(at + 28), extra = zip_get16(at + 30), comment = zip_get16(at + 32);
	if (name + extra + comment > rest->len - ZIP_CENTRAL_SIZE)
		return err_set(e, ERR_INVALID, "Truncated central directory");
	struct str texts = str_slice(*rest, ZIP_CENTRAL_SIZE, rest->len);
	bool on_unix = (unsigned char)at[5] == MADE_ON_UNIX;
	*m = (struct zipmember){
		.name = str_slice(texts, 0, name),
		.header = zip_get32(at + 42),
		.packed = zip_get32(at + 20),
		.size = zip_get32(at + 24),
		.crc = zip_get32(at + 16),
		.method = zip_get16(at + 10),
		.flags = zip_get16(at + 8),
		.mode = on_unix ? zip_get16(at + 40) : 0,
		.attributes = zip_get16(at + 40),
		.is_folder = name && texts.ptr[name - 1] == '/',
	};
	*commented = comment > 0;
	*rest = str_slice(texts, name + extra + comment, texts.len);
	struct zipextra fields;
	if (check_member_name(m->name, e) < 0 ||
		zipextra_parse(str_slice(texts, name, name + extra), m->name, &fields, e) < 0 ||
		apply_zip64(m, zip_get16(at + 34), &fields, e) < 0)
		return -1;
	return check_member(m, zip_get16(at + 6), e);
}

static int compare_member_names(const void *a, const void *b)
{
	const struct zipmember *const *left = a, *const *right = b;
	return str_cmp((*left)->name, (*right)->name);
}

static int load_directory(const struct byte_source *s, struct zipdirectory *zip, enum strictness strictness,
	struct findings *findings, struct err *e)
{
	if (byte_source_read(s, zip->offset, zip->bytes, (size_t)zip->size, e) < 0)
		return err_prefix(e, "Malformed zip file: ");
	struct str rest = {zip->bytes, (size_t)zip->size};
	size_t comments = 0, ambiguous = 0;
	for (size_t i = 0; i < zip->count; i++) {
		bool commented = false;
		if (read_entry(&rest, &zip->members[i], &commented, e) < 0)
			return -1;
		comments += commented;
		ambiguous += !(zip->members[i].flags & ZIP_FLAG_UTF8) && !str_is_ascii(zip->members[i].name);
	}
	if (rest.len)
		return err_set(e, ERR_INVALID, "Truncated central directory: %zu bytes are not an entry", rest.len);
	// Info-ZIP writes UTF-8 without setting the flag. Python then decodes the name as code page 437.
	if (ambiguous)
		findings_add(findings, "Filenames not ASCII, and not marked as UTF-8: %zu", ambiguous);
	// Old tools wrote comments. Clients never show them, so they are harmless.
	if (comments && findings_add_or_fail(findings, strictness, e, "Comment in central directory") < 0)
		return -1;
	// It sorts instead of using a hash table, because no choice of names makes sorting slow.
	for (size_t i = 0; i < zip->count; i++)
		zip->by_name[i] = &zip->members[i];
	qsort(zip->by_name, zip->count, sizeof(zip->by_name[0]), compare_member_names);
	for (size_t i = 1; i < zip->count; i++) {
		const struct zipmember *a = zip->by_name[i - 1], *b = zip->by_name[i];
		if (str_eq(a->name, b->name))
			return err_set(e, ERR_INVALID, "Duplicate filename in %s: " STR_FMT,
				a->header == b->header ? "central directory" : "local headers", STR_ARG(a->name));
	}
	return 0;
}

int zipdirectory_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e)
{
	struct zipend end;
	if (zipend_read(s, &end, e) < 0)
		return -1;
	if (end.count > LIMIT_ZIP_ENTRIES)
		return err_set(e, ERR_LIMIT, "%s: more than %d", COUNTED(end.count, "member|members"),
			LIMIT_ZIP_ENTRIES);
	if (end.size > LIMIT_ZIP_DIRECTORY)
		return err_set(e, ERR_LIMIT, "central directory of %llu bytes: more than %d",
			(unsigned long long)end.size, LIMIT_ZIP_DIRECTORY);
	if (end.count > end.size / ZIP_CENTRAL_SIZE)
		return err_set(e, ERR_INVALID, "Truncated central directory");
	*out = (struct zipdirectory){
		.members = xcalloc((size_t)end.count, sizeof(struct zipmember)),
		.by_name = xcalloc((size_t)end.count, sizeof(struct zipmember *)),
		.bytes = xmalloc((size_t)end.size),
		.count = (size_t)end.count,
		.offset = end.offset,
		.size = end.size,
	};
	if (load_directory(s, out, strictness, findings, e) == 0)
		return 0;
	zipdirectory_release(out);
	return -1;
}

void zipdirectory_release(struct zipdirectory *zip)
{
	free(zip->members);
	free(zip->by_name);
	free(zip->bytes);
	*zip = (struct zipdirectory){0};
}

const struct zipmember *zipdirectory_find(const struct zipdirectory *zip, struct str name)
{
	const struct zipmember wanted = {.name = name}, *key = &wanted;
	struct zipmember **found =
		bsearch(&key, zip->by_name, zip->count, sizeof(zip->by_name[0]), compare_member_names);
	return found ? *found : NULL;
}

// --- end records ---

// Hardly any wheel has a comment. So the search reads a short tail first, and the longest possible one if that has no
// end record.
static const size_t tail_size[] = {1024, ZIP_END_SIZE + ZIP_COMMENT_MAX};

// The offset of the last signature in the tail; -1 if there is none.
static long last_signature(struct str tail)
{
	for (size_t i = tail.len < 4 ? 0 : tail.len - 3; i-- > 0;)
		if (zip_get32(tail.ptr + i) == ZIP_END)
			return (long)i;
	return -1;
}

// Finds the end record: its offset and its fixed part.
static int find_end_record(const struct byte_source *s, uint64_t *at, char end[ZIP_END_SIZE], struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(tail_size); i++) {
		size_t size = s->size < tail_size[i] ? (size_t)s->size : tail_size[i];
		CLEANUP(mem_free) char *bytes = xmalloc(size);
		if (byte_source_read(s, s->size - size, bytes, size, e) < 0)
			return -1;
		long place = last_signature((struct str){bytes, size});
		if (place < 0)
			continue;
		size_t left = size - (size_t)place;
		if (left < ZIP_END_SIZE)
			return err_set(e, ERR_INVALID, "Malformed zip file: truncated end record");
		memcpy(end, bytes + place, ZIP_END_SIZE);
		*at = s->size - left;
		size_t comment = zip_get16(end + 20);
		if (left - ZIP_END_SIZE > comment)
			return err_set(e, ERR_INVALID, "Trailing data");
		if (left - ZIP_END_SIZE < comment)
			return err_set(e, ERR_INVALID, "Malformed zip file: truncated comment");
		return 0;
	}
	return err_set(e, ERR_INVALID, "File is not a zip file: no end of central directory");
}

// Whether a number of the old record is all ones, or equal to that of the ZIP64 record.
static bool agrees_with_zip64(uint64_t old, uint64_t ones, uint64_t wide)
{
	return old == ones || old == wide;
}

// Reads the ZIP64 end record that the locator names. It must end at *at, where the locator begins; *at becomes its
// beginning.
static int read_end64(const struct byte_source *s, const char *locator, const char *end, uint64_t *at,
	struct zipend *out, struct err *e)
{
	char end64[ZIP_END64_SIZE];
	uint64_t place = zip_get64(locator + 8);
	if (zip_get32(locator + 4) != 0 || zip_get32(locator + 16) > 1)
		return err_set(e, ERR_INVALID, "Malformed zip file: spans several disks");
	if (place > *at || *at - place < ZIP_END64_SIZE)
		return err_set(e, ERR_INVALID, "Corrupt zip64 end of central directory locator");
	if (byte_source_read(s, place, end64, sizeof(end64), e) < 0)
		return -1;
	if (zip_get32(end64) != ZIP_END64)
		return err_set(e, ERR_INVALID, "Corrupt zip64 end of central directory record");
	if (zip_get64(end64 + 4) != ZIP_END64_SIZE - 12)
		return err_set(e, ERR_INVALID, "ZIP64 extensible data not allowed");
	if (place + ZIP_END64_SIZE != *at)
		return err_set(e, ERR_INVALID, "Corrupt zip64 end of central directory record");
	*at = place;
	*out = (struct zipend){
		.count = zip_get64(end64 + 32),
		.size = zip_get64(end64 + 40),
		.offset = zip_get64(end64 + 48),
	};
	bool same = zip_get64(end64 + 24) == out->count && zip_get32(end64 + 16) == 0 && zip_get32(end64 + 20) == 0 &&
		    agrees_with_zip64(zip_get16(end + 10), UINT16_MAX, out->count) &&
		    agrees_with_zip64(zip_get16(end + 8), UINT16_MAX, out->count) &&
		    agrees_with_zip64(zip_get32(end + 12), UINT32_MAX, out->size) &&
		    agrees_with_zip64(zip_get32(end + 16), UINT32_MAX, out->offset);
	return same ? 0 : err_set(e, ERR_INVALID, "Corrupt zip64 end of central directory record");
}

int zipend_read(const struct byte_source *s, struct zipend *out, struct err *e)
{
	char end[ZIP_END_SIZE] = "", locator[ZIP_LOCATOR_SIZE] = "";
	uint64_t at = 0;
	if (find_end_record(s, &at, end, e) < 0)
		return -1;
	if (zip_get16(end + 4) || zip_get16(end + 6) || zip_get16(end + 8) != zip_get16(end + 10))
		return err_set(e, ERR_INVALID, "Malformed zip file: spans several disks");
	*out = (struct zipend){
		.count = zip_get16(end + 10),
		.size = zip_get32(end + 12),
		.offset = zip_get32(end + 16),
	};
	if (at >= ZIP_LOCATOR_SIZE && byte_source_read(s, at - ZIP_LOCATOR_SIZE, locator, sizeof(locator), e) < 0)
		return -1;
	if (zip_get32(locator) == ZIP_LOCATOR) {
		at -= ZIP_LOCATOR_SIZE;
		if (read_end64(s, locator, end, &at, out, e) < 0)
			return -1;
	}
	if (out->offset > at || out->size != at - out->offset)
		return err_set(e, ERR_INVALID,
			"Malformed zip file: the central directory does not end at its end record");
	return 0;
}

// --- extra fields ---

enum {
	ID_ZIP64 = 0x0001,
	ID_UNICODE_PATH = 0x7075,
	UNICODE_PATH_HEAD = 5, // a version byte and the CRC of the name it replaces
};

static int take_zip64(struct str body, struct zipextra *out, struct err *e)
{
	if (out->has_zip64)
		return err_set(e, ERR_INVALID, "Invalid duplicate extra in local file: ZIP64");
	if (body.len != 28 && (body.len > 24 || body.len % 8))
		return err_set(e, ERR_INVALID, "Malformed zip file: a ZIP64 extra field of %zu bytes", body.len);
	out->has_zip64 = true;
	out->zip64 = body;
	return 0;
}

static int check_unicode_path(struct str body, struct str name, struct err *e)
{
	if (body.len < UNICODE_PATH_HEAD)
		return err_set(e, ERR_INVALID, "Corrupt extra field 7075 (size=%zu)", body.len);
	if (!str_eq(str_slice(body, UNICODE_PATH_HEAD, body.len), name))
		return err_set(e, ERR_INVALID, "Unicode path differs from the filename " STR_FMT, STR_ARG(name));
	return 0;
}

int zipextra_parse(struct str extra, struct str name, struct zipextra *out, struct err *e)
{
	bool has_path = false;
	*out = (struct zipextra){0};
	while (extra.len) {
		if (extra.len < 4)
			return err_set(e, ERR_INVALID, "Malformed zip file: %zu stray bytes in an extra field",
				extra.len);
		unsigned id = zip_get16(extra.ptr), size = zip_get16(extra.ptr + 2);
		if (size > extra.len - 4)
			return err_set(e, ERR_INVALID, "Corrupt extra field %04x (size=%u)", id, size);
		struct str body = str_slice(extra, 4, 4 + size);
		if (id == ID_ZIP64 && take_zip64(body, out, e) < 0)
			return -1;
		if (id == ID_UNICODE_PATH && has_path)
			return err_set(e, ERR_INVALID, "Invalid duplicate extra in local file: 7075");
		if (id == ID_UNICODE_PATH && check_unicode_path(body, name, e) < 0)
			return -1;
		has_path |= id == ID_UNICODE_PATH;
		extra = str_slice(extra, 4 + size, extra.len);
	}
	return 0;
}
