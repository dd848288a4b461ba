// SPDX-License-Identifier: Apache-2.0
#include "lib/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *check_allocated(void *p)
{
	if (!p) {
		static const char text[] = "wheelcache: out of memory\n";
		if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
			_exit(71);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return check_allocated(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
	return check_allocated(calloc(count ? count : 1, size ? size : 1));
}

void *xreallocarray(void *old, size_t count, size_t size)
{
	return check_allocated(reallocarray(old, count ? count : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return check_allocated(strdup(s));
}

char *xstrndup(const char *s, size_t len)
{
	return check_allocated(strndup(s, len));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;
	int n = vasprintf(&s, fmt, ap);
	return check_allocated(n < 0 ? NULL : s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}

void mem_free(void *pointer_to_pointer)
{
	void **p = pointer_to_pointer;
	free(*p);
	*p = NULL;
}

void mem_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int mem_steal_fd(int *fd)
{
	int stolen = *fd;
	*fd = -1;
	return stolen;
}
