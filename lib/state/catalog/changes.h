// SPDX-License-Identifier: Apache-2.0
// The change count of a catalog: a number that every commit of every process raises. It is in a small file beside the
// catalog ("-changes") that all processes map, so a process learns of another's commit by reading a word of memory. It
// is a hint: a process that cannot map the file (no permission, disk full, file removed) polls the catalog. If another
// process truncates the file, a SIGBUS handler puts a private page in its place until changes_wait maps the file again;
// the handler passes other addresses to the handler before it. Catalog and file are on a local disk. Any thread, except
// for opening, renewing, waiting and closing.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct changes;

// NULL if the file cannot be mapped. The caller closes it.
struct changes *changes_open(const char *catalog_path);
void changes_close(struct changes *c); // NULL is fine
// Maps the file again if the catalog was removed and created anew. Other threads may read meanwhile. One thread at a
// time.
void changes_renew(struct changes *c);
// To be called after a commit. NULL is fine.
void changes_raise(struct changes *c);
// Waits until the number differs from `seen`, at most this long. NULL: waits the whole time. One thread at a time, also
// with changes_renew.
void changes_wait(struct changes *c, uint32_t seen, unsigned milliseconds);

// Inline handlers read the number without a call. It wraps.
struct changes {
	_Atomic uint32_t *_Atomic word;
	char *path;
	struct changes_mapping *mapping; // the newest; older ones stay mapped, because other threads may read them
};

// 0 for NULL.
static inline uint32_t changes_read(const struct changes *c)
{
	return c ? atomic_load_explicit(atomic_load_explicit(&c->word, memory_order_acquire), memory_order_acquire) : 0;
}

// Whether the number a is b or an earlier one.
static inline bool changes_is_past(uint32_t a, uint32_t b)
{
	return (int32_t)(b - a) >= 0;
}
