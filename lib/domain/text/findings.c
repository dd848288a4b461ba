// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/base/limits.h"

void findings_init(struct findings *f)
{
	f->count = 0;
	buf_init(&f->text, LIMIT_FINDINGS);
}

void findings_release(struct findings *f)
{
	buf_release(&f->text);
}

bool findings_are_full(const struct findings *f)
{
	return f->text.failed;
}

static void add_finding(struct findings *f, const char *line)
{
	f->count++;
	buf_printf(&f->text, "%s\n", line);
}

void findings_add(struct findings *f, const char *fmt, ...)
{
	char line[ERR_MSG_SIZE];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	add_finding(f, line);
}

int findings_add_or_fail(struct findings *f, enum strictness strictness, struct err *e, const char *fmt, ...)
{
	char line[ERR_MSG_SIZE];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (strictness == STRICT)
		return err_set(e, ERR_INVALID, "%s", line);
	add_finding(f, line);
	return 0;
}
