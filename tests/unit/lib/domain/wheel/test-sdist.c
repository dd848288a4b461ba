// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "lib/domain/wheel/sdist.h"
#include "lib/format/compress.h"
#include "tests/unit/support/vectors.h"
#include "tests/unit/support/zipmake.h"

enum { ENTRIES = 4, BLOCK = 512 };

struct tar_file {
	const char *path, *content;
	char type;          // 0: a regular file
	const char *prefix; // ustar's prefix field
	unsigned long size_lie;
	unsigned sum_lie;
};

static void tar_add(struct buf *out, const struct tar_file *entry)
{
	char head[BLOCK] = {0};
	unsigned sum = entry->sum_lie;
	size_t len = strlen(entry->content);
	snprintf(head, 100, "%s", entry->path);
	snprintf(head + 124, 12, "%011lo", len + entry->size_lie);
	memset(head + 148, ' ', 8);
	head[156] = entry->type ? entry->type : '0';
	memcpy(head + 257, "ustar\00000", 8);
	snprintf(head + 345, 155, "%s", entry->prefix ? entry->prefix : "");
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char)head[i];
	snprintf(head + 148, 8, "%06o", sum);
	buf_add(out, head, BLOCK);
	buf_puts(out, entry->content);
	while (out->len % BLOCK)
		buf_putc(out, '\0');
}

static void tar_make(struct buf *out, const struct tar_file entries[ENTRIES])
{
	CLEANUP(buf_release) struct buf tar;
	struct err e = ERR_INIT;
	static const char zeros[2 * BLOCK];
	buf_init(&tar, 1 << 20);
	buf_init(out, 1 << 20);
	for (size_t i = 0; i < ENTRIES && entries[i].path; i++)
		tar_add(&tar, &entries[i]);
	buf_add(&tar, zeros, sizeof(zeros));
	assert_int_equal(compress_gzip(buf_view(&tar), out, &e), 0);
}

#define INFO "Metadata-Version: 2.1\nName: Demo\nVersion: 1.0\n"
#define PKG_INFO                                                                                                       \
	{                                                                                                              \
		.path = "demo-1.0/PKG-INFO", .content = INFO                                                           \
	}
// The number of a pax record is the length of the whole record.
#define PAX_PATH                                                                                                       \
	{                                                                                                              \
		.path = "pax", .content = "26 path=demo-1.0/PKG-INFO\n", .type = 'x'                                   \
	}
#define GNU_PATH                                                                                                       \
	{                                                                                                              \
		.path = "././@LongLink", .content = "demo-1.0/PKG-INFO", .type = 'L'                                   \
	}

// expected: NULL: accepted without a finding; "~TEXT": a finding; "TEXT": an error.
static const struct {
	const char *filename;
	struct tar_file entries[ENTRIES];
	const char *version; // the resulting version, and whether there is metadata; NULL: none
	const char *lenient, *strict;
} table[] = {
	{"demo-1.0.tar.gz", {PKG_INFO}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {{.path = "./demo-1.0/PKG-INFO", .content = INFO}}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {{.path = "demo-1.0/", .content = "", .type = '5', .size_lie = 512}, PKG_INFO}, "1.0", NULL,
		NULL},
	{"demo-1.0.tar.gz", {{.path = "PKG-INFO", .content = INFO, .prefix = "demo-1.0"}}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {PAX_PATH, {.path = "cut-off", .content = INFO}}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {GNU_PATH, {.path = "cut-off", .content = INFO}}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {{.path = "pax", .content = "9 size=0\n", .type = 'g'}, PKG_INFO}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "demo-1.0/PKG-INFO", .content = "x"}}, "1.0", "~several PKG-INFO",
		"several PKG-INFO"},
	{"demo-1.0-2.tar.gz", {PKG_INFO}, "1.0.post2", NULL, NULL},
	{"demo-1.0-pypi.tar.gz", {PKG_INFO}, "1.0", NULL, NULL},
	{"demo-1.0.tar.gz", {{.path = "demo-1.0/a", .content = "x"}}, NULL, "~no PKG-INFO", "no PKG-INFO"},
	{"demo-1.0.tar.gz", {{.path = "demo-1.0/x/PKG-INFO", .content = INFO}}, NULL, "~no PKG-INFO", "no PKG-INFO"},
	{"demo-1.0.tar.gz", {{.path = "demo-1.0/PKG-INFO", .content = "", .type = '2'}}, NULL, "~no PKG-INFO",
		"no PKG-INFO"},
	{"demo-1.0.tar.gz", {{.path = "PKG-INFO", .content = INFO}}, NULL, "~no PKG-INFO", "no PKG-INFO"},
	{"demo-1.0-pypi.tar.gz", {{.path = "demo-1.0/a", .content = "x"}}, NULL, "neither", "neither"},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "other/a", .content = ""}}, "1.0", "~several folders",
		"several folders"},
	{"demo-1.0.tar.gz", {{.path = "demo-1.0/PKG-INFO", .content = "Name: demo\n"}}, "1.0", "~no Version",
		"no Version"},
	{"demo-1.0.tar.gz",
		{{.path = "demo-1.0/PKG-INFO", .content = "Metadata-Version: 1.0\nName: demo\nVersion: ?\n"}}, "1.0",
		"~not valid (PEP 440)", "not valid (PEP 440)"},
	{"demo-1.1.tar.gz", {PKG_INFO}, NULL, "version", "version"},
	{"other-1.0.tar.gz", {PKG_INFO}, NULL, "does not begin", "does not begin"},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "../x", .content = ""}}, NULL, "leads out", "leads out"},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "/x", .content = ""}}, NULL, "leads out", "leads out"},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "demo-1.0/x", .content = "", .type = 'S'}}, NULL, "sparse", "sparse"},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "demo-1.0/x", .content = "", .sum_lie = 1}}, NULL, "damaged header",
		"damaged header"},
	{"demo-1.0.tar.gz", {PKG_INFO, {.path = "demo-1.0/x", .content = "", .size_lie = 9999}}, NULL, "truncated",
		"truncated"},
	{"demo-1.0.tar.gz", {{0}}, NULL, "empty", "empty"},
};

