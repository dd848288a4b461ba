// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/audit-probe.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/facts/wheel-facts-json.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/elf/elf-facts.h"
#include "lib/domain/text/name.h"
#include "lib/format/escape.h"
#include "lib/state/store/facts-reader.h"
#include "lib/audit/wheel-gate.h"
#include "lib/view/view.h"

enum { EXIT_ERRORS = 1, EXIT_UNREAD = 2 };

struct audit_command {
	struct session s;
	struct audit_probe probe;
	const char *view, *project;  // NULL: not given
	bool shows_facts, shows_all; // all: wheels without findings too
	struct wheel_gate *gate;
	struct buf text;                        // of the wheel that is judged
	struct buf warnings;                    // text of the wheels without errors, which come last
	size_t wheels, bad, suspicious, unread; // numbers of wheels
};

// --- the output ---

static void put_count(struct buf *out, unsigned count, const char *words)
{
	if (count)
		buf_printf(out, ", %s", COUNTED(count, words));
}

static bool is_equal_text(const char *one, const char *other)
{
	return one == other || (one && other && strcmp(one, other) == 0);
}

static bool is_equal_finding(const struct audit_finding *one, const struct audit_finding *other)
{
	return one->level == other->level && one->code == other->code && is_equal_text(one->rule, other->rule) &&
	       strcmp(one->why, other->why) == 0;
}

// A line for the wheel and one for each finding; equal findings of several members are one. platform NULL: none.
static void print_audit_report(const struct audit_report *r, const char *filename, const char *platform,
	struct buf *out)
{
	CLEANUP(mem_free) bool *is_said = xcalloc(r->count + 1, sizeof(*is_said));
	escape_terminal(out, str_from(filename));
	if (platform) {
		buf_puts(out, " of ");
		escape_terminal(out, str_from(platform));
	}
	buf_printf(out, *r->tag ? ": keeps %s" : ": its platform is not judged%s", r->tag);
	if (strcmp(r->tag, r->symbol_tag) != 0)
		buf_printf(out, " (by symbol versions alone %s)", r->symbol_tag);
	put_count(out, r->errors, "error|errors");
	put_count(out, r->warnings, "warning|warnings");
	buf_putc(out, '\n');
	for (size_t i = 0; i < r->count; i++) {
		size_t others = 0;
		for (size_t k = i + 1; !is_said[i] && k < r->count; k++)
			if (!is_said[k] && is_equal_finding(&r->finding[i], &r->finding[k])) {
				is_said[k] = true;
				others++;
			}
		if (!is_said[i]) {
			const struct audit_finding *f = &r->finding[i];
			buf_printf(out, "  %-5s  %-16s  ", audit_level_name[f->level], audit_code_name[f->code]);
			if (f->rule) {
				buf_puts(out, "rule ");
				escape_terminal(out, str_from(f->rule));
				buf_puts(out, ": ");
			}
			if (f->member) {
				escape_terminal(out, str_from(f->member));
				if (others)
					buf_printf(out, " and %zu more", others);
				buf_puts(out, ": ");
			}
			escape_terminal(out, str_from(f->why));
			buf_putc(out, '\n');
		}
	}
	if (r->errors + r->warnings > r->count)
		buf_printf(out, "  and %s more\n", COUNTED(r->errors + r->warnings - r->count, "finding|findings"));
}

// A line "    name  value"; NULL: none.
static void put_fact(struct buf *out, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(out, "    %-9s  ", name);
	escape_terminal(out, str_from(value));
	buf_putc(out, '\n');
}

static void put_strings(struct buf *out, const char *name, const struct elf_list *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		put_fact(out, i ? "" : name, strings->item[i]);
}

static void put_isa(struct buf *out, const char *name, uint32_t bits)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(256);
	wheel_elf_isa(bits, &text);
	put_fact(out, name, text.len ? text.data : NULL);
}

