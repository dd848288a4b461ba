// SPDX-License-Identifier: Apache-2.0
// Attempts with templates that run a small script instead of pip. tests/e2e/test_build_steps.py has real pips.
#include "builder/step/attempt.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "builder/run/supervisor.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/results/results.h"

// step.py ACTION OUT [ARGUMENTS]: makes wheels, or fails in some way.
static const char step_script[] =
	"import base64, hashlib, os, signal, sys, time, zipfile\n"
	"action, out, *more = sys.argv[1:]\n"
	"def wheel(filename, record=True, name=None, code=''):\n"
	"    stem = '-'.join(filename.split('-')[:2])\n"
	"    info = stem + '.dist-info/'\n"
	"    files = {'demo.py': code, info + 'METADATA': 'Metadata-Version: 2.1\\nName: %s\\nVersion: %s\\n"
	"Requires-Python: >=3.8\\n' % tuple(stem.split('-')),\n"
	"             info + 'WHEEL': 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'}\n"
	"    rows = ['%s,sha256=%s,%d' % (n, base64.urlsafe_b64encode(hashlib.sha256(d.encode()).digest()).decode()"
	".rstrip('='), len(d)) for n, d in files.items() if record or n != 'demo.py']\n"
	"    files[info + 'RECORD'] = '\\n'.join(rows + [info + 'RECORD,,']) + '\\n'\n"
	"    with zipfile.ZipFile(os.path.join(out, name or filename), 'w') as z:\n"
	"        for n, d in files.items():\n"
	"            z.writestr(zipfile.ZipInfo(n), d)\n"
	"print('doing', action)\n"
	"if action == 'wheels':\n"
	"    for name in more: wheel(name)\n"
	"elif action == 'other': wheel(more[0], code='x = 1')\n"
	"elif action == 'bad-record': wheel(more[0], record=False)\n"
	"elif action == 'link':\n"
	"    wheel('demo-1.0-py3-none-any.whl', name='elsewhere'); os.symlink('elsewhere', os.path.join(out, more[0]))\n"
	"elif action == 'names':\n"
	"    for c in b'\\xff\\n\\x1b': open(os.path.join(out.encode(), b'a' + bytes([c]) + b'.whl'), 'w').close()\n"
	"elif action == 'flood':\n"
	"    import json\n"
	"    for i in range(600): json.dump({'install': [{'metadata': {'name': 'n%d' % i, 'version': 'v' * 250}}]}, "
	"open(os.environ['PIP_REPORT'], 'w'))\n"
	"elif action == 'moved':\n"
	"    os.rename(out, out + '2'); os.symlink('/tmp', out)\n"
	"elif action == 'fail': sys.exit('words of ' + action + '\\nnote: nothing')\n"
	"elif action == 'abort': os.kill(os.getpid(), signal.SIGSEGV)\n"
	"elif action == 'shell-abort': sys.exit(128 + signal.SIGKILL)\n"
	"elif action == 'hang': time.sleep(1000)\n"
	"elif action == 'secret':\n"
	"    if set(os.environ) & {'WHEELCACHE_TOKEN'} or os.environ['HOME'] != os.path.join(more[0], 'home'): sys.exit(1)\n"
	"    if os.listdir('.') or os.environ['PIP_INDEX_URL'] != 'http://u:p@127.0.0.1/simple/': sys.exit(2)\n"
	"    wheel(more[1])\n";

#define GOOD "demo-1.0-py3-none-any.whl"
#define NATIVE "demo-1.0-py3-none-linux_x86_64.whl"
#define STEP "python3 %d/../../step.py "
#define MAKE_GOOD STEP "wheels %o " GOOD

static char top[64], python[16];
static struct config config;
static struct store store;
static struct environment environment;
static struct strset missing;
static struct missing_row row;
static struct wheel_gate *gate;
static atomic_bool stop;

static char *in_top(const char *name)
{
	return xasprintf("%s/%s", top, name);
}

