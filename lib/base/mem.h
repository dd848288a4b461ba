// SPDX-License-Identifier: Apache-2.0
// Memory allocation that never fails, and attributes that the compiler checks. Any thread.
//
// The x-functions end the process when memory runs out; its supervisor starts it again. Therefore a size from outside
// is compared with its limit in limits.h before it reaches them. The caller frees what they return.
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
// Resizes to count elements of size bytes. A product that overflows counts as memory that runs out.
void *xreallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t len) __attribute__((malloc, returns_nonnull));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0), malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((malloc, returns_nonnull));

// Makes room for one more element. items is the array, count the number of elements, room how many fit. A full array
// doubles.
#define GROW(items, count, room)                                                                                       \
	do {                                                                                                           \
		if ((count) == (room)) {                                                                               \
			(room) = (room) ? (room)*2 : 8;                                                                \
			(items) = xreallocarray((items), (room), sizeof(*(items)));                                    \
		}                                                                                                      \
	} while (0)

// For CLEANUP: free a pointer, close a descriptor unless it is negative. The variable becomes NULL or -1.
void mem_free(void *pointer_to_pointer);
void mem_close(int *fd);

// Hand an owned pointer or descriptor over: return its value and set the variable to NULL or -1.
#define STEAL_PTR(p)                                                                                                   \
	__extension__({                                                                                                \
		__typeof__(p) steal_ = (p);                                                                            \
		(p) = NULL;                                                                                            \
		steal_;                                                                                                \
	})
int mem_steal_fd(int *fd);
