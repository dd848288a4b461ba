// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/domain/archive/zipwire.h"
#include "lib/os/fs.h"
#include "tests/unit/support/vectors.h"
#include "tests/unit/support/zipmake.h"

// Walks the bytes and returns the result. text gets the finding or the error.
static int walk_frame(struct str bytes, enum strictness strictness, char text[ERR_MSG_SIZE])
{
	CLEANUP(findings_release) struct findings findings;
	struct zipdirectory zip;
	struct byte_source s = byte_source_memory(bytes);
	struct err e = ERR_INIT;
	findings_init(&findings);
	int result = zipframe_read(&s, strictness, &findings, &zip, &e);
	snprintf(text, ERR_MSG_SIZE, "%s", result < 0 ? e.msg : findings.text.data);
	if (result < 0 && e.kind != ERR_INVALID)
		fail_msg("kind %d: %s", (int)e.kind, e.msg);
	if (result == 0)
		zipdirectory_release(&zip);
	return result;
}

// expected: NULL: accepted without a finding; "~TEXT": a finding; "TEXT": an error.
static void expect_verdict(struct str bytes, enum strictness strictness, const char *expected, const char *what)
{
	char text[ERR_MSG_SIZE];
	bool is_finding = expected && expected[0] == '~';
	int result = walk_frame(bytes, strictness, text);
	if (result != (expected && !is_finding ? -1 : 0))
		fail_msg("%s, %s: \"%s\"", what, strictness == STRICT ? "strict" : "lenient", text);
	if (expected ? !strstr(text, expected + is_finding) : text[0] != '\0')
		fail_msg("%s: \"%s\" should be \"%s\"", what, text, expected ? expected : "");
}

// Files whose message differs from that of the vectors, or that pass under LENIENT.
static const struct {
	const char *path, *message;
	bool is_lenient;
} different[] = {
	// PyPI compares a walk from the front, which sees the outer file, with one from the end, which sees the inner.
	// This reader stops earlier: no directory ends at the last end record.
	{"zipdata/reject/zipinzip.zip", "Malformed zip file", false},
	// A correct descriptor with 64-bit sizes. PyPI accepted such files until 2025.
	{"zipdata/reject/data_descriptor_zip64.zip", NULL, true},
};

static void check_vector(void *ctx UNUSED, const struct vector *row)
{
	CLEANUP(mem_free) char *name = xasprintf("vectors/" STR_FMT, STR_ARG(row->column[0]));
	CLEANUP(mem_free) char *path = vectors_path(name);
	CLEANUP(mem_free) char *message = xstrndup(row->column[2].ptr, row->column[2].len);
	bool is_good = str_eq(row->column[1], STR("accept")), is_lenient = is_good;
	const char *expected = is_good ? NULL : message;
	for (size_t i = 0; i < ARRAY_SIZE(different); i++) {
		if (!str_eq(row->column[0], str_from(different[i].path)))
			continue;
		expected = different[i].message ? different[i].message : expected;
		is_lenient = different[i].is_lenient;
	}
	CLEANUP(buf_release) struct buf bytes;
	struct err e = ERR_INIT;
	char text[ERR_MSG_SIZE];
	buf_init(&bytes, 1 << 20);
	assert_int_equal(fs_read_file(path, &bytes, &e), 0);
	expect_verdict(buf_view(&bytes), STRICT, expected, name);
	if (walk_frame(buf_view(&bytes), LENIENT, text) != (is_lenient ? 0 : -1))
		fail_msg("%s, lenient: \"%s\"", name, text);
	for (size_t len = 0; is_good && len < bytes.len; len++)
		for (int s = LENIENT; s <= STRICT; s++)
			if (walk_frame((struct str){bytes.data, len}, (enum strictness)s, text) == 0)
				fail_msg("%s is taken when cut after %zu bytes", name, len);
}

static void test_vectors(void **state UNUSED)
{
	vectors_foreach("zipdata.tsv", check_vector, NULL);
}

#define BYTES(literal) ((struct str){literal, sizeof(literal) - 1})
#define ZIP64(numbers) BYTES("\x01\0\x10\0" numbers)
#define THREE "\3\0\0\0\0\0\0\0"

