// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/mark-common.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "auditor/rebuild/rebuild-list.h"
#include "lib/state/publish/sidecar-ops.h"
#include "lib/state/store/retired.h"
#include "lib/view/site-check.h"

struct rebuilds_form;

struct rebuilds_command {
	struct cli_config settings;
	struct config config;
	struct rebuild_options options;
	struct audit_policy policy;
	struct command_words globs; // of --platform
	const char *format;         // NULL: not given
	const struct rebuilds_form *form;
	bool lists_all, checks, yanks; // --all, --check, --yank
	size_t failed;                 // yanks
};

// --- the forms ---

static bool is_row_shown(const struct rebuilds_command *x, const struct rebuild_row *r)
{
	return x->lists_all || rebuild_row_is_wanted(r);
}

static void print_wheel(const struct rebuild_row *r, struct buf *out)
{
	buf_printf(out, "  %-12s  %s", rebuild_state_name[r->state], r->filename);
	buf_puts(out, *r->why ? "  " : "");
	escape_terminal(out, str_from(r->why));
	buf_puts(out, r->is_yanked ? " (yanked)" : "");
	if (r->replacement)
		buf_printf(out, " (replaced by %s)", r->replacement);
	buf_putc(out, '\n');
}

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
		if (!is_row_shown(x, r))
			continue;
		if (r->platform != last)
			buf_printf(out, "\n%s\n", r->platform->name);
		last = r->platform;
		print_wheel(r, out);
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

static const struct rebuilds_form {
	const char *name;
	int (*write)(const struct rebuilds_command *x, const struct rebuild_list *l, struct buf *out, struct err *e);
} forms[] = {
	{"table", write_table},
	{"json", write_json},
	{"requirements", write_requirements},
};

static int find_form(struct rebuilds_command *x, struct err *e)
{
	const char *name = x->format ? x->format : x->settings.is_json ? "json" : "table";
	for (size_t i = 0; i < ARRAY_SIZE(forms) && !x->form; i++)
		if (strcmp(name, forms[i].name) == 0)
			x->form = &forms[i];
	if (!x->form)
		return err_set(e, ERR_USAGE, "--format %s: expected table, json or requirements", name);
	if (x->settings.is_dry_run && !x->yanks)
		return err_set(e, ERR_USAGE, "--dry-run is for --yank: nothing else is changed");
	return 0;
}

static int print_rebuilds(const struct rebuilds_command *x, const struct rebuild_list *l, struct err *e)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	if (x->form->write(x, l, &out, e) < 0)
		return -1;
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

// --- yanks ---

static int yank_wheel(const struct mark_common *m, const struct platform *p, struct catalog *c, struct err *e)
{
	return sidecar_ops_yank(p, c, m->file, m->reason, e);
}

// A failure does not stop the others. True: it is yanked.
static bool yank_row(struct rebuilds_command *x, const struct rebuild_row *r, struct mark_common *m, struct catalog *c,
	struct audit *audit)
{
	struct err why = ERR_INIT;
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, 4 * LIMIT_ELF_STRING);
	buf_puts(&reason, "rebuild: "); // a SONAME could be the words with which upstream's yanks are marked
	escape_terminal(&reason, str_head(str_from(r->why), LIMIT_REASON));
	m->file = r->filename;
	m->reason = reason.data;
	bool is_yanked = x->settings.is_dry_run || mark_common_file(m, r->platform, c, audit, &why) == 0;
	if (!is_yanked) {
		log_error("%s: %s: %s", r->platform->name, r->filename, why.msg);
		x->failed++;
	} else if (!x->settings.is_quiet) {
		fprintf(stderr, "%s: %s %s: %s\n", r->platform->name,
			x->settings.is_dry_run ? "would be yanked:" : "yanked", r->filename, reason.data);
	}
	return is_yanked;
}

