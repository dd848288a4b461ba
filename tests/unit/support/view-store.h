// SPDX-License-Identifier: Apache-2.0
// A folder of memberships with two catalogs, as two hosts have them. A failure here fails the test.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/state/views/membership.h"
#include "lib/state/views/views-sync.h"

extern char view_store_folder[]; // [store] views
extern struct catalog *view_store_one, *view_store_other;

// Set-up and tear-down of each test.
int view_store_open(void **state);
int view_store_close(void **state);
// Replaces a catalog by a new one.
void view_store_lose(struct catalog **catalog);

void view_store_ok(int result, const struct err *e);
// Runs a shell command in the folder; %s is a path below it.
void view_store_shell(const char *command);
// A generation of the view "tested" that adds, or removes, the wheel of this number.
struct membership_change view_store_change(int64_t generation, int add, int remove);
enum err_kind view_store_append(struct catalog *c, int64_t generation, int add, int remove);
// Compares the log, the newest one first, and the members: "2 1: 7 8" for generation 2 with wheels 7 and 8; "damaged"
// stands in front of that if it is.
void view_store_assert(struct catalog *c, const char *expected);
// Syncs the view, and compares what is reported: "PATH: REASON" each.
void view_store_sync(struct catalog *c, const char *expected);