static void put_elf(struct buf *out, const struct elf_facts *f)
{
	char room[32];
	const char *stack = wheel_elf_stack(f);
	buf_printf(out, "    %-9s  %s, %d bit, %s%s\n", "machine", elf_arch_name(f, room), f->is_64 ? 64 : 32,
		wheel_elf_kind(f), f->has_textrel ? ", TEXTREL" : "");
	put_fact(out, "SONAME", f->soname);
	put_strings(out, "needs", &f->needed);
	put_fact(out, "RPATH", f->rpath);
	put_fact(out, "RUNPATH", f->runpath);
	const char *library = "";
	for (size_t i = 0; i < f->needed_versions; i++) {
		const struct elf_version *v = &f->needed_version[i];
		bool is_next = strcmp(v->library, library) != 0;
		if (is_next) {
			buf_printf(out, "%s    %-9s  ", i ? "\n" : "", i ? "" : "versions");
			escape_terminal(out, str_from(v->library));
			buf_putc(out, ':');
			library = v->library;
		}
		buf_putc(out, ' ');
		escape_terminal(out, str_from(v->name));
	}
	buf_puts(out, f->needed_versions ? "\n" : "");
	for (size_t i = 0; i < f->defined_versions; i++)
		put_fact(out, i ? "" : "defines", f->defined_version[i].name);
	size_t imported = 0;
	for (size_t i = 0; i < f->symbols; i++)
		imported += f->symbol[i].is_imported;
	if (f->is_dynamic)
		buf_printf(out, "    %-9s  %zu imported, %zu exported\n", "symbols", imported, f->symbols - imported);
	put_strings(out, "toolchain", &f->toolchain);
	put_fact(out, "build id", *f->build_id ? f->build_id : NULL);
	put_fact(out, "stack", stack ? stack : f->is_dynamic ? "no mark" : NULL);
	put_isa(out, "ISA needed", f->isa_needed);
	put_isa(out, "ISA used", f->isa_used);
}

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

static int show_text(struct audit_command *x, const char *filename, const char *platform, const struct audit_report *r,
	const struct wheel_facts *facts, struct err *e)
{
	struct buf *out = r->errors ? &x->text : &x->warnings;
	buf_clear(&x->text);
	if (!r->count && !x->shows_all && !x->shows_facts)
		return 0;
	print_audit_report(r, filename, platform, out);
	if (x->shows_facts) {
		// A paragraph for each ELF file.
		for (size_t i = 0; i < facts->elfs; i++) {
			buf_puts(out, "  ");
			escape_terminal(out, str_from(facts->elf[i].path));
			buf_printf(out, " (%" PRIu64 " bytes)\n", facts->elf[i].size);
			put_fact(out, "damaged", facts->elf[i].damage);
			if (!facts->elf[i].damage)
				put_elf(out, &facts->elf[i].elf);
		}
		for (size_t i = 0; i < facts->components; i++) {
			const struct wheel_component *c = &facts->component[i];
			buf_puts(out, "  contains ");
			escape_terminal(out, str_from(c->name));
			buf_putc(out, ' ');
			escape_terminal(out, str_from(c->version ? c->version : "of unknown version"));
			buf_puts(out, ", says ");
			escape_terminal(out, str_from(c->member));
			buf_putc(out, '\n');
		}
	}
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
	if (!x->s.is_json)
		return show_text(x, filename, platform, &report, facts, e);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = audit_report_json(&report, filename);
	jsondoc_put_str(doc, "platform", platform);
	jsondoc_put_str(doc, "unknown", NULL);
	if (x->shows_facts)
		jsondoc_put(doc, "facts", wheel_facts_json(facts));
	return write_wheel_json(x, doc, e);
}

static int show_unread(struct audit_command *x, const char *filename, const char *platform, const char *why,
	struct err *e)
{
	x->wheels++;
	x->unread++;
	log_error("%s%s%s: %s", platform ? platform : "", platform ? ": " : "", filename, why);
	if (!x->s.is_json)
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
	if (x->s.is_json)
		buf_printf(out,
			"%s\n], \"judged\": %zu, \"with_errors\": %zu, \"with_warnings\": %zu, \"unknown\": %zu}\n",
			x->wheels ? "" : json_head, x->wheels - x->unread, x->bad, x->suspicious, x->unread);
	else if (x->wheels != 1)
		buf_printf(out, "%s: %zu with errors, %zu with warnings only, %zu unknown\n",
			COUNTED(x->wheels, "wheel|wheels"), x->bad, x->suspicious, x->unread);
	if (write_out(out, e) < 0)
		return -1;
	return fflush(stdout) == 0 ? 0 : err_errno(e, ERR_IO, "standard output");
}

