// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/wheel.h"
#include "lib/os/fs.h"
#include "tests/unit/support/vectors.h"
#include "tests/unit/support/zipmake.h"

#define INFO "demo_pkg-1.0.dist-info/"
#define METADATA "Metadata-Version: 2.1\nName: Demo.Pkg\nVersion: 1.0.0\n"
#define WHEEL "Wheel-Version: 1.0\nTag: py3-none-any\n"

enum { FILES = 6 };

struct wheel_file {
	const char *name, *content; // a RECORD without content is generated from the files before it
	unsigned unix_mode;
};

static void add_base64(struct buf *out, const uint8_t bytes[SHA256_SIZE])
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	for (size_t bit = 0; bit < SHA256_SIZE * 8; bit += 6) {
		unsigned two = (unsigned)bytes[bit / 8] << 8;
		two |= bit / 8 + 1 < SHA256_SIZE ? bytes[bit / 8 + 1] : 0u;
		buf_putc(out, digits[two >> (10 - bit % 8) & 63]);
	}
}

static void add_record_row(struct buf *record, const struct wheel_file *f)
{
	uint8_t sha256[SHA256_SIZE];
	if (f->name[strlen(f->name) - 1] == '/')
		return;
	digest_sha256(str_from(f->content), sha256);
	buf_printf(record, "%s,sha256=", f->name);
	add_base64(record, sha256);
	buf_printf(record, ",%zu\r\n", strlen(f->content));
}

static void wheel_make(struct zipmake *z, const struct wheel_file files[FILES])
{
	CLEANUP(buf_release) struct buf record;
	buf_init(&record, 1 << 20);
	zipmake_init(z);
	for (size_t i = 0; i < FILES && files[i].name; i++) {
		if (files[i].content)
			add_record_row(&record, &files[i]);
		else
			buf_printf(&record, INFO "RECORD,,\r\n");
		const char *content = files[i].content ? files[i].content : record.data;
		zipmake_add(z, &(struct zipmake_member){
				       .name = files[i].name, .content = content, .unix_mode = files[i].unix_mode});
	}
	zipmake_end(z, "");
}

static int examine_named(const struct byte_source *s, const char *filename, enum strictness strictness,
	struct wheel *out, struct err *e)
{
	struct filename name = {0};
	if (filename_parse(str_from(filename), &name, e) < 0)
		fail_msg("%s: %s", filename, e->msg);
	wheel_init(out);
	int result = wheel_examine(s, &name, strictness, out, e);
	filename_release(&name);
	return result;
}

static const char *const demo_name = "demo_pkg-1.0-py3-none-any.whl";

static const struct wheel_file good[FILES] = {
	{"demo/", "", 0},
	{"demo/a.py", "print()\n", 0},
	{INFO "METADATA", METADATA "Requires-Python: >=3.8\n\nWords.\n", 0},
	{INFO "WHEEL", WHEEL, 0},
	{INFO "RECORD", NULL, 0},
};

#define M                                                                                                              \
	{                                                                                                              \
		INFO "METADATA", METADATA, 0                                                                           \
	}
#define W                                                                                                              \
	{                                                                                                              \
		INFO "WHEEL", WHEEL, 0                                                                                 \
	}
#define R                                                                                                              \
	{                                                                                                              \
		INFO "RECORD", NULL, 0                                                                                 \
	}

