// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/base/strset.h"
#include "lib/format/base64.h"
#include "lib/format/compress.h"
#include "lib/format/digest.h"
#include "lib/format/jsondoc.h"
#include "lib/os/fs.h"
#include "lib/net/fetch.h"
#include "lib/os/thread-pool.h"
#include "tests/unit/support/openat2.h"

static void test_slices(void **state UNUSED)
{
	struct str rest = STR("a/b//c");
	assert_true(str_eq(str_cut(&rest, '/'), STR("a")));
	assert_true(str_eq(str_cut(&rest, '/'), STR("b")));
	assert_true(str_eq(str_cut(&rest, '/'), STR("")));
	assert_true(str_eq(str_cut(&rest, '/'), STR("c")));
	assert_null(rest.ptr);
	assert_true(str_starts(rest, STR("")) && !str_slice(rest, 0, 0).ptr);
	assert_true(str_eq(str_trim(STR(" \t x y\r\n")), STR("x y")));
	assert_true(str_cmp(STR("a"), STR("ab")) < 0 && str_cmp(STR("b"), STR("ab")) > 0);
	assert_true(str_eq_nocase(STR("GziP"), STR("gZIp")) && str_eq_nocase(STR(""), STR("")));
	assert_false(str_eq_nocase(STR("gzip"), STR("bzip")) || str_eq_nocase(STR("gzip"), STR("gziq")));
	assert_false(str_eq_nocase(STR("gzip"), STR("gzi")) || str_eq_nocase(STR("[zip"), STR("{zip")));
	assert_int_equal(str_rfind(STR("a.b.c"), '.'), 3);
	assert_int_equal(str_find(STR(""), '.'), -1);
}