// Yanks the wheels from `first` on that are of one platform, and releases that. Returns the index of the first wheel of
// the next one. What is replaced already is yanked as well: it works no more than the others.
static size_t yank_platform(struct rebuilds_command *x, const struct rebuild_list *l, size_t first,
	struct mark_common *m, struct catalog *c, struct audit *audit)
{
	const struct platform *p = l->row[first].platform;
	struct err why = ERR_INIT;
	bool has_changed = false;
	size_t i = first;
	for (; i < l->rows && l->row[i].platform == p; i++)
		if (rebuild_is_wanted(l->row[i].state) && !l->row[i].is_yanked)
			has_changed |= yank_row(x, &l->row[i], m, c, audit);
	if (has_changed && !x->settings.is_dry_run && mark_common_release(m, p, c, audit, &why) < 0) {
		log_error("%s", why.msg);
		x->failed++;
	}
	return i;
}

static int yank_all(struct rebuilds_command *x, const struct rebuild_list *l, struct catalog *c, struct audit *audit,
	struct err *e)
{
	CLEANUP(mem_free) char *who = audit_account();
	struct mark_common m = {.action = "yank", .done = "yanked", .mark = yank_wheel, .who = who};
	for (size_t i = 0; i < l->rows;)
		i = yank_platform(x, l, i, &m, c, audit);
	return x->failed ? err_set(e, ERR_IO, "%zu yanks failed", x->failed) : 0;
}

// --- running ---

static bool is_anything_wanted(const struct rebuild_list *l)
{
	for (size_t i = 0; i < l->rows; i++)
		if (rebuild_row_is_wanted(&l->row[i]))
			return true;
	return false;
}

static int open_catalog(const struct rebuilds_command *x, const char *path, struct catalog **out, struct err *e)
{
	bool writes = x->yanks && !x->settings.is_dry_run;
	return writes ? catalog_open(path, out, e) : catalog_open_read(path, out, e);
}

// Returns the exit code, or -1.
static int open_and_list(struct rebuilds_command *x, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(rebuild_list_release) struct rebuild_list list = {0};
	if (cli_config_read(&x->settings, &x->config, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || open_catalog(x, path, &catalog, e) < 0 || site_check_find(&x->config, &store, catalog, e) < 0)
		return -1;
	if (x->yanks && !x->settings.is_dry_run && cli_config_audit(&x->config, &audit, e) < 0)
		return -1;
	if (audit_policy_read(&x->policy, x->config.upload_audit_policy, e) < 0)
		return -1;
	retired_look(&store);
	x->options.platform = x->globs.item;
	x->options.platforms = x->globs.count;
	x->options.policy = &x->policy;
	if (rebuild_list_make(&store, catalog, &x->options, &list, e) < 0 || print_rebuilds(x, &list, e) < 0)
		return -1;
	if (x->yanks && yank_all(x, &list, catalog, audit, e) < 0)
		return -1;
	return x->checks && is_anything_wanted(&list) ? 1 : 0;
}

static const struct option_row options[] = {
	{"against", '\0', "PATH", "judge by this root or list, instead of [platform] provides", NO_KEY},
	{"policy", '\0', "FILE", "libraries that a rule in FILE allows may be absent", "upload", "audit-policy"},
	{"all", 'a', NULL, "list all wheels, not only those to be rebuilt", NO_KEY},
	{"format", 'f', "FORM", "table, json or requirements; table", NO_KEY},
	{"yank", '\0', NULL, "yank the wheels that no longer work, with the reason", NO_KEY},
	{"check", '\0', NULL, "exit with 1 if a wheel is to be rebuilt", NO_KEY},
};

static int take_rebuilds_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct rebuilds_command *x = ctx;
	const struct command_flag flags[] = {{"all", &x->lists_all}, {"yank", &x->yanks}, {"check", &x->checks}};
	const struct command_text texts[] = {{"against", &x->options.against}, {"format", &x->format}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return command_take_platforms(&x->globs, name, value, e);
}

static void release_rebuilds(struct rebuilds_command *x)
{
	config_release(&x->config);
	audit_policy_release(&x->policy);
	command_words_release(&x->globs);
}

static int run_rebuilds(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(release_rebuilds) struct rebuilds_command x = {0};
	config_init(&x.config);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_rebuilds_option, &x, e) < 0 ||
		find_form(&x, e) < 0)
		return err_exit_code(e->kind);
	int code = open_and_list(&x, e);
	return code < 0 ? err_exit_code(e->kind) : code;
}

const struct command command_rebuilds = {
	.name = "rebuilds",
	.arguments = "[STORE]",
	.help = "list wheels that no longer work with a platform's libraries",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.run = run_rebuilds,
};