// expected: NULL: accepted without a finding; "~TEXT": a finding; "TEXT": an error.
static const struct {
	const char *what;
	struct wheel_file files[FILES];
	const char *lenient, *strict;
} table[] = {
	{"least", {M, W, R}, NULL, NULL},
	{"RECORD first", {{INFO "RECORD", INFO "METADATA,,\n", 0}, M, W}, "~differs from that of the file",
		"differs from that of the file"},
	{"no dist-info", {{"METADATA", METADATA, 0}}, "no .dist-info", "no .dist-info"},
	{"nested dist-info only", {{"x/" INFO "METADATA", METADATA, 0}}, "no .dist-info", "no .dist-info"},
	{"nested dist-info too", {{"x/y-1.dist-info/METADATA", "Name: y\n", 0}, M, W, R}, NULL, NULL},
	{"two dist-infos", {{"y-1.dist-info/METADATA", METADATA, 0}, M, W, R}, "two .dist-info", "two .dist-info"},
	{"a file .dist-info", {{"y-1.dist-info", "", 0}, M, W, R}, NULL, NULL},
	{"dist-info of another", {{"other-1.0.dist-info/METADATA", METADATA, 0}}, "does not belong to",
		"does not belong to"},
	{"dist-info of another version", {{"demo_pkg-1.1.dist-info/METADATA", METADATA, 0}}, "does not belong to",
		"does not belong to"},
	{"dist-info spelled otherwise", {{"Demo-Pkg-1.dist-info/METADATA", METADATA, 0}}, "~is not spelled",
		"is not spelled"},
	{"no METADATA", {W, R}, "no METADATA", "no METADATA"},
	{"another name", {{INFO "METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n", 0}, W, R},
		"its Name is not", "its Name is not"},
	{"another version", {{INFO "METADATA", "Metadata-Version: 2.1\nName: demo-pkg\nVersion: 1.1\n", 0}, W, R},
		"its Version is not", "its Version is not"},
	{"no version", {{INFO "METADATA", "Metadata-Version: 2.1\nName: demo-pkg\nVersion: x\n", 0}, W, R},
		"its Version is not", "its Version is not"},
	{"metadata of the future", {{INFO "METADATA", "Metadata-Version: 3.0\nName: a\nVersion: 1\n", 0}, W, R},
		"unknown Metadata-Version", "unknown Metadata-Version"},
	{"bad Requires-Python", {{INFO "METADATA", METADATA "Requires-Python: 3 or so\n", 0}, W, R}, "~Requires-Python",
		"~Requires-Python"},
	{"no WHEEL", {M, R}, "~no WHEEL", "no WHEEL"},
	{"other tags", {M, {INFO "WHEEL", "Wheel-Version: 1.0\nTag: py2-none-any\n", 0}, R}, "~tags", "~tags"},
	{"more tags", {M, {INFO "WHEEL", "Wheel-Version: 1.0\nTag: py3.py2-none-any\n", 0}, R}, "~tags", "~tags"},
	{"no tags", {M, {INFO "WHEEL", "Wheel-Version: 1.0\n", 0}, R}, "~tags", "~tags"},
	{"broken tag", {M, {INFO "WHEEL", "Wheel-Version: 1.0\nTag: py3\n", 0}, R}, "~tags", "~tags"},
	{"tag twice", {M, {INFO "WHEEL", WHEEL "Tag: PY3-none-any\n", 0}, R}, NULL, NULL},
	{"no Wheel-Version", {M, {INFO "WHEEL", "Tag: py3-none-any\n", 0}, R}, "~no Wheel-Version", "no Wheel-Version"},
	{"Wheel-Version 2", {M, {INFO "WHEEL", "Wheel-Version: 2.0\nTag: py3-none-any\n", 0}, R},
		"unknown Wheel-Version", "unknown Wheel-Version"},
	{"no RECORD", {M, W}, "~no RECORD", "no RECORD"},
	{"not in RECORD", {M, W, R, {"a.py", "", 0}}, "~does not list a.py", "does not list a.py"},
	{"signatures", {M, W, R, {INFO "RECORD.jws", "x", 0}, {INFO "RECORD.p7s", "x", 0}}, NULL, NULL},
	{"RECORD.asc", {M, W, R, {INFO "RECORD.asc", "x", 0}}, "~does not list", "does not list"},
	{"not in the wheel", {M, W, {INFO "RECORD", "gone.py,,\n", 0}}, "~not a file of the wheel",
		"not a file of the wheel"},
	{"broken RECORD", {M, W, {INFO "RECORD", "a,b\n", 0}}, "~not three fields", "not three fields"},
	{"file twice in RECORD", {M, W, {INFO "RECORD", INFO "RECORD,,\n" INFO "RECORD,,\n", 0}}, "~lists a file again",
		"lists a file again"},
	{"wrong size",
		{{"a", "", 0}, M, W, {INFO "RECORD", "a,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,1\n", 0}},
		"~size differs", "size differs"},
	{"no hash", {M, W, {INFO "RECORD", INFO "WHEEL,,37\n", 0}}, "~no hash", "no hash"},
	{"weak hash", {M, W, {INFO "RECORD", INFO "WHEEL,md5=1B2M2Y8AsgTpgAmY7PhCfg,37\n", 0}}, "~malformed",
		"malformed"},
	{"wrong hash",
		{{"a", "", 0}, M, W, {INFO "RECORD", "a,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFA,0\n", 0}},
		"~not list", "hash differs"},
	{"\"..\"", {{"a/../b", "", 0}, M, W, R}, "leads out", "leads out"},
	{"absolute", {{"/etc/passwd", "", 0}, M, W, R}, "leads out", "leads out"},
	{"drive", {{"C:a", "", 0}, M, W, R}, "leads out", "leads out"},
	{"\"..\" of Windows", {{"a\\..\\b", "", 0}, M, W, R}, "leads out", "leads out"},
	{"backslash", {{"a\\b", "", 0}, M, W, R}, "~backslash", "backslash"},
	{"empty part", {{"a//b", "", 0}, M, W, R}, "~empty parts", "empty parts"},
	{"dot", {{"./a", "", 0}, M, W, R}, "~empty parts", "empty parts"},
	{"link", {{"a", "b", S_IFLNK | 0777}, M, W, R}, "~symbolic link", "symbolic link"},
};

