// SPDX-License-Identifier: Apache-2.0
#include "cli/common/command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "lib/base/buf.h"
#include "lib/base/decimal.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/base/str.h"

// getopt's val: the index of a row plus FIRST_ROW, or 'h'. FIRST_ROW is above all letters.
enum { FIRST_ROW = 256, HELP = 'h' };

static const struct option_row shared_options[SHARED_COUNT] = {
	[SHARED_CONFIG] = {"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE",
		TEXT(session, file)},
	[SHARED_CATALOG] = {"catalog", '\0', "FILE", "use FILE as the catalog", KEY("catalog", "path")},
	[SHARED_STORE] = {"store", 's', "DIR", "use DIR as the store", KEY("store", "path")},
	[SHARED_THREADS] = {"threads", '\0', "N", "read the store in N threads; one per processor",
		KEY("index", "threads")},
	[SHARED_UPSTREAM] = {"upstream", '\0', NULL, "serve upstream's (PyPI's) files too; without a store, only these",
		KEY("upstream", "merge")},
	[SHARED_UPSTREAM_URL] = {"upstream-url", '\0', "URL", "use the simple index at URL as upstream",
		KEY("upstream", "url")},
	[SHARED_PLATFORM] = {"platform", 'p', "NAME", "only on this platform; on every platform that has the file",
		TEXT(session, platform)},
	[SHARED_PLATFORMS] = {"platform", 'p', "GLOB", "only on platforms that match GLOB; may be repeated",
		LIST(session, globs)},
	[SHARED_PYTHON] = {"python", '\0', "V", "only for this Python, such as 3.12", TEXT(session, python)},
	[SHARED_CA_FILE] = {"ca-file", '\0', "FILE", "trust the certificates in FILE (PEM) instead of the system's",
		TEXT(session, ca_file)},
	[SHARED_GRACE] = {"grace", '\0', "TIME", "delete only what was unlisted at least TIME ago, such as 7d",
		NUMBER(session, grace, seconds)},
	[SHARED_NAME_TAKEN_OVER] = {"name-taken-over", '\0', NULL,
		"count upstream's files even where all are younger than ours", FLAG(session, is_taken_over)},
	[SHARED_OFFLINE] = {"offline", '\0', NULL, "use the cached answers of upstream; send no request",
		FLAG(session, is_offline)},
	[SHARED_OUTPUT] = {"output", 'o', "FILE", "write to FILE, which appears complete or not at all",
		TEXT(session, output)},
	[SHARED_RETRIES] = {"retries", '\0', "N", "retry N times after a lost connection or a server error; 5",
		NUMBER(session, retries, integer)},
	[SHARED_TIMEOUT] = {"timeout", '\0', "TIME", "give up a connection that is silent for TIME, such as 5m",
		NUMBER(session, timeout, seconds)},
	[SHARED_TOKEN_FILE] = {"token-file", '\0', "FILE", "the token; the variable WHEELCACHE_TOKEN, or netrc",
		TEXT(session, token_file)},
	[SHARED_REASON] = {"reason", 'r', "TEXT", "the reason, for the log of the view", TEXT(session, reason)},
	[SHARED_DRY_RUN] = {"dry-run", 'n', NULL, "change nothing; print what would be done",
		FLAG(session, is_dry_run)},
	[SHARED_JSON] = {"json", '\0', NULL, "print the result as JSON", FLAG(session, is_json)},
	[SHARED_QUIET] = {"quiet", 'q', NULL, "print only problems: no progress bar, no summary",
		FLAG(session, is_quiet)},
	[SHARED_LOG_LEVEL] = {"log-level", '\0', "LEVEL", "error, warn, info or debug", KEY("server", "log-level")},
};

// Returns the row at *i and moves *i past it; NULL at the end. The command's own rows come first.
static const struct option_row *next_row(const struct command *self, size_t *i)
{
	if (*i < self->option_count)
		return &self->options[(*i)++];
	for (; *i < self->option_count + SHARED_COUNT; (*i)++)
		if (self->shared & 1u << (*i - self->option_count))
			return &shared_options[(*i)++ - self->option_count];
	return NULL;
}

const struct option_row *command_next_option(const struct command *self, size_t *i)
{
	static const struct option_row help = {"help", 'h', NULL, "print this help and exit", .kind = OPTION_FLAG};
	const struct option_row *row = next_row(self, i);
	if (row)
		return row;
	return (*i)++ == self->option_count + SHARED_COUNT ? &help : NULL;
}

static struct option *long_options(const struct command *self)
{
	struct option *all = xcalloc(self->option_count + SHARED_COUNT + 2, sizeof(*all));
	const struct option_row *row;
	size_t count = 0;
	for (size_t i = 0; (row = next_row(self, &i)); count++)
		all[count] = (struct option){
			row->name, row->value ? required_argument : no_argument, NULL, FIRST_ROW + (int)i - 1};
	all[count] = (struct option){"help", no_argument, NULL, HELP};
	return all;
}

