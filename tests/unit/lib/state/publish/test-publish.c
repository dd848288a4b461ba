// SPDX-License-Identifier: Apache-2.0
// Files on their way into a platform: what becomes of them, step by step, with others in between.
#include "lib/state/publish/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/format/base64.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-write.h"
#include "lib/state/store/sidecar.h"
#include "lib/place/tempname.h"
#include "tests/unit/support/memory-place.h"
#include "tests/unit/support/zipmake.h"

static const char wheel_name[] = "six-1.0-py3-none-any.whl";

struct publish_setting {
	char *top;
	struct store store;
	struct catalog *catalog;
	const struct platform *platform;
};

static struct publish_setting here;

static int set_up(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct config config;
	char on_disk[] = "test-publish.XXXXXX", in_memory[] = "/dev/shm/test-publish.XXXXXX";
	char *name = access("/dev/shm", W_OK) == 0 ? in_memory : on_disk; // many catalogs are made
	config_init(&config);
	here.top = mkdtemp(name) ? fs_real_path(name, &e) : NULL;
	assert_non_null(here.top);
	config.store = xasprintf("%s/store", here.top);
	CLEANUP(mem_free) char *catalog = xasprintf("%s/catalog.db", here.top);
	assert_int_equal(fs_make_dirs(config.store, &e), 0);
	if (store_open(&config, STORE_PROMPT, &here.store, &e) < 0 || catalog_open(catalog, &here.catalog, &e) < 0 ||
		store_register(&here.store, here.catalog, &e) < 0)
		fail_msg("%s", e.msg);
	here.platform = &here.store.platform[0];
	config_release(&config);
	return 0;
}

static int tear_down(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", here.top);
	store_release(&here.store);
	catalog_close(here.catalog);
	int code = system(command);
	free(here.top);
	return code;
}

// --- wheels ---

static void add_row(struct buf *record, const char *name, const char *content)
{
	uint8_t sha256[SHA256_SIZE];
	digest_sha256(str_from(content), sha256);
	buf_printf(record, "%s,sha256=", name);
	base64_encode(sha256, sizeof(sha256), BASE64_URL, record);
	buf_printf(record, ",%zu\n", strlen(content));
}