// An archive whose middle member "foo" is unusual in one way.
static const struct {
	const char *what;
	struct zipmake_member member;
	const char *lenient, *strict;
} twists[] = {
	{"plain", {.name = "foo", .content = "abc"}, NULL, NULL},
	{"folder", {.name = "foo/", .content = ""}, NULL, NULL},
	{"UTF-8", {.name = "\xc3\xa9", .content = "abc", .flags = 1 << 11}, NULL, NULL},
	{"UTF-8, unmarked", {.name = "\xc3\xa9", .content = "abc"}, "~not marked as UTF-8: 1",
		"~not marked as UTF-8: 1"},
	{"ZIP64 beside sizes that fit (bazel)", {.name = "foo", .content = "abc", .local_extra = ZIP64(THREE THREE)},
		NULL, NULL},
	{"comment", {.name = "foo", .content = "abc", .comment = "hi"}, "~Comment in central directory",
		"Comment in central directory"},
	{"descriptor", {.name = "foo", .content = "abc", .descriptor = 16}, "~data descriptors: 1",
		"ZIP contains a data descriptor"},
	{"descriptor, no signature", {.name = "foo", .content = "abc", .descriptor = 12}, "~data descriptors: 1",
		"ZIP contains a data descriptor"},
	{"wide descriptor", {.name = "foo", .content = "abc", .descriptor = 24, .local_extra = ZIP64(THREE THREE)},
		"~data descriptors: 1", "ZIP contains a data descriptor"},
	{"wide descriptor, no signature",
		{.name = "foo", .content = "abc", .descriptor = 20, .local_extra = ZIP64(THREE THREE)},
		"~data descriptors: 1", "ZIP contains a data descriptor"},
	{"wide descriptor that a streaming reader reads differently",
		{.name = "foo", .content = "abc", .descriptor = 24}, "Malformed data descriptor",
		"ZIP contains a data descriptor"},
	{"descriptor of another size", {.name = "foo", .content = "abc", .descriptor = 16, .size_lie = 1},
		"Mis-matched data descriptor", "ZIP contains a data descriptor"},
	{"descriptor with another CRC", {.name = "foo", .content = "abc", .descriptor = 16, .crc_lie = 1},
		"Mis-matched data descriptor", "ZIP contains a data descriptor"},
	{"descriptor flag without one", {.name = "foo", .content = "abc", .local_flags_xor = 8},
		"Malformed data descriptor", "ZIP contains a data descriptor"},
	{"descriptor with another signature",
		{.name = "foo",
			.content = "abc",
			.local_flags_xor = 8,
			.gap = BYTES("PK\7\7\xc2\x41\x24\x35\3\0\0\0\3\0\0\0")},
		"Mis-matched data descriptor", "ZIP contains a data descriptor"},
	{"empty name", {.name = "", .content = "abc"}, "Empty filename", "Empty filename"},
	{"line end in name", {.name = "f\no", .content = "abc"}, "Invalid character in filename",
		"Invalid character in filename"},
	{"not UTF-8", {.name = "\xe9", .content = "abc"}, "Filename not unicode", "Filename not unicode"},
	{"two names", {.name = "foo", .local_name = "bar", .content = "abc"}, "Filename not in central directory",
		"Filename not in central directory"},
	{"two lengths of name", {.name = "foo", .local_name = "fo", .content = "abc"},
		"Filename not in central directory", "Filename not in central directory"},
	{"two spellings of a name", {.name = "\xc3\xa9", .content = "abc", .local_flags_xor = 1 << 11},
		"Mis-matched flags", "Mis-matched flags"},
	{"two sizes", {.name = "foo", .content = "abc", .size_lie = 1}, "Mis-matched data size",
		"Mis-matched data size"},
	{"two CRCs", {.name = "foo", .content = "abc", .crc_lie = 1}, "Mis-matched checksum", "Mis-matched checksum"},
	{"two methods", {.name = "foo", .content = "abc", .local_method_xor = 8}, "Mis-matched compression type",
		"Mis-matched compression type"},
	{"bzip2", {.name = "foo", .content = "abc", .method = 12}, "supported compression type",
		"supported compression type"},
	{"encrypted", {.name = "foo", .content = "abc", .flags = 1}, "encrypted", "encrypted"},
	{"encrypted by the local header", {.name = "foo", .content = "abc", .local_flags_xor = 1}, "Mis-matched flags",
		"Mis-matched flags"},
	{"folder with bytes", {.name = "foo/", .content = "abc"}, "has content", "has content"},
	{"gap", {.name = "foo", .content = "abc", .gap = BYTES("x")}, "Unknown record signature",
		"Unknown record signature"},
	{"record that no entry lists", {.name = "foo", .content = "abc", .gap = BYTES("PK\3\4")},
		"Filename not in central directory", "Filename not in central directory"},
	{"ZIP64 twice", {.name = "foo", .content = "abc", .central_extra = BYTES("\1\0\0\0\1\0\0\0")},
		"Invalid duplicate extra", "Invalid duplicate extra"},
	{"odd ZIP64", {.name = "foo", .content = "abc", .local_extra = BYTES("\1\0\4\0abcd")}, "Malformed zip file",
		"Malformed zip file"},
	{"other sizes in ZIP64", {.name = "foo", .content = "abc", .local_extra = ZIP64("\4\0\0\0\0\0\0\0" THREE)},
		"Mis-matched file size", "Mis-matched file size"},
	{"Unicode path", {.name = "foo", .content = "abc", .central_extra = BYTES("up\x08\0\1abcdfoo")}, NULL, NULL},
	{"another Unicode path", {.name = "foo", .content = "abc", .local_extra = BYTES("up\x08\0\1abcdbar")},
		"Unicode path differs", "Unicode path differs"},
	{"Unicode path twice", {.name = "f", .content = "abc", .local_extra = BYTES("up\6\0\1abcdfup\6\0\1abcdf")},
		"Invalid duplicate extra", "Invalid duplicate extra"},
	{"extra too long for its field", {.name = "foo", .content = "abc", .local_extra = BYTES("ab\5\0abcd")},
		"Corrupt extra field 6261", "Corrupt extra field 6261"},
};

