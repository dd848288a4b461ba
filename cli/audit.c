// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/audit-bind.h"
#include "cli/audit-cpu.h"
#include "cli/audit-print.h"
#include "cli/audit-probe.h"
#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/facts/wheel-facts-json.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/state/store/stored-facts.h"
#include "lib/audit/wheel-gate.h"
#include "lib/view/site-check.h"
#include "lib/view/view.h"

enum { EXIT_ERRORS = 1, EXIT_UNREAD = 2 };

struct audit_command {
	struct cli_config settings;
	struct config config;
	struct audit_probe probe;
	struct command_words globs;  // of --platform
	const char *view, *project;  // NULL: not given
	bool shows_facts, shows_all; // all: wheels without findings too
	struct wheel_gate *gate;
	struct buf text;                        // of the wheel that is judged
	struct buf warnings;                    // text of the wheels without errors, which come last
	size_t wheels, bad, suspicious, unread; // numbers of wheels
};

// --- the command line ---

static const struct option_row options[] = {
	{"view", '\0', "NAME", "only the wheels of this view", NO_KEY},
	{"project", '\0', "PROJECT", "only wheels of this project", NO_KEY},
	{"policy", '\0', "FILE", "also judge by the rules in FILE", "upload", "audit-policy"},
	{"facts", '\0', NULL, "also print what is inside the wheels", NO_KEY},
	AUDIT_PROBE_ROWS,
};

static int take_audit_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct audit_command *x = ctx;
	const struct command_flag flags[] = {{"facts", &x->shows_facts}};
	const struct command_text texts[] = {{"view", &x->view}, {"project", &x->project}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value) || audit_probe_take(&x->probe, name, value))
		return 0;
	return command_take_platforms(&x->globs, name, value, e);
}

static int check_audit_line(const struct audit_command *x, int files, struct err *e)
{
	if (files && (x->globs.count || x->view || x->project))
		return err_set(e, ERR_USAGE,
			"--platform, --view and --project choose wheels of the store: not with FILE");
	if (x->view && x->globs.count)
		return err_set(e, ERR_USAGE, "--view and --platform exclude each other");
	if (x->project && !name_is_valid(str_from(x->project)))
		return err_set(e, ERR_USAGE, "%s is not a valid project name", x->project);
	return 0;
}

// --- the output ---

static int write_out(const struct buf *text, struct err *e)
{
	if (text->failed)
		return err_set(e, ERR_LIMIT, "the output is larger than %d bytes", LIMIT_PAGE);
	if (fwrite(text->data, 1, text->len, stdout) != text->len)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static const char json_head[] = "{\"wheels\": [\n";

static int write_wheel_json(struct audit_command *x, struct jsondoc *doc, struct err *e)
{
	buf_clear(&x->text);
	buf_puts(&x->text, x->wheels == 1 ? json_head : ",\n");
	jsondoc_write(doc, 0, &x->text);
	while (x->text.len && x->text.data[x->text.len - 1] == '\n')
		x->text.len--;
	return write_out(&x->text, e);
}

static int show_json(struct audit_command *x, const char *filename, const char *platform, const struct audit_report *r,
	const struct wheel_facts *facts, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = audit_report_json(r, filename);
	jsondoc_put_str(doc, "platform", platform);
	jsondoc_put_str(doc, "unknown", NULL);
	if (x->shows_facts)
		jsondoc_put(doc, "facts", wheel_facts_json(facts));
	return write_wheel_json(x, doc, e);
}

static int show_text(struct audit_command *x, const char *filename, const char *platform, const struct audit_report *r,
	const struct wheel_facts *facts, struct err *e)
{
	struct buf *out = r->errors ? &x->text : &x->warnings;
	buf_clear(&x->text);
	if (!r->count && !x->shows_all && !x->shows_facts)
		return 0;
	audit_print_report(r, filename, platform, out);
	if (x->shows_facts)
		audit_print_facts(facts, out);
	return write_out(&x->text, e);
}

static int judge(struct audit_command *x, const struct filename *name, const char *filename, const char *platform,
	const struct wheel_facts *facts, struct err *e)
{
	CLEANUP(audit_report_release) struct audit_report report = {0};
	wheel_gate_judge(x->gate, platform, name, facts, &report);
	x->wheels++;
	x->bad += report.errors > 0;
	x->suspicious += !report.errors && report.warnings;
	return x->settings.is_json ? show_json(x, filename, platform, &report, facts, e)
				   : show_text(x, filename, platform, &report, facts, e);
}

static int show_unread(struct audit_command *x, const char *filename, const char *platform, const char *why,
	struct err *e)
{
	x->wheels++;
	x->unread++;
	log_error("%s%s%s: %s", platform ? platform : "", platform ? ": " : "", filename, why);
	if (!x->settings.is_json)
		return 0;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	jsondoc_put_str(doc, "filename", filename);
	jsondoc_put_str(doc, "platform", platform);
	jsondoc_put_str(doc, "unknown", why);
	return write_wheel_json(x, doc, e);
}

static int show_end(struct audit_command *x, struct err *e)
{
	struct buf *out = &x->warnings;
	if (x->settings.is_json)
		buf_printf(out,
			"%s\n], \"judged\": %zu, \"with_errors\": %zu, \"with_warnings\": %zu, \"unknown\": %zu}\n",
			x->wheels ? "" : json_head, x->wheels - x->unread, x->bad, x->suspicious, x->unread);
	else if (x->wheels != 1)
		buf_printf(out, "%zu wheels: %zu with errors, %zu with warnings only, %zu unknown\n", x->wheels, x->bad,
			x->suspicious, x->unread);
	if (write_out(out, e) < 0)
		return -1;
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "standard output");
}

