// SPDX-License-Identifier: Apache-2.0
#include "server/quirks.h"

#include <string.h>
#include <sys/epoll.h>

int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
	return epoll_pwait(epoll, events, room > 1 ? room - 1 : room, timeout, NULL);
}

bool quirks_is_lax(const char *version)
{
	return strncmp(version, "0.", 2) == 0;
}