static void make_with(struct zipmake *z, const struct zipmake_member *member)
{
	zipmake_init(z);
	zipmake_add(z, &(struct zipmake_member){.name = "first", .content = "1"});
	zipmake_add(z, member);
	zipmake_add(z, &(struct zipmake_member){.name = "last", .content = "3"});
}

static void test_twists(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(twists); i++) {
		CLEANUP(zipmake_release) struct zipmake z;
		make_with(&z, &twists[i].member);
		zipmake_end(&z, "");
		expect_verdict(buf_view(&z.bytes), LENIENT, twists[i].lenient, twists[i].what);
		expect_verdict(buf_view(&z.bytes), STRICT, twists[i].strict, twists[i].what);
	}
}

static const struct zipmake_member plain = {.name = "foo", .content = "abc"};

static void expect_both(struct zipmake *z, const char *expected, const char *what)
{
	expect_verdict(buf_view(&z->bytes), LENIENT, expected, what);
	expect_verdict(buf_view(&z->bytes), STRICT, expected, what);
	zipmake_release(z);
}

static void test_whole(void **state UNUSED)
{
	struct zipmake z;
	make_with(&z, &plain);
	zipmake_end(&z, "a comment");
	expect_both(&z, NULL, "comment of the archive");

	make_with(&z, &plain);
	zipmake_end(&z, "");
	buf_puts(&z.bytes, "x");
	expect_both(&z, "Trailing data", "a byte after the end");

	make_with(&z, &plain);
	zipmake_end(&z, "PK\5\6");
	expect_both(&z, "Malformed zip file", "an end record's signature in the comment");

	make_with(&z, &plain);
	zipmake_central(&z, &plain, 36);
	zipmake_end(&z, "");
	expect_both(&z, "Duplicate filename in central directory", "entry twice");

	make_with(&z, &plain);
	zipmake_add(&z, &plain);
	zipmake_end(&z, "");
	expect_both(&z, "Duplicate filename in local headers", "member twice");

	make_with(&z, &plain);
	zipmake_local(&z, &(struct zipmake_member){.name = "x", .content = ""});
	zipmake_end(&z, "");
	expect_both(&z, "Filename not in central directory", "record without entry");

	make_with(&z, &plain);
	zipmake_central(&z, &(struct zipmake_member){.name = "x", .content = ""}, z.bytes.len);
	zipmake_end(&z, "");
	expect_both(&z, "Missing filename in local headers", "entry without record");

	make_with(&z, &plain);
	zipmake_central(&z, &(struct zipmake_member){.name = "x", .content = "abc"}, 36);
	zipmake_end(&z, "");
	expect_both(&z, "Malformed zip file", "two entries of one record");

	zipmake_init(&z);
	buf_puts(&z.bytes, "#!/bin/sh\n");
	zipmake_add(&z, &plain);
	zipmake_end(&z, "");
	expect_both(&z, "Unknown record signature", "bytes in front");

	zipmake_init(&z);
	zipmake_local(&z, &(struct zipmake_member){.name = "x", .content = ""});
	zipmake_add(&z, &plain);
	zipmake_end(&z, "");
	expect_both(&z, "Filename not in central directory", "first record without entry");
}

