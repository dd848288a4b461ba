// SPDX-License-Identifier: Apache-2.0
// One catalog with two connections, so that a test can be two processes: `scan` has looked, `other`
// commits, and then the scan writes what it saw. There is one file, six; its bytes are ones or
// twos. What fails here fails the test.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-mark.h"

extern struct catalog *two_scan, *two_other;
extern int64_t two_platform;
extern int64_t two_root, two_sub; // folders, "" and "b"
extern const uint8_t two_ones[SHA256_SIZE], two_twos[SHA256_SIZE];
extern const char two_six[];

// For a group, and for each of its tests.
int two_make_folder(void **state);
int two_remove_folder(void **state);
int two_open(void **state);
int two_close(void **state);

void two_ok(int result, const struct err *e);
int64_t two_ensure(struct catalog *c, const char *below);
struct catalog_entry two_entry(int64_t in, const uint8_t *sha256);
struct catalog_effect two_put(struct catalog *c, const struct catalog_entry *file);
// As an upload does it: whatever was there.
void two_put_new(struct catalog *c, int64_t in, const uint8_t *sha256);
// What the scan knows of six in a folder; id 0: nothing.
struct catalog_known two_look(int64_t in);
struct catalog_effect two_put_as_scan(int64_t in, const uint8_t *sha256, const struct catalog_known *known);
// False where it was left.
bool two_remove(struct catalog *c, const struct catalog_known *known);
struct catalog_effect two_mark(struct catalog *c, int64_t in, enum mark kind, const char *reason, int64_t seen);
// What the scan knows of the one mark of a folder; 0: nothing.
int64_t two_look_at_mark(int64_t in);
// "1;" is a listed file whose bytes are ones, "2 yanked why;" another.
void two_assert_page(const char *expected);
