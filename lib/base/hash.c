// SPDX-License-Identifier: Apache-2.0
#include "lib/base/hash.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// --- SipHash-2-4, Aumasson and Bernstein 2012 ---

enum { WORD = 8, ROUNDS_OF_WORD = 2, LAST_ROUNDS = 4 };

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t n, unsigned bits)
{
	return n << bits | n >> (64 - bits);
}

static void mix(struct sip *s, int rounds)
{
	while (rounds--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate(s->v1, 13) ^ s->v0;
		s->v3 = rotate(s->v3, 16) ^ s->v2;
		s->v0 = rotate(s->v0, 32) + s->v3;
		s->v2 += s->v1;
		s->v1 = rotate(s->v1, 17) ^ s->v2;
		s->v3 = rotate(s->v3, 21) ^ s->v0;
		s->v2 = rotate(s->v2, 32);
	}
}

static void mix_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	mix(s, ROUNDS_OF_WORD);
	s->v0 ^= word;
}

// Little-endian, as the paper has it.
static inline uint64_t word_of(const void *at, size_t len)
{
	uint64_t word = 0;
	memcpy(&word, at, len);
	return le64toh(word);
}

uint64_t hash_sip(const uint8_t key[HASH_KEY], struct str s, uint64_t seed)
{
	uint64_t k0 = word_of(key, WORD), k1 = word_of(key + WORD, WORD) ^ seed;
	struct sip state = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
		k1 ^ 0x7465646279746573};
	size_t whole = s.len - s.len % WORD;
	for (size_t i = 0; i < whole; i += WORD)
		mix_word(&state, word_of(s.ptr + i, WORD));
	mix_word(&state, (uint64_t)s.len << 56 | (s.len > whole ? word_of(s.ptr + whole, s.len - whole) : 0));
	state.v2 ^= 0xff;
	mix(&state, LAST_ROUNDS);
	return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

// --- the key of the process ---

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static uint8_t process_key[HASH_KEY];

// Without it every table could be attacked: the process ends, as without memory.
static void make_process_key(void)
{
	ssize_t got;
	do
		got = getrandom(process_key, sizeof(process_key), 0);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(process_key))
		abort();
}

uint64_t hash_of(struct str s, uint64_t seed)
{
	pthread_once(&key_once, make_process_key);
	return hash_sip(process_key, s, seed);
}

uint64_t hash_fixed(struct str s)
{
	uint64_t h = 0xcbf29ce484222325;
	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3;
	return h ^ h >> 32;
}
