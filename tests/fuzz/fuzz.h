// SPDX-License-Identifier: Apache-2.0
// Shared by the fuzz targets. A target checks properties that hold for any input, not only that nothing crashes. It is
// built with libFuzzer (--enable-fuzzers), or else with replay.c, which runs it with the files of its corpus.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

// Aborts if the condition does not hold. libFuzzer then saves the input, and the replay prints the name of the file.
#define HOLDS(condition)                                                                                               \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                 \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

static inline struct str fuzz_text(const uint8_t *bytes, size_t size)
{
	return (struct str){size ? (const char *)bytes : "", size};
}

// The next field of an input that has several, as a string that the caller frees. NULL if none is left.
static inline char *fuzz_take(struct str *rest, char sep)
{
	if (!rest->ptr)
		return NULL;
	struct str field = str_cut(rest, sep);
	return xstrndup(field.ptr, field.len);
}

static inline bool fuzz_lies_within(struct str part, struct str whole)
{
	return !part.len || (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len);
}
