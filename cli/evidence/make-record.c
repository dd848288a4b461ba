// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/output-file.h"
#include "cli/evidence/record-sender.h"
#include "cli/evidence/test-runs.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/fs.h"
#include "promoter/named-wheels.h"

struct make_command {
	struct cli_config settings;
	struct test_runs runs;
	bool takes_older;
	const char *path; // NULL: standard output, unless the records are sent
	struct buf text;  // of the records, one a line
	struct record_sender to;
	bool is_unsent; // an error of the server that each further record would have
	struct err first; // the first failure of a run
};

static const struct option_row options[] = {
	{"kind", 'k', "KIND", "the kind of tests, as [view] requires names it, such as integration", NO_KEY},
	{"junit", 'j', "FILE...", "the reports of the tests, in JUnit XML; several add up", NO_KEY},
	{"wheels", 'w', "FILE...", "the wheels that were tested", NO_KEY},
	{"wheels-from", '\0', "FILE|URL...", "a list of their names and hashes: of pip install --report, sha256sum", NO_KEY},
	{"platform", 'p', "NAME", "the platform on which the tests ran", NO_KEY},
	{"python", '\0', "V", "the Python with which they ran, such as 3.12", NO_KEY},
	{"allow-older", '\0', NULL, "take reports that are older than a wheel", NO_KEY},
	{"send", '\0', "URL", "send the records to this server: https://HOST/", NO_KEY},
};

static int take_make_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct make_command *x = ctx;
	const struct command_flag flags[] = {{"allow-older", &x->takes_older}};
	const struct command_text texts[] = {{"output", &x->path}, {"send", &x->to.url}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value) || test_runs_take(&x->runs, name, value))
		return 0;
	return record_sender_take(&x->to, name, value, e);
}

// The first failure is the command's; of a command with one run it is its error alone.
static void note_unmade(struct make_command *x, const struct err *why)
{
	if (x->first.kind == ERR_NONE)
		x->first = *why;
	else
		log_error("%s", why->msg);
}

static int write_record(const struct evidence *r, struct buf *out, struct err *e)
{
	buf_init(out, LIMIT_EVIDENCE);
	evidence_write(r, out); // ends with a line break
	return out->failed ? err_set(e, ERR_LIMIT, "the record has more than %d bytes", LIMIT_EVIDENCE) : 0;
}

static int make_record(struct make_command *x, const struct evidence_make *run, struct err *e)
{
	CLEANUP(evidence_release) struct evidence r = {0};
	CLEANUP(buf_release) struct buf record = {0};
	if (evidence_make(run, &r, e) < 0 || write_record(&r, &record, e) < 0)
		return -1;
	buf_str(&x->text, buf_view(&record));
	if (x->text.failed)
		return err_set(e, ERR_LIMIT, "the records have more than %d bytes", LIMIT_EVIDENCE_LIST);
	log_info("%s on %s/%s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped; tested: %zu wheel%s",
		r.kind, r.platform, r.python, r.passed, r.failed, r.skipped, r.wheels, r.wheels == 1 ? "" : "s");
	return 0;
}

static bool is_url(const char *word)
{
	return str_starts(str_from(word), STR("https://")) || str_starts(str_from(word), STR("http://"));
}

static int get_list(struct make_command *x, const char *url, struct buf *out, struct err *e)
{
	static const char *const headers[] = {
		"Accept: application/vnd.pypi.simple.v1+json, application/json;q=0.9, text/plain;q=0.8", NULL};
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	struct fetch_options fetch;
	fetch_answer_init(&a, LIMIT_EVIDENCE_LIST);
	if (record_sender_options(&x->to, &fetch, e) < 0)
		return -1;
	fetch.user = fetch.password = NULL; // the token is for the server of --send alone; netrc has those of others
	struct fetch *f = fetch_new(&fetch);
	int got = fetch_get(f, url, headers, &a, e);
	fetch_free(f);
	if (got < 0)
		return err_prefix(e, "--wheels-from: ");
	if (a.status != 200)
		return err_set(e, ERR_NET, "--wheels-from %s: answered with %u", url, a.status);
	buf_str(out, buf_view(&a.body));
	return 0;
}

