// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <string.h>

#include "lib/base/counted.h"
#include "lib/domain/index/simplepage.h"
#include "lib/format/escape.h"
#include "explainer/explain-parts.h"
#include "explainer/explain.h"
#include "lib/state/config/promotion-rules.h"

static const char *or_dash(const char *s)
{
	return s && *s ? s : "-";
}

static void print_padded(struct buf *out, const char *text, size_t width)
{
	buf_printf(out, "%-*s  ", (int)width, text);
}

// The length of the longest string of the rows under a key.
static size_t column_width(const struct jsondoc *rows, const char *key)
{
	size_t width = 0;
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const char *text = jsondoc_get_str(jsondoc_at(rows, i), key);
		if (text && strlen(text) > width)
			width = strlen(text);
	}
	return width;
}

// --- files here ---

static void print_removal(const struct jsondoc *removal, const char *indent, struct buf *out)
{
	const char *verdict = jsondoc_get_str(removal, "verdict"), *run = jsondoc_get_str(removal, "run");
	const struct jsondoc *upstream = jsondoc_get(removal, "upstream");
	const char *by = jsondoc_get_str(removal, "by");
	buf_printf(out, "%sremoved %s%s%s", indent, or_dash(jsondoc_get_str(removal, "when")), by ? " by " : "",
		by ? by : "");
	if (verdict)
		buf_printf(out, ", %s", verdict);
	if (run)
		buf_printf(out, ", in run %s", run);
	buf_putc(out, '\n');
	if (upstream)
		buf_printf(out, "%supstream has %s, %s\n", indent, or_dash(jsondoc_get_str(upstream, "filename")),
			jsondoc_is_true(upstream, "identical") ? "the same bytes" : "other bytes");
}

static void print_planned(const struct jsondoc *plan, const char *indent, struct buf *out)
{
	buf_printf(out, "%sthe last plan: %s, %s: %s\n", indent, or_dash(jsondoc_get_str(plan, "verdict")),
		jsondoc_is_true(plan, "removes") ? "to be removed" : "stays", or_dash(jsondoc_get_str(plan, "reason")));
}

// --- the views of a file ---

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
	for (size_t i = 0; evidence && i < jsondoc_count(evidence); i++) {
		const struct jsondoc *r = jsondoc_at(evidence, i);
		const char *override = jsondoc_get_str(r, "override");
		buf_printf(out, "%s  %s on %s, Python %s: ", indent, jsondoc_get_str(r, "kind"),
			jsondoc_get_str(r, "platform"), jsondoc_get_str(r, "python"));
		if (override)
			buf_printf(out, "overridden: %s", override);
		else
			buf_printf(out, "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped",
				number_of(r, "passed"), number_of(r, "failed"), number_of(r, "skipped"));
		const char *by = jsondoc_get_str(r, "by");
		buf_printf(out, "%s%s%s", by ? " (" : "", by ? by : "", by ? ")" : "");
		print_tested(r, out);
		buf_putc(out, '\n');
	}
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

static void print_file_row(const struct jsondoc *row, size_t platform, size_t state, struct buf *out)
{
	CLEANUP(mem_free) char *indent = xasprintf("%*s", (int)(platform + state + 6), "");
	const char *reason = jsondoc_get_str(row, "reason"), *hidden = jsondoc_get_str(row, "hidden-by");
	const char *denied = jsondoc_get_str(row, "denied");
	buf_puts(out, "  ");
	print_padded(out, jsondoc_get_str(row, "platform"), platform);
	print_padded(out, jsondoc_get_str(row, "state"), state);
	buf_printf(out, "%s\n", jsondoc_get_str(row, "filename"));
	if (denied)
		buf_printf(out, "%s%s\n", indent, denied);
	if (hidden)
		buf_printf(out, "%sthe view shows the file of %s\n", indent, hidden);
	if (jsondoc_get_str(row, "only-at"))
		buf_printf(out, "%sonly at %s, because another platform has other bytes of this name\n", indent,
			jsondoc_get_str(row, "only-at"));
	if (jsondoc_is_true(row, "not-promoted") && !jsondoc_get(row, "membership"))
		buf_printf(out, "%snot promoted into the view\n", indent);
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
	if (reason)
		buf_printf(out, "%s%s\n", indent, reason);
	if (jsondoc_get(row, "removal"))
		print_removal(jsondoc_get(row, "removal"), indent, out);
	const char *by = jsondoc_get_str(row, "uploaded_by"), *when = jsondoc_get_str(row, "uploaded");
	if (by && when)
		escape_terminal_line(out, "%suploaded by %s at %.19sZ", indent, by, when);
	if (jsondoc_get(row, "downloads")) {
		const struct jsondoc *downloads = jsondoc_get(row, "downloads");
		int64_t count = 0;
		if (jsondoc_get_int(downloads, "count", &count))
			buf_printf(out, "%sdownloaded %s, last on %.10s\n", indent,
				COUNTED((uint64_t)count, "time|times"), or_dash(jsondoc_get_str(downloads, "last")));
	}
	if (jsondoc_get(row, "provenance"))
		explain_provenance_text(jsondoc_get(row, "provenance"), indent, out);
	if (jsondoc_is_true(row, "attestations"))
		buf_printf(out, "%sit has attestations, whose signatures are not verified here\n", indent);
	if (jsondoc_get(row, "audit"))
		explain_audit_text(jsondoc_get(row, "audit"), indent, out);
	if (jsondoc_get(row, "plan"))
		print_planned(jsondoc_get(row, "plan"), indent, out);
}

