// SPDX-License-Identifier: Apache-2.0
#include "cli/audit-probe.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/probe/bind-check.h"
#include "builder/probe/cpu-check.h"
#include "builder/probe/probe.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/domain/machine/environment.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

enum { BIND_SECONDS = 60, CPU_SECONDS = 600, UNREADABLE = 2 };

#define LOADER "wheelcache-dlopen"

static atomic_bool is_stopped;

// --- what both share ---

bool audit_probe_is_wanted(const struct audit_probe *x)
{
	return x->module || x->cpu || x->mode || x->python || x->seconds != SESSION_UNSET || x->preload.count ||
	       x->expect.count || x->needed.count || x->variable.count || x->skip.count;
}

// The loader's own variables are ours: without them nothing is reported.
static int check_variables(const struct session_list *w, struct err *e)
{
	for (size_t i = 0; i < w->count; i++) {
		struct str value = str_from(w->item[i]), name = str_cut(&value, '=');
		if (!probe_is_variable(w->item[i]))
			return err_set(e, ERR_USAGE, "--env: \"%s\" is not NAME=VALUE", w->item[i]);
		if (str_eq(name, STR("LD_DEBUG")) || str_eq(name, STR("LD_DEBUG_OUTPUT")))
			return err_set(e, ERR_USAGE, "--env: " STR_FMT " is set by --bind itself", STR_ARG(name));
	}
	return 0;
}

// A version is looked up in PATH: "3.12" is python3.12.
static int find_interpreter(struct audit_probe *x, struct err *e)
{
	struct python p;
	if (!x->python)
		return 0;
	if (strchr(x->python, '/'))
		return (x->interpreter = probe_path(x->python, e)) ? 0 : err_prefix(e, "--python: ");
	if (python_parse(str_from(x->python), &p, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "--python: ");
	}
	CLEANUP(mem_free)
	char *name =
		xasprintf("%s%u.%u%s", p.is_pypy ? "pypy" : "python", p.major, p.minor, p.is_free_threaded ? "t" : "");
	x->interpreter = probe_find_program(name, true);
	return x->interpreter ? 0 : err_set(e, ERR_USAGE, "--python: there is no %s in PATH", name);
}

// The first signal ends the foreign program and removes the scratch folder, the second one ends us at once.
static void take_stop(int number UNUSED)
{
	atomic_store(&is_stopped, true);
}

// Checks the options that both share. The first SIGINT or SIGTERM only sets *stop, from here on.
static int prepare_probe(struct audit_probe *x, uint64_t seconds, struct err *e)
{
	struct sigaction action = {.sa_handler = take_stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
	bool has_more = x->mode || x->preload.count || x->expect.count || x->needed.count;
	if (!x->cpu && x->skip.count)
		return err_set(e, ERR_USAGE, "--skip needs --cpu");
	if (x->module && x->cpu)
		return err_set(e, ERR_USAGE, "--bind and --cpu exclude each other");
	if (!x->module && has_more)
		return err_set(e, ERR_USAGE, "--preload, --expect, --needed and --mode need --bind");
	if (!x->module && !x->cpu)
		return err_set(e, ERR_USAGE, "--python, --env and --timeout need --bind or --cpu");
	if (check_variables(&x->variable, e) < 0 || find_interpreter(x, e) < 0)
		return -1;
	if (x->seconds == SESSION_UNSET)
		x->seconds = seconds;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return 0;
}

int audit_probe_take_timeout(void *self, const struct option_row *row, const char *value, struct err *e)
{
	uint64_t *seconds = (void *)((char *)self + row->at);
	if (config_type_seconds.set(seconds, value) && *seconds)
		return 0;
	return err_set(e, ERR_USAGE, "--timeout: \"%s\" is not %s above 0", value, config_type_seconds.wants);
}

// --- --bind ---

static int find_mode(const struct audit_probe *x, enum bind_mode *out, struct err *e)
{
	*out = x->preload.count ? BIND_PRELOADED : BIND_PLAIN;
	if (!x->mode)
		return 0;
	for (*out = BIND_PLAIN; *out < BIND_MODE_COUNT; (*out)++)
		if (strcmp(x->mode, bind_mode_name[*out]) == 0)
			break;
	if (*out == BIND_MODE_COUNT)
		return err_set(e, ERR_USAGE, "--mode: \"%s\" is neither plain nor preloaded nor deepbind", x->mode);
	if (*out == BIND_PRELOADED && !x->preload.count)
		return err_set(e, ERR_USAGE, "--mode=preloaded needs a --preload");
	return 0;
}

// The symbol's copy is put into *symbols, which owns it.
static int parse_expectation(const char *text, struct strset *symbols, struct bind_expectation *out, struct err *e)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text || !equals[1])
		return err_set(e, ERR_USAGE, "--expect: \"%s\" is not SYMBOL=LIBRARY", text);
	CLEANUP(mem_free) char *symbol = xstrndup(text, (size_t)(equals - text));
	strset_add(symbols, symbol);
	*out = (struct bind_expectation){symbols->item[symbols->count - 1], equals + 1};
	return 0;
}

