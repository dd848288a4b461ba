// SPDX-License-Identifier: Apache-2.0
#include "lib/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	e->kind = kind;
	vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return -1;
}

int err_errno(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	char text[128];
	const char *reason = strerror_r(errno, text, sizeof(text));
	va_list ap;
	va_start(ap, fmt);
	e->kind = kind;
	int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, ": %s", reason);
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char rest[ERR_MSG_SIZE];
	memcpy(rest, e->msg, sizeof(rest));
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < sizeof(e->msg))
		snprintf(e->msg + n, sizeof(e->msg) - (size_t)n, "%s", rest);
	return -1;
}

int err_unless_missing(struct err *e, const struct err *why)
{
	if (why->kind == ERR_NOT_FOUND)
		return 0;
	*e = *why;
	return -1;
}

int err_advise(struct err *e, const char *fmt, ...)
{
	size_t end = strlen(e->msg);
	int n = snprintf(e->msg + end, sizeof(e->msg) - end, "; ");
	if (n < 0 || end + (size_t)n >= sizeof(e->msg))
		return -1;
	end += (size_t)n;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->msg + end, sizeof(e->msg) - end, fmt, ap);
	va_end(ap);
	return -1;
}

int err_exit_code(enum err_kind kind)
{
	if (kind == ERR_NONE)
		return 0;
	return kind == ERR_USAGE ? 2 : 1;
}