// --- members that views have lost ---

static void print_losses(const struct jsondoc *lost, struct buf *out)
{
	buf_puts(out, lost ? "\nLost, so that clients of these views find no such file:\n" : "");
	for (size_t i = 0; lost && i < jsondoc_count(lost); i++) {
		const struct jsondoc *loss = jsondoc_at(lost, i);
		const char *by = jsondoc_get_str(loss, "by"), *reason = jsondoc_get_str(loss, "reason");
		const char *since = jsondoc_get_str(loss, "since");
		int64_t generation = 0;
		jsondoc_get_int(loss, "generation", &generation);
		buf_printf(out, "  view %s has lost %s of %s, a member since generation %lld\n",
			jsondoc_get_str(loss, "view"), jsondoc_get_str(loss, "filename"),
			jsondoc_get_str(loss, "platform"), (long long)generation);
		buf_printf(out, "    %s%s%s%s%s%s%s\n", jsondoc_get_str(loss, "why"), since ? "; since " : "",
			since ? since : "", by ? ", by " : "", by ? by : "", reason ? ": " : "", reason ? reason : "");
		buf_printf(out, "    %s\n", jsondoc_get_str(loss, "advice"));
	}
}

// --- files of upstream ---

static void print_each_upstream(const struct jsondoc *upstream, struct buf *out)
{
	const struct jsondoc *each = jsondoc_get(upstream, "each"), *conflicts = jsondoc_get(upstream, "conflicts");
	for (size_t i = 0; each && i < jsondoc_count(each); i++) {
		const struct jsondoc *row = jsondoc_at(each, i);
		const char *why = jsondoc_get_str(row, "why");
		int64_t files = 0;
		buf_printf(out, "  upstream %s: %s%s%s", jsondoc_get_str(row, "name"), jsondoc_get_str(row, "result"),
			why ? ": " : "", why ? why : "");
		if (jsondoc_get_int(row, "files", &files))
			buf_printf(out, "; %s", COUNTED((uint64_t)files, "file|files"));
		buf_putc(out, '\n');
	}
	for (size_t i = 0; conflicts && i < jsondoc_count(conflicts); i++) {
		const struct jsondoc *row = jsondoc_at(conflicts, i);
		buf_printf(out, "  %s: upstream %s has other bytes than upstream %s, whose file counts\n",
			jsondoc_get_str(row, "filename"), jsondoc_get_str(row, "other"), jsondoc_get_str(row, "counts"));
	}
}

static void print_upstream(const struct jsondoc *upstream, struct buf *out)
{
	const struct jsondoc *files = jsondoc_get(upstream, "file");
	const char *index = jsondoc_get_str(upstream, "index"), *why = jsondoc_get_str(upstream, "why");
	const char *status = jsondoc_get_str(upstream, "status"), *fetched = jsondoc_get_str(upstream, "fetched");
	int64_t count = 0;
	buf_printf(out, "\nUpstream%s%s: %s", index ? " " : "", index ? index : "",
		jsondoc_get_str(upstream, "result"));
	if (why)
		buf_printf(out, ": %s", why);
	if (fetched)
		buf_printf(out, ", as of %s", fetched);
	if (status && strcmp(status, "active") != 0)
		buf_printf(out, ", %s", status);
	if (jsondoc_get_int(upstream, "files", &count))
		buf_printf(out, "; %s", COUNTED((uint64_t)count, "file|files"));
	if (files)
		buf_printf(out, ", %zu of this version", jsondoc_count(files));
	if (jsondoc_get_int(upstream, "left-out", &count))
		buf_printf(out, "\n%s (wheels = fitting)",
			COUNTED((uint64_t)count,
				"of all files is not on the view's page, because none of its machines runs it|"
				"of all files are not on the "
				"view's page, because none of its machines runs them"));
	buf_putc(out, '\n');
	print_each_upstream(upstream, out);
	for (size_t i = 0; files && i < jsondoc_count(files); i++) {
		const struct jsondoc *file = jsondoc_at(files, i);
		const char *yanked = jsondoc_get_str(file, "yanked"),
			   *python = jsondoc_get_str(file, "requires-python");
		buf_printf(out, "  %s", jsondoc_get_str(file, "filename"));
		if (python)
			buf_printf(out, "  (Python %s)", python);
		if (yanked)
			buf_printf(out, "  yanked%s%s", *yanked ? ": " : "", yanked);
		if (jsondoc_is_true(file, "left-out"))
			buf_puts(out, "  not on the page");
		if (jsondoc_is_true(file, "cut"))
			buf_puts(out, "  a field is too long and is omitted");
		buf_putc(out, '\n');
	}
}

