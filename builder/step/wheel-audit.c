// SPDX-License-Identifier: Apache-2.0
#include "builder/step/wheel-audit.h"

#include <fcntl.h>

#include "lib/base/limits.h"
#include "lib/os/fs.h"

static int read_built(const struct built_wheel *wheel, const struct filename *name, struct wheel_facts *out,
	struct err *e)
{
	CLEANUP(mem_close) int fd = open(wheel->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(e, ERR_IO, "%s", wheel->filename);
	const struct byte_source bytes = byte_source_file(fd, wheel->size);
	return wheel_facts_read(&bytes, name, out, e);
}

static void log_findings(const struct audit_report *report, struct run_log *log)
{
	CLEANUP(buf_release) struct buf line;
	buf_init(&line, 2 * LIMIT_PATH + LIMIT_AUDIT_WHY);
	for (size_t i = 0; i < report->count; i++) {
		buf_clear(&line);
		wheel_gate_print(&report->finding[i], &line);
		run_log_line(log, "%s", line.data);
	}
}

int wheel_audit(struct wheel_gate *gate, const char *platform, const struct built_wheel *wheel, struct run_log *log,
	struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	CLEANUP(audit_report_release) struct audit_report report = {0};
	if (filename_parse(str_from(wheel->filename), &name, e) < 0)
		return -1;
	if (read_built(wheel, &name, &facts, &why) < 0) {
		run_log_line(log, "what is inside %s is unknown: %s", wheel->filename, why.msg);
		if (why.kind != ERR_IO && !wheel_gate_refuses(gate))
			return 0;
		*e = why;
		return err_prefix(e, "it cannot be audited: ");
	}
	wheel_gate_judge(gate, platform, &name, &facts, &report);
	log_findings(&report, log);
	return wheel_gate_refuses(gate) ? wheel_gate_check(&report, e) : 0;
}
