// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/name-rules.h"

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
		enum rule rule;
	} row[] = {
		{"acme", RULE_PRIVATE},
		{"acme-core", RULE_PRIVATE},
		{"acm", RULE_MERGE},
		{"my-acme-core", RULE_MERGE},
		{"zope-interface", RULE_PRIVATE},
		{"zopeinterface", RULE_MERGE},
		{"tool", RULE_LOCAL},
		{"tools", RULE_MERGE},
		{"six", RULE_UPSTREAM},
		{"both", RULE_LOCAL}, // the first list
		{"shared-lib", RULE_SHARED},
		{"anything", RULE_MERGE},
	};
	CLEANUP(config_release) struct config c;
	struct rules r;
	config_init(&c);
	fill(&c, "private", "acme Acme_* zope.interface");
	fill(&c, "local-only", "tool both");
	fill(&c, "upstream-only", "Six both");
	fill(&c, "shared", "shared?lib");
	rules_init(&r, &c);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (rules_find(&r, row[i].project) != row[i].rule)
			fail_msg("%s: %s", row[i].project, rule_name[rules_find(&r, row[i].project)]);
	rules_release(&r);
}

static void without_lists_all_is_merged(void **state UNUSED)
{
	CLEANUP(config_release) struct config c;
	struct rules r;
	config_init(&c);
	rules_init(&r, &c);
	assert_int_equal(rules_find(&r, "six"), RULE_MERGE);
	rules_release(&r);
}

static void names_that_are_not_to_be_heard_of(void **state UNUSED)
{
	for (int i = 0; i < RULE_COUNT; i++)
		assert_int_equal(rule_asks((enum rule)i), i != RULE_PRIVATE && i != RULE_LOCAL);
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