static void expect_verdict(size_t row, const struct zipmake *z, enum strictness strictness, const char *expected)
{
	struct byte_source s = byte_source_memory(buf_view(&z->bytes));
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	bool is_finding = expected && expected[0] == '~';
	int result = examine_named(&s, demo_name, strictness, &w, &e);
	const char *text = result < 0 ? e.msg : w.findings.text.data;
	if (result != (expected && !is_finding ? -1 : 0))
		fail_msg("%s, %s: \"%s\"", table[row].what, strictness == STRICT ? "strict" : "lenient", text);
	if (expected ? !strstr(text, expected + is_finding) : text[0] != '\0')
		fail_msg("%s: \"%s\" should be \"%s\"", table[row].what, text, expected ? expected : "");
	if (result < 0)
		assert_int_equal(e.kind, ERR_INVALID);
	else
		assert_int_equal(w.has_content, strictness == STRICT);
}

static void test_table(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(zipmake_release) struct zipmake z;
		wheel_make(&z, table[i].files);
		expect_verdict(i, &z, LENIENT, table[i].lenient);
		expect_verdict(i, &z, STRICT, table[i].strict);
	}
}

static void test_facts(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	wheel_make(&z, good);
	struct byte_source s = byte_source_memory(buf_view(&z.bytes));
	assert_int_equal(examine_named(&s, demo_name, LENIENT, &w, &e), 0);
	assert_string_equal(w.requires_python, ">=3.8");
	assert_true(str_eq(buf_view(&w.metadata), str_from(good[2].content)));
	digest_sha256(str_from(good[2].content), sha256);
	assert_memory_equal(w.metadata_sha256, sha256, SHA256_SIZE);
	assert_int_equal(w.findings.count, 0);
}