// In a build folder it is beside our program.
static char *find_loader(struct err *e)
{
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);
	own[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(own, '/');
	CLEANUP(mem_free) char *beside = xasprintf("%.*s" LOADER, slash ? (int)(slash + 1 - own) : 0, own);
	if (slash && access(beside, X_OK) == 0)
		return STEAL_PTR(beside);
	if (access(LIBEXECDIR "/" LOADER, X_OK) == 0)
		return xstrdup(LIBEXECDIR "/" LOADER);
	err_set(e, ERR_IO, "the program %s, which loads the module, is not installed", LIBEXECDIR "/" LOADER);
	return NULL;
}

static void print_bind_line(const struct bind_line *l, struct buf *out)
{
	CLEANUP(buf_release) struct buf symbol, target;
	buf_init(&symbol, LIMIT_PROBE_OUTPUT);
	buf_init(&target, LIMIT_PROBE_OUTPUT);
	escape_terminal(&symbol, str_from(l->symbol));
	escape_terminal(&target, str_from(l->target ? l->target : ""));
	switch (l->result) {
	case BIND_NEEDED_OK:
		buf_printf(out, "needed ok: %s\n", symbol.data);
		return;
	case BIND_NEEDED_ABSENT:
		buf_printf(out, "needed error: %s is not among the needed libraries\n", symbol.data);
		return;
	case BIND_OK:
		buf_printf(out, "binding ok: %s -> %s\n", symbol.data, target.data);
		return;
	case BIND_WRONG:
		buf_printf(out, "binding error: %s -> %s, not %s\n", symbol.data, target.data, l->library);
		return;
	case BIND_ABSENT:
		buf_printf(out, "binding error: the module binds no symbol %s\n", symbol.data);
		return;
	case BIND_RESULT_COUNT:
		break;
	}
}

static void print_bind_text(const struct bind_report *r, enum bind_mode judge, struct buf *out)
{
	for (enum bind_mode mode = BIND_PLAIN; mode < BIND_MODE_COUNT; mode++) {
		const struct bind_run *run = &r->run[mode];
		buf_printf(out, "%s:%s%s\n", bind_mode_name[mode], run->skipped ? " no run: " : "",
			run->skipped ? run->skipped : "");
		for (size_t i = 0; i < run->lines.count; i++)
			print_bind_line(&run->lines.line[i], out);
		if (run->failure)
			buf_printf(out, "load error: %s\n", run->failure);
	}
	buf_printf(out, "judged by %s: %s\n", bind_mode_name[judge], COUNTED(r->run[judge].errors, "error|errors"));
}

