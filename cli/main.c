// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "builder/run/supervisor.h"
#include "cli/common/command.h"
#include "lib/base/log.h"

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	if (argc > 1 && strcmp(argv[1], SUPERVISOR_COMMAND) == 0)
		return supervisor_main(argc - 1, argv + 1);
	// libzip converts the time of each member that it opens. Without TZ, libc checks /etc/localtime each time:
	// three system calls per wheel. All our times are in UTC.
	setenv("TZ", "UTC0", 1);
	int code = command_root.run(&command_root, argc, argv, &e);
	if (e.kind != ERR_NONE)
		log_error("%s", e.msg);
	return code;
}
