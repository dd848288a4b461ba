// SPDX-License-Identifier: Apache-2.0
// Puts large answers into files without a name, beside the catalog: clients that hardly read them then take no memory, and what
// pip needs finds room. Any thread that may wait for the disk.
#pragma once

#include "lib/base/blob.h"
#include "lib/base/buf.h"

// Takes over the bytes of an answer. More than LIMIT_ANSWER_KEPT of them get a file in the folder of the catalog, unless that
// disk is nearly full or the file system has no such files: then, as for fewer bytes, they stay in memory. Never fails.
struct blob *answer_spool(const char *catalog_path, struct buf *bytes);
