// SPDX-License-Identifier: Apache-2.0
#include "cli/audit-cpu.h"

#include <stdio.h>

#include "builder/probe/cpu-check.h"
#include "lib/base/log.h"
#include "lib/format/jsondoc.h"

enum { OUTPUT_MOST = 64 << 20, CPU_SECONDS = 600, CPU_UNREADABLE = 2 };

static void print_cpu_module(const struct cpu_module *m, struct buf *out)
{
	if (m->result == CPU_IMPORTED)
		buf_printf(out, "imported: %s\n", m->name);
	else if (m->result == CPU_NOT_IMPORTED)
		buf_printf(out, "not imported: %s: %s\n", m->name, m->why);
	else if (m->member)
		buf_printf(out, "illegal instruction: %s, while %s was loaded\n", m->name, m->member);
	else
		buf_printf(out, "illegal instruction: %s\n", m->name);
}

static void print_cpu_text(const struct cpu_report *r, const struct cpu_level *level, struct buf *out)
{
	buf_printf(out, "%s (qemu -cpu %s):\n", level->name, level->model);
	for (size_t i = 0; i < r->count; i++)
		print_cpu_module(&r->module[i], out);
	buf_printf(out, "%u imported, %u with an illegal instruction, %u not imported, %u skipped\n",
		r->number[CPU_IMPORTED], r->number[CPU_ILLEGAL], r->number[CPU_NOT_IMPORTED], r->skipped);
	if (r->left_out)
		buf_printf(out, "%u more modules were not tried\n", r->left_out);
}

static void print_cpu_json(const struct cpu_report *r, const struct cpu_level *level, const char *wheel,
	struct buf *out)
{
	static const char *const words[CPU_RESULT_COUNT] = {"imported", "illegal-instruction", "not-imported"};
	CLEANUP(jsondoc_cleanup) struct jsondoc *all = jsondoc_object();
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
	jsondoc_write(all, 2, out);
}

static int print_cpu_report(const struct cpu_report *r, const struct cpu_options *o, bool is_json, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, OUTPUT_MOST);
	if (is_json)
		print_cpu_json(r, o->level, o->wheel, &text);
	else
		print_cpu_text(r, o->level, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the report is too long");
	if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int run_cpu_check(const struct cpu_options *o, bool is_json, struct err *e)
{
	CLEANUP(cpu_report_release) struct cpu_report report = {0};
	log_info("--cpu runs the code of %s", o->wheel);
	if (cpu_check(o, &report, e) < 0 || print_cpu_report(&report, o, is_json, e) < 0)
		return -1;
	if (report.number[CPU_ILLEGAL])
		return 1;
	if (report.count && !report.number[CPU_IMPORTED])
		return err_set(e, ERR_INVALID, "%s: no module was imported, so nothing is known", o->wheel);
	return 0;
}

static int check_cpu(struct audit_probe *x, int files, char **file, bool is_json, struct err *e)
{
	if (audit_probe_prepare(x, CPU_SECONDS, e) < 0)
		return -1;
	const struct cpu_level *level = cpu_level_find(x->cpu, e);
	if (!level)
		return err_prefix(e, "--cpu: ");
	if (!x->python)
		return err_set(e, ERR_USAGE, "--cpu needs --python, the Python that imports the modules");
	if (files != 1)
		return err_set(e, ERR_USAGE, "--cpu takes one wheel");
	const struct cpu_options options = {
		.wheel = file[0],
		.level = level,
		.python = x->interpreter,
		.variable = x->variable.item,
		.variables = x->variable.count,
		.skip = x->skip.item,
		.skips = x->skip.count,
		.seconds = x->seconds,
		.stop = x->stop,
	};
	return run_cpu_check(&options, is_json, e);
}

int audit_cpu_run(struct audit_probe *x, int files, char **file, bool is_json, struct err *e)
{
	int code = check_cpu(x, files, file, is_json, e);
	return code < 0 ? CPU_UNREADABLE : code;
}
