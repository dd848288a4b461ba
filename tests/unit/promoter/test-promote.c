// SPDX-License-Identifier: Apache-2.0
// Promotions by a sender who may not see everything, and of two hosts with a catalog each. test-promotion.py compares
// what is promoted with a reference.
#include "promoter/promote.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-view.h"

enum { NOW = 1800000000 };
#define OPEN "debian-12-x86_64"
#define SECRET "debian-12-aarch64"
#define PURE "a-1-py3-none-any.whl"
#define NATIVE "b-1-cp311-cp311-manylinux_2_17_aarch64.whl"

// A store, and what one of two hosts knows of it.
struct promote_host {
	struct config config;
	struct site site;
	struct catalog *catalog;
	struct audit *audit;
};

static char top[32];
static struct promote_host host[2];

static void ok(int result, const struct err *e)
{
	if (result < 0)
		fail_msg("%s", e->msg);
}

static void configure(struct config *c)
{
	struct err e = ERR_INIT;
	char store[64];
	snprintf(store, sizeof(store), "%s/store", top);
	const char *const rows[][3] = {{"store", "path", store}, {"platform " OPEN, "pythons", "3.11"},
		{"platform " SECRET, "pythons", "3.11"}, {"view staging", "platforms", SECRET " " OPEN},
		{"view tested", "from", "staging"}, {"view tested", "requires", "unit"},
		{"view free", "from", "staging"}};
	config_init(c);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ok(config_set(c, rows[i][0], rows[i][1], rows[i][2], &e), &e);
	ok(config_views_complete(c, &e), &e);
}

static void add_wheel(struct promote_host *h, const struct platform *p, const char *filename, uint8_t sha)
{
	struct err e = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	struct catalog_effect effect;
	int64_t folder;
	uint8_t sha256[SHA256_SIZE] = {sha};
	ok(filename_parse(str_from(filename), &name, &e), &e);
	ok(catalog_folder_ensure(h->catalog, p->id, "", &folder, &e), &e);
	const struct catalog_entry entry = {.platform = p->id,
		.folder = folder,
		.folder_path = "",
		.filename = filename,
		.size = 1,
		.sha256 = sha256,
		.project = name.project,
		.version = name.version.text,
		.version_key = name.version.key};
	ok(catalog_file_put(h->catalog, &entry, &effect, &e), &e);
}

static void open_host(struct promote_host *h, int number)
{
	struct err e = ERR_INIT;
	struct store store;
	char path[64];
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	configure(&h->config);
	snprintf(path, sizeof(path), "%s/catalog%d.db", top, number);
	ok(catalog_open(path, &h->catalog, &e), &e);
	snprintf(path, sizeof(path), "%s/audit%d", top, number);
	ok(audit_open(&(struct audit_place){.path = path, .max_size = 1 << 20}, &h->audit, &e), &e);
	ok(store_open(&h->config, STORE_PROMPT, &store, &e), &e);
	ok(store_register(&store, h->catalog, &e), &e);
	ok(catalog_begin(h->catalog, &t, &e), &e);
	ok(catalog_views_set_read(h->catalog, &e), &e);
	add_wheel(h, store_platform_named(&store, STR(OPEN)), PURE, 1);
	add_wheel(h, store_platform_named(&store, STR(SECRET)), NATIVE, 2);
	ok(catalog_commit(&t, &e), &e);
	ok(site_init(&h->site, &h->config, &store, h->catalog, &e), &e);
}

static int set_up(void **state UNUSED)
{
	static const char *const folders[] = {"", "/store", "/store/" OPEN, "/store/" SECRET};
	snprintf(top, sizeof(top), "promote.XXXXXX");
	if (!mkdtemp(top))
		return -1;
	for (size_t i = 1; i < ARRAY_SIZE(folders); i++) {
		char path[80];
		snprintf(path, sizeof(path), "%s%s", top, folders[i]);
		if (mkdir(path, 0755) < 0)
			return -1;
	}
	open_host(&host[0], 0);
	open_host(&host[1], 1);
	return 0;
}

