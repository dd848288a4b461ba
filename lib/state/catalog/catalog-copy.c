// SPDX-License-Identifier: Apache-2.0
// A row that outlives its query. Without catalog-read.c, which a test of a view replaces.
#include "lib/state/catalog/catalog.h"
#include "lib/state/catalog/file-columns.h"

void catalog_file_copy(struct arena *a, struct catalog_file *out)
{
	out->filename = arena_copy(a, str_from(out->filename));
	FILE_COLUMNS(FILE_COPY_PAGE)
}
