// SPDX-License-Identifier: Apache-2.0
#include "cli/common/command.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/mem.h"

// getopt's val: a row of the table, or help; above all letters.
enum { FIRST_ROW = 256, HELP = 'h' };

static struct option *long_options(const struct command *self)
{
	struct option *all = xcalloc(self->option_count + 2, sizeof(*all));
	for (size_t i = 0; i < self->option_count; i++) {
		const struct option_row *row = &self->options[i];
		all[i] = (struct option){
			row->name, row->value ? required_argument : no_argument, NULL, FIRST_ROW + (int)i};
	}
	all[self->option_count] = (struct option){"help", no_argument, NULL, HELP};
	return all;
}

// ":" first: a missing value is told from an unknown option.
static void add_letters(const struct command *self, struct buf *out)
{
	buf_puts(out, ":h");
	for (size_t i = 0; i < self->option_count; i++) {
		if (!self->options[i].letter)
			continue;
		buf_putc(out, self->options[i].letter);
		if (self->options[i].value)
			buf_putc(out, ':');
	}
}

static const struct option_row *row_of(const struct command *self, int found)
{
	if (found >= FIRST_ROW)
		return &self->options[found - FIRST_ROW];
	for (size_t i = 0; i < self->option_count; i++)
		if (self->options[i].letter == found)
			return &self->options[i];
	return NULL;
}

// argv was not reordered when getopt stopped at what it does not like: it is just before optind.
static int complain(const struct command *self, int found, char **argv, struct err *e)
{
	const char *what = argv[optind - 1];
	char letter[] = {'-', (char)optopt, '\0'};
	if (optopt > 0 && optopt < FIRST_ROW && strncmp(what, "--", 2) != 0)
		what = letter;
	const char *why = found == ':' ? "needs a value" : "is no option of this command, or takes no value";
	return err_set(e, ERR_USAGE, "%s %s; see wheelcache %s --help", what, why, self->name);
}

static void print_option(const struct option_row *row)
{
	char letter[] = "    ", left[64];
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c,", row->letter);
	snprintf(left, sizeof(left), "--%s%s%s", row->name, row->value ? "=" : "", row->value ? row->value : "");
	printf("  %-3.3s %-22s %s\n", letter, left, row->help);
}

static void print_usage(const struct command *self)
{
	static const struct option_row help = {"help", 'h', NULL, "print this and end"};
	printf("Usage: wheelcache %s [OPTION]... %s\n%s\n\n", self->name, self->arguments, self->help);
	for (size_t i = 0; i < self->option_count; i++)
		print_option(&self->options[i]);
	print_option(&help);
}

int command_options(const struct command *self, int argc, char **argv, option_fn *fn, void *ctx, struct err *e)
{
	CLEANUP(mem_free) struct option *all = long_options(self);
	CLEANUP(buf_release) struct buf letters;
	buf_init(&letters, 256);
	add_letters(self, &letters);
	optind = 0; // glibc: begin anew
	opterr = 0;
	for (;;) {
		int found = getopt_long(argc, argv, letters.data, all, NULL);
		if (found == -1)
			return optind;
		if (found == HELP) {
			print_usage(self);
			exit(0);
		}
		const struct option_row *row = found == '?' || found == ':' ? NULL : row_of(self, found);
		if (!row)
			return complain(self, found, argv, e);
		if (fn(ctx, row->name, row->value ? optarg : NULL, e) < 0)
			return -1;
	}
}

// "plan" of "prune plan".
static const char *last_word(const struct command *row)
{
	return strrchr(row->name, ' ') + 1;
}

static void print_rows(const struct command *self, const struct command *const *rows, FILE *out)
{
	fprintf(out, "Usage: wheelcache %s COMMAND [OPTION]...\n%s\n\n", self->name, self->help);
	for (; *rows; rows++)
		fprintf(out, "  %-9s %s\n", last_word(*rows), (*rows)->help);
	fprintf(out, "\n\"wheelcache %s COMMAND --help\" tells of its options.\n", self->name);
}

int command_run_row(const struct command *self, const struct command *const *rows, int argc, char **argv, struct err *e)
{
	const char *word = argc > 1 ? argv[1] : "";
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		print_rows(self, rows, stdout);
		return 0;
	}
	for (size_t i = 0; rows[i]; i++)
		if (strcmp(word, last_word(rows[i])) == 0)
			return rows[i]->run(rows[i], argc - 1, argv + 1, e);
	err_set(e, ERR_USAGE, "%s: %s%s; see wheelcache %s --help", self->name,
		*word ? "no command " : "no command is given", word, self->name);
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
