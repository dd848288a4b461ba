// SPDX-License-Identifier: Apache-2.0
// Downloads one file of upstream into a file without name, for a command that reads it once. One thread.
#pragma once

#include "lib/base/err.h"
#include "lib/format/digest.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/upstream/upstream.h"

struct upstream_download {
	int fd; // owned; open for reading and writing
	uint64_t size;
	uint8_t sha256[SHA256_SIZE];
};

// project is normalised. Asks upstream for the project's page, and downloads the file. c: for whose the name is, and
// what is known of the page; NULL: the rules for names alone decide. ERR_DENIED: the name is ours alone, and upstream
// is not asked; ERR_NOT_FOUND: upstream has no such file; ERR_INVALID: other bytes than its page says, or the page has
// no hash of it; ERR_LIMIT: more than [upload] max-file; ERR_NET; ERR_FULL, ERR_IO: the disk. The caller closes out->fd
// if this returns 0.
int upstream_download(const struct config *config, struct upstreams *u, struct catalog *c, const char *project,
	const char *filename, struct upstream_download *out, struct err *e) MUST_CHECK;
// Asks upstream for the project's page, and calls fn with the answer. Nothing is saved. ERR_DENIED as above.
int upstream_ask(struct upstreams *u, struct catalog *c, const char *project, upstream_fn *fn, void *ctx,
	struct err *e) MUST_CHECK;
