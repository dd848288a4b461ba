// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/archive/zipextra.h"

#include "lib/domain/archive/zipwire.h"

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
