// SPDX-License-Identifier: Apache-2.0
// Requests to the small S3 of the tests, which checks signatures: what is signed, repeated, listed, and how it fails.
#include "lib/place/s3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/base/blob.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/place/place-s3.h"
#include "lib/place/s3-probe.h"
#include "lib/place/spool.h"
#include "tests/unit/support/small-s3.h"

static struct engine *engine;

static struct s3_bucket *new_bucket(void)
{
	return s3_bucket_named(str_from(engine_bucket(engine)));
}

static void faults(const char *json)
{
	small_s3_control(engine, "PUT", "faults", json, NULL);
}

// How many requests there were since the last time.
static size_t requests(void)
{
	CLEANUP(buf_release) struct buf said = buf_up_to(1 << 20);
	small_s3_control(engine, "GET", "requests", NULL, &said);
	size_t count = 0;
	for (const char *at = said.data; (at = strchr(at, '"')); at = strchr(at + 1, '"') + 1)
		count++;
	return count;
}

// 0, or minus the kind of the error.
static int put_under(struct s3_bucket *b, const char *key, struct str text, bool is_new, const char *if_match)
{
	uint8_t sha256[SHA256_SIZE];
	struct err e = ERR_INIT;
	const struct byte_source body = byte_source_memory(text);
	digest_sha256(text, sha256);
	const struct s3_put put = {
		.key = key, .body = &body, .size = text.len, .sha256 = sha256, .is_new = is_new, .if_match = if_match};
	int result = s3_put(b, &put, &e);
	if (result < 0)
		print_message("%s\n", e.msg);
	return result < 0 ? -(int)e.kind : 0;
}

static int put_new(struct s3_bucket *b, const char *key, const char *text)
{
	return put_under(b, key, str_from(text), true, NULL);
}

static int begin_text(void *ctx, const struct s3_object *object UNUSED, struct err *e UNUSED)
{
	buf_clear(ctx);
	return 0;
}

static int add_text(void *ctx, struct str bytes, struct err *e UNUSED)
{
	buf_str(ctx, bytes);
	return 0;
}

static void expect_text(struct s3_bucket *b, const char *key, const char *text)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out = buf_up_to(1 << 20);
	const struct s3_sink sink = {begin_text, add_text, &out};
	int found = s3_read(b, key, 0, 1 << 20, &sink, &e);
	if (found != 1)
		fail_msg("%d %s", found, e.msg);
	assert_string_equal(out.data, text);
}

static void setting(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void use_keys(bool is_on)
{
	setting("AWS_ACCESS_KEY_ID", is_on ? "test" : NULL);
	setting("AWS_SECRET_ACCESS_KEY", is_on ? "secret" : NULL);
}

// --- requests ---

static void keys_of_any_text_are_signed(void **state UNUSED)
{
	static const char *const keys[] = {"a", "a/b/c", "a b", "a+b!~*'()", "\xc3\xa9/%2f%", "a?b#c&d=e", ".a/..b", "a:b@c"};
	struct s3_bucket *b = new_bucket();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		assert_int_equal(put_new(b, keys[i], keys[i]), 0);
		expect_text(b, keys[i], keys[i]);
	}
}

