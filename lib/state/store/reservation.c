// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/reservation.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/state/config/state-files.h"

enum {
	NO_SLOT = -1,
	LOCK_MS = 30000, // wait for the table, whose holder reads the catalog
	TAKE_MS = 60000, // wait for files that are examined and linked
	POLL_MS = 10,
};

// Bytes after all slots: one is locked while the slots are added up, one by the upload of a file beyond the quota.
#define TABLE_LOCK ((off_t)1 << 40)
#define AGAIN_LOCK (TABLE_LOCK + 1)

enum state { STATE_FREE, STATE_RESERVED, STATE_TAKEN };

struct slot {
	uint64_t bytes, state;
};

struct reservation {
	const struct platform *platform;
	char *path;
	int fd; // a descriptor of its own, which holds its locks
	int slot;
	uint64_t bytes;
};

int reservation_open(const char *catalog_path, const struct platform *p, struct reservation **out, struct err *e)
{
	CLEANUP(mem_free) char *folder = state_file(NULL, catalog_path, STATE_FILE_RESERVED);
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", folder, p->name);
	int fd = safefile_open(path, O_RDWR | O_CREAT, e);
	if (fd < 0)
		return -1;
	struct reservation *r = xcalloc(1, sizeof(*r));
	*r = (struct reservation){.platform = p, .path = STEAL_PTR(path), .fd = fd, .slot = NO_SLOT};
	*out = r;
	return 0;
}

// --- locks ---

static off_t place_of(int slot)
{
	return slot * (off_t)sizeof(struct slot);
}

static struct flock range(short type, off_t start, off_t len)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len};
}

static void unlock_table(int *fd)
{
	struct flock lock = range(F_UNLCK, TABLE_LOCK, 1);
	if (*fd >= 0)
		fcntl(*fd, F_OFD_SETLK, &lock);
}

// *held is for CLEANUP with unlock_table.
static int lock_table(const struct reservation *r, int *held, struct err *e)
{
	struct flock lock = range(F_WRLCK, TABLE_LOCK, 1);
	for (int64_t until = clock_ms() + LOCK_MS; fcntl(r->fd, F_OFD_SETLK, &lock) < 0; poll(NULL, 0, POLL_MS)) {
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_errno(e, ERR_IO, "cannot lock %s", r->path);
		if (clock_ms() >= until)
			return err_set(e, ERR_BUSY, "platform %s: too many uploads reserve space at once",
				r->platform->name);
	}
	*held = r->fd;
	return 0;
}

// Whether another reservation still holds its slot.
static bool is_held(const struct reservation *r, int slot)
{
	struct flock lock = range(F_WRLCK, place_of(slot), sizeof(struct slot));
	return slot != r->slot && fcntl(r->fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// --- slots, under the table's lock ---

static int write_slot(const struct reservation *r, uint64_t bytes, enum state state, struct err *e)
{
	const struct slot slot = {.bytes = bytes, .state = state};
	if (pwrite(r->fd, &slot, sizeof(slot), place_of(r->slot)) != (ssize_t)sizeof(slot))
		return err_errno(e, fs_kind_of_write(), "%s", r->path);
	return 0;
}

static int claim_slot(struct reservation *r, struct err *e)
{
	for (int i = 0; r->slot == NO_SLOT && i < LIMIT_RESERVATIONS; i++) {
		struct flock lock = range(F_WRLCK, place_of(i), sizeof(struct slot));
		if (fcntl(r->fd, F_OFD_SETLK, &lock) == 0)
			r->slot = i;
	}
	if (r->slot == NO_SLOT)
		return err_set(e, ERR_BUSY, "platform %s: %d uploads are under way", r->platform->name,
			LIMIT_RESERVATIONS);
	return 0;
}

// Adds the other reservations; *is_settling: the catalog may count some of them too.
static int add_others(const struct reservation *r, struct quota_use *use, bool *is_settling, struct err *e)
{
	struct slot slot[256];
	for (int first = 0; first < LIMIT_RESERVATIONS; first += (int)ARRAY_SIZE(slot)) {
		ssize_t n = pread(r->fd, slot, sizeof(slot), place_of(first));
		if (n < 0)
			return err_errno(e, ERR_IO, "%s", r->path);
		for (int i = 0; i < (int)((size_t)n / sizeof(*slot)); i++) {
			if (slot[i].state == STATE_FREE || !is_held(r, first + i))
				continue;
			use->files++;
			use->bytes = use->bytes + slot[i].bytes < use->bytes ? UINT64_MAX : use->bytes + slot[i].bytes;
			*is_settling |= slot[i].state == STATE_TAKEN;
		}
		if ((size_t)n < sizeof(slot))
			return 0;
	}
	return 0;
}

// --- reserving ---

// Reads the slots before the catalog: a file that has left its slot is in the catalog.
static int try_reserve(struct reservation *r, uint64_t max_file, uint64_t bytes, reservation_use_fn *use, void *ctx,
	bool *is_settling, struct err *e)
{
	CLEANUP(unlock_table) int held = -1;
	struct quota_use others = {0}, all;
	if (lock_table(r, &held, e) < 0 || add_others(r, &others, is_settling, e) < 0 || use(ctx, &all, e) < 0)
		return -1;
	all.files += others.files;
	all.bytes = all.bytes + others.bytes < all.bytes ? UINT64_MAX : all.bytes + others.bytes;
	if (quota_check(r->platform, max_file, &all, bytes, e) < 0 || claim_slot(r, e) < 0 ||
		write_slot(r, bytes, STATE_RESERVED, e) < 0)
		return -1;
	r->bytes = bytes;
	return 0;
}

int reservation_set(struct reservation *r, uint64_t max_file, uint64_t bytes, reservation_use_fn *use, void *ctx,
	struct err *e)
{
	for (int64_t until = clock_ms() + TAKE_MS;; poll(NULL, 0, POLL_MS)) {
		bool is_settling = false;
		struct err why = ERR_INIT;
		if (try_reserve(r, max_file, bytes, use, ctx, &is_settling, &why) == 0)
			return 0;
		if (why.kind == ERR_FULL && is_settling && clock_ms() < until)
			continue;
		*e = why;
		return -1;
	}
}

int reservation_set_again(struct reservation *r, struct err *e)
{
	struct flock lock = range(F_WRLCK, AGAIN_LOCK, 1);
	while (fcntl(r->fd, F_OFD_SETLK, &lock) < 0) {
		if (errno == EAGAIN || errno == EACCES)
			return err_set(e, ERR_BUSY,
				"platform %s is full, and another file that it has is being sent once more: try again",
				r->platform->name);
		if (errno != EINTR)
			return err_errno(e, ERR_IO, "cannot lock %s", r->path);
	}
	return 0;
}

uint64_t reservation_bytes(const struct reservation *r)
{
	return r->bytes;
}

int reservation_take(struct reservation *r, struct err *e)
{
	CLEANUP(unlock_table) int held = -1;
	if (r->slot == NO_SLOT)
		return 0;
	return lock_table(r, &held, e) < 0 ? -1 : write_slot(r, r->bytes, STATE_TAKEN, e);
}

// Closing the descriptor ends its locks, and with them its slot.
void reservation_close(struct reservation *r)
{
	if (!r)
		return;
	mem_close(&r->fd);
	free(r->path);
	free(r);
}
