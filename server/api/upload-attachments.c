// SPDX-License-Identifier: Apache-2.0
#include "server/api/upload-attachments.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"

static const char *const part_name[ATTACHMENT_COUNT] = {
	[ATTACHMENT_STATEMENT] = "build_provenance",
	[ATTACHMENT_PROVENANCE] = "attestations",
};

int upload_attachments_begin(struct upload_attachments *a, const char *part, struct err *e)
{
	a->part = NULL;
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		if (strcmp(part, part_name[kind]) != 0)
			continue;
		if (a->text[kind].data)
			return err_set(e, ERR_INVALID, "the form has two parts \"%s\"", part);
		a->part = &a->text[kind];
		buf_init(a->part, LIMIT_STATEMENT);
		return 1;
	}
	return 0;
}

int upload_attachments_add(struct upload_attachments *a, struct str bytes, struct err *e)
{
	if (!body_handler_keep(a->handler, bytes.len))
		return err_set(e, ERR_BUSY, "too many uploads with provenance arrive at once");
	buf_str(a->part, bytes);
	return a->part->failed ? err_set(e, ERR_LIMIT, "the form's part \"%s\" has more than %d bytes",
					 part_name[a->part - a->text], LIMIT_STATEMENT)
			       : 0;
}

// The array becomes a part of an object, so it is read by itself first: nothing in it can be a bundle of its own.
int upload_attachments_put(const struct upload_attachments *a, const char *filename, struct publish *p, struct err *e)
{
	uint8_t subject[SHA256_SIZE];
	size_t count = 0;
	CLEANUP(buf_release) struct buf object;
	struct str array = buf_view(&a->text[ATTACHMENT_PROVENANCE]);
	buf_init(&object, 2 * LIMIT_STATEMENT);
	if (a->text[ATTACHMENT_STATEMENT].len)
		publish_attach(p, ATTACHMENT_STATEMENT, buf_view(&a->text[ATTACHMENT_STATEMENT]));
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

uint64_t upload_attachments_size(const struct upload_attachments *a)
{
	uint64_t size = 0;
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		size += a->text[kind].len;
	return size;
}

void upload_attachments_release(struct upload_attachments *a)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		buf_release(&a->text[kind]);
}
