// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-names.h"

#include "lib/domain/index/simplepage.h"

static const struct {
	const char *files, *why;
} by_rule[NAME_RULE_COUNT] = {
	[NAME_RULE_MERGE] = {"both", "no rule applies"},
	[NAME_RULE_PRIVATE] = {"here", "[upstream] private: upstream is never asked for it"},
	[NAME_RULE_LOCAL] = {"here", "[upstream] local-only: upstream is not asked for it"},
	[NAME_RULE_UPSTREAM] = {"upstream", "[upstream] upstream-only"},
	[NAME_RULE_SHARED] = {"both", "[upstream] shared: always merged"},
};

const char explain_names_kept_out[] =
	"a platform of the source has the project, so its files come into the view by promotion "
	"alone; [upstream] shared would merge it";

// Describes upstream's project under a name that is ours.
static struct jsondoc *taken_doc(const struct simplepage *page, int64_t fetched)
{
	struct jsondoc *out = jsondoc_object();
	int64_t since = 0;
	for (size_t i = 0; i < page->files; i++)
		if (page->file[i].uploaded && (!since || page->file[i].uploaded < since))
			since = page->file[i].uploaded;
	jsondoc_put_int(out, "files", (int64_t)page->files);
	jsondoc_put_known_time(out, "since", since);
	jsondoc_put_known_time(out, "fetched", fetched);
	return out;
}

struct jsondoc *explain_names(const struct explain_names *names)
{
	struct jsondoc *out = jsondoc_object();
	bool is_first = names->rule == NAME_RULE_MERGE && names->is_ours;
	const char *files = by_rule[names->rule].files, *why = by_rule[names->rule].why;
	if (!names->merges) {
		files = "here";
		why = "the view does not merge";
	} else if (is_first) {
		files = "here";
		why = "upstream did not know the name when its first file came here; [upstream] shared would merge it";
	} else if (names->is_kept_out) {
		files = "here";
		why = explain_names_kept_out;
	}
	jsondoc_put_str(out, "rule", name_rule_text[names->rule]);
	jsondoc_put_bool(out, "ours", names->is_ours);
	jsondoc_put_str(out, "files", files);
	jsondoc_put_str(out, "why", why);
	if (is_first && names->answer->stale)
		jsondoc_put(out, "taken", taken_doc(names->answer->stale, names->answer->fetched));
	return out;
}
