// SPDX-License-Identifier: Apache-2.0
// The program as the command above all others, the options that need no command, and the command help, all of which
// comes from the rows that the program itself uses, so that it needs no manual.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/run/supervisor.h"
#include "cli/common/completion.h"
#include "cli/common/command.h"
#include "lib/base/log.h"

static const struct command command_root;

#define COMMAND_ROW(name) &command_##name,
static const struct command *const rows[] = {ALL_COMMANDS(COMMAND_ROW) NULL};

// --- the command help ---

static void print_topics(void)
{
	puts("Topics of \"wheelcache help TOPIC\":\n");
	for (const struct command *const *row = command_root.rows; *row; row++)
		printf("  %-14s %s\n", (*row)->name, (*row)->help);
	puts("\nSections of the configuration, each with its keys; the name of a key is a topic too:\n");
	config_print_sections(stdout);
	puts("\nThe manual pages say more: wheelcache(1), wheelcache-COMMAND(1) and wheelcache.conf(5).");
}

static int refuse_topic(const char *topic, struct err *e)
{
	const struct command *command = command_suggest_row(&command_root, topic);
	const char *meant = command ? command->name : config_suggest_key(str_from(""), topic);
	if (meant)
		return err_set(e, ERR_USAGE, "there is no topic %s; did you mean %s?", topic, meant);
	return err_set(e, ERR_USAGE, "there is no topic %s; wheelcache help lists them", topic);
}

// A command of a group, "prune plan", is two words.
static int print_command_of(const struct command *group, const char *word, struct err *e)
{
	const struct command *row = command_find_row(group, word);
	const struct command *meant = row ? NULL : command_suggest_row(group, word);
	if (row)
		command_print_help(row, stdout);
	else if (meant)
		return err_set(e, ERR_USAGE, "%s has no command %s; did you mean %s?", group->name, word, meant->name);
	return row ? 0 : err_set(e, ERR_USAGE, "%s has no command %s", group->name, word);
}

static int print_topic(char **words, struct err *e)
{
	const struct command *command = command_find_row(&command_root, words[0]);
	if (command && words[1] && command->rows)
		return print_command_of(command, words[1], e);
	if (!command)
		return config_print_topic(words[0], stdout) ? 0 : refuse_topic(words[0], e);
	command_print_help(command, stdout);
	return 0;
}

static int run_help(void *self, struct err *e)
{
	const struct session *s = self;
	if (!s->words)
		print_topics();
	else if (print_topic(s->word, e) < 0)
		return -1;
	return fflush(stdout) < 0 ? err_errno(e, ERR_IO, "cannot write the help") : 0;
}

const struct command command_help = {
	.name = "help",
	.arguments = "[TOPIC]",
	.help = "explain a command, or a section or key of the configuration",
	.run = run_help,
};

// --- the program ---

static int show_version(void *self UNUSED, const struct option_row *row UNUSED, const char *value UNUSED,
	struct err *e UNUSED)
{
	fputs("wheelcache " PACKAGE_VERSION "\nBuilt with " BUILT_COMPILER ", " BUILT_LIBRARIES
	      ".\nHardening:" BUILT_HARDENING ". Sanitizers: " BUILT_SANITIZERS ".\n",
		stdout);
	exit(fflush(stdout) == 0 ? 0 : 1);
}

static int show_config(void *self UNUSED, const struct option_row *row UNUSED, const char *value UNUSED,
	struct err *e UNUSED)
{
	config_print(stdout);
	exit(fflush(stdout) == 0 ? 0 : 1);
}

static int show_completion(void *self UNUSED, const struct option_row *row UNUSED, const char *value, struct err *e)
{
	if (completion_print(&command_root, value, stdout, e) < 0)
		return -1;
	exit(fflush(stdout) == 0 ? 0 : 1);
}

static const struct option_row options[] = {
	{"version", '\0', NULL, "print the version, and what the program was built with", CALL(show_version)},
	{"print-config", '\0', NULL, "print every configuration key with its default", CALL(show_config)},
	{"completion", '\0', "SHELL", "print the completion of command lines for bash, zsh or fish",
		CALL(show_completion)},
};

static void print_program(FILE *out)
{
	fputs("Usage: wheelcache COMMAND [OPTION]...\n\n", out);
	for (const struct command *const *row = rows; *row; row++)
		fprintf(out, "  %-14s %s\n", (*row)->name, (*row)->help);
	fputs("\n\"wheelcache COMMAND --help\" prints the options of a command, and \"wheelcache help\" other topics.\n\n",
		out);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char left[32];
		const char *value = options[i].value;
		snprintf(left, sizeof(left), "--%s%s%s", options[i].name, value ? "=" : "", value ? value : "");
		fprintf(out, "  %-18s  %s\n", left, options[i].help);
	}
}

// An option was given that prints nothing; none is.
static int run_no_command(void *self UNUSED, struct err *e UNUSED)
{
	return 0;
}

static const struct command command_root = {
	.name = "",
	.help = "index a tree of wheels and serve it to pip and uv",
	OPTIONS(options),
	.rows = rows,
	.run = run_no_command,
};

static int run_program(int argc, char **argv, struct err *e)
{
	const char *name = argc > 1 ? argv[1] : "";
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
		print_program(stdout);
		return 0;
	}
	const struct command *command = command_find_row(&command_root, name);
	if (command)
		return command_run(command, argc - 1, argv + 1, e);
	if (*name == '-')
		return command_run(&command_root, argc, argv, e);
	const struct command *meant = command_suggest_row(&command_root, name);
	if (meant)
		err_set(e, ERR_USAGE, "unknown command %s; did you mean %s?", name, meant->name);
	else if (*name)
		err_set(e, ERR_USAGE, "unknown command %s; see wheelcache --help", name);
	if (!meant)
		print_program(stderr);
	return err_exit_code(ERR_USAGE);
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	if (argc > 1 && strcmp(argv[1], SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	// libzip converts the time of each member that it opens. Without TZ, libc checks /etc/localtime each time:
	// three system calls per wheel. All our times are in UTC.
	setenv("TZ", "UTC0", 1);
	int code = run_program(argc, argv, &e);
	if (e.kind != ERR_NONE)
		log_error("%s", e.msg);
	return code;
}
