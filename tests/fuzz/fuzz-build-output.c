// SPDX-License-Identifier: Apache-2.0
// What the programs of a build leave: an input is a log, the path of a member of a wheel and the reports of pip. The
// reason is one short line of text, a module can be a word of a command, and what is noted is bounded.
#include "builder/step/build-facts.h"
#include "builder/step/log-reason.h"
#include "builder/step/top-modules.h"
#include "lib/base/limits.h"
#include "tests/fuzz/fuzz.h"

static void check_line(const struct buf *line)
{
	HOLDS(!line->failed && line->len <= LOG_REASON && str_is_utf8(buf_view(line)));
	for (size_t i = 0; i < line->len; i++)
		HOLDS((unsigned char)line->data[i] >= ' ' && line->data[i] != 0x7f);
}

static void check_reason(struct str log)
{
	CLEANUP(buf_release) struct buf reason, line;
	buf_init(&reason, LOG_REASON);
	buf_init(&line, LOG_REASON);
	log_reason(log, &reason);
	log_reason_line(log, &line);
	check_line(&reason);
	check_line(&line);
	struct str part = log_reason_part(log);
	HOLDS(part.len <= log.len && (!part.len || part.ptr + part.len == log.ptr + log.len));
	int signal = log_reason_signal(log);
	HOLDS(signal >= 0 && signal < 100);
}

static void check_module(struct str path)
{
	CLEANUP(buf_release) struct buf module;
	buf_init(&module, LIMIT_PATH);
	top_modules_of_path(path, &module);
	for (struct str rest = buf_view(&module); !module.failed && rest.len;) {
		struct str part = str_cut(&rest, '.');
		HOLDS(part.len && !ascii_is_digit(*part.ptr) && *part.ptr != '-');
		for (size_t i = 0; i < part.len; i++)
			HOLDS(part.ptr[i] == '_' || ascii_is_alnum(part.ptr[i]) || (unsigned char)part.ptr[i] >= 0x80);
	}
}

static void check_reports(struct str reports)
{
	CLEANUP(strset_release) struct strset names = {0};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	build_facts_requirements(reports, doc, &names);
	HOLDS(jsondoc_get(doc, "requirements") && names.count <= LIMIT_BUILD_REQUIREMENTS);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str rest = fuzz_text(bytes, size);
	check_reason(str_cut(&rest, '\0'));
	check_module(str_cut(&rest, '\0'));
	check_reports(rest.ptr ? rest : STR(""));
	return 0;
}