// The gate judges; whether uploads are judged does not matter here.
static int make_gate(struct audit_command *x, struct err *e)
{
	free(x->s.config.upload_audit);
	x->s.config.upload_audit = xstrdup("warn");
	return wheel_gate_new(&x->s.config, &x->gate, e);
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

static int judge_files(struct audit_command *x, struct err *e)
{
	x->shows_all = true;
	x->s.search = SESSION_SEARCH_VARIABLE;
	if (session_open(&x->s, 0, e) < 0 || make_gate(x, e) < 0)
		return -1;
	for (size_t i = 0; i < x->s.words; i++)
		if (judge_path(x, x->s.word[i], e) < 0)
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
static int take_view(struct audit_command *x, const char **membership, struct err *e)
{
	const struct site *site = &x->s.site;
	const struct view *v = x->view ? site_view(site, str_from(x->view)) : NULL;
	if (x->view && !v)
		return site_refuse_view(site, x->view, ERR_NOT_FOUND, e);
	if (v && site_generation(site, v) == GENERATION_UNKNOWN)
		return err_set(e, ERR_NOT_FOUND, "view %s: its membership is not known: run wheelcache index first",
			x->view);
	for (size_t i = 0; v && i < v->platform_count; i++)
		session_list_add(&x->s, &x->s.globs, v->platform[i]->name);
	*membership = v ? v->membership : NULL;
	return 0;
}

static int judge_store(struct audit_command *x, struct err *e)
{
	struct session *s = &x->s;
	const char *membership = NULL;
	if (session_open(s, SESSION_VIEWS, e) < 0 || make_gate(x, e) < 0 || take_view(x, &membership, e) < 0)
		return -1;
	const struct facts_reader_query query = {.platform = s->globs.item,
		.platforms = s->globs.count,
		.project = x->project ? session_project(s, str_from(x->project)) : NULL,
		.view = membership};
	return facts_reader_each(&s->store, s->catalog, &query, judge_stored, x, e);
}

static int check_audit_line(const struct audit_command *x, struct err *e)
{
	if (x->s.words && (x->s.globs.count || x->view || x->project))
		return err_set(e, ERR_USAGE,
			"--platform, --view and --project choose wheels of the store: not with FILE");
	if (x->view && x->s.globs.count)
		return err_set(e, ERR_USAGE, "--view and --platform exclude each other");
	if (x->project && !name_is_valid(str_from(x->project)))
		return err_set(e, ERR_USAGE, "%s is not a valid project name", x->project);
	return 0;
}

static int run_audit(void *self, struct err *e)
{
	struct audit_command *x = self;
	if (x->probe.module)
		return audit_bind_run(&x->s, &x->probe, e);
	if (audit_probe_is_wanted(&x->probe))
		return audit_cpu_run(&x->s, &x->probe, e);
	if (check_audit_line(x, e) < 0 || (x->s.words ? judge_files(x, e) : judge_store(x, e)) < 0 ||
		show_end(x, e) < 0)
		return EXIT_UNREAD;
	return x->unread ? EXIT_UNREAD : x->bad ? EXIT_ERRORS : 0;
}

static void begin_audit(void *self)
{
	struct audit_command *x = self;
	x->probe.seconds = SESSION_UNSET;
	buf_init(&x->text, LIMIT_PAGE);
	buf_init(&x->warnings, LIMIT_PAGE);
}

static void release_audit(void *self)
{
	struct audit_command *x = self;
	wheel_gate_unref(x->gate);
	free(x->probe.interpreter);
	buf_release(&x->text);
	buf_release(&x->warnings);
}

static const struct option_row options[] = {
	{"view", '\0', "NAME", "only the wheels of this view", TEXT(audit_command, view)},
	{"project", '\0', "PROJECT", "only wheels of this project", TEXT(audit_command, project)},
	{"policy", '\0', "FILE", "also judge by the rules in FILE", KEY("upload", "audit-policy")},
	{"facts", '\0', NULL, "also print what is inside the wheels", FLAG(audit_command, shows_facts)},
	{"bind", '\0', "MODULE", "run MODULE's code, and print which libraries its symbols bind to",
		TEXT(audit_command, probe.module)},
	{"preload", '\0', "LIBRARY", "with --bind: load this before, for all; may be repeated",
		LIST(audit_command, probe.preload)},
	{"expect", '\0', "SYMBOL=LIBRARY", "with --bind: what must bind to what; may be repeated",
		LIST(audit_command, probe.expect)},
	{"needed", '\0', "SONAME", "with --bind: what MODULE must need; may be repeated",
		LIST(audit_command, probe.needed)},
	{"mode", '\0', "MODE", "with --bind: judge by plain, preloaded or deepbind", TEXT(audit_command, probe.mode)},
	{"cpu", '\0', "LEVEL", "run the wheel's code: import its modules on x86-64-v1, -v2 or -v3",
		TEXT(audit_command, probe.cpu)},
	{"skip", '\0', "MODULE", "with --cpu: do not import these; a glob; may be repeated",
		LIST(audit_command, probe.skip)},
	{"python", '\0', "PYTHON", "with --cpu and --bind: in this Python, a version or a path",
		TEXT(audit_command, probe.python)},
	{"env", '\0', "NAME=VALUE", "with --bind and --cpu: set this variable; may be repeated",
		LIST(audit_command, probe.variable)},
	{"timeout", '\0', "TIME", "with --bind and --cpu: end it after TIME; 60s, 10min",
		CALL(audit_probe_take_timeout), .at = FIELD_AT(audit_command, probe.seconds, uint64_t)},
};

const struct command command_audit = {
	.name = "audit",
	.arguments = "[FILE...]",
	.help = "judge what is inside wheels by what their names promise",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(PLATFORMS) | SHARED(JSON),
	.size = sizeof(struct audit_command),
	.begin = begin_audit,
	.run = run_audit,
	.release = release_audit,
};
