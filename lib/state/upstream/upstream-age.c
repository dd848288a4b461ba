// SPDX-License-Identifier: Apache-2.0
// Compares the ages of two pages of a project.
#include "lib/base/strset.h"
#include "lib/state/upstream/upstream-row.h"

static int64_t newest_upload(const struct simplepage *page)
{
	int64_t newest = 0;
	for (size_t i = 0; i < page->files; i++)
		newest = page->file[i].uploaded > newest ? page->file[i].uploaded : newest;
	return newest;
}

// For pages without serials and upload times: whether the page lacks files of the other and has no other files.
static bool only_lacks_files(const struct simplepage *page, const struct simplepage *before)
{
	CLEANUP(strset_release) struct strset had = {0};
	if (page->files >= before->files)
		return false;
	for (size_t i = 0; i < before->files; i++)
		strset_add(&had, before->file[i].filename);
	strset_sort(&had);
	for (size_t i = 0; i < page->files; i++)
		if (!strset_has(&had, page->file[i].filename))
			return false;
	return true;
}

bool upstream_page_is_older(const struct simplepage *page, const struct simplepage *before)
{
	int64_t now = newest_upload(page), then = newest_upload(before);
	bool has_serials = page->serial && before->serial;
	if (has_serials && page->serial != before->serial)
		return page->serial < before->serial;
	if (then && now && now != then)
		return now < then;
	return (has_serials || !then || !now) && only_lacks_files(page, before);
}
