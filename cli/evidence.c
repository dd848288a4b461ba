// SPDX-License-Identifier: Apache-2.0
// Records of test runs: made where the tests ran, sent to a server, and what the catalog has of them.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/output.h"
#include "cli/common/record-sender.h"
#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/catalog/catalog-evidence.h"
#include "promoter/evidence-make.h"

enum { RECORDS_MOST = 50 };

// --- evidence make: the test runs that its command line names ---

// One run for each kind, platform and Python with a report. --kind, --platform and --python hold for the files behind
// them, up to the next of that name; --platform begins a platform without a Python. One that is given once holds for
// the whole line, wherever it stands. Strings are borrowed from the command line.
enum run_word { RUN_KIND, RUN_PLATFORM, RUN_PYTHON, RUN_WORDS };

// A file, with the words that hold for it; NULL: none does.
struct run_file {
	const char *path;
	const char *word[RUN_WORDS];
};

struct run_files {
	struct run_file *item;
	size_t count, room;
};

struct make_command {
	struct session s;
	const char *word[RUN_WORDS]; // the ones that hold now
	const char *last[RUN_WORDS]; // the last ones given
	size_t given[RUN_WORDS];     // how often
	struct run_files junit, wheel, list;
	bool takes_older;
	struct buf text; // of the records, one a line
	struct record_sender to;
	bool is_unsent;   // an error of the server that each further record would have
	struct err first; // the first failure of a run
};

static const char *const run_word_name[RUN_WORDS] = {"kind", "platform", "python"};
static const char *const run_word_value[RUN_WORDS] = {"KIND", "NAME", "V"};

// The row's `at` is the offset of the files.
static int take_run_file(void *self, const struct option_row *row, const char *value, struct err *e UNUSED)
{
	struct make_command *x = self;
	struct run_files *files = (void *)((char *)self + row->at);
	ARENA_GROW(&x->s.arena, files->item, files->count, files->room);
	struct run_file *f = &files->item[files->count++];
	f->path = value;
	memcpy(f->word, x->word, sizeof(f->word));
	return 0;
}

// The row's `at` is the word.
static int take_run_word(void *self, const struct option_row *row, const char *value, struct err *e UNUSED)
{
	struct make_command *x = self;
	if (row->at == RUN_PLATFORM)
		x->word[RUN_PYTHON] = NULL;
	x->word[row->at] = x->last[row->at] = value;
	x->given[row->at]++;
	return 0;
}

// A word that is given once holds everywhere.
static void spread_words(const struct make_command *x, struct run_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		for (int w = 0; w < RUN_WORDS; w++)
			if (x->given[w] == 1)
				files->item[i].word[w] = x->last[w];
}

static bool is_of_run(const struct run_file *a, const struct run_file *b)
{
	for (int w = 0; w < RUN_WORDS; w++)
		if (strcmp(a->word[w], b->word[w]) != 0)
			return false;
	return true;
}

// The wheel holds where it was given: a kind says nothing of it.
static bool is_wheel_of_run(const struct run_file *wheel, const struct run_file *run)
{
	for (int w = RUN_PLATFORM; w < RUN_WORDS; w++)
		if (wheel->word[w] && strcmp(wheel->word[w], run->word[w]) != 0)
			return false;
	return true;
}

// Those of the files that belong to the run; returns their number.
static size_t choose_of_run(const struct run_files *files, const struct run_file *run, const char **out)
{
	size_t count = 0;
	for (size_t i = 0; i < files->count; i++)
		if (is_wheel_of_run(&files->item[i], run))
			out[count++] = files->item[i].path;
	return count;
}

// --- evidence make: the records ---

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
	log_info("%s on %s/%s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped; tested: %s", r.kind,
		r.platform, r.python, r.passed, r.failed, r.skipped, COUNTED(r.wheels, "wheel|wheels"));
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
	if (record_sender_options(&x->to, &x->s, &fetch, e) < 0)
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
		CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EVIDENCE_LIST);
		int got = is_url(*list) ? get_list(x, *list, &text, e) : fs_read_file(*list, &text, e);
		if (got < 0 || named_wheels_read(out, *list, buf_view(&text), e) < 0)
			return -1;
	}
	return 0;
}

