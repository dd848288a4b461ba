// SPDX-License-Identifier: Apache-2.0
// What `serve` checks before it starts, and `doctor --check-config` before it is started: whether a server can serve
// this configuration. Nothing is written. The main thread.
#pragma once

#include "lib/base/err.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

struct tls;

// What does not keep a server from starting: text, and the caller's ctx.
typedef void serve_check_warn_fn(void *ctx, const char *text);

// The store, the views, the policies, the certificate, the lists of packages of upstreams; and a warning for each
// branch and each password-file that cannot be read. *tls gets the certificate, for tls_free() also after an error;
// NULL: there is none. ERR_USAGE where the configuration is to blame; otherwise as store_open() and tls_load().
int serve_check(const struct config *c, serve_check_warn_fn *warn, void *ctx, struct tls **tls, struct err *e) MUST_CHECK;
// Whether each block list can be read, or is in the state: as advisories_open(), by which a server does the same. It
// may take seconds.
int serve_check_blocks(const struct config *c, struct err *e) MUST_CHECK;
// Of it, what is said of an open store: as site_check(), with what the catalog has, if it is there, and as
// store_adopt().
int serve_check_site(const struct config *c, const struct store *store, const char *catalog_path,
	struct err *e) MUST_CHECK;
// Of it, the branches. A file system that does not answer is waited for like a store (STORE_PROMPT).
void serve_check_branches(const struct config *c, serve_check_warn_fn *warn, void *ctx);
