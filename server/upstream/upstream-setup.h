// SPDX-License-Identifier: Apache-2.0
// All that a server has because its views merge what upstream has: in the service, from merging_start() to merging_stop().
#pragma once

#include "lib/state/config/config.h"
#include "server/core/server-context.h"

// Where no view merges, nothing happens. c is borrowed until merging_stop().
int merging_start(struct service *s, const struct config *c, struct err *e) MUST_CHECK;
// What a reload may change of it: how long what upstream said counts, whether it is asked, and how much
// of its files is kept. Any thread.
void merging_configure(struct service *s, const struct config *c);
// To be called about once a second: those whose clients have left wait no more, and what nobody waits for is dropped.
void merging_let_go(struct service *s);
// Who waits for upstream is woken, now and from now on. Any thread.
void merging_give_up(struct service *s);
// Who waits for a page is told that there is none: the server stops, and clients ask again. Files that are coming come.
void merging_hurry(struct service *s);
// What is under way ends. When nobody answers requests or follows the catalog any more; also where it did not start.
void merging_stop(struct service *s);
