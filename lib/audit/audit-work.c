// SPDX-License-Identifier: Apache-2.0
#include "lib/audit/audit-work.h"

enum { LISTED = 3, NAME_SHOWN = 200 };

void audit_find(struct audit_work *w, enum audit_code code, const char *member, const char *why, ...)
{
	enum audit_level level = audit_rules_level(w->rules, code, member);
	if (level == AUDIT_OFF)
		return;
	va_list ap;
	va_start(ap, why);
	CLEANUP(mem_free) char *text = xvasprintf(why, ap);
	va_end(ap);
	audit_report_add(w->report, (struct audit_finding){code, level, member, NULL, text});
}

void audit_list_name(struct buf *list, size_t n, const char *name)
{
	if (n < LISTED)
		buf_printf(list, "%s" STR_FMT, n ? ", " : "", STR_ARG(str_head(str_from(name), NAME_SHOWN)));
}

void audit_list_end(struct buf *list, size_t count)
{
	if (count > LISTED)
		buf_printf(list, " and %zu more", count - LISTED);
}
