// SPDX-License-Identifier: Apache-2.0
// Search in sorted arrays, where bsearch() does not say which of several equal elements it finds. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef bool is_before_fn(const void *element, const void *key);
// The index of the first of count elements of size bytes that is not before the key; count: all are before it. The
// elements are sorted so that those before the key come first.
size_t lower_bound(const void *key, const void *base, size_t count, size_t size, is_before_fn *is_before);
