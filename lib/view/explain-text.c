// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "lib/view/explain.h"

static const char *or_dash(const char *s)
{
	return s && *s ? s : "-";
}

static void pad(struct buf *out, const char *text, size_t width)
{
	buf_printf(out, "%-*s  ", (int)width, text);
}

// The longest string that the rows have under a key.
static size_t width_of(const struct jsondoc *rows, const char *key)
{
	size_t width = 0;
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const char *text = jsondoc_get_str(jsondoc_at(rows, i), key);
		if (text && strlen(text) > width)
			width = strlen(text);
	}
	return width;
}

static void add_head(const struct jsondoc *all, struct buf *out)
{
	const struct jsondoc *platforms = jsondoc_get(all, "platforms");
	const char *version = jsondoc_get_str(all, "version"), *view = jsondoc_get_str(all, "view");
	buf_puts(out, jsondoc_get_str(all, "project"));
	if (version)
		buf_printf(out, " %s", version);
	buf_printf(out, " in %s%s:", view ? "view " : "the default view", view ? view : "");
	for (size_t i = 0; i < jsondoc_count(platforms); i++)
		buf_printf(out, " %s", jsondoc_at_str(platforms, i));
	buf_putc(out, '\n');
}

// --- what is here ---

static void add_removal(const struct jsondoc *removal, const char *indent, struct buf *out)
{
	const char *verdict = jsondoc_get_str(removal, "verdict"), *run = jsondoc_get_str(removal, "run");
	const struct jsondoc *theirs = jsondoc_get(removal, "upstream");
	buf_printf(out, "%sremoved %s by %s", indent, or_dash(jsondoc_get_str(removal, "when")),
		or_dash(jsondoc_get_str(removal, "by")));
	if (verdict)
		buf_printf(out, ", %s", verdict);
	if (run)
		buf_printf(out, ", in run %s", run);
	buf_putc(out, '\n');
	if (theirs)
		buf_printf(out, "%supstream has %s, %s\n", indent, or_dash(jsondoc_get_str(theirs, "filename")),
			jsondoc_is_true(theirs, "identical") ? "the same bytes" : "other bytes");
}

static void add_downloads(const struct jsondoc *downloads, const char *indent, struct buf *out)
{
	int64_t count = 0;
	if (jsondoc_get_int(downloads, "count", &count))
		buf_printf(out, "%sdownloaded %lld time%s, last on %.10s\n", indent, (long long)count,
			count == 1 ? "" : "s", or_dash(jsondoc_get_str(downloads, "last")));
}

static void add_plan(const struct jsondoc *plan, const char *indent, struct buf *out)
{
	buf_printf(out, "%sthe last plan: %s, %s: %s\n", indent, or_dash(jsondoc_get_str(plan, "verdict")),
		jsondoc_is_true(plan, "removes") ? "to be removed" : "stays", or_dash(jsondoc_get_str(plan, "reason")));
}

static void add_row(const struct jsondoc *row, size_t platform, size_t state, struct buf *out)
{
	CLEANUP(mem_free) char *indent = xasprintf("%*s", (int)(platform + state + 6), "");
	const char *reason = jsondoc_get_str(row, "reason"), *hidden = jsondoc_get_str(row, "hidden-by");
	buf_puts(out, "  ");
	pad(out, jsondoc_get_str(row, "platform"), platform);
	pad(out, jsondoc_get_str(row, "state"), state);
	buf_printf(out, "%s\n", jsondoc_get_str(row, "filename"));
	if (hidden)
		buf_printf(out, "%sthe view shows that of %s\n", indent, hidden);
	if (reason)
		buf_printf(out, "%s%s\n", indent, reason);
	if (jsondoc_get(row, "removal"))
		add_removal(jsondoc_get(row, "removal"), indent, out);
	if (jsondoc_get(row, "downloads"))
		add_downloads(jsondoc_get(row, "downloads"), indent, out);
	if (jsondoc_get(row, "plan"))
		add_plan(jsondoc_get(row, "plan"), indent, out);
}

static void add_here(const struct jsondoc *rows, struct buf *out)
{
	size_t platform = width_of(rows, "platform"), state = width_of(rows, "state");
	buf_puts(out, jsondoc_count(rows) ? "\nHere:\n" : "\nHere: nothing\n");
	for (size_t i = 0; i < jsondoc_count(rows); i++)
		add_row(jsondoc_at(rows, i), platform, state, out);
}

// --- what upstream has ---

