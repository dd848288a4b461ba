// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cli/common/command.h"
#include "lib/audit/platform-offer.h"
#include "lib/base/limits.h"

static int print_offer(const char *root, struct err *e)
{
	CLEANUP(platform_offer_cleanup) struct platform_offer *offer = NULL;
	CLEANUP(buf_release) struct buf list;
	buf_init(&list, LIMIT_OFFER_LIST);
	if (platform_offer_open(root, &offer, e) < 0 || platform_offer_print(offer, &list, e) < 0)
		return -1;
	if (fwrite(list.data, 1, list.len, stdout) != list.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int run_provides(const struct command *self, int argc, char **argv, struct err *e)
{
	int first = command_options(self, argc, argv, NULL, NULL, e);
	if (first < 0)
		return err_exit_code(e->kind);
	if (argc - first != 1) {
		err_set(e, ERR_USAGE, "expected one ROOT: a root folder, or a list");
		return err_exit_code(e->kind);
	}
	return print_offer(argv[first], e) == 0 ? 0 : err_exit_code(e->kind);
}

const struct command command_provides = {
	.name = "provides",
	.arguments = "ROOT",
	.help = "print the libraries that a machine offers to wheels",
	.run = run_provides,
};
