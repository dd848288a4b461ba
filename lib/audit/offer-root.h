// SPDX-License-Identifier: Apache-2.0
// Reads the libraries of a root folder for an offer (platform-offer.h). The folders are those of the loader: what
// ld.so.conf names, then lib64, lib and their folders for an architecture (Debian's, and those of musl). Links are
// resolved inside the root. Nothing of the root is run or loaded. The root is not trusted: the numbers of folders and
// files, the sizes and the time are limited. Any thread.
#pragma once

#include "lib/audit/offer-table.h"
#include "lib/base/err.h"

// Adds the libraries below the open folder to an empty table, which the caller finishes. ERR_INVALID: there is none;
// ERR_TIME: it takes more than these seconds; ERR_LIMIT, ERR_IO.
int offer_root_read(int root, int seconds, struct offer_table *t, struct err *e) MUST_CHECK;
