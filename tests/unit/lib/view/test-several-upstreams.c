// SPDX-License-Identifier: Apache-2.0
// A list of two upstreams: one merged page, and all else apart.
#include "lib/view/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/view/view.h"
#include "tests/unit/support/loopback.h"

enum { MANY = 30 };

struct server {
	struct loopback *loopback;
	char sha; // the digit of all hashes of its files
	atomic_int asked;
	atomic_bool is_down;
};

struct fixture {
	struct server server[2];
	struct config config;
	struct catalog *catalog;
	struct upstreams *upstreams;
	char folder[64];
};

// Each has "both", "only0" or "only1", and "p0", "p1", …; files are "same" and one of its own.
static bool answer(void *ctx, int fd, const char *path, const char *head UNUSED)
{
	struct server *s = ctx;
	char name[64], sha[65] = {0};
	atomic_fetch_add(&s->asked, 1);
	if (s->is_down || sscanf(path, "/simple/%63[^/]/", name) != 1)
		return loopback_send(fd, "500 Oh", "", "", 0);
	if (strncmp(name, "only", 4) == 0 && name[4] != s->sha)
		return loopback_send(fd, "404 Not Found", "", "", 0);
	memset(sha, s->sha, sizeof(sha) - 1);
	CLEANUP(mem_free)
	char *body = xasprintf(
		"{\"meta\": {\"api-version\": \"1.0\"}, \"name\": \"%s\", \"files\": ["
		"{\"filename\": \"%s-1-py3-none-any.whl\", \"url\": \"a.whl\", \"hashes\": {\"sha256\": \"%s\"}},"
		"{\"filename\": \"%s-2-%c-py3-none-any.whl\", \"url\": \"b.whl\", \"hashes\": {\"sha256\": \"%s\"}}]}",
		name, name, sha, name, s->sha, sha);
	return loopback_send(fd, "200 OK", "Content-Type: application/vnd.pypi.simple.v1+json\r\n", body, strlen(body));
}

static void make_upstreams(struct fixture *f)
{
	struct err e = ERR_INIT;
	upstreams_free(f->upstreams);
	if (upstreams_new(&f->config, &f->upstreams, &e) < 0)
		fail_msg("%s", e.msg);
}

static int begin(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct err e = ERR_INIT;
	snprintf(f->folder, sizeof(f->folder), "test-several.XXXXXX");
	if (!mkdtemp(f->folder))
		return -1;
	config_init(&f->config);
	for (int i = 0; i < 2; i++) {
		f->server[i].sha = (char)('0' + i);
		f->server[i].loopback = loopback_new(answer, &f->server[i]);
		CLEANUP(mem_free)
		char *url = xasprintf("http://127.0.0.1:%u/simple/", loopback_port(f->server[i].loopback));
		if (config_set(&f->config, i ? "upstream other" : "upstream", "url", url, &e) < 0)
			fail_msg("%s", e.msg);
	}
	assert_int_equal(config_set(&f->config, "upstream", "retries", "0", &e), 0);
	CLEANUP(mem_free) char *path = xasprintf("%s/catalog.db", f->folder);
	if (catalog_open(path, &f->catalog, &e) < 0)
		return -1;
	make_upstreams(f);
	*state = f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", f->folder);
	upstreams_free(f->upstreams);
	catalog_close(f->catalog);
	for (int i = 0; i < 2; i++)
		loopback_free(f->server[i].loopback);
	config_release(&f->config);
	int result = system(command);
	free(f);
	return result;
}

static void merge_together(struct fixture *f)
{
	struct err e = ERR_INIT;
	assert_int_equal(config_set(&f->config, "upstream", "indexes", "together", &e), 0);
	make_upstreams(f);
}

static int ignore_answer(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	if (ctx)
		*(enum upstream_result *)ctx = a->result;
	return 0;
}

// Asks for a project, and returns the last result.
static enum upstream_result ask(struct fixture *f, const char *project)
{
	struct err e = ERR_INIT;
	enum upstream_result result = UPSTREAM_RESULT_COUNT;
	if (upstream_lookup(f->upstreams, f->catalog, &project, 1, ignore_answer, &result, &e) < 0)
		fail_msg("%s", e.msg);
	return result;
}

