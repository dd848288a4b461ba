// SPDX-License-Identifier: Apache-2.0
// Prints every key of the configuration for test-manual.py; with a file's name: reads it and tells what is wrong.
#include <stdio.h>

#include "lib/state/config.h"

int main(int argc, char **argv)
{
	CLEANUP(config_release) struct config c;
	struct err e = ERR_INIT;
	config_init(&c);
	if (argc > 1 && config_read(&c, argv[1], &e) < 0) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	config_print(stdout);
	return 0;
}
