// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "cli/common/command.h"

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
	.run = command_run_row,
};
