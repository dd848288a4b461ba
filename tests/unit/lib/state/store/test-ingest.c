// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/ingest.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/format/compress.h"
#include "lib/place/place-ops.h"
#include "lib/place/place-posix.h"

// A right wheel, six-1.0-py3-none-any.whl, of stored members with CRC and sizes computed here.
static uint32_t crc32_of(struct str bytes)
{
	uint32_t crc = 0xffffffff;
	for (size_t i = 0; i < bytes.len; i++) {
		crc ^= (unsigned char)bytes.ptr[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put_number(struct buf *out, uint32_t value, int bytes)
{
	for (; bytes; bytes--, value >>= 8)
		buf_putc(out, (char)(value & 0xff));
}

static void put_facts(struct buf *out, struct str name, struct str data)
{
	put_number(out, 0, 2);          // flags
	put_number(out, 0, 2);          // stored
	put_number(out, 0x00210000, 4); // 1980-01-01
	put_number(out, crc32_of(data), 4);
	put_number(out, (uint32_t)data.len, 4);
	put_number(out, (uint32_t)data.len, 4);
	put_number(out, (uint32_t)name.len, 2);
	put_number(out, 0, 2); // extra
}

static void put_member(struct buf *zip, struct buf *directory, struct str name, struct str data)
{
	uint32_t offset = (uint32_t)zip->len;
	put_number(zip, 0x04034b50, 4);
	put_number(zip, 20, 2);
	put_facts(zip, name, data);
	buf_str(zip, name);
	buf_str(zip, data);
	put_number(directory, 0x02014b50, 4);
	put_number(directory, 20 | 3 << 8, 2); // made on Unix
	put_number(directory, 20, 2);
	put_facts(directory, name, data);
	put_number(directory, 0, 2); // comment
	put_number(directory, 0, 2); // disk
	put_number(directory, 0, 2);
	put_number(directory, 0100644u << 16, 4);
	put_number(directory, offset, 4);
	buf_str(directory, name);
}

static const struct {
	const char *name, *data;
} members[] = {
	{"six.py", "A = 1\n"},
	{"six-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: six\nVersion: 1.0\nRequires-Python: >=3.8\n"},
	{"six-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	{"six-1.0.dist-info/RECORD", "six.py,,\nsix-1.0.dist-info/METADATA,,\nsix-1.0.dist-info/WHEEL,,\n"
				     "six-1.0.dist-info/RECORD,,\n"},
};

// padding: bytes of one more member, so that the wheel is of about any size.
static void make_wheel(struct buf *zip, size_t padding)
{
	CLEANUP(buf_release) struct buf directory;
	CLEANUP(mem_free) char *zeros = xcalloc(padding, 1);
	buf_init(zip, 1 << 26);
	buf_init(&directory, 1 << 16);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		put_member(zip, &directory, str_from(members[i].name), str_from(members[i].data));
	if (padding)
		put_member(zip, &directory, STR("padding.bin"), (struct str){zeros, padding});
	uint32_t offset = (uint32_t)zip->len, count = ARRAY_SIZE(members) + (padding > 0);
	buf_str(zip, buf_view(&directory));
	put_number(zip, 0x06054b50, 4);
	put_number(zip, 0, 4);
	put_number(zip, count, 2);
	put_number(zip, count, 2);
	put_number(zip, (uint32_t)directory.len, 4);
	put_number(zip, offset, 4);
	put_number(zip, 0, 2);
}

static const char wheel_name[] = "six-1.0-py3-none-any.whl";

static struct place_file *temporary_file(struct str bytes)
{
	char path[] = "test-ingest.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, bytes.ptr, bytes.len), (ssize_t)bytes.len);
	return place_posix_file(fd);
}

static int read_file(struct place_file *file, const char *name, struct ingest_facts *out, struct err *e)
{
	struct ingest *in = ingest_new();
	ingest_facts_init(out);
	int result = ingest_read(in, file, name, LENIENT, out, e);
	ingest_free(in);
	return result;
}

static int read_bytes(struct str bytes, const char *name, struct ingest_facts *out, struct err *e)
{
	CLEANUP(place_file_close) struct place_file *file = temporary_file(bytes);
	return read_file(file, name, out, e);
}

static void assert_sha256(struct str bytes, const uint8_t *sha256)
{
	uint8_t expected[SHA256_SIZE];
	digest_sha256(bytes, expected);
	assert_memory_equal(sha256, expected, SHA256_SIZE);
}

static void wheels_of_every_size_are_read(void **state UNUSED)
{
	static const size_t paddings[] = {0, 100, 1 << 20, 3 << 20, (1 << 20) + 1};
	for (size_t i = 0; i < ARRAY_SIZE(paddings); i++) {
		CLEANUP(buf_release) struct buf zip, metadata;
		CLEANUP(ingest_facts_release) struct ingest_facts facts;
		struct err e = ERR_INIT;
		make_wheel(&zip, paddings[i]);
		assert_int_equal(read_bytes(buf_view(&zip), wheel_name, &facts, &e), 0);
		assert_null(facts.refusal);
		assert_sha256(buf_view(&zip), facts.sha256);
		assert_int_equal(facts.version.size, zip.len);
		assert_string_equal(facts.name.project, "six");
		assert_string_equal(facts.wheel.requires_python, ">=3.8");
		assert_true(facts.has_metadata);
		buf_init(&metadata, 1 << 16);
		assert_int_equal(decompress_zstd(buf_view(&facts.metadata_packed), &metadata, &e), 0);
		assert_string_equal(metadata.data, members[1].data);
		assert_sha256(buf_view(&metadata), facts.wheel.metadata_sha256);
	}
}

static void bytes_alone_are_hashed(void **state UNUSED)
{
	static const size_t lengths[] = {0, 5, (1 << 20) + 1};
	struct ingest *in = ingest_new();
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		CLEANUP(mem_free) char *bytes = xcalloc(1, lengths[i] + 1);
		CLEANUP(place_file_close) struct place_file *file = temporary_file((struct str){bytes, lengths[i]});
		struct err e = ERR_INIT;
		struct place_version version;
		uint8_t sha256[SHA256_SIZE];
		assert_int_equal(ingest_hash(in, file, &version, sha256, &e), 0);
		assert_sha256((struct str){bytes, lengths[i]}, sha256);
		assert_int_equal(version.size, lengths[i]);
	}
	ingest_free(in);
}

static void bad_files_are_refused_with_a_reason(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf zip;
	make_wheel(&zip, 100);
	const struct {
		const char *name;
		struct str bytes;
		bool was_read;
	} table[] = {
		{wheel_name, STR("junk"), true},
		{wheel_name, STR(""), true},
		{wheel_name, {zip.data, zip.len - 1}, true},
		{"attrs-1.0-py3-none-any.whl", buf_view(&zip), true}, // says six inside
		{"six.whl", buf_view(&zip), false},
		{"six-1.0.tar.gz", buf_view(&zip), true},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(ingest_facts_release) struct ingest_facts facts;
		struct err e = ERR_INIT;
		assert_int_equal(read_bytes(table[i].bytes, table[i].name, &facts, &e), 0);
		assert_non_null(facts.refusal);
		assert_int_equal(facts.was_read, table[i].was_read);
		if (facts.was_read)
			assert_sha256(table[i].bytes, facts.sha256);
	}
}

static void what_is_no_file_is_an_error(void **state UNUSED)
{
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	CLEANUP(place_file_close) struct place_file *file = place_posix_file(open(".", O_RDONLY | O_DIRECTORY));
	struct err e = ERR_INIT;
	assert_int_equal(read_file(file, wheel_name, &facts, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
}

// A file that ends before its size says so, as if it had been cut meanwhile.
static int say_longer(struct place_file *f UNUSED, struct place_info *out, struct err *e UNUSED)
{
	*out = (struct place_info){.kind = PLACE_FILE, .version.size = 100};
	return 0;
}

static int read_none(struct place_file *f UNUSED, uint64_t offset UNUSED, void *out UNUSED, size_t len UNUSED, size_t *got,
	struct err *e UNUSED)
{
	*got = 0;
	return 0;
}

static void file_that_changes_is_busy(void **state UNUSED)
{
	static const struct place_ops ops = {.file_info = say_longer, .file_read_at = read_none};
	struct place_file file = {&ops};
	CLEANUP(ingest_facts_release) struct ingest_facts facts;
	struct err e = ERR_INIT;
	assert_int_equal(read_file(&file, wheel_name, &facts, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wheels_of_every_size_are_read),
		cmocka_unit_test(bytes_alone_are_hashed),
		cmocka_unit_test(bad_files_are_refused_with_a_reason),
		cmocka_unit_test(what_is_no_file_is_an_error),
		cmocka_unit_test(file_that_changes_is_busy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
