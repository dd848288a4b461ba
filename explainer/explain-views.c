// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-views.h"

#include <inttypes.h>
#include <string.h>

#include "lib/state/config/promotion-rules.h"

static int64_t number_of(const struct jsondoc *doc, const char *key)
{
	int64_t n = 0;
	jsondoc_get_int(doc, key, &n);
	return n;
}

// Which other bytes a record is about.
static void print_tested(const struct jsondoc *r, struct buf *out)
{
	const char *tested = jsondoc_get_str(r, "tested");
	enum promotion_match as = promotion_match_find(jsondoc_get_str(r, "as"));
	if (!tested || as == PROMOTION_MATCH_COUNT)
		return;
	buf_puts(out, ", ");
	promotion_tested_words(as, tested, out);
}

static void print_record(const struct jsondoc *r, const char *indent, struct buf *out)
{
	const char *override = jsondoc_get_str(r, "override");
	buf_printf(out, "%s  %s on %s, Python %s: ", indent, jsondoc_get_str(r, "kind"), jsondoc_get_str(r, "platform"),
		jsondoc_get_str(r, "python"));
	if (override)
		buf_printf(out, "overridden: %s", override);
	else
		buf_printf(out, "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped", number_of(r, "passed"),
			number_of(r, "failed"), number_of(r, "skipped"));
	const char *by = jsondoc_get_str(r, "by");
	buf_printf(out, "%s%s%s", by ? " (" : "", by ? by : "", by ? ")" : "");
	print_tested(r, out);
	buf_putc(out, '\n');
}

// The reason of a red one names kind and cell itself.
static void print_lack(const struct jsondoc *lack, const char *indent, struct buf *out)
{
	const char *why = jsondoc_get_str(lack, "why"), *result = jsondoc_get_str(lack, "result");
	bool names_all = why && strcmp(result, "untested") != 0;
	buf_printf(out, "%s  %s: ", indent, result);
	if (!names_all)
		buf_printf(out, "%s on %s, Python %s", jsondoc_get_str(lack, "kind"), jsondoc_get_str(lack, "platform"),
			jsondoc_get_str(lack, "python"));
	buf_printf(out, "%s%s", why && !names_all ? ": " : "", why ? why : "");
	print_tested(lack, out);
	buf_putc(out, '\n');
}

static void print_member(const struct jsondoc *m, const char *indent, struct buf *out)
{
	const char *made = jsondoc_get_str(m, "made"), *reason = jsondoc_get_str(m, "reason");
	const struct jsondoc *evidence = jsondoc_get(m, "evidence");
	buf_printf(out, "%sin %s since generation %" PRId64, indent, jsondoc_get_str(m, "view"),
		number_of(m, "generation"));
	if (made)
		buf_printf(out, " of %s, %s", made, jsondoc_get_str(m, "action"));
	if (made && jsondoc_get_str(m, "by"))
		buf_printf(out, " by %s", jsondoc_get_str(m, "by"));
	buf_printf(out, "%s%s\n", reason ? ": " : "", reason ? reason : "");
	for (size_t i = 0; evidence && i < jsondoc_count(evidence); i++)
		print_record(jsondoc_at(evidence, i), indent, out);
}

// Without a reason the view is that of an earlier time, and the views above are those of today.
static void print_outsider(const struct jsondoc *m, const char *indent, struct buf *out)
{
	const char *why = jsondoc_get_str(m, "why");
	const struct jsondoc *lacks = jsondoc_get(m, "lacks");
	buf_printf(out, "%snot in %s%s%s\n", indent, jsondoc_get_str(m, "view"), why ? ": " : " at that time",
		why ? why : "");
	for (size_t i = 0; lacks && i < jsondoc_count(lacks); i++)
		print_lack(jsondoc_at(lacks, i), indent, out);
}

void explain_views_text(const struct jsondoc *row, const char *indent, struct buf *out)
{
	const struct jsondoc *views = jsondoc_get(row, "views"), *m = jsondoc_get(row, "membership");
	if (views)
		buf_printf(out, "%sin the views", indent);
	for (size_t i = 0; views && i < jsondoc_count(views); i++)
		buf_printf(out, "%s %s", i ? "," : "", jsondoc_at_str(views, i));
	buf_puts(out, views ? "\n" : "");
	if (m && jsondoc_is_true(m, "member"))
		print_member(m, indent, out);
	else if (m)
		print_outsider(m, indent, out);
}
