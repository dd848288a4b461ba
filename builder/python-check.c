// SPDX-License-Identifier: Apache-2.0
#include "builder/python-check.h"

#include <string.h>

#include "builder/index-guard.h"
#include "builder/step/step-room.h"
#include "lib/base/decimal.h"

enum { ANSWER = 32, ASK_SECONDS = 60 };

// What execvp() says, bwrap, podman or a shell.
static bool says_absent(const char *message, const char *interpreter)
{
	bool is_about = interpreter && strstr(message, interpreter);
	return is_about && (strstr(message, "No such file or directory") || strstr(message, "not found"));
}

static int ask_micro(struct step_room *room, struct err *e)
{
	static const char script[] = "import sys\nopen(sys.argv[1], 'w').write(str(sys.version_info[2]))\n";
	uint64_t micro;
	CLEANUP(buf_release) struct buf answer;
	buf_init(&answer, ANSWER);
	if (step_room_ask(room, script, "", ASK_SECONDS, &answer, e) < 0)
		return says_absent(e->msg, room->interpreter) ? PYTHON_CHECK_ABSENT : PYTHON_CHECK_UNKNOWN;
	return decimal_parse(buf_view(&answer), INT16_MAX, &micro) ? (int)micro : PYTHON_CHECK_UNKNOWN;
}

int python_check_micro(const struct config *config, const char *work, const char *platform, const char *python)
{
	struct err e = ERR_INIT;
	struct step_room room;
	char id[RESULTS_ID + 1];
	CLEANUP(mem_free) char *index = index_guard_index(config);
	const struct step_values values = {platform, python, "python", "0", index};
	results_new_id(id);
	bool is_open = step_room_open(&room, config, &values, work, id, &e) == 0;
	int micro = is_open ? ask_micro(&room, &e) : PYTHON_CHECK_UNKNOWN;
	step_room_close(&room);
	return micro;
}