// Where the records of an archive of one plain member begin.
enum { CENTRAL_AT = 36, END_AT = CENTRAL_AT + 49 };

// Changes of numbers in such an archive.
static const struct {
	const char *what;
	struct {
		size_t at;
		uint32_t value; // four bytes
	} patch[4];
	const char *lenient, *strict;
} patches[] = {
	{"newer ZIP version", {{CENTRAL_AT + 6, 64}}, "needs ZIP version 6.4", "needs ZIP version 6.4"},
	{"on another disk", {{CENTRAL_AT + 34, 1}}, "several disks", "several disks"},
	{"stored, with two sizes", {{22, 4}, {CENTRAL_AT + 24, 4}}, "with two sizes", "with two sizes"},
	{"end on another disk", {{END_AT + 4, 1}}, "several disks", "several disks"},
	{"bomb", {{8, 8}, {22, 0x7fffffff}, {CENTRAL_AT + 10, 8}, {CENTRAL_AT + 24, 0x7fffffff}}, NULL,
		"Decompression bomb"},
};

static void test_patches(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(patches); i++) {
		CLEANUP(zipmake_release) struct zipmake z;
		zipmake_init(&z);
		zipmake_add(&z, &plain);
		zipmake_end(&z, "");
		for (size_t k = 0; k < ARRAY_SIZE(patches[i].patch); k++)
			if (patches[i].patch[k].at)
				zip_put32(z.bytes.data + patches[i].patch[k].at, patches[i].patch[k].value);
		expect_verdict(buf_view(&z.bytes), LENIENT, patches[i].lenient, patches[i].what);
		expect_verdict(buf_view(&z.bytes), STRICT, patches[i].strict, patches[i].what);
	}
}

