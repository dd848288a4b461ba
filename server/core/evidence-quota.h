// SPDX-License-Identifier: Apache-2.0
// Counts the bytes of evidence that each token has sent today (UTC), for [evidence] quota. What was counted ends with
// the server. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct evidence_quota;

struct evidence_quota *evidence_quota_new(void);
void evidence_quota_free(struct evidence_quota *q); // NULL is fine
// Counts bytes of a record, in blocks of 4 KB, for a token, by its id. most: of a day. now: seconds since 1970. Returns
// 0, or the seconds until the next day: then they are not counted, as they are more than is left.
int64_t evidence_quota_take(struct evidence_quota *q, const char *token, uint64_t bytes, uint64_t most, int64_t now);
