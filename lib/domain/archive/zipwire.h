// SPDX-License-Identifier: Apache-2.0
// The binary format of ZIP records (APPNOTE 4.3): signatures, sizes, little-endian numbers. Pure functions; any thread.
#pragma once

#include <stdint.h>

enum {
	ZIP_LOCAL = 0x04034b50,      // APPNOTE 4.3.7
	ZIP_DESCRIPTOR = 0x08074b50, // 4.3.9
	ZIP_CENTRAL = 0x02014b50,    // 4.3.12
	ZIP_END = 0x06054b50,        // 4.3.16
	ZIP_END64 = 0x06064b50,      // 4.3.14
	ZIP_LOCATOR = 0x07064b50,    // 4.3.15
};

// Sizes of the fixed parts in bytes, including the signature.
enum {
	ZIP_LOCAL_SIZE = 30,
	ZIP_CENTRAL_SIZE = 46,
	ZIP_END_SIZE = 22,
	ZIP_END64_SIZE = 56,
	ZIP_LOCATOR_SIZE = 20,
	ZIP_COMMENT_MAX = 0xffff,
};

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

// General purpose bits (4.4.4).
enum {
	ZIP_FLAG_ENCRYPTED = 1 << 0,
	ZIP_FLAG_DESCRIPTOR = 1 << 3,
	ZIP_FLAG_PATCHED = 1 << 5,
	ZIP_FLAG_STRONG = 1 << 6,
	ZIP_FLAG_UTF8 = 1 << 11,
	ZIP_FLAG_MASKED = 1 << 13,
};

static inline uint16_t zip_get16(const char *at)
{
	const unsigned char *p = (const unsigned char *)at;
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t zip_get32(const char *at)
{
	return zip_get16(at) | (uint32_t)zip_get16(at + 2) << 16;
}

static inline uint64_t zip_get64(const char *at)
{
	return zip_get32(at) | (uint64_t)zip_get32(at + 4) << 32;
}

static inline void zip_put16(char *at, uint16_t value)
{
	at[0] = (char)(value & 0xff);
	at[1] = (char)(value >> 8);
}

static inline void zip_put32(char *at, uint32_t value)
{
	zip_put16(at, (uint16_t)(value & 0xffff));
	zip_put16(at + 2, (uint16_t)(value >> 16));
}