static struct jsondoc *bind_line_json(const struct bind_line *l)
{
	bool is_needed = l->result == BIND_NEEDED_OK || l->result == BIND_NEEDED_ABSENT;
	struct jsondoc *o = jsondoc_object();
	jsondoc_put_str(o, "kind", is_needed ? "needed" : "binding");
	jsondoc_put_str(o, "name", l->symbol);
	jsondoc_put_str(o, "target", l->target);
	jsondoc_put_str(o, "expected", l->library);
	jsondoc_put_bool(o, "ok", l->result == BIND_NEEDED_OK || l->result == BIND_OK);
	return o;
}

static struct jsondoc *bind_report_json(const struct bind_report *r, enum bind_mode judge, const char *module)
{
	struct jsondoc *all = jsondoc_object();
	struct jsondoc *runs = jsondoc_array();
	for (enum bind_mode mode = BIND_PLAIN; mode < BIND_MODE_COUNT; mode++) {
		const struct bind_run *run = &r->run[mode];
		struct jsondoc *o = jsondoc_object(), *lines = jsondoc_array();
		for (size_t i = 0; i < run->lines.count; i++)
			jsondoc_add(lines, bind_line_json(&run->lines.line[i]));
		jsondoc_put_str(o, "mode", bind_mode_name[mode]);
		jsondoc_put_str(o, "skipped", run->skipped);
		jsondoc_put_str(o, "failure", run->failure);
		jsondoc_put_int(o, "errors", run->errors);
		jsondoc_put(o, "lines", lines);
		jsondoc_add(runs, o);
	}
	jsondoc_put_str(all, "module", module);
	jsondoc_put_str(all, "mode", bind_mode_name[judge]);
	jsondoc_put_int(all, "errors", r->run[judge].errors);
	jsondoc_put(all, "runs", runs);
	return all;
}

static int parse_expectations(const struct audit_probe *x, struct strset *symbols, struct bind_expectation *out,
	struct err *e)
{
	for (size_t i = 0; i < x->expect.count; i++)
		if (parse_expectation(x->expect.item[i], symbols, &out[i], e) < 0)
			return -1;
	if (!x->expect.count)
		out[0] = (struct bind_expectation){"*", "*"};
	return 0;
}

static int check_binding(struct session *s, struct audit_probe *x, struct err *e)
{
	enum bind_mode judge;
	CLEANUP(strset_release) struct strset symbols = {0};
	CLEANUP(mem_free) struct bind_expectation *expect = xcalloc(x->expect.count + 1, sizeof(*expect));
	CLEANUP(mem_free) char *loader = NULL;
	if (s->words)
		return err_set(e, ERR_USAGE, "--bind takes one library, its value");
	if (prepare_probe(x, BIND_SECONDS, e) < 0 || find_mode(x, &judge, e) < 0 ||
		parse_expectations(x, &symbols, expect, e) < 0 || !(loader = find_loader(e)))
		return -1;
	const struct bind_options options = {
		.module = x->module,
		.preload = x->preload.item,
		.preloads = x->preload.count,
		.variable = x->variable.item,
		.variables = x->variable.count,
		.expect = expect,
		.expects = x->expect.count || x->needed.count ? x->expect.count : 1,
		.needed = x->needed.item,
		.neededs = x->needed.count,
		.python = x->interpreter,
		.loader = loader,
		.seconds = x->seconds,
		.stop = &is_stopped,
	};
	CLEANUP(bind_report_release) struct bind_report report = {0};
	log_info("--bind runs the code of %s", options.module);
	if (bind_check(&options, &report, e) < 0)
		return -1;
	if (s->is_json)
		session_json(s, bind_report_json(&report, judge, options.module));
	else
		print_bind_text(&report, judge, &s->out);
	return report.run[judge].errors ? 1 : 0;
}

int audit_bind_run(struct session *s, struct audit_probe *x, struct err *e)
{
	int code = check_binding(s, x, e);
	return code < 0 ? UNREADABLE : code;
}

// --- --cpu ---