// A run without a record takes nothing from the others.
static int make_run(struct make_command *x, struct evidence_make *run, const char *const *list, struct err *e)
{
	CLEANUP(arena_release) struct arena room = {0};
	struct named_wheels named = {.text = &room};
	struct err why = ERR_INIT;
	int result = read_named_lists(x, list, &named, &why);
	run->named = named.item;
	run->nameds = named.count;
	if (result == 0 && make_record(x, run, &why) == 0)
		return 0;
	if (why.kind == ERR_USAGE || why.kind == ERR_LIMIT) {
		*e = why;
		return -1;
	}
	note_unmade(x, &why);
	return 0;
}

// A wheel belongs to each run of the platform and of the Python that hold for it.
static int make_run_of(struct make_command *x, size_t first, struct err *e)
{
	const struct run_file *run = &x->junit.item[first];
	const char **junit = ARENA_NEW(&x->s.arena, const char *, x->junit.count);
	const char **wheel = ARENA_NEW(&x->s.arena, const char *, x->wheel.count + 1);
	const char **list = ARENA_NEW(&x->s.arena, const char *, x->list.count + 1);
	struct evidence_make make = {.kind = run->word[RUN_KIND],
		.platform = run->word[RUN_PLATFORM],
		.python = run->word[RUN_PYTHON],
		.junit = junit,
		.wheel = wheel,
		.takes_older = x->takes_older};
	for (size_t i = first; i < x->junit.count; i++)
		if (is_of_run(&x->junit.item[i], run))
			junit[make.junits++] = x->junit.item[i].path;
	make.wheels = choose_of_run(&x->wheel, run, wheel);
	choose_of_run(&x->list, run, list);
	return make_run(x, &make, list, e);
}

static int make_all_runs(struct make_command *x, struct err *e)
{
	spread_words(x, &x->junit);
	spread_words(x, &x->wheel);
	spread_words(x, &x->list);
	for (int w = 0; w < RUN_WORDS; w++)
		if (!x->given[w])
			return err_set(e, ERR_USAGE, "--%s %s is missing", run_word_name[w], run_word_value[w]);
	if (!x->junit.count)
		return err_set(e, ERR_USAGE, "--junit FILE is missing");
	for (size_t i = 0; i < x->junit.count; i++)
		for (int w = 0; w < RUN_WORDS; w++)
			if (!x->junit.item[i].word[w])
				return err_set(e, ERR_USAGE, "--junit %s: no --%s stands before it%s",
					x->junit.item[i].path, run_word_name[w],
					w == RUN_PYTHON ? ", behind its --platform" : "");
	for (size_t i = 0; i < x->junit.count; i++) {
		size_t first = 0;
		while (!is_of_run(&x->junit.item[first], &x->junit.item[i]))
			first++;
		if (first == i && make_run_of(x, i, e) < 0)
			return -1;
	}
	return 0;
}