// Parses the name if possible, as the callers do.
static int examine_named(struct byte_source s, const char *filename, enum strictness strictness, struct filename *name,
	struct wheel *out, struct err *e)
{
	struct err ignored = ERR_INIT;
	*name = (struct filename){0};
	if (filename_parse(str_from(filename), name, &ignored) < 0)
		*name = (struct filename){0};
	wheel_init(out);
	return sdist_examine(&s, str_from(filename), strictness, name, out, e);
}

static void expect_verdict(size_t row, struct str bytes, enum strictness strictness, const char *expected)
{
	CLEANUP(filename_release) struct filename name;
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	bool is_finding = expected && expected[0] == '~';
	int result = examine_named(byte_source_memory(bytes), table[row].filename, strictness, &name, &w, &e);
	const char *text = result < 0 ? e.msg : w.findings.text.data;
	if (result != (expected && !is_finding ? -1 : 0))
		fail_msg("row %zu, %s: \"%s\"", row, strictness == STRICT ? "strict" : "lenient", text);
	if (expected ? !strstr(text, expected + is_finding) : text[0] != '\0')
		fail_msg("row %zu: \"%s\" should be \"%s\"", row, text, expected ? expected : "");
	if (result < 0)
		return;
	assert_string_equal(name.project, "demo");
	assert_int_equal(w.metadata.len > 0, table[row].version != NULL);
	assert_string_equal(name.version.text, table[row].version ? table[row].version : "1.0");
}

static void test_table(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(buf_release) struct buf bytes;
		tar_make(&bytes, table[i].entries);
		expect_verdict(i, buf_view(&bytes), LENIENT, table[i].lenient);
		expect_verdict(i, buf_view(&bytes), STRICT, table[i].strict);
	}
}

static void test_truncated(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf bytes;
	tar_make(&bytes, table[0].entries);
	for (size_t len = 0; len < bytes.len; len++) {
		CLEANUP(filename_release) struct filename name;
		CLEANUP(wheel_release) struct wheel w;
		struct err e = ERR_INIT;
		struct byte_source s = byte_source_memory((struct str){bytes.data, len});
		if (examine_named(s, "demo-1.0.tar.gz", LENIENT, &name, &w, &e) == 0)
			fail_msg("accepted when cut after %zu bytes", len);
		assert_int_equal(e.kind, ERR_INVALID);
	}
}

// gzip's CRC detects nearly all flipped bits. None may crash the parser.
static void test_flipped(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf bytes;
	tar_make(&bytes, table[4].entries);
	for (size_t bit = 0; bit < bytes.len * 8; bit++) {
		CLEANUP(filename_release) struct filename name;
		CLEANUP(wheel_release) struct wheel w;
		struct err e = ERR_INIT;
		bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
		int result =
			examine_named(byte_source_memory(buf_view(&bytes)), "demo-1.0.tar.gz", STRICT, &name, &w, &e);
		bytes.data[bit / 8] = (char)(bytes.data[bit / 8] ^ 1 << bit % 8);
		if (result == 0)
			assert_true(str_eq(buf_view(&w.metadata), STR(INFO)));
	}
}

// The same below the CRC, because a hostile builder can choose every byte of the tar.
static void test_hostile_tar(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf tar;
	buf_init(&tar, 1 << 20);
	tar_add(&tar, &table[4].entries[0]);
	tar_add(&tar, &table[4].entries[1]);
	for (size_t i = 0; i < tar.len; i++) {
		CLEANUP(filename_release) struct filename name;
		CLEANUP(wheel_release) struct wheel w;
		CLEANUP(buf_release) struct buf bytes;
		struct err e = ERR_INIT;
		char before = tar.data[i];
		buf_init(&bytes, 1 << 20);
		tar.data[i] = (char)(before + (i % 2 ? 1 : -1));
		assert_int_equal(compress_gzip(buf_view(&tar), &bytes, &e), 0);
		tar.data[i] = before;
		if (examine_named(byte_source_memory(buf_view(&bytes)), "demo-1.0.tar.gz", LENIENT, &name, &w, &e) < 0)
			assert_int_not_equal(e.kind, ERR_NONE);
	}
}

