// SPDX-License-Identifier: Apache-2.0
// Cached counts of missing wheels, by platform, of the last time that a client asked for all of them: counting takes
// too long for a page that only mentions the number. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct missing_counts;

struct missing_counts *missing_counts_new(void);
void missing_counts_free(struct missing_counts *m); // NULL is fine

// when: seconds since 1970.
void missing_counts_set(struct missing_counts *m, const char *platform, uint64_t count, int64_t when);
// False: nobody has asked since the server started.
bool missing_counts_get(struct missing_counts *m, const char *platform, uint64_t *count, int64_t *when);
