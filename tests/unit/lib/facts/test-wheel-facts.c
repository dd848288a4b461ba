// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/facts/wheel-reading.h"
#include "lib/facts/wheel-facts.h"
#include "lib/base/limits.h"
#include "lib/domain/archive/zipframe.h"
#include "tests/unit/support/zipmake.h"

#define INFO "demo-1.0.dist-info/"
#define PURE "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n"
#define CYCLONEDX                                                                                                      \
	"{\"bomFormat\": \"CycloneDX\", \"metadata\": {\"component\": {\"name\": \"demo\"}}, \"components\": "         \
	"[{\"name\": \"openssl\", \"version\": \"3.0.1\", \"purl\": \"pkg:generic/openssl@3.0.1\"}]}"

// An ELF file of this machine: this program.
static void read_own_program(struct buf *out)
{
	CLEANUP(mem_close) int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	assert_int_equal(fstat(fd, &st), 0);
	buf_init(out, (size_t)st.st_size);
	assert_int_equal(read(fd, buf_reserve(out, (size_t)st.st_size), (size_t)st.st_size), st.st_size);
	out->len = (size_t)st.st_size;
}

static void facts_of(struct zipmake *z, struct wheel_facts *out)
{
	struct err e = ERR_INIT;
	struct filename name;
	struct str text = STR("demo-1.0-py3-none-any.whl");
	struct byte_source bytes = byte_source_memory(buf_view(&z->bytes));
	assert_int_equal(filename_parse(text, &name, &e), 0);
	if (wheel_facts_read(&bytes, &name, out, &e) < 0)
		fail_msg("%s", e.msg);
	filename_release(&name);
}

static void make_wheel(struct zipmake *z, const struct buf *elf)
{
	const struct zipmake_member members[] = {
		{.name = "demo/__init__.py", .content = "\177ELF is not here"},
		{.name = "demo/core.so", .data = buf_view(elf)},
		{.name = "demo/broken.so", .content = "\177ELF and nothing more"},
		{.name = "demo/a.pyc", .content = "x"},
		{.name = "Demo/A.pyc", .content = "x"},
		{.name = "tests/test_a.py", .content = "x", .unix_mode = S_IFREG | 0666},
		{.name = "tests/test_b.py", .content = "x"},
		{.name = INFO "METADATA", .content = "Name: demo\n"},
		{.name = INFO "WHEEL", .content = PURE},
		{.name = INFO "sboms/a.cdx.json", .content = CYCLONEDX},
		{.name = INFO "sboms/b.cdx.json", .content = "{\"bomFormat\":"},
		{.name = INFO "sboms/c.xml", .content = "<bom/>"},
	};
	zipmake_init(z);
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		zipmake_add(z, &members[i]);
	zipmake_end(z, "");
}

static void check_facts(const struct wheel_facts *f)
{
	assert_int_equal(f->elfs, 3);
	assert_non_null(f->elf[0].damage); // whatever its name is
	assert_string_equal(f->elf[1].path, "demo/core.so");
	assert_null(f->elf[1].damage);
	assert_true(f->elf[1].elf.is_dynamic && f->elf[1].elf.is_executable && f->elf[1].elf.symbols > 10);
	assert_non_null(f->elf[2].damage);
	assert_true(f->is_purelib && !f->is_cut);
	assert_int_equal(f->members, 12);
	assert_string_equal(f->member[0], "Demo/A.pyc");
	assert_int_equal(f->components, 2);
	assert_string_equal(f->component[1].member, INFO "sboms/a.cdx.json");
	assert_string_equal(f->component[1].version, "3.0.1");
	assert_string_equal(f->component[1].purl, "pkg:generic/openssl@3.0.1");
	assert_null(f->component[0].version);
	size_t count[WHEEL_ODDITY_COUNT] = {0};
	for (size_t i = 0; i < f->odds; i++)
		count[f->odd[i].oddity]++;
	static const size_t expected[WHEEL_ODDITY_COUNT] = {[WHEEL_ODDITY_PYC] = 2,
		[WHEEL_ODDITY_TOP_LEVEL_TESTS] = 1,
		[WHEEL_ODDITY_CASE] = 1,
		[WHEEL_ODDITY_WRITABLE] = 1,
		[WHEEL_ODDITY_SBOM] = 1};
	assert_memory_equal(count, expected, sizeof(count));
}

