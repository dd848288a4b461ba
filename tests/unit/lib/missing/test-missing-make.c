// SPDX-License-Identifier: Apache-2.0
// Each status and its reason, from a real store's catalog, the last answers of upstream, and earlier attempts.
#include "lib/missing/missing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "lib/domain/index/simplepage.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/catalog/catalog-upstream.h"
#include "lib/state/results/results.h"

enum { DAY = 86400 };

#define X86 "ubuntu-22.04-x86_64" // Python 3.10, glibc 2.35
#define ARM "debian-12-aarch64"   // Python 3.11, glibc 2.36
#define UPSTREAM "http://127.0.0.1:9/simple/"
#define MANY "-manylinux_2_17_x86_64.whl"

static char folder[] = "missing-make.XXXXXX";

struct fixture {
	struct config config;
	struct store store;
	struct catalog *catalog;
	struct results *results;
};

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static const char *in_folder(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_folder(name), "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int64_t platform_of(struct fixture *f, const char *name)
{
	return store_platform_named(&f->store, str_from(name))->id;
}

static int64_t begin_in_root(struct fixture *f, const char *platform, struct catalog_transaction *t)
{
	struct err e = ERR_INIT;
	int64_t id = 0;
	ok(catalog_begin(f->catalog, t, &e), &e);
	ok(catalog_folder_ensure(f->catalog, platform_of(f, platform), "", &id, &e), &e);
	return id;
}

static void add_ours(struct fixture *f, const char *platform, const char *filename, const char *requires_python)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	const uint8_t sha256[SHA256_SIZE] = {0xab};
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(filename_parse(str_from(filename), &name, &e), &e);
	const struct catalog_entry entry = {
		.platform = platform_of(f, platform),
		.folder = begin_in_root(f, platform, &t),
		.folder_path = "",
		.filename = filename,
		.trusted = true,
		.size = 123,
		.sha256 = sha256,
		.project = name.project,
		.version = name.version.text,
		.version_key = name.version.key,
		.requires_python = requires_python,
	};
	ok(catalog_file_put(f->catalog, &entry, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

static void add_tombstone(struct fixture *f, const char *platform, const char *filename, const char *text)
{
	struct err e = ERR_INIT;
	struct catalog_effect effect;
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	const struct catalog_mark mark = {
		.platform = platform_of(f, platform),
		.folder = begin_in_root(f, platform, &t),
		.folder_path = "",
		.filename = filename,
		.mark = MARK_PRUNED,
		.text = text,
	};
	ok(catalog_mark_put(f->catalog, &mark, &effect, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

static void put_answer(struct fixture *f, const char *project, const char *result, struct str facts)
{
	struct err e = ERR_INIT;
	int64_t changed;
	const struct catalog_upstream row = {.project = project,
		.source = UPSTREAM,
		.result = result,
		.why = "",
		.last_definitive = result,
		.asked = 1000,
		.fetched = 1000,
		.certain = 1000,
		.max_age = -1,
		.facts = facts};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	ok(catalog_begin(f->catalog, &t, &e), &e);
	ok(catalog_upstream_put(f->catalog, &row, facts.len > 0, true, &changed, &e), &e);
	ok(catalog_commit(&t, &e), &e);
}

// names: file names with blanks between; "!" in front: yanked; "<3.9:" in front: Requires-Python.
static void add_page(struct fixture *f, const char *project, const char *names)
{
	enum { FILES = 8 };
	struct err e = ERR_INIT;
	struct simplepage_file file[FILES] = {{0}};
	char text[FILES][128], url[FILES][160], python[FILES][32];
	struct simplepage page = {.project = project, .file = file};
	CLEANUP(buf_release) struct buf packed;
	struct str rest = str_from(names);
	buf_init(&packed, 1 << 20);
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		size_t i = page.files++;
		file[i].size = 77;
		if (name.ptr[0] == '!') {
			file[i].yanked = "";
			name = str_slice(name, 1, name.len);
		}
		if (name.ptr[0] == '<') {
			struct str set = str_cut(&name, ':');
			snprintf(python[i], sizeof(python[i]), STR_FMT, STR_ARG(set));
			file[i].requires_python = python[i];
		}
		snprintf(text[i], sizeof(text[i]), STR_FMT, STR_ARG(name));
		snprintf(url[i], sizeof(url[i]), "https://files.invalid/" STR_FMT, STR_ARG(name));
		file[i].filename = text[i];
		file[i].url = url[i];
	}
	ok(simplepage_pack(&page, &packed, &e), &e);
	put_answer(f, project, "known", buf_view(&packed));
}

static void add_attempt(struct fixture *f, const char *project, const char *version, enum results_result result,
	int64_t begun, const char *awaiting)
{
	struct err e = ERR_INIT;
	char id[RESULTS_ID + 1];
	enum results_change change;
	const struct results_attempt a = {
		.id = id,
		.platform = X86,
		.python = "3.10",
		.project = project,
		.version = version,
		.result = result,
		.step = "build",
		.why = "gcc: no such file",
		.begun = begun,
		.awaiting = awaiting,
	};
	results_new_id(id);
	ok(results_put(f->results, &a, (struct str){0}, NULL, &change, &e), &e);
}

static const char config_text[] = "[store]\npath = %1$s/store\n[catalog]\npath = %1$s/catalog.db\n"
				  "[upstream]\nurl = " UPSTREAM "\nprivate = secret\n"
				  "[platform " ARM "]\npythons = 3.11\n[platform " X86 "]\npythons = 3.10\n"
				  "[branch master]\nconstraints = %1$s/master.txt\n"
				  "[branch old]\nconstraints = %1$s/old.txt\nplatforms = ubuntu-*\n"
				  "[branch ended]\nconstraints = %1$s/old.txt\nuntil = 2020-01-01\n"
				  "[branch loose]\nrequirements = %1$s/loose.txt\npythons = 3.10\n"
				  "[build]\nskip = %1$s/skip.txt\n";

static int set_up(void **state)
{
	struct err e = ERR_INIT;
	char text[2048];
	struct fixture *f = xcalloc(1, sizeof(*f));
	*state = f;
	if (!mkdtemp(folder))
		return -1;
	mkdir(in_folder("store"), 0755);
	mkdir(in_folder("store/" X86), 0755);
	mkdir(in_folder("store/" ARM), 0755);
	char *here = realpath(folder, NULL);
	snprintf(text, sizeof(text), config_text, here);
	free(here);
	write_file("wheelcache.conf", text);
	write_file("master.txt", "held==1.0\nabi==1.0\nthere==1.0\nlibc==1.0\npure==1.0\nsource==1.0\nlocal==1.0\n");
	write_file("old.txt", "held==1.0\nsource==0.9\nelsewhere==1.0;python_version<'3.0'\n");
	write_file("loose.txt", "loose\n");
	write_file("skip.txt", "");
	config_init(&f->config);
	ok(config_read(&f->config, in_folder("wheelcache.conf"), &e), &e);
	ok(store_open(&f->config, STORE_PATIENT, &f->store, &e), &e);
	ok(catalog_open(f->config.catalog, &f->catalog, &e), &e);
	ok(store_register(&f->store, f->catalog, &e), &e);
	ok(results_open(in_folder("results"), &f->results, &e), &e);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"wheelcache.conf", "master.txt", "old.txt", "loose.txt", "skip.txt",
		"packages.txt", "catalog.db", "catalog.db-wal", "catalog.db-shm", "catalog.db-changes", "results",
		"results-wal", "results-shm", "results-changes", "catalog.db.names"};
	struct fixture *f = *state;
	results_close(f->results);
	catalog_close(f->catalog);
	store_release(&f->store);
	config_release(&f->config);
	free(f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		unlink(in_folder(names[i]));
	rmdir(in_folder("store/" X86));
	rmdir(in_folder("store/" ARM));
	rmdir(in_folder("store"));
	int removed = rmdir(folder);
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	return removed;
}

static void print_row(const struct missing_row *r, struct buf *out)
{
	buf_printf(out, "%s %s %s %s %s", strcmp(r->platform, X86) == 0 ? "x" : "a", r->python, r->project,
		r->version ? r->version : "-", missing_status_name[r->status]);
	for (size_t i = 0; i < r->branches; i++)
		buf_printf(out, "%s%s", i ? "," : " ", r->branch[i]);
	const char *path = strstr(r->why, folder); // the name of the folder differs from run to run
	buf_printf(out, ": %s\n", path ? path + strlen(folder) + 1 : r->why);
}

// Compares the rows, a line each. The path of the folder is left out.
static void assert_rows(struct fixture *f, const struct missing_options *o, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = {0};
	CLEANUP(buf_release) struct buf out;
	uint64_t all = 0;
	buf_init(&out, 1 << 20);
	ok(missing_make(&f->config, &f->store, f->catalog, f->results, o, &m, &e), &e);
	for (size_t i = 0; i < m.rows; i++)
		print_row(&m.row[i], &out);
	for (size_t i = 0; i < MISSING_STATUS_COUNT; i++) {
		uint64_t sum = 0;
		for (size_t k = 0; k < m.environments; k++)
			sum += m.environment[k].total[i];
		assert_int_equal(m.total[i], sum);
		all += sum;
	}
	if (o->wants_all)
		assert_int_equal(all, m.rows);
	assert_string_equal(out.data, expected);
}

static void assert_refused(struct fixture *f, const struct missing_options *o, const char *expected)
{
	struct err e = ERR_INIT;
	struct missing m;
	assert_int_equal(missing_make(&f->config, &f->store, f->catalog, NULL, o, &m, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	if (!strstr(e.msg, expected))
		fail_msg("%s", e.msg);
}

static const struct missing_options everything = {.wants_all = true, .is_offline = true};
static const char *const x86_only[] = {X86};
static const struct missing_options on_x86 = {
	.wants_all = true, .is_offline = true, .platform = x86_only, .platforms = 1, .branch = "master"};

static void test_each_status(void **state)
{
	struct fixture *f = *state;
	add_ours(f, X86, "held-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	add_ours(f, ARM, "held-1.0-cp310-cp310-linux_aarch64.whl", NULL);
	add_ours(f, X86, "abi-1.0-cp38-abi3-manylinux_2_34_x86_64.whl", NULL);
	add_ours(f, X86, "local-1.0.tar.gz", NULL);
	add_page(f, "held", "held-1.0.tar.gz");
	add_page(f, "abi", "abi-1.0-cp311-abi3-manylinux_2_36_aarch64.whl");
	add_page(f, "there", "there-1.0-cp310-cp310" MANY " <3.9:there-1.0.tar.gz");
	add_page(f, "libc", "libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl libc-1.0.tar.gz");
	add_page(f, "pure", "pure-1.0.tar.gz pure-0.9-py3-none-any.whl !pure-0.8-cp310-cp310" MANY);
	add_page(f, "source", "source-1.0.zip source-0.9.tar.gz");
	put_answer(f, "local", "404", (struct str){0});
	put_answer(f, "loose", "5xx", (struct str){0});
	assert_rows(f, &everything,
		"a 3.11 abi 1.0 upstream master: abi-1.0-cp311-abi3-manylinux_2_36_aarch64.whl\n"
		"a 3.11 held 1.0 missing master: held-1.0-cp310-cp310-linux_aarch64.whl is for CPython 3.10\n"
		"a 3.11 libc 1.0 missing master: libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl is for x86_64 and "
		"CPython 3.10\n"
		"a 3.11 local 1.0 impossible master: there is no file of any version ==1.0; upstream has no such project\n"
		"a 3.11 pure 1.0 pure master: all known wheels of the project are pure Python; no wheel at all\n"
		"a 3.11 source 1.0 missing master: no wheel at all\n"
		"a 3.11 there 1.0 impossible master: there-1.0.tar.gz has Requires-Python <3.9\n"
		"x 3.10 abi 1.0 here master: abi-1.0-cp38-abi3-manylinux_2_34_x86_64.whl\n"
		"x 3.10 elsewhere - not-wanted old: old.txt:3)\n"
		"x 3.10 held 1.0 here master,old: held-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 libc 1.0 missing master: libc-1.0-cp310-cp310-manylinux_2_39_x86_64.whl needs glibc 2.39, the platform "
		"has 2.35\n"
		"x 3.10 local 1.0 missing master: no wheel at all\n"
		"x 3.10 loose - unknown loose: upstream could not tell: 5xx\n"
		"x 3.10 pure 1.0 pure master: all known wheels of the project are pure Python; no wheel at all\n"
		"x 3.10 source 0.9 missing old: no wheel at all\n"
		"x 3.10 source 1.0 missing master: no wheel at all\n"
		"x 3.10 there 1.0 upstream master: there-1.0-cp310-cp310" MANY "\n");
}

static void set_key(struct fixture *f, const char *section, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	ok(config_set(&f->config, section, key, value, &e), &e);
}

static void test_what_is_skipped(void **state)
{
	struct fixture *f = *state;
	write_file("master.txt", "one==1.0\ntwo==1.0\nthree==1.0\nfour==1.0\nfive==1.0\nsix==1.0\nseven @ "
				 "https://files.invalid/seven-1.0.tar.gz\n");
	write_file("old.txt", "one==1.0\n");
	write_file("skip.txt", "one ==1.0 platform=debian-* needs a GPU\none platform=ubuntu-*\n");
	write_file("packages.txt", "one\nthree\nfour\nfive\nsix\n");
	set_key(f, "build", "packages", in_folder("packages.txt"));
	set_key(f, "branch master", "requirements", in_folder("master.txt"));
	add_page(f, "one", "one-1.0.tar.gz");
	add_page(f, "two", "two-1.0-cp310-cp310" MANY);
	add_page(f, "three", "three-1.0.tar.gz");
	add_page(f, "four", "four-1.0.tar.gz");
	add_page(f, "five", "five-1.0.tar.gz");
	add_page(f, "six", "six-1.0.tar.gz");
	add_ours(f, X86, "six-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	add_tombstone(f, X86, "three-1.0-cp310-cp310-linux_x86_64.whl", "{\"reason\": \"it crashes\"}");
	add_tombstone(f, X86, "four-1.0-cp39-cp39-linux_x86_64.whl", "for another Python");
	add_tombstone(f, X86, "five-1.0-cp310-cp310-linux_x86_64.whl",
		"{\"reason\": \"\", \"requires-python\": \"<3.9\"}");
	add_tombstone(f, X86, "six-1.0-1-cp310-cp310-linux_x86_64.whl", "an older build");
	assert_rows(f, &on_x86,
		"x 3.10 five 1.0 missing master: no wheel at all\n"
		"x 3.10 four 1.0 missing master: no wheel at all\n"
		"x 3.10 one 1.0 skipped master: skip.txt:2: [build] skip\n"
		"x 3.10 seven - skipped master: master.txt:7 wants a file by its URL, which no index decides about\n"
		"x 3.10 six 1.0 here master: six-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 three 1.0 skipped master: three-1.0-cp310-cp310-linux_x86_64.whl was removed here: it crashes\n"
		"x 3.10 two 1.0 skipped master: it is not in [build] packages\n");
	write_file("packages.txt", "# nothing\n");
	assert_refused(f, &everything, "names no project");
	write_file("packages.txt", "one = 1.0\n");
	assert_refused(f, &everything, "packages.txt:1: ");
}

static void test_what_is_impossible_or_unknown(void **state)
{
	struct fixture *f = *state;
	write_file("master.txt",
		"secret==1.0\nyanked>=1\nprivy==1.0\nasleep==1.0\nnever==1.0\nbanned==1.0\nwheels==1.0\nahead>=9\n");
	set_key(f, "branch master", "requirements", in_folder("master.txt"));
	add_ours(f, X86, "secret-1.0-cp310-cp310-linux_x86_64.whl", ">=3.11");
	add_ours(f, X86, "asleep-1.0-cp310-cp310-linux_x86_64.whl", NULL);
	add_page(f, "yanked", "!yanked-1.0.tar.gz");
	add_page(f, "wheels", "wheels-1.0-cp311-cp311" MANY);
	add_page(f, "ahead", "ahead-1.0.tar.gz");
	put_answer(f, "asleep", "timeout", (struct str){0});
	put_answer(f, "privy", "timeout", (struct str){0});
	put_answer(f, "banned", "quarantined", (struct str){0});
	assert_rows(f, &on_x86,
		"x 3.10 ahead - impossible master: there is no file of any version >=9\n"
		"x 3.10 asleep 1.0 here master: asleep-1.0-cp310-cp310-linux_x86_64.whl\n"
		"x 3.10 banned 1.0 impossible master: there is no file of any version ==1.0; upstream has quarantined the "
		"project\n"
		"x 3.10 never 1.0 unknown master: upstream could not tell: never asked\n"
		"x 3.10 privy 1.0 unknown master: upstream could not tell: timeout\n"
		"x 3.10 secret 1.0 impossible master: no sdist, and secret-1.0-cp310-cp310-linux_x86_64.whl has "
		"Requires-Python >=3.11; upstream is not asked for it\n"
		"x 3.10 wheels 1.0 impossible master: no sdist, and wheels-1.0-cp311-cp311" MANY
		" is for CPython 3.11\n"
		"x 3.10 yanked - impossible master: only yanked files, and no exact pin\n");
}

static void test_micro_versions(void **state)
{
	struct fixture *f = *state;
	write_file("master.txt", "newer\npart==1.0\nmarked==1.0;python_full_version>='3.10.4'\n");
	set_key(f, "branch master", "requirements", in_folder("master.txt"));
	add_page(f, "newer", "<3.10.2:newer-1.0.tar.gz newer-0.9.tar.gz");
	add_page(f, "part", "<3.10.5:part-1.0.tar.gz");
	add_page(f, "marked", "marked-1.0.tar.gz");
	assert_rows(f, &on_x86,
		"x 3.10 marked 1.0 missing master: no wheel at all (on 3.10.4 and later)\n"
		"x 3.10 newer 0.9 missing master: no wheel at all (on 3.10.2 and later)\n"
		"x 3.10 newer 1.0 missing master: no wheel at all (on 3.10.0 to 3.10.1)\n"
		"x 3.10 part 1.0 missing master: no wheel at all (on 3.10.0 to 3.10.4)\n");
}

static void test_earlier_attempts(void **state)
{
	struct fixture *f = *state;
	int64_t now = clock_wall_seconds();
	CLEANUP(buf_release) struct buf expected;
	char last[CLOCK_TEXT], retry[CLOCK_TEXT];
	buf_init(&expected, 4096);
	write_file("master.txt",
		"fails==1.0\ndue==1.0\nneeds==1.0\nneedless==1.0\ngood==1.0\nbase==1.0\nitself==1.0\n");
	const char *const projects[] = {"fails", "due", "needs", "needless", "good", "base", "itself"};
	for (size_t i = 0; i < ARRAY_SIZE(projects); i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s-1.0.tar.gz", projects[i]);
		add_page(f, projects[i], name);
	}
	add_attempt(f, "fails", "1.0", RESULTS_FAILED, now - 100, "");
	add_attempt(f, "fails", "0.9", RESULTS_OK, now - 50, "");
	add_attempt(f, "due", "1.0", RESULTS_TIMED_OUT, now - 2 * DAY, "");
	add_attempt(f, "needs", "1.0", RESULTS_FAILED, now - 100, "other base");
	add_attempt(f, "needless", "1.0", RESULTS_FAILED, now - 2 * DAY, "other");
	add_attempt(f, "good", "1.0", RESULTS_FAILED, now - 200, "base");
	add_attempt(f, "good", "1.0", RESULTS_OK, now - 100, "");
	add_attempt(f, "itself", "1.0", RESULTS_FAILED, now - 2 * DAY, "itself");
	clock_write(now - 100, last);
	clock_write(now - 100 + DAY, retry);
	buf_printf(&expected,
		"x 3.10 base 1.0 missing master: no wheel at all\n"
		"x 3.10 due 1.0 missing master: no wheel at all\n"
		"x 3.10 fails 1.0 failed master: failed in step build, last at %s, 1 time in a row, to be tried again at %s: "
		"gcc: no such file\n"
		"x 3.10 good 1.0 missing master: no wheel at all\n"
		"x 3.10 itself 1.0 missing master: no wheel at all\n"
		"x 3.10 needless 1.0 missing master: no wheel at all\n"
		"x 3.10 needs 1.0 awaiting master: the last attempt lacked its build requirement base, which is missing too\n",
		last, retry);
	assert_rows(f, &on_x86, expected.data);
	struct missing_options one = on_x86;
	one.project = "needs"; // base is decided for it, but is no row
	assert_rows(f, &one,
		"x 3.10 needs 1.0 awaiting master: the last attempt lacked its build requirement base, which is missing too\n");
	one.project = "nobody";
	assert_rows(f, &one, "");
}

static void test_options(void **state)
{
	struct fixture *f = *state;
	write_file("master.txt", "pure==1.0\nthere==1.0\n");
	add_page(f, "pure", "pure-1.0.tar.gz pure-0.9-py3-none-any.whl");
	add_page(f, "there", "there-1.0-cp310-cp310" MANY);
	struct missing_options o = {.is_offline = true, .python = "3.10", .branch = "mast*"};
	assert_rows(f, &o, "");
	o.wants_pure = true;
	assert_rows(f, &o, "x 3.10 pure 1.0 missing master: no wheel at all\n");
	o.python = "3.12";
	assert_refused(f, &o, "no branch has such a platform and Python");
	o.branch = "nothing";
	assert_refused(f, &o, "nothing");
	struct profile *profile = &f->store.platform[0].profile;
	size_t environments = profile->environment_count;
	profile->environment_count = 0;
	assert_refused(f, &everything, "its Pythons are unknown");
	profile->environment_count = environments;
}

static void test_the_sdist(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	CLEANUP(missing_release) struct missing m = {0};
	write_file("master.txt", "ours==1.0\ntheirs==1.0\n");
	add_ours(f, X86, "ours-1.0.tar.gz", NULL);
	add_page(f, "ours", "ours-1.0.tar.gz");
	add_page(f, "theirs", "theirs-1.0.tar.gz");
	ok(missing_make(&f->config, &f->store, f->catalog, NULL, &on_x86, &m, &e), &e);
	assert_int_equal(m.rows, 2);
	const struct missing_sdist *ours = &m.row[0].sdist, *theirs = &m.row[1].sdist;
	CLEANUP(mem_free) char *url = xasprintf("file:%s/" X86 "/ours-1.0.tar.gz", f->store.path);
	assert_string_equal(ours->url, url);
	assert_int_equal(ours->size, 123);
	assert_int_equal(strlen(ours->sha256), SHA256_HEX);
	assert_memory_equal(ours->sha256, "ab00", 4);
	assert_string_equal(theirs->url, "https://files.invalid/theirs-1.0.tar.gz");
	assert_int_equal(theirs->size, 77);
	assert_null(theirs->sha256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each_status, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_skipped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_impossible_or_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_micro_versions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_earlier_attempts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_options, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_sdist, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
