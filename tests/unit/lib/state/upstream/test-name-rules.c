// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/owned-names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"

static void fill(struct config *c, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (config_set(c, "upstream", key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

static void each_name_has_its_rule(void **state UNUSED)
{
	static const struct {
		const char *project;
		enum name_rule rule;
	} row[] = {
		{"acme", NAME_RULE_PRIVATE},
		{"acme-core", NAME_RULE_PRIVATE},
		{"acm", NAME_RULE_MERGE},
		{"my-acme-core", NAME_RULE_MERGE},
		{"zope-interface", NAME_RULE_PRIVATE},
		{"zopeinterface", NAME_RULE_MERGE},
		{"tool", NAME_RULE_LOCAL},
		{"tools", NAME_RULE_MERGE},
		{"six", NAME_RULE_UPSTREAM},
		{"both", NAME_RULE_LOCAL}, // the first list
		{"shared-lib", NAME_RULE_SHARED},
		{"anything", NAME_RULE_MERGE},
	};
	CLEANUP(config_release) struct config c;
	struct name_rules r;
	config_init(&c);
	fill(&c, "private", "acme Acme_* zope.interface");
	fill(&c, "local-only", "tool both");
	fill(&c, "upstream-only", "Six both");
	fill(&c, "shared", "shared?lib");
	name_rules_init(&r, &c);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (name_rules_find(&r, 0, row[i].project) != row[i].rule)
			fail_msg("%s: %s", row[i].project, name_rule_text[name_rules_find(&r, 0, row[i].project)]);
	name_rules_release(&r);
}

static void without_lists_all_is_merged(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct name_rules r;
	config_init(&c);
	name_rules_init(&r, &c);
	assert_int_equal(name_rules_find(&r, 0, "six"), NAME_RULE_MERGE);
	name_rules_release(&r);
}

static void set(struct config *c, const char *section, const char *key, const char *value)
{
	struct err e = ERR_INIT;
	if (config_set(c, section, key, value, &e) < 0)
		fail_msg("%s", e.msg);
}

// The plain section's private names are private at each; the order keeps who may be asked.
static void each_upstream_has_its_rules(void **state UNUSED)
{
	static const struct {
		const char *project, *asked;
		enum name_rule rule;
	} row[] = {
		{"six", "2 ", NAME_RULE_MERGE},
		{"torch", "1 2 ", NAME_RULE_MERGE},
		{"torch-x", "1 ", NAME_RULE_SHARED},
		{"acme-a", "0 ", NAME_RULE_MERGE},
		{"acme-secret", "", NAME_RULE_PRIVATE},
		{"both-torch", "1 2 ", NAME_RULE_UPSTREAM},
		{"shared-all", "2 ", NAME_RULE_SHARED},
		{"nobodys", "", NAME_RULE_NOT_ASKED},
	};
	CLEANUP(config_release) struct config c;
	struct name_rules r;
	config_init(&c);
	set(&c, "upstream", "private", "*-secret");
	set(&c, "upstream company", "url", "http://a/");
	set(&c, "upstream company", "projects", "ACME_*");
	set(&c, "upstream pytorch", "url", "http://b/");
	set(&c, "upstream pytorch", "projects", "*torch*");
	set(&c, "upstream pytorch", "shared", "torch-x");
	set(&c, "upstream pytorch", "upstream-only", "both-torch");
	set(&c, "upstream pypi", "url", "http://c/");
	set(&c, "upstream pypi", "not-projects", "acme-* torch-x nobodys");
	set(&c, "upstream pypi", "private", "acme-x");
	set(&c, "upstream pypi", "shared", "shared-*");
	name_rules_init(&r, &c);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++) {
		CLEANUP(buf_release) struct buf asked = buf_up_to(100);
		struct config_order order = {.item = {0, 1, 2}, .count = 3};
		enum name_rule rule = name_rules_admit(&r, row[i].project, &order);
		for (size_t k = 0; k < order.count; k++)
			buf_printf(&asked, "%d ", order.item[k]);
		if (rule != row[i].rule || strcmp(asked.len ? asked.data : "", row[i].asked) != 0)
			fail_msg("%s: %s, asked: %s", row[i].project, name_rule_text[rule], asked.len ? asked.data : "");
	}
	name_rules_release(&r);
}

static void names_that_are_not_to_be_heard_of(void **state UNUSED)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		assert_int_equal(name_rule_asks_upstream((enum name_rule)i),
			i != NAME_RULE_PRIVATE && i != NAME_RULE_LOCAL && i != NAME_RULE_NOT_ASKED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_has_its_rule),
		cmocka_unit_test(without_lists_all_is_merged),
		cmocka_unit_test(each_upstream_has_its_rules),
		cmocka_unit_test(names_that_are_not_to_be_heard_of),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
