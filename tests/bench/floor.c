// SPDX-License-Identifier: Apache-2.0
// The floor of "make bench": the cost of a request in a server that only reads it from the socket and writes prepared
// bytes. One thread, epoll. GET /N is answered with the file FOLDER/N, which has head and body. Prints its port.
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024, EVENTS = 128, REQUEST = 4096 };

struct answer {
	char *data;
	size_t len;
	bool is_last; // on its connection
};

struct peer {
	int fd;
	size_t got;                  // bytes of the request
	const struct answer *answer; // NULL: the request is not complete
	size_t sent;
	char request[REQUEST];
};

static struct answer *answers;
static size_t answer_count;

static bool load(const char *folder, size_t number)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%zu", folder, number);
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	struct answer a = {0};
	if (fseek(file, 0, SEEK_END) < 0)
		err(1, "%s", path);
	a.len = (size_t)ftell(file);
	rewind(file);
	a.data = malloc(a.len + 1);
	if (!a.data || fread(a.data, 1, a.len, file) != a.len)
		err(1, "%s", path);
	fclose(file);
	a.data[a.len] = '\0';
	const char *close_header = strstr(a.data, "\r\nConnection: close\r\n");
	const char *end = strstr(a.data, "\r\n\r\n");
	a.is_last = close_header && end && close_header < end;
	answers = realloc(answers, (number + 1) * sizeof(*answers));
	if (!answers)
		err(1, "%s", path);
	answers[number] = a;
	return true;
}

static int start(void)
{
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
		bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, BACKLOG) < 0 ||
		getsockname(fd, (struct sockaddr *)&addr, &len) < 0)
		err(1, "cannot listen");
	printf("%u\n", ntohs(addr.sin_port));
	fflush(stdout);
	return fd;
}

static void watch(int epoll, int how, int fd, uint32_t events, void *what)
{
	struct epoll_event event = {.events = events, .data.ptr = what};
	if (epoll_ctl(epoll, how, fd, &event) < 0)
		err(1, "epoll_ctl");
}

static void accept_all(int epoll, int listener)
{
	int on = 1;
	for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
		struct peer *p = calloc(1, sizeof(*p));
		if (!p)
			err(1, "peer");
		p->fd = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN, p);
	}
}

static void hang_up(struct peer *p)
{
	close(p->fd);
	free(p);
}

// False: the client is gone.
static bool send_answer(int epoll, struct peer *p)
{
	const struct answer *a = p->answer;
	bool was_waiting = p->sent > 0;
	ssize_t n = send(p->fd, a->data + p->sent, a->len - p->sent, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		return false;
	p->sent += n > 0 ? (size_t)n : 0;
	bool is_done = p->sent == a->len;
	if (is_done && a->is_last)
		return false;
	if (is_done) {
		p->answer = NULL;
		p->got = 0;
		p->sent = 0;
	}
	if (is_done == was_waiting)
		watch(epoll, EPOLL_CTL_MOD, p->fd, is_done ? EPOLLIN : EPOLLOUT, p);
	return true;
}

// False: the client is gone, or the file does not exist.
static bool take_request(int epoll, struct peer *p)
{
	ssize_t n = recv(p->fd, p->request + p->got, sizeof(p->request) - 1 - p->got, 0);
	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	p->got += (size_t)n;
	p->request[p->got] = '\0';
	if (!strstr(p->request, "\r\n\r\n"))
		return p->got < sizeof(p->request) - 1;
	size_t number = strtoul(p->request + strlen("GET /"), NULL, 10);
	if (number >= answer_count)
		return false;
	p->answer = &answers[number];
	return send_answer(epoll, p);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: floor FOLDER");
	while (load(argv[1], answer_count))
		answer_count++;
	int listener = start(), epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		err(1, "epoll");
	watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
	for (;;) {
		struct epoll_event event[EVENTS];
		int n = epoll_wait(epoll, event, EVENTS, -1);
		for (int i = 0; i < n; i++) {
			struct peer *p = event[i].data.ptr;
			if (!p)
				accept_all(epoll, listener);
			else if (!(p->answer ? send_answer(epoll, p) : take_request(epoll, p)))
				hang_up(p);
		}
	}
}