static void test_utf8(void **state UNUSED)
{
	static const struct {
		const char *bytes;
		bool good;
	} table[] = {
		{"", true},
		{"plain", true},
		{"caf\xc3\xa9", true},
		{"\xe2\x82\xac", true},
		{"\xf0\x9f\x8e\xa1", true},
		{"\xc3", false},
		{"\xc0\xaf", false},
		{"\xe0\x80\xaf", false},
		{"\xed\xa0\x80", false},
		{"\xf4\x90\x80\x80", false},
		{"\xff", false},
		{"\x80", false},
		{"\xf0\x9f\x8e", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (str_is_utf8(str_from(table[i].bytes)) != table[i].good)
			fail_msg("row %zu", i);
}

static void test_base64(void **state UNUSED)
{
	static const struct {
		const char *text;
		enum base64_form form;
		const char *bytes; // NULL: malformed
	} table[] = {
		{"", BASE64_PLAIN, ""},
		{"Zg==", BASE64_PLAIN, "f"},
		{"Zm8=", BASE64_PLAIN, "fo"},
		{"Zm9v", BASE64_PLAIN, "foo"},
		{"Zm9vYg==", BASE64_PLAIN, "foob"},
		{"+/+/", BASE64_PLAIN, "\xfb\xff\xbf"},
		{"Zg", BASE64_PLAIN, NULL},
		{"Zg=", BASE64_PLAIN, NULL},
		{"Zg===", BASE64_PLAIN, NULL},
		{"Zh==", BASE64_PLAIN, NULL},
		{"Z===", BASE64_PLAIN, NULL},
		{"-_-_", BASE64_PLAIN, NULL},
		{"Zm9v\n", BASE64_PLAIN, NULL},
		{"Zm 9", BASE64_PLAIN, NULL},
		{"=", BASE64_PLAIN, NULL},
		{"", BASE64_URL, ""},
		{"Zg", BASE64_URL, "f"},
		{"Zm8", BASE64_URL, "fo"},
		{"Zm9v", BASE64_URL, "foo"},
		{"-_-_", BASE64_URL, "\xfb\xff\xbf"},
		{"Zg==", BASE64_URL, NULL},
		{"Z", BASE64_URL, NULL},
		{"Zh", BASE64_URL, NULL},
		{"+/+/", BASE64_URL, NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		uint8_t out[16];
		struct str text = str_from(table[i].text);
		bool good = base64_decode(text, table[i].form, out);
		if (good != (table[i].bytes != NULL))
			fail_msg("row %zu", i);
		if (!good)
			continue;
		assert_int_equal(base64_size(text), strlen(table[i].bytes));
		assert_memory_equal(out, table[i].bytes, strlen(table[i].bytes));
		CLEANUP(buf_release) struct buf again;
		buf_init(&again, 16);
		base64_encode(out, strlen(table[i].bytes), table[i].form, &again);
		assert_string_equal(again.data, table[i].text);
	}
}

static void test_a_buffer_has_a_ceiling(void **state UNUSED)
{
	CLEANUP(buf_release) struct buf b;
	buf_init(&b, 5);
	buf_puts(&b, "abc");
	buf_puts(&b, "def"); // would be six
	assert_true(b.failed);
	buf_putc(&b, 'x');
	assert_string_equal(b.data, "abc");
	buf_clear(&b);
	buf_printf(&b, "%d-%d", 12, 34);
	assert_false(b.failed);
	assert_string_equal(b.data, "12-34");
}

static void test_a_count_has_its_words(void **state UNUSED)
{
	char least[COUNTED_TEXT];
	assert_string_equal(counted_text(least, 0, "file|files"), "0 files");
	assert_string_equal(COUNTED(1, "file waits|files wait"), "1 file waits");
	assert_string_equal(COUNTED(UINT64_MAX, "of its files is|of its files are"),
		"18446744073709551615 of its files are");
}

static void test_errors_say_where(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(err_set(&e, ERR_LIMIT, "%s is too long", "x"), -1);
	err_prefix(&e, "wheel %s: ", "y");
	assert_string_equal(e.msg, "wheel y: x is too long");
	assert_int_equal(err_exit_code(e.kind), 1);
	assert_int_equal(err_exit_code(ERR_USAGE), 2);
	char long_text[2 * ERR_MSG_SIZE];
	memset(long_text, 'a', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	err_prefix(&e, "%s", long_text);
	assert_int_equal(strlen(e.msg), ERR_MSG_SIZE - 1);
}

static void test_digest(void **state UNUSED)
{
	uint8_t got[SHA256_SIZE], again[SHA256_SIZE];
	char hex[SHA256_HEX];
	digest_sha256(STR("abc"), got); // FIPS 180-4, example
	hex_encode(got, sizeof(got), hex);
	assert_memory_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", SHA256_HEX);
	assert_true(hex_decode((struct str){hex, SHA256_HEX}, again, sizeof(again)));
	assert_memory_equal(got, again, sizeof(got));
	assert_false(hex_decode(STR("0g"), again, 1));
	assert_false(hex_decode(STR("00"), again, 2));
}

static int collect(void *ctx, struct str piece, struct err *e UNUSED)
{
	buf_str(ctx, piece);
	return 0;
}

static void test_packing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf plain, gz, zst, again, back;
	buf_init(&again, 1 << 20);
	buf_init(&plain, 1 << 20), buf_init(&gz, 1 << 20), buf_init(&zst, 1 << 20), buf_init(&back, 1 << 20);
	for (int i = 0; i < 5000; i++)
		buf_printf(&plain, "line %d\n", i);
	assert_int_equal(compress_gzip(buf_view(&plain), &gz, &e), 0);
	struct compress *pack = compress_new();
	assert_int_equal(compress_zstd_by(pack, buf_view(&plain), 3, &zst, &e), 0);
	assert_int_equal(compress_zstd_by(pack, buf_view(&plain), 3, &again, &e), 0);
	compress_free(pack);
	assert_true(str_eq(buf_view(&zst), buf_view(&again)));
	assert_true(gz.len < plain.len / 2 && zst.len < plain.len / 2);
	struct byte_source packed = byte_source_memory(buf_view(&gz));
	assert_int_equal(decompress_gzip(&packed, collect, &back, &e), 0);
	assert_true(str_eq(buf_view(&back), buf_view(&plain)));
	buf_clear(&back);
	assert_int_equal(decompress_zstd(buf_view(&zst), &back, &e), 0);
	assert_true(str_eq(buf_view(&back), buf_view(&plain)));
	for (size_t cut = 0; cut < gz.len; cut += 97) { // truncation is always detected
		packed = byte_source_memory((struct str){gz.data, cut});
		assert_int_equal(decompress_gzip(&packed, collect, &back, &e), -1);
		buf_clear(&back);
		assert_int_equal(decompress_gzip_whole((struct str){gz.data, cut}, &back, &e), -1);
		assert_int_equal(e.kind, ERR_INVALID);
	}
	buf_release(&back), buf_init(&back, 10);
	assert_int_equal(decompress_zstd(buf_view(&zst), &back, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

static unsigned next_random(unsigned *state)
{
	return *state = *state * 1664525U + 1013904223U, *state >> 8;
}

// Bytes of several kinds, in the size from which time counts: any, few, hex digits, repetitions at the limits of the
// window, long runs, and counts that make codes of more than 15 bits.
static void fill_page(char *at, size_t len, unsigned kind, unsigned *state)
{
	static const char digits[] = "0123456789abcdef";
	const size_t window = 32U << 10, far = window - 1 + next_random(state) % 3;
	for (size_t i = 0; i < len; i++) {
		unsigned n = next_random(state);
		at[i] = kind == 1   ? (char)((n >> 12) % 3)
			: kind == 2 ? digits[n >> 12 & 15]
			: kind == 4 ? (char)(n % 500 ? 'a' : n >> 12)
			: kind == 5 ? (char)__builtin_ctz(n | 1U << 23)
				    : (char)n;
		if (kind == 3 && i >= far && n >> 8 & 63)
			at[i] = at[i - far];
	}
}

static void test_packing_large_pages(void **state UNUSED)
{
	struct err e = ERR_INIT;
	unsigned seed = 1;
	CLEANUP(buf_release) struct buf plain = buf_up_to(1 << 20), gz = buf_up_to(4 << 20), back = buf_up_to(1 << 20);
	CLEANUP(buf_release) struct buf none = buf_up_to(1000);
	for (unsigned i = 0; i < 60; i++) {
		size_t len = (256U << 10) + (i < 6 ? 0 : next_random(&seed) % (400U << 10));
		buf_clear(&plain), buf_clear(&gz), buf_clear(&back);
		fill_page(buf_reserve(&plain, len), len, i % 6, &seed);
		plain.len = len;
		assert_int_equal(compress_gzip(buf_view(&plain), &gz, &e), 0);
		struct byte_source packed = byte_source_memory(buf_view(&gz));
		assert_int_equal(decompress_gzip(&packed, collect, &back, &e), 0); // zlib
		assert_true(str_eq(buf_view(&back), buf_view(&plain)));
		buf_clear(&back);
		assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), 0); // libdeflate
		assert_true(str_eq(buf_view(&back), buf_view(&plain)));
		assert_true(gz.len < (i % 3 == 0 ? len + len / 100 : len * 2 / 3));
	}
	assert_int_equal(compress_gzip(buf_view(&plain), &none, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
}

// One member, several, one that states a wrong size, and limits.
static void test_unpacking_in_memory(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf plain, gz, back;
	buf_init(&plain, 1 << 20), buf_init(&gz, 1 << 20), buf_init(&back, 1 << 20);
	for (int i = 0; i < 40000; i++)
		buf_printf(&plain, "line %d\n", i);
	assert_int_equal(compress_gzip(buf_view(&plain), &gz, &e), 0);
	assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), 0);
	assert_true(str_eq(buf_view(&back), buf_view(&plain)));
	assert_int_equal(compress_gzip(STR("and more"), &gz, &e), 0); // a large member and a small one
	buf_clear(&back), buf_puts(&plain, "and more");
	assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), 0);
	assert_true(str_eq(buf_view(&back), buf_view(&plain)));
	buf_release(&back), buf_init(&back, plain.len);
	assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), 0);
	buf_release(&back), buf_init(&back, plain.len - 1);
	assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	gz.data[gz.len - 1] = '\x7f'; // states nearly 2 GB
	assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), -1);
	buf_puts(&gz, "x");
	buf_release(&back), buf_init(&back, 1 << 20);
	assert_int_equal(decompress_gzip_whole(buf_view(&gz), &back, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
}

// The digests of "abc" in FIPS 180-4 and RFC 1321, computed in two pieces.
static void test_hashes_side_by_side(void **state UNUSED)
{
	static const char *const wanted[DIGEST_COUNT] = {
		[DIGEST_SHA256] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		[DIGEST_MD5] = "900150983cd24fb0d6963f7d28e17f72",
	};
	struct digest_value got[DIGEST_COUNT];
	struct multi_digest *h = multi_digest_new();
	multi_digest_add(h, STR("ab"));
	multi_digest_add(h, STR("c"));
	multi_digest_end(h, got);
	multi_digest_free(h);
	for (int i = 0; i < DIGEST_COUNT; i++) {
		char hex[2 * DIGEST_MOST + 1] = "";
		hex_encode(got[i].bytes, got[i].size, hex);
		assert_string_equal(hex, wanted[i]);
	}
}

static void count(void *job)
{
	atomic_fetch_add((atomic_int *)job, 1);
}

static void test_a_pool_does_every_job(void **state UNUSED)
{
	atomic_int done = 0;
	for (int order = THREAD_POOL_FIRST_IN_FIRST_OUT; order <= THREAD_POOL_LAST_IN_FIRST_OUT; order++) {
		struct thread_pool *p = thread_pool_new(3, (enum thread_pool_order)order, "test");
		for (int i = 0; i < 1000; i++)
			thread_pool_submit(p, count, &done);
		thread_pool_drain(p);
		assert_int_equal(atomic_load(&done), 1000 * (order + 1));
		thread_pool_free(p);
	}
}

static unsigned threads_of_this_process(void)
{
	struct stat st;
	assert_int_equal(stat("/proc/self/task", &st), 0);
	return (unsigned)st.st_nlink - 2;
}

static void wait_at(void *job)
{
	pthread_barrier_wait(job);
}

// Jobs that wait for each other end only if a thread has begun for each.
static void test_a_pool_has_threads_for_the_jobs_at_once(void **state UNUSED)
{
	enum { MOST = 3 };
	atomic_int done = 0;
	pthread_barrier_t both, all;
	pthread_barrier_init(&both, NULL, 2);
	pthread_barrier_init(&all, NULL, MOST);
	unsigned before = threads_of_this_process();
	struct thread_pool *p = thread_pool_new(MOST, THREAD_POOL_FIRST_IN_FIRST_OUT, "test");
	assert_int_equal(threads_of_this_process(), before);
	for (int i = 0; i < 2; i++)
		thread_pool_submit(p, wait_at, &both);
	thread_pool_drain(p);
	assert_int_equal(threads_of_this_process(), before + 2);
	for (int i = 0; i < 4 * MOST; i++)
		thread_pool_submit(p, wait_at, &all);
	thread_pool_submit(p, count, &done);
	thread_pool_drain(p);
	assert_int_equal(threads_of_this_process(), before + MOST);
	assert_int_equal(done, 1);
	thread_pool_free(p);
	pthread_barrier_destroy(&both);
	pthread_barrier_destroy(&all);
}

static void note_mask(void *mask)
{
	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, mask), 0);
}

