// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-wheel.h"

#include "lib/audit/audit-checks.h"

static void add_of_rule(void *ctx, enum audit_code code, enum audit_level level, const char *rule, const char *member,
	const char *why)
{
	audit_report_add(ctx, (struct audit_finding){code, level, member, rule, why});
}

void audit_wheel(const struct wheel_facts *facts, const struct filename *name, const struct audit_options *options,
	struct audit_report *out)
{
	CLEANUP(audit_rules_cleanup)
	struct audit_rules *rules = audit_rules_new(options->policy, name->project, options->platform);
	CLEANUP(audit_work_release) struct audit_work w = {.rules = rules, .offer = options->offer, .report = out};
	*out = (struct audit_report){0};
	audit_work_init(&w, facts, name);
	audit_check_machines(&w);
	audit_check_tag(&w);
	audit_check_libraries(&w);
	audit_check_paths(&w);
	audit_check_abi3(&w);
	audit_check_marks(&w);
	audit_check_twins(&w);
	audit_check_members(&w);
	audit_rules_apply(rules, facts, add_of_rule, out);
	audit_report_finish(out);
}
