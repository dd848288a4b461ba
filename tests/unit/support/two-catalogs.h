// SPDX-License-Identifier: Apache-2.0
// One catalog with two connections, so that a test can act as two processes: `scan` reads, `other` commits, and then
// the scan writes what it read. There is one file, six, whose hash is ones or twos. A failure here fails the test.
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

// Set-up and tear-down of a group, and of each of its tests.
int two_make_folder(void **state);
int two_remove_folder(void **state);
int two_open(void **state);
int two_close(void **state);

void two_ok(int result, const struct err *e);
int64_t two_ensure(struct catalog *c, const char *below);
struct catalog_entry two_entry(int64_t in, const uint8_t *sha256);
struct catalog_effect two_put(struct catalog *c, const struct catalog_entry *file);
// Writes as an upload does, whatever the catalog has.
void two_put_new(struct catalog *c, int64_t in, const uint8_t *sha256);
// The row of six in a folder, as the scan reads it; id 0: none.
struct catalog_known two_look(int64_t in);
struct catalog_effect two_put_as_scan(int64_t in, const uint8_t *sha256, const struct catalog_known *known);
// False if the row was left alone because another process had written it.
bool two_remove(struct catalog *c, const struct catalog_known *known);
struct catalog_effect two_mark(struct catalog *c, int64_t in, enum mark kind, const char *reason, int64_t seen);
// The change number of the one mark in a folder, as the scan reads it; 0: none.
int64_t two_look_at_mark(int64_t in);
// Compares the page of six: "1;" is a listed file whose hash is ones, "2 yanked why;" a yanked one whose hash is twos.
void two_assert_page(const char *expected);
