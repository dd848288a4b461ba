// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/lock/lock.h"

#include <stdlib.h>

const char *const lock_kind_name[LOCK_KIND_COUNT] = {
	[LOCK_UV] = "uv.lock",
	[LOCK_PYLOCK] = "pylock.toml",
	[LOCK_POETRY] = "poetry.lock",
	[LOCK_PDM] = "pdm.lock",
	[LOCK_PIPFILE] = "Pipfile.lock",
	[LOCK_REQUIREMENTS] = "requirements",
};

void lock_release(struct lock *l)
{
	free(l->package);
	free(l->file);
	free(l->slot);
	free(l->edge);
	free(l->marker);
	buf_release(&l->text);
	arena_release(&l->room);
	*l = (struct lock){0};
}
