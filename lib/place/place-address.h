// SPDX-License-Identifier: Apache-2.0
// What the configuration names as a place: the path of a folder, or s3://BUCKET/PREFIX. Any thread.
#pragma once

#include "lib/place/place-posix.h"

// Whether it says all by itself; else it is a path below another place.
bool place_address_is_whole(const char *address);
// Whether it is s3://BUCKET, without a prefix.
bool place_address_is_bucket(struct str address);
// The same for all names of one place: the real path of a folder, which is there (ERR_NOT_FOUND, ERR_IO); of a bucket,
// which is not asked, the address without "/" at its end (ERR_USAGE: it is none). The caller frees it.
char *place_address_real(const char *address, struct err *e) MUST_CHECK;
// As place_posix_new(), or a bucket, whose address is good.
struct place *place_at(const char *root, const char *address, enum place_posix_links links);