static void print_hidden(const struct jsondoc *upstream, struct buf *out)
{
	int64_t count = 0;
	const struct jsondoc *hidden = jsondoc_get(upstream, "hidden");
	if (!jsondoc_get_int(upstream, "not-offered", &count))
		return;
	buf_printf(out, "%s not offered%s\n", COUNTED((uint64_t)count, "of its files is|of its files are"),
		jsondoc_count(hidden) ? ":" : "");
	for (size_t i = 0; i < jsondoc_count(hidden); i++) {
		const struct jsondoc *file = jsondoc_at(hidden, i), *rules = jsondoc_get(file, "rules");
		const char *seen = jsondoc_get_str(file, "seen");
		buf_printf(out, "  %s", jsondoc_get_str(file, "filename"));
		for (size_t k = 0; k < jsondoc_count(rules); k++) {
			const struct jsondoc *rule = jsondoc_at(rules, k);
			bool is_block = strcmp(jsondoc_get_str(rule, "rule"), "block") == 0;
			buf_printf(out, "%s%s", k ? "; " : "  ", jsondoc_get_str(rule, "says"));
			buf_printf(out, "%s%s%s", is_block ? " (" : "", is_block ? jsondoc_get_str(rule, "source") : "",
				is_block ? ")" : "");
		}
		if (seen && !jsondoc_get_str(file, "upload-time"))
			buf_printf(out, "; it has no upload time, and was first seen %s", seen);
		buf_putc(out, '\n');
	}
}

// --- the choices of pip ---

// The files that only the address of the platform has.
static void print_own_address(const struct jsondoc *here, const char *platform, struct buf *out)
{
	for (size_t i = 0; i < jsondoc_count(here); i++) {
		const struct jsondoc *row = jsondoc_at(here, i);
		const char *address = jsondoc_get_str(row, "only-at");
		if (address && strcmp(jsondoc_get_str(row, "platform"), platform) == 0)
			buf_printf(out, "    at %s  %s\n", address, jsondoc_get_str(row, "filename"));
	}
}

static void print_environments(const struct jsondoc *rows, const struct jsondoc *here, struct buf *out)
{
	static const char *const keys[] = {"here", "upstream", "both", "client"};
	buf_puts(out, jsondoc_count(rows) ? "\nWhat pip takes:\n" : "");
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const struct jsondoc *row = jsondoc_at(rows, i);
		buf_printf(out, "  %s, Python %s\n", jsondoc_get_str(row, "platform"), jsondoc_get_str(row, "python"));
		for (size_t n = 0; n < ARRAY_SIZE(keys); n++) {
			const char *key = keys[n];
			const struct jsondoc *choice = jsondoc_get(row, key);
			bool is_of_clients = strcmp(key, "client") == 0;
			CLEANUP(mem_free)
			char *label = is_of_clients ? xstrdup("clients get") : xasprintf("from %s", key);
			buf_printf(out, "    %-13s  %s", label,
				choice ? jsondoc_get_str(choice, "filename") : "nothing");
			if (choice && (is_of_clients || strcmp(key, "both") == 0))
				buf_printf(out, "  (%s)", jsondoc_get_str(choice, "from"));
			if (choice && jsondoc_is_true(choice, "yanked"))
				buf_puts(out, "  yanked");
			if (choice && jsondoc_is_true(choice, "some-micros"))
				buf_puts(out, "  not for every release of this Python");
			buf_putc(out, '\n');
		}
		print_own_address(here, jsondoc_get_str(row, "platform"), out);
	}
}

// --- the last builds ---

