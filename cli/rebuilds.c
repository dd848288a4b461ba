// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "auditor/rebuild/rebuild-list.h"
#include "lib/state/publish/marking.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/retired.h"

struct rebuilds_form;

struct rebuilds_command {
	struct session s;
	struct rebuild_options options;
	struct audit_policy policy;
	const struct rebuilds_form *form;
	bool lists_all, checks, yanks; // --all, --check, --yank
	size_t failed;                 // yanks
};

// --- the forms ---

static void print_total(const char *name, const uint64_t total[REBUILD_STATE_COUNT], struct buf *out)
{
	buf_puts(out, name);
	for (size_t i = REBUILD_STATE_COUNT; i-- > 0;)
		buf_printf(out, "%s %" PRIu64 " %s", i + 1 == REBUILD_STATE_COUNT ? ":" : ",", total[i],
			rebuild_state_name[i]);
	buf_putc(out, '\n');
}

static int write_table(const struct rebuilds_command *x, const struct rebuild_list *l, struct buf *out,
	struct err *e UNUSED)
{
	const struct platform *last = NULL;
	for (size_t i = 0; i < l->platforms; i++)
		print_total(l->platform[i].platform->name, l->platform[i].total, out);
	for (size_t i = 0; i < l->rows; i++) {
		const struct rebuild_row *r = &l->row[i];
		if (!(x->lists_all || rebuild_row_is_wanted(r)))
			continue;
		if (r->platform != last)
			buf_printf(out, "\n%s\n", r->platform->name);
		last = r->platform;
		buf_printf(out, "  %-12s  %s", rebuild_state_name[r->state], r->filename);
		buf_puts(out, *r->why ? "  " : "");
		escape_terminal(out, str_from(r->why));
		buf_puts(out, r->is_yanked ? " (yanked)" : "");
		if (r->replacement)
			buf_printf(out, " (replaced by %s)", r->replacement);
		buf_putc(out, '\n');
	}
	return 0;
}

static int write_json(const struct rebuilds_command *x, const struct rebuild_list *l, struct buf *out,
	struct err *e UNUSED)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = rebuild_list_json(l, x->lists_all);
	jsondoc_write(doc, 2, out);
	return 0;
}

static int compare_releases(const void *a, const void *b)
{
	const struct rebuild_row *one = *(const struct rebuild_row *const *)a;
	const struct rebuild_row *other = *(const struct rebuild_row *const *)b;
	int order = strcmp(one->project, other->project);
	return order ? order : strcmp(one->version, other->version);
}

static int write_requirements(const struct rebuilds_command *x UNUSED, const struct rebuild_list *l, struct buf *out,
	struct err *e UNUSED)
{
	CLEANUP(mem_free) const struct rebuild_row **row = xcalloc(l->rows + 1, sizeof(*row));
	size_t count = 0;
	for (size_t i = 0; i < l->rows; i++)
		if (rebuild_row_is_wanted(&l->row[i]))
			row[count++] = &l->row[i];
	qsort(row, count, sizeof(*row), compare_releases);
	for (size_t i = 0; i < count; i++)
		if (!i || compare_releases(&row[i - 1], &row[i]) != 0)
			buf_printf(out, "%s==%s\n", row[i]->project, row[i]->version);
	return 0;
}

enum { FORM_TABLE, FORM_JSON };
static const struct rebuilds_form {
	const char *name;
	int (*write)(const struct rebuilds_command *x, const struct rebuild_list *l, struct buf *out, struct err *e);
} forms[] = {
	[FORM_TABLE] = {"table", write_table},
	[FORM_JSON] = {"json", write_json},
	{"requirements", write_requirements},
};

// --- yanks ---

// The wheel that is yanked, and why.
struct yanked_wheel {
	const char *filename, *reason;
};

static int yank_wheel(void *ctx, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct yanked_wheel *w = ctx;
	return sidecar_ops_yank(p, c, w->filename, w->reason, e);
}

// A failure does not stop the others. True: it is yanked.
static bool yank_row(struct rebuilds_command *x, const struct rebuild_row *r)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf reason = buf_up_to(4 * LIMIT_ELF_STRING);
	buf_puts(&reason, "rebuild: "); // a SONAME could be the words with which upstream's yanks are marked
	escape_terminal(&reason, str_head(str_from(r->why), LIMIT_REASON));
	struct yanked_wheel wheel = {r->filename, reason.data};
	const struct marking m = {.action = "yank",
		.reason = reason.data,
		.who = session_account(&x->s),
		.mark = yank_wheel,
		.ctx = &wheel};
	bool is_yanked =
		x->s.is_dry_run || marking_file(&m, r->filename, r->platform, x->s.catalog, x->s.audit, &why) == 0;
	if (!is_yanked) {
		log_error("%s: %s: %s", r->platform->name, r->filename, why.msg);
		x->failed++;
	} else if (!x->s.is_quiet) {
		fprintf(stderr, "%s: %s %s: %s\n", r->platform->name, x->s.is_dry_run ? "would be yanked:" : "yanked",
			r->filename, reason.data);
	}
	return is_yanked;
}

