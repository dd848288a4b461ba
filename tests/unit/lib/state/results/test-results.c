// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/attempts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/state/config/state-files.h"
#include "lib/state/database/query.h"
#include "lib/state/results/results-schema.h"

// --- one attempt ---

static int copy_out(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	buf_printf(ctx, "%s|%s|%s|%s|%s|%s|%s|%s|%lld|%.3f|%llu|%s|%s|%s|%s|%s|%s|%d|%d", a->id, a->platform, a->python,
		a->project, a->version, results_result_name[a->result], a->step, a->why, (long long)a->begun,
		a->seconds, (unsigned long long)a->peak_memory, a->files, a->sdist, a->awaiting, a->recipe, a->builder,
		a->provenance, a->has_log, a->is_sent);
	return 0;
}

static void attempt_comes_back_as_it_was(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf before, after, log;
	struct results_attempt a = attempts_make("a-project", RESULTS_CRASHED, attempts_now);
	a.peak_memory = 1ULL << 40;
	a.files = "a_project-1.0-py3-none-any.whl " ATTEMPTS_SHA
		  " 12\na_project-1.0-cp311-cp311-linux_x86_64.whl " ATTEMPTS_SHA " 0";
	a.sdist = "a-project-1.0.tar.gz " ATTEMPTS_SHA;
	a.awaiting = "cython scikit-build-core";
	a.provenance = "{\"compiler\": \"gcc 12\"}";
	a.has_log = true;
	buf_init(&before, 64 << 10);
	buf_init(&after, 64 << 10);
	buf_init(&log, 64 << 10);
	copy_out(&before, &a, &e);
	attempts_put_kept(&a, "the\nlog", NULL);
	attempts_ok(results_find(attempts, a.id, copy_out, &after, &e), &e);
	assert_string_equal(after.data, before.data);
	attempts_ok(results_log(attempts, a.id, &log, &e), &e);
	assert_string_equal(log.data, "the\nlog");
}

static void attempt_of_an_id_is_replaced_and_keeps_its_log(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf log;
	struct results_attempt a = attempts_make("a", RESULTS_RUNNING, attempts_now);
	buf_init(&log, 64 << 10);
	attempts_put_kept(&a, "half", NULL);
	ATTEMPTS_LIST("a running;", .only_running = true);
	a.result = RESULTS_OK;
	attempts_put_kept(&a, NULL, NULL);
	ATTEMPTS_LIST("a ok;", 0);
	ATTEMPTS_LIST("", .only_running = true);
	attempts_ok(results_log(attempts, a.id, &log, &e), &e);
	assert_string_equal(log.data, "half");
}

