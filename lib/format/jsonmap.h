// SPDX-License-Identifier: Apache-2.0
// Tables that map structs to JSON objects. One row for each field of a struct drives all: reading and its bounds, the
// words of refusals, and writing in the order of the rows. A row names the member and the compiler checks its type.
//
//   static const struct jsonmap_field wheel_fields[] = {
//           JSONMAP_TEXT("filename", struct wheel, filename, .limit = LIMIT_FILE_NAME),
//           JSONMAP_SHA256("sha256", struct wheel, sha256),
//           JSONMAP_TEXT("commit", struct wheel, commit, .absent = JSONMAP_OMITTED),
//   };
//   static const struct jsonmap wheel_map = JSONMAP(struct wheel, wheel_fields);
//   JSONMAP_LIST("wheels", struct release, wheel, wheels, &wheel_map, .limit = LIMIT_WHEELS)
//
// Pure functions; any thread. Memory that runs out ends the process.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"

enum jsonmap_kind {
	JSONMAP_KIND_TEXT,    // const char *
	JSONMAP_KIND_INTEGER, // of 4 or 8 bytes, signed or not
	JSONMAP_KIND_REAL,    // double
	JSONMAP_KIND_BOOL,    // any other value than true is false, unless `wrong` says that it is refused
	JSONMAP_KIND_TIME,    // int64_t, seconds since 1970; 0: none
	JSONMAP_KIND_SHA256,  // uint8_t[SHA256_SIZE], with the bool `has` where it may be absent
	JSONMAP_KIND_NAME,    // an enum, by `name`
	JSONMAP_KIND_TOTALS,  // an array of uint64_t, an object with the keys `name`. OMITTED: each of them may be absent
	                      // when it is read; NULL: the object too
	JSONMAP_KIND_OBJECT,  // a struct, by `map`
	JSONMAP_KIND_LIST,    // a pointer to structs, with a size_t `count`, by `map`
	JSONMAP_KIND_OTHER,   // by `put` and `get`
};

// What is written for a value that is absent (NULL, `none`, not `has`, an empty list), and so may be absent when it is
// read.
enum jsonmap_absent {
	JSONMAP_REQUIRED, // never; NULL is written as "", 0 as 0
	JSONMAP_OMITTED,  // no key
	JSONMAP_NULL,     // null
	JSONMAP_OLDER,    // the same as for JSONMAP_REQUIRED: only documents of earlier releases lack it
};

struct jsonmap;
struct jsonmap_field {
	const char *key; // NULL: the row is the value itself, as in an array of texts
	enum jsonmap_kind kind;
	enum jsonmap_absent absent;
	size_t offset, width;                 // of the member
	size_t has, count;                    // offsets of these members; 0: there is none
	size_t limit;                         // bytes of a text, elements of a list; 0: no limit of its own
	int64_t least, most, none;            // of an integer; most 0: INT64_MAX. none: what is absent
	bool is_sentence;                     // of a text for people: control characters become blanks, not refused
	bool (*is_valid)(struct str text);    // of a text; with `wrong` it decides about control characters too
	const char *wrong;                    // what the refusal says behind the key, "is no time"; NULL: the usual words
	const char *no;                       // what the refusal says behind the text, for `"x" is no …`; NULL: `wrong`
	const char *one;                      // the name of an element in messages; NULL: key[0]
	const char *const *name;              // of an enum
	size_t names;
	const struct jsonmap *map;
	void (*put)(const void *row, const char *key, struct jsondoc *object);
	int (*get)(const struct jsondoc *object, const char *key, void *row, struct arena *text, struct err *e);
};

// How a refusal names the key.
enum jsonmap_words {
	JSONMAP_QUOTED, // "key" is not a string
	JSONMAP_COLON,  // key: not a string
	JSONMAP_BARE,   // key is not valid
};

struct jsonmap {
	const struct jsonmap_field *field;
	size_t fields, size;
	size_t present; // of an object that may be absent: the offset of a text, which is NULL then
	bool is_lenient; // nothing is refused: what is wrong counts as absent, and a text that is required as ""
	enum jsonmap_words words;
	const char *wrong; // the one refusal of all fields; NULL: they have their own
	// What a table cannot say: after the row was read. May be NULL.
	int (*check)(void *row, struct arena *text, struct err *e);
};