struct listing {
	struct fixture *fixture;
	struct buf out;
};

// Adds each file of the merged page as the end of its name, the first digit of its hash, and the number of its
// upstream.
static int list_page(void *ctx, const struct upstream_answer *a, struct err *e)
{
	static const struct view bare;
	struct listing *l = ctx;
	CLEANUP(buf_release) struct buf page;
	buf_init(&page, LIMIT_PAGE);
	if (page_project(&bare, l->fixture->catalog, a->project, a, PAGE_JSON, &page, e) < 0)
		return e->kind == ERR_NOT_FOUND ? 0 : -1;
	for (const char *at = page.data; (at = strstr(at, "{\"filename\":\""));) {
		char name[80];
		at += strlen("{\"filename\":\"");
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, "\""), at);
		struct upstream *of = upstream_home(a, simplepage_find(a->stale, name)).upstream;
		buf_printf(&l->out, "%c%c%d ", name[strlen(a->project) + 1] == '1' ? 's' : 'o',
			strstr(at, "\"sha256\":\"")[10], of == upstreams_item(l->fixture->upstreams, 1));
	}
	return 0;
}

static void assert_page(struct fixture *f, const char *project, const char *wanted)
{
	struct err e = ERR_INIT;
	struct listing l = {.fixture = f};
	buf_init(&l.out, 1000);
	ask(f, project);
	if (upstream_load_cached(f->upstreams, f->catalog, project, list_page, &l, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(l.out.len ? l.out.data : "", wanted);
	buf_release(&l.out);
}

static void first_one_that_has_a_project_has_it_alone(void **state)
{
	struct fixture *f = *state;
	assert_page(f, "both", "s00 o00 ");
	assert_int_equal(f->server[1].asked, 0); // and the second does not learn its name
	assert_page(f, "only0", "s00 o00 ");
	assert_page(f, "only1", "s11 o11 ");
}

static void together_a_name_is_that_of_the_first_that_lists_it(void **state)
{
	struct fixture *f = *state;
	merge_together(f);
	assert_page(f, "both", "s00 o00 o11 ");
	assert_page(f, "only0", "s00 o00 ");
	assert_page(f, "only1", "s11 o11 ");
}

static void one_that_is_down_takes_no_other_along(void **state)
{
	struct fixture *f = *state;
	struct upstream_health health;
	merge_together(f);
	f->server[0].is_down = true;
	for (int i = 0; i < MANY; i++) {
		CLEANUP(mem_free) char *name = xasprintf("p%d", i);
		assert_page(f, name, "s11 o11 ");
	}
	assert_int_equal(f->server[1].asked, MANY);
	assert_true(f->server[0].asked < MANY); // it is left alone
	assert_true(upstream_health(f->upstreams, 0, &health) && health.is_failing && !health.answered);
	assert_true(upstream_health(f->upstreams, 1, &health) && !health.is_failing && !health.failed);
	f->server[0].is_down = false;
	f->server[1].is_down = true;
	make_upstreams(f);
	assert_page(f, "p0", "s00 o00 o11 "); // the last good page of the second stays
}

// Who asks the second for a name that the first has would take its files instead.
static void first_one_that_is_down_is_not_passed_over(void **state)
{
	struct fixture *f = *state;
	f->server[0].is_down = true;
	assert_int_equal(ask(f, "both"), UPSTREAM_SERVER_ERROR);
	assert_page(f, "both", "");
	assert_int_equal(f->server[1].asked, 0);
}

static void each_has_its_own_settings(void **state)
{
	struct fixture *f = *state;
	merge_together(f);
	f->config.upstreams.item[0].max_page = 10;
	make_upstreams(f);
	assert_page(f, "both", "s11 o11 ");
	f->config.upstreams.item[0].max_page = 10000;
	f->config.upstreams.item[1].trust_404 = true;
	make_upstreams(f);
	assert_int_equal(ask(f, "only2"), UPSTREAM_NOT_FOUND); // the first is not trusted
	f->config.upstreams.item[0].trust_404 = true;
	make_upstreams(f);
	assert_int_equal(ask(f, "only2"), UPSTREAM_ABSENT);
}

static int take_ages(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	*(struct upstream_ages *)ctx = a->ages;
	return 0;
}

static void least_lifetime_counts(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct upstream_ages ages = {0};
	f->config.upstreams.item[0].max_age = 7;
	f->config.upstreams.item[1].stale = 9;
	assert_int_equal(upstreams_configure(f->upstreams, &f->config, &e), 0);
	ask(f, "only0");
	assert_int_equal(upstream_load_cached_any(f->upstreams, f->catalog, "only0", NULL, take_ages, &ages, &e), 0);
	assert_int_equal(ages.max_age, 7); // the second has no part in it
	assert_int_equal(ages.stale, f->config.upstreams.item[0].stale);
	merge_together(f);
	f->config.upstreams.item[0].max_age = 7;
	f->config.upstreams.item[1].stale = 9;
	assert_int_equal(upstreams_configure(f->upstreams, &f->config, &e), 0);
	assert_int_equal(upstream_load_cached_any(f->upstreams, f->catalog, "both", NULL, take_ages, &ages, &e), 0);
	assert_int_equal(ages.max_age, 7);
	assert_int_equal(ages.stale, 9);
}

static void keep(struct file_cache *c, const char *bytes)
{
	struct err e = ERR_INIT;
	uint8_t sha256[SHA256_SIZE];
	struct file_cache_writer *w = file_cache_begin(c, "p", "p-1.tar.gz", NULL, strlen(bytes), &e);
	assert_non_null(w);
	assert_int_equal(file_cache_writer_write(w, bytes, strlen(bytes), &e), 0);
	assert_int_equal(file_cache_writer_check(w, sha256, &e), 0);
	assert_int_equal(file_cache_writer_keep(w, sha256, &e), 0);
	file_cache_writer_free(w);
}

// Also where both have the same files-path.
static void file_caches_are_apart(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct file_cache *cache[2];
	struct file_cache_file found;
	for (int i = 0; i < 2; i++) {
		struct config_upstream *u = &f->config.upstreams.item[i];
		u->files_path = xasprintf("%s/files", f->folder);
		CLEANUP(mem_free) char *folder = state_file_upstream(u, "catalog.db");
		assert_int_equal(file_cache_open(folder, 1 << 20, NULL, &cache[i], &e), 0);
	}
	keep(cache[0], "zero");
	assert_int_equal(file_cache_find(cache[1], "p", "p-1.tar.gz", NULL, &found, &e), -1);
	keep(cache[1], "eleven");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(file_cache_find(cache[i], "p", "p-1.tar.gz", NULL, &found, &e), 0);
		assert_int_equal(found.size, i ? strlen("eleven") : strlen("zero"));
		mem_close(&found.fd);
		file_cache_close(cache[i]);
	}
}

static void a_view_points_to_the_list(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct site site;
	struct store store = {0};
	f->config.upstream_merge = true;
	assert_int_equal(site_borrow(&site, &f->config, &store, f->catalog, &e), 0);
	assert_int_equal(site.view[0].upstreams.count, 2);
	assert_int_equal(site.view[0].upstreams.item[0], 0);
	assert_int_equal(site.view[0].upstreams.item[1], 1);
	site_unmerge(&site);
	assert_int_equal(site.view[0].upstreams.count, 0);
	site_release(&site);
}

static int count_files(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	*(size_t *)ctx = a->stale ? a->stale->files : 0;
	return 0;
}

// An order names some of them, and those that are set aside do not count, unless all are.
static void an_order_chooses(void **state)
{
	static const struct {
		struct config_order order;
		size_t files;
	} rows[] = {
		{{.item = {0, 1}, .count = 2, .is_together = true}, 3},
		{{.item = {1, 0}, .count = 2}, 2},
		{{.item = {1}, .count = 1, .is_together = true}, 2},
		{{.item = {0, 1}, .count = 2, .is_together = true, .aside = 1}, 2},
		{{.item = {0, 1}, .count = 2, .is_together = true, .aside = 3}, 3},
	};
	struct fixture *f = *state;
	merge_together(f);
	ask(f, "both");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		size_t files = 0;
		if (upstream_load_cached_any(f->upstreams, f->catalog, "both", &rows[i].order, count_files, &files, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(files, rows[i].files);
	}
}

static void no_request_for_what_is_not_among_its_projects(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	assert_int_equal(config_set(&f->config, "upstream other", "projects", "o*", &e), 0);
	assert_int_equal(config_set(&f->config, "upstream", "not-projects", "only1", &e), 0);
	assert_int_equal(config_set(&f->config, "upstream other", "not-projects", "none", &e), 0);
	merge_together(f);
	assert_page(f, "both", "s00 o00 ");
	assert_int_equal(f->server[1].asked, 0);
	int before = f->server[0].asked;
	assert_page(f, "only1", "s11 o11 ");
	assert_int_equal(f->server[0].asked, before);
}

static void add_conflict(void *ctx, const char *filename, const char *first, const char *other)
{
	buf_printf(ctx, "%s: %s, %s", filename, first, other);
}

static int list_conflicts(void *ctx, const struct upstream_answer *a, struct err *e UNUSED)
{
	upstream_conflicts(a, add_conflict, ctx);
	return 0;
}

static void a_name_with_two_hashes_is_told(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf told = buf_up_to(1000);
	merge_together(f);
	ask(f, "both");
	assert_int_equal(upstream_load_cached_any(f->upstreams, f->catalog, "both", NULL, list_conflicts, &told, &e), 0);
	assert_string_equal(told.data, "both-1-py3-none-any.whl: upstream, other");
}

static void one_index_is_of_one_upstream(void **state)
{
	struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct upstreams *u = NULL;
	assert_int_equal(config_set(&f->config, "upstream other", "url", f->config.upstreams.item[0].urls, &e), 0);
	assert_int_equal(upstreams_new(&f->config, &u, &e), -1);
	assert_string_equal(e.msg, "[upstream upstream] and other have the same url");
}

// Exceeds LIMIT_UPSTREAM_INDEXES.
static void indexes_are_not_too_many(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	CLEANUP(buf_release) struct buf urls = buf_up_to(100000);
	struct err e = ERR_INIT;
	struct upstreams *u = NULL;
	config_init(&c);
	for (int i = 0; i <= LIMIT_UPSTREAM_INDEXES; i++)
		buf_printf(&urls, "%shttp://i%d.example/", i ? " " : "", i);
	assert_int_equal(config_set(&c, "upstream", "url", urls.data, &e), 0);
	assert_int_equal(upstreams_new(&c, &u, &e), -1);
	assert_string_equal(e.msg, "[upstream] url: there are more than 64");
}

static void list_of_projects_has_the_names_of_each(void **state)
{
	struct fixture *f = *state;
	static const struct view bare;
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf out;
	struct str more[] = {STR("a\nc\n"), STR("b\nc\nd\n"), STR("")};
	buf_init(&out, LIMIT_PAGE);
	assert_int_equal(page_root(&bare, f->catalog, more, ARRAY_SIZE(more), PAGE_JSON, &out, &e), 0);
	assert_non_null(strstr(out.data, "{\"name\":\"a\"},\n{\"name\":\"b\"},\n{\"name\":\"c\"},\n{\"name\":\"d\"}\n]"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(first_one_that_has_a_project_has_it_alone),
		TEST(together_a_name_is_that_of_the_first_that_lists_it),
		TEST(one_that_is_down_takes_no_other_along),
		TEST(first_one_that_is_down_is_not_passed_over),
		TEST(each_has_its_own_settings),
		TEST(least_lifetime_counts),
		TEST(file_caches_are_apart),
		TEST(a_view_points_to_the_list),
		TEST(an_order_chooses),
		TEST(no_request_for_what_is_not_among_its_projects),
		TEST(a_name_with_two_hashes_is_told),
		TEST(one_index_is_of_one_upstream),
		TEST(indexes_are_not_too_many),
		TEST(list_of_projects_has_the_names_of_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