static int put_made_records(struct make_command *x, struct err *e)
{
	if (!x->text.len)
		return 0;
	if (x->s.output)
		return output_write_file("--output", x->s.output, buf_view(&x->text), e);
	if (!x->to.url)
		buf_str(&x->s.out, buf_view(&x->text));
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

static int run_make(void *self, struct err *e)
{
	struct make_command *x = self;
	if (x->s.words)
		return err_set(e, ERR_USAGE, "%s belongs to no option", x->s.word[0]);
	if ((x->to.url && record_sender_open(&x->to, &x->s, e) < 0) || make_all_runs(x, e) < 0 ||
		put_made_records(x, e) < 0 ||
		(x->to.url && x->text.len && evidence_read_each(buf_view(&x->text), send_made, x, e) < 0))
		return -1;
	if (session_print(&x->s, e) < 0)
		return -1;
	*e = x->first;
	return e->kind == ERR_NONE ? 0 : -1;
}

static void begin_make(void *self)
{
	struct make_command *x = self;
	buf_init(&x->text, LIMIT_EVIDENCE_LIST);
}

static void release_make(void *self)
{
	struct make_command *x = self;
	buf_release(&x->text);
	record_sender_release(&x->to);
}

static const struct option_row make_options[] = {
	{"kind", 'k', "KIND", "the kind of tests, as [view] requires names it, such as integration",
		CALL(take_run_word), .at = RUN_KIND},
	{"junit", 'j', "FILE...", "the reports of the tests, in JUnit XML; several add up", CALL(take_run_file),
		.at = offsetof(struct make_command, junit)},
	{"wheels", 'w', "FILE...", "the wheels that were tested", CALL(take_run_file),
		.at = offsetof(struct make_command, wheel)},
	{"wheels-from", '\0', "FILE|URL...", "a list of their names and hashes: of pip install --report, sha256sum",
		CALL(take_run_file), .at = offsetof(struct make_command, list)},
	{"platform", 'p', "NAME", "the platform on which the tests ran", CALL(take_run_word), .at = RUN_PLATFORM},
	{"python", '\0', "V", "the Python with which they ran, such as 3.12", CALL(take_run_word), .at = RUN_PYTHON},
	{"allow-older", '\0', NULL, "take reports that are older than a wheel", FLAG(make_command, takes_older)},
	{"send", '\0', "URL", "send the records to this server: https://HOST/", TEXT(make_command, to.url)},
};

static const struct command command_evidence_make = {
	.name = "evidence make",
	.arguments = "--kind=KIND --junit=FILE... --wheels=FILE... --platform=NAME --python=V [--send=URL]",
	.help = "write or send the records of test runs, on the machine where they ran",
	OPTIONS(make_options),
	.shared = SHARED(OUTPUT) | SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(CA_FILE) | SHARED(TOKEN_FILE),
	.size = sizeof(struct make_command),
	.begin = begin_make,
	.run = run_make,
	.release = release_make,
};

// --- evidence send ---

// A record, and the file that has it.
struct sent_record {
	struct evidence record;
	const char *path;
};

struct send_command {
	struct session s;
	struct record_sender to;
	struct sent_record *record;
	size_t records, room;
	struct err first; // the first failure
};

static void note_sent(struct send_command *x, const char *path, const char *id, const char *result,
	const struct err *why)
{
	struct jsondoc *one = x->s.rows ? jsondoc_object() : NULL;
	if (one) {
		jsondoc_put_str(one, "file", path);
		if (id[0])
			jsondoc_put_str(one, "id", id);
		jsondoc_put_str(one, "result", result);
		jsondoc_put_str(one, "reason", why ? why->msg : "");
		jsondoc_add(x->s.rows, one);
	}
	if (why && x->first.kind == ERR_NONE)
		x->first = *why;
	else if (why)
		log_error("%s", why->msg);
	if (!why && !one && !x->s.is_quiet)
		escape_terminal_line(&x->s.out, "%s: %s as %s", path, result, id);
}

// The arguments of keep_sent_record.
struct sent_file {
	struct send_command *command;
	const char *path;
};

static int keep_sent_record(void *ctx, struct evidence *record, struct err *e UNUSED)
{
	const struct sent_file *f = ctx;
	struct send_command *x = f->command;
	GROW(x->record, x->records, x->room);
	x->record[x->records++] = (struct sent_record){*record, f->path};
	*record = (struct evidence){0};
	return 0;
}

// False: an error that each further record would have.
static bool send_record(struct send_command *x, const struct sent_record *r)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_EVIDENCE);
	char id[SHA256_HEX + 1] = "";
	struct err why = ERR_INIT;
	evidence_write(&r->record, &text);
	int result = text.failed ? err_set(&why, ERR_INVALID, "%s: the record has more than %d bytes", r->path,
					   LIMIT_EVIDENCE)
				 : record_sender_send(&x->to, buf_view(&text), id, &why);
	note_sent(x, r->path, id, result < 0 ? "failed" : record_sender_result[result], result < 0 ? &why : NULL);
	return result >= 0 || why.kind == ERR_INVALID;
}

