// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/output-file.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/promotion/evidence-make.h"

struct make_command {
	struct cli_config settings;
	struct evidence_make from;
	struct command_words junit, wheels;
	const char *path; // NULL: standard output
};

static const struct option_row options[] = {
	{"kind", 'k', "KIND", "the kind of tests, as [view] requires names it, such as integration", NO_KEY},
	{"junit", 'j', "FILE...", "the reports of the tests, in JUnit XML; several add up", NO_KEY},
	{"wheels", 'w', "FILE...", "the wheels that were tested", NO_KEY},
	{"platform", 'p', "NAME", "the platform on which the tests ran", NO_KEY},
	{"python", '\0', "V", "the Python with which they ran, such as 3.12", NO_KEY},
	{"allow-older", '\0', NULL, "take reports that are older than a wheel", NO_KEY},
};

static int take_make_option(void *ctx, const char *name, const char *value, struct err *e UNUSED)
{
	struct make_command *x = ctx;
	const struct command_flag flags[] = {{"allow-older", &x->from.takes_older}};
	const struct command_text texts[] = {{"kind", &x->from.kind}, {"platform", &x->from.platform},
		{"python", &x->from.python}, {"output", &x->path}};
	const struct {
		const char *name;
		struct command_words *words;
	} lists[] = {{"junit", &x->junit}, {"wheels", &x->wheels}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (str_eq(str_from(name), str_from(lists[i].name)))
			command_words_add(lists[i].words, value);
	return 0;
}

static int check_given(const struct make_command *x, const char *rest, struct err *e)
{
	const struct {
		const char *name, *value;
	} row[] = {{"kind KIND", x->from.kind}, {"platform NAME", x->from.platform}, {"python V", x->from.python}};
	if (rest)
		return err_set(e, ERR_USAGE, "%s belongs to no option", rest);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (!row[i].value)
			return err_set(e, ERR_USAGE, "--%s is missing", row[i].name);
	return 0;
}

static int write_record(const struct make_command *x, const struct evidence *r, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_EVIDENCE);
	evidence_write(r, &text); // ends with a line break
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the record has more than %d bytes", LIMIT_EVIDENCE);
	if (x->path)
		return output_file_write("--output", x->path, buf_view(&text), e);
	if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) < 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int make_record(const struct make_command *x, struct err *e)
{
	CLEANUP(evidence_release) struct evidence r = {0};
	if (evidence_make(&x->from, &r, e) < 0 || write_record(x, &r, e) < 0)
		return -1;
	log_info("%s on %s/%s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped; tested: %zu wheel%s",
		r.kind, r.platform, r.python, r.passed, r.failed, r.skipped, r.wheels, r.wheels == 1 ? "" : "s");
	return 0;
}

static void make_command_release(struct make_command *x)
{
	command_words_release(&x->junit);
	command_words_release(&x->wheels);
}

static int run_make(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(make_command_release) struct make_command x = {0};
	int first = cli_config_options(&x.settings, self, argc, argv, take_make_option, &x, e);
	if (first < 0 || check_given(&x, argv[first], e) < 0)
		return err_exit_code(e->kind);
	x.from.junit = x.junit.item;
	x.from.junits = x.junit.count;
	x.from.wheel = x.wheels.item;
	x.from.wheels = x.wheels.count;
	return make_record(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_evidence_make = {
	.name = "evidence make",
	.arguments = "--kind=KIND --junit=FILE... --wheels=FILE... --platform=NAME --python=V",
	.help = "write the record of a test run, on the machine where it ran",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED(OUTPUT),
	.run = run_make,
};
