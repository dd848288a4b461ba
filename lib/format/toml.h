// SPDX-License-Identifier: Apache-2.0
// A reader of TOML 1.1, and so of 1.0, for lock files of Python projects: a tree of values that borrows its texts from
// the document and knows the line of each. It writes no TOML.
//
// Why this is our own: no C library of Debian 12 and 13 reads TOML. cpptoml, toml11 and tomlplusplus are C++; the other
// packages are for Go, Perl, Python, R, Ruby and Rust. tests/unit/oracle/test-toml.py compares every answer with the
// toml-test corpus, where that is to be had, and with Python's tomllib.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/err.h"
#include "lib/base/str.h"

enum toml_kind {
	TOML_STRING,
	TOML_INTEGER,
	TOML_FLOAT,
	TOML_BOOL,
	TOML_TIME, // a date, a time, or both, with an offset or without
	TOML_ARRAY,
	TOML_TABLE,
};

struct toml_value {
	struct toml_value *next, *parent; // of its table or array: toml_next(); for toml_get()
	union {
		const char *text;        // of all but arrays and tables: toml_text()
		struct toml_value *last; // of arrays and tables: toml_first()
	};
	const char *key; // in tables; it does not end with NUL. NULL: in an array
	uint32_t key_len;
	uint32_t len;                 // bytes of the text, or number of values
	unsigned line : 28, kind : 4; // enum toml_kind
	unsigned state;               // for toml.c
};

struct toml {
	struct toml_value root;    // a table
	struct toml_value **index; // of keys
	size_t keys, index_room;
	struct arena values;
};

// Reads a document. Strings are decoded in place, so text is changed; it must outlive the tree. ERR_INVALID: it is no
// TOML. ERR_LIMIT: LIMIT_TOML, LIMIT_TOML_DEPTH, or more values than a document of this size may have
// (LIMIT_TOML_VALUES, LIMIT_TOML_VALUE), so that the tree takes at most seven times the size. Errors begin with the
// line: "12: ". The tree must not move, and is to be released in any case. Any thread may read it.
int toml_read(char *text, size_t len, struct toml *out, struct err *e) MUST_CHECK;
void toml_release(struct toml *t);

// The value of a key in a table, borrowed. NULL: there is none, or table is NULL or no table.
const struct toml_value *toml_get(const struct toml *t, const struct toml_value *table, struct str key);
// The values of an array or table in the order of the document; NULL has none:
//
//	for (v = toml_first(of); v; v = toml_next(v))
const struct toml_value *toml_first(const struct toml_value *of);
const struct toml_value *toml_next(const struct toml_value *v);
// A string without its quotes and escapes, which ends with NUL, and may hold NUL; of other values the text as written.
struct str toml_text(const struct toml_value *v);
// False if v is NULL or no integer.
bool toml_integer(const struct toml_value *v, int64_t *out);
