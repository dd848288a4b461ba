// SPDX-License-Identifier: Apache-2.0
// Reads a configuration for test-manual.py, and says what is wrong with it.
#include <stdio.h>

#include "lib/state/config/config.h"

int main(int argc, char **argv)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	if (argc == 2 && config_read(&c, argv[1], &e) == 0)
		return 0;
	fprintf(stderr, "%s\n", argc == 2 ? e.msg : "usage: read-config FILE");
	return 1;
}