static int by_send_order(const void *a, const void *b)
{
	return evidence_compare(&((const struct sent_record *)a)->record, &((const struct sent_record *)b)->record);
}

static int run_send(void *self, struct err *e)
{
	struct send_command *x = self;
	if (!x->to.url)
		return err_set(e, ERR_USAGE, "--to URL is missing");
	if (!x->s.words)
		return err_set(e, ERR_USAGE, "no FILE is given");
	if (record_sender_open(&x->to, &x->s, e) < 0)
		return -1;
	for (size_t i = 0; i < x->s.words; i++) {
		const char *path = x->s.word[i];
		CLEANUP(buf_release) struct buf file = buf_up_to(LIMIT_EVIDENCE_LIST);
		struct sent_file sent = {x, path};
		struct err why = ERR_INIT;
		if (fs_read_file(path, &file, &why) == 0) {
			if (evidence_read_each(buf_view(&file), keep_sent_record, &sent, &why) == 0)
				continue;
			err_prefix(&why, "%s: ", path);
		}
		if (why.kind != ERR_USAGE)
			why.kind = ERR_INVALID;
		note_sent(x, path, "", "failed", &why);
	}
	// What comes later counts, so the newest record is sent last, whatever the names of the files are.
	if (x->records)
		qsort(x->record, x->records, sizeof(*x->record), by_send_order);
	for (size_t i = 0; i < x->records && send_record(x, &x->record[i]); i++)
		;
	if (x->s.rows)
		session_json_rows(&x->s, jsondoc_object(), "files");
	if (session_print(&x->s, e) < 0)
		return -1;
	*e = x->first;
	return err_exit_code(e->kind);
}

static void release_send(void *self)
{
	struct send_command *x = self;
	for (size_t i = 0; i < x->records; i++)
		evidence_release(&x->record[i].record);
	free(x->record);
	record_sender_release(&x->to);
}

static const struct option_row send_options[] = {
	{"to", '\0', "URL", "the base URL of the server: https://HOST/", TEXT(send_command, to.url)},
};

static const struct command command_evidence_send = {
	.name = "evidence send",
	.arguments = "FILE... --to=URL",
	.help = "send records of test runs to a server",
	OPTIONS(send_options),
	.shared =
		SHARED(RETRIES) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET) | SHARED(CA_FILE) | SHARED(TOKEN_FILE),
	.size = sizeof(struct send_command),
	.run = run_send,
	.release = release_send,
};

// --- evidence list ---

struct evidence_list {
	struct session s;
	const char *kind; // NULL: not given
	uint64_t most;    // 0: not given
};

static void hex_of_record(const struct catalog_evidence *r, char out[SHA256_HEX + 1])
{
	hex_encode(r->id, SHA256_SIZE, out);
	out[SHA256_HEX] = '\0';
}

static void add_record_json(struct evidence_list *x, const struct catalog_evidence *r)
{
	char id[SHA256_HEX + 1], made[CLOCK_TEXT], received[CLOCK_TEXT];
	struct jsondoc *row = jsondoc_object();
	hex_of_record(r, id);
	clock_write(r->made, made);
	clock_write(r->received, received);
	const char *const text[][2] = {{"id", id}, {"kind", r->kind}, {"platform", r->platform}, {"python", r->python},
		{"made", made}, {"received", received}, {"by", r->by}, {"address", r->address}, {"views", r->views},
		{"override", r->overrides}};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		jsondoc_put_str(row, text[i][0], text[i][1]);
	jsondoc_put_int(row, "passed", (int64_t)r->passed);
	jsondoc_put_int(row, "failed", (int64_t)r->failed);
	jsondoc_put_int(row, "skipped", (int64_t)r->skipped);
	jsondoc_put_int(row, "wheels", (int64_t)r->wheels);
	jsondoc_add(x->s.rows, row);
}