// Exceeds LIMIT_METADATA.
static void test_metadata_too_large(void **state UNUSED)
{
	CLEANUP(mem_free) char *text = xmalloc(LIMIT_METADATA + 2);
	memset(text, '\n', LIMIT_METADATA + 1);
	text[LIMIT_METADATA + 1] = '\0';
	struct wheel_file files[FILES] = {{INFO "METADATA", text, 0}};
	CLEANUP(zipmake_release) struct zipmake z;
	wheel_make(&z, files);
	for (int strictness = LENIENT; strictness <= STRICT; strictness++) {
		struct byte_source s = byte_source_memory(buf_view(&z.bytes));
		CLEANUP(wheel_release) struct wheel w;
		struct err e = ERR_INIT;
		assert_int_equal(examine_named(&s, demo_name, (enum strictness)strictness, &w, &e), -1);
		assert_int_equal(e.kind, ERR_LIMIT);
	}
}

// Examines a wheel with an excessive METADATA, WHEEL or RECORD.
static void examine_excess(const char *info, const char *content, struct wheel *w)
{
	const struct wheel_file files[FILES] = {
		{INFO "METADATA", strcmp(info, "METADATA") == 0 ? content : METADATA, 0},
		{INFO "WHEEL", strcmp(info, "WHEEL") == 0 ? content : WHEEL, 0},
		{INFO "RECORD", strcmp(info, "RECORD") == 0 ? content : NULL, 0},
	};
	CLEANUP(zipmake_release) struct zipmake z;
	struct err e = ERR_INIT;
	wheel_make(&z, files);
	struct byte_source s = byte_source_memory(buf_view(&z.bytes));
	if (examine_named(&s, demo_name, LENIENT, w, &e) < 0)
		fail_msg("%s: %s", info, e.msg);
}

static char *repeat(const char *start, const char *piece, size_t count, const char *end)
{
	struct buf out;
	buf_init(&out, LIMIT_RECORD);
	buf_puts(&out, start);
	for (size_t i = 0; i < count; i++)
		buf_puts(&out, piece);
	buf_puts(&out, end);
	assert_false(out.failed);
	return buf_steal(&out);
}

// Exceeds LIMIT_RECORD.
static void test_record_too_large(void **state UNUSED)
{
	CLEANUP(mem_free) char *text = xmalloc(LIMIT_RECORD + (size_t)2);
	memset(text, '\n', LIMIT_RECORD + (size_t)1);
	text[LIMIT_RECORD + (size_t)1] = '\0';
	const struct wheel_file files[FILES] = {
		{INFO "METADATA", METADATA, 0}, {INFO "WHEEL", WHEEL, 0}, {INFO "RECORD", text, 0}};
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(wheel_release) struct wheel w;
	struct err e = ERR_INIT;
	wheel_make(&z, files);
	struct byte_source s = byte_source_memory(buf_view(&z.bytes));
	assert_int_equal(examine_named(&s, demo_name, LENIENT, &w, &e), -1);
	if (e.kind != ERR_LIMIT)
		fail_msg("%s", e.msg);
}

static long peak_kb(void)
{
	struct rusage use;
	assert_int_equal(getrusage(RUSAGE_SELF, &use), 0);
	return use.ru_maxrss;
}

// One line of 64 times 64 tags. A Python tag of 100 KB expands them to 400 MB, one of 7 MB to 28 GB.
static void test_long_tags(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf set;
	CLEANUP(wheel_release) struct wheel w;
	CLEANUP(mem_free) char *python = repeat("Wheel-Version: 1.0\nTag: ", "p", 100 << 10, "");
	buf_init(&set, 1 << 10);
	for (int i = 0; i < 64; i++)
		buf_printf(&set, "%sa%d", i ? "." : "", i);
	CLEANUP(mem_free) char *text = xasprintf("%s-%s-%s\n", python, set.data, set.data);
	long before = peak_kb();
	examine_excess("WHEEL", text, &w);
	assert_in_range(peak_kb() - before, 0, 100 << 10);
	assert_non_null(strstr(w.findings.text.data, "WHEEL: tags "));
}