static void print_cpu_text(const struct cpu_report *r, const struct cpu_level *level, struct buf *out)
{
	buf_printf(out, "%s (qemu -cpu %s):\n", level->name, level->model);
	for (size_t i = 0; i < r->count; i++) {
		const struct cpu_module *m = &r->module[i];
		if (m->result == CPU_IMPORTED)
			buf_printf(out, "imported: %s\n", m->name);
		else if (m->result == CPU_NOT_IMPORTED)
			buf_printf(out, "not imported: %s: %s\n", m->name, m->why);
		else if (m->member)
			buf_printf(out, "illegal instruction: %s, while %s was loaded\n", m->name, m->member);
		else
			buf_printf(out, "illegal instruction: %s\n", m->name);
	}
	buf_printf(out, "%u imported, %u with an illegal instruction, %u not imported, %u skipped\n",
		r->number[CPU_IMPORTED], r->number[CPU_ILLEGAL], r->number[CPU_NOT_IMPORTED], r->skipped);
	if (r->left_out)
		buf_printf(out, "%s not tried\n", COUNTED(r->left_out, "more module was|more modules were"));
}

static struct jsondoc *cpu_report_json(const struct cpu_report *r, const struct cpu_level *level, const char *wheel)
{
	static const char *const words[CPU_RESULT_COUNT] = {"imported", "illegal-instruction", "not-imported"};
	struct jsondoc *all = jsondoc_object();
	struct jsondoc *modules = jsondoc_array();
	for (size_t i = 0; i < r->count; i++) {
		struct jsondoc *m = jsondoc_object();
		jsondoc_put_str(m, "name", r->module[i].name);
		jsondoc_put_str(m, "result", words[r->module[i].result]);
		jsondoc_put_str(m, "member", r->module[i].member);
		jsondoc_put_str(m, "why", r->module[i].why);
		jsondoc_add(modules, m);
	}
	jsondoc_put_str(all, "wheel", wheel);
	jsondoc_put_str(all, "cpu", level->name);
	jsondoc_put_str(all, "model", level->model);
	jsondoc_put_int(all, "errors", r->number[CPU_ILLEGAL]);
	jsondoc_put_int(all, "skipped", r->skipped);
	jsondoc_put_int(all, "left_out", r->left_out);
	jsondoc_put(all, "modules", modules);
	return all;
}

static int check_cpu(struct session *s, struct audit_probe *x, struct err *e)
{
	if (prepare_probe(x, CPU_SECONDS, e) < 0)
		return -1;
	const struct cpu_level *level = cpu_level_find(x->cpu, e);
	if (!level)
		return err_prefix(e, "--cpu: ");
	if (!x->python)
		return err_set(e, ERR_USAGE, "--cpu needs --python, the Python that imports the modules");
	if (s->words != 1)
		return err_set(e, ERR_USAGE, "--cpu takes one wheel");
	const struct cpu_options options = {
		.wheel = s->word[0],
		.level = level,
		.python = x->interpreter,
		.variable = x->variable.item,
		.variables = x->variable.count,
		.skip = x->skip.item,
		.skips = x->skip.count,
		.seconds = x->seconds,
		.stop = &is_stopped,
	};
	CLEANUP(cpu_report_release) struct cpu_report report = {0};
	log_info("--cpu runs the code of %s", options.wheel);
	if (cpu_check(&options, &report, e) < 0)
		return -1;
	if (s->is_json)
		session_json(s, cpu_report_json(&report, options.level, options.wheel));
	else
		print_cpu_text(&report, options.level, &s->out);
	if (session_print(s, e) < 0)
		return -1;
	if (report.number[CPU_ILLEGAL])
		return 1;
	if (report.count && !report.number[CPU_IMPORTED])
		return err_set(e, ERR_INVALID, "%s: no module was imported, so nothing is known", options.wheel);
	return 0;
}

int audit_cpu_run(struct session *s, struct audit_probe *x, struct err *e)
{
	int code = check_cpu(s, x, e);
	return code < 0 ? UNREADABLE : code;
}
