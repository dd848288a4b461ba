// SPDX-License-Identifier: Apache-2.0
// Room of a platform's quota that uploads under way have reserved: all of them, of all servers on one catalog, together
// never pass it. A file beside the catalog (catalog.db.reserved/PLATFORM) has a slot a reservation. A slot counts while its
// owner holds the lock of its bytes (open file description locks, fcntl(2)), so what a process had reserved is free again
// however it ended. The catalog is on a local disk, and so is this. A struct reservation is one thread's at a time.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/store.h"

struct reservation;

// What the platform holds without any reservation: the catalog's count, what waits for a release, the disk.
typedef int reservation_use_fn(void *ctx, struct quota_use *use, struct err *e);

// Nothing is reserved yet. ERR_IO, ERR_FULL: its file.
int reservation_open(const char *catalog_path, const struct platform *p, struct reservation **out,
	struct err *e) MUST_CHECK;
// What is reserved is free again. NULL is fine.
void reservation_close(struct reservation *r);
// One file of so many bytes is reserved now, instead of what was; use is asked under a lock of the platform's reservations.
// Errors of quota_check; ERR_BUSY: more uploads at once than LIMIT_RESERVATIONS, or a lock that does not come free. On an error
// what was reserved stays.
int reservation_set(struct reservation *r, uint64_t max_file, uint64_t bytes, reservation_use_fn *use, void *ctx,
	struct err *e) MUST_CHECK;
// Room beyond the quota for a file that is there already and is sent once more: one reservation of the platform has it at a
// time, until reservation_close. ERR_BUSY: another one has it.
int reservation_set_again(struct reservation *r, struct err *e) MUST_CHECK;
uint64_t reservation_bytes(const struct reservation *r);
// From now on the catalog may count the file as well, until reservation_close: a reservation that finds no room meanwhile
// waits and looks again.
int reservation_take(struct reservation *r, struct err *e) MUST_CHECK;