// A handler of what a thread's own fault raises works in a worker, too.
static void test_a_worker_leaves_signals_to_the_main_thread_but_not_its_faults(void **state UNUSED)
{
	sigset_t mask;
	struct thread_pool *p = thread_pool_new(1, THREAD_POOL_FIRST_IN_FIRST_OUT, "test");
	thread_pool_submit(p, note_mask, &mask);
	thread_pool_drain(p);
	thread_pool_free(p);
	assert_true(sigismember(&mask, SIGTERM));
	assert_false(sigismember(&mask, SIGBUS) || sigismember(&mask, SIGSEGV));
}

static void make_tree(char folder[])
{
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("in", 0755), 0);
	int fd = open("in/file", O_CREAT | O_WRONLY, 0644);
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
	assert_int_equal(symlink("file", "in/inside"), 0);
	assert_int_equal(symlink("../../../etc/passwd", "in/outside"), 0);
	assert_int_equal(symlink("/etc/passwd", "in/absolute"), 0);
	assert_int_equal(symlink("loop", "in/loop"), 0);
}

static void test_nothing_opens_outside(void **state UNUSED)
{
	static const struct {
		const char *path;
		enum err_kind kind, without_openat2;
	} table[] = {
		{"in/file", ERR_NONE, ERR_NONE},
		{"in/inside", ERR_NONE, ERR_DENIED},
		{"in/../in/file", ERR_NONE, ERR_DENIED},
		{"in/gone", ERR_NOT_FOUND, ERR_NOT_FOUND},
		{"in/outside", ERR_DENIED, ERR_DENIED},
		{"in/absolute", ERR_DENIED, ERR_DENIED},
		{"in/loop", ERR_DENIED, ERR_DENIED},
		{"../etc", ERR_DENIED, ERR_DENIED},
		{"/etc/passwd", ERR_DENIED, ERR_DENIED},
	};
	bool is_new = has_openat2();
	char folder[] = "/tmp/test-base-XXXXXX";
	make_tree(folder);
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int root = fs_open_dir(folder, &e);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		e.kind = ERR_NONE;
		enum err_kind kind = is_new ? table[i].kind : table[i].without_openat2;
		CLEANUP(mem_close) int fd = fs_open_beneath(root, table[i].path, O_RDONLY, &e);
		if (e.kind != kind || (fd >= 0) != (kind == ERR_NONE))
			fail_msg("%s: %s", table[i].path, e.msg);
	}
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s", folder);
	assert_int_equal(chdir("/") + system(command), 0);
}

