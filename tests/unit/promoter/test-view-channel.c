// SPDX-License-Identifier: Apache-2.0
#include "promoter/view-channel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/support/channel-store.h"

enum { NOW = 1800000000, DAY = 86400 };

#define FOO(version, tags) "foo-" version "-" tags ".whl"
#define ON_311 "cp311-cp311-manylinux_2_36_x86_64"
#define ON_312 "cp312-cp312-manylinux_2_36_x86_64"

// A project in a view: "1.1 newest 9d, 1.0 ends 9d; debian/3.11 1.1 current, …".
static void print_channel(const struct view_channel *c, const struct view_channel_project *p, struct buf *out)
{
	const struct fits_place *at;
	size_t count = view_channel_environments(c, &at);
	for (size_t i = 0; i < p->versions; i++) {
		const struct view_channel_version *v = &p->version[i];
		buf_printf(out, "%s%s %s %lldd%s", i ? ", " : "", v->version, view_channel_decision_name[v->decision],
			v->came ? (long long)((NOW - v->came) / DAY) : -1LL, v->is_warned ? "!" : "");
	}
	buf_putc(out, ';');
	for (size_t i = 0; i < count; i++)
		buf_printf(out, " %.3s/%s %s %s", at[i].platform->name, at[i].python,
			p->cell[i].last ? p->cell[i].last->version : "-", view_channel_state_name[p->cell[i].state]);
}

static void assert_channel(struct channel_store *s, const char *view, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(view_channel_cleanup) struct view_channel *c = NULL;
	CLEANUP(view_channel_project_release) struct view_channel_project p = {0};
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 4096);
	const struct view *v = site_view(&s->site, str_from(view));
	if (view_channel_open(&s->site, v, s->catalog, NOW, &c, &e) < 0 || view_channel_read(c, "foo", &p, &e) < 0)
		fail_msg("%s", e.msg);
	print_channel(c, &p, &out);
	assert_string_equal(out.data, expected);
}

static void each_environment_has_its_last_version(void **state)
{
	struct channel_store *s = *state;
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.10", ON_312), NOW - 1 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.9", ON_311), NOW - 40 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.8", ON_311), NOW - 50 * DAY);
	channel_store_open(s, "");
	// a wheel of one platform installs on the other; staging has no rules
	assert_channel(s, "staging",
		"1.10 no-rule 1d, 1.9 no-rule 40d, 1.8 no-rule 50d;"
		" deb/3.11 1.9 behind deb/3.12 1.10 current ubu/3.12 1.10 current");
}

static void member_is_as_old_as_its_promotion(void **state)
{
	struct channel_store *s = *state;
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.10", ON_312), NOW - 90 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.9", ON_311), NOW - 91 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.8", ON_312), NOW - 92 * DAY);
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.7", ON_312), NOW - 93 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, FOO("1.7", ON_312), NOW - 35 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, FOO("1.9", ON_311), NOW - 31 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, FOO("1.8", ON_312), NOW - 28 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, FOO("1.10", ON_312), NOW - 2 * DAY);
	channel_store_open(s, "keep-versions = 1\nkeep-days = 30\nwarn-days = 3\n");
	assert_channel(s, "tested",
		"1.10 newest 2d, 1.9 last 31d, 1.8 young 28d!, 1.7 ends 35d;"
		" deb/3.11 1.9 stale deb/3.12 1.10 current ubu/3.12 1.10 current");
	channel_store_change(s, "demote", CHANNEL_DEBIAN, FOO("1.10", ON_312), NOW - 1 * DAY);
	channel_store_open(s, "keep-versions = 1\nkeep-days = 30\n");
	assert_channel(s, "tested",
		"1.9 newest 31d, 1.8 last 28d, 1.7 ends 35d;"
		" deb/3.11 1.9 stale deb/3.12 1.8 behind ubu/3.12 1.8 behind");
}

static void without_an_age_places_decide_what_is_stale(void **state)
{
	struct channel_store *s = *state;
	static const char *const files[] = {FOO("1.2", ON_312), FOO("1.1", ON_312), FOO("1.0", ON_311)};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		channel_store_wheel(s, CHANNEL_DEBIAN, files[i], NOW - 90 * DAY);
		channel_store_change(s, "promote", CHANNEL_DEBIAN, files[i], NOW - 90 * DAY);
	}
	channel_store_open(s, "keep-versions = 2\n");
	assert_channel(s, "tested",
		"1.2 newest 90d, 1.1 newest 90d, 1.0 last 90d;"
		" deb/3.11 1.0 stale deb/3.12 1.2 current ubu/3.12 1.2 current");
}

static void assert_doubt(struct channel_store *s, const char *view, int64_t now, const char *expected)
{
	struct err e = ERR_INIT;
	CLEANUP(view_channel_cleanup) struct view_channel *c = NULL;
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, 4096);
	assert_int_equal(view_channel_open(&s->site, site_view(&s->site, str_from(view)), s->catalog, now, &c, &e), 0);
	int doubt = view_channel_find_doubt(c, &why, &e);
	assert_int_equal(doubt, expected != NULL);
	assert_string_equal(why.len ? why.data : "", expected ? expected : "");
}

static void nothing_ends_in_doubt(void **state)
{
	struct channel_store *s = *state;
	channel_store_wheel(s, CHANNEL_DEBIAN, FOO("1.0", ON_312), NOW - 2 * DAY);
	channel_store_change(s, "promote", CHANNEL_DEBIAN, FOO("1.0", ON_312), NOW - 2 * DAY);
	channel_store_open(s, "keep-days = 30\n");
	for (size_t i = 0; i < s->site.view_count; i++)
		s->site.view[i].is_incomplete = false;
	s->site.store.platform[0].scanned = CATALOG_SCANNED;
	s->site.store.platform[1].scanned = CATALOG_UNREADABLE;
	assert_doubt(s, "tested", NOW, "platform " CHANNEL_UBUNTU ": the last scan could not read all of it");
	s->site.store.platform[1].scanned = CATALOG_SCANNED;
	s->site.store.platform[1].is_away = true;
	assert_doubt(s, "tested", NOW, "platform " CHANNEL_UBUNTU ": its folder does not answer");
	s->site.store.platform[1].is_away = false;
	assert_doubt(s, "tested", NOW, NULL);
	assert_doubt(s, "tested", NOW + 3000 * (int64_t)DAY, NULL);
	assert_doubt(s, "tested", NOW + 7300 * (int64_t)DAY,
		"the time, 2047-01-10T08:00:00Z, cannot be right: between it and 2027-01-13T08:00:00Z no file came");
	assert_doubt(s, "staging", NOW + 7300 * (int64_t)DAY, NULL); // it has no age
}

static void platform_is_no_channel(void **state)
{
	struct channel_store *s = *state;
	struct err e = ERR_INIT;
	struct view_channel *c = NULL;
	channel_store_open(s, "");
	assert_int_equal(view_channel_open(&s->site, site_view(&s->site, STR(CHANNEL_DEBIAN)), s->catalog, NOW, &c, &e),
		-1);
	assert_int_equal(e.kind, ERR_USAGE);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, channel_store_set_up, channel_store_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(each_environment_has_its_last_version),
		WITH_STORE(member_is_as_old_as_its_promotion),
		WITH_STORE(without_an_age_places_decide_what_is_stale),
		WITH_STORE(nothing_ends_in_doubt),
		WITH_STORE(platform_is_no_channel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
