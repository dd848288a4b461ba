// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/upload-form.h"

#include <stdlib.h>
#include <string.h>

static const char *const field_name[FORM_COUNT] = {
	[FORM_ACTION] = ":action",
	[FORM_PROTOCOL] = "protocol_version",
	[FORM_NAME] = "name",
	[FORM_VERSION] = "version",
	[FORM_FILETYPE] = "filetype",
	[FORM_SHA256] = "sha256_digest",
	[FORM_BLAKE2B_256] = "blake2_256_digest",
	[FORM_MD5] = "md5_digest",
};

void form_release(struct form *f)
{
	for (int i = 0; i < FORM_COUNT; i++)
		free(f->value[i]);
	*f = (struct form){0};
}

enum form_field form_find(struct str name)
{
	int i = 0;
	while (i < FORM_COUNT && !str_eq(name, str_from(field_name[i])))
		i++;
	return (enum form_field)i;
}

// twine and poetry send empty fields for what there is not, and older tools "UNKNOWN".
int form_put(struct form *f, enum form_field field, struct str value, struct err *e)
{
	value = str_trim(value);
	if (!value.len || str_eq(value, STR("UNKNOWN")))
		return 0;
	if (f->value[field] && !str_eq(value, str_from(f->value[field])))
		return err_set(e, ERR_INVALID, "the form has two values for %s", field_name[field]);
	free(f->value[field]);
	f->value[field] = xstrndup(value.ptr, value.len);
	return 0;
}

int form_check(const struct form *f, struct err *e)
{
	static const char *const retired[] = {"submit", "submit_pkg_info", "doc_upload"};
	const char *action = f->value[FORM_ACTION], *protocol = f->value[FORM_PROTOCOL];
	for (size_t i = 0; action && i < ARRAY_SIZE(retired); i++)
		if (strcmp(action, retired[i]) == 0)
			return err_set(e, ERR_DENIED, ":action %s is no more: upload the file itself", action);
	if (action && strcmp(action, "file_upload") != 0)
		return err_set(e, ERR_INVALID, ":action is \"%.40s\", not file_upload", action);
	if (protocol && strcmp(protocol, "1") != 0)
		return err_set(e, ERR_INVALID, "protocol_version is \"%.40s\", not 1", protocol);
	return 0;
}

struct claims form_claims(const struct form *f)
{
	return (struct claims){
		.name = f->value[FORM_NAME],
		.version = f->value[FORM_VERSION],
		.filetype = f->value[FORM_FILETYPE],
		.digest = {[HASH_SHA256] = f->value[FORM_SHA256],
			[HASH_BLAKE2B_256] = f->value[FORM_BLAKE2B_256],
			[HASH_MD5] = f->value[FORM_MD5]},
	};
}
