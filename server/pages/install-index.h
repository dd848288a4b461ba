// SPDX-License-Identifier: Apache-2.0
// Which index of this server a job takes, and the command that installs from it, as pages show it: a job on one platform
// takes that platform's index, so that pip gets nothing that was built for another one. No state: any thread.
#pragma once

#include "lib/view/client-config.h"
#include "lib/view/view.h"

// The view's index for jobs on the first of these platforms that the view has; of a view with one platform its own. base:
// the URL of this server. All is borrowed.
struct client_index install_index_of(const struct site *s, const struct view *v,
	const struct platform *const *platform, size_t platforms, const char *base);
// Adds "pip install --index-url URL REQUIREMENT", as text. The requirement has no characters that a shell reads but "!", with
// which it is quoted.
void install_index_command(const struct client_index *x, const char *requirement, struct buf *out);
// Adds the path, from "/" on, of the page that says how clients use the index, as part of a URL.
void install_index_page(const struct client_index *x, struct buf *out);
