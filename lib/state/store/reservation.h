// SPDX-License-Identifier: Apache-2.0
// Reservations of a platform's quota by uploads that are under way. Together, the uploads of all servers on one catalog
// never exceed the quota. A file beside the catalog (catalog.db.reserved/PLATFORM), on the same local disk, has a slot
// for each reservation. A slot counts while its owner holds the lock of its bytes (open file description locks,
// fcntl(2)), so the reservations of a dead process are free. One thread at a time for a struct reservation.
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/state/store/quota.h"
#include "lib/state/store/store.h"

struct reservation;

// Reports what the platform holds without any reservation: the catalog's count, unreleased files, the disk.
typedef int reservation_use_fn(void *ctx, struct quota_use *use, struct err *e);

// Opens the platform's file; nothing is reserved yet. ERR_IO, ERR_FULL.
int reservation_open(const char *catalog_path, const struct platform *p, struct reservation **out,
	struct err *e) MUST_CHECK;
// Ends the reservation. NULL is fine.
void reservation_close(struct reservation *r);
// Reserves one file of `bytes` bytes, in place of what was reserved. use is called under the lock of the platform's
// reservations. Errors of quota_check; ERR_BUSY: more than LIMIT_RESERVATIONS uploads at once, or a lock that stays
// taken. On an error the reservation stays as it was.
int reservation_set(struct reservation *r, uint64_t max_file, uint64_t bytes, reservation_use_fn *use, void *ctx,
	struct err *e) MUST_CHECK;
// Reserves room beyond the quota for a file that the platform has and that is uploaded again. One reservation of the
// platform may have it at a time, until reservation_close. ERR_BUSY: another one has it.
int reservation_set_again(struct reservation *r, struct err *e) MUST_CHECK;
uint64_t reservation_bytes(const struct reservation *r);
// Announces that the catalog may count the file too until reservation_close. Another reservation that finds no room
// meanwhile waits and tries again.
int reservation_take(struct reservation *r, struct err *e) MUST_CHECK;
