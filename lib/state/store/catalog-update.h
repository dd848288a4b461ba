// SPDX-License-Identifier: Apache-2.0
// What the catalog is told of a single file or mark, without a scan. One thread a catalog, as ever.
#pragma once

#include <sys/stat.h>

#include "lib/base/err.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/store.h"

struct catalog;

// A file that is served: one transaction. Whoever comes second under the same name finds the row, and writes what is so.
// ERR_DENIED: the name was removed. Whoever does that writes it before he deletes a file: so it is seen here, or he sees our
// row.
int catalog_update_put(const struct platform *p, struct catalog *c, const struct ingest_facts *facts,
	const char *folder, const struct stat *st, struct err *e) MUST_CHECK;
// Looks at the served path for a file that may be new there, or a mark that may be another now, and tells the catalog.
// What is more than that (a file that went, or is refused) is left to the next scan.
int catalog_update_look(const struct platform *p, struct catalog *c, const char *path, struct err *e) MUST_CHECK;