// The leading ":" makes getopt report a missing value and an unknown option differently.
static void add_letters(const struct command *self, struct buf *out)
{
	const struct option_row *row;
	buf_puts(out, ":h");
	for (size_t i = 0; (row = next_row(self, &i));) {
		if (!row->letter)
			continue;
		buf_putc(out, row->letter);
		if (row->value)
			buf_putc(out, ':');
	}
}

static const struct option_row *find_row(const struct command *self, int found)
{
	const struct option_row *row;
	for (size_t i = 0; (row = next_row(self, &i));)
		if (found == FIRST_ROW + (int)i - 1 || (row->letter && found == row->letter))
			return row;
	return NULL;
}

// The option that a mistyped one, such as "--platfrom=x", was meant to be; NULL if none is like it.
static const char *suggest_option(const struct command *self, const char *given)
{
	struct suggest n;
	const struct option_row *row;
	if (strncmp(given, "--", 2) != 0)
		return NULL;
	struct str name = str_from(given + 2);
	suggest_init(&n, str_cut(&name, '='));
	for (size_t i = 0; (row = command_next_option(self, &i));)
		suggest_add(&n, row->name);
	return n.word;
}

// getopt has not reordered argv when it stops at an error: the wrong word is just before optind.
static int refuse_option(const struct command *self, int found, char **argv, struct err *e)
{
	const char *what = argv[optind - 1];
	char letter[] = {'-', (char)optopt, '\0'};
	if (optopt > 0 && optopt < FIRST_ROW && strncmp(what, "--", 2) != 0)
		what = letter;
	if (found == ':')
		return err_set(e, ERR_USAGE, "%s needs a value; see wheelcache%s%s --help", what,
			*self->name ? " " : "", self->name);
	if (strncmp(what, "--store", strlen("--store")) == 0 && self->arguments && strstr(self->arguments, "STORE"))
		return err_set(e, ERR_USAGE,
			"--store is not an option of this command; the store stands alone: wheelcache %s %s",
			self->name, self->arguments);
	const char *meant = suggest_option(self, what);
	return err_set(e, ERR_USAGE,
		"%s is not an option of this command, or takes no value; %s%s%ssee wheelcache%s%s --help", what,
		meant ? "did you mean --" : "", meant ? meant : "", meant ? "? " : "", *self->name ? " " : "",
		self->name);
}

static void print_rows(const struct command *self, FILE *out)
{
	fprintf(out, "Usage: wheelcache %s COMMAND [OPTION]...\n%s\n\n", self->name, self->help);
	for (const struct command *const *row = self->rows; *row; row++)
		fprintf(out, "  %-9s %s\n", command_word(*row), (*row)->help);
	fprintf(out, "\n\"wheelcache %s COMMAND --help\" prints the options of a command.\n", self->name);
}

void command_print_help(const struct command *self, FILE *out)
{
	const struct option_row *row;
	if (self->rows) {
		print_rows(self, out);
		return;
	}
	fprintf(out, "Usage: wheelcache %s [OPTION]... %s\n%s\n\n", self->name, self->arguments, self->help);
	for (size_t i = 0; (row = command_next_option(self, &i));) {
		char letter[] = "    ", left[64];
		if (row->letter)
			snprintf(letter, sizeof(letter), "-%c,", row->letter);
		snprintf(left, sizeof(left), "--%s%s%s", row->name, row->value ? "=" : "",
			row->value ? row->value : "");
		fprintf(out, "  %-3.3s %-24s %s\n", letter, left, row->help);
	}
}

// --- what an option does ---

static int fill_number(const struct option_row *row, uint64_t *field, const char *value, struct err *e)
{
	if (!row->number->set(field, value))
		return err_set(e, ERR_USAGE, "--%s: \"%s\" is not %s", row->name, value, row->number->wants);
	if (*field > row->number->most)
		return err_set(e, ERR_USAGE, "--%s: %s is more than %llu", row->name, value,
			(unsigned long long)row->number->most);
	return 0;
}

// The field is a pointer to one of the rows of the table.
static int fill_word(const struct option_row *row, void *field, const char *value, struct err *e)
{
	CLEANUP(buf_release) struct buf words = buf_up_to(ERR_MSG_SIZE);
	for (size_t i = 0; i < row->rows; i++) {
		const void *one = (const char *)row->table + i * row->row_size;
		const char *word = *(const char *const *)one;
		if (strcmp(value, word) == 0) {
			memcpy(field, &one, sizeof(one));
			return 0;
		}
		buf_printf(&words, "%s%s", !i ? "" : i + 1 == row->rows ? " or " : ", ", word);
	}
	return err_set(e, ERR_USAGE, "--%s %s: expected %s", row->name, value, words.data);
}

