// SPDX-License-Identifier: Apache-2.0
// Renders Markdown (CommonMark with GitHub's tables and struck text) with cmark-gfm. Of raw HTML its text, its links and
// its images remain. Any thread; one text is parsed at a time, since cmark-gfm has tables that a parse changes.
#pragma once

#include "lib/readme/safe-html.h"

// The text is UTF-8 of at most LIMIT_README bytes. False if it has too much of something (markdown.c); nothing is
// written then. What is written is to be discarded if safe_html_failed() says so.
bool markdown_render(struct str text, struct safe_html *w) MUST_CHECK;
