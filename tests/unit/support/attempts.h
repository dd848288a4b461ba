// SPDX-License-Identifier: Apache-2.0
// A file of build results in a temporary folder, and attempts to put into it. A failure here fails the test.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/state/results/results.h"

#define ATTEMPTS_SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

enum { ATTEMPTS_DAY = 86400 };

extern struct results *attempts; // open during a test
extern char attempts_path[64];
extern int64_t attempts_now; // when the tests began

// Set-up and tear-down of a group, and of each of its tests.
int attempts_make_folder(void **state);
int attempts_remove_folder(void **state);
int attempts_open(void **state);
int attempts_close(void **state);
#define ATTEMPTS_CASE(name) cmocka_unit_test_setup_teardown(name, attempts_open, attempts_close)

void attempts_ok(int result, const struct err *e);
// An attempt for debian-12-x86_64, 3.11 and version 1.0, which took 1.5 seconds and ended in its build step. Its id is
// valid until eight further calls.
struct results_attempt attempts_make(const char *project, enum results_result result, int64_t begun);
enum results_change attempts_put(const char *project, enum results_result result, int64_t begun);
enum results_change attempts_put_kept(const struct results_attempt *a, const char *log, const char *keep);
int attempts_add_line(void *ctx, const struct results_attempt *a, struct err *e); // to a buf: "PROJECT RESULT;"
void attempts_assert_list(const struct results_filter *filter, const char *expected);
#define ATTEMPTS_LIST(expected, ...) attempts_assert_list(&(struct results_filter){__VA_ARGS__}, expected)
