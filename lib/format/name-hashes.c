// SPDX-License-Identifier: Apache-2.0
#include "lib/format/name-hashes.h"

#include <stdlib.h>

#include "lib/base/hash.h"
#include "lib/base/mem.h"

enum {
	SLICE_BITS = 4,
	ERROR_BITS = 20, // a wrong "yes" for one name in 2^20
	COUNT_BYTES = 4,
	MOST_DIGITS = 10, // of a number of 64 bits, 7 bits each
};

unsigned name_hashes_slice(uint64_t hash)
{
	return (unsigned)(hash & (NAME_HASHES_SLICES - 1));
}

// FNV-1a alone leaves the upper bits of short names alike; so the bits are mixed (the finalizer of MurmurHash3).
uint64_t name_hashes_of(struct str name)
{
	uint64_t h = hash_fixed(name);
	h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
	h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
	return h ^ (h >> 33);
}

// The place of a hash in a slice with this many hashes: below count * 2^ERROR_BITS.
static uint64_t place_of_hash(uint64_t hash, uint32_t count)
{
	uint64_t range = (uint64_t)count << ERROR_BITS;
	return (uint64_t)(((unsigned __int128)(hash >> SLICE_BITS) * range) >> (64 - SLICE_BITS));
}

// False at the end, or if the bytes are no number.
static bool take_number(struct str *rest, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < rest->len && i < MOST_DIGITS; i++) {
		*out |= (uint64_t)(rest->ptr[i] & 0x7f) << (7 * i);
		if (!(rest->ptr[i] & 0x80)) {
			*rest = str_slice(*rest, i + 1, rest->len);
			return true;
		}
	}
	return false;
}

static int by_slice_and_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	unsigned left = name_hashes_slice(x), right = name_hashes_slice(y);
	return left != right ? (left > right) - (left < right) : (x > y) - (x < y);
}

static size_t remove_equal(uint64_t *hash, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (!kept || hash[i] != hash[kept - 1])
			hash[kept++] = hash[i];
	return kept;
}

static void write_slice(struct buf *out, const uint64_t *hash, uint32_t count)
{
	uint64_t before = 0;
	for (int i = 0; i < COUNT_BYTES; i++)
		buf_putc(out, (char)(count >> (8 * i)));
	for (uint32_t i = 0; i < count; i++) {
		uint64_t place = place_of_hash(hash[i], count);
		uint64_t n = place - before;
		for (; n >= 0x80; n >>= 7)
			buf_putc(out, (char)(n | 0x80));
		buf_putc(out, (char)n);
		before = place;
	}
}

void name_hashes_make(struct name_hashes *out, uint64_t *hash, size_t count)
{
	if (count)
		qsort(hash, count, sizeof(*hash), by_slice_and_value);
	count = remove_equal(hash, count);
	for (unsigned slice = 0; slice < NAME_HASHES_SLICES; slice++) {
		size_t n = 0;
		buf_init(&out->slice[slice], SIZE_MAX / 2);
		while (n < count && n < UINT32_MAX && name_hashes_slice(hash[n]) == slice)
			n++;
		if (n)
			write_slice(&out->slice[slice], hash, (uint32_t)n);
		hash += n;
		count -= n;
	}
}

void name_hashes_release(struct name_hashes *s)
{
	for (size_t i = 0; i < NAME_HASHES_SLICES; i++)
		buf_release(&s->slice[i]);
}

bool name_hashes_has(struct str slice, uint64_t hash)
{
	uint32_t count = 0;
	if (slice.len < COUNT_BYTES)
		return false;
	for (int i = 0; i < COUNT_BYTES; i++)
		count |= (uint32_t)(unsigned char)slice.ptr[i] << (8 * i);
	uint64_t wanted = place_of_hash(hash, count), place = 0, step;
	struct str rest = str_slice(slice, COUNT_BYTES, slice.len);
	while (place <= wanted && take_number(&rest, &step)) {
		place += step;
		if (place == wanted)
			return true;
	}
	return false;
}