static void test_a_file_appears_whole_or_not_at_all(void **state UNUSED)
{
	char folder[] = "/tmp/test-base-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct err e = ERR_INIT;
	struct fs_tmp tmp;
	CLEANUP(mem_close) int dir = fs_open_dir(folder, &e);
	assert_int_equal(symlinkat("file", dir, ".tmp"), 0); // a killed process may have left anything
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fs_tmp_open(&tmp, dir, ".tmp", "file", &e), 0);
		assert_int_equal(fs_tmp_write(&tmp, i ? STR("second") : STR("one"), &e), 0);
		assert_int_equal(faccessat(dir, "file", F_OK, 0), i ? 0 : -1);
		assert_int_equal(fs_tmp_publish(&tmp, &e), 0);
		fs_tmp_release(&tmp);
		assert_int_equal(faccessat(dir, ".tmp", F_OK, 0), -1);
	}
	assert_int_equal(fs_tmp_open(&tmp, dir, ".tmp", "file", &e), 0);
	assert_int_equal(fs_tmp_write(&tmp, STR("never"), &e), 0);
	fs_tmp_release(&tmp);
	assert_int_equal(fs_sync_dir(dir, &e), 0);
	CLEANUP(mem_free) char *path = xasprintf("%s/file", folder);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 100);
	assert_int_equal(fs_read_file(path, &text, &e), 0);
	assert_string_equal(text.data, "second");
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s && mkdir -p %s/file", folder, folder);
	assert_int_equal(system(command), 0);
	assert_int_equal(fs_tmp_open(&tmp, dir, ".tmp", "file", &e), -1); // the folder is gone
	assert_string_equal(e.msg, "file: No such file or directory");
	fs_tmp_release(&tmp);
	CLEANUP(mem_close) int other = fs_open_dir(folder, &e);
	assert_int_equal(fs_tmp_open(&tmp, other, ".tmp", "file", &e), 0);
	assert_int_equal(fs_tmp_publish(&tmp, &e), -1);
	assert_string_equal(e.msg, "file: Is a directory");
	fs_tmp_release(&tmp);
	assert_int_equal(faccessat(other, ".tmp", F_OK, 0), -1);
	assert_int_equal(rmdir(path) + rmdir(folder), 0);
}

