// SPDX-License-Identifier: Apache-2.0
// Gets the sdist of a row: from upstream, from the server that listed the row, or from our store; by its hash. Any
// thread.
#pragma once

#include <stdatomic.h>

#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "builder/missing/missing.h"
#include "lib/net/fetch.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

// Everything is borrowed.
struct sdist_source {
	const struct config *config;     // [upstream]: where redirects may lead; the largest file
	const struct platform *platform; // of "file:" URLs; NULL: not here
	const char *from;                // the base URL of the server that has them; NULL: the platform
	struct fetch_options fetch;      // for that server alone
	const atomic_bool *stop;         // NULL: never
	uint64_t seconds;                // time limit
};

// Writes it to path, a new file, and its hash to sha256. ERR_INVALID: no sdist, or another hash or size than the row's;
// ERR_LIMIT: larger than [upload] max-file; ERR_NET: the server is out of reach; ERR_DENIED: it refuses; ERR_NOT_FOUND:
// it is not there; ERR_FULL, ERR_IO: the disk; ERR_BUSY: stop.
int sdist_fetch(const struct sdist_source *source, const struct missing_row *row, const char *path,
	char sha256[SHA256_HEX + 1], struct err *e) MUST_CHECK;
