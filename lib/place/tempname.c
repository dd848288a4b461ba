// SPDX-License-Identifier: Apache-2.0
#include "lib/place/tempname.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/format/digest.h"
#include "lib/os/fs.h"

// ".wheelcache-<machine>-<pid>-<start>-<number>.tmp", all hexadecimal.
static const char prefix[] = ".wheelcache-";

enum { STAT_STARTTIME = 22, DAY = 24 * 3600 };

struct maker {
	uint32_t machine;
	int32_t pid;
	uint64_t start; // of the process, because its id may be reused
	unsigned count;
};

// Abandoned names of this process.
static struct {
	pthread_mutex_t lock;
	unsigned *number;
	size_t count, room;
} abandoned = {.lock = PTHREAD_MUTEX_INITIALIZER};

// The 22nd field of /proc/PID/stat; the second one may have blanks and brackets. 0: no such process.
static uint64_t start_of(int32_t pid)
{
	struct err ignored = ERR_INIT;
	char path[64];
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PATH);
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", pid);
	if (fs_read_file(path, &text, &ignored) < 0)
		return 0;
	const char *at = strrchr(text.data, ')');
	for (int field = 2; at && field < STAT_STARTTIME; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	uint64_t start = 0;
	struct str digits = str_from(at ? at : "");
	decimal_cut(&digits, UINT64_MAX, &start);
	return start;
}

// The first bytes of a digest of some files and names; what cannot be read counts as empty.
static uint64_t fingerprint(const char *const *files, size_t count, const char *name)
{
	uint8_t sha256[SHA256_SIZE];
	uint64_t bits;
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PATH);
	for (size_t i = 0; i < count; i++) {
		struct err ignored = ERR_INIT;
		if (fs_read_file(files[i], &text, &ignored) < 0)
			buf_putc(&text, '?');
	}
	buf_puts(&text, name);
	digest_sha256(buf_view(&text), sha256);
	memcpy(&bits, sha256, sizeof(bits));
	return bits;
}

// Identifies the machine and the PID namespace.
static uint32_t this_machine(void)
{
	static const char *const files[] = {"/etc/machine-id"};
	char name[512] = "", *end = name + sizeof(name) / 2;
	if (gethostname(name, sizeof(name) / 2 - 1) < 0)
		name[0] = '\0';
	if (readlink("/proc/self/ns/pid", end, sizeof(name) / 2 - 1) > 0)
		memmove(name + strlen(name), end, strlen(end) + 1);
	return (uint32_t)fingerprint(files, ARRAY_SIZE(files), name);
}

// Identifies the start of a process and the boot; 0: there is no such process.
static uint64_t identity_of(int32_t pid)
{
	static const char *const files[] = {"/proc/sys/kernel/random/boot_id"};
	uint64_t start = start_of(pid);
	return start ? start ^ fingerprint(files, ARRAY_SIZE(files), "") : 0;
}

static struct maker self;

static void learn_self(void)
{
	self = (struct maker){this_machine(), (int32_t)getpid(), 0, 0};
	self.start = identity_of(self.pid);
}

static const struct maker *this_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, learn_self);
	return &self;
}

void tempname_name(char out[TEMPNAME_NAME])
{
	static atomic_uint count;
	const struct maker *me = this_process();
	snprintf(out, TEMPNAME_NAME, "%s%" PRIx32 "-%" PRIx32 "-%" PRIx64 "-%x.tmp", prefix, me->machine,
		(uint32_t)me->pid, me->start, atomic_fetch_add(&count, 1));
}

static bool parse_tempname(const char *name, struct maker *out)
{
	uint32_t pid;
	int end = 0;
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	if (sscanf(name + strlen(prefix), "%" SCNx32 "-%" SCNx32 "-%" SCNx64 "-%x.tmp%n", &out->machine, &pid,
		    &out->start, &out->count, &end) != 4 ||
		end == 0 || name[strlen(prefix) + (size_t)end])
		return false;
	out->pid = (int32_t)pid;
	return true;
}

bool tempname_is(const char *name)
{
	struct maker maker;
	return parse_tempname(name, &maker);
}

void tempname_abandon(const char *name)
{
	struct maker maker;
	if (!parse_tempname(name, &maker))
		return;
	pthread_mutex_lock(&abandoned.lock);
	GROW(abandoned.number, abandoned.count, abandoned.room);
	abandoned.number[abandoned.count++] = maker.count;
	pthread_mutex_unlock(&abandoned.lock);
}

static bool is_dead(int dirfd, const char *name, const struct maker *maker)
{
	const struct maker *me = this_process();
	if (!me->start || !maker->start || maker->machine != me->machine) {
		struct stat st;
		return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_mtime < time(NULL) - DAY;
	}
	if (maker->pid == me->pid && maker->start == me->start) {
		// Also removes the name from the list.
		bool found = false;
		pthread_mutex_lock(&abandoned.lock);
		for (size_t i = 0; i < abandoned.count && !found; i++)
			if (abandoned.number[i] == maker->count) {
				abandoned.number[i] = abandoned.number[--abandoned.count];
				found = true;
			}
		pthread_mutex_unlock(&abandoned.lock);
		return found;
	}
	uint64_t identity = identity_of(maker->pid);
	// /proc may hide the processes of other accounts; kill() still finds them.
	return identity ? identity != maker->start : kill(maker->pid, 0) < 0 && errno == ESRCH;
}

bool tempname_sweep(int dirfd, const char *name)
{
	struct maker maker;
	return parse_tempname(name, &maker) && is_dead(dirfd, name, &maker) &&
	       (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT);
}
