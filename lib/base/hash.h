// SPDX-License-Identifier: Apache-2.0
// Hashes of bytes, for tables in memory and for numbers that are kept. Any thread.
#pragma once

#include <stdint.h>

#include "lib/base/str.h"

enum { HASH_KEY = 16 };

// SipHash-2-4 with a key of this process, which the kernel's random numbers give at the first call: nobody outside can
// find keys that collide. For every table whose keys come from outside. The values differ from process to process, so
// they are not kept, and decide no order that anybody sees. seed: tells tables apart; 0 is fine.
uint64_t hash_of(struct str s, uint64_t seed);
// FNV-1a: the same in every process, and easy to find collisions of. For numbers that are kept or agreed on.
uint64_t hash_fixed(struct str s);
// SipHash-2-4 with this key. For hash_of() and its test.
uint64_t hash_sip(const uint8_t key[HASH_KEY], struct str s, uint64_t seed);