static int tear_down(void **state UNUSED)
{
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(host); i++) {
		site_release(&host[i].site);
		catalog_close(host[i].catalog);
		audit_close(host[i].audit);
		config_release(&host[i].config);
	}
	return tree_remove(AT_FDCWD, top, &e);
}

static bool may_open(void *ctx, const char *platform, const char *project UNUSED)
{
	*(int *)ctx += 1;
	return strcmp(platform, OPEN) == 0;
}

static int promote_on(struct promote_host *h, const char *to, const char *word, promote_may_fn *may,
	struct promote_answer *out, struct err *e)
{
	static int asked;
	const struct promote_request r = {.to = to,
		.select = &word,
		.selects = word != NULL,
		.evidence_views = "*",
		.reason = "",
		.by = "someone",
		.address = may ? "192.0.2.1" : "",
		.may = may,
		.may_ctx = &asked};
	return promote_run(&h->site, h->catalog, h->audit, &r, NOW, out, e);
}

static void nothing_names_what_a_sender_may_not_know(void **state UNUSED)
{
	static const struct {
		const char *to, *word, *row, *reason;
	} cases[] = {
		{"free", NULL, PURE, ""},
		{"tested", NULL, PURE, "another cell: no evidence of kind unit"},
		{"free", NATIVE, NULL, NATIVE ": what view free takes its files from has no such file; wheelcache explain says what is known of it"},
		{"free", "b", NULL, "b: what view free takes its files from has no such file; wheelcache explain says what is known of it"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		CLEANUP(promote_answer_release) struct promote_answer a = {0};
		int result = promote_on(&host[0], cases[i].to, cases[i].word, may_open, &a, &e);
		if (cases[i].row && (result < 0 || a.rows != 1 || strcmp(a.row[0].filename, cases[i].row) != 0 ||
					    strcmp(a.row[0].reason, cases[i].reason) != 0))
			fail_msg("case %zu: %d, %zu rows, %s %s", i, result, a.rows, a.rows ? a.row[0].reason : "",
				e.msg);
		if (!cases[i].row && (result == 0 || e.kind != ERR_USAGE || strcmp(e.msg, cases[i].reason) != 0))
			fail_msg("case %zu: %s", i, e.msg);
	}
}

// On the store's machine the messages help.
static void an_operator_is_told_where_a_file_is(void **state UNUSED)
{
	struct err e = ERR_INIT;
	CLEANUP(promote_answer_release) struct promote_answer a = {0};
	ok(promote_on(&host[0], "tested", NULL, NULL, &a, &e), &e);
	assert_int_equal(a.count[PROMOTE_REFUSED], 2);
	assert_string_equal(a.row[0].reason, SECRET "/3.11: no evidence of kind unit");
	assert_int_equal(a.generation, 0);
}

// The other host has not heard of the first generation.
static void hosts_continue_each_other(void **state UNUSED)
{
	struct err e = ERR_INIT;
	struct catalog_view view;
	for (int i = 0; i < 2; i++) {
		CLEANUP(promote_answer_release) struct promote_answer a = {0};
		ok(promote_on(&host[i], "free", i ? "b" : "a", NULL, &a, &e), &e);
		assert_int_equal(a.generation, i + 1);
	}
	CLEANUP(promote_answer_release) struct promote_answer back = {0};
	ok(rollback_run(&host[0].site, host[0].catalog, host[0].audit, "free", 1, "", "someone", false, &back, &e), &e);
	assert_int_equal(back.generation, 3);
	assert_int_equal(back.count[PROMOTE_ENDED], 1);
	assert_string_equal(back.row[0].filename, NATIVE);
	ok(catalog_view_find(host[0].catalog, "free", &view, &e), &e);
	assert_int_equal(view.generation, 3);
}

static bool think_long(void *ctx UNUSED, const char *platform UNUSED, const char *project UNUSED)
{
	for (int64_t end = clock_thread_ms() + 30; clock_thread_ms() < end;)
		;
	return true;
}

// Exceeds LIMIT_PROMOTE_CPU_MS.
static void a_decision_that_takes_too_long_promotes_nothing(void **state UNUSED)
{
	struct promote_host *h = &host[0];
	struct catalog_view before, after;
	struct err e = ERR_INIT;
	struct promote_request r = {.to = "free",
		.evidence_views = "*",
		.reason = "",
		.by = "someone",
		.address = "192.0.2.1",
		.may = think_long,
		.cpu_ms = 20};
	ok(catalog_view_find(h->catalog, "free", &before, &e), &e);
	for (int i = 0; i < 2; i++) {
		CLEANUP(promote_answer_release) struct promote_answer a = {0};
		int result = promote_run(&h->site, h->catalog, h->audit, &r, NOW, &a, &e);
		assert_int_equal(result, i ? 0 : -1);
		if (!i) {
			assert_int_equal(e.kind, ERR_BUSY);
			assert_non_null(strstr(e.msg, "the decision took too long"));
			ok(catalog_view_find(h->catalog, "free", &after, &e), &e);
			assert_int_equal(after.generation, before.generation);
		}
		r.cpu_ms = 0;
	}
}

// Exceeds LIMIT_PROMOTE_MS. The clock is asked while the catalog reads.
static void a_catalog_that_takes_too_long_promotes_nothing(void **state UNUSED)
{
	struct promote_host *h = &host[0];
	struct catalog_view before, after;
	struct err e = ERR_INIT;
	CLEANUP(promote_answer_release) struct promote_answer a = {0};
	CLEANUP(catalog_rollback) struct catalog_transaction t = {0};
	const struct promote_request r = {.to = "free",
		.evidence_views = "*",
		.reason = "",
		.by = "someone",
		.address = "192.0.2.1",
		.catalog_ms = 1};
	ok(catalog_begin(h->catalog, &t, &e), &e);
	for (int i = 0; i < 3000; i++) {
		CLEANUP(mem_free) char *filename = xasprintf("a-1.%d-py3-none-any.whl", i);
		add_wheel(h, site_platform(&h->site, STR(OPEN)), filename, 1);
	}
	ok(catalog_commit(&t, &e), &e);
	ok(catalog_view_find(h->catalog, "free", &before, &e), &e);
	assert_int_equal(promote_run(&h->site, h->catalog, h->audit, &r, NOW, &a, &e), -1);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, "the decision took too long, and nothing was promoted"));
	ok(catalog_view_find(h->catalog, "free", &after, &e), &e);
	assert_int_equal(after.generation, before.generation);
}

