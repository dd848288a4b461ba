// SPDX-License-Identifier: Apache-2.0
// Which file of a project is the newest in each environment of a view, among those of the view's source: the one that
// tests must show to be good next. Yanked files do not count; an sdist counts where no wheel of its version installs.
// One thread at a time.
#pragma once

#include "lib/install/fits.h"
#include "lib/view/view.h"

struct channel_next {
	const struct view *view, *source;       // borrowed; source: the view itself where it has none
	struct fits fits; // its places: the environments of the view's platforms, in their order
};

void channel_next_init(struct channel_next *n, const struct view *view, const struct view *source);
void channel_next_release(struct channel_next *n); // for CLEANUP

struct next_file {
	const struct platform *platform;
	struct catalog_file file;
	struct filename name;
	unsigned tags, python; // numbers of fits
};

struct next_project {
	const char *project; // borrowed
	struct next_file *file;
	size_t files, room;
	const struct next_file **best; // of each environment; NULL: none installs there
	struct arena text;
};

// Reads the files of a project (normal form) that are on a platform of the view. The caller releases *out if this
// returns 0.
int channel_next_read(struct channel_next *n, struct catalog *c, const char *project, struct next_project *out,
	struct err *e) MUST_CHECK;
void next_project_release(struct next_project *p); // for CLEANUP
