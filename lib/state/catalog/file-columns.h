// SPDX-License-Identifier: Apache-2.0
// The columns of the table "file", a row each. The compiler makes of them the SELECT lists (schema-statement.c) and the
// code that reads, binds and copies the columns (catalog-*.c); test-file-columns holds them against the schema. Macros
// only, for the catalog's own files. A column is read and bound by its number; a field of another type does not
// compile.
#pragma once

// Each row: the column, which is also the field; its kind; and which structs have the field:
//
//   page   struct catalog_file       a listed file, as pages show it
//   scan   struct catalog_known      a file, as the scan compares it with the disk
//   prune  struct catalog_candidate  a file, as a plan decides about it
//   mark   struct catalog_marked     the file beside a mark
//   why    struct catalog_history    a file, as explain reports it
//   copy   struct catalog_copy       one of the files of a name
//   check  struct catalog_good       a file, as the check verifies it
//   put    struct catalog_entry      a file, as it is written: 1 always, GOOD unless the file is refused; 0: the
//                                    catalog sets the column itself, or it says where the file is
//
// A column that says where the file is (filename, path, project) is selected by the statement itself, before these.
// clang-format off
#define FILE_COLUMNS(X)                                                                       \
	/*column          kind       page scan prune mark why copy check put */               \
	X(id,              INT,       0,   1,   0,    0,   0,  1,   1,    0)                  \
	X(written,         INT,       0,   1,   0,    0,   0,  1,   0,    0)                  \
	X(folder,          INT,       0,   0,   0,    0,   0,  1,   0,    0)                  \
	X(platform,        INT,       1,   0,   1,    0,   0,  0,   1,    0)                  \
	X(state,           STATE,     0,   1,   0,    1,   0,  0,   1,    0)                  \
	X(trusted,         FLAG,      0,   1,   0,    0,   0,  0,   0,    1)                  \
	X(size,            SIZE,      1,   1,   1,    1,   1,  1,   1,    1)                  \
	X(mtime_ns,        INT,       1,   1,   1,    1,   0,  1,   0,    1)                  \
	X(inode,           SIZE,      0,   1,   0,    0,   0,  0,   0,    1)                  \
	X(sha256,          SHA256,    1,   0,   1,    1,   1,  1,   0,    1)                  \
	X(version,         TEXT,      1,   0,   1,    1,   0,  0,   0,    GOOD)               \
	X(version_key,     BYTES,     1,   0,   0,    0,   0,  0,   0,    GOOD)               \
	X(metadata_sha256, SHA256,    1,   0,   0,    0,   0,  0,   0,    GOOD)               \
	X(requires_python, SPECIFIER, 1,   0,   1,    1,   1,  0,   0,    GOOD)               \
	X(findings,        COUNT,     0,   0,   0,    0,   0,  0,   0,    GOOD)               \
	X(misfit,          TEXT,      0,   0,   0,    0,   0,  0,   0,    GOOD)               \
	X(yanked,          REASON,    1,   0,   0,    0,   1,  0,   0,    0)                  \
	X(statement,       SHA256,    0,   0,   0,    0,   1,  0,   0,    0)                  \
	X(provenance,      SHA256,    1,   0,   0,    0,   1,  0,   0,    0)                  \
	X(arrived,         INT,       1,   0,   0,    0,   0,  0,   0,    0)                  \
	X(uploaded,        INT,       1,   0,   0,    0,   0,  0,   0,    0)
// clang-format on

// A part of a row that is there or not, by its struct's place in it.
#define FILE_IF_0(part)
#define FILE_IF_1(part) part
#define FILE_IF_GOOD(part) part

// ", f.platform, f.size, …" of each struct, for its SELECT list.
#define FILE_LIST_PAGE(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##page(", f." #name)
#define FILE_LIST_SCAN(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##scan(", f." #name)
#define FILE_LIST_PRUNE(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##prune(", f." #name)
#define FILE_LIST_MARK(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##mark(", f." #name)
#define FILE_LIST_WHY(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##why(", f." #name)
#define FILE_LIST_COPY(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##copy(", f." #name)
#define FILE_LIST_CHECK(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##check(", f." #name)

#define FILE_PAGE_LIST FILE_COLUMNS(FILE_LIST_PAGE)
#define FILE_SCAN_LIST FILE_COLUMNS(FILE_LIST_SCAN)
#define FILE_PRUNE_LIST FILE_COLUMNS(FILE_LIST_PRUNE)
#define FILE_MARK_LIST FILE_COLUMNS(FILE_LIST_MARK)
#define FILE_WHY_LIST FILE_COLUMNS(FILE_LIST_WHY)
#define FILE_COPY_LIST FILE_COLUMNS(FILE_LIST_COPY)
#define FILE_CHECK_LIST FILE_COLUMNS(FILE_LIST_CHECK)

// Of what is written: the names of an INSERT, its parameters, and the SET list of an UPDATE.
#define FILE_NAME_PUT(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##put(", " #name)
#define FILE_PARAMETER_PUT(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##put(", ?")
#define FILE_SET_PUT(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##put(", " #name " = ?")
#define FILE_PUT_NAMES FILE_COLUMNS(FILE_NAME_PUT)
#define FILE_PUT_PARAMETERS FILE_COLUMNS(FILE_PARAMETER_PUT)
#define FILE_PUT_VALUES FILE_COLUMNS(FILE_SET_PUT)

