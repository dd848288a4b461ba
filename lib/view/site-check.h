// SPDX-License-Identifier: Apache-2.0
// What a server refuses of a configuration over a store. Every command that reads the store or its catalog refuses the
// same, with the same words; so no command works on what no server would show. Any thread.
#pragma once

#include "lib/base/err.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config.h"
#include "lib/state/store/store.h"

#define VIEW_DEFAULT_PATH "/simple/" // the default view, where a name is needed

// Checks the names of views, of their platforms and of the default view. catalog: the platforms in it whose folders are
// away count as those of the store do; NULL: there is none yet. ERR_USAGE.
int site_check_names(const struct config *c, const struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
// The same, and the audit policy of uploads. ERR_USAGE, also for a policy that is not there.
int site_check(const struct config *c, const struct store *store, struct catalog *catalog, struct err *e) MUST_CHECK;
// The lists of packages of the configuration. ERR_USAGE: one cannot be read.
int site_check_lists(const struct config *c, struct err *e) MUST_CHECK;
// store_find() and store_register() for commands: after site_check(), site_check_lists() and advisories_look().
int site_check_find(const struct config *c, struct store *store, struct catalog *catalog, struct err *e) MUST_CHECK;
int site_check_register(const struct config *c, struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
