// SPDX-License-Identifier: Apache-2.0
#include "server/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/counted.h"
#include "lib/base/decimal.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/os/safefile.h"

enum {
	BACKLOG = 1024,
	DESCRIPTORS_KEPT = 128, // reserved for catalogs, wheels and logs
};

static const char unix_scheme[] = "unix:";

// Sets the error of bind(), with what to do about it.
static int refuse_address(int reason, const char *text, struct err *e)
{
	static const struct {
		int reason;
		const char *advice;
	} row[] = {
		{EADDRINUSE, "choose another address with --listen, or end the process that has it: ss -ltnp shows it"},
		{EACCES, "choose a port from 1024 on, or let a proxy stand before it"},
		{EADDRNOTAVAIL, "choose an address of this machine: ip address lists them"},
	};
	err_errno(e, ERR_NET, "cannot listen on %s", text);
	for (size_t i = 0; i < ARRAY_SIZE(row); i++)
		if (row[i].reason == reason)
			return err_advise(e, "%s", row[i].advice);
	return -1;
}

static int bind_socket(int family, const struct sockaddr *addr, socklen_t len, const char *text, struct err *e)
{
	int on = 1;
	CLEANUP(mem_close) int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_errno(e, ERR_NET, "cannot make a socket for %s", text);
	if (family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, addr, len) < 0)
		return refuse_address(errno, text, e);
	return mem_steal_fd(&fd);
}

int listen_begin(int socket, const char *url, struct err *e)
{
	return listen(socket, BACKLOG) < 0 ? err_errno(e, ERR_NET, "cannot listen on %s", url) : 0;
}

// A socket file, addressed by the descriptor of its folder, so that no symbolic link of another account leads
// elsewhere.
struct socket_file {
	int folder;
	char *name;
	struct sockaddr_un addr;
};

static void socket_file_release(struct socket_file *p)
{
	mem_close(&p->folder);
	free(p->name);
}

static int socket_file_open(struct socket_file *p, const char *path, struct err *e)
{
	*p = (struct socket_file){.addr = {.sun_family = AF_UNIX}};
	p->folder = safefile_parent(path, false, &p->name, e);
	if (p->folder < 0)
		return err_prefix(e, "cannot listen on ");
	int len = snprintf(p->addr.sun_path, sizeof(p->addr.sun_path), "/proc/self/fd/%d/%s", p->folder, p->name);
	if ((size_t)len >= sizeof(p->addr.sun_path))
		return err_set(e, ERR_USAGE, "unix:%s: a shorter file name is wanted", path);
	return 0;
}

static bool is_socket_file(const struct socket_file *p)
{
	struct stat st;
	return fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode);
}

void listen_end(const char *url)
{
	struct err ignored = ERR_INIT;
	CLEANUP(socket_file_release) struct socket_file p = {.folder = -1};
	if (strncmp(url, unix_scheme, strlen(unix_scheme)) == 0 &&
		socket_file_open(&p, url + strlen(unix_scheme), &ignored) == 0 && is_socket_file(&p))
		unlinkat(p.folder, p.name, 0);
}

