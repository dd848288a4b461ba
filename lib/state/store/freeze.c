// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/freeze.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/store/tempname.h"

enum {
	ENTER_MS = 1000,     // wait of a write; a freeze holds the lock only for a moment
	STRANGER_MS = 60000, // a longer holder is not a freeze: no write waits again for this time
	POLL_MS = 20,
};

static const char mark[] = FREEZE_MARK, lock_name[] = FREEZE_LOCK;
static const char no_reason[] = "no reason was given";

static int open_folder(const struct platform *p, struct err *e)
{
	int fd = store_open_writable_folder(p, "", e);
	return fd < 0 ? err_prefix(e, "platform %s: ", p->name) : fd;
}

// Appends one line of plain text: control characters become blanks.
static void add_line(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		buf_putc(out, (unsigned char)text.ptr[i] < ' ' || text.ptr[i] == 127 ? ' ' : text.ptr[i]);
}

static void compose_mark(const char *who, const char *reason, struct buf *out)
{
	char when[CLOCK_TEXT];
	clock_write(clock_wall_seconds(), when);
	add_line(out, str_from(reason));
	buf_puts(out, "\nby ");
	add_line(out, str_from(who));
	buf_printf(out, " at %s\n", when);
}

static int put_mark(const struct platform *p, int folder, const char *who, const char *reason, struct err *e)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_WORDS);
	compose_mark(who, reason, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the reason is longer than %d bytes", LIMIT_WORDS);
	char tmp[TEMPNAME_NAME];
	tempname_name(tmp);
	CLEANUP(fs_tmp_release) struct fs_tmp t;
	if (fs_tmp_open(&t, folder, tmp, mark, e) < 0 || fs_tmp_write(&t, buf_view(&text), e) < 0 ||
		fs_tmp_publish(&t, e) < 0 || fs_sync_dir(folder, e) < 0)
		return err_prefix(e, "platform %s: ", p->name);
	return 0;
}

// --- the lock ---

// The lock of a folder is local to the machine. So on a shared file system a file is locked, whose lock NFS and AFS
// send to their server.
static bool is_remote(int folder)
{
	static const unsigned magic[] = {
		NFS_SUPER_MAGIC,
		AFS_SUPER_MAGIC,
		AFS_FS_MAGIC,
		CIFS_SUPER_MAGIC,
		SMB2_SUPER_MAGIC,
		CEPH_SUPER_MAGIC,
		V9FS_MAGIC,
		OCFS2_SUPER_MAGIC,
		FUSE_SUPER_MAGIC,
	};
	struct statfs disk;
	if (fstatfs(folder, &disk) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
		if ((unsigned)disk.f_type == magic[i])
			return true;
	return false;
}

// Creates the lock file. Accounts that can write to the folder can lock it.
static int make_lock(int folder)
{
	struct stat st;
	int fd = openat(folder, lock_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || fstat(folder, &st) < 0)
		return fd;
	if (fchown(fd, geteuid() == 0 ? st.st_uid : (uid_t)-1, st.st_gid) < 0)
		log_debug("the lock of a platform is not its folder's group's: %s", strerror(errno));
	if (fchmod(fd, st.st_mode & S_IWOTH ? 0666 : st.st_mode & S_IWGRP ? 0660 : 0640) < 0)
		log_debug("the lock of a platform is its maker's alone: %s", strerror(errno));
	return fd;
}

// On NFS an exclusive lock needs a descriptor that is open for writing.
static int open_lock(int folder)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	if (!is_remote(folder))
		return openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd = openat(folder, lock_name, O_RDWR | flags);
	if (fd < 0 && (errno == EACCES || errno == EROFS))
		fd = openat(folder, lock_name, O_RDONLY | flags);
	if (fd < 0 && errno == ENOENT)
		fd = make_lock(folder);
	if (fd < 0 && errno == EEXIST)
		fd = openat(folder, lock_name, O_RDWR | flags);
	return fd;
}

static bool has_no_locks(void)
{
	return errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL;
}

