// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder/run/supervisor.h"
#include "cli/common/command.h"
#include "lib/base/log.h"
#include "lib/state/config/config.h"

static const struct command *const commands[] = {
	&command_audit,
	&command_build,
	&command_builds,
	&command_check,
	&command_compare,
	&command_demote,
	&command_evidence,
	&command_explain,
	&command_find,
	&command_freeze,
	&command_index,
	&command_missing,
	&command_platform,
	&command_promote,
	&command_provenance,
	&command_prune,
	&command_provides,
	&command_push,
	&command_rebuilds,
	&command_remove,
	&command_retain,
	&command_serve,
	&command_thaw,
	&command_token,
	&command_unyank,
	&command_view,
	&command_yank,
};

static void print_usage(FILE *out)
{
	fputs("Usage: wheelcache COMMAND [OPTION]...\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-11s %s\n", commands[i]->name, commands[i]->help);
	fputs("\n\"wheelcache COMMAND --help\" prints the options of a command.\n"
	      "--version prints the version, --print-config every configuration key with its default.\n",
		out);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(name, commands[i]->name) == 0)
			return commands[i];
	return NULL;
}

static void print_version(FILE *out)
{
	fputs("wheelcache " PACKAGE_VERSION "\n", out);
}

// Handles the options that need no command.
static bool print_requested(const char *option)
{
	static const struct {
		const char *option;
		void (*print)(FILE *out);
	} row[] = {
		{"--help", print_usage},
		{"-h", print_usage},
		{"--version", print_version},
		{"--print-config", config_print},
	};
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (strcmp(option, row[i].option) == 0) {
			row[i].print(stdout);
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	const char *name = argc > 1 ? argv[1] : "";
	if (strcmp(name, SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	if (print_requested(name))
		return 0;
	const struct command *command = find_command(name);
	if (!command) {
		if (*name)
			log_error("unknown command %s", name);
		print_usage(stderr);
		return err_exit_code(ERR_USAGE);
	}
	// libzip converts the time of each member that it opens. Without TZ, libc checks /etc/localtime each time:
	// three system calls per wheel. All our times are in UTC.
	setenv("TZ", "UTC0", 1);
	int code = command->run(command, argc - 1, argv + 1, &e);
	if (e.kind != ERR_NONE)
		log_error("%s", e.msg);
	return code;
}
