// SPDX-License-Identifier: Apache-2.0
// The parts of the page of a project below its matrix, and the links that its parts share. Each adds HTML to out, in which
// all text from outside is escaped. No state: any thread.
#pragma once

#include "server/pages/html-layout.h"
#include "server/pages/project-data.h"

struct project_page {
	const struct html_frame *frame;
	const struct project_data *data;
	const struct project_query *query;
	struct buf *out;
};

// "?view=V&amp;version=1.0&amp;" for a link to this page; version NULL: the newest. More may follow.
void project_part_query(const struct project_page *p, const char *version);
// A link to the page of a version.
void project_part_version_link(const struct project_page *p, const char *version);
// Of a project that only upstream has: which version pip takes in each environment, and why no newer one.
void project_part_newest(const struct project_page *p);
// The versions that we have; or upstream's.
void project_part_versions(const struct project_page *p);
// The files of the version.
void project_part_files(const struct project_page *p);
// Dependencies, licence, links, and the README.
void project_part_metadata(const struct project_page *p);
// The files that are on no page.
void project_part_unlisted(const struct project_page *p);
