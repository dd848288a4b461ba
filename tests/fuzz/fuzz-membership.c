// SPDX-License-Identifier: Apache-2.0
// Generations of views: what is read is written in a form that says the same, and names nothing outside of a platform.
#include "lib/state/views/membership.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "tests/fuzz/fuzz.h"

static void check_members(const struct membership_file *file, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		HOLDS(platform_name_is_valid(str_from(file[i].platform)));
		HOLDS(*file[i].filename && *file[i].filename != '.' && !strchr(file[i].filename, '/'));
		HOLDS(strlen(file[i].filename) <= LIMIT_FILE_NAME);
		HOLDS(*file[i].project && !strchr(file[i].project, '/'));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(membership_release) struct membership_change m = {0}, again = {0};
	CLEANUP(buf_release) struct buf one, two;
	buf_init(&one, LIMIT_MEMBERSHIP);
	buf_init(&two, LIMIT_MEMBERSHIP);
	if (membership_read(fuzz_text(bytes, size), &m, &e) < 0) {
		HOLDS(e.kind == ERR_INVALID || e.kind == ERR_LIMIT);
		return 0;
	}
	HOLDS(m.generation >= 1 && m.has_previous == (m.generation > 1));
	HOLDS(platform_name_is_valid(str_from(m.view)));
	check_members(m.add, m.adds);
	check_members(m.remove, m.removes);
	membership_write(&m, &one);
	HOLDS(membership_read(buf_view(&one), &again, &e) == 0);
	membership_write(&again, &two);
	HOLDS(str_eq(buf_view(&one), buf_view(&two)));
	HOLDS(again.adds == m.adds && again.removes == m.removes && again.evidences == m.evidences);
	return 0;
}
