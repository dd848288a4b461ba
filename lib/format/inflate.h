// SPDX-License-Identifier: Apache-2.0
// Raw DEFLATE data (RFC 1951), as in ZIP files: whole with libdeflate, which takes half the time of zlib, or its first
// bytes with zlib; and the checksum of ZIP files. A struct inflater is for one thread at a time.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/base/str.h"

struct inflater;

struct inflater *inflater_new(void);    // if memory runs out, the process ends
void inflater_free(struct inflater *i); // NULL is fine
// Unpacks data of a known size. ERR_INVALID if it is damaged, or does not have exactly this size.
int inflater_whole(struct inflater *i, struct str packed, char *out, size_t size, struct err *e) MUST_CHECK;
// Unpacks the first bytes of data of which packed is the beginning. Returns how many there are: at most size, fewer if
// packed is too short or damaged.
size_t inflater_head(struct inflater *i, struct str packed, char *out, size_t size);
// CRC-32 as in ZIP files and gzip.
uint32_t inflate_crc32(struct str bytes);
