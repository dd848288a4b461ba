// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-uploader.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/state/access/audit-recent.h"

static int take_uploader(void *ctx, const struct audit_entry *a, const char *time, struct err *e UNUSED)
{
	struct explain_uploaders *u = ctx;
	if (!a->who || !a->file || !a->sha256 || !a->platform || !a->action || strcmp(a->action, "upload") != 0 ||
		!a->result || strcmp(a->result, "done") != 0)
		return 0;
	GROW(u->upload, u->uploads, u->room);
	u->upload[u->uploads++] = (struct explain_uploader){.platform = arena_copy(&u->text, str_from(a->platform)),
		.filename = arena_copy(&u->text, str_from(a->file)),
		.sha256 = arena_copy(&u->text, str_from(a->sha256)),
		.by = arena_copy(&u->text, str_from(a->who)),
		.when = arena_copy(&u->text, str_from(time))};
	return 0;
}

void explain_uploaders_read(const char *audit_path, const char *project, struct explain_uploaders *out)
{
	struct err e = ERR_INIT;
	bool is_whole;
	const struct audit_query q = {.path = audit_path, .project = project, .most = LIMIT_AUDIT_READ};
	*out = (struct explain_uploaders){0};
	if (audit_path && audit_recent(&q, take_uploader, out, &is_whole, &e) < 0)
		log_warn("%s", e.msg);
}

void explain_uploaders_release(struct explain_uploaders *u)
{
	free(u->upload);
	arena_release(&u->text);
}

void explain_uploaders_put(const struct explain_uploaders *u, const char *platform, const char *filename,
	const uint8_t *sha256, struct jsondoc *row)
{
	char hex[SHA256_HEX + 1] = "";
	if (!sha256)
		return;
	hex_encode(sha256, SHA256_SIZE, hex);
	for (size_t i = u->uploads; i-- > 0;) {
		const struct explain_uploader *one = &u->upload[i];
		if (strcmp(one->filename, filename) != 0 || strcmp(one->sha256, hex) != 0 ||
			strcmp(one->platform, platform) != 0)
			continue;
		jsondoc_put_str(row, "uploaded_by", one->by);
		jsondoc_put_str(row, "uploaded", one->when);
		return;
	}
}

void explain_uploader_text(const struct jsondoc *row, const char *indent, struct buf *out)
{
	const char *by = jsondoc_get_str(row, "uploaded_by"), *when = jsondoc_get_str(row, "uploaded");
	if (by && when)
		escape_terminal_line(out, "%suploaded by %s at %.19sZ", indent, by, when);
}
