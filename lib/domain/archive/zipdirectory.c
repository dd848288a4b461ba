// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipdirectory.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/zipend.h"
#include "lib/domain/archive/zipextra.h"
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
	if (!str_is_utf8(name))
		return err_set(e, ERR_INVALID, "Filename not unicode");
	return 0;
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

static int read_entries(struct zipdirectory *zip, enum strictness strictness, struct findings *findings, struct err *e)
{
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
	return 0;
}

static int compare_member_names(const void *a, const void *b)
{
	const struct zipmember *const *left = a, *const *right = b;
	return str_cmp((*left)->name, (*right)->name);
}

// It sorts instead of using a hash table, because no choice of names makes sorting slow.
static int refuse_duplicates(struct zipdirectory *zip, struct err *e)
{
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

static int load_directory(const struct byte_source *s, struct zipdirectory *zip, enum strictness strictness,
	struct findings *findings, struct err *e)
{
	if (byte_source_read(s, zip->offset, zip->bytes, (size_t)zip->size, e) < 0)
		return err_prefix(e, "Malformed zip file: ");
	if (read_entries(zip, strictness, findings, e) < 0)
		return -1;
	return refuse_duplicates(zip, e);
}

int zipdirectory_read(const struct byte_source *s, enum strictness strictness, struct findings *findings,
	struct zipdirectory *out, struct err *e)
{
	struct zipend end;
	if (zipend_read(s, &end, e) < 0)
		return -1;
	if (end.count > LIMIT_ZIP_ENTRIES)
		return err_set(e, ERR_LIMIT, "%llu members: more than %d", (unsigned long long)end.count,
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