static void test_many_tags(void **state UNUSED)
{
	CLEANUP(wheel_release) struct wheel w;
	CLEANUP(mem_free) char *text = repeat("Wheel-Version: 1.0\n", "Tag: py3-none-any\n", 400000, "");
	examine_excess("WHEEL", text, &w);
	assert_non_null(strstr(w.findings.text.data, "WHEEL: tags "));
}

// A Requires-Python appears on every page of the project, so a long one is omitted.
static void test_long_requires_python(void **state UNUSED)
{
	for (size_t more = 0; more < 2; more++) {
		CLEANUP(wheel_release) struct wheel w;
		CLEANUP(mem_free)
		char *text = repeat(METADATA "Requires-Python: >=3", ",", LIMIT_REQUIRES_PYTHON - 3 + more, "\n");
		examine_excess("METADATA", text, &w);
		assert_int_equal(w.requires_python == NULL, more);
		assert_int_equal(w.findings.count, more);
		assert_int_equal(strstr(w.findings.text.data, "Requires-Python") != NULL, more);
	}
}

// Findings about lines are added until the text is full. Then the rest is not read.
// Exceeds LIMIT_FINDINGS.
static void test_bad_record(void **state UNUSED)
{
	static const char *const lines[] = {"x,,\n", "x,sha256=1,2\r\n", INFO "WHEEL,md5=1,2\n"};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		CLEANUP(wheel_release) struct wheel w;
		CLEANUP(mem_free) char *text = repeat("", lines[i], 1000000, "");
		examine_excess("RECORD", text, &w);
		assert_true(w.findings.count > 100 && w.findings.count < LIMIT_FINDINGS / 10);
		assert_non_null(strstr(w.findings.text.data, "RECORD line 1:"));
	}
}

// Examines a copy of exactly len bytes, so that the sanitizer detects a read beyond them.
static int examine_copy(const char *bytes, size_t len, enum strictness strictness, struct wheel *w)
{
	CLEANUP(mem_free) char *copy = xmalloc(len);
	memcpy(copy, bytes, len);
	struct byte_source s = byte_source_memory((struct str){copy, len});
	struct err e = ERR_INIT;
	return examine_named(&s, demo_name, strictness, w, &e);
}

static void test_truncated(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	wheel_make(&z, good);
	for (size_t len = 0; len < z.bytes.len; len++)
		for (int strictness = LENIENT; strictness <= STRICT; strictness++) {
			CLEANUP(wheel_release) struct wheel w;
			if (examine_copy(z.bytes.data, len, (enum strictness)strictness, &w) == 0)
				fail_msg("accepted when cut after %zu bytes", len);
		}
}

// No flipped bit crashes the examination. Under STRICT none makes another wheel: what is accepted has the same content.
static void test_flipped(void **state UNUSED)
{
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(wheel_release) struct wheel whole;
	size_t taken = 0;
	wheel_make(&z, good);
	assert_int_equal(examine_copy(z.bytes.data, z.bytes.len, STRICT, &whole), 0);
	for (size_t bit = 0; bit < z.bytes.len * 8; bit++) {
		CLEANUP(wheel_release) struct wheel lenient, strict CLEANUP(wheel_release);
		char *byte = &z.bytes.data[bit / 8], before = *byte;
		*byte = (char)(before ^ 1 << bit % 8);
		int easy = examine_copy(z.bytes.data, z.bytes.len, LENIENT, &lenient);
		int hard = examine_copy(z.bytes.data, z.bytes.len, STRICT, &strict);
		*byte = before;
		if (hard == 0 && memcmp(strict.content_sha256, whole.content_sha256, SHA256_SIZE) != 0)
			fail_msg("bit %zu of byte %zu makes another wheel", bit % 8, bit / 8);
		if (hard == 0 && easy < 0)
			fail_msg("byte %zu: STRICT accepts what LENIENT rejects", bit / 8);
		taken += hard == 0;
	}
	print_message("%zu of %zu bits are of no matter (dates, modes, versions)\n", taken, z.bytes.len * 8);
}

