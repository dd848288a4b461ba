// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/attempts.h"

#include <stdlib.h>
#include <unistd.h>

#include "lib/os/clock.h"

static char folder[] = "test-results.XXXXXX";
char attempts_path[64];
struct results *attempts;
int64_t attempts_now;

int attempts_make_folder(void **state UNUSED)
{
	attempts_now = clock_wall_seconds();
	if (!mkdtemp(folder))
		return -1;
	snprintf(attempts_path, sizeof(attempts_path), "%s/new/cat.builds", folder);
	return 0;
}

static void remove_files(void)
{
	static const char *const ending[] = {"", "-wal", "-shm"};
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		char name[80];
		snprintf(name, sizeof(name), "%s%s", attempts_path, ending[i]);
		unlink(name);
	}
	CLEANUP(mem_free) char *files = xasprintf("rm -rf '%s.attempts'", attempts_path);
	if (system(files) != 0)
		abort();
}

int attempts_remove_folder(void **state UNUSED)
{
	char name[64];
	snprintf(name, sizeof(name), "%s/new", folder);
	rmdir(name);
	return rmdir(folder);
}

void attempts_ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

int attempts_open(void **state UNUSED)
{
	struct err e = ERR_INIT;
	remove_files();
	attempts_ok(results_open(attempts_path, NULL, &attempts, &e), &e);
	return 0;
}

int attempts_close(void **state UNUSED)
{
	results_close(STEAL_PTR(attempts));
	remove_files();
	return 0;
}

static char *next_id(void)
{
	static char ring[8][RESULTS_ID + 1];
	static unsigned number;
	char *id = ring[++number % ARRAY_SIZE(ring)];
	snprintf(id, RESULTS_ID + 1, "%032x", number);
	return id;
}

struct results_attempt attempts_make(const char *project, enum results_result result, int64_t begun)
{
	return (struct results_attempt){
		.id = next_id(),
		.platform = "debian-12-x86_64",
		.python = "3.11",
		.project = project,
		.version = "1.0",
		.result = result,
		.step = "build",
		.provenance = "{}",
		.why = result == RESULTS_OK ? "" : "gcc ended with 1",
		.begun = begun,
		.seconds = 1.5,
		.recipe = ATTEMPTS_SHA,
		.builder = "host",
	};
}

enum results_change attempts_put_kept(const struct results_attempt *a, const char *log, const char *keep)
{
	struct err e = ERR_INIT;
	enum results_change change = RESULTS_UNCHANGED;
	attempts_ok(results_put(attempts, a, log ? str_from(log) : (struct str){NULL, 0}, keep, &change, &e), &e);
	return change;
}

enum results_change attempts_put(const char *project, enum results_result result, int64_t begun)
{
	struct results_attempt a = attempts_make(project, result, begun);
	return attempts_put_kept(&a, NULL, NULL);
}

// "PROJECT RESULT;" of each
int attempts_add_line(void *ctx, const struct results_attempt *a, struct err *e UNUSED)
{
	buf_printf(ctx, "%s %s;", a->project, results_result_name[a->result]);
	return 0;
}

void attempts_assert_list(const struct results_filter *filter, const char *expected)
{
	CLEANUP(buf_release) struct buf out;
	struct err e = ERR_INIT;
	buf_init(&out, 64 << 10);
	attempts_ok(results_list(attempts, filter, attempts_add_line, &out, &e), &e);
	assert_string_equal(out.data, expected);
}
