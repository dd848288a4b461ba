// SPDX-License-Identifier: Apache-2.0
#include "server/api/upload-form.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"

static const char *const field_name[UPLOAD_FORM_COUNT] = {
	[UPLOAD_FORM_ACTION] = ":action",
	[UPLOAD_FORM_PROTOCOL] = "protocol_version",
	[UPLOAD_FORM_NAME] = "name",
	[UPLOAD_FORM_VERSION] = "version",
	[UPLOAD_FORM_FILETYPE] = "filetype",
	[UPLOAD_FORM_SHA256] = "sha256_digest",
	[UPLOAD_FORM_MD5] = "md5_digest",
};

void upload_form_release(struct upload_form *f)
{
	for (int i = 0; i < UPLOAD_FORM_COUNT; i++)
		free(f->value[i]);
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		buf_release(&f->attachment[kind]);
	*f = (struct upload_form){0};
}

enum upload_form_field upload_form_find(struct str name)
{
	int i = 0;
	while (i < UPLOAD_FORM_COUNT && !str_eq(name, str_from(field_name[i])))
		i++;
	return (enum upload_form_field)i;
}

// For absent metadata twine and poetry send empty fields, and older tools "UNKNOWN".
int upload_form_put(struct upload_form *f, enum upload_form_field field, struct str value, struct err *e)
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

int upload_form_check(const struct upload_form *f, struct err *e)
{
	static const char *const retired[] = {"submit", "submit_pkg_info", "doc_upload"};
	const char *action = f->value[UPLOAD_FORM_ACTION], *protocol = f->value[UPLOAD_FORM_PROTOCOL];
	for (size_t i = 0; action && i < ARRAY_SIZE(retired); i++)
		if (strcmp(action, retired[i]) == 0)
			return err_set(e, ERR_DENIED, ":action %s is no more: upload the file itself", action);
	if (action && strcmp(action, "file_upload") != 0)
		return err_set(e, ERR_INVALID, ":action is \"%.40s\", not file_upload", action);
	if (protocol && strcmp(protocol, "1") != 0)
		return err_set(e, ERR_INVALID, "protocol_version is \"%.40s\", not 1", protocol);
	return 0;
}

struct declared upload_form_declared(const struct upload_form *f)
{
	return (struct declared){
		.name = f->value[UPLOAD_FORM_NAME],
		.version = f->value[UPLOAD_FORM_VERSION],
		.filetype = f->value[UPLOAD_FORM_FILETYPE],
		.digest = {[DIGEST_SHA256] = f->value[UPLOAD_FORM_SHA256], [DIGEST_MD5] = f->value[UPLOAD_FORM_MD5]},
	};
}

// --- attachments ---

static const char *const part_name[ATTACHMENT_COUNT] = {
	[ATTACHMENT_STATEMENT] = "build_provenance",
	[ATTACHMENT_PROVENANCE] = "attestations",
};

int upload_form_attach(struct upload_form *f, const char *part, struct err *e)
{
	f->part = NULL;
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		if (strcmp(part, part_name[kind]) != 0)
			continue;
		if (f->attachment[kind].data)
			return err_set(e, ERR_INVALID, "the form has two parts \"%s\"", part);
		f->part = &f->attachment[kind];
		buf_init(f->part, LIMIT_STATEMENT);
		return 1;
	}
	return 0;
}

int upload_form_attach_more(struct upload_form *f, struct str bytes, struct err *e)
{
	if (!body_handler_keep(f->handler, bytes.len))
		return err_set(e, ERR_BUSY, "too many uploads with provenance arrive at once");
	buf_str(f->part, bytes);
	return f->part->failed ? err_set(e, ERR_LIMIT, "the form's part \"%s\" has more than %d bytes",
					 part_name[f->part - f->attachment], LIMIT_STATEMENT)
			       : 0;
}

// The array becomes a part of an object, so it is read by itself first: nothing in it can be a bundle of its own.
int upload_form_put_attachments(const struct upload_form *f, const char *filename, struct publish *p, struct err *e)
{
	uint8_t subject[SHA256_SIZE];
	size_t count = 0;
	CLEANUP(buf_release) struct buf object = buf_up_to(2 * LIMIT_STATEMENT);
	struct str array = buf_view(&f->attachment[ATTACHMENT_PROVENANCE]);
	if (f->attachment[ATTACHMENT_STATEMENT].len)
		publish_attach(p, ATTACHMENT_STATEMENT, buf_view(&f->attachment[ATTACHMENT_STATEMENT]));
	if (!array.len)
		return 0;
	if (attestations_read(array, filename, subject, &count, e) < 0)
		return -1;
	if (!count)
		return 0;
	attestations_put_object(array, &object);
	publish_attach(p, ATTACHMENT_PROVENANCE, buf_view(&object));
	return 0;
}

uint64_t upload_form_attached(const struct upload_form *f)
{
	uint64_t size = 0;
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		size += f->attachment[kind].len;
	return size;
}
