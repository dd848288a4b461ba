// SPDX-License-Identifier: Apache-2.0
// The METADATA of a wheel of upstream (PEP 658) as a file of the cache, made from the wheel that is there. Any thread.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/upstream/file-cache.h"

// Puts it into the cache as FILENAME.metadata. filename: of the wheel; wheel: the same, open; expected: the hash that
// it must have, NULL: any. sha256[] becomes its hash. ERR_INVALID: the file is no wheel, or its METADATA has another
// hash; errors of file_cache_begin().
int kept_metadata_add(struct file_cache *d, const char *project, const char *filename,
	const struct file_cache_file *wheel,
	const uint8_t *expected, uint8_t sha256[SHA256_SIZE], struct err *e) MUST_CHECK;