static void add_record_line(struct evidence_list *x, const struct catalog_evidence *r)
{
	char id[SHA256_HEX + 1], received[CLOCK_TEXT];
	hex_of_record(r, id);
	clock_write(r->received, received);
	buf_printf(&x->s.out, "%s  %s  %s  %s/%s  ", id, received, r->kind, r->platform, r->python);
	if (r->overrides)
		buf_puts(&x->s.out, "override: ");
	else
		buf_printf(&x->s.out, "%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped", r->passed,
			r->failed, r->skipped);
	escape_terminal(&x->s.out, str_from(r->overrides ? r->overrides : ""));
	buf_printf(&x->s.out, "; %s; by ", COUNTED(r->wheels, "wheel|wheels"));
	escape_terminal(&x->s.out, str_from(r->by));
	buf_puts(&x->s.out, " for ");
	escape_terminal(&x->s.out, str_from(r->views));
	buf_putc(&x->s.out, '\n');
}

static int add_listed_record(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct evidence_list *x = ctx;
	if (!x->most || (x->kind && !str_eq(str_from(x->kind), str_from(r->kind))))
		return 0;
	x->most--;
	(x->s.rows ? add_record_json : add_record_line)(x, r);
	return 0;
}

static int run_list(void *self, struct err *e)
{
	struct evidence_list *x = self;
	if (session_open(&x->s, SESSION_VIEWS, e) < 0)
		return -1;
	x->most = x->most ? x->most : RECORDS_MOST;
	if (catalog_evidence_since(x->s.catalog, 0, x->kind ? UINT64_MAX : x->most, add_listed_record, x, e) < 0)
		return -1;
	if (x->s.rows)
		session_json_rows(&x->s, jsondoc_object(), "evidence");
	return 0;
}

static const struct option_row list_options[] = {
	{"most", '\0', "N", "only the newest N records; 50", COUNT(evidence_list, most)},
	{"kind", 'k', "KIND", "only records of this kind of tests", TEXT(evidence_list, kind)},
};

static const struct command command_evidence_list = {
	.name = "evidence list",
	.arguments = "[STORE]",
	.help = "list the newest records that the index has",
	OPTIONS(list_options),
	.shared = SHARED_BASE | SHARED(JSON),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct evidence_list),
	.run = run_list,
};

// --- evidence show ---

// The file of the record, with its id.
static int run_show(void *self, struct err *e)
{
	struct session *s = self;
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf file = buf_up_to(2 * (size_t)LIMIT_EVIDENCE);
	if (s->words < 1 || s->words > 2)
		return err_set(e, ERR_USAGE, "expected an ID and at most one STORE");
	const char *id = s->word[0];
	session_take_store(s, s->word[1]);
	if (session_open(s, SESSION_VIEWS, e) < 0)
		return -1;
	if (!hex_decode(str_from(id), sha256, SHA256_SIZE))
		return err_set(e, ERR_USAGE, "%s: not the id of a record, 64 hexadecimal digits", id);
	if (catalog_evidence_get(s->catalog, sha256, &file, e) < 0)
		return err_prefix(e, "%s: ", id);
	struct jsondoc *doc = jsondoc_read(buf_view(&file), e);
	if (!doc)
		return -1;
	jsondoc_put_str(doc, "id", id);
	session_json(s, doc);
	return 0;
}

static const struct command command_evidence_show = {
	.name = "evidence show",
	.arguments = "ID [STORE]",
	.help = "print a record, who sent it, when and from where, as JSON",
	.shared = SHARED_BASE,
	.run = run_show,
};

// --- the group ---

static const struct command *const rows[] = {
	&command_evidence_make,
	&command_evidence_send,
	&command_evidence_list,
	&command_evidence_show,
	NULL,
};

const struct command command_evidence = {
	.name = "evidence",
	.help = "records of test runs, for promotions: make, send, list, show",
	.rows = rows,
};