// Removes the socket file of a server that died. A socket that accepts a connection belongs to a running server.
static int remove_dead_socket(const struct socket_file *p, const char *path, struct err *e)
{
	struct stat st;
	if (fstatat(p->folder, p->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return err_set(e, ERR_NET, "%s exists and is not a socket", path);
	CLEANUP(mem_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (const struct sockaddr *)&p->addr, sizeof(p->addr)) == 0)
		return err_set(e, ERR_NET, "another server already listens on unix:%s", path);
	unlinkat(p->folder, p->name, 0);
	return 0;
}

// The permissions of the folder decide who may connect. The file must still be the socket that was bound.
static int allow_all_users(const struct socket_file *p, const char *path, struct err *e)
{
	struct stat st;
	char link[64];
	CLEANUP(mem_close) int fd = openat(p->folder, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(e, ERR_NET, "cannot open %s for all", path);
	if (!S_ISSOCK(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return err_set(e, ERR_NET, "%s: another process replaced it", path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, 0666) < 0 ? err_errno(e, ERR_NET, "cannot open %s for all", path) : 0;
}

static int open_unix_socket(const char *path, char **url, struct err *e)
{
	CLEANUP(socket_file_release) struct socket_file p = {.folder = -1};
	if (!*path || strlen(path) >= sizeof(p.addr.sun_path))
		return err_set(e, ERR_USAGE, "unix:%s: a path of 1 to %zu bytes is wanted", path,
			sizeof(p.addr.sun_path) - 1);
	if (socket_file_open(&p, path, e) < 0 || remove_dead_socket(&p, path, e) < 0)
		return -1;
	CLEANUP(mem_close) int fd = bind_socket(AF_UNIX, (const struct sockaddr *)&p.addr, sizeof(p.addr), path, e);
	if (fd < 0 || allow_all_users(&p, path, e) < 0)
		return -1;
	*url = xasprintf("%s%s", unix_scheme, path);
	return mem_steal_fd(&fd);
}

// The address of a socket, as *url above; the caller frees it.
static char *url_of_socket(int fd)
{
	struct sockaddr_storage addr = {0};
	socklen_t len = sizeof(addr);
	char host[64], port[16];
	bool is_known = getsockname(fd, (struct sockaddr *)&addr, &len) == 0;
	if (is_known && addr.ss_family == AF_UNIX)
		return xasprintf("%s%s", unix_scheme, ((const struct sockaddr_un *)(const void *)&addr)->sun_path);
	if (!is_known || getnameinfo((struct sockaddr *)&addr, len, host, sizeof(host), port, sizeof(port),
				 NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return xstrdup("http://?/");
	bool is_v6 = addr.ss_family == AF_INET6;
	return xasprintf("http://%s%s%s:%s/", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

// getaddrinfo() accepts any number, modulo 65536.
static bool is_port(struct str s)
{
	uint64_t number;
	return decimal_parse(s, UINT16_MAX, &number);
}

// "[::1]:80" or "127.0.0.1:80": *host gets no brackets, *port is after the last colon.
static bool split_address(struct str text, struct str *host, struct str *port)
{
	long colon = str_rfind(text, ':');
	if (colon < 0)
		return false;
	*host = str_slice(text, 0, (size_t)colon);
	*port = str_slice(text, (size_t)colon + 1, text.len);
	if (str_starts(*host, STR("[")) && str_ends(*host, STR("]")))
		*host = str_slice(*host, 1, host->len - 1);
	else if (str_find(*host, ':') >= 0)
		return false;
	return host->len && is_port(*port);
}

static void free_addresses(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

int listen_open(const char *text, char **url, struct err *e)
{
	struct str host, port;
	if (strncmp(text, unix_scheme, strlen(unix_scheme)) == 0)
		return open_unix_socket(text + strlen(unix_scheme), url, e);
	if (!split_address(str_from(text), &host, &port))
		return err_set(e, ERR_USAGE,
			"cannot listen on %s: that is no address; use ADDRESS:PORT, [IPV6]:PORT or unix:PATH", text);
	CLEANUP(mem_free) char *name = xstrndup(host.ptr, host.len);
	CLEANUP(mem_free) char *service = xstrndup(port.ptr, port.len);
	CLEANUP(free_addresses) struct addrinfo *list = NULL;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	int code = getaddrinfo(name, service, &hints, &list);
	if (code != 0)
		return err_set(e, ERR_USAGE, "%s: %s", text, gai_strerror(code));
	int fd = bind_socket(list->ai_family, list->ai_addr, list->ai_addrlen, text, e);
	if (fd >= 0)
		*url = url_of_socket(fd);
	return fd;
}

void listen_peer(const struct sockaddr *addr, char out[REQUEST_PEER])
{
	const void *ip = NULL;
	if (addr && addr->sa_family == AF_INET)
		ip = &((const struct sockaddr_in *)(const void *)addr)->sin_addr;
	else if (addr && addr->sa_family == AF_INET6)
		ip = &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr;
	if (!ip || !inet_ntop(addr->sa_family, ip, out, REQUEST_PEER))
		snprintf(out, REQUEST_PEER, "unix");
}

unsigned listen_limit(unsigned wanted)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return wanted;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return wanted;
	unsigned most = limit.rlim_cur > 2 * DESCRIPTORS_KEPT ? (unsigned)limit.rlim_cur - DESCRIPTORS_KEPT
							      : (unsigned)limit.rlim_cur / 2;
	if (most < wanted)
		log_warn("%s at most: the limit of open files allows no more", COUNTED(most, "connection|connections"));
	return most < wanted ? most : wanted;
}

// --- a socket that was passed ---

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
	*url = url_of_socket(fd);
	*socket = mem_steal_fd(&fd);
	return 0;
}
