// SPDX-License-Identifier: Apache-2.0
// JSON documents as trees, with jansson: summaries, health, tombstones. lib/view/page writes the pages of the simple
// API without a tree. Memory that runs out ends the process. Any thread may read a document; changing one is for one
// thread at a time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"
#include "lib/base/err.h"
#include "lib/base/form.h"
#include "lib/format/digest.h"

// An object or an array. A document that is put into another one belongs to that one.
struct jsondoc;

// Empty documents. The caller owns them, and frees them with jsondoc_cleanup or puts them into another document.
struct jsondoc *jsondoc_object(void);
struct jsondoc *jsondoc_array(void);
// Reads a whole document, an object or an array, which the caller owns. ERR_INVALID if it is malformed.
struct jsondoc *jsondoc_read(struct str text, struct err *e) MUST_CHECK;
// The same for a document of others: it is counted before it becomes a tree, which takes up to a hundred times its
// size. ERR_LIMIT: more than so many values; an object or array is one, and so is each that it has. ERR_INVALID also if
// it is nested deeper than JSON_SAX_DEPTH.
struct jsondoc *jsondoc_read_bounded(struct str text, size_t values, struct err *e) MUST_CHECK;
// Reads one value of any kind and the blanks before it, and cuts them off *rest. The caller owns the value. If it is
// neither object nor array, it may only be put into another document. ERR_INVALID if it is malformed.
struct jsondoc *jsondoc_next(struct str *rest, struct err *e) MUST_CHECK;
// The string of this key, borrowed. NULL if there is none.
const char *jsondoc_get_str(const struct jsondoc *object, const char *key);
// The object or array of this key, borrowed. NULL if there is none.
const struct jsondoc *jsondoc_get(const struct jsondoc *object, const char *key);
bool jsondoc_is_null(const struct jsondoc *object, const char *key); // it is null, or there is none
bool jsondoc_is_true(const struct jsondoc *object, const char *key);
// False, with *out unchanged, if the key has no integer.
bool jsondoc_get_int(const struct jsondoc *object, const char *key, int64_t *out);
size_t jsondoc_count(const struct jsondoc *array);                       // 0 if it is no array
const struct jsondoc *jsondoc_at(const struct jsondoc *array, size_t i); // borrowed, of any kind; i < count
const char *jsondoc_at_str(const struct jsondoc *array, size_t i);       // borrowed; NULL if it is no string
// A value of any kind, for tables of fields (lib/format/jsonmap.h). Borrowed; JSONDOC_NONE is null, or no such key.
enum jsondoc_kind {
	JSONDOC_NONE,
	JSONDOC_STRING,
	JSONDOC_INTEGER,
	JSONDOC_REAL,
	JSONDOC_BOOL,
	JSONDOC_OBJECT,
	JSONDOC_ARRAY,
};
const struct jsondoc *jsondoc_value(const struct jsondoc *object, const char *key); // NULL if there is none
enum jsondoc_kind jsondoc_kind(const struct jsondoc *value);                        // value may be NULL
const char *jsondoc_as_str(const struct jsondoc *value);                            // NULL if it is no string
int64_t jsondoc_as_int(const struct jsondoc *value);                                // 0 if it is no integer
double jsondoc_as_real(const struct jsondoc *value);                                // 0 if it is no number
bool jsondoc_as_bool(const struct jsondoc *value);                                  // false if it is not true
// Such values, to be put into a document, which then owns them. NULL becomes null.
struct jsondoc *jsondoc_of_str(const char *value);
struct jsondoc *jsondoc_of_sha256(const uint8_t sha256[SHA256_SIZE]);
struct jsondoc *jsondoc_of_int(int64_t value);
struct jsondoc *jsondoc_of_real(double value);
struct jsondoc *jsondoc_of_bool(bool value);
// A copy of all of it, which the caller owns.
struct jsondoc *jsondoc_copy(const struct jsondoc *doc);
void jsondoc_cleanup(struct jsondoc **doc);                              // frees *doc; for CLEANUP
// Sets a string. If it is not UTF-8, as a file name may be, all bytes that are not ASCII become "?". NULL becomes null.
void jsondoc_put_str(struct jsondoc *object, const char *key, const char *value);
// The same; NULL or "": the object does not get the key.
void jsondoc_put_known_str(struct jsondoc *object, const char *key, const char *value);
void jsondoc_put_int(struct jsondoc *object, const char *key, int64_t value);
// A time as lib/os/clock writes it; 0 and below: null. seconds: since 1970.
void jsondoc_put_time(struct jsondoc *object, const char *key, int64_t seconds);
// The same; 0 and below: the object does not get the key.
void jsondoc_put_known_time(struct jsondoc *object, const char *key, int64_t seconds);
void jsondoc_put_sha256(struct jsondoc *object, const char *key, const uint8_t sha256[SHA256_SIZE]); // in hexadecimal
void jsondoc_put_real(struct jsondoc *object, const char *key, double value);
void jsondoc_put_bool(struct jsondoc *object, const char *key, bool value);
void jsondoc_put(struct jsondoc *object, const char *key, struct jsondoc *value); // takes over value
void jsondoc_add(struct jsondoc *array, struct jsondoc *value);                   // takes over value
void jsondoc_add_str(struct jsondoc *array, const char *value);
// Puts several keys, in this order: "name:s size:d seen:t" and a value for each. The letter behind a key says what it
// gets:
//   s a string, NULL: null · e a string, NULL or "": null · k a string, NULL or "": the object does not get the key
//   d an integer · r a real · b a bool · x a SHA-256 · j a document, which it takes over
//   t a time, 0 and below: null · T a time, 0 and below: no key · D the day of a time
// Returns the object. 19 values at most.
#define jsondoc_set(object, ...) jsondoc_set_values(object, FORM_VALUES(__VA_ARGS__))
// A new object with these keys.
#define jsondoc_new(...) jsondoc_set(jsondoc_object(), __VA_ARGS__)
struct jsondoc *jsondoc_set_values(struct jsondoc *object, const struct form_value *value);
// Adds the document and a line end to out. With indent 0 it is one line.
void jsondoc_write(const struct jsondoc *doc, unsigned indent, struct buf *out);
// The same on one line without blanks and without a line end.
void jsondoc_write_compact(const struct jsondoc *doc, struct buf *out);