static bool is_still_named(int folder, int fd)
{
	struct stat named, held;
	if (fstat(fd, &held) < 0 || S_ISDIR(held.st_mode))
		return true;
	return fstatat(folder, lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == held.st_ino &&
	       named.st_dev == held.st_dev;
}

// 1: locked; 0: the file system has no locks, and nothing is held; -1: ERR_BUSY after wait_ms.
static int take_lock(const struct platform *p, int folder, int how, unsigned wait_ms, struct freeze_hold *hold,
	struct err *e)
{
	for (int64_t until = clock_ms() + wait_ms;;) {
		struct stat st;
		CLEANUP(mem_close) int fd = open_lock(folder);
		if (fd < 0 || fstat(fd, &st) < 0)
			return err_errno(e, ERR_IO, "platform %s: its lock %s", p->name, lock_name);
		if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
			return err_set(e, ERR_IO, "platform %s: its lock %s is no regular file", p->name, lock_name);
		int locked = flock(fd, how | LOCK_NB);
		if (locked < 0 && has_no_locks())
			return 0;
		if (locked < 0 && errno != EWOULDBLOCK && errno != EINTR)
			return err_errno(e, ERR_IO, "platform %s: its lock %s", p->name, lock_name);
		if (locked == 0 && is_still_named(folder, fd)) {
			*hold = (struct freeze_hold){.fd = mem_steal_fd(&fd), .is_taken = true};
			return 1;
		}
		if (clock_ms() >= until)
			return err_set(e, ERR_BUSY, "platform %s: another process holds the lock of %s%s%s", p->name,
				p->write_path ? p->write_path : p->path, S_ISDIR(st.st_mode) ? "" : "/",
				S_ISDIR(st.st_mode) ? "" : lock_name);
		poll(NULL, 0, POLL_MS);
	}
}

void freeze_leave(struct freeze_hold *hold)
{
	if (hold->is_taken)
		mem_close(&hold->fd);
	hold->is_taken = false;
}

static int wait_for_writers(const struct platform *p, int folder, unsigned wait_ms, struct err *e)
{
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	int alone = take_lock(p, folder, LOCK_EX, wait_ms, &hold, e);
	if (alone == 0)
		log_warn(
			"platform %s: its file system has no locks: a write that is under way may end after the freeze",
			p->name);
	if (alone < 0 && e->kind == ERR_BUSY)
		return err_prefix(e,
			"it is frozen, but a write has not ended in %u s; freeze it again to wait longer: ",
			wait_ms / 1000);
	return alone < 0 ? -1 : 0;
}

int freeze_settle(const struct platform *p, unsigned wait_ms, struct err *e)
{
	CLEANUP(mem_close) int folder = open_folder(p, e);
	return folder < 0 ? -1 : wait_for_writers(p, folder, wait_ms, e);
}

int freeze_set(const struct platform *p, const char *who, const char *reason, unsigned wait_ms, struct err *e)
{
	CLEANUP(mem_close) int folder = open_folder(p, e);
	return folder < 0 || put_mark(p, folder, who, reason, e) < 0 ? -1 : wait_for_writers(p, folder, wait_ms, e);
}

int freeze_clear(const struct platform *p, bool *was_frozen, struct err *e)
{
	CLEANUP(mem_close) int folder = open_folder(p, e);
	if (folder < 0)
		return -1;
	*was_frozen = unlinkat(folder, mark, 0) == 0;
	if (!*was_frozen && errno != ENOENT)
		return err_errno(e, ERR_IO, "platform %s: %s", p->name, mark);
	if (*was_frozen && fs_sync_dir(folder, e) < 0)
		return err_prefix(e, "platform %s: ", p->name);
	return 0;
}

// Leaves out a character that is cut off, and what is not text.
static void read_mark(const struct platform *p, struct buf *why)
{
	char text[LIMIT_WORDS];
	struct err ignored = ERR_INIT;
	CLEANUP(mem_close) int fd = store_open_writable_file(p, mark, &ignored);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));
	struct str rest = {text, n > 0 ? (size_t)n : 0};
	struct str reason = str_trim(str_cut(&rest, '\n'));
	struct str by = rest.ptr ? str_trim(str_cut(&rest, '\n')) : STR("");
	add_line(why, reason.len && str_is_utf8(reason) ? reason : str_from(no_reason));
	if (!by.len || !str_is_utf8(by))
		return;
	buf_puts(why, " (");
	add_line(why, by);
	buf_putc(why, ')');
}

int freeze_is(const struct platform *p, struct buf *why, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int folder = open_folder(p, e);
	if (folder < 0)
		return -1;
	if (fstatat(folder, mark, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, ERR_IO, "platform %s: %s", p->name, mark);
	read_mark(p, why);
	return 1;
}

bool freeze_is_retirement(struct str why)
{
	struct str word = STR(FREEZE_RETIRED);
	if (!str_starts(why, word))
		return false;
	return why.len == word.len || why.ptr[word.len] == ':' || why.ptr[word.len] == ' ';
}

static int check_frozen(const struct platform *p, bool by_retirement, struct err *e)
{
	CLEANUP(buf_release) struct buf why;
	buf_init(&why, SIZE_MAX / 2); // the file is read up to a limit
	int frozen = freeze_is(p, &why, e);
	if (frozen <= 0 || (by_retirement && freeze_is_retirement(buf_view(&why))))
		return frozen < 0 ? -1 : 0;
	return err_set(e, ERR_BUSY, "platform %s is frozen: %s; try again later, or end it: wheelcache thaw %s", p->name,
		why.data, p->name);
}

int freeze_check(const struct platform *p, struct err *e)
{
	return check_frozen(p, false, e);
}

// The time (clock_ms) until which no write waits: an account that can only read the folder may hold its lock forever.
static _Atomic int64_t stranger_until;

static void note_foreign_lock(const char *held)
{
	atomic_store(&stranger_until, clock_ms() + STRANGER_MS);
	log_warn("%s, and is no freeze: what is written now a freeze does not wait for", held);
}

// Checks for the mark twice: a frozen folder may be read-only, so that it has no lock file. A freeze creates the mark
// before it takes the lock, so an exclusive holder without a mark is not a freeze, and writes do not wait long for it.
int freeze_enter(const struct platform *p, bool by_retirement, struct freeze_hold *hold, struct err *e)
{
	struct err held = ERR_INIT;
	*hold = (struct freeze_hold){0};
	CLEANUP(mem_close) int folder = open_folder(p, e);
	if (folder < 0 || check_frozen(p, by_retirement, e) < 0)
		return -1;
	unsigned wait_ms = clock_ms() < atomic_load(&stranger_until) ? 0 : ENTER_MS;
	int taken = take_lock(p, folder, LOCK_SH, wait_ms, hold, &held);
	if (taken < 0 && held.kind != ERR_BUSY) {
		*e = held;
		return -1;
	}
	if (check_frozen(p, by_retirement, e) < 0)
		return -1;
	if (taken < 0 && wait_ms)
		note_foreign_lock(held.msg);
	return 0;
}
