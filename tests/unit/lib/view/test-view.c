// SPDX-License-Identifier: Apache-2.0
#include "lib/view/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/fake-catalog.h"

static const char *const platforms[] = {"alpha", "beta", "gamma"};

// cffi's sdist has one name and two versions: alpha's PKG-INFO gives another one.
static const struct fake_file files[] = {
	{.platform = 2, .project = "attrs", .filename = "attrs-1.0-py3-none-any.whl", .version = "1.0", .key = "1"},
	{.platform = 1, .project = "cffi", .filename = "cffi-1.0.2-2.tar.gz", .version = "1.0.2.post2", .key = "5"},
	{.platform = 2, .project = "cffi", .filename = "cffi-1.0.2-2.tar.gz", .version = "2", .key = "9"},
	{.platform = 3, .project = "cffi", .filename = "cffi-1.1-a.whl", .version = "1.1", .key = "6"},
	{.platform = 3, .project = "numpy", .filename = "numpy-1.9-c.whl", .version = "1.9", .key = "1"},
	{.platform = 1, .project = "numpy", .filename = "numpy-1.10-a.whl", .version = "1.10", .key = "2", .sha = 1},
	{.platform = 2, .project = "numpy", .filename = "numpy-1.10-a.whl", .version = "1.10", .key = "2", .sha = 2},
	{.platform = 2,
		.project = "numpy",
		.filename = "numpy-1.10-b.whl",
		.version = "1.10",
		.key = "2",
		.sha = 2,
		.metadata_sha = 7,
		.requires_python = ">=3.8",
		.size = 5,
		.mtime_ns = 9},
	{.platform = 3, .project = "numpy", .filename = "numpy-1.10-b.whl", .version = "1.10", .key = "2", .sha = 3},
	{.platform = 1, .project = "zope", .filename = "zope-1-a.whl", .version = "1", .key = "1"},
};

static int use_fake(void **state)
{
	(void)state;
	fake_file = files;
	fake_file_count = ARRAY_SIZE(files);
	fake_platform = platforms;
	fake_platform_count = ARRAY_SIZE(platforms);
	fake_fails = false;
	return 0;
}

static struct store store_of(size_t count)
{
	struct store s = {.platform = xcalloc(count, sizeof(*s.platform)), .platform_count = count};
	for (size_t i = 0; i < count; i++)
		s.platform[i].name = xstrdup(platforms[i]);
	return s;
}

static char beta[] = "beta", alpha[] = "alpha", gamma_name[] = "gamma", lost[] = "lost", both[] = "both";
static char *both_platforms[] = {beta, alpha};
static struct config_upstream other_index = {.name = (char[]){"upstream"}};

// A site of the three platforms and the view "both".
static int make_site(struct site *s, char *default_view, struct config_view *views, size_t count, struct err *e)
{
	struct store store = store_of(3);
	struct config c = {.default_view = default_view, .views = views, .view_count = count, .page_max_age = 60};
	return site_init(s, &c, &store, NULL, e);
}

static void join_name(struct buf *out, const char *name)
{
	buf_puts(out, name);
	buf_putc(out, ' ');
}

static int add_name(void *ctx, const char *name, struct err *e UNUSED)
{
	join_name(ctx, name);
	return 0;
}

// "<platform>/<file name>=<a digit of the hash> ..."
static int add_file(void *ctx, const struct platform *platform, const struct catalog_file *file, struct err *e UNUSED)
{
	buf_printf(ctx, "%s/%s=%d ", platform->name, file->filename, file->sha256[31]);
	return 0;
}

static const struct {
	const char *view, *platforms;
} views[] = {{"", "alpha beta gamma "}, {"alpha", "alpha "}, {"gamma", "gamma "}, {"both", "beta alpha "}};

static void test_sites(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(site_release) struct site s;
	struct config_view v = {.name = both, .platforms = both_platforms, .platform_count = 2};
	assert_int_equal(make_site(&s, NULL, &v, 1, &e), 0);
	assert_int_equal(s.page_max_age, 60);
	assert_int_equal(s.view_count, 5);
	assert_null(s.view[0].name);
	assert_int_equal(site_platform(&s, STR("gamma"))->id, 3);
	assert_null(site_platform(&s, STR("gam")));
	assert_null(site_view(&s, STR("delta")));
	for (size_t i = 0; i < ARRAY_SIZE(views); i++) {
		CLEANUP(buf_release) struct buf names;
		buf_init(&names, 1000);
		const struct view *view = site_view(&s, str_from(views[i].view));
		assert_non_null(view);
		for (size_t n = 0; n < view->platform_count; n++)
			join_name(&names, view->platform[n]->name);
		assert_string_equal(names.data, views[i].platforms);
	}
}