// Exceeds LIMIT_COMPARE_FACTS.
static void test_read_pack_unpack(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf elf, packed, again;
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(wheel_facts_release) struct wheel_facts facts, unpacked;
	struct err e = ERR_INIT;
	read_own_program(&elf);
	make_wheel(&z, &elf);
	facts_of(&z, &facts);
	check_facts(&facts);
	buf_init(&packed, 1 << 20);
	buf_init(&again, 1 << 20);
	assert_int_equal(wheel_facts_pack(&facts, &packed, &e), 0);
	assert_int_equal(wheel_facts_unpack_most(buf_view(&packed), 10, &unpacked, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	assert_int_equal(wheel_facts_unpack(buf_view(&packed), &unpacked, &e), 0);
	check_facts(&unpacked);
	assert_int_equal(wheel_facts_pack(&unpacked, &again, &e), 0);
	assert_true(str_eq(buf_view(&packed), buf_view(&again)));
}

// The oddities of a wheel with these members, as "kind path detail;".
static void describe_oddities(const char *const names[], unsigned mode, struct buf *out)
{
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(wheel_facts_release) struct wheel_facts facts;
	zipmake_init(&z);
	for (size_t i = 0; names[i]; i++)
		zipmake_add(&z, &(struct zipmake_member){.name = names[i], .content = "", .unix_mode = mode});
	zipmake_add(&z, &(struct zipmake_member){.name = INFO "METADATA", .content = ""});
	zipmake_end(&z, "");
	facts_of(&z, &facts);
	buf_init(out, 1 << 12);
	for (size_t i = 0; i < facts.odds; i++)
		buf_printf(out, "%d %s %s;", facts.odd[i].oddity, facts.odd[i].path,
			facts.odd[i].detail ? facts.odd[i].detail : "-");
}

static void test_oddities(void **state)
{
	(void)state;
	enum { FILE_MODE = S_IFREG | 0644 };
	static const struct {
		const char *name[4];
		unsigned mode;
		const char *expected;
	} rows[] = {
		{{"tests/a.py", "tests/b/c.py", "test/a.py"}, FILE_MODE, "1 test/ -;1 tests/ -;"},
		{{"demo/tests/a.py", "mytests/a.py", "tests.py"}, FILE_MODE, ""},
		{{"demo-1.0.data/purelib/tests/a.py", "demo-1.0.data/scripts/tests/a.py"}, FILE_MODE,
			"1 demo-1.0.data/purelib/tests/ -;"},
		{{"demo-1.0.data/platlib/demo/tests/a.py", "demo-1.0.data/purelib/tests.py"}, FILE_MODE, ""},
		{{"demo/__pycache__/a.cpython-311.pyc", "demo/a.pyo", "demo/pyc"}, FILE_MODE,
			"0 demo/__pycache__/a.cpython-311.pyc -;0 demo/a.pyo -;"},
		{{"demo/README", "demo/readme", "demo/Readme"}, FILE_MODE,
			"2 demo/Readme demo/README;2 demo/readme demo/Readme;"},
		{{"demo/\xc3\x84", "demo/\xc3\xa4"}, FILE_MODE, ""}, // systems differ about other letters
		{{"demo/a.py"}, S_IFREG | 0666, "3 demo/a.py -;"},
		{{"demo/"}, S_IFDIR | 0777, ""},
		{{"demo/a.so"}, S_IFLNK | 0777, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(buf_release) struct buf found;
		describe_oddities(rows[i].name, rows[i].mode, &found);
		assert_string_equal(found.data, rows[i].expected);
	}
}

// This program, read as a file of gigabytes is.
static void test_large_elf_has_the_same_facts(void **state)
{
	(void)state;
	CLEANUP(buf_release) struct buf elf;
	CLEANUP(zipmake_release) struct zipmake z;
	CLEANUP(findings_release) struct findings findings;
	CLEANUP(zipdirectory_release) struct zipdirectory zip = {0};
	CLEANUP(large_elf_release) struct large_elf large = {0};
	CLEANUP(elf_facts_release) struct elf_facts whole, parts;
	uint8_t sha256[SHA256_SIZE], expected[SHA256_SIZE];
	struct err e = ERR_INIT;
	findings_init(&findings);
	read_own_program(&elf);
	make_wheel(&z, &elf);
	struct byte_source source = byte_source_memory(buf_view(&z.bytes));
	assert_int_equal(zipframe_read(&source, LENIENT, &findings, &zip, &e), 0);
	const struct zipmember *m = zipdirectory_find(&zip, STR("demo/core.so"));
	assert_int_equal(large_elf_load(&source, m, sha256, &large, &e), 0);
	digest_sha256(buf_view(&elf), expected);
	assert_memory_equal(sha256, expected, SHA256_SIZE);
	assert_true(large.bytes.len == elf.len && !str_eq(large.bytes, buf_view(&elf)));
	assert_int_equal(elf_facts_read(buf_view(&elf), &whole, &e), 0);
	size_t left = LIMIT_FACTS;
	assert_int_equal(elf_facts_read_parts(large.bytes, &large.parts, &left, &parts, &e), 0);
	assert_int_equal(whole.symbols, parts.symbols);
	for (size_t i = 0; i < whole.symbols; i++)
		assert_string_equal(whole.symbol[i].name, parts.symbol[i].name);
	assert_int_equal(whole.toolchain.count, parts.toolchain.count);
	assert_int_equal(whole.needed_versions, parts.needed_versions);
	assert_string_equal(whole.build_id, parts.build_id);
}

static void test_unpack_refuses_other_bytes(void **state)
{
	(void)state;
	struct wheel_facts facts;
	struct err e = ERR_INIT;
	const struct str other[] = {STR("WF0\0anything"), STR("WF1\0anything"), STR("WF\0"), STR("WF"), STR("")};
	for (size_t i = 0; i < ARRAY_SIZE(other); i++) {
		e = (struct err)ERR_INIT;
		assert_int_equal(wheel_facts_unpack(other[i], &facts, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
		assert_string_equal(e.msg, "the facts are of another version");
	}
}

// Exceeds LIMIT_FACTS_UNPACKED_GIB.
static void test_what_is_unpacked_is_limited(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	const uint64_t most = (uint64_t)LIMIT_FACTS_UNPACKED_GIB << 30;
	assert_int_equal(wheel_reading_most(UINT64_MAX), most);
	assert_int_equal(wheel_reading_most(0), LIMIT_UNPACKED);
	struct wheel_reading r = {.unpacked_left = wheel_reading_most(UINT64_MAX)};
	assert_int_equal(wheel_reading_spend(&r, most, &e), 0);
	assert_int_equal(wheel_reading_spend(&r, 1, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_pack_unpack), cmocka_unit_test(test_oddities),
		cmocka_unit_test(test_large_elf_has_the_same_facts), cmocka_unit_test(test_unpack_refuses_other_bytes),
		cmocka_unit_test(test_what_is_unpacked_is_limited)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