static void id_of_another_wheel_is_a_conflict(void **state UNUSED)
{
	struct err e = ERR_INIT;
	enum results_change change;
	struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now);
	attempts_put_kept(&a, NULL, NULL);
	a.project = "b";
	assert_int_equal(results_put(attempts, &a, (struct str){NULL, 0}, NULL, &change, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	ATTEMPTS_LIST("a ok;", 0);
}

static void unknown_ids_and_logs_are_not_found(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf log;
	char id[RESULTS_ID + 1];
	struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now),
			       b = attempts_make("b", RESULTS_OK, attempts_now);
	buf_init(&log, 100);
	attempts_put_kept(&a, NULL, NULL);
	assert_int_equal(results_find(attempts, "0", attempts_add_line, &log, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(results_log(attempts, a.id, &log, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(results_mark_sent(attempts, "0", &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(results_find_id(attempts, "f", id, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	attempts_ok(results_find_id(attempts, a.id, id, &e), &e);
	assert_string_equal(id, a.id);
	b.id = "ffffffffffffffffffffffffffffffff";
	attempts_put_kept(&b, NULL, NULL);
	attempts_ok(results_find_id(attempts, "ff", id, &e), &e);
	assert_string_equal(id, b.id);
	assert_int_equal(results_find_id(attempts, "", id, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
}

static void sent_attempts_are_no_longer_listed_as_unsent(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now);
	attempts_put_kept(&a, NULL, NULL);
	ATTEMPTS_LIST("a ok;", .only_unsent = true);
	attempts_ok(results_mark_sent(attempts, a.id, &e), &e);
	ATTEMPTS_LIST("", .only_unsent = true);
}

// --- changes ---

static void change_is_from_good_or_never_tried_to_failed_and_back(void **state UNUSED)
{
	assert_int_equal(attempts_put("a", RESULTS_FAILED, attempts_now - 90), RESULTS_NOW_FAILS); // never tried
	assert_int_equal(attempts_put("a", RESULTS_TIMED_OUT, attempts_now - 80), RESULTS_UNCHANGED);
	assert_int_equal(attempts_put("a", RESULTS_INTERRUPTED, attempts_now - 70), RESULTS_UNCHANGED);
	assert_int_equal(attempts_put("a", RESULTS_OK, attempts_now - 60), RESULTS_NOW_GOOD);
	assert_int_equal(attempts_put("a", RESULTS_OK, attempts_now - 50), RESULTS_UNCHANGED);
	assert_int_equal(attempts_put("a", RESULTS_INTERRUPTED, attempts_now - 45), RESULTS_UNCHANGED);
	assert_int_equal(attempts_put("a", RESULTS_CRASHED, attempts_now - 40), RESULTS_NOW_FAILS);
	assert_int_equal(attempts_put("b", RESULTS_OK, attempts_now - 40), RESULTS_UNCHANGED); // never tried
	assert_int_equal(attempts_put("b", RESULTS_FAILED, attempts_now - 50),
		RESULTS_UNCHANGED); // an older one that comes late
}

static void change_of_a_stored_attempt_can_be_asked(void **state UNUSED)
{
	static const struct {
		enum results_result result;
		enum results_change change;
	} row[] = {
		{RESULTS_FAILED, RESULTS_NOW_FAILS},
		{RESULTS_CRASHED, RESULTS_UNCHANGED},
		{RESULTS_OK, RESULTS_NOW_GOOD},
		{RESULTS_INTERRUPTED, RESULTS_UNCHANGED},
		{RESULTS_TIMED_OUT, RESULTS_NOW_FAILS},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct err e = ERR_INIT;
		enum results_change change;
		struct results_attempt a = attempts_make("a", row[i].result, attempts_now - 100 + (int64_t)i);
		assert_int_equal(attempts_put_kept(&a, NULL, NULL), row[i].change);
		attempts_ok(results_change(attempts, &a, &change, &e), &e);
		assert_int_equal(change, row[i].change);
	}
}

static void attempt_that_is_sent_twice_changes_nothing(void **state UNUSED)
{
	struct results_attempt a = attempts_make("a", RESULTS_RUNNING, attempts_now);
	assert_int_equal(attempts_put_kept(&a, NULL, NULL), RESULTS_UNCHANGED);
	a.result = RESULTS_FAILED;
	assert_int_equal(attempts_put_kept(&a, NULL, NULL), RESULTS_NOW_FAILS);
	assert_int_equal(attempts_put_kept(&a, NULL, NULL), RESULTS_UNCHANGED);
}

// --- what is kept ---

static void retention_is_by_age_and_number_but_never_the_last_good_and_failed(void **state UNUSED)
{
	for (int i = 0; i < 6; i++) {
		struct results_attempt a = attempts_make("a",
			i == 0   ? RESULTS_OK
			: i == 1 ? RESULTS_CRASHED
				 : RESULTS_INTERRUPTED,
			attempts_now - 60 + i);
		attempts_put_kept(&a, "log", "90d 2");
	}
	ATTEMPTS_LIST("a interrupted;a interrupted;a crashed;a ok;", 0);
	struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now);
	attempts_put_kept(&a, NULL, "90d 2");
	ATTEMPTS_LIST("a ok;a interrupted;a crashed;", 0);
	a = attempts_make("a", RESULTS_OK, attempts_now - 100 * ATTEMPTS_DAY); // comes late, and is too old
	attempts_put_kept(&a, NULL, "90d 50");
	ATTEMPTS_LIST("a ok;a interrupted;a crashed;", 0);
}

// As if a day had passed.
static void forget_cleaning(void)
{
	const int64_t never = 0;
	struct err e = ERR_INIT;
	CLEANUP(database_cleanup) struct database *d = NULL;
	attempts_ok(database_open(&results_schema, attempts_path, &d, &e), &e);
	attempts_ok(query_run_by(d, RESULTS_SET_CLEANED, BY(SQL_INT(never)), &e), &e);
}

static void age_counts_for_other_projects_too_once_a_day(void **state UNUSED)
{
	for (int i = 0; i < 3; i++) {
		struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now - 10 * ATTEMPTS_DAY + i);
		attempts_put_kept(&a, "log", "30d 50");
	}
	struct results_attempt b = attempts_make("b", RESULTS_OK, attempts_now);
	attempts_put_kept(&b, NULL, "1d 50");
	ATTEMPTS_LIST("b ok;a ok;a ok;a ok;", 0);
	forget_cleaning();
	attempts_put_kept(&b, NULL, "1d 50");
	ATTEMPTS_LIST("b ok;a ok;", 0);
}

// --- the file ---

static void reader_sees_what_another_connection_wrote(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct results *writer = attempts;
	assert_int_equal(results_open_read("test-results.none", NULL, &attempts, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	attempts_ok(results_open_read(attempts_path, NULL, &attempts, &e), &e);
	ATTEMPTS_LIST("", 0);
	struct results *reader = attempts;
	attempts = writer;
	attempts_put("a", RESULTS_OK, attempts_now);
	attempts = reader;
	ATTEMPTS_LIST("a ok;", 0);
	enum results_change change;
	struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now);
	assert_int_equal(results_put(attempts, &a, (struct str){NULL, 0}, NULL, &change, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	results_close(attempts);
	attempts = writer;
}

// As a builder leaves it that is killed when it creates the file.
static void empty_file_is_as_if_absent_to_a_reader(void **state UNUSED)
{
	struct err e = ERR_INIT;
	results_close(STEAL_PTR(attempts));
	assert_int_equal(truncate(attempts_path, 0), 0);
	assert_int_equal(results_open_read(attempts_path, NULL, &attempts, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	attempts_ok(results_open(attempts_path, NULL, &attempts, &e), &e);
	attempts_put("a", RESULTS_OK, attempts_now);
	ATTEMPTS_LIST("a ok;", 0);
}

// Each process adds its attempts; none is lost, and none waits for long.
static void several_processes_write_at_once(void **state UNUSED)
{
	enum { PROCESSES = 3, EACH = 30 };
	struct err e = ERR_INIT;
	pid_t pid[PROCESSES];
	results_close(STEAL_PTR(attempts));
	for (int p = 0; p < PROCESSES; p++) {
		pid[p] = fork();
		assert_true(pid[p] >= 0);
		if (pid[p])
			continue;
		enum results_change change;
		int failures = results_open(attempts_path, NULL, &attempts, &e) < 0;
		for (int i = 0; !failures && i < EACH; i++) {
			char id[RESULTS_ID + 1];
			struct results_attempt a = attempts_make("a", RESULTS_OK, attempts_now);
			results_new_id(id);
			a.id = id;
			failures += results_put(attempts, &a, STR("a log"), "90d 1000", &change, &e) < 0;
		}
		results_close(attempts);
		_exit(failures);
	}
	for (int p = 0; p < PROCESSES; p++) {
		int status;
		assert_int_equal(waitpid(pid[p], &status, 0), pid[p]);
		assert_int_equal(status, 0);
	}
	uint64_t count[RESULTS_RESULT_COUNT];
	attempts_ok(results_open(attempts_path, NULL, &attempts, &e), &e);
	attempts_ok(results_totals(attempts, NULL, count, &e), &e);
	assert_int_equal(count[RESULTS_OK], PROCESSES * EACH);
}

static void put_sent_log(const char *project, int64_t begun)
{
	struct err e = ERR_INIT;
	struct results_attempt a = attempts_make(project, RESULTS_FAILED, begun);
	a.seconds = 1.001;
	attempts_put_kept(&a, "the\nlog", NULL);
	attempts_ok(results_mark_sent(attempts, a.id, &e), &e);
}

// All that readers can ask for.
static char *list_all(void)
{
	struct err e = ERR_INIT;
	struct buf out;
	uint64_t count[RESULTS_RESULT_COUNT];
	buf_init(&out, 1 << 20);
	attempts_ok(results_list(attempts, &(struct results_filter){0}, copy_out, &out, &e), &e);
	attempts_ok(results_totals(attempts, NULL, count, &e), &e);
	for (size_t i = 0; i < RESULTS_RESULT_COUNT; i++)
		buf_printf(&out, " %llu", (unsigned long long)count[i]);
	return buf_steal(&out);
}

static void remove_index(void)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -f '%s' '%s-wal' '%s-shm'", attempts_path, attempts_path, attempts_path);
	results_close(STEAL_PTR(attempts));
	assert_int_equal(system(command), 0);
}

static void lost_index_is_made_again(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf log;
	buf_init(&log, 100);
	for (int i = 0; i < 20; i++) // in one second: their order is that of their recording
		attempts_put("a", i % 3 ? RESULTS_FAILED : RESULTS_OK, attempts_now);
	put_sent_log("b", attempts_now - 5);
	struct results_attempt running = attempts_make("c", RESULTS_RUNNING, attempts_now);
	attempts_put_kept(&running, "half", NULL);
	running.result = RESULTS_OK;
	attempts_put_kept(&running, NULL, "1d 3"); // which ends others of its project, and no total
	struct results_attempt ended = attempts_make("a", RESULTS_OK, attempts_now);
	attempts_put_kept(&ended, NULL, "1d 3");
	CLEANUP(mem_free) char *before = list_all();
	remove_index();
	attempts_ok(results_open_read(attempts_path, NULL, &attempts, &e), &e);
	CLEANUP(mem_free) char *after = list_all();
	assert_string_equal(after, before);
	attempts_ok(results_log(attempts, running.id, &log, &e), &e);
	assert_string_equal(log.data, "half");
	ATTEMPTS_LIST("b failed;", .limit = 1, .project = "b");
}

static void damaged_file_harms_only_itself(void **state UNUSED)
{
	struct err e = ERR_INIT;
	attempts_put("a", RESULTS_OK, attempts_now);
	struct results_attempt bad = attempts_make("b", RESULTS_OK, attempts_now);
	attempts_put_kept(&bad, NULL, NULL);
	CLEANUP(mem_free) char *command = xasprintf("printf '{}\\n' > '%s.attempts/%.2s/%s'", attempts_path, bad.id, bad.id);
	assert_int_equal(system(command), 0);
	remove_index();
	attempts_ok(results_open(attempts_path, NULL, &attempts, &e), &e);
	ATTEMPTS_LIST("a ok;", 0);
}

static void overwrite(off_t at, const void *bytes, size_t len)
{
	int fd = open(attempts_path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, at), len);
	close(fd);
}

static void assert_open_fails(enum err_kind kind, const char *word)
{
	struct err e = ERR_INIT;
	struct stat before, after;
	assert_int_equal(stat(attempts_path, &before), 0);
	assert_int_equal(results_open(attempts_path, NULL, &attempts, &e), -1);
	assert_int_equal(e.kind, kind);
	assert_non_null(strstr(e.msg, word));
	assert_null(attempts);
	assert_int_equal(stat(attempts_path, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
	assert_int_equal(after.st_ino, before.st_ino);
}

static void damaged_file_is_an_error_and_stays(void **state UNUSED)
{
	attempts_put("a", RESULTS_OK, attempts_now);
	results_close(STEAL_PTR(attempts));
	overwrite(0, "no database", 11);
	assert_open_fails(ERR_DB, "move it away");
}

static void file_of_a_newer_wheelcache_stays(void **state UNUSED)
{
	static const unsigned char newer[] = {0, 0, 0, 99};
	attempts_put("a", RESULTS_OK, attempts_now);
	results_close(STEAL_PTR(attempts));
	overwrite(60, newer, sizeof(newer)); // user_version, https://www.sqlite.org/fileformat.html
	assert_open_fails(ERR_USAGE, "newer wheelcache");
}

static void other_database_stays(void **state UNUSED)
{
	static const unsigned char other[] = {0, 0, 0, 1};
	attempts_put("a", RESULTS_OK, attempts_now);
	results_close(STEAL_PTR(attempts));
	overwrite(68, other, sizeof(other)); // application_id
	assert_open_fails(ERR_USAGE, "not a results file");
}

// LIMIT_RESULTS. The header of the file says that it has so many pages; most of them are a hole.
// Exceeds LIMIT_RESULTS.
static void file_has_a_maximum_size(void **state UNUSED)
{
	const uint32_t pages = ((uint32_t)LIMIT_RESULTS >> 12) + 1;
	const unsigned char big[] = {(unsigned char)(pages >> 24), (unsigned char)(pages >> 16),
		(unsigned char)(pages >> 8), (unsigned char)pages};
	struct err e = ERR_INIT;
	enum results_change change;
	attempts_put("a", RESULTS_OK, attempts_now);
	results_close(STEAL_PTR(attempts));
	assert_int_equal(truncate(attempts_path, (off_t)pages << 12), 0);
	overwrite(28, big, sizeof(big)); // the number of pages
	attempts_ok(results_open(attempts_path, NULL, &attempts, &e), &e);
	struct results_attempt a = attempts_make("b", RESULTS_OK, attempts_now);
	assert_int_equal(results_put(attempts, &a, (struct str){NULL, 0}, NULL, &change, &e), -1);
	assert_int_equal(e.kind, ERR_FULL);
	assert_non_null(strstr(e.msg, "keep-results"));
	ATTEMPTS_LIST("a ok;", 0);
}

static void path_is_beside_the_catalog(void **state UNUSED)
{
	char name[] = "/y/b";
	struct config c = {0};
	CLEANUP(mem_free) char *beside = state_file(&c, "/x/cat.db", STATE_FILE_BUILDS);
	assert_string_equal(beside, "/x/cat.db.builds");
	c.build_results = name;
	CLEANUP(mem_free) char *named = state_file(&c, "/x/cat.db", STATE_FILE_BUILDS);
	assert_string_equal(named, "/y/b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ATTEMPTS_CASE(attempt_comes_back_as_it_was),
		ATTEMPTS_CASE(lost_index_is_made_again),
		ATTEMPTS_CASE(damaged_file_harms_only_itself),
		ATTEMPTS_CASE(attempt_of_an_id_is_replaced_and_keeps_its_log),
		ATTEMPTS_CASE(id_of_another_wheel_is_a_conflict),
		ATTEMPTS_CASE(unknown_ids_and_logs_are_not_found),
		ATTEMPTS_CASE(sent_attempts_are_no_longer_listed_as_unsent),
		ATTEMPTS_CASE(change_is_from_good_or_never_tried_to_failed_and_back),
		ATTEMPTS_CASE(change_of_a_stored_attempt_can_be_asked),
		ATTEMPTS_CASE(attempt_that_is_sent_twice_changes_nothing),
		ATTEMPTS_CASE(retention_is_by_age_and_number_but_never_the_last_good_and_failed),
		ATTEMPTS_CASE(age_counts_for_other_projects_too_once_a_day),
		ATTEMPTS_CASE(reader_sees_what_another_connection_wrote),
		ATTEMPTS_CASE(empty_file_is_as_if_absent_to_a_reader),
		ATTEMPTS_CASE(several_processes_write_at_once),
		ATTEMPTS_CASE(damaged_file_is_an_error_and_stays),
		ATTEMPTS_CASE(file_of_a_newer_wheelcache_stays),
		ATTEMPTS_CASE(other_database_stays),
		ATTEMPTS_CASE(file_has_a_maximum_size),
		ATTEMPTS_CASE(path_is_beside_the_catalog),
	};
	return cmocka_run_group_tests(tests, attempts_make_folder, attempts_remove_folder);
}
