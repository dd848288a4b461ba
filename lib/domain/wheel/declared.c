// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/declared.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"

static const char *const field_of[DIGEST_COUNT] = {
	[DIGEST_SHA256] = "sha256_digest",
	[DIGEST_BLAKE2B_256] = "blake2_256_digest",
	[DIGEST_MD5] = "md5_digest",
};

static int check_digest(const char *field, const char *said, const struct digest_value *is, struct err *e)
{
	uint8_t bytes[DIGEST_MOST];
	char hex[2 * DIGEST_MOST + 1] = "";
	if (!hex_decode(str_from(said), bytes, is->size))
		return err_set(e, ERR_INVALID, "%s is not %zu hexadecimal digits", field, 2 * is->size);
	if (memcmp(bytes, is->bytes, is->size) == 0)
		return 0;
	hex_encode(is->bytes, is->size, hex);
	return err_set(e, ERR_INVALID, "%s is %s, but the bytes that came have %s", field, said, hex);
}

int declared_check_bytes(const struct declared *claims, const struct digest_value hash[DIGEST_COUNT], struct err *e)
{
	for (int i = 0; i < DIGEST_COUNT; i++)
		if (claims->digest[i] && hash[i].size && check_digest(field_of[i], claims->digest[i], &hash[i], e) < 0)
			return -1;
	return 0;
}

static int check_project(const char *said, const char *project, struct err *e)
{
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	if (name_is_valid(str_from(said)))
		name_normalize(str_from(said), &normal);
	if (str_eq(buf_view(&normal), str_from(project)))
		return 0;
	return err_set(e, ERR_INVALID, "the form's name is \"%.100s\", but the file is of %s", said, project);
}

// The version of an sdist may be one that only its name and PKG-INFO together tell.
static bool is_version_of_sdist(const char *said, struct str filename, const struct filename *file)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename told = {0};
	return filename_parse_sdist(filename, str_from(file->project), str_from(said), &told, &ignored) == 0 &&
	       version_cmp(&told.version, &file->version) == 0;
}

static bool is_version(const char *said, const struct version *version)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version stated = {0};
	return version_parse(str_from(said), &stated, &ignored) == 0 && version_cmp(&stated, version) == 0;
}

static int check_version(const char *said, struct str filename, const struct filename *file, struct err *e)
{
	if (is_version(said, &file->version) ||
		(file->kind == FILENAME_SDIST && is_version_of_sdist(said, filename, file)))
		return 0;
	return err_set(e, ERR_INVALID, "the form's version is \"%.100s\", but the file is version %s", said,
		file->version.text);
}

static int check_filetype(const char *said, enum filename_kind kind, struct err *e)
{
	static const char *const types[] = {[FILENAME_WHEEL] = "bdist_wheel", [FILENAME_SDIST] = "sdist"};
	if (strcmp(said, types[kind]) == 0)
		return 0;
	return err_set(e, ERR_INVALID, "the form's filetype is \"%.40s\", but the file is a %s", said, types[kind]);
}

int declared_check_name(const struct declared *claims, struct str filename, const struct filename *file, struct err *e)
{
	if (claims->name && check_project(claims->name, file->project, e) < 0)
		return -1;
	if (claims->version && check_version(claims->version, filename, file, e) < 0)
		return -1;
	return claims->filetype ? check_filetype(claims->filetype, file->kind, e) : 0;
}
