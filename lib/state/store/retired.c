// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/retired.h"

#include <stdatomic.h>

#include "lib/base/buf.h"
#include "lib/state/store/freeze.h"

bool retired_is(const struct platform *p)
{
	return p->is_retired && atomic_load(p->is_retired);
}

bool retired_note(const struct platform *p, bool is_retired)
{
	return p->is_retired && atomic_exchange(p->is_retired, is_retired) != is_retired;
}

int retired_refuse(const struct store *s, const char *const *glob, size_t globs, struct err *e)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (retired_is(&s->platform[i]) && store_is_wanted(glob, globs, s->platform[i].name))
			return err_set(e, ERR_USAGE, "platform %s was retired: nothing is built for it",
				s->platform[i].name);
	return 0;
}

void retired_look(const struct store *s)
{
	for (size_t i = 0; i < s->platform_count; i++) {
		struct err unreadable = ERR_INIT; // the scan reports that
		CLEANUP(buf_release) struct buf why;
		buf_init(&why, SIZE_MAX / 2); // freeze_is() has a limit
		int frozen = s->platform[i].is_away ? -1 : freeze_is(&s->platform[i], &why, &unreadable);
		if (frozen >= 0)
			retired_note(&s->platform[i], frozen && freeze_is_retirement(buf_view(&why)));
	}
}
