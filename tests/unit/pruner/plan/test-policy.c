// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pruner/plan/verdict.h"

static char folder[] = "test-policy.XXXXXX";

static int make_folder(void **state UNUSED)
{
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state UNUSED)
{
	CLEANUP(mem_free) char *command = xasprintf("rm -r '%s'", folder);
	return chdir("..") == 0 ? system(command) : -1;
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

// What a policy is made from.
struct setup {
	struct config config;
	struct platform platform[2];
	struct store store;
	struct policy_takes takes;
};

static void set(struct setup *s, const char *section, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (config_set(&s->config, section, key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

static void set_pythons(struct platform *p, const char *pythons)
{
	struct err e = ERR_INIT;
	profile_release(&p->profile);
	assert_int_equal(profile_init(&p->profile, "", &(struct profile_keys){pythons, "x86_64", "glibc 2.36"}, &e), 0);
}

static void setup_init(struct setup *s)
{
	static char first[] = "debian-12-x86_64", second[] = "wheels";
	*s = (struct setup){.platform = {{.name = first}, {.name = second}}};
	config_init(&s->config);
	s->store = (struct store){.platform = s->platform, .platform_count = 2};
	set_pythons(&s->platform[0], "3.11");
	write_file("packages", "six keep everybody has it\n");
	write_file("pins", "idna===3.20\n");
	set(s, "prune", "packages", "packages");
	set(s, "prune", "constraints", "pins");
}

static void setup_release(struct setup *s)
{
	config_release(&s->config);
	profile_release(&s->platform[0].profile);
}

static void read_policy(struct setup *s, struct policy *p)
{
	struct err e = ERR_INIT;
	if (policy_init(p, &s->config, &s->store, &s->takes, &e) < 0)
		fail_msg("%s", e.msg);
}

static void what_is_written_is_read(void **state UNUSED)
{
	CLEANUP(setup_release) struct setup s;
	CLEANUP(policy_release) struct policy p;
	setup_init(&s);
	write_file("more", "six==1\n");
	set(&s, "prune", "constraints", "pins more");
	set(&s, "prune", "downloaded", "30d");
	s.takes.off_list = true;
	read_policy(&s, &p);
	assert_int_equal(p.min_age, 2 * 86400);
	assert_int_equal(p.upstream_min_age, 86400);
	assert_int_equal(p.downloaded, 30 * 86400);
	assert_true(p.has_packages && p.takes.off_list && !p.takes.pure);
	assert_int_equal(p.packages.count, 1);
	assert_int_equal(p.pins.count, 2);
	assert_string_equal(p.pins.item[0].source, "pins:1");
	assert_string_equal(p.pins.item[1].source, "more:1");
	assert_int_equal(strlen(p.hash), SHA256_HEX);
}

static void change_age(struct setup *s)
{
	set(s, "prune", "min-age", "3d");
}

static void change_upstream_age(struct setup *s)
{
	set(s, "prune", "upstream-min-age", "2d");
}

static void change_downloaded(struct setup *s)
{
	set(s, "prune", "downloaded", "1d");
}

static void change_trust(struct setup *s)
{
	set(s, "upstream", "trust-404", "yes");
}

static void change_upstream(struct setup *s)
{
	set(s, "upstream", "url", "http://127.0.0.1/simple/");
}

static void change_private(struct setup *s)
{
	set(s, "upstream", "private", "acme-*");
}

static void change_local_only(struct setup *s)
{
	set(s, "upstream", "local-only", "acme-*");
}

static void change_shared(struct setup *s)
{
	set(s, "upstream", "shared", "acme-*");
}

static void change_packages(struct setup *s UNUSED)
{
	write_file("packages", "six keep everybody has it \n");
}

static void change_pins(struct setup *s UNUSED)
{
	write_file("pins", "idna===3.21\n");
}

static void change_pythons(struct setup *s)
{
	set_pythons(&s->platform[0], "3.11 3.12");
}

static void change_platforms(struct setup *s)
{
	s->store.platform_count = 1;
}

static void take_pure(struct setup *s)
{
	s->takes.pure = true;
}

static void take_off_list(struct setup *s)
{
	s->takes.off_list = true;
}

static void take_unusable(struct setup *s)
{
	s->takes.unusable = true;
}

static void take_corrupt(struct setup *s)
{
	s->takes.corrupt = true;
}

// A plan is applied under the policy that it was made under.
static void whatever_decides_is_in_the_hash(void **state UNUSED)
{
	static void (*const changes[])(struct setup * s) = {change_age, change_upstream_age, change_downloaded,
		change_trust, change_upstream, change_private, change_local_only, change_shared, change_packages,
		change_pins, change_pythons, change_platforms, take_pure, take_off_list, take_unusable, take_corrupt};
	char seen[ARRAY_SIZE(changes) + 1][SHA256_HEX + 1];
	for (size_t i = 0; i <= ARRAY_SIZE(changes); i++) {
		CLEANUP(setup_release) struct setup s;
		CLEANUP(policy_release) struct policy p;
		setup_init(&s);
		if (i < ARRAY_SIZE(changes))
			changes[i](&s);
		read_policy(&s, &p);
		memcpy(seen[i], p.hash, sizeof(p.hash));
		for (size_t k = 0; k < i; k++)
			if (strcmp(seen[i], seen[k]) == 0)
				fail_msg("changes %zu and %zu give the same hash", k, i);
	}
}

static void change_caps(struct setup *s)
{
	set(s, "prune", "max-files", "90%");
	set(s, "prune", "max-bytes", "90%");
	set(s, "prune", "max-failures", "90%");
	set(s, "prune", "grace", "90d");
}

static void other_keys_are_not_in_the_hash(void **state UNUSED)
{
	CLEANUP(setup_release) struct setup s;
	CLEANUP(policy_release) struct policy before, after;
	setup_init(&s);
	read_policy(&s, &before);
	change_caps(&s);
	read_policy(&s, &after);
	assert_string_equal(before.hash, after.hash);
}

static void lists_that_cannot_be_read(void **state UNUSED)
{
	static const struct {
		const char *key, *value;
		enum err_kind kind;
		const char *words;
	} rows[] = {
		{"packages", "missing", ERR_NOT_FOUND, "[prune] packages: "},
		{"constraints", "pins missing", ERR_NOT_FOUND, "[prune] constraints: "},
		{"packages", "bad", ERR_USAGE, "[prune] packages: bad:2: "},
		{"constraints", "pins bad", ERR_USAGE, "[prune] constraints: bad:2: "},
		{"constraints", "pins empty", ERR_USAGE, "[prune] constraints: empty: it pins nothing"},
	};
	write_file("empty", "# nothing came\n");
	write_file("bad", "six\n-e six\n");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CLEANUP(setup_release) struct setup s;
		struct policy p;
		struct err e = ERR_INIT;
		setup_init(&s);
		set(&s, "prune", rows[i].key, rows[i].value);
		assert_int_equal(policy_init(&p, &s.config, &s.store, &s.takes, &e), -1);
		assert_int_equal(e.kind, rows[i].kind);
		if (strncmp(e.msg, rows[i].words, strlen(rows[i].words)) != 0)
			fail_msg("%s", e.msg);
	}
}

// Otherwise, without a configured list, everything that upstream does not have would be removed.
static void without_a_list_nothing_is_off_it(void **state UNUSED)
{
	struct setup s = {.takes = {.off_list = true}};
	struct policy p;
	struct err e = ERR_INIT;
	config_init(&s.config);
	assert_int_equal(policy_init(&p, &s.config, &s.store, &s.takes, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	write_file("empty", "# nothing yet\n");
	set(&s, "prune", "packages", "empty");
	assert_int_equal(policy_init(&p, &s.config, &s.store, &s.takes, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	s.takes.off_list = false;
	assert_int_equal(policy_init(&p, &s.config, &s.store, &s.takes, &e), 0);
	policy_release(&p);
	config_release(&s.config);
}

// A purge enables the class of the tombstone's verdict, apply the classes of the plan.
static void each_class_has_its_switch(void **state UNUSED)
{
	const struct {
		enum verdict_kind kind;
		struct policy_takes takes;
	} row[] = {
		{VERDICT_PURE, {.pure = true}},
		{VERDICT_OFF_LIST, {.off_list = true}},
		{VERDICT_UNUSABLE, {.unusable = true}},
		{VERDICT_CORRUPT, {.corrupt = true}},
	};
	assert_int_equal(ARRAY_SIZE(row), POLICY_CLASSES);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		struct policy_takes takes = {false};
		bool *class = policy_takes_class(&takes, verdict_name[row[i].kind]);
		assert_non_null(class);
		assert_string_equal(policy_class[i], verdict_name[row[i].kind]);
		*class = true;
		assert_memory_equal(&takes, &row[i].takes, sizeof(takes));
	}
	assert_null(policy_takes_class(&(struct policy_takes){false}, verdict_name[VERDICT_DUPLICATE]));
}

// A catalog without download counts.
static void uncounted_files_count_as_downloaded(void **state UNUSED)
{
	struct policy p = {.downloaded = 30 * 86400};
	struct downloads *d = NULL;
	struct err e = ERR_INIT;
	assert_int_equal(policy_open_downloads(&p, NULL, "no-catalog", &d, &e), 0);
	assert_null(d);
	assert_true(policy_was_downloaded(&p, d, "p", "six-1.0-py3-none-any.whl", 1800000000));
	p.downloaded = 0; // downloads do not matter
	assert_int_equal(policy_open_downloads(&p, NULL, "no-catalog", &d, &e), 0);
	assert_false(policy_was_downloaded(&p, d, "p", "six-1.0-py3-none-any.whl", 1800000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(whatever_decides_is_in_the_hash),
		cmocka_unit_test(other_keys_are_not_in_the_hash),
		cmocka_unit_test(lists_that_cannot_be_read),
		cmocka_unit_test(without_a_list_nothing_is_off_it),
		cmocka_unit_test(each_class_has_its_switch),
		cmocka_unit_test(uncounted_files_count_as_downloaded),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