static void add_file(const struct jsondoc *file, struct buf *out)
{
	const char *yanked = jsondoc_get_str(file, "yanked"), *python = jsondoc_get_str(file, "requires-python");
	buf_printf(out, "  %s", jsondoc_get_str(file, "filename"));
	if (python)
		buf_printf(out, "  (Python %s)", python);
	if (yanked)
		buf_printf(out, "  yanked%s%s", *yanked ? ": " : "", yanked);
	if (jsondoc_is_true(file, "left-out"))
		buf_puts(out, "  not on the page");
	if (jsondoc_is_true(file, "cut"))
		buf_puts(out, "  says more than a page may: some of that is left out");
	buf_putc(out, '\n');
}

static void add_upstream(const struct jsondoc *upstream, struct buf *out)
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
		buf_printf(out, "; %lld files", (long long)count);
	if (files)
		buf_printf(out, ", %zu of this version", jsondoc_count(files));
	if (jsondoc_get_int(upstream, "left-out", &count))
		buf_printf(out,
			"\nOf all of them %lld are not on the view's page, as none of its machines runs them (wheels = fitting)",
			(long long)count);
	buf_putc(out, '\n');
	for (size_t i = 0; files && i < jsondoc_count(files); i++)
		add_file(jsondoc_at(files, i), out);
}

// --- what pip takes ---

static void add_choice(const struct jsondoc *environment, const char *key, struct buf *out)
{
	const struct jsondoc *choice = jsondoc_get(environment, key);
	buf_printf(out, "    from %-8s  %s", key, choice ? jsondoc_get_str(choice, "filename") : "nothing");
	if (choice && strcmp(key, "both") == 0)
		buf_printf(out, "  (%s)", jsondoc_get_str(choice, "from"));
	if (choice && jsondoc_is_true(choice, "yanked"))
		buf_puts(out, "  yanked");
	if (choice && jsondoc_is_true(choice, "some-micros"))
		buf_puts(out, "  not for every release of this Python");
	buf_putc(out, '\n');
}

static void add_environments(const struct jsondoc *rows, struct buf *out)
{
	static const char *const keys[] = {"here", "upstream", "both"};
	buf_puts(out, jsondoc_count(rows) ? "\nWhat pip takes:\n" : "");
	for (size_t i = 0; i < jsondoc_count(rows); i++) {
		const struct jsondoc *row = jsondoc_at(rows, i);
		buf_printf(out, "  %s, Python %s\n", jsondoc_get_str(row, "platform"), jsondoc_get_str(row, "python"));
		for (size_t n = 0; n < ARRAY_SIZE(keys); n++)
			add_choice(row, keys[n], out);
	}
}

// --- whose files count ---

static void add_taken(const struct jsondoc *taken, struct buf *out)
{
	const char *since = jsondoc_get_str(taken, "since");
	int64_t count = 0;
	jsondoc_get_int(taken, "files", &count);
	buf_printf(out, "Upstream has a project of this name meanwhile, with %lld file%s%s%s, as of %s: not merged\n",
		(long long)count, count == 1 ? "" : "s", since ? ", the first of " : "", since ? since : "",
		or_dash(jsondoc_get_str(taken, "fetched")));
}

static void add_names(const struct jsondoc *names, struct buf *out)
{
	const char *files = names ? jsondoc_get_str(names, "files") : NULL;
	if (!files)
		return;
	buf_printf(out, "Clients get %s: %s%s\n",
		strcmp(files, "both") == 0   ? "the files here and upstream's"
		: strcmp(files, "here") == 0 ? "only the files here"
					     : "only upstream's files",
		jsondoc_get_str(names, "why"), jsondoc_is_true(names, "ours") ? " (the name is noted as ours)" : "");
	if (jsondoc_get(names, "taken"))
		add_taken(jsondoc_get(names, "taken"), out);
}

// A terminal does what control bytes say, and anybody who writes to the store may have put some into a tombstone.
static void disarm(struct buf *out, size_t from)
{
	for (size_t i = from; i < out->len; i++)
		if (((unsigned char)out->data[i] < ' ' && out->data[i] != '\n') || out->data[i] == 0x7f)
			out->data[i] = '?';
}

void explain_text(const struct jsondoc *explanation, struct buf *out)
{
	size_t before = out->len;
	add_head(explanation, out);
	add_names(jsondoc_get(explanation, "names"), out);
	add_here(jsondoc_get(explanation, "here"), out);
	add_upstream(jsondoc_get(explanation, "upstream"), out);
	add_environments(jsondoc_get(explanation, "environments"), out);
	disarm(out, before);
}
