// SPDX-License-Identifier: Apache-2.0
// Members of a view that the store has lost: their platform does not list these bytes any more, so no client finds
// them. One thread at a time for each catalog connection.
#pragma once

#include "lib/base/arena.h"
#include "lib/os/hook.h"
#include "lib/state/catalog/catalog-told.h"
#include "lib/state/config/config.h"

struct member_loss {
	const char *platform, *project, *filename;
	uint8_t sha256[SHA256_SIZE];
	int64_t generation; // that added it
	int64_t since;      // when a server noticed the loss, seconds since 1970; 0: none did yet
};

struct member_losses {
	struct member_loss *item; // by project, platform, file name
	size_t count, room;
	struct arena text;
};

// Of the newest generation. project (normal form): only its files; NULL: all. The caller releases *out in any case.
int member_losses_read(struct catalog *c, const char *view, const char *project, struct member_losses *out,
	struct err *e) MUST_CHECK;
void member_losses_release(struct member_losses *l); // all zero is fine; for CLEANUP
// The same for all projects; keeps what it found in the catalog, and runs the view's on-change, logged in any case,
// once for each member that was lost since, or is back. WHEELCACHE_CHANGE is "lost" or "back"; _VIEW, _PLATFORM,
// _PROJECT, _VERSION, _FILE, _SHA256; _SINCE: when the loss was noticed. now: seconds since 1970.
int member_losses_note(const struct config_view *v, struct catalog *c, int64_t now, struct hook_queue *queue,
	struct member_losses *out, struct err *e) MUST_CHECK;
