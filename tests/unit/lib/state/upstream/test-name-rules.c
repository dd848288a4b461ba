// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/owned-names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
		if (name_rules_find(&r, row[i].project) != row[i].rule)
			fail_msg("%s: %s", row[i].project, name_rule_text[name_rules_find(&r, row[i].project)]);
	name_rules_release(&r);
}

static void without_lists_all_is_merged(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct name_rules r;
	config_init(&c);
	name_rules_init(&r, &c);
	assert_int_equal(name_rules_find(&r, "six"), NAME_RULE_MERGE);
	name_rules_release(&r);
}

static void names_that_are_not_to_be_heard_of(void **state UNUSED)
{
	for (int i = 0; i < NAME_RULE_COUNT; i++)
		assert_int_equal(name_rule_asks_upstream((enum name_rule)i),
			i != NAME_RULE_PRIVATE && i != NAME_RULE_LOCAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_name_has_its_rule),
		cmocka_unit_test(without_lists_all_is_merged),
		cmocka_unit_test(names_that_are_not_to_be_heard_of),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
