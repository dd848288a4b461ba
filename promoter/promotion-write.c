// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "promoter/promotion-run.h"

static void take_row(struct membership_file *file, const struct promote_row *row)
{
	*file = (struct membership_file){.platform = row->platform,
		.project = row->project,
		.filename = row->filename,
		.tested = row->tested,
		.testeds = row->testeds};
	memcpy(file->sha256, row->sha256, SHA256_SIZE);
}

int promotion_step_write(const struct promotion_step *step, struct catalog *c, struct promote_answer *answer,
	struct err *e)
{
	CLEANUP(mem_free) struct membership_file *add = xcalloc(answer->rows + 1, sizeof(*add));
	CLEANUP(mem_free) struct membership_file *end = xcalloc(answer->rows + 1, sizeof(*end));
	struct membership_change m = {.view = step->view,
		.generation = step->generation + 1,
		.action = step->action,
		.by = step->by,
		.address = step->address,
		.reason = step->reason,
		.add = add,
		.remove = end};
	if (step->evidence) {
		m.evidence = (const uint8_t(*)[SHA256_SIZE])step->evidence->id;
		m.evidences = step->evidence->count;
	}
	for (size_t i = 0; i < answer->rows; i++) {
		if (answer->row[i].result == PROMOTE_DONE)
			take_row(&add[m.adds++], &answer->row[i]);
		else if (answer->row[i].result == PROMOTE_ENDED)
			take_row(&end[m.removes++], &answer->row[i]);
	}
	if (membership_append(step->folder, c, &m, e) < 0)
		return -1;
	answer->generation = m.generation;
	return 0;
}
