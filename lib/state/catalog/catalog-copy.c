// SPDX-License-Identifier: Apache-2.0
// Copies of rows. Not in catalog-read.c, which a test replaces.
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/file-columns.h"

void catalog_file_copy(struct arena *a, struct catalog_file *out)
{
	out->filename = arena_copy(a, str_from(out->filename));
	FILE_COLUMNS(FILE_COPY_PAGE)
}

int64_t catalog_file_uploaded(const struct catalog_file *file)
{
	return file->uploaded ? file->uploaded * 1000000000 : file->mtime_ns;
}

int64_t catalog_file_came(const struct catalog_file *file)
{
	return file->arrived ? file->arrived : catalog_file_uploaded(file) / 1000000000;
}
