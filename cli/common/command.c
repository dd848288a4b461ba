// SPDX-License-Identifier: Apache-2.0
#include "cli/common/command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"
#include "lib/base/nearest.h"
#include "lib/base/str.h"

// getopt's val: the index of a row plus FIRST_ROW, or 'h'. FIRST_ROW is above all letters.
enum { FIRST_ROW = 256, HELP = 'h' };

static const struct option_row shared_options[SHARED_COUNT] = {
	[SHARED_CONFIG] = {"config", 'c', "FILE", "read the configuration (wheelcache.conf(5)) from FILE", NO_KEY},
	[SHARED_CATALOG] = {"catalog", '\0', "FILE", "use FILE as the catalog", "catalog", "path"},
	[SHARED_STORE] = {"store", 's', "DIR", "use DIR as the store", "store", "path"},
	[SHARED_THREADS] = {"threads", '\0', "N", "read the store in N threads; one per processor", "index", "threads"},
	[SHARED_UPSTREAM] = {"upstream", '\0', NULL, "serve upstream's (PyPI's) files too; without a store, only these",
		"upstream", "merge"},
	[SHARED_UPSTREAM_URL] = {"upstream-url", '\0', "URL", "use the simple index at URL as upstream", "upstream",
		"url"},
	[SHARED_PLATFORM] = {"platform", 'p', "NAME", "only on this platform; on every platform that has the file",
		NO_KEY},
	[SHARED_PLATFORMS] = {"platform", 'p', "GLOB", "only on platforms that match GLOB; may be repeated", NO_KEY},
	[SHARED_PYTHON] = {"python", '\0', "V", "only for this Python, such as 3.12", NO_KEY},
	[SHARED_CA_FILE] = {"ca-file", '\0', "FILE", "trust the certificates in FILE (PEM) instead of the system's",
		NO_KEY},
	[SHARED_GRACE] = {"grace", '\0', "TIME", "delete only what was unlisted at least TIME ago, such as 7d", NO_KEY},
	[SHARED_NAME_TAKEN_OVER] = {"name-taken-over", '\0', NULL,
		"count upstream's files even where all are younger than ours", NO_KEY},
	[SHARED_OFFLINE] = {"offline", '\0', NULL, "use the cached answers of upstream; send no request", NO_KEY},
	[SHARED_OUTPUT] = {"output", 'o', "FILE", "write to FILE, which appears complete or not at all", NO_KEY},
	[SHARED_RETRIES] = {"retries", '\0', "N", "retry N times after a lost connection or a server error; 5", NO_KEY},
	[SHARED_TIMEOUT] = {"timeout", '\0', "TIME", "give up a connection that is silent for TIME, such as 5m",
		NO_KEY},
	[SHARED_TOKEN_FILE] = {"token-file", '\0', "FILE", "the token; the variable WHEELCACHE_TOKEN, or netrc", NO_KEY},
	[SHARED_REASON] = {"reason", 'r', "TEXT", "the reason, for the log of the view", NO_KEY},
	[SHARED_DRY_RUN] = {"dry-run", 'n', NULL, "change nothing; print what would be done", NO_KEY},
	[SHARED_JSON] = {"json", '\0', NULL, "print the result as JSON", NO_KEY},
	[SHARED_QUIET] = {"quiet", 'q', NULL, "print only problems: no progress bar, no summary", NO_KEY},
	[SHARED_LOG_LEVEL] = {"log-level", '\0', "LEVEL", "error, warn, info or debug", "server", "log-level"},
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
	static const struct option_row help = {"help", 'h', NULL, "print this help and exit", NO_KEY};
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
static const char *nearest_option(const struct command *self, const char *given)
{
	struct nearest n;
	const struct option_row *row;
	if (strncmp(given, "--", 2) != 0)
		return NULL;
	struct str name = str_from(given + 2);
	nearest_init(&n, str_cut(&name, '='));
	for (size_t i = 0; (row = command_next_option(self, &i));)
		nearest_offer(&n, row->name);
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
	const char *meant = nearest_option(self, what);
	return err_set(e, ERR_USAGE,
		"%s is not an option of this command, or takes no value; %s%s%ssee wheelcache%s%s --help", what,
		meant ? "did you mean --" : "", meant ? meant : "", meant ? "? " : "", *self->name ? " " : "",
		self->name);
}

static void print_option(const struct option_row *row, FILE *out)
{
	char letter[] = "    ", left[64];
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c,", row->letter);
	snprintf(left, sizeof(left), "--%s%s%s", row->name, row->value ? "=" : "", row->value ? row->value : "");
	fprintf(out, "  %-3.3s %-24s %s\n", letter, left, row->help);
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
	for (size_t i = 0; (row = command_next_option(self, &i));)
		print_option(row, out);
}

// The words that follow an option with a list of values. getopt goes on after them.
static int take_more_values(const struct option_row *row, int argc, char **argv, command_option_fn *fn, void *ctx,
	struct err *e)
{
	bool is_list = row->value && str_ends(str_from(row->value), STR("..."));
	for (; is_list && optind < argc && argv[optind][0] != '-'; optind++)
		if (fn(ctx, row, argv[optind], e) < 0)
			return -1;
	return 0;
}

int command_options(const struct command *self, int argc, char **argv, command_option_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(mem_free) struct option *all = long_options(self);
	CLEANUP(buf_release) struct buf letters;
	buf_init(&letters, 256);
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
		if (fn(ctx, row, row->value ? optarg : NULL, e) < 0 ||
			take_more_values(row, argc, argv, fn, ctx, e) < 0)
			return -1;
	}
}

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

const struct command *command_nearest_row(const struct command *group, const char *word)
{
	struct nearest n;
	nearest_init(&n, str_from(word));
	for (const struct command *const *row = group->rows; *row; row++)
		nearest_offer(&n, command_word(*row));
	return n.word ? command_find_row(group, n.word) : NULL;
}

int command_run_row(const struct command *self, int argc, char **argv, struct err *e)
{
	const char *word = argc > 1 ? argv[1] : "";
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_rows(self, stdout);
		return 0;
	}
	const struct command *row = command_find_row(self, word);
	if (row)
		return row->run(row, argc - 1, argv + 1, e);
	const struct command *meant = command_nearest_row(self, word);
	err_set(e, ERR_USAGE, "%s: %s%s; %s%s%ssee wheelcache %s --help", self->name,
		*word ? "unknown command " : "no command is given", word, meant ? "did you mean " : "",
		meant ? meant->name : "", meant ? "? " : "", self->name);
	return err_exit_code(ERR_USAGE);
}

bool command_take_flag(const struct command_flag *flags, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, flags[i].name) == 0) {
			*flags[i].flag = true;
			return true;
		}
	return false;
}

bool command_take_text(const struct command_text *texts, size_t count, const char *name, const char *value)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, texts[i].name) == 0) {
			*texts[i].text = value;
			return true;
		}
	return false;
}

void command_words_add(struct command_words *words, const char *text)
{
	GROW(words->item, words->count, words->room);
	words->item[words->count++] = text;
}

void command_words_release(struct command_words *words)
{
	free(words->item);
	*words = (struct command_words){0};
}

int command_take_platforms(struct command_words *globs, const char *name, const char *value, struct err *e)
{
	if (strcmp(name, "platform") != 0)
		return err_set(e, ERR_USAGE, "--%s", name);
	command_words_add(globs, value);
	return 0;
}
