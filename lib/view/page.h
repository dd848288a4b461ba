// SPDX-License-Identifier: Apache-2.0
// Renders the pages of the simple API 1.4: PEP 503, 592, 629, 658, 691, 700, 714, 833. The server and the static export
// use the same bytes. Any thread; one at a time per catalog connection.
#pragma once

#include "lib/base/buf.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"

enum page_format {
	PAGE_HTML,
	PAGE_HTML_OLD_PIP, // the same without the attribute that makes pip 22.3 to 23.1 read .metadata wrongly
	PAGE_JSON,
	PAGE_FORMAT_COUNT,
};
enum page_coding { PAGE_PLAIN, PAGE_GZIP, PAGE_ZSTD, PAGE_CODING_COUNT };

// The Content-Encoding; NULL: none.
extern const char *const page_coding_name[PAGE_CODING_COUNT];

enum { PAGE_ETAG_SIZE = 43 }; // bytes, with the NUL

// Appends the page of a project (normal form) to out. upstream is merged in; NULL: nothing is merged. URLs are relative
// to /simple/<project>/ or /<view>/simple/<project>/, unless the view has a base. The status of a project of ours (PEP
// 792) goes before upstream's; a quarantined one has no files. What v->denied hides is left out. ERR_NOT_FOUND if
// neither the view nor upstream has the project; then out is unchanged. ERR_LIMIT if the page exceeds the ceiling of
// out, and the errors of the catalog; then out may hold a part of the page.
int page_project(const struct view *v, struct catalog *c, const char *project, const struct upstream_answer *upstream,
	enum page_format format, struct buf *out, struct err *e) MUST_CHECK;
// Appends the list of all projects to out: those of the view and those of the lists in more, each of which is sorted,
// has a line end after each name and may be empty; more is changed. Errors as above, without ERR_NOT_FOUND.
int page_root(const struct view *v, struct catalog *c, struct str *more, size_t lists, enum page_format format,
	struct buf *out, struct err *e) MUST_CHECK;
// Appends the page to out in this coding (plain: a copy). ERR_LIMIT if out cannot hold it.
int page_pack(struct str page, enum page_coding coding, struct buf *out, struct err *e) MUST_CHECK;
// Writes a strong ETag with its quotes and a NUL: a hash of the Content-Type and the body as sent, so that each type
// and coding has its own. Hashing the compressed body costs a sixth of hashing the page. Another release of the
// compression library may change the ETag, which costs each client one download.
void page_etag(const char *type, struct str body, char out[PAGE_ETAG_SIZE]);
