// SPDX-License-Identifier: Apache-2.0
// Puts an attachment beside a file of a platform, for the operator. If the platform has a write path, it is written
// there alone, and a release is requested. One thread at a time for each catalog connection.
#pragma once

#include <stdbool.h>

#include "lib/domain/wheel/attachment.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store.h"

struct attach_request { // borrowed
	const char *filename;
	enum attachment kind;
	struct str text;
	bool waits;    // the file may come later: the attachment waits in the folder where an upload would put the file
	bool replaces; // another one that is there
};

// ERR_NOT_FOUND: the platform has no such file, and waits is false. ERR_INVALID, ERR_LIMIT: the attachment is not
// valid, or not about the bytes of the file. ERR_CONFLICT: another one is there. ERR_BUSY: the platform is frozen.
// ERR_DENIED: the name was removed.
int attach_ops_put(const struct platform *p, struct catalog *c, const struct attach_request *request,
	struct err *e) MUST_CHECK;
