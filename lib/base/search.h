// SPDX-License-Identifier: Apache-2.0
// Sorted arrays: search, where bsearch() does not say which of several equal elements it finds, and arrays of strings.
// Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef bool is_before_fn(const void *element, const void *key);
// The index of the first of count elements of size bytes that is not before the key; count: all are before it. The
// elements are sorted so that those before the key come first.
size_t lower_bound(const void *key, const void *base, size_t count, size_t size, is_before_fn *is_before);
// Of arrays of strings (const char *), by bytes: for qsort() and bsearch() of them, and for lower_bound() with a string
// as the key.
int compare_strings(const void *a, const void *b);
bool is_string_before(const void *element, const void *key);