// Statements that fill *out from the row of struct query *q; int at is the number of the struct's first column.
#define FILE_READ(name, kind)                                                                                          \
	FILE_TYPE_IS(out->name, kind);                                                                                 \
	out->name = FILE_READ_##kind(q, at++);
#define FILE_READ_PAGE(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##page(FILE_READ(name, kind))
#define FILE_READ_SCAN(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##scan(FILE_READ(name, kind))
#define FILE_READ_PRUNE(name, kind, page, scan, prune, mark, why, copy, check, put)                                    \
	FILE_IF_##prune(FILE_READ(name, kind))
#define FILE_READ_MARK(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##mark(FILE_READ(name, kind))
#define FILE_READ_WHY(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##why(FILE_READ(name, kind))
#define FILE_READ_COPY(name, kind, page, scan, prune, mark, why, copy, check, put) FILE_IF_##copy(FILE_READ(name, kind))
#define FILE_READ_CHECK(name, kind, page, scan, prune, mark, why, copy, check, put)                                    \
	FILE_IF_##check(FILE_READ(name, kind))

// Statements that bind the fields of const struct catalog_entry *f from the parameter int at on.
#define FILE_BIND_PUT(name, kind, page, scan, prune, mark, why, copy, check, put)                                      \
	FILE_IF_##put(FILE_TYPE_IS(f->name, kind); FILE_BIND_##kind(q, at++, FILE_VALUE_##put(f, name));)
#define FILE_VALUE_1(f, name) (f)->name
#define FILE_VALUE_GOOD(f, name) ((f)->refusal ? (__typeof__((f)->name)){0} : (f)->name)

// Statements that copy what *out borrows into struct arena *a.
#define FILE_COPY_PAGE(name, kind, page, scan, prune, mark, why, copy, check, put)                                     \
	FILE_IF_##page(FILE_COPY_##kind(a, out->name))
#define FILE_COPY_PRUNE(name, kind, page, scan, prune, mark, why, copy, check, put)                                    \
	FILE_IF_##prune(FILE_COPY_##kind(a, out->name))

// A kind: the field's type, how it is read, bound and copied. NULL (BYTES: ptr NULL) is SQL's NULL.
#define FILE_TYPE_IS(field, kind)                                                                                      \
	_Static_assert(__builtin_types_compatible_p(__typeof__(field), FILE_TYPE_##kind), "its field has another type")

#define FILE_TYPE_INT int64_t
#define FILE_READ_INT(q, at) query_int(q, at)
#define FILE_BIND_INT(q, at, value) query_bind_int(q, at, value)
#define FILE_COPY_INT(a, field)

#define FILE_TYPE_SIZE uint64_t
#define FILE_READ_SIZE(q, at) (uint64_t) query_int(q, at)
#define FILE_BIND_SIZE(q, at, value) query_bind_int(q, at, (int64_t)(value))
#define FILE_COPY_SIZE(a, field)

#define FILE_TYPE_FLAG bool
#define FILE_READ_FLAG(q, at) query_int(q, at) != 0
#define FILE_BIND_FLAG(q, at, value) query_bind_int(q, at, value)
#define FILE_COPY_FLAG(a, field)

#define FILE_TYPE_COUNT unsigned
#define FILE_READ_COUNT(q, at) (unsigned)query_int(q, at)
#define FILE_BIND_COUNT(q, at, value) query_bind_int(q, at, value)
#define FILE_COPY_COUNT(a, field)

#define FILE_TYPE_STATE enum catalog_state
#define FILE_READ_STATE(q, at) (enum catalog_state) query_int(q, at)
#define FILE_COPY_STATE(a, field)

#define FILE_TYPE_TEXT const char *
#define FILE_READ_TEXT(q, at) query_text(q, at)
#define FILE_BIND_TEXT(q, at, value) query_bind_text(q, at, value)
#define FILE_COPY_TEXT(a, field) field = (field) ? arena_copy(a, str_from(field)) : NULL;

// Text that an older version wrote without a limit: NULL where it is longer than LIMIT_REQUIRES_PYTHON.
#define FILE_TYPE_SPECIFIER const char *
#define FILE_READ_SPECIFIER(q, at) query_text_within(q, at, LIMIT_REQUIRES_PYTHON)
#define FILE_BIND_SPECIFIER(q, at, value) query_bind_text(q, at, value)
#define FILE_COPY_SPECIFIER(a, field) FILE_COPY_TEXT(a, field)

// The same of a reason: "" where it is longer than LIMIT_REASON, so that a yanked file stays yanked.
#define FILE_TYPE_REASON const char *
#define FILE_READ_REASON(q, at) query_reason(q, at)
#define FILE_COPY_REASON(a, field) FILE_COPY_TEXT(a, field)

#define FILE_TYPE_BYTES struct str
#define FILE_READ_BYTES(q, at) query_bytes(q, at)
#define FILE_BIND_BYTES(q, at, value) query_bind_str(q, at, value)
#define FILE_COPY_BYTES(a, field) (field).ptr = (field).ptr ? arena_copy(a, field) : NULL;

#define FILE_TYPE_SHA256 const uint8_t *
#define FILE_READ_SHA256(q, at) query_sha256(q, at)
#define FILE_BIND_SHA256(q, at, value) query_bind_sha256(q, at, value)
#define FILE_COPY_SHA256(a, field)                                                                                     \
	field = (field) ? (const uint8_t *)arena_copy(a, (struct str){(const char *)(field), SHA256_SIZE}) : NULL;