static int read_named_lists(struct make_command *x, const char *const *list, struct named_wheels *out, struct err *e)
{
	for (; *list; list++) {
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_EVIDENCE_LIST);
		int got = is_url(*list) ? get_list(x, *list, &text, e) : fs_read_file(*list, &text, e);
		if (got < 0 || named_wheels_read(out, *list, buf_view(&text), e) < 0)
			return -1;
	}
	return 0;
}

// A run without a record takes nothing from the others.
static int make_run(void *ctx, const struct evidence_make *run, const char *const *list, struct err *e)
{
	CLEANUP(named_wheels_release) struct named_wheels named = {0};
	struct make_command *x = ctx;
	struct err why = ERR_INIT;
	struct evidence_make from = *run;
	from.takes_older = x->takes_older;
	int result = read_named_lists(x, list, &named, &why);
	from.named = named.item;
	from.nameds = named.count;
	if (result == 0 && make_record(x, &from, &why) == 0)
		return 0;
	if (why.kind == ERR_USAGE || why.kind == ERR_LIMIT) {
		*e = why;
		return -1;
	}
	note_unmade(x, &why);
	return 0;
}

static int put_records(const struct make_command *x, struct err *e)
{
	if (!x->text.len)
		return 0;
	if (x->path)
		return output_file_write("--output", x->path, buf_view(&x->text), e);
	if (!x->to.url && (fwrite(x->text.data, 1, x->text.len, stdout) != x->text.len || fflush(stdout) < 0))
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int send_made(void *ctx, struct evidence *r, struct err *e UNUSED)
{
	struct make_command *x = ctx;
	CLEANUP(buf_release) struct buf text = {0};
	struct err why = ERR_INIT;
	char id[SHA256_HEX + 1];
	if (x->is_unsent)
		return 0;
	int result = write_record(r, &text, &why);
	if (result == 0)
		result = record_sender_send(&x->to, buf_view(&text), id, &why);
	if (result >= 0) {
		log_info("%s on %s/%s: %s as %s", r->kind, r->platform, r->python, record_sender_result[result], id);
	} else {
		x->is_unsent = why.kind != ERR_INVALID;
		note_unmade(x, &why);
	}
	return 0;
}

static int make_records(struct make_command *x, struct err *e)
{
	if (test_runs_each(&x->runs, make_run, x, e) < 0 || put_records(x, e) < 0)
		return -1;
	if (x->to.url && x->text.len && evidence_read_each(buf_view(&x->text), send_made, x, e) < 0)
		return -1;
	*e = x->first;
	return e->kind == ERR_NONE ? 0 : -1;
}

static void make_command_release(struct make_command *x)
{
	test_runs_release(&x->runs);
	buf_release(&x->text);
	record_sender_release(&x->to);
}

static int run_make(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(make_command_release) struct make_command x = {0};
	buf_init(&x.text, LIMIT_EVIDENCE_LIST);
	record_sender_init(&x.to);
	int first = cli_config_options(&x.settings, self, argc, argv, take_make_option, &x, e);
	if (first < 0)
		return err_exit_code(e->kind);
	if (first < argc) {
		err_set(e, ERR_USAGE, "%s belongs to no option", argv[first]);
		return err_exit_code(e->kind);
	}
	if ((x.to.url && record_sender_open(&x.to, e) < 0) || make_records(&x, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

const struct command command_evidence_make = {
	.name = "evidence make",
	.arguments = "--kind=KIND --junit=FILE... --wheels=FILE... --platform=NAME --python=V [--send=URL]",
	.help = "write or send the records of test runs, on the machine where they ran",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED(OUTPUT) | SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(CA_FILE) | SHARED(TOKEN_FILE),
	.run = run_make,
};