static void write_text(const char *name, const char *text)
{
	CLEANUP(mem_free) char *path = in_top(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void find_python(void)
{
	FILE *p = popen("python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'", "r");
	assert_non_null(fgets(python, sizeof(python), p));
	python[strcspn(python, "\n")] = '\0';
	pclose(p);
}

// An sdist with a pyproject.toml, in the store.
static void make_sdist(void)
{
	CLEANUP(mem_free)
	char *command = xasprintf(
		"cd %s && mkdir demo-1.0 && printf '[build-system]\\nrequires = [\"Foo.Bar>=1\", \"baz\"]\\n' "
		">demo-1.0/pyproject.toml && tar czf store/debian-12-x86_64/demo-1.0.tar.gz demo-1.0",
		top);
	assert_int_equal(system(command), 0);
}

static void set_row(void)
{
	static const char *const branches[] = {"master"};
	row = (struct missing_row){.platform = "debian-12-x86_64",
		.python = python,
		.project = "demo",
		.version = "1.0",
		.branch = branches,
		.branches = 1,
		.sdist = {"demo-1.0.tar.gz", "file:demo-1.0.tar.gz", NULL, -1}};
}

static int set_up(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog *catalog = NULL;
	struct python p;
	snprintf(top, sizeof(top), "/tmp/wheelcache-attempt-XXXXXX");
	assert_non_null(mkdtemp(top));
	CLEANUP(mem_free) char *platform = in_top("store/debian-12-x86_64");
	CLEANUP(mem_free) char *work = in_top("work");
	CLEANUP(mem_free) char *db = in_top("catalog.db");
	CLEANUP(mem_free) char *tree = in_top("store");
	assert_int_equal(fs_make_dirs(platform, &e) | fs_make_dirs(work, &e), 0);
	find_python();
	config_init(&config);
	assert_int_equal(config_set(&config, "store", "path", tree, &e), 0);
	assert_int_equal(config_set(&config, "build", "test", "none", &e), 0);
	if (catalog_open(db, &catalog, &e) < 0 || store_open(&config, STORE_PATIENT, &store, &e) < 0 ||
		store_register(&store, catalog, &e) < 0 || python_parse(str_from(python), &p, &e) < 0)
		fail_msg("%s", e.msg);
	catalog_close(catalog);
	environment_init(&environment, &store.platform[0].profile.machine, &p);
	strset_add(&missing, "foo-bar");
	strset_sort(&missing);
	write_text("step.py", step_script);
	make_sdist();
	set_row();
	return setenv("WHEELCACHE_TOKEN", "secret", 1);
}

static int tear_down(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r %s", top);
	config_release(&config);
	store_release(&store);
	environment_release(&environment);
	strset_release(&missing);
	return system(command);
}

static void run_attempt(struct attempt_outcome *out)
{
	static unsigned count;
	char id[RESULTS_ID + 1];
	CLEANUP(mem_free) char *work = in_top("work");
	CLEANUP(mem_free) char *catalog = in_top("catalog.db");
	snprintf(id, sizeof(id), "%032x", ++count);
	const struct attempt_options options = {.id = id,
		.config = &config,
		.environment = &environment,
		.gate = gate,
		.index = "http://u:p@127.0.0.1/simple/",
		.work = work,
		.platform = &store.platform[0],
		.catalog = catalog,
		.missing = &missing,
		.host = "here",
		.stop = &stop};
	attempt_run(&options, &row, out);
	int fd = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e = ERR_INIT;
	assert_int_equal(fs_is_empty(fd, &e), 1);
	close(fd);
}

static void set_key(const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (config_set(&config, "build", key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

static void remove_published(void)
{
	CLEANUP(mem_free)
	char *command = xasprintf("rm -rf %s/store/debian-12-x86_64/d %s/catalog.db*", top, top);
	assert_int_equal(system(command), 0);
	struct err e = ERR_INIT;
	struct catalog *catalog = NULL;
	CLEANUP(mem_free) char *db = in_top("catalog.db");
	if (catalog_open(db, &catalog, &e) < 0 || store_register(&store, catalog, &e) < 0)
		fail_msg("%s", e.msg);
	catalog_close(catalog);
}

static void assert_result(const struct attempt_outcome *out, enum results_result result, const char *step,
	const char *why)
{
	if (out->attempt.result != result || strcmp(out->attempt.step, step) != 0 || !strstr(out->attempt.why, why))
		fail_msg("%d %s %s\n" STR_FMT, out->attempt.result, out->attempt.step, out->attempt.why,
			STR_ARG(buf_view(&out->log)));
}

// --- tests ---

static void test_good_wheel(void **state UNUSED)
{
	CLEANUP(attempt_outcome_release) struct attempt_outcome out;
	CLEANUP(mem_free) char *published = in_top("store/debian-12-x86_64/d/demo/" GOOD);
	char recipe[SHA256_HEX + 1];
	set_key("build", STEP "secret %o %d " GOOD);
	run_attempt(&out);
	assert_result(&out, RESULTS_OK, "push", "");
	assert_string_equal(out.wheel, GOOD);
	assert_string_equal(out.requires_python, ">=3.8");
	assert_int_equal(access(published, R_OK), 0);
	assert_non_null(strstr(out.attempt.files, GOOD " "));
	assert_non_null(strstr(out.attempt.sdist, "demo-1.0.tar.gz "));
	assert_non_null(strstr(out.attempt.provenance, "\"branches\": [\"master\"]"));
	assert_non_null(strstr(out.attempt.provenance, "\"interpreter\": \"CPython "));
	assert_non_null(strstr(out.attempt.provenance, "\"index\": \"http://127.0.0.1/simple/\""));
	assert_non_null(strstr(out.log.data, "doing secret"));
	attempt_recipe(&config, "http://u:p@127.0.0.1/simple/", &row, recipe);
	assert_string_equal(out.attempt.recipe, recipe);
	set_key("note", "x");
	attempt_recipe(&config, "http://u:p@127.0.0.1/simple/", &row, recipe);
	assert_string_equal(out.attempt.recipe, recipe);
	set_key("build", STEP "wheels %o " GOOD);
	attempt_recipe(&config, "http://u:p@127.0.0.1/simple/", &row, recipe);
	assert_string_not_equal(out.attempt.recipe, recipe);
}

static void test_same_wheel_again(void **state UNUSED)
{
	set_key("build", MAKE_GOOD);
	for (int i = 0; i < 2; i++) {
		CLEANUP(attempt_outcome_release) struct attempt_outcome out;
		run_attempt(&out);
		assert_result(&out, RESULTS_OK, "push", "");
	}
}

static void test_what_a_build_leaves(void **state UNUSED)
{
	static const struct {
		const char *command, *why;
		enum results_result result;
	} samples[] = {
		{STEP "wheels %o", "it left no wheel", RESULTS_FAILED},
		{STEP "wheels %o " GOOD " " NATIVE, "it left 2 wheels", RESULTS_FAILED},
		{STEP "wheels %o demo-1.1-py3-none-any.whl", "version 1.1 instead of 1.0", RESULTS_FAILED},
		{STEP "wheels %o demo-1.0+local-py3-none-any.whl", "version 1.0+local instead", RESULTS_FAILED},
		{STEP "wheels %o other-1.0-py3-none-any.whl", "wheel of other instead of demo", RESULTS_FAILED},
		{STEP "wheels %o demo-1.0-py3-none-win_amd64.whl", "does not install there", RESULTS_FAILED},
		{STEP "wheels %o demo-1.0-py2-none-any.whl", "does not install there", RESULTS_FAILED},
		{STEP "link %o demo.whl", "demo.whl", RESULTS_FAILED},
		{STEP "bad-record %o " GOOD, "RECORD", RESULTS_FAILED},
		{STEP "link %o " GOOD, "no regular file", RESULTS_FAILED},
		{STEP "moved %o", "output folder", RESULTS_FAILED},
		{STEP "names %o", "it left 3 wheels", RESULTS_FAILED},
		{STEP "flood %o", "it left no wheel", RESULTS_FAILED},
		{STEP "fail %o", "words of fail", RESULTS_FAILED},
		{STEP "abort %o", "signal 11", RESULTS_CRASHED},
		{STEP "shell-abort %o", "signal 9", RESULTS_CRASHED},
		{"/nowhere/builder %o", "/nowhere/builder", RESULTS_FAILED},
		{"sh -c exit${IFS}3", "exit code 3", RESULTS_FAILED},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CLEANUP(attempt_outcome_release) struct attempt_outcome out;
		set_key("build", samples[i].command);
		run_attempt(&out);
		assert_result(&out, samples[i].result, "build", samples[i].why);
		assert_null(out.wheel);
		struct err e = ERR_INIT; // no program makes a result that cannot be kept
		if (results_check(&out.attempt, out.attempt.begun, &e) < 0)
			fail_msg("%s", e.msg);
		// What it waits for explains a failure, not a crash.
		assert_string_equal(out.attempt.awaiting, samples[i].result == RESULTS_FAILED ? "foo-bar" : "");
	}
}

static void test_limits(void **state UNUSED)
{
	CLEANUP(attempt_outcome_release) struct attempt_outcome slow = {0}, stopped = {0};
	int64_t begun = clock_ms();
	set_key("timeout", "2");
	set_key("build", STEP "hang %o");
	run_attempt(&slow);
	assert_result(&slow, RESULTS_TIMED_OUT, "build", "doing hang");
	set_key("timeout", "4h");
	stop = true;
	run_attempt(&stopped);
	stop = false;
	assert_result(&stopped, RESULTS_INTERRUPTED, "fetch", "stopped");
	assert_true(clock_ms() - begun < 30000);
}

static void test_steps_after_the_build(void **state UNUSED)
{
	static const struct {
		const char *build, *repair, *extra, *test, *step, *why;
		enum results_result result;
	} samples[] = {
		// A pure wheel is not repaired; what repair leaves beside its input takes its place.
		{MAKE_GOOD, STEP "fail %o", NULL, "none", "push", "", RESULTS_OK},
		{STEP "wheels %o " NATIVE, STEP "wheels %o demo-1.0-py3-none-manylinux_2_17_x86_64.whl", NULL, "none",
			"push", "", RESULTS_OK},
		{STEP "wheels %o " NATIVE, STEP "fail %o", NULL, "none", "repair", "words", RESULTS_REPAIR_FAILED},
		{STEP "wheels %o " NATIVE, STEP "wheels %o demo-1.0-py3-none-manylinux_2_99_x86_64.whl", NULL, "none",
			"repair", "does not install", RESULTS_REPAIR_FAILED},
		{MAKE_GOOD, NULL, STEP "fail %o", "none", "extra", "words of fail", RESULTS_FAILED},
		{MAKE_GOOD, NULL, STEP "bad-record %o " GOOD, "none", "extra", "RECORD", RESULTS_FAILED},
		{MAKE_GOOD, NULL, NULL, STEP "fail %o", "test", "words of fail", RESULTS_TEST_FAILED},
		{MAKE_GOOD, NULL, NULL, STEP "abort %o", "test", "signal 11", RESULTS_CRASHED},
		{MAKE_GOOD, NULL, NULL, "test -f %w", "push", "", RESULTS_OK},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CLEANUP(attempt_outcome_release) struct attempt_outcome out;
		remove_published();
		set_key("build", samples[i].build);
		set_key("test", samples[i].test);
		set_key("repair", samples[i].repair ? samples[i].repair : "true");
		set_key("extra", samples[i].extra ? samples[i].extra : "true");
		run_attempt(&out);
		assert_result(&out, samples[i].result, samples[i].step, samples[i].why);
	}
	set_key("test", "none");
	set_key("repair", "true");
	set_key("extra", "true");
}

static void set_audit(const char *action)
{
	struct err e = ERR_INIT;
	wheel_gate_unref(gate);
	if (config_set(&config, "upload", "audit", action, &e) < 0 || wheel_gate_new(&config, &gate, &e) < 0)
		fail_msg("%s", e.msg);
}

static void test_audit_is_before_the_test(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(attempt_outcome_release) struct attempt_outcome refused = {0}, warned = {0}, off = {0};
	CLEANUP(mem_free) char *path = in_top("audit.policy");
	remove_published();
	write_text("audit.policy", "[rule plugin]\nrequire = member *plugin.so\n");
	assert_int_equal(config_set(&config, "upload", "audit-policy", path, &e), 0);
	set_key("build", MAKE_GOOD);
	set_key("test", STEP "fail %o");
	set_audit("refuse");
	run_attempt(&refused);
	assert_result(&refused, RESULTS_REFUSED, "audit",
		"the audit finds 1 error: error rule-required of the rule plugin: it has no member *plugin.so");
	set_audit("warn");
	run_attempt(&warned);
	assert_result(&warned, RESULTS_TEST_FAILED, "test", "");
	assert_non_null(strstr(warned.log.data, "error rule-required of the rule plugin"));
	set_audit("off");
	run_attempt(&off);
	assert_result(&off, RESULTS_TEST_FAILED, "test", "");
	assert_null(strstr(off.log.data, "rule-required"));
	assert_string_not_equal(refused.attempt.recipe, off.attempt.recipe);
	set_key("test", "none");
}

static void test_other_bytes_are_refused(void **state UNUSED)
{
	CLEANUP(attempt_outcome_release) struct attempt_outcome first = {0}, second = {0};
	remove_published();
	set_key("build", MAKE_GOOD);
	run_attempt(&first);
	assert_result(&first, RESULTS_OK, "push", "");
	set_key("extra", STEP "other %o " GOOD);
	run_attempt(&second);
	set_key("extra", "true");
	assert_result(&second, RESULTS_REFUSED, "push", GOOD);
	assert_null(second.wheel);
}

static void test_bad_rows(void **state UNUSED)
{
	static const struct {
		const char *project, *version, *filename, *sha256, *why;
	} samples[] = {
		{"-x", "1.0", "demo-1.0.tar.gz", NULL, "name of the project"},
		{"a\nb", "1.0", "demo-1.0.tar.gz", NULL, "name of the project"},
		{"demo", "-1", "demo-1.0.tar.gz", NULL, "version"},
		{"demo", "1.0 --pre", "demo-1.0.tar.gz", NULL, "version"},
		{"demo", NULL, "demo-1.0.tar.gz", NULL, "version"},
		{"demo", "1.0", "../demo-1.0.tar.gz", NULL, "file name"},
		{"demo", "1.0", "a/demo-1.0.tar.gz", NULL, "0x2f"},
		{"demo", "1.0", "-demo-1.0.tar.gz", NULL, "file name"},
		{"demo", "1.0", "demo-1.0.whl", NULL, "file name"},
		{"demo", "1.0", NULL, NULL, "no sdist"},
		{"demo", "1.0", "demo-1.0.tar.gz", "00", "instead of 00"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		CLEANUP(attempt_outcome_release) struct attempt_outcome out;
		row.project = samples[i].project;
		row.version = samples[i].version;
		row.sdist.filename = samples[i].filename;
		row.sdist.sha256 = samples[i].sha256;
		run_attempt(&out);
		set_row();
		assert_result(&out, RESULTS_FAILED, "fetch", samples[i].why);
	}
}

static void test_work_of_killed_builder(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_free) char *work = in_top("work");
	CLEANUP(mem_free) char *log = attempt_log_path(work, "0123456789abcdef0123456789abcdef");
	CLEANUP(mem_free) char *other = in_top("work/other");
	assert_int_equal(fs_make_parent(log, &e) | fs_make_dirs(other, &e), 0);
	write_text("work/0123456789abcdef0123456789abcdef/log", "text");
	assert_int_equal(attempt_clean(work, &e), 0);
	assert_int_equal(access(log, F_OK), -1);
	assert_int_equal(rmdir(other), 0); // not ours: it was left alone
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_wheel),
		cmocka_unit_test(test_same_wheel_again),
		cmocka_unit_test(test_what_a_build_leaves),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_steps_after_the_build),
		cmocka_unit_test(test_audit_is_before_the_test),
		cmocka_unit_test(test_other_bytes_are_refused),
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_work_of_killed_builder),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