// Writes the end records of an archive of count members whose central directory of size bytes begins at 0.
static void write_zip64_end(char *at, uint64_t count, uint64_t size)
{
	enum { RECORD = 56, LOCATOR = 20, RECORD_REST = 44 };
	memset(at, 0, RECORD + LOCATOR + 22);
	memcpy(at, "PK\6\6", 4);
	memcpy(at + 4, &(uint64_t){RECORD_REST}, 8);
	at[12] = at[14] = 45;
	memcpy(at + 24, &count, 8);
	memcpy(at + 32, &count, 8);
	memcpy(at + 40, &size, 8);
	memcpy(at + RECORD, "PK\6\7", 4);
	memcpy(at + RECORD + 8, &size, 8);
	at[RECORD + 16] = 1;
	memcpy(at + RECORD + LOCATOR, "PK\5\6\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 20);
}

// The limits of the central directory hold before it is read: its bytes here are of no member.
// Exceeds LIMIT_ZIP_ENTRIES, LIMIT_ZIP_DIRECTORY.
static void test_large_directories(void **state UNUSED)
{
	enum { END = 98 };
	static const struct {
		uint64_t count, size;
		const char *message;
	} rows[] = {
		{LIMIT_ZIP_ENTRIES + 1, 46, "1048577 members: more than 1048576"},
		{1, (uint64_t)LIMIT_ZIP_DIRECTORY + 1, "central directory of 268435457 bytes: more than 268435456"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(findings_release) struct findings findings;
		struct zipdirectory zip;
		struct err e = ERR_INIT;
		size_t len = rows[i].size + END;
		char *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		assert_ptr_not_equal(bytes, MAP_FAILED);
		memcpy(bytes, "PK\3\4", 4);
		write_zip64_end(bytes + rows[i].size, rows[i].count, rows[i].size);
		struct byte_source s = byte_source_memory((struct str){bytes, len});
		findings_init(&findings);
		assert_int_equal(zipframe_read(&s, LENIENT, &findings, &zip, &e), -1);
		assert_int_equal(e.kind, ERR_LIMIT);
		assert_string_equal(e.msg, rows[i].message);
		munmap(bytes, len);
	}
}

static void test_truncated_comment(void **state UNUSED)
{
	struct zipmake z;
	make_with(&z, &plain);
	zipmake_end(&z, "a comment");
	z.bytes.len--;
	expect_both(&z, "truncated comment", "comment cut");
}

// A member that begins with a tar header, so that the file is valid as ZIP and as tar.
static void test_zip_and_tar(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	char content[600];
	memset(content, 'x', sizeof(content));
	content[sizeof(content) - 1] = '\0';
	zipmake_init(&z);
	zipmake_add(&z, &(struct zipmake_member){.name = "foo", .content = content});
	zipmake_end(&z, "");
	unsigned long sum = 8 * ' ';
	char *block = z.bytes.data;
	for (size_t i = 0; i < 512; i++)
		sum += i >= 148 && i < 156 ? 0 : (unsigned char)block[i];
	char octal[9];
	snprintf(octal, sizeof(octal), "%07lo", sum);
	expect_verdict(buf_view(&z.bytes), LENIENT, NULL, "before");
	memcpy(block + 148, octal, 8);
	expect_verdict(buf_view(&z.bytes), LENIENT, "both a zip and a tar", "after");
}

// As many members as the 16-bit end record can count, with names in random order. A quadratic comparison of the names
// would take minutes.
static void test_many(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	char name[24];
	zipmake_init(&z);
	for (unsigned long i = 0; i < UINT16_MAX; i++) {
		snprintf(name, sizeof(name), "%lx", i * 2654435761ul % 4294967296ul);
		zipmake_add(&z, &(struct zipmake_member){.name = name, .content = ""});
	}
	zipmake_end(&z, "");
	expect_verdict(buf_view(&z.bytes), STRICT, NULL, "many members");
}

static int count_piece(void *ctx, struct str piece, struct err *e UNUSED)
{
	*(size_t *)ctx += piece.len;
	return 0;
}

// A member whose unpacked size or CRC is not the declared one is rejected, and the sink never gets more than that size.
static void test_read(void **state UNUSED)
{
	static const char packed[] = "\x4b\x4c\x4a\x06\x00"; // "abc", deflated
	const struct {
		struct zipmember m;
		int result;
	} members[] = {
		{{.packed = 5, .size = 3, .crc = 0x352441c2, .method = 8, .name = STR("m")}, 0},
		{{.packed = 5, .size = 2, .crc = 0x352441c2, .method = 8, .name = STR("m")}, -1},
		{{.packed = 5, .size = 4, .crc = 0x352441c2, .method = 8, .name = STR("m")}, -1},
		{{.packed = 5, .size = 3, .crc = 0x352441c3, .method = 8, .name = STR("m")}, -1},
		{{.packed = 3, .size = 3, .crc = 0x352441c2, .method = 8, .name = STR("m")}, -1},
		{{.packed = 9, .size = 3, .crc = 0x352441c2, .method = 8, .name = STR("m")}, -1},
	};
	struct byte_source s = byte_source_memory((struct str){packed, sizeof(packed) - 1});
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		struct err e = ERR_INIT;
		size_t seen = 0;
		int result = zipread_member(&s, &members[i].m, count_piece, &seen, &e);
		if (result != members[i].result || seen > members[i].m.size)
			fail_msg("row %zu: %d after %zu bytes: %s", i, result, seen, e.msg);
		if (result < 0)
			assert_int_equal(e.kind, ERR_INVALID);
	}
	CLEANUP(buf_release) struct buf small;
	struct err e = ERR_INIT;
	buf_init(&small, 2);
	assert_int_equal(zipread_whole(&s, &members[0].m, &small, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_twists),
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_patches),
		cmocka_unit_test(test_large_directories),
		cmocka_unit_test(test_truncated_comment),
		cmocka_unit_test(test_zip_and_tar),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
