// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the n-th call that changes a file or sends data fails, or kills or stops the process instead. The
// file $FAULT_CONTROL is a struct control, shared with the test. $FAULT_PATHS has parts of paths, separated by ",":
// only calls for these count. A socket has the path "socket:[…]".
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NEXT(function) ((__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

enum { PAUSE = -1 };

struct control {
	atomic_int at;    // which call, from 1; 0: none
	atomic_int count; // of calls so far
	atomic_int how; // an errno; 0: the process is killed; PAUSE: it stops, and makes the call when it is continued
};

static struct control *control(void)
{
	static struct control *_Atomic mapped;
	struct control *c = atomic_load(&mapped);
	const char *path = c ? NULL : getenv("FAULT_CONTROL");
	if (!path)
		return c;
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	void *place = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	syscall(SYS_close, fd);
	if (place == MAP_FAILED)
		return NULL;
	atomic_store(&mapped, place);
	return place;
}

static bool counts(const char *path)
{
	const char *parts = getenv("FAULT_PATHS");
	while (parts && *parts) {
		size_t len = strcspn(parts, ",");
		if (memmem(path, strlen(path), parts, len))
			return true;
		parts += len + (parts[len] == ',');
	}
	return false;
}

// Whether this is the n-th call.
static bool fails(const char *path)
{
	struct control *c = control();
	int kept = errno;
	if (!c || !atomic_load(&c->at) || !counts(path) || atomic_fetch_add(&c->count, 1) + 1 != atomic_load(&c->at)) {
		errno = kept;
		return false;
	}
	if (!atomic_load(&c->how))
		kill(getpid(), SIGKILL);
	if (atomic_load(&c->how) == PAUSE) {
		raise(SIGSTOP); // sent to this thread, so that it stops here
		errno = kept;
		return false;
	}
	errno = atomic_load(&c->how);
	return true;
}

// The path of a descriptor, and of a name below it.
static const char *path_of(int fd, const char *name, char out[8192])
{
	char link[64];
	if (name && name[0] == '/')
		return name;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ssize_t len = fd == AT_FDCWD ? 0 : readlink(link, out, 4096);
	snprintf(out + (len > 0 ? len : 0), 4096, "/%s", name ? name : "");
	return out;
}

// FAULT_NFS: statfs says that each file system is NFS.
int fstatfs(int fd, struct statfs *out)
{
	int result = NEXT(fstatfs)(fd, out);
	if (result == 0 && getenv("FAULT_NFS"))
		out->f_type = NFS_SUPER_MAGIC;
	return result;
}

static bool fails_at(int fd, const char *name)
{
	char path[8192];
	return fails(path_of(fd, name, path));
}

#define BY_DESCRIPTOR(type, name, parameters, arguments)                                                               \
	type name parameters                                                                                           \
	{                                                                                                              \
		return fails_at(fd, NULL) ? -1 : NEXT(name) arguments;                                                 \
	}

BY_DESCRIPTOR(ssize_t, write, (int fd, const void *bytes, size_t len), (fd, bytes, len))
BY_DESCRIPTOR(ssize_t, pwrite, (int fd, const void *bytes, size_t len, off_t at), (fd, bytes, len, at))
BY_DESCRIPTOR(ssize_t, pwrite64, (int fd, const void *bytes, size_t len, off64_t at), (fd, bytes, len, at))
BY_DESCRIPTOR(int, fsync, (int fd), (fd))
BY_DESCRIPTOR(int, fdatasync, (int fd), (fd))
BY_DESCRIPTOR(int, ftruncate, (int fd, off_t len), (fd, len))
BY_DESCRIPTOR(int, ftruncate64, (int fd, off64_t len), (fd, len))

// Ends the connection for both sides.
ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
	if (!fails_at(fd, NULL))
		return NEXT(send)(fd, bytes, len, flags);
	int reason = errno;
	shutdown(fd, SHUT_RDWR);
	errno = reason;
	return -1;
}

#define BY_PATH(name, parameters, arguments, folder, path)                                                             \
	int name parameters                                                                                            \
	{                                                                                                              \
		return fails_at(folder, path) ? -1 : NEXT(name) arguments;                                             \
	}

BY_PATH(rename, (const char *from, const char *to), (from, to), AT_FDCWD, to)
BY_PATH(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), b, to)
BY_PATH(link, (const char *from, const char *to), (from, to), AT_FDCWD, to)
BY_PATH(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), b, to)
BY_PATH(unlink, (const char *path), (path), AT_FDCWD, path)
BY_PATH(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), folder, path)
BY_PATH(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path)
BY_PATH(mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), folder, path)

#define OPENING(name, parameters, arguments, folder, path)                                                             \
	int name parameters                                                                                            \
	{                                                                                                              \
		va_list rest;                                                                                          \
		va_start(rest, flags);                                                                                 \
		mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                \
		va_end(rest);                                                                                          \
		return flags & O_CREAT && fails_at(folder, path) ? -1 : NEXT(name) arguments;                          \
	}

OPENING(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, path)
OPENING(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD, path)
OPENING(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder, path)
OPENING(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode), folder, path)
