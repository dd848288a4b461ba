// SPDX-License-Identifier: Apache-2.0
// Memory and the attributes that the compiler checks for us.
//
// The x-functions end the process when memory is out: a daemon under a supervisor has no better
// answer. So no size that comes from outside may reach them before it was held against limits.h.
#pragma once

#include <stdarg.h>
#include <stddef.h>

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_CHECK __attribute__((warn_unused_result))
#define UNUSED __attribute__((unused))

// Calls fn(&variable) when the variable leaves its scope.
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
// Room for count elements of size bytes; the product is checked.
void *xreallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0), malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((malloc, returns_nonnull));

// Doubles an array's room when it is full: items is the array, count how many are used, room how many fit.
#define GROW(items, count, room)                                                                                       \
	do {                                                                                                           \
		if ((count) == (room)) {                                                                               \
			(room) = (room) ? (room)*2 : 8;                                                                \
			(items) = xreallocarray((items), (room), sizeof(*(items)));                                    \
		}                                                                                                      \
	} while (0)

// For CLEANUP: free(*p), close(*fd) where it is >= 0.
void mem_free(void *pointer_to_pointer);
void mem_close(int *fd);

// Hands an owned pointer or descriptor on: the variable keeps NULL or -1.
#define STEAL_PTR(p)                                                                                                   \
	__extension__({                                                                                                \
		__typeof__(p) steal_ = (p);                                                                            \
		(p) = NULL;                                                                                            \
		steal_;                                                                                                \
	})
int mem_steal_fd(int *fd);