static void open_source(const char *path, int *fd, struct byte_source *s)
{
	struct stat st;
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 || fstat(*fd, &st) < 0)
		fail_msg("cannot open %s", path);
	*s = byte_source_file(*fd, (uint64_t)st.st_size);
}

static void assert_hex(const char *path, const char *what, const uint8_t sha256[SHA256_SIZE], struct str should)
{
	char hex[SHA256_HEX];
	hex_encode(sha256, SHA256_SIZE, hex);
	if (!str_eq((struct str){hex, sizeof(hex)}, should))
		fail_msg("%s: %s is " STR_FMT, path, what, STR_ARG(should));
}

// Columns of corpus/expected.tsv.
enum { PATH, METADATA_SHA256 = 3, METADATA_SIZE, REQUIRES_PYTHON = 10, TAGS_AGREE = 13, CONTENT_SHA256 = 15 };

static void check_wheel(void *ctx UNUSED, const struct vector *row)
{
	CLEANUP(mem_free) char *below = xasprintf("corpus/" STR_FMT, STR_ARG(row->column[PATH]));
	CLEANUP(mem_free) char *path = vectors_path(below);
	CLEANUP(buf_release) struct buf python;
	buf_init(&python, 10000);
	if (str_starts(row->column[REQUIRES_PYTHON], STR("\"")))
		vectors_unquote(row->column[REQUIRES_PYTHON], &python);
	for (int strictness = LENIENT; strictness <= STRICT; strictness++) {
		CLEANUP(mem_close) int fd = -1;
		struct byte_source s;
		CLEANUP(wheel_release) struct wheel w;
		struct err e = ERR_INIT;
		open_source(path, &fd, &s);
		if (examine_named(&s, strrchr(path, '/') + 1, (enum strictness)strictness, &w, &e) < 0)
			fail_msg("%s: %s", path, e.msg);
		assert_hex(path, "metadata_sha256", w.metadata_sha256, row->column[METADATA_SHA256]);
		assert_int_equal(w.metadata.len, strtoul(row->column[METADATA_SIZE].ptr, NULL, 10));
		assert_string_equal(w.requires_python ? w.requires_python : "", python.data);
		assert_int_equal(strstr(w.findings.text.data, "tags") == NULL,
			str_starts(row->column[TAGS_AGREE], STR("1")));
		if (strictness == STRICT)
			assert_hex(path, "content_sha256", w.content_sha256, row->column[CONTENT_SHA256]);
	}
}

static void test_corpus(void **state UNUSED)
{
	free(vectors_path("corpus/wheels")); // skips the test if a clone has the table without the wheels
	vectors_foreach("../corpus/expected.tsv", check_wheel, NULL);
}

static void test_clients(void **state UNUSED)
{
	CLEANUP(mem_free) char *folder = vectors_path("clients/wheels");
	CLEANUP(fs_close_dir) DIR *dir = opendir(folder);
	size_t count = 0;
	assert_non_null(dir);
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (!str_ends(str_from(entry->d_name), STR(".whl")))
			continue;
		CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, entry->d_name);
		for (int strictness = LENIENT; strictness <= STRICT; strictness++) {
			CLEANUP(mem_close) int fd = -1;
			struct byte_source s;
			CLEANUP(wheel_release) struct wheel w;
			struct err e = ERR_INIT;
			open_source(path, &fd, &s);
			if (examine_named(&s, entry->d_name, (enum strictness)strictness, &w, &e) < 0)
				fail_msg("%s: %s", path, e.msg);
		}
		count++;
	}
	print_message("%zu wheels of %s\n", count, folder);
	assert_true(count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_metadata_too_large),
		cmocka_unit_test(test_record_too_large),
		cmocka_unit_test(test_long_tags),
		cmocka_unit_test(test_many_tags),
		cmocka_unit_test(test_long_requires_python),
		cmocka_unit_test(test_bad_record),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_corpus),
		cmocka_unit_test(test_clients),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
