// SPDX-License-Identifier: Apache-2.0
// The change count of a catalog: a number that every commit of every process raises, in a small file beside the catalog
// ("-changes") that all of them have mapped. So what one process commits is known in all others at once, at the price
// of reading a word of memory. It is a hint: a process that cannot have it (the folder is not its own, the disk is
// full, the file was removed) looks now and then, as without it. Where another process cuts the file short, the number
// is this process's alone until changes_wait() has mapped the file again; for that there is a handler of SIGBUS, which
// leaves other addresses to the one before it. The catalog is on a local disk, and so is this. Thread-safe but for
// opening, renewing and closing.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct changes;

// NULL where it cannot be had.
struct changes *changes_open(const char *catalog_path);
void changes_close(struct changes *c); // NULL is fine
// The file may be another one now, where catalog and all was removed and made again. Others may
// read on meanwhile.
void changes_renew(struct changes *c);
// After a commit. NULL: nothing.
void changes_raise(struct changes *c);
// Waits until the number is another one than seen, but no longer than so many milliseconds. NULL:
// always so long. As for changes_renew(): one thread at a time.
void changes_wait(struct changes *c, uint32_t seen, unsigned milliseconds);

// The number is all that quick answers ask for, so they read it without a call. It begins anew
// behind the last one that fits.
struct changes {
	_Atomic uint32_t *_Atomic word;
	char *path;
	struct changes_mapping *mapping; // the newest; those before it stay mapped, for others may read there
};

// 0 for NULL.
static inline uint32_t changes_read(const struct changes *c)
{
	return c ? atomic_load_explicit(atomic_load_explicit(&c->word, memory_order_acquire), memory_order_acquire) : 0;
}

// Whether the number a was there when b was, or before.
static inline bool changes_is_past(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) >= 0;
}
