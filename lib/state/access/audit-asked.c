// SPDX-License-Identifier: Apache-2.0
#include "lib/state/access/audit-asked.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/state/config/since.h"

int audit_asked_subject(struct audit_asked *a, const char *word, struct err *e)
{
	const char *slash = strrchr(word, '/'), *base = slash ? slash + 1 : word;
	if (filename_kind(str_from(base)) != FILENAME_OTHER) {
		a->file = xstrdup(base);
		return 0;
	}
	CLEANUP(buf_release) struct buf normal;
	buf_init(&normal, LIMIT_FILE_NAME);
	if (name_is_valid(str_from(word)))
		name_normalize(str_from(word), &normal);
	if (normal.failed || !normal.len)
		return err_set(e, ERR_USAGE, "%s is not a valid project name, nor the name of a file", word);
	a->project = xstrdup(normal.data);
	return 0;
}

int audit_asked_since(struct audit_asked *a, const char *text, struct err *e)
{
	int64_t since;
	if (since_read(text, &since, e) < 0)
		return -1;
	clock_write(since, a->since);
	a->since[CLOCK_TEXT - 2] = '\0'; // without "Z", as a time in the log has a fraction
	return 0;
}

void audit_asked_release(struct audit_asked *a)
{
	free(a->file);
	free(a->project);
	*a = (struct audit_asked){0};
}

void audit_asked_query(const struct audit_asked *a, struct audit_query *out)
{
	out->project = a->project;
	out->file = a->file;
	out->since = *a->since ? a->since : NULL;
}

void audit_entry_text(const struct audit_entry *a, const char *time, struct buf *out)
{
	// The fields in the order of a line, with what stands before each.
	const struct {
		const char *before, *text;
	} part[] = {{" ", a->who ? a->who : "-"}, {" from ", a->peer}, {": ", a->action}, {" ", a->platform},
		{" into view ", a->view}, {" ", a->file ? a->file : a->project}, {": ", a->result}, {" (", a->reason}};
	buf_puts(out, time);
	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		if (part[i].text)
			buf_printf(out, "%s%s", part[i].before, part[i].text);
	if (a->reason)
		buf_putc(out, ')');
}