// code is what six.py holds; swapped: the same members in another order.
static void make_wheel(struct zipmake *zip, const char *code, bool swapped)
{
	struct zipmake_member member[] = {
		{.name = "six.py", .content = code},
		{.name = "six-1.0.dist-info/METADATA", .content = "Metadata-Version: 2.1\nName: six\nVersion: 1.0\n"},
		{.name = "six-1.0.dist-info/WHEEL",
			.content = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	};
	CLEANUP(buf_release) struct buf record;
	buf_init(&record, 4096);
	zipmake_init(zip);
	for (size_t i = 0; i < ARRAY_SIZE(member); i++)
		add_row(&record, member[i].name, member[i].content);
	buf_puts(&record, "six-1.0.dist-info/RECORD,,\n");
	for (size_t i = 0; i < ARRAY_SIZE(member); i++)
		zipmake_add(zip, &member[swapped ? ARRAY_SIZE(member) - 1 - i : i]);
	zipmake_add(zip, &(struct zipmake_member){.name = "six-1.0.dist-info/RECORD", .content = record.data});
	zipmake_end(zip, "");
}

static struct publish *begin(struct err *e)
{
	return publish_begin(here.platform, here.catalog, wheel_name, "six", e);
}

static struct publish *begin_with(const char *code, bool swapped)
{
	struct err e = ERR_INIT;
	CLEANUP(zipmake_release) struct zipmake zip;
	make_wheel(&zip, code, swapped);
	struct publish *p = begin(&e);
	if (!p || publish_write(p, buf_view(&zip.bytes), &e) < 0)
		fail_msg("%s", e.msg);
	return p;
}

// The result, or minus the kind of the error.
static int end(struct publish *p, const struct declared *claims, struct err *e)
{
	static const struct declared nothing;
	struct publish_receipt receipt;
	int rc = publish_end(p, here.catalog, claims ? claims : &nothing, NULL, &receipt, e);
	publish_free(p);
	return rc < 0 ? -(int)e->kind : (int)receipt.result;
}

static int publish(const char *code, bool swapped)
{
	struct err e = ERR_INIT;
	return end(begin_with(code, swapped), NULL, &e);
}

// What is below the store, as "find" says it.
static void expect_tree(const char *wanted)
{
	char text[1024] = "";
	CLEANUP(mem_free)
	char *command =
		xasprintf("cd '%s/store' && find . -mindepth 1 -printf '%%P ' | tr ' ' '\\n' | sort | tr '\\n' ' '",
			here.top);
	FILE *pipe = popen(command, "r");
	assert_non_null(pipe);
	size_t len = fread(text, 1, sizeof(text) - 1, pipe);
	text[len] = '\0';
	assert_int_equal(pclose(pipe), 0);
	if (strcmp(text + (text[0] == ' '), wanted) != 0)
		fail_msg("the store holds \"%s\", not \"%s\"", text, wanted);
}

static bool is_listed(void)
{
	struct err e = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	return catalog_find_file(here.catalog, here.platform->id, wheel_name, &place, &e) == 0 && !place.is_unlisted;
}

// --- tests ---

static void test_published_once(void **state UNUSED)
{
	assert_int_equal(publish("A = 1\n", false), PUBLISH_NEW);
	expect_tree("s s/six s/six/six-1.0-py3-none-any.whl ");
	assert_true(is_listed());
	assert_int_equal(publish("A = 1\n", false), PUBLISH_SAME);
	assert_int_equal(publish("A = 1\n", true), PUBLISH_EQUAL);
	assert_int_equal(publish("A = 2\n", false), -(int)ERR_CONFLICT);
	expect_tree("s s/six s/six/six-1.0-py3-none-any.whl ");
}

static void test_given_up_it_leaves_nothing(void **state UNUSED)
{
	publish_free(begin_with("A = 1\n", false));
	expect_tree("");
	// Two uploads into one new folder: the one that is given up must not remove the folder of the other.
	struct publish *first = begin_with("A = 1\n", false), *second = begin_with("A = 1\n", false);
	publish_free(first);
	struct err e = ERR_INIT;
	assert_int_equal(end(second, NULL, &e), PUBLISH_NEW);
	expect_tree("s s/six s/six/six-1.0-py3-none-any.whl ");
}

static void test_the_first_of_two_wins(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct publish *loser = begin_with("A = 2\n", false), *twin = begin_with("A = 1\n", false);
	assert_int_equal(publish("A = 1\n", false), PUBLISH_NEW);
	assert_int_equal(end(loser, NULL, &e), -(int)ERR_CONFLICT);
	assert_memory_equal(e.msg, "File already exists", strlen("File already exists"));
	assert_int_equal(end(twin, NULL, &e), PUBLISH_SAME);
	expect_tree("s s/six s/six/six-1.0-py3-none-any.whl ");
}

static void test_what_is_refused_leaves_nothing(void **state UNUSED)
{
	struct err e = ERR_INIT;
	const struct declared wrong = {.digest = {[DIGEST_MD5] = "00000000000000000000000000000000"}};
	assert_int_equal(end(begin_with("A = 1\n", false), &wrong, &e), -(int)ERR_INVALID);
	struct publish *junk = begin(&e);
	assert_int_equal(publish_write(junk, STR("no zip"), &e), 0);
	assert_int_equal(end(junk, NULL, &e), -(int)ERR_INVALID);
	assert_null(publish_project_of("six.exe", NULL, &e));
	expect_tree("");
	assert_false(is_listed());
}

static void test_the_folder_vanishes(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct publish *p = begin_with("A = 1\n", false);
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s/store/s'", here.top);
	assert_int_equal(system(command), 0);
	assert_true(end(p, NULL, &e) < 0);
	assert_false(is_listed());
	assert_int_equal(publish("A = 1\n", false), PUBLISH_NEW);
}

static void put_tombstone(void)
{
	struct err e = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *folder = place_open_folder(here.platform->place, "s/six", &e);
	assert_int_equal(sidecar_write(folder, wheel_name, MARK_PRUNED, STR("{\"reason\": \"malware\"}"), &e), 0);
}

static void test_a_removed_name_is_not_taken_again(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct publish *under_way = begin_with("A = 1\n", false);
	put_tombstone();
	assert_int_equal(end(under_way, NULL, &e), -(int)ERR_DENIED);
	assert_null(begin(&e));
	assert_int_equal(e.kind, ERR_DENIED);
	assert_non_null(strstr(e.msg, "malware"));
	assert_null(strstr(e.msg, "already exist"));
	assert_false(is_listed());
}

struct ending {
	struct publish *publish;
	struct err why;
	int result;
};

static void *end_it(void *ctx)
{
	struct ending *x = ctx;
	x->result = end(x->publish, NULL, &x->why);
	return NULL;
}

// Another process removes the name, from another folder, while the file has it on the disk already and the catalog does
// not say so yet.
static void test_removed_in_the_last_moment(void **state UNUSED)
{
	struct err e = ERR_INIT;
	pthread_t thread;
	struct stat st;
	int64_t folder;
	struct catalog_effect effect;
	struct ending ending = {.publish = begin_with("A = 1\n", false)};
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db", here.top);
	CLEANUP(mem_free) char *file = xasprintf("%s/store/s/six/%s", here.top, wheel_name);
	CLEANUP(catalog_cleanup) struct catalog *remover = NULL;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	if (catalog_open(path, &remover, &e) < 0 || catalog_begin(remover, &t, &e) < 0 ||
		catalog_folder_ensure(remover, here.platform->id, "wheels", &folder, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(pthread_create(&thread, NULL, end_it, &ending), 0);
	for (int64_t until = clock_ms() + 30000; stat(file, &st) < 0;)
		assert_true(clock_ms() < until);
	const struct catalog_mark mark = {.platform = here.platform->id,
		.folder = folder,
		.folder_path = "wheels",
		.filename = wheel_name,
		.mark = MARK_PRUNED,
		.text = "malware"};
	if (catalog_mark_put(remover, &mark, &effect, &e) < 0 || catalog_commit(&t, &e) < 0)
		fail_msg("%s", e.msg);
	pthread_join(thread, NULL);
	assert_int_equal(ending.result, -(int)ERR_DENIED);
	assert_non_null(strstr(ending.why.msg, "malware"));
	assert_true(stat(file, &st) < 0);
	assert_false(is_listed());
}

// The file was copied in and not scanned yet: it exists, but its row does not.
static void test_a_file_that_the_catalog_does_not_know(void **state UNUSED)
{
	struct err e = ERR_INIT;
	assert_int_equal(publish("A = 1\n", false), PUBLISH_NEW);
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	assert_int_equal(catalog_begin(here.catalog, &t, &e), 0);
	assert_int_equal(catalog_platform_clear(here.catalog, here.platform->id, &e), 0);
	assert_int_equal(catalog_commit(&t, &e), 0);
	assert_false(is_listed());
	assert_int_equal(publish("A = 1\n", true), PUBLISH_EQUAL);
	assert_true(is_listed());
}

static void test_leftovers(void **state UNUSED)
{
	struct err e = ERR_INIT;
	char name[TEMPNAME_NAME];
	CLEANUP(mem_close) int dir = fs_open_dir(here.top, &e);
	tempname_name(name);
	assert_true(tempname_is(name));
	assert_false(tempname_is(".wheelcache-frozen"));
	assert_false(tempname_is(".wheelcache-0-1-2-3.tmpx"));
	CLEANUP(mem_close) int fd = openat(dir, name, O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0);
	assert_false(tempname_sweep(dir, name)); // we live
	tempname_abandon(name);
	assert_true(tempname_sweep(dir, name));
	assert_int_equal(faccessat(dir, name, F_OK, 0), -1);
}

// The name that a child process would use, after its end.
static void test_leftovers_of_the_dead(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int dir = fs_open_dir(here.top, &e);
	CLEANUP(mem_free) char *command = xasprintf("'%s' --leave '%s'", program_invocation_name, here.top);
	assert_int_equal(system(command), 0);
	CLEANUP(fs_close_dir) DIR *entries = fdopendir(dup(dir));
	unsigned swept = 0;
	for (struct dirent *entry; (entry = readdir(entries)) != NULL;)
		if (tempname_is(entry->d_name))
			swept += tempname_sweep(dir, entry->d_name);
	assert_int_equal(swept, 1);
}

// --- in memory: failures, others and the end of the machine at each operation of the place ---

enum trouble { TROUBLE_FAILS, TROUBLE_LOSES, TROUBLE_RIVAL, TROUBLE_CRASH, TROUBLES };

static struct memory_control control;

// What happens at one operation.
struct schedule {
	enum trouble trouble;
	unsigned at;
	bool is_done; // it has happened
	int rival;    // the result of the other upload
};

static enum memory_fate trouble_at(void *ctx, const char *operation UNUSED, const char *name UNUSED)
{
	static const enum memory_fate fates[TROUBLES] = {
		[TROUBLE_FAILS] = MEMORY_FAILS, [TROUBLE_LOSES] = MEMORY_LOSES, [TROUBLE_CRASH] = MEMORY_FAILS};
	struct schedule *s = ctx;
	if (s->trouble == TROUBLE_CRASH && s->is_done)
		return MEMORY_FAILS; // the process is dead
	if (control.operations < s->at || s->is_done)
		return MEMORY_GOES_ON;
	s->is_done = true;
	if (s->trouble == TROUBLE_RIVAL)
		s->rival = publish("A = 2\n", false);
	if (s->trouble == TROUBLE_CRASH)
		memory_place_crash(here.store.platform[0].place);
	return fates[s->trouble];
}

static void use_memory(void)
{
	struct platform *p = &here.store.platform[0];
	place_free(p->place);
	control = (struct memory_control){.kind = ERR_IO, .room = UINT64_MAX};
	p->place = p->written = memory_place_new(&control);
}

// What has the name: 0: nothing; 1 or 2: the wheel with that A. Anything else is torn.
static int held_wheel(void)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf found;
	buf_init(&found, 100000);
	CLEANUP(place_file_close) struct place_file *file = place_open(here.platform->place, "s/six/six-1.0-py3-none-any.whl", &e);
	if (!file)
		return 0;
	assert_int_equal(place_file_read(file, 100000, &found, &e), 0);
	for (int a = 1; a <= 2; a++) {
		CLEANUP(zipmake_release) struct zipmake zip;
		make_wheel(&zip, a == 1 ? "A = 1\n" : "A = 2\n", false);
		if (str_eq(buf_view(&zip.bytes), buf_view(&found)))
			return a;
	}
	fail_msg("the file is torn");
	return -1;
}

// The result of an upload during which this happens.
static int publish_in_trouble(struct schedule *s)
{
	struct err e = ERR_INIT;
	CLEANUP(zipmake_release) struct zipmake zip;
	make_wheel(&zip, "A = 1\n", false);
	control.operations = 0;
	control.before = trouble_at;
	control.ctx = s;
	struct publish *p = begin(&e);
	int result = -(int)e.kind;
	if (p && publish_write(p, buf_view(&zip.bytes), &e) < 0) {
		result = -(int)e.kind;
		publish_free(p);
	} else if (p) {
		result = end(p, NULL, &e);
	}
	control.before = NULL;
	return result;
}

static void check_after(const struct schedule *s, int result)
{
	int held = held_wheel();
	if (result >= 0)
		assert_int_equal(held, 1);
	if (s->trouble == TROUBLE_RIVAL) {
		assert_true(s->rival == PUBLISH_NEW || s->rival == -(int)ERR_CONFLICT);
		assert_int_equal(result, s->rival == PUBLISH_NEW ? -(int)ERR_CONFLICT : PUBLISH_NEW);
		assert_int_equal(held, s->rival == PUBLISH_NEW ? 2 : 1);
		return;
	}
	if (s->trouble != TROUBLE_CRASH)
		assert_int_equal(control.leftovers, 0);
	assert_true(held == 0 || held == 1);
	// Nothing of it stands in the way of the next one.
	assert_true(publish("A = 1\n", false) >= 0);
	assert_int_equal(held_wheel(), 1);
	assert_true(is_listed());
	memory_place_crash(here.store.platform[0].place);
	assert_int_equal(held_wheel(), 1); // what was answered is durable
}

static void test_trouble_at_each_operation(void **state)
{
	for (int trouble = 0; trouble < TROUBLES; trouble++) {
		struct schedule s = {.is_done = true};
		for (unsigned at = 1; s.is_done; at++) {
			set_up(state);
			use_memory();
			s = (struct schedule){.trouble = (enum trouble)trouble, .at = at};
			int result = publish_in_trouble(&s);
			if (s.is_done)
				check_after(&s, result);
			else
				assert_int_equal(result, PUBLISH_NEW);
			tear_down(state);
		}
	}
}

// What a process leaves behind that dies in the middle of an upload.
static int leave(const char *folder)
{
	char name[TEMPNAME_NAME];
	tempname_name(name);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, name);
	CLEANUP(mem_close) int fd = open(path, O_CREAT | O_WRONLY, 0644);
	return fd < 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--leave") == 0)
		return leave(argv[2]);
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_published_once),
		TEST(test_given_up_it_leaves_nothing),
		TEST(test_the_first_of_two_wins),
		TEST(test_what_is_refused_leaves_nothing),
		TEST(test_the_folder_vanishes),
		TEST(test_a_removed_name_is_not_taken_again),
		TEST(test_removed_in_the_last_moment),
		TEST(test_a_file_that_the_catalog_does_not_know),
		TEST(test_leftovers),
		TEST(test_leftovers_of_the_dead),
		cmocka_unit_test(test_trouble_at_each_operation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