static void test_the_first_of_a_name_stays(void **state UNUSED)
{
	char folder[] = "/tmp/test-base-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct err e = ERR_INIT;
	struct fs_tmp tmp;
	CLEANUP(mem_close) int dir = fs_open_dir(folder, &e);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fs_tmp_open(&tmp, dir, ".tmp", "file", &e), 0);
		assert_int_equal(fs_tmp_write(&tmp, i ? STR("second") : STR("one"), &e), 0);
		assert_int_equal(fs_tmp_link(&tmp, &e), i ? -1 : 0);
		fs_tmp_release(&tmp);
		assert_int_equal(faccessat(dir, ".tmp", F_OK, 0), -1);
	}
	assert_int_equal(e.kind, ERR_CONFLICT);
	CLEANUP(mem_free) char *path = xasprintf("%s/file", folder);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, 100);
	assert_int_equal(fs_read_file(path, &text, &e), 0);
	assert_string_equal(text.data, "one");
	assert_int_equal(unlink(path) + rmdir(folder), 0);
}

static void test_relative_paths(void **state UNUSED)
{
	static const struct {
		const char *folder, *path, *want;
	} table[] = {
		{"/srv/static/files/a", "/srv/wheels/a/x.whl", "../../../wheels/a/x.whl"},
		{"/srv/static", "/srv/static-wheels/x", "../static-wheels/x"},
		{"/srv/static", "/srv/static/x", "x"},
		{"/srv/static/a", "/srv/static", "../."},
		{"/srv/static", "/srv/static", "."},
		{"/srv/static", "/afs/wheels/x", "/afs/wheels/x"},
		{"/srv/static", "/s/x", "/s/x"},
		{"/", "/x", "/x"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		CLEANUP(mem_free) char *got = fs_relative_path(table[i].folder, table[i].path);
		assert_string_equal(got, table[i].want);
	}
}

static void test_documents(void **state UNUSED)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text;
	struct jsondoc *list = jsondoc_array(), *item = jsondoc_object();
	buf_init(&text, 1000);
	jsondoc_put_str(item, "drink", "caf\xe9"); // not UTF-8
	jsondoc_add(list, item);
	jsondoc_put(doc, "list", list);
	jsondoc_put_int(doc, "n", -1);
	jsondoc_put_bool(doc, "yes", true);
	jsondoc_write(doc, 0, &text);
	assert_string_equal(text.data, "{\"list\": [{\"drink\": \"caf?\"}], \"n\": -1, \"yes\": true}\n");
}