static int fill_option(void *x, const struct option_row *row, const char *value, struct err *e)
{
	struct session *s = x;
	void *field = (char *)x + row->at;
	if (row >= s->command->options && row < s->command->options + s->command->option_count)
		s->own_option = row->name;
	switch (row->kind) {
	case OPTION_KEY:
		session_give(s, row->section, row->key, value ? value : "yes");
		break;
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	case OPTION_TEXT:
		*(const char **)field = value;
		break;
	case OPTION_LIST:
		session_list_add(s, field, value);
		break;
	case OPTION_NUMBER:
		return fill_number(row, field, value, e);
	case OPTION_COUNT:
		if (!decimal_parse(str_from(value), INT64_MAX, field) || !*(uint64_t *)field)
			return err_set(e, ERR_USAGE, "--%s %s: not a number from 1 on", row->name, value);
		break;
	case OPTION_WORD:
		return fill_word(row, field, value, e);
	case OPTION_CALL:
		return row->take(x, row, value, e);
	}
	return 0;
}

// Returns the index of the first argument that is not an option, or -1.
static int read_options(struct session *s, int argc, char **argv, struct err *e)
{
	const struct command *self = s->command;
	CLEANUP(mem_free) struct option *all = long_options(self);
	CLEANUP(buf_release) struct buf letters = buf_up_to(256);
	add_letters(self, &letters);
	optind = 0; // glibc starts again
	opterr = 0;
	for (;;) {
		int found = getopt_long(argc, argv, letters.data, all, NULL);
		if (found == -1)
			return optind;
		if (found == HELP) {
			command_print_help(self, stdout);
			exit(0);
		}
		const struct option_row *row = found == '?' || found == ':' ? NULL : find_row(self, found);
		if (!row)
			return refuse_option(self, found, argv, e);
		// The words that follow an option with a list of values. getopt goes on after them.
		if (fill_option(s, row, row->value ? optarg : NULL, e) < 0)
			return -1;
		bool is_list = row->value && str_ends(str_from(row->value), STR("..."));
		for (; is_list && optind < argc && argv[optind][0] != '-'; optind++)
			if (fill_option(s, row, argv[optind], e) < 0)
				return -1;
	}
}

// --- running ---

const char *command_word(const struct command *self)
{
	const char *blank = strrchr(self->name, ' ');
	return blank ? blank + 1 : self->name;
}

const struct command *command_find_row(const struct command *group, const char *word)
{
	for (const struct command *const *row = group->rows; *row; row++)
		if (strcmp(word, command_word(*row)) == 0)
			return *row;
	return NULL;
}

const struct command *command_suggest_row(const struct command *group, const char *word)
{
	struct suggest n;
	suggest_init(&n, str_from(word));
	for (const struct command *const *row = group->rows; *row; row++)
		suggest_add(&n, command_word(*row));
	return n.word ? command_find_row(group, n.word) : NULL;
}

static int run_row(const struct command *self, int argc, char **argv, struct err *e)
{
	const char *word = argc > 1 ? argv[1] : "";
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_rows(self, stdout);
		return 0;
	}
	const struct command *row = command_find_row(self, word);
	if (row)
		return command_run(row, argc - 1, argv + 1, e);
	const struct command *meant = command_suggest_row(self, word);
	err_set(e, ERR_USAGE, "%s: %s%s; %s%s%ssee wheelcache %s --help", self->name,
		*word ? "unknown command " : "no command is given", word, meant ? "did you mean " : "",
		meant ? meant->name : "", meant ? "? " : "", self->name);
	return err_exit_code(ERR_USAGE);
}

static int read_line(struct session *s, int argc, char **argv, struct err *e)
{
	int first = read_options(s, argc, argv, e);
	if (first < 0)
		return -1;
	s->word = argv + first;
	s->words = (size_t)(argc - first);
	s->rows = s->is_json ? jsondoc_array() : NULL;
	if (s->command->follow != FOLLOW_STORE)
		return 0;
	if (s->words > 1)
		return err_set(e, ERR_USAGE, "one STORE at most, not also %s", s->word[1]);
	session_take_store(s, *s->word);
	return 0;
}

int command_run(const struct command *self, int argc, char **argv, struct err *e)
{
	if (self->rows && *self->name)
		return run_row(self, argc, argv, e);
	CLEANUP(mem_free) void *x = xcalloc(1, self->size ? self->size : sizeof(struct session));
	struct session *s = x;
	session_init(s, self);
	if (self->begin)
		self->begin(x);
	int code = read_line(s, argc, argv, e);
	if (code == 0)
		code = self->run(x, e);
	if (code >= 0 && s->out.len && session_print(s, e) < 0)
		code = -1;
	if (code < 0)
		code = err_exit_code(e->kind);
	if (self->release)
		self->release(x);
	session_release(s);
	return code;
}
