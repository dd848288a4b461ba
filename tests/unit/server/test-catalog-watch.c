// SPDX-License-Identifier: Apache-2.0
#include "server/catalog-watch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/state/catalog/catalog.h"
#include "tests/unit/support/one-wheel.h"

static const char *const ending[] = {"", "-wal", "-shm", "-changes"};

static void note_project(void *ctx, const struct project_entry *project)
{
	*(uint64_t *)ctx += project->place[0].files;
}

// A start does not wait for what grows with the number of projects: the connection that it was given suffices, and the
// thread, which opens one of its own, reads the projects when it can.
static void test_the_projects_are_read_after_the_start(void **state)
{
	struct fixture *f = *state;
	struct server_context *s = &f->context;
	struct err e = ERR_INIT;
	struct catalog *catalog = NULL;
	uint64_t files = 0;
	CLEANUP(mem_free) char *now = xasprintf("%s/catalog.db", f->folder);
	CLEANUP(mem_free) char *folder = xasprintf("%s/later", f->folder);
	CLEANUP(mem_free) char *later = xasprintf("%s/catalog.db", folder);
	assert_int_equal(mknod(folder, S_IFREG | 0600, 0), 0); // so that no catalog can be opened in it
	assert_int_equal(catalog_open(now, &catalog, &e), 0);
	catalog_pool_free(s->catalog_pool);
	s->catalog_pool = catalog_pool_new(later);
	catalog_pool_give(s->catalog_pool, &(struct catalog_lease){.catalog = catalog});
	project_directory_free(s->project_directory);
	s->project_directory = project_directory_new();
	atomic_store(&s->project_filter_is_complete, false);
	pthread_mutex_init(&s->current_lock, NULL);
	clock_cond_init(&s->current_changed);

	struct catalog_watch *w = catalog_watch_start(s, &e);
	assert_non_null(w);
	catalog_pool_renew(s->catalog_pool); // nor does the thread get that connection
	assert_true(server_context_is_current(s));
	assert_int_equal(server_context_platform_totals(s, 0).files, 1);
	assert_false(server_context_has_directory(s));
	assert_false(atomic_load(&s->project_filter_is_complete));

	assert_int_equal(unlink(folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		CLEANUP(mem_free) char *from = xasprintf("%s%s", now, ending[i]);
		CLEANUP(mem_free) char *to = xasprintf("%s%s", later, ending[i]);
		rename(from, to); // some may not be there
	}
	assert_true(server_context_has_directory(s));
	assert_true(atomic_load(&s->project_filter_is_complete));
	project_directory_get(s->project_directory, "foo-bar", note_project, &files);
	assert_int_equal(files, 1);
	catalog_watch_stop(w);
	pthread_cond_destroy(&s->current_changed);
	pthread_mutex_destroy(&s->current_lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_projects_are_read_after_the_start, one_wheel_set_up,
			one_wheel_tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
