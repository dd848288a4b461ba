// SPDX-License-Identifier: Apache-2.0
// What clients of each view would lose to a prune: versions that no longer install in an environment where they did.
// Upstream's replacement helps only those who get upstream's files. A view that merges upstream loses nothing, nor one
// that [prune] clients-have-upstream names, nor a private one, nor one with a membership, whose files are pinned. One
// thread at a time.
#pragma once

#include "lib/view/view.h"
#include "pruner/plan/planfile.h"

struct view_losses;

// Which verdicts rest on upstream's files.
bool view_losses_has_verdict(const char *verdict);

// ERR_USAGE, and the errors of the catalog. All is borrowed. The caller frees *out.
int view_losses_open(const struct config *c, const struct store *s, struct catalog *catalog, struct view_losses **out,
	struct err *e) MUST_CHECK;
void view_losses_free(struct view_losses *l);     // NULL is fine
void view_losses_cleanup(struct view_losses **l); // for CLEANUP
// Adds a file of the project that is to be removed, borrowed only for the call.
void view_losses_remove(struct view_losses *l, int64_t platform, const char *filename);
// Counts what the files that were added take from each view; they are all of one project. l NULL: nothing is done.
int view_losses_count(struct view_losses *l, struct catalog *c, const char *project, struct err *e) MUST_CHECK;
// The views that lose something, borrowed, and their number.
const struct planfile_view *view_losses_found(const struct view_losses *l, size_t *count);
// ERR_CONFLICT with their names, if there are any.
int view_losses_refuse(const struct view_losses *l, struct err *e) MUST_CHECK;
