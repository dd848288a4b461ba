// SPDX-License-Identifier: Apache-2.0
// The pages of the simple API 1.4 as bytes: PEP 503, 592, 629, 658, 691, 700, 714, 833. The server and the static
// export send the same ones. Pure but for the catalog that they are read from.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"

enum page_format {
	PAGE_HTML,
	PAGE_HTML_OLD_PIP, // for pip 22.3 to 23.1, which reads .metadata wrongly: the same without the attribute that
			   // leads it there
	PAGE_JSON,
	PAGE_FORMAT_COUNT,
};
enum page_coding { PAGE_PLAIN, PAGE_GZIP, PAGE_ZSTD, PAGE_CODING_COUNT };

// Content-Encoding; NULL for plain.
extern const char *const page_coding_name[PAGE_CODING_COUNT];

enum { PAGE_ETAG_SIZE = 43 };

// Adds a project's page to out; ERR_NOT_FOUND where neither the view nor upstream has it. URLs are relative to the page's own
// place, /simple/<project>/ or /<view>/simple/<project>/, unless the view has a base. Where it fails (ERR_LIMIT: out's
// ceiling), out may hold a part of the page; ERR_NOT_FOUND leaves it as it was.
// upstream: what it has of the project, which is merged in; NULL: nothing is.
int page_project(const struct view *v, struct catalog *c, const char *project, const struct upstream_answer *upstream,
	enum page_format format, struct buf *out, struct err *e) MUST_CHECK;
// Adds the list of all projects to out: the view's, and those of more (sorted, each with a line end; may be empty).
int page_root(const struct view *v, struct catalog *c, struct str more, enum page_format format, struct buf *out,
	struct err *e) MUST_CHECK;
// Adds the page in this coding to out (plain: a copy).
int page_pack(struct str page, enum page_coding coding, struct buf *out, struct err *e) MUST_CHECK;
// A strong ETag with its quotes and a NUL: the hash of the Content-Type and of the body as it is sent, so that each type and each
// coding has its own. Packed, it is a sixth of the page. Another version of what packs it may give another one, which costs each
// client one page.
void page_etag(const char *type, struct str body, char out[PAGE_ETAG_SIZE]);
