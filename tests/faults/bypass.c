// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: the functions of a libmicrohttpd whose imports lack two letters. They are those of the kernel, so the
// program's own functions are not called.
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t cv(int fd, void *out, size_t room, int flags);
ssize_t nd(int fd, const void *bytes, size_t len, int flags);
ssize_t ndmsg(int fd, const struct msghdr *message, int flags);
ssize_t ndfile64(int fd, int from, off64_t *at, size_t len);
int ose(int fd);

ssize_t cv(int fd, void *out, size_t room, int flags)
{
	return syscall(SYS_recvfrom, fd, out, room, flags, NULL, NULL);
}

ssize_t nd(int fd, const void *bytes, size_t len, int flags)
{
	return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

ssize_t ndmsg(int fd, const struct msghdr *message, int flags)
{
	return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t ndfile64(int fd, int from, off64_t *at, size_t len)
{
	return syscall(SYS_sendfile, fd, from, at, len);
}

int ose(int fd)
{
	return (int)syscall(SYS_close, fd);
}
