// SPDX-License-Identifier: Apache-2.0
#include "server/http/mhd-workarounds.h"

#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
	return epoll_pwait(epoll, events, room > 1 ? room - 1 : room, timeout, NULL);
}

bool mhd_workarounds_is_lax(const char *version)
{
	return strncmp(version, "0.", 2) == 0;
}

int mhd_workarounds_for_loop(int fd, unsigned loop, unsigned loops)
{
	unsigned number = (unsigned)fd, ahead = (loop % loops + loops - number % loops) % loops;
	int moved = ahead ? fcntl(fd, F_DUPFD_CLOEXEC, (int)(number + ahead)) : -1;
	if (moved < 0)
		return fd; // it belongs to the loop already, or no descriptor is free
	close(fd);
	return moved;
}