static void a_wrong_secret_is_refused_as_no_file_is(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_object object;
	struct s3_bucket *b = new_bucket();
	setting("AWS_SECRET_ACCESS_KEY", "wrong");
	int found = s3_head(b, "a", &object, NULL, &e);
	setting("AWS_SECRET_ACCESS_KEY", "secret");
	assert_int_equal(found, -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_null(strstr(e.msg, "wrong"));
}

static void a_condition_decides(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_object object;
	struct s3_bucket *b = new_bucket();
	assert_int_equal(put_new(b, "a", "one"), 0);
	assert_int_equal(put_new(b, "a", "two"), -ERR_CONFLICT);
	assert_int_equal(put_under(b, "a", STR("two"), false, "x"), -ERR_CONFLICT);
	assert_int_equal(s3_head(b, "a", &object, NULL, &e), 1);
	assert_int_equal(object.size, 3);
	assert_int_equal(s3_delete(b, "a", "x", &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_int_equal(put_under(b, "a", STR("two"), false, object.etag), 0);
	expect_text(b, "a", "two");
	assert_int_equal(s3_delete(b, "a", NULL, &e), 0);
	assert_int_equal(s3_delete(b, "a", NULL, &e), 0);
	assert_int_equal(s3_head(b, "a", &object, NULL, &e), 0);
}

static void a_lost_answer_is_found_again(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_bucket *b = new_bucket();
	faults("[{\"do\": \"lose\", \"method\": \"PUT\", \"times\": 2}]");
	assert_int_equal(put_new(b, "a", "one"), 0);
	expect_text(b, "a", "one");
	// Another writer's object is a conflict, also with the same bytes.
	faults("[{\"do\": \"close\", \"method\": \"PUT\"}]");
	assert_int_equal(put_new(b, "a", "one"), -ERR_CONFLICT);
	faults("[{\"do\": \"lose\", \"method\": \"DELETE\"}]");
	assert_int_equal(s3_delete(b, "a", NULL, &e), 0);
	assert_int_equal(put_new(b, "a", "one"), 0);
}

static void what_passes_is_tried_again(void **state UNUSED)
{
	struct s3_bucket *b = new_bucket();
	requests();
	faults("[{\"do\": \"503 SlowDown\"}, {\"do\": \"500\"}, {\"do\": \"409 ConditionalRequestConflict\"}, {\"do\": \"close\"}]");
	assert_int_equal(put_new(b, "a", "one"), 0);
	assert_int_equal(requests(), 5);
	faults("[{\"do\": \"cut\", \"method\": \"GET\"}]");
	expect_text(b, "a", "one");
	assert_int_equal(requests(), 2);
}

// An engine may send less than the range; whoever kept that would have a shorter file.
static void a_narrower_range_is_an_error(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out = buf_up_to(1 << 20);
	const struct s3_sink sink = {begin_text, add_text, &out};
	struct s3_bucket *b = new_bucket();
	assert_int_equal(put_new(b, "narrow", "0123456789"), 0);
	faults("[{\"do\": \"narrow\", \"method\": \"GET\"}]");
	assert_int_equal(s3_read(b, "narrow", 2, 6, &sink, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_non_null(strstr(e.msg, "less than it has"));
	assert_int_equal(s3_read(b, "narrow", 2, 6, &sink, &e), 1);
	assert_string_equal(out.data, "234567");
	expect_text(b, "narrow", "0123456789");
}

// Exceeds LIMIT_S3_TRIES
static void what_does_not_pass_is_an_error_of_the_place(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_object object;
	struct s3_bucket *b = new_bucket();
	requests();
	faults("[{\"do\": \"503 SlowDown\", \"times\": 99}]");
	assert_int_equal(s3_head(b, "a", &object, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	faults("[]");
	assert_int_equal(requests(), LIMIT_S3_TRIES);
	assert_false(s3_answers(b, "", clock_ms(), &e));
	assert_string_equal(e.msg, "it does not answer");
	assert_true(s3_answers(b, "", clock_ms() + 60000, &e));
}

static void each_refusal_has_its_kind(void **state UNUSED)
{
	static const struct {
		const char *fault;
		enum err_kind kind;
	} table[] = {
		{"[{\"do\": \"507 InsufficientStorage\"}]", ERR_FULL},
		{"[{\"do\": \"403 QuotaExceeded\"}]", ERR_FULL},
		{"[{\"do\": \"400 EntityTooLarge\"}]", ERR_FULL},
		{"[{\"do\": \"403 AccessDenied\"}]", ERR_IO},
		{"[{\"do\": \"404 NoSuchBucket\"}]", ERR_IO},
		{"[{\"do\": \"501 NotImplemented\"}]", ERR_INVALID},
	};
	struct s3_bucket *b = new_bucket();
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		faults(table[i].fault);
		assert_int_equal(put_new(b, "a", "one"), -(int)table[i].kind);
	}
}

// --- large objects ---

static void a_large_object_goes_in_parts(void **state UNUSED)
{
	enum { SIZE = S3_PART_FROM + 12345 };
	struct err e = ERR_INIT;
	struct s3_object object;
	struct s3_bucket *b = new_bucket();
	CLEANUP(mem_free) char *bytes = xcalloc(1, SIZE);
	for (size_t i = 0; i < SIZE; i += 4096)
		memcpy(bytes + i, &i, sizeof(i));
	requests();
	faults("[{\"do\": \"500\", \"key\": \"big\", \"method\": \"PUT\"}, {\"do\": \"lose\", \"key\": \"big\", \"method\": \"PUT\"}]");
	assert_int_equal(put_under(b, "big", (struct str){bytes, SIZE}, true, NULL), 0);
	assert_int_equal(requests(), 1 + 3 + 2 + 1); // a begin, three parts, two of them again, the end
	assert_int_equal(s3_head(b, "big", &object, NULL, &e), 1);
	assert_int_equal(object.size, SIZE);
	assert_int_equal(put_under(b, "big", (struct str){bytes, SIZE}, true, NULL), -ERR_CONFLICT);
	// The answer to the end is lost: the upload is gone then, and the object says whose it is.
	faults("[{\"do\": \"503\", \"key\": \"uploads\"}, {\"do\": \"lose\", \"method\": \"POST\", \"key\": \"uploadId=\", \"times\": 2}]");
	assert_int_equal(put_under(b, "other", (struct str){bytes, SIZE}, true, NULL), 0);
}

// --- listings ---

struct listed {
	struct buf text;
	size_t count;
};

static int add_listed(void *ctx, const struct s3_listed *one, struct err *e UNUSED)
{
	struct listed *l = ctx;
	l->count++;
	buf_printf(&l->text, "%s%s ", one->name, one->is_prefix ? "/" : "");
	return 0;
}

static void expect_listed(struct s3_bucket *b, const char *prefix, bool is_deep, unsigned most, const char *names)
{
	struct err e = ERR_INIT;
	struct listed l = {.text = buf_up_to(1 << 20)};
	assert_int_equal(s3_list(b, prefix, is_deep, most, add_listed, &l, &e), 0);
	assert_string_equal(l.text.data, names);
	buf_release(&l.text);
}

static void a_listing_has_pages(void **state UNUSED)
{
	static const char *const keys[] = {"p/a", "p/b/one", "p/b/two", "p/c d", "p/e+f", "p/g%20", "p/h/x/y", "p/i&<>", "q",
		"r+s =/t"};
	struct s3_bucket *b = new_bucket();
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		assert_int_equal(put_new(b, keys[i], "x"), 0);
	for (unsigned most = 0; most < 5; most++) {
		expect_listed(b, "p/", false, most, "a b/ c d e+f g%20 h/ i&<> ");
		expect_listed(b, "p/", true, most, "a b/one b/two c d e+f g%20 h/x/y i&<> ");
	}
	expect_listed(b, "r+s =/", false, 0, "t ");
	expect_listed(b, "nothing/", false, 0, "");
}

// Exceeds LIMIT_S3_PAGE
static void a_page_of_a_listing_has_a_limit(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct listed l = {.text = buf_up_to(1000)};
	struct s3_bucket *b = new_bucket();
	faults("[{\"do\": \"huge\", \"times\": 99}]");
	assert_int_equal(s3_list(b, "", false, 0, add_listed, &l, &e), -1);
	faults("[]");
	assert_int_equal(e.kind, ERR_LIMIT);
	buf_release(&l.text);
}

// Exceeds LIMIT_S3_KEY
static void a_key_that_is_too_long_is_nowhere(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_object object;
	char key[LIMIT_S3_KEY + 2];
	struct s3_bucket *b = new_bucket();
	memset(key, 'k', sizeof(key));
	key[LIMIT_S3_KEY] = '\0';
	assert_int_equal(put_new(b, key, "x"), 0);
	assert_int_equal(s3_head(b, key, &object, NULL, &e), 1);
	key[LIMIT_S3_KEY] = 'k';
	key[LIMIT_S3_KEY + 1] = '\0';
	assert_int_equal(s3_head(b, key, &object, NULL, &e), 0);
}

// --- credentials ---

static void expect_access(void)
{
	struct s3_bucket *b = new_bucket();
	assert_int_equal(put_new(b, "a", "one"), 0);
	expect_text(b, "a", "one");
}

static char *write_file(const char *text)
{
	char name[] = "test-s3.XXXXXX";
	int fd = mkstemp(name);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	return xstrdup(name);
}

static void keys_are_in_the_shared_file(void **state UNUSED)
{
	CLEANUP(mem_free)
	char *path = write_file("[default]\naws_access_key_id = nobody\naws_secret_access_key = none\n"
				"[work]\naws_access_key_id = test\naws_secret_access_key = secret\nregion = x\n");
	use_keys(false);
	setting("AWS_SHARED_CREDENTIALS_FILE", path);
	setting("AWS_PROFILE", "work");
	expect_access();
	setting("AWS_PROFILE", NULL);
	assert_int_equal(put_new(new_bucket(), "a", "one"), -ERR_IO);
	setting("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/at/all");
	assert_int_equal(put_new(new_bucket(), "a", "one"), -ERR_USAGE);
	setting("AWS_SHARED_CREDENTIALS_FILE", NULL);
	use_keys(true);
	unlink(path);
}

static void a_web_identity_gives_keys(void **state UNUSED)
{
	CLEANUP(mem_free) char *path = write_file("a web identity\n");
	CLEANUP(mem_free) char *sts = xasprintf("%s/-/sts", engine_url(engine));
	use_keys(false);
	setting("AWS_WEB_IDENTITY_TOKEN_FILE", path);
	setting("AWS_ROLE_ARN", "arn:role");
	setting("AWS_ENDPOINT_URL_STS", sts);
	expect_access();
	setting("AWS_ROLE_ARN", "arn:other");
	assert_int_equal(put_new(new_bucket(), "a", "one"), -ERR_IO);
	setting("AWS_WEB_IDENTITY_TOKEN_FILE", NULL);
	setting("AWS_ROLE_ARN", NULL);
	setting("AWS_ENDPOINT_URL_STS", NULL);
	use_keys(true);
	unlink(path);
}

static void keys_of_a_machine_are_renewed(void **state UNUSED)
{
	CLEANUP(mem_free) char *service = xasprintf("%s/-/imds/", engine_url(engine));
	use_keys(false);
	setting("AWS_EC2_METADATA_DISABLED", NULL);
	setting("AWS_EC2_METADATA_SERVICE_ENDPOINT", service);
	setting("HOME", "/nowhere");
	struct s3_bucket *b = new_bucket();
	assert_int_equal(put_new(b, "a", "one"), 0);
	small_s3_control(engine, "PUT", "expire", "", NULL);
	expect_text(b, "a", "one");
	setting("AWS_EC2_METADATA_DISABLED", "true");
	setting("AWS_EC2_METADATA_SERVICE_ENDPOINT", NULL);
	use_keys(true);
}

static struct s3_bucket *bucket_with_command(const char *name, const char *command)
{
	s3_bucket_configure(
		&(struct s3_settings){.bucket = name, .endpoint = engine_url(engine), .credentials_command = command});
	return s3_bucket_named(str_from(name));
}

static void a_command_prints_keys(void **state UNUSED)
{
	CLEANUP(mem_free)
	char *good = write_file("{\"Version\": 1, \"AccessKeyId\": \"test\", \"SecretAccessKey\": \"secret\"}");
	CLEANUP(mem_free) char *bad = write_file("{\"Version\": 1, \"SecretAccessKey\": \"the secret\"}");
	CLEANUP(mem_free) char *good_command = xasprintf("cat %s", good);
	CLEANUP(mem_free) char *bad_command = xasprintf("cat %s", bad);
	use_keys(false);
	assert_int_equal(put_new(bucket_with_command("by-command", good_command), "a", "one"), 0);
	struct err e = ERR_INIT;
	struct s3_object object;
	assert_int_equal(s3_head(bucket_with_command("by-bad-command", bad_command), "a", &object, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_INVALID);
	assert_null(strstr(e.msg, "the secret"));
	use_keys(true);
	unlink(good);
	unlink(bad);
}

static void an_endpoint_that_is_none_is_refused(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_object object;
	s3_bucket_configure(&(struct s3_settings){.bucket = "no-endpoint", .endpoint = "somewhere"});
	assert_int_equal(s3_head(s3_bucket_named(STR("no-endpoint")), "a", &object, NULL, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(e.msg, "[place s3://no-endpoint] endpoint"));
}

// --- files of a place ---

static struct place *new_place(void)
{
	CLEANUP(mem_free) char *address = xasprintf("s3://%s", engine_bucket(engine));
	return place_s3_new(address);
}

static void write_bytes(struct place_folder *f, const char *name, struct str bytes, bool is_new)
{
	struct err e = ERR_INIT;
	CLEANUP(place_write_free) struct place_write *w = place_write_begin(f, name, &e);
	if (!w || place_write_add(w, bytes, &e) < 0 || (is_new ? place_put_new(w, &e) : place_replace(w, NULL, &e)) < 0)
		fail_msg("%s", e.msg);
}

enum { FILE_SIZE = 3 << 20 };

static char *many_bytes(void)
{
	char *bytes = xmalloc(FILE_SIZE);
	for (size_t i = 0; i < FILE_SIZE; i++)
		bytes[i] = (char)(i * 7 + i / 1000);
	return bytes;
}

static void parts_of_a_file_are_read(void **state UNUSED)
{
	static const size_t offsets[] = {0, 65530, 65536, 262143, 262144, 1000000, FILE_SIZE - 10};
	struct err e = ERR_INIT;
	char part[70000];
	size_t got;
	struct place *p = new_place();
	CLEANUP(mem_free) char *bytes = many_bytes();
	struct place_folder *f = place_open_folder(p, "", &e);
	write_bytes(f, "a", (struct str){bytes, FILE_SIZE}, true);
	for (int is_ahead = 0; is_ahead < 2; is_ahead++) {
		CLEANUP(place_file_close) struct place_file *file = place_open(p, "a", &e);
		requests();
		if (is_ahead)
			place_file_read_ahead(file);
		for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
			size_t left = FILE_SIZE - offsets[i], want = left < sizeof(part) ? left : sizeof(part);
			assert_int_equal(place_file_read_at(file, offsets[i], part, sizeof(part), &got, &e), 0);
			assert_int_equal(got, want);
			assert_memory_equal(part, bytes + offsets[i], got);
		}
		assert_int_equal(requests(), is_ahead ? 1 : 5);
	}
	// What was read whole is there for the next one, until its room is needed.
	CLEANUP(place_file_close) struct place_file *again = place_open(p, "a", &e);
	requests();
	struct blob *b = place_file_blob(again, FILE_SIZE, &e);
	assert_memory_equal(blob_view(b).ptr, bytes, FILE_SIZE);
	assert_int_equal(requests(), 0);
	blob_unref(b);
	place_folder_close(&f);
	place_free(p);
}

static void a_file_that_changes_while_it_is_read_is_not_mixed(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char part[10];
	size_t got;
	struct place *p = new_place();
	CLEANUP(mem_free) char *bytes = many_bytes();
	struct place_folder *f = place_open_folder(p, "", &e);
	write_bytes(f, "a", (struct str){bytes, FILE_SIZE}, true);
	CLEANUP(place_file_close) struct place_file *file = place_open(p, "a", &e);
	bytes[0]++;
	write_bytes(f, "a", (struct str){bytes, FILE_SIZE}, false);
	assert_int_equal(place_file_read_at(file, 1000000, part, sizeof(part), &got, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_null(place_file_blob(file, FILE_SIZE, &e));
	assert_int_equal(place_remove(f, "a", NULL, &e), 1);
	assert_int_equal(place_file_read_at(file, 1000000, part, sizeof(part), &got, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	place_folder_close(&f);
	place_free(p);
}

static void the_spool_is_bounded(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place *p = new_place();
	CLEANUP(mem_free) char *bytes = many_bytes();
	struct str text = {bytes, FILE_SIZE};
	struct place_folder *f = place_open_folder(p, "", &e);
	write_bytes(f, "a", text, true);
	spool_limit(FILE_SIZE + FILE_SIZE / 2); // what is kept of earlier files makes room
	struct place_write *one = place_write_begin(f, "b", &e);
	assert_int_equal(place_write_add(one, text, &e), 0);
	struct place_write *two = place_write_begin(f, "c", &e);
	assert_int_equal(place_write_add(two, text, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_int_equal(place_write_add(one, text, &e), -1);
	assert_int_equal(e.kind, ERR_LIMIT);
	place_write_free(&one);
	assert_int_equal(place_write_add(two, text, &e), 0);
	place_write_free(&two);
	spool_limit(UINT64_MAX);
	place_folder_close(&f);
	place_free(p);
}

static void a_listing_answers_for_its_files(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct place_info info, opened;
	struct place *p = new_place();
	struct place_folder *f = place_open_folder(p, "", &e);
	write_bytes(f, "a", STR("hello"), true);
	write_bytes(f, "d/b", STR("hello"), true);
	assert_int_equal(place_is_empty(f, &e), 0);
	requests();
	assert_int_equal(place_stat(f, "a", &info, &e), 1);
	assert_int_equal(place_stat(f, "d", &opened, &e), 1);
	assert_int_equal(opened.kind, PLACE_FOLDER);
	assert_int_equal(requests(), 0);
	CLEANUP(place_file_close) struct place_file *file = place_open_in(f, "a", &e);
	assert_int_equal(place_file_info(file, &opened, &e), 0);
	assert_int_equal(place_version_match(&info.version, &opened.version), PLACE_SAME);
	place_folder_close(&f);
	place_free(p);
}

static void addresses_are_checked(void **state UNUSED)
{
	static const char *const good[] = {"s3://b", "s3://b/", "s3://my.bucket-1/a/b", "s3://B_1/x y"};
	static const char *const bad[] = {"s3://", "s3:///a", "s3://a b", "s3://-a", "s3://a//b", "s3://a@b/c"};
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_int_equal(place_s3_check(good[i], &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (place_s3_check(bad[i], &e) == 0)
			fail_msg("%s", bad[i]);
	assert_false(place_s3_is("/s3://b"));
}

// --- engines ---

static void add_finding(void *ctx, enum s3_probe_result result, const char *what, const char *words)
{
	assert_true(strlen(words) > 10);
	if (result != S3_PROBE_FINE)
		buf_printf(ctx, "%s; ", what);
}

// Of an engine with these options: the result of all, with what is worse than fine.
static enum s3_probe_result probe(const char *const *options, struct buf *out)
{
	struct engine *usual = engine;
	engine = small_s3_new(options);
	buf_clear(out);
	buf_puts(out, "");
	enum s3_probe_result result = s3_probe(new_bucket(), "the/store/", true, add_finding, out);
	engine_free(engine);
	engine = usual;
	return result;
}

static void an_engine_is_probed(void **state UNUSED)
{
	static const struct {
		const char *option[3];
		enum s3_probe_result result;
		const char *findings;
	} table[] = {
		{{NULL}, S3_PROBE_FINE, ""},
		{{"--conditions", "none", NULL}, S3_PROBE_NO_WRITE, "conditional create; "},
		{{"--conditions", "501", NULL}, S3_PROBE_NO_WRITE, "conditional create; "},
		{{"--unconditional", "delete", NULL}, S3_PROBE_WEAK, "conditional delete; "},
		{{"--unconditional", "complete", NULL}, S3_PROBE_WEAK, "conditional upload in parts; "},
		{{"--trust", NULL}, S3_PROBE_WRONG, "hash of the body; wrong secret; expired signature; "},
		{{"--timeless", NULL}, S3_PROBE_WRONG, "expired signature; "},
		{{"--careless", NULL}, S3_PROBE_WEAK, "hash of the body; "},
		{{"--no-ranges", NULL}, S3_PROBE_WRONG, "ranges; "},
		{{"--ahead", "300", NULL}, S3_PROBE_WEAK, "clock; "},
		{{"--ahead", "-5000", NULL}, S3_PROBE_WRONG, "clock; "},
		{{"--region", "elsewhere", NULL}, S3_PROBE_AWAY, "reading; "},
	};
	CLEANUP(buf_release) struct buf found = buf_up_to(1000);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		enum s3_probe_result result = probe(table[i].option, &found);
		if (strcmp(found.data, table[i].findings) != 0 || result != table[i].result)
			fail_msg("row %zu: %d %s", i, result, found.data);
	}
}

static void nothing_is_written_where_the_last_writer_wins(void **state UNUSED)
{
	static const char *const options[] = {"--conditions", "none", NULL};
	struct err e = ERR_INIT;
	struct engine *usual = engine;
	engine = small_s3_new(options);
	struct place *p = new_place();
	struct place_folder *f = place_open_folder(p, "", &e);
	assert_null(place_write_begin(f, "a", &e));
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, "If-None-Match"));
	place_folder_close(&f);
	place_free(p);
	engine_free(engine);
	engine = usual;
}

// Exceeds LIMIT_S3_ETAG
static void an_etag_that_is_too_long_is_none(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct s3_object object;
	struct engine *usual = engine;
	for (size_t len = LIMIT_S3_ETAG - 1; len <= LIMIT_S3_ETAG; len++) {
		char etag[LIMIT_S3_ETAG + 3] = "\"";
		memset(etag + 1, 'e', len);
		memcpy(etag + 1 + len, "\"", 2);
		const char *const options[] = {"--etag", etag, NULL};
		engine = small_s3_new(options);
		struct s3_bucket *b = new_bucket();
		assert_int_equal(put_new(b, "a", "x"), 0);
		assert_int_equal(s3_head(b, "a", &object, NULL, &e), 1);
		assert_int_equal(strlen(object.etag), len < LIMIT_S3_ETAG ? len : 0);
		engine_free(engine);
	}
	engine = usual;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_any_text_are_signed),
		cmocka_unit_test(a_wrong_secret_is_refused_as_no_file_is),
		cmocka_unit_test(a_condition_decides),
		cmocka_unit_test(a_lost_answer_is_found_again),
		cmocka_unit_test(what_passes_is_tried_again),
		cmocka_unit_test(a_narrower_range_is_an_error),
		cmocka_unit_test(what_does_not_pass_is_an_error_of_the_place),
		cmocka_unit_test(each_refusal_has_its_kind),
		cmocka_unit_test(a_large_object_goes_in_parts),
		cmocka_unit_test(a_listing_has_pages),
		cmocka_unit_test(a_page_of_a_listing_has_a_limit),
		cmocka_unit_test(a_key_that_is_too_long_is_nowhere),
		cmocka_unit_test(keys_are_in_the_shared_file),
		cmocka_unit_test(a_web_identity_gives_keys),
		cmocka_unit_test(keys_of_a_machine_are_renewed),
		cmocka_unit_test(a_command_prints_keys),
		cmocka_unit_test(an_endpoint_that_is_none_is_refused),
		cmocka_unit_test(parts_of_a_file_are_read),
		cmocka_unit_test(a_file_that_changes_while_it_is_read_is_not_mixed),
		cmocka_unit_test(the_spool_is_bounded),
		cmocka_unit_test(a_listing_answers_for_its_files),
		cmocka_unit_test(addresses_are_checked),
		cmocka_unit_test(an_engine_is_probed),
		cmocka_unit_test(nothing_is_written_where_the_last_writer_wins),
		cmocka_unit_test(an_etag_that_is_too_long_is_none),
	};
	engine = small_s3_new(NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	engine_free(engine);
	return failed;
}