static void print_builds(const struct jsondoc *builds, struct buf *out)
{
	buf_puts(out, builds && jsondoc_count(builds) ? "\nLast attempts to build a wheel:\n" : "");
	for (size_t i = 0; builds && i < jsondoc_count(builds); i++) {
		const struct jsondoc *build = jsondoc_at(builds, i);
		const char *why = jsondoc_get_str(build, "why"), *since = jsondoc_get_str(build, "since");
		const char *step = jsondoc_get_str(build, "step"), *result = jsondoc_get_str(build, "result");
		int64_t failures = 0;
		buf_printf(out, "  %s, Python %s: %s %s", jsondoc_get_str(build, "platform"),
			jsondoc_get_str(build, "python"), jsondoc_get_str(build, "version"), result);
		if (*step && strcmp(result, results_result_name[RESULTS_OK]) != 0)
			buf_printf(out, " (%s)", step);
		buf_printf(out, " at %s", jsondoc_get_str(build, "begun"));
		if (since && jsondoc_get_int(build, "failures", &failures) && failures > 1)
			buf_printf(out, ", %s since %s", COUNTED((uint64_t)failures, "time|times"), since);
		if (*why)
			buf_printf(out, ": %s", why);
		buf_printf(out, "\n    wheelcache builds --log %.10s\n", jsondoc_get_str(build, "id"));
		if (jsondoc_is_true(build, "running") && strcmp(result, results_result_name[RESULTS_RUNNING]) != 0)
			buf_puts(out, "    another attempt is running\n");
	}
}

// --- the status of the project ---

static void print_status(const struct jsondoc *status, struct buf *out)
{
	const char *name = status ? jsondoc_get_str(status, "status") : NULL;
	if (!name)
		return;
	const char *by = jsondoc_get_str(status, "by"), *when = jsondoc_get_str(status, "when");
	bool is_withdrawn = strcmp(name, simplepage_status_name[SIMPLEPAGE_QUARANTINED]) == 0;
	buf_printf(out, "The project is %s here%s: %s", name, is_withdrawn ? ", so clients get none of its files" : "",
		jsondoc_get_str(status, "reason"));
	if (by || when)
		buf_printf(out, " (%s%s%s)", by ? by : "", by && when ? ", " : "", when ? when : "");
	buf_putc(out, '\n');
}

// --- the name rule ---

static void print_names(const struct jsondoc *names, struct buf *out)
{
	const char *files = names ? jsondoc_get_str(names, "files") : NULL;
	if (!files)
		return;
	buf_printf(out, "Clients get %s: %s%s\n",
		strcmp(files, "both") == 0   ? "the files here and upstream's"
		: strcmp(files, "here") == 0 ? "only the files here"
					     : "only upstream's files",
		jsondoc_get_str(names, "why"), jsondoc_is_true(names, "ours") ? " (the name is noted as ours)" : "");
	if (jsondoc_get(names, "taken")) {
		const struct jsondoc *taken = jsondoc_get(names, "taken");
		const char *since = jsondoc_get_str(taken, "since");
		int64_t count = 0;
		jsondoc_get_int(taken, "files", &count);
		buf_printf(out, "Upstream now has a project of this name, with %s%s%s, as of %s: not merged\n",
			COUNTED((uint64_t)count, "file|files"), since ? ", the first of " : "", since ? since : "",
			or_dash(jsondoc_get_str(taken, "fetched")));
	}
}

// Any process that writes to the store can put any characters into a tombstone.
void explain_text(const struct jsondoc *explanation, struct buf *out)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(out->cap);
	const struct jsondoc *platforms = jsondoc_get(explanation, "platforms");
	const char *version = jsondoc_get_str(explanation, "version"), *view = jsondoc_get_str(explanation, "view");
	bool is_each = jsondoc_is_true(explanation, "each");
	int64_t generation = 0;
	buf_puts(&text, jsondoc_get_str(explanation, "project"));
	if (version)
		buf_printf(&text, " %s", version);
	buf_printf(&text, " in %s%s", view ? "view " : is_each ? "the index of each platform" : "the default view",
		view ? view : "");
	if (jsondoc_get_int(explanation, "generation", &generation))
		buf_printf(&text, ", generation %lld", (long long)generation);
	buf_putc(&text, ':');
	for (size_t i = 0; i < jsondoc_count(platforms); i++)
		buf_printf(&text, " %s", jsondoc_at_str(platforms, i));
	buf_putc(&text, '\n');
	print_names(jsondoc_get(explanation, "names"), &text);
	print_status(jsondoc_get(explanation, "status"), &text);
	print_losses(jsondoc_get(explanation, "lost"), &text);
	const struct jsondoc *rows = jsondoc_get(explanation, "here");
	size_t platform = column_width(rows, "platform"), state = column_width(rows, "state");
	buf_puts(&text, jsondoc_count(rows) ? "\nHere:\n" : "\nHere: nothing\n");
	for (size_t i = 0; i < jsondoc_count(rows); i++)
		print_file_row(jsondoc_at(rows, i), platform, state, &text);
	print_upstream(jsondoc_get(explanation, "upstream"), &text);
	print_hidden(jsondoc_get(explanation, "upstream"), &text);
	print_environments(jsondoc_get(explanation, "environments"), rows, &text);
	print_builds(jsondoc_get(explanation, "builds"), &text);
	for (struct str rest = buf_view(&text); rest.len;) {
		escape_terminal(out, str_cut(&rest, '\n'));
		buf_putc(out, '\n');
	}
	out->failed |= text.failed;
}
