// SPDX-License-Identifier: Apache-2.0
#include "lib/os/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"

void notify_send(const char *lines)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, strlen(path));
	if (*path == '@') // an abstract socket
		to.sun_path[0] = '\0';
	CLEANUP(mem_close) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (fd < 0 || sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&to, len) < 0)
		log_warn("the service manager at %s is not told: %s", path, strerror(errno));
}