static void wrong_views_are_refused(void **state UNUSED)
{
	static const struct {
		const char *view;
		enum err_kind kind;
		const char *message;
	} cases[] = {
		{"staging", ERR_USAGE, "has no \"from\""},
		{OPEN, ERR_NOT_FOUND, "no view " OPEN},
		{"nowhere", ERR_NOT_FOUND, "no view nowhere"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e[2] = {ERR_INIT, ERR_INIT};
		CLEANUP(promote_answer_release) struct promote_answer a = {0};
		CLEANUP(promote_answer_release) struct promote_answer b = {0};
		struct promote_host *h = &host[0];
		assert_int_equal(promote_on(h, cases[i].view, NULL, NULL, &a, &e[0]), -1);
		assert_int_equal(rollback_run(&h->site, h->catalog, h->audit, cases[i].view, 0, "", "someone", false,
					 &b, &e[1]),
			-1);
		for (int k = 0; k < 2; k++)
			if (e[k].kind != cases[i].kind || !strstr(e[k].msg, cases[i].message))
				fail_msg("%s: %d %s", cases[i].view, e[k].kind, e[k].msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_names_what_a_sender_may_not_know, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_operator_is_told_where_a_file_is, set_up, tear_down),
		cmocka_unit_test_setup_teardown(hosts_continue_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_views_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_catalog_that_takes_too_long_promotes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_decision_that_takes_too_long_promotes_nothing, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