// 70 MB of zeros in 70 KB are rejected under LENIENT too, so that they cannot occupy a scan.
// Exceeds LIMIT_UNPACKED, LIMIT_UNPACKED_RATIO.
static void test_bomb(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf tar;
	CLEANUP(buf_release) struct buf bytes;
	struct err e = ERR_INIT;
	buf_init(&tar, 80 << 20);
	buf_init(&bytes, 80 << 20);
	tar_add(&tar, &table[0].entries[0]);
	size_t len = 70 << 20;
	memset(buf_reserve(&tar, len), 0, len);
	tar.len += len;
	assert_int_equal(compress_gzip(buf_view(&tar), &bytes, &e), 0);
	expect_verdict(0, buf_view(&bytes), LENIENT, "Decompression bomb");
	expect_verdict(0, buf_view(&bytes), STRICT, "Decompression bomb");
}

static void test_zip(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(filename_release) struct filename name;
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	zipmake_init(&z);
	zipmake_add(&z, &(struct zipmake_member){.name = "demo-1.0/PKG-INFO", .content = INFO});
	zipmake_end(&z, "");
	assert_int_equal(examine_named(byte_source_memory(buf_view(&z.bytes)), "demo-1.0.zip", STRICT, &name, &w, &e),
		0);
	assert_true(str_eq(buf_view(&w.metadata), STR(INFO)));
}

static void test_zip_path_leads_out(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(filename_release) struct filename name;
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	zipmake_init(&z);
	zipmake_add(&z, &(struct zipmake_member){.name = "../PKG-INFO", .content = INFO});
	zipmake_end(&z, "");
	assert_int_equal(examine_named(byte_source_memory(buf_view(&z.bytes)), "demo-1.0.zip", LENIENT, &name, &w, &e),
		-1);
	assert_non_null(strstr(e.msg, "leads out"));
}

// The results for unusual files of the corpus. NULL: rejected, because nothing gives the version.
static const struct {
	const char *path, *project, *version, *requires_python;
} odd[] = {
	{"sdists/cffi-1.0.2-2.tar.gz", "cffi", "1.0.2.post2", ""},
	{"sdists/dbus-python-1.2.2-pypi.tar.gz", NULL, NULL, NULL},
	{"sdists/q-2.3.macosx-10.8-intel.tar.gz", NULL, NULL, NULL},
	{"sdists/zope.event-3.5.0-1.tar.gz", "zope-event", "3.5.0.post1", ""},
	{"sdists/isodatetime-1!2.0.0.tar.gz", "isodatetime", "1!2.0.0", ">=3.4, <3.8"},
	{"sdists/python_ldap-3.4.8.tar.gz", "python-ldap", "3.4.8", ">=3.6"},
	{"sdists/setuptools-39.0.1.zip", "setuptools", "39.0.1", ">=2.7,!=3.0.*,!=3.1.*,!=3.2.*"},
};

static void check_facts(const char *path, int result, const struct filename *name, const struct wheel *w,
	const char *message)
{
	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		if (!str_ends(str_from(path), str_from(odd[i].path)))
			continue;
		assert_int_equal(result, odd[i].project ? 0 : -1);
		if (result < 0)
			return;
		assert_string_equal(name->project, odd[i].project);
		assert_string_equal(name->version.text, odd[i].version);
		assert_string_equal(w->requires_python ? w->requires_python : "", odd[i].requires_python);
	}
	if (result < 0)
		fail_msg("%s: %s", path, message);
	assert_true(w->metadata.len > 0);
}

static void check_sdist(void *ctx, const struct vector *row)
{
	if (filename_kind(row->column[0]) != FILENAME_SDIST)
		return;
	CLEANUP(mem_free) char *below = xasprintf("corpus/" STR_FMT, STR_ARG(row->column[0]));
	CLEANUP(mem_free) char *path = vectors_path(below);
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	CLEANUP(filename_release) struct filename name;
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	if (fd < 0 || fstat(fd, &st) < 0)
		fail_msg("cannot open %s", path);
	const char *filename = strrchr(path, '/') + 1;
	int result = examine_named(byte_source_file(fd, (uint64_t)st.st_size), filename, LENIENT, &name, &w, &e);
	check_facts(path, result, &name, &w, e.msg);
	++*(size_t *)ctx;
}

static void test_corpus(void **state UNUSED)
{
	size_t count = 0;
	vectors_foreach("../corpus/sdists.tsv", check_sdist, &count);
	print_message("%zu sdists\n", count);
	assert_true(count > ARRAY_SIZE(odd));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_hostile_tar),
		cmocka_unit_test(test_bomb),
		cmocka_unit_test(test_zip),
		cmocka_unit_test(test_zip_path_leads_out),
		cmocka_unit_test(test_corpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
