// SPDX-License-Identifier: Apache-2.0
#include "server/http/passed-socket.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/decimal.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "server/http/listen.h"

enum { FIRST_PASSED = 3 }; // SD_LISTEN_FDS_START

static bool read_variable(const char *name, uint64_t max, uint64_t *number)
{
	const char *text = getenv(name);
	return text && decimal_parse(str_from(text), max, number);
}

// The number of passed descriptors; LISTEN_PID says for which process they are.
static uint64_t count_passed(void)
{
	uint64_t process = 0, count = 0;
	if (!read_variable("LISTEN_PID", INT32_MAX, &process) || process != (uint64_t)getpid() ||
		!read_variable("LISTEN_FDS", INT32_MAX, &count))
		return 0;
	return count;
}

static bool has_option(int fd, int option, int wanted)
{
	int value = -1;
	socklen_t len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 && value == wanted;
}

int passed_socket_take(int *socket, char **url, struct err *e)
{
	uint64_t count = count_passed();
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	*socket = -1;
	if (count == 0)
		return 0;
	if (count > 1)
		return err_set(e, ERR_USAGE, "%ju sockets were passed (LISTEN_FDS); one is wanted", (uintmax_t)count);
	CLEANUP(mem_close) int fd = FIRST_PASSED;
	int flags = fcntl(fd, F_GETFL);
	if (flags < 0 || !has_option(fd, SO_TYPE, SOCK_STREAM) || !has_option(fd, SO_ACCEPTCONN, 1))
		return err_set(e, ERR_USAGE, "the socket that was passed (LISTEN_FDS) does not listen for streams");
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return err_errno(e, ERR_NET, "cannot use the socket that was passed");
	*url = listen_url(fd);
	*socket = mem_steal_fd(&fd);
	return 0;
}