static void test_default_views(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct config_view v = {.name = both, .platforms = both_platforms, .platform_count = 2};
	CLEANUP(site_release) struct site one, two;
	assert_int_equal(make_site(&one, both, &v, 1, &e), 0);
	assert_int_equal(one.view[0].platform_count, 2);
	assert_string_equal(one.view[0].platform[0]->name, "beta");
	assert_int_equal(make_site(&two, gamma_name, NULL, 0, &e), 0);
	assert_int_equal(two.view[0].platform_count, 1);
	site_release(&one);
}

static void test_bad_sites(void **state)
{
	(void)state;
	static char *unknown[] = {beta, lost};
	struct err e = ERR_INIT;
	struct site s;
	struct config_view same = {.name = beta, .platforms = both_platforms, .platform_count = 2},
			   missing = {.name = both, .platforms = unknown, .platform_count = 2};
	assert_int_equal(make_site(&s, lost, NULL, 0, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_int_equal(make_site(&s, NULL, &same, 1, &e), -1);
	assert_non_null(strstr(e.msg, "view beta"));
	assert_int_equal(make_site(&s, NULL, &missing, 1, &e), -1);
	assert_non_null(strstr(e.msg, "no platform lost"));
	fake_platform_count = 2;
	assert_int_equal(make_site(&s, NULL, NULL, 0, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.msg, "platform gamma"));
	use_fake(NULL);
}

static char merge[] = "merge", no[] = "no", all[] = "all", fit[] = "fitting";

// The settings of [upstream] and [view both], and which views then omit wheels: (d)efault, (a)lpha, (b)eta, (g)amma,
// b(o)th. Platform gamma has no profile.
static const struct {
	bool merges;
	char *wheels, *default_view, *view_upstream, *view_wheels;
	const char *filtered, *unknown;
} settings[] = {
	{true, NULL, NULL, NULL, NULL, "", ""},
	{true, all, both, NULL, NULL, "", ""},
	{true, fit, NULL, NULL, NULL, "abo", "dg"},
	{true, fit, both, NULL, NULL, "dabo", "g"},
	{true, fit, both, NULL, all, "ab", "g"},
	{true, fit, both, no, fit, "ab", "g"},
	{true, all, both, NULL, fit, "do", ""},
	{true, all, alpha, NULL, fit, "o", ""},
	{false, fit, NULL, merge, NULL, "o", ""},
	{false, fit, gamma_name, merge, NULL, "o", ""},
	{false, fit, both, NULL, fit, "", ""},
};

static void test_wheel_filters(void **state UNUSED)
{
	static const struct profile_keys keys = {"3.11", "x86_64", "glibc 2.36"};
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct err e = ERR_INIT;
		CLEANUP(site_release) struct site s;
		CLEANUP(buf_release) struct buf filtered, unknown;
		struct store store = store_of(3);
		struct config_view v = {.name = both,
			.platforms = both_platforms,
			.platform_count = 2,
			.upstream = settings[i].view_upstream,
			.upstream_wheels = settings[i].view_wheels};
		struct config c = {.default_view = settings[i].default_view,
			.upstreams = {&other_index, 1},
			.views = &v,
			.view_count = 1,
			.upstream_merge = settings[i].merges,
			.upstream_wheels = settings[i].wheels};
		assert_int_equal(profile_init(&store.platform[0].profile, alpha, &keys, &e), 0);
		assert_int_equal(profile_init(&store.platform[1].profile, beta, &keys, &e), 0);
		assert_int_equal(site_init(&s, &c, &store, NULL, &e), 0);
		buf_init(&filtered, 10);
		buf_init(&unknown, 10);
		for (size_t n = 0; n < s.view_count; n++) {
			const struct wheel_filter *f = &s.view[n].wheels;
			if (!wheel_filter_admits(f, "foo-1.0-py3-none-win32.whl"))
				buf_putc(&filtered, "dabgo"[n]);
			if (f->is_enabled && f->unknown)
				buf_putc(&unknown, "dabgo"[n]);
		}
		assert_string_equal(filtered.data, settings[i].filtered);
		assert_string_equal(unknown.data, settings[i].unknown);
	}
}

static const struct {
	const char *view, *project, *files;
} listings[] = {
	{"", "numpy", "gamma/numpy-1.9-c.whl=0 alpha/numpy-1.10-a.whl=1 beta/numpy-1.10-b.whl=2 "},
	{"both", "numpy", "beta/numpy-1.10-a.whl=2 beta/numpy-1.10-b.whl=2 "},
	{"alpha", "numpy", "alpha/numpy-1.10-a.whl=1 "},
	{"gamma", "numpy", "gamma/numpy-1.9-c.whl=0 gamma/numpy-1.10-b.whl=3 "},
	{"", "cffi", "alpha/cffi-1.0.2-2.tar.gz=0 gamma/cffi-1.1-a.whl=0 "},
	{"", "nothing", ""},
	{"alpha", "attrs", ""},
};

static void test_merged_files(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(site_release) struct site s;
	struct config_view v = {.name = both, .platforms = both_platforms, .platform_count = 2};
	assert_int_equal(make_site(&s, NULL, &v, 1, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(listings); i++) {
		CLEANUP(buf_release) struct buf got;
		buf_init(&got, 1000);
		const struct view *view = site_view(&s, str_from(listings[i].view));
		assert_int_equal(view_files(view, NULL, listings[i].project, add_file, &got, &e), 0);
		assert_string_equal(got.data, listings[i].files);
	}
}

// A promoted numpy of alpha, of beta one with bytes that it no longer has, and one that was demoted in generation 2.
static const struct fake_member members[] = {
	{.platform = 1, .filename = "numpy-1.10-a.whl", .sha = 1, .since = 1},
	{.platform = 2, .filename = "numpy-1.10-a.whl", .sha = 9, .since = 1},
	{.platform = 2, .filename = "numpy-1.10-b.whl", .sha = 2, .since = 1, .until = 2},
	{.platform = 1, .filename = "zope-1-a.whl", .sha = 0, .since = 2},
	{.platform = 2, .filename = "attrs-1.0-py3-none-any.whl", .sha = 0, .since = 3},
};

static const struct {
	const char *view;
	int64_t generation;
	const char *numpy, *projects;
} memberships[] = {
	{"both", 0, "", ""},
	{"both", 1, "alpha/numpy-1.10-a.whl=1 beta/numpy-1.10-b.whl=2 ", "numpy "},
	{"both", 2, "alpha/numpy-1.10-a.whl=1 ", "numpy zope "},
	{"both", GENERATION_NEWEST, "alpha/numpy-1.10-a.whl=1 ", "attrs numpy zope "},
	{"", GENERATION_NEWEST, "alpha/numpy-1.10-a.whl=1 ", "attrs numpy zope "},
	{"one", 1, "beta/numpy-1.10-b.whl=2 ", "numpy "},
	{"one", 2, "", ""},
	{"beta", 2, "beta/numpy-1.10-a.whl=2 beta/numpy-1.10-b.whl=2 ", "attrs cffi numpy "},
};

// A view with a membership shows its members. What it omits hides no file of another platform; platforms show all.
static void test_memberships(void **state)
{
	(void)state;
	static char one[] = "one";
	struct err e = ERR_INIT;
	CLEANUP(site_release) struct site s;
	struct config_view v[] = {
		{.name = both, .from = alpha, .platforms = both_platforms, .platform_count = 2},
		{.name = one, .from = both, .platforms = both_platforms, .platform_count = 1},
	};
	fake_member = members;
	fake_member_count = ARRAY_SIZE(members);
	fake_view.generation = 3;
	assert_int_equal(make_site(&s, both, v, 2, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(memberships); i++) {
		CLEANUP(buf_release) struct buf numpy, projects;
		struct view view = *site_view(&s, str_from(memberships[i].view));
		assert_int_equal(view.generation, GENERATION_NEWEST);
		assert_true(!view.membership == !view.source);
		assert_true(!view.source || strcmp(view.source->name, "alpha") == 0);
		buf_init(&numpy, 1000);
		buf_init(&projects, 1000);
		view.generation = memberships[i].generation;
		assert_int_equal(view_files(&view, NULL, "numpy", add_file, &numpy, &e), 0);
		assert_int_equal(view_projects(&view, NULL, add_name, &projects, &e), 0);
		assert_string_equal(numpy.data, memberships[i].numpy);
		assert_string_equal(projects.data, memberships[i].projects);
	}
	fake_view.generation = 0;
}

// A view of which no generation is known is not taken for empty where a file of its membership is damaged.
static void test_damaged_memberships(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	struct config_view v = {.name = both, .from = alpha, .platforms = both_platforms, .platform_count = 2};
	for (int i = 0; i < 4; i++) {
		CLEANUP(site_release) struct site s;
		struct store store = store_of(3);
		struct config c = {.views = &v, .view_count = 1};
		for (size_t n = 0; n < 3; n++)
			store.platform[n].scanned = CATALOG_SCANNED;
		fake_view = (struct catalog_view){.generation = i / 2, .is_damaged = i % 2};
		assert_int_equal(site_init(&s, &c, &store, NULL, &e), 0);
		const struct view *view = site_view(&s, STR("both"));
		assert_int_equal(site_is_incomplete(&s, view), i == 1);
		assert_int_equal(site_generation(&s, view), i == 1 ? GENERATION_UNKNOWN : i / 2);
		assert_false(site_is_incomplete(&s, site_view(&s, STR("alpha"))));
		assert_int_equal(site_generation(&s, site_view(&s, STR("alpha"))), GENERATION_NEWEST);
		fake_view = (struct catalog_view){.generation = 7};
		assert_int_equal(site_read_generations(&s, NULL, &e), 0);
		assert_int_equal(site_generation(&s, view), 7);
		fake_view.generation = 6;
		assert_int_equal(site_read_generations(&s, NULL, &e), 1);
		fake_view.generation = 7;
		assert_int_equal(site_read_generations(&s, NULL, &e), 0);
		struct view past = *view;
		past.generation = 3;
		assert_int_equal(site_generation(&s, &past), 3);
	}
	fake_view = (struct catalog_view){0};
}

static int check_file_fields(void *ctx, const struct platform *platform, const struct catalog_file *file,
	struct err *e UNUSED)
{
	if (strcmp(file->filename, "numpy-1.10-b.whl") != 0)
		return 0;
	++*(int *)ctx;
	assert_string_equal(platform->name, "beta");
	assert_string_equal(file->version, "1.10");
	assert_string_equal(file->requires_python, ">=3.8");
	assert_true(str_eq(file->version_key, STR("2")));
	assert_int_equal(file->metadata_sha256[31], 7);
	assert_int_equal(file->size, 5);
	assert_int_equal(file->mtime_ns, 9);
	return 0;
}

static void test_merged_fields(void **state)
{
	(void)state;
	struct err e = ERR_INIT;
	CLEANUP(site_release) struct site s;
	int seen = 0;
	assert_int_equal(make_site(&s, NULL, NULL, 0, &e), 0);
	assert_int_equal(view_files(&s.view[0], NULL, "numpy", check_file_fields, &seen, &e), 0);
	assert_int_equal(seen, 1);
}

static void test_merged_projects(void **state)
{
	(void)state;
	static const struct {
		const char *view, *names;
	} cases[] = {{"", "attrs cffi numpy zope "}, {"both", "attrs cffi numpy zope "}, {"alpha", "cffi numpy zope "},
		{"gamma", "cffi numpy "}};
	struct err e = ERR_INIT;
	CLEANUP(site_release) struct site s;
	struct config_view v = {.name = both, .platforms = both_platforms, .platform_count = 2};
	assert_int_equal(make_site(&s, NULL, &v, 1, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(buf_release) struct buf got;
		buf_init(&got, 1000);
		assert_int_equal(view_projects(site_view(&s, str_from(cases[i].view)), NULL, add_name, &got, &e), 0);
		assert_string_equal(got.data, cases[i].names);
	}
}

// Many names on two platforms. Both platforms have every third name.
static void test_many_projects(void **state)
{
	(void)state;
	enum { COUNT = 3000 };
	struct err e = ERR_INIT;
	CLEANUP(site_release) struct site s;
	CLEANUP(buf_release) struct buf got, want;
	struct fake_file *many = xcalloc(2 * COUNT, sizeof(*many));
	char(*name)[16] = xcalloc(COUNT, sizeof(*name));
	buf_init(&got, 1 << 20);
	buf_init(&want, 1 << 20);
	fake_file = many;
	fake_file_count = 0;
	for (size_t i = 0; i < COUNT; i++) {
		snprintf(name[i], sizeof(name[i]), "p%05zu", i);
		join_name(&want, name[i]);
		if (i % 3 != 1)
			many[fake_file_count++] = (struct fake_file){.platform = 1, .project = name[i]};
		if (i % 3 != 2)
			many[fake_file_count++] = (struct fake_file){.platform = 2, .project = name[i]};
	}
	assert_int_equal(make_site(&s, NULL, NULL, 0, &e), 0);
	assert_int_equal(view_projects(&s.view[0], NULL, add_name, &got, &e), 0);
	assert_string_equal(got.data, want.data);
	use_fake(NULL);
	free(many);
	free(name);
}

static int reject_name(void *ctx UNUSED, const char *name, struct err *e)
{
	return err_set(e, ERR_LIMIT, "enough at %s", name);
}

static int reject_file(void *ctx UNUSED, const struct platform *p UNUSED, const struct catalog_file *f, struct err *e)
{
	return err_set(e, ERR_LIMIT, "enough at %s", f->filename);
}

// Errors of the callback and of the catalog are returned, with one platform and with several.
static void test_failures(void **state)
{
	(void)state;
	static const char *const names[] = {"", "alpha"};
	CLEANUP(site_release) struct site s;
	struct err e = ERR_INIT;
	assert_int_equal(make_site(&s, NULL, NULL, 0, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct view *v = site_view(&s, str_from(names[i]));
		assert_int_equal(view_files(v, NULL, "zope", reject_file, NULL, &e), -1);
		assert_string_equal(e.msg, "enough at zope-1-a.whl");
		assert_int_equal(view_projects(v, NULL, reject_name, NULL, &e), -1);
		assert_int_equal(e.kind, ERR_LIMIT);
		fake_fails = true;
		assert_int_equal(view_files(v, NULL, "zope", reject_file, NULL, &e), -1);
		assert_int_equal(e.kind, ERR_DB);
		assert_int_equal(view_projects(v, NULL, reject_name, NULL, &e), -1);
		assert_int_equal(e.kind, ERR_DB);
		fake_fails = false;
	}
}

// The scan states of alpha and beta, and whether the view of both is complete, without and with partial = yes.
static const struct {
	enum catalog_scanned alpha, beta;
	bool is_complete, is_complete_in_part;
} scans[] = {
	{CATALOG_SCANNED, CATALOG_SCANNED, true, true},
	{CATALOG_SCANNED, CATALOG_UNREADABLE, false, true},
	{CATALOG_SCANNED, CATALOG_NOT_TRIED, true, true}, // just added: the view is served without it
	{CATALOG_NOT_TRIED, CATALOG_NOT_TRIED, false, false},
	{CATALOG_NOT_TRIED, CATALOG_UNREADABLE, false, false},
	{CATALOG_UNREADABLE, CATALOG_UNREADABLE, false, false},
};

static void test_incomplete_views(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(scans); i++) {
		struct err e = ERR_INIT;
		CLEANUP(site_release) struct site s;
		struct config_view v = {
			.name = both, .platforms = both_platforms, .platform_count = 2, .is_partial = i % 2};
		struct config c = {.views = &v, .view_count = 1};
		struct store store = store_of(2);
		store.platform[0].scanned = scans[i / 2].alpha;
		store.platform[1].scanned = scans[i / 2].beta;
		assert_int_equal(site_init(&s, &c, &store, NULL, &e), 0);
		assert_int_equal(!site_view(&s, STR("both"))->is_incomplete,
			i % 2 ? scans[i / 2].is_complete_in_part : scans[i / 2].is_complete);
		assert_int_equal(!site_view(&s, STR("beta"))->is_incomplete, scans[i / 2].beta == CATALOG_SCANNED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_default_views),
		cmocka_unit_test(test_bad_sites),
		cmocka_unit_test(test_wheel_filters),
		cmocka_unit_test(test_incomplete_views),
		cmocka_unit_test(test_merged_files),
		cmocka_unit_test(test_memberships),
		cmocka_unit_test(test_damaged_memberships),
		cmocka_unit_test(test_merged_fields),
		cmocka_unit_test(test_merged_projects),
		cmocka_unit_test(test_many_projects),
		cmocka_unit_test(test_failures),
	};
	return cmocka_run_group_tests(tests, use_fake, NULL);
}
