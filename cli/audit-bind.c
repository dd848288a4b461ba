// SPDX-License-Identifier: Apache-2.0
#include "cli/audit-bind.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "builder/probe/bind-check.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

enum { OUTPUT_MOST = 256 << 20, BIND_SECONDS = 60, UNREADABLE = 2 };

#define LOADER "wheelcache-dlopen"

// --- options ---

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

// --- output ---

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
	buf_printf(out, "judged by %s: %u error%s\n", bind_mode_name[judge], r->run[judge].errors,
		r->run[judge].errors == 1 ? "" : "s");
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

static void print_bind_json(const struct bind_report *r, enum bind_mode judge, const char *module, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *all = jsondoc_object();
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
	jsondoc_write(all, 2, out);
}

// --- the check ---

static int run_bind_check(const struct bind_options *o, enum bind_mode judge, bool is_json, struct err *e)
{
	CLEANUP(bind_report_release) struct bind_report report = {0};
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, OUTPUT_MOST);
	log_info("--bind runs the code of %s", o->module);
	if (bind_check(o, &report, e) < 0)
		return -1;
	if (is_json)
		print_bind_json(&report, judge, o->module, &text);
	else
		print_bind_text(&report, judge, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the report is too long");
	if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return report.run[judge].errors ? 1 : 0;
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

static int check_binding(struct audit_probe *x, int files, bool is_json, struct err *e)
{
	enum bind_mode judge;
	CLEANUP(strset_release) struct strset symbols = {0};
	CLEANUP(mem_free) struct bind_expectation *expect = xcalloc(x->expect.count + 1, sizeof(*expect));
	CLEANUP(mem_free) char *loader = NULL;
	if (files)
		return err_set(e, ERR_USAGE, "--bind takes one library, its value");
	if (audit_probe_prepare(x, BIND_SECONDS, e) < 0 || find_mode(x, &judge, e) < 0 ||
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
		.stop = x->stop,
	};
	return run_bind_check(&options, judge, is_json, e);
}

int audit_bind_run(struct audit_probe *x, int files, bool is_json, struct err *e)
{
	int code = check_binding(x, files, is_json, e);
	return code < 0 ? UNREADABLE : code;
}
