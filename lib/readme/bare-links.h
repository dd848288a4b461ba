// SPDX-License-Identifier: Apache-2.0
// Text in which a URL of http or https that stands by itself is a link, as people write it in Markdown and
// reStructuredText. Any thread.
#pragma once

#include "lib/readme/safe-html.h"

void bare_links_write(struct safe_html *w, struct str text);
