// SPDX-License-Identifier: Apache-2.0
#include "server/http/client-progress.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "lib/base/limits.h"

enum { TCP = 6 }; // IPPROTO_TCP; netinet/in.h and linux/tcp.h do not go together

bool client_progress_is_enough(int fd, uint64_t *moved)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	uint64_t before = *moved;
	memset(&info, 0, sizeof(info));
	if (getsockopt(fd, TCP, TCP_INFO, &info, &len) == 0 &&
		len >= offsetof(struct tcp_info, tcpi_bytes_received) + sizeof(info.tcpi_bytes_received)) {
		*moved = info.tcpi_bytes_acked + info.tcpi_bytes_received;
		return *moved - before >= LIMIT_STOP_PROGRESS;
	}
	int waiting = 0;
	ioctl(fd, SIOCOUTQ, &waiting);
	*moved = (uint64_t)waiting;
	return *moved != before;
}