// Yanks the wheels from `first` on that are of one platform, and releases that. Returns the index of the first wheel of
// the next one. What is replaced already is yanked as well: it works no more than the others.
static size_t yank_platform(struct rebuilds_command *x, const struct rebuild_list *l, size_t first)
{
	const struct platform *p = l->row[first].platform;
	struct err why = ERR_INIT;
	const char *last = NULL; // the last one that was yanked
	size_t i = first;
	for (; i < l->rows && l->row[i].platform == p; i++)
		if (rebuild_is_wanted(l->row[i].state) && !l->row[i].is_yanked && yank_row(x, &l->row[i]))
			last = l->row[i].filename;
	if (last && !x->s.is_dry_run && session_release_volume(&x->s, p, "yanked", last, &why) < 0) {
		log_error("%s", why.msg);
		x->failed++;
	}
	return i;
}

static int yank_all(struct rebuilds_command *x, const struct rebuild_list *l, struct err *e)
{
	for (size_t i = 0; i < l->rows;)
		i = yank_platform(x, l, i);
	return x->failed ? err_set(e, ERR_IO, "%s failed", COUNTED(x->failed, "yank|yanks")) : 0;
}

// --- running ---

static bool is_anything_wanted(const struct rebuild_list *l)
{
	for (size_t i = 0; i < l->rows; i++)
		if (rebuild_row_is_wanted(&l->row[i]))
			return true;
	return false;
}

static const struct option_row options[] = {
	{"against", '\0', "PATH", "judge by this root or list, instead of [platform] provides",
		TEXT(rebuilds_command, options.against)},
	{"policy", '\0', "FILE", "libraries that a rule in FILE allows may be absent", KEY("upload", "audit-policy")},
	{"all", 'a', NULL, "list all wheels, not only those to be rebuilt", FLAG(rebuilds_command, lists_all)},
	{"format", 'f', "FORM", "table, json or requirements; table", WORD(rebuilds_command, form, forms)},
	{"yank", '\0', NULL, "yank the wheels that no longer work, with the reason", FLAG(rebuilds_command, yanks)},
	{"check", '\0', NULL, "exit with 1 if a wheel is to be rebuilt", FLAG(rebuilds_command, checks)},
};

// Returns the exit code, or -1.
static int run_rebuilds(void *self, struct err *e)
{
	struct rebuilds_command *x = self;
	struct session *s = &x->s;
	bool writes = x->yanks && !s->is_dry_run;
	CLEANUP(rebuild_list_release) struct rebuild_list list = {0};
	if (s->is_dry_run && !x->yanks)
		return err_set(e, ERR_USAGE, "--dry-run is for --yank: nothing else is changed");
	if (!x->form)
		x->form = &forms[s->is_json ? FORM_JSON : FORM_TABLE];
	if (session_open(s, SESSION_STORE | SESSION_FIND | (writes ? SESSION_MAKE | SESSION_AUDIT : SESSION_READ), e) <
			0 ||
		audit_policy_read(&x->policy, s->config.upload_audit_policy, e) < 0)
		return -1;
	retired_look(&s->store);
	x->options.platform = s->globs.item;
	x->options.platforms = s->globs.count;
	x->options.policy = &x->policy;
	if (rebuild_list_make(&s->store, s->catalog, &x->options, &list, e) < 0 ||
		x->form->write(x, &list, &s->out, e) < 0 || session_print(s, e) < 0)
		return -1;
	if (x->yanks && yank_all(x, &list, e) < 0)
		return -1;
	return x->checks && is_anything_wanted(&list) ? 1 : 0;
}

static void release_rebuilds(void *self)
{
	audit_policy_release(&((struct rebuilds_command *)self)->policy);
}

const struct command command_rebuilds = {
	.name = "rebuilds",
	.arguments = "[STORE]",
	.help = "list wheels that no longer work with a platform's libraries",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct rebuilds_command),
	.run = run_rebuilds,
	.release = release_rebuilds,
};
