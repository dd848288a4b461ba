// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/declared.h"

#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"

static const char *const field_of[DIGEST_COUNT] = {
	[DIGEST_SHA256] = "sha256_digest",
	[DIGEST_MD5] = "md5_digest",
};

static int check_digest(const char *field, const char *declared, const struct digest_value *is, struct err *e)
{
	uint8_t bytes[DIGEST_MOST];
	char hex[2 * DIGEST_MOST + 1] = "";
	if (!hex_decode(str_from(declared), bytes, is->size))
		return err_set(e, ERR_INVALID, "%s is not %zu hexadecimal digits", field, 2 * is->size);
	if (memcmp(bytes, is->bytes, is->size) == 0)
		return 0;
	hex_encode(is->bytes, is->size, hex);
	return err_set(e, ERR_INVALID, "%s is %s, but the received bytes have %s", field, declared, hex);
}

int declared_check_bytes(const struct declared *form, const struct digest_value hash[DIGEST_COUNT], struct err *e)
{
	for (int i = 0; i < DIGEST_COUNT; i++)
		if (form->digest[i] && hash[i].size && check_digest(field_of[i], form->digest[i], &hash[i], e) < 0)
			return -1;
	return 0;
}

static int check_project(const char *declared, const char *project, struct err *e)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
	if (name_is_valid(str_from(declared)))
		name_normalize(str_from(declared), &normal);
	if (str_eq(buf_view(&normal), str_from(project)))
		return 0;
	return err_set(e, ERR_INVALID, "the form's name is \"%.100s\", but the file is of %s", declared, project);
}

// The version of an sdist may follow only from its name and its PKG-INFO together.
static bool is_same_sdist_version(const char *declared, struct str filename, const struct filename *file)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename parsed = {0};
	return filename_parse_sdist(filename, str_from(file->project), str_from(declared), &parsed, &ignored) == 0 &&
	       version_cmp(&parsed.version, &file->version) == 0;
}

static bool is_same_version(const char *declared, const struct version *version)
{
	struct err ignored = ERR_INIT;
	CLEANUP(version_release) struct version stated = {0};
	return version_parse(str_from(declared), &stated, &ignored) == 0 && version_cmp(&stated, version) == 0;
}

static int check_declared_version(const char *declared, struct str filename, const struct filename *file, struct err *e)
{
	if (is_same_version(declared, &file->version) ||
		(file->kind == FILENAME_SDIST && is_same_sdist_version(declared, filename, file)))
		return 0;
	return err_set(e, ERR_INVALID, "the form's version is \"%.100s\", but the file is version %s", declared,
		file->version.text);
}

static int check_filetype(const char *declared, enum filename_kind kind, struct err *e)
{
	static const char *const types[] = {[FILENAME_WHEEL] = "bdist_wheel", [FILENAME_SDIST] = "sdist"};
	if (strcmp(declared, types[kind]) == 0)
		return 0;
	return err_set(e, ERR_INVALID, "the form's filetype is \"%.40s\", but the file is a %s", declared, types[kind]);
}

int declared_check_name(const struct declared *form, struct str filename, const struct filename *file, struct err *e)
{
	if (form->name && check_project(form->name, file->project, e) < 0)
		return -1;
	if (form->version && check_declared_version(form->version, filename, file, e) < 0)
		return -1;
	return form->filetype ? check_filetype(form->filetype, file->kind, e) : 0;
}
