// SPDX-License-Identifier: Apache-2.0
#include "builder/python-check.h"

#include <string.h>

#include "builder/index-guard.h"
#include "builder/step/step-room.h"

// What execvp() says, bwrap, podman or a shell.
static bool says_absent(const char *message, const char *interpreter)
{
	bool is_about = interpreter && strstr(message, interpreter);
	return is_about && (strstr(message, "No such file or directory") || strstr(message, "not found"));
}

bool python_check_is_absent(const struct config *config, const char *work, const char *platform, const char *python)
{
	struct err e = ERR_INIT;
	struct step_room room;
	char id[RESULTS_ID + 1];
	CLEANUP(mem_free) char *index = index_guard_index(config);
	const struct step_values values = {platform, python, "python", "0", index};
	results_new_id(id);
	bool is_absent = step_room_open(&room, config, &values, work, id, &e) == 0 &&
			 step_room_run_again(&room, "%y -c pass", NULL, &e) < 0 && says_absent(e.msg, room.interpreter);
	step_room_close(&room);
	return is_absent;
}
