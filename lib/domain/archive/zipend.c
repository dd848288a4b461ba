// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipend.h"

#include <string.h>

#include "lib/domain/archive/zipwire.h"

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
	if (!same)
		return err_set(e, ERR_INVALID, "Corrupt zip64 end of central directory record");
	return 0;
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
