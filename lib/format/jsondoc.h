// SPDX-License-Identifier: Apache-2.0
// JSON documents for machines (summaries, health, tombstones), by jansson. The pages of the simple API are written
// by lib/view/page, straight into their bytes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"

// An object or an array. What is put into another belongs to that one from then on.
struct jsondoc;

struct jsondoc *jsondoc_object(void);
struct jsondoc *jsondoc_array(void);
// Reads a whole document, an object or an array; NULL with ERR_INVALID where it is none.
struct jsondoc *jsondoc_read(struct str text, struct err *e) MUST_CHECK;
// Reads one value of any kind off the front of *rest, with the blanks before it; what is not an object or an array is
// only to be put somewhere.
struct jsondoc *jsondoc_next(struct str *rest, struct err *e) MUST_CHECK;
// The string of this key; borrowed. NULL where it has none, or it is no string.
const char *jsondoc_get_str(const struct jsondoc *object, const char *key);
// The object or array of this key; borrowed. NULL where it has none, or it is neither.
const struct jsondoc *jsondoc_get(const struct jsondoc *object, const char *key);
// Whether this key has the value true.
bool jsondoc_is_true(const struct jsondoc *object, const char *key);
// False, and *out as it was, where the key has no integer.
bool jsondoc_get_int(const struct jsondoc *object, const char *key, int64_t *out);
size_t jsondoc_count(const struct jsondoc *array);                       // 0 where it is none
const struct jsondoc *jsondoc_at(const struct jsondoc *array, size_t i); // borrowed, of any kind; i < count
const char *jsondoc_at_str(const struct jsondoc *array, size_t i);       // NULL where it is no string
void jsondoc_cleanup(struct jsondoc **doc);                              // frees it; for CLEANUP
// A string that is not UTF-8 (a file name may be anything) stays readable: bad bytes become "?". NULL becomes null.
void jsondoc_put_str(struct jsondoc *object, const char *key, const char *value);
void jsondoc_put_int(struct jsondoc *object, const char *key, int64_t value);
void jsondoc_put_real(struct jsondoc *object, const char *key, double value);
void jsondoc_put_bool(struct jsondoc *object, const char *key, bool value);
void jsondoc_put(struct jsondoc *object, const char *key, struct jsondoc *value); // takes value over
void jsondoc_add(struct jsondoc *array, struct jsondoc *value);                   // takes value over
void jsondoc_add_str(struct jsondoc *array, const char *value);
// Adds the document and a line end to out; indent 0 puts all on one line.
void jsondoc_write(const struct jsondoc *doc, unsigned indent, struct buf *out);