#define JSONMAP(type, rows, ...) {.field = (rows), .fields = ARRAY_SIZE(rows), .size = sizeof(type), __VA_ARGS__}
// The offset of a member, which must have this type.
#define JSONMAP_AT(type, member, wanted) (offsetof(type, member) + 0 * sizeof((__typeof__(wanted) *)0 == &((type *)0)->member))
#define JSONMAP_ROW(name_, kind_, type, member, wanted, ...)                                                           \
	{.key = (name_),                                                                                               \
		.kind = JSONMAP_KIND_##kind_,                                                                          \
		.offset = JSONMAP_AT(type, member, wanted),                                                            \
		.width = sizeof(((type *)0)->member),                                                                  \
		__VA_ARGS__}
#define JSONMAP_TEXT(key, type, member, ...) JSONMAP_ROW(key, TEXT, type, member, const char *, __VA_ARGS__)
#define JSONMAP_REAL(key, type, member, ...) JSONMAP_ROW(key, REAL, type, member, double, __VA_ARGS__)
#define JSONMAP_BOOL(key, type, member, ...) JSONMAP_ROW(key, BOOL, type, member, bool, __VA_ARGS__)
#define JSONMAP_TIME(key, type, member, ...) JSONMAP_ROW(key, TIME, type, member, int64_t, __VA_ARGS__)
#define JSONMAP_SHA256(key, type, member, ...)                                                                         \
	JSONMAP_ROW(key, SHA256, type, member, uint8_t[SHA256_SIZE], __VA_ARGS__)
#define JSONMAP_INTEGER(key, type, member, ...)                                                                        \
	JSONMAP_ROW(key, INTEGER, type, member, __typeof__(((type *)0)->member), __VA_ARGS__)
#define JSONMAP_NAME(key, type, member, all, ...)                                                                      \
	JSONMAP_ROW(key, NAME, type, member, __typeof__(((type *)0)->member), .name = (all),                           \
		.names = ARRAY_SIZE(all), __VA_ARGS__)
#define JSONMAP_TOTALS(key, type, member, all, ...)                                                                    \
	JSONMAP_ROW(key, TOTALS, type, member, uint64_t[ARRAY_SIZE(all)], .name = (all), .names = ARRAY_SIZE(all),     \
		__VA_ARGS__)
#define JSONMAP_OBJECT(key, type, member, by, ...)                                                                     \
	JSONMAP_ROW(key, OBJECT, type, member, __typeof__(((type *)0)->member), .map = (by), __VA_ARGS__)
// The object has fields of the same struct.
#define JSONMAP_INNER(name_, by, ...) {.key = (name_), .kind = JSONMAP_KIND_OBJECT, .map = (by), __VA_ARGS__}
#define JSONMAP_LIST(key, type, member, counter, by, ...)                                                              \
	JSONMAP_ROW(key, LIST, type, member, __typeof__(((type *)0)->member),                                          \
		.count = JSONMAP_AT(type, counter, size_t), .map = (by), __VA_ARGS__)
#define JSONMAP_OTHER(name_, put_, get_, ...)                                                                          \
	{.key = (name_), .kind = JSONMAP_KIND_OTHER, .put = (put_), .get = (get_), __VA_ARGS__}

// The map of a list of texts (const char *const *), and of hashes (const uint8_t (*)[SHA256_SIZE]).
extern const struct jsonmap jsonmap_text, jsonmap_sha256;

// Reads the object into *row, whose members it sets, all that the map has; texts and lists lie in the arena.
// ERR_INVALID names the value that is wrong; ERR_LIMIT: a list is too long. After an error *row is no value.
int jsonmap_read(const struct jsonmap *map, const struct jsondoc *object, void *row, struct arena *text,
	struct err *e) MUST_CHECK;
// A new object with all fields, which the caller owns.
struct jsondoc *jsonmap_json(const struct jsonmap *map, const void *row);
// An array of rows, which the caller owns.
struct jsondoc *jsonmap_list(const struct jsonmap *map, const void *rows, size_t count);
// The JSON of *row in one line, with a line end.
void jsonmap_write(const struct jsonmap *map, const void *row, struct buf *out);