// Without sigpipe_hold, SIGPIPE would end the test's process.
static void test_sigpipe_is_held(void **state UNUSED)
{
	struct sigpipe held;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	sigpipe_hold(&held);
	assert_int_equal(write(ends[1], "a", 1), -1);
	sigpipe_release(&held);
	close(ends[1]);
}

static void test_names_are_there_once_and_in_order(void **state UNUSED)
{
	static const char *const given[] = {"six", "attrs", "six", "Six", "attrs", "zope", "six"};
	static const char *const kept[] = {"Six", "attrs", "six", "zope"};
	struct strset names = {0};
	strset_sort(&names);
	assert_false(strset_has(&names, "six"));
	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		strset_add(&names, given[i]);
	strset_sort(&names);
	assert_int_equal(names.count, ARRAY_SIZE(kept));
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		assert_string_equal(names.item[i], kept[i]);
		assert_true(strset_has(&names, kept[i]));
	}
	assert_false(strset_has(&names, "si") || strset_has(&names, "zope.interface") || strset_has(&names, ""));
	strset_release(&names);
	assert_int_equal(names.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_a_buffer_has_a_ceiling),
		cmocka_unit_test(test_a_count_has_its_words),
		cmocka_unit_test(test_errors_say_where),
		cmocka_unit_test(test_digest),
		cmocka_unit_test(test_hashes_side_by_side),
		cmocka_unit_test(test_packing), cmocka_unit_test(test_packing_large_pages),
		cmocka_unit_test(test_unpacking_in_memory),
		cmocka_unit_test(test_a_pool_does_every_job),
		cmocka_unit_test(test_a_pool_has_threads_for_the_jobs_at_once),
		cmocka_unit_test(test_a_worker_leaves_signals_to_the_main_thread_but_not_its_faults),
		cmocka_unit_test(test_nothing_opens_outside),
		cmocka_unit_test(test_a_file_appears_whole_or_not_at_all),
		cmocka_unit_test(test_the_first_of_a_name_stays),
		cmocka_unit_test(test_relative_paths),
		cmocka_unit_test(test_documents),
		cmocka_unit_test(test_base64),
		cmocka_unit_test(test_sigpipe_is_held),
		cmocka_unit_test(test_names_are_there_once_and_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