// --- files of the command line ---

static int read_wheel_file(const char *path, const char *base, struct filename *name, struct wheel_facts *facts,
	struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_IO, "it cannot be read");
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INVALID, "it is no regular file");
	if (filename_kind(str_from(base)) != FILENAME_WHEEL)
		return err_set(e, ERR_INVALID, "its name is not that of a wheel");
	if (filename_parse(str_from(base), name, e) < 0)
		return -1;
	const struct byte_source bytes = byte_source_file(fd, (uint64_t)st.st_size);
	return wheel_facts_read(&bytes, name, facts, e);
}

static int judge_path(struct audit_command *x, const char *path, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	struct err why = ERR_INIT;
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	if (read_wheel_file(path, base, &name, &facts, &why) < 0)
		return show_unread(x, path, NULL, why.msg, e);
	return judge(x, &name, base, NULL, &facts, e);
}

static int judge_files(struct audit_command *x, int files, char **file, struct err *e)
{
	x->shows_all = true;
	for (int i = 0; i < files; i++)
		if (judge_path(x, file[i], e) < 0)
			return -1;
	return 0;
}

// --- wheels of the store ---

static int judge_stored(void *ctx, const struct stored_wheel *wheel, const struct wheel_facts *facts, const char *why,
	struct err *e)
{
	struct audit_command *x = ctx;
	CLEANUP(filename_release) struct filename name = {0};
	struct err bad_name = ERR_INIT;
	if (!facts)
		return show_unread(x, wheel->filename, wheel->platform->name, why, e);
	if (filename_parse(str_from(wheel->filename), &name, &bad_name) < 0)
		return show_unread(x, wheel->filename, wheel->platform->name, bad_name.msg, e);
	return judge(x, &name, wheel->filename, wheel->platform->name, facts, e);
}

// The platforms of the view become the globs, and *membership that of the view; NULL: it has none.
static int take_view(struct audit_command *x, const struct site *site, const char **membership, struct err *e)
{
	const struct view *v = x->view ? site_view(site, str_from(x->view)) : NULL;
	if (x->view && !v)
		return site_refuse_view(site, x->view, ERR_NOT_FOUND, e);
	if (v && site_generation(site, v) == GENERATION_UNKNOWN)
		return err_set(e, ERR_NOT_FOUND, "view %s: its membership is not known: run wheelcache index first",
			x->view);
	for (size_t i = 0; v && i < v->platform_count; i++)
		command_words_add(&x->globs, v->platform[i]->name);
	*membership = v ? v->membership : NULL;
	return 0;
}

static int judge_store(struct audit_command *x, struct err *e)
{
	struct store store = {0};
	CLEANUP(site_release) struct site site = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(buf_release) struct buf project;
	const char *membership = NULL;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	buf_init(&project, LIMIT_FILE_NAME);
	if (x->project)
		name_normalize(str_from(x->project), &project);
	if (!path || catalog_open_read(path, &catalog, e) < 0 || store_open(&x->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	if (site_check_find(&x->config, &store, catalog, e) < 0) {
		store_release(&store);
		return -1;
	}
	if (site_init(&site, &x->config, &store, catalog, e) < 0 || take_view(x, &site, &membership, e) < 0)
		return -1;
	const struct stored_facts_query query = {.platform = x->globs.item,
		.platforms = x->globs.count,
		.project = x->project ? project.data : NULL,
		.view = membership};
	return stored_facts_each(&site.store, catalog, &query, judge_stored, x, e);
}

static int judge_all(struct audit_command *x, int files, char **file, struct err *e)
{
	if (files)
		x->settings.search = CLI_CONFIG_SEARCH_VARIABLE;
	if (check_audit_line(x, files, e) < 0 || cli_config_read(&x->settings, &x->config, e) < 0)
		return -1;
	// The gate judges; whether uploads are judged does not matter here.
	free(x->config.upload_audit);
	x->config.upload_audit = xstrdup("warn");
	if (wheel_gate_new(&x->config, &x->gate, e) < 0) {
		e->kind = ERR_USAGE; // also if the policy is missing
		return -1;
	}
	if ((files ? judge_files(x, files, file, e) : judge_store(x, e)) < 0)
		return -1;
	return show_end(x, e);
}

static void audit_command_release(struct audit_command *x)
{
	wheel_gate_unref(x->gate);
	audit_probe_release(&x->probe);
	config_release(&x->config);
	command_words_release(&x->globs);
	buf_release(&x->text);
	buf_release(&x->warnings);
}

static int run_audit(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(audit_command_release) struct audit_command x = {0};
	config_init(&x.config);
	buf_init(&x.text, LIMIT_PAGE);
	buf_init(&x.warnings, LIMIT_PAGE);
	int first = cli_config_options(&x.settings, self, argc, argv, take_audit_option, &x, e);
	if (first < 0)
		return EXIT_UNREAD;
	if (x.probe.module)
		return audit_bind_run(&x.probe, argc - first, x.settings.is_json, e);
	if (audit_probe_is_wanted(&x.probe))
		return audit_cpu_run(&x.probe, argc - first, argv + first, x.settings.is_json, e);
	if (judge_all(&x, argc - first, argv + first, e) < 0)
		return EXIT_UNREAD;
	return x.unread ? EXIT_UNREAD : x.bad ? EXIT_ERRORS : 0;
}

const struct command command_audit = {
	.name = "audit",
	.arguments = "[FILE...]",
	.help = "judge what is inside wheels by what their names promise",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(PLATFORMS) | SHARED(JSON),
	.run = run_audit,
};
