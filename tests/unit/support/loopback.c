// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/mem.h"

enum { HEAD_MAX = 8192 };

struct connection {
	struct connection *next;
	struct loopback *owner;
	int fd;
	pthread_t thread;
};

struct loopback {
	loopback_fn *fn;
	void *ctx;
	int fd;
	unsigned port;
	pthread_t thread;
	struct connection *connections; // used by the accepting thread, and after its end by loopback_free()
};

bool loopback_write(int fd, const char *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);
		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

bool loopback_send(int fd, const char *status, const char *headers, const char *body, size_t len)
{
	CLEANUP(mem_free)
	char *all = xasprintf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n%.*s", status, len, headers, (int)len, body);
	return loopback_write(fd, all, strlen(all));
}

// Reads one head byte by byte: it is small.
static bool read_head(int fd, char head[HEAD_MAX])
{
	for (size_t len = 0; len + 1 < HEAD_MAX; len++) {
		if (recv(fd, head + len, 1, 0) != 1)
			return false;
		head[len + 1] = '\0';
		if (len >= 3 && strcmp(head + len - 3, "\r\n\r\n") == 0)
			return true;
	}
	return false;
}

static void *serve_connection(void *ctx)
{
	struct connection *c = ctx;
	char head[HEAD_MAX], path[256];
	bool goes_on = true;
	while (goes_on && read_head(c->fd, head))
		goes_on = sscanf(head, "GET %255s", path) == 1 && c->owner->fn(c->owner->ctx, c->fd, path, head);
	shutdown(c->fd, SHUT_RDWR);
	return NULL;
}

static void *accept_all(void *ctx)
{
	struct loopback *l = ctx;
	int fd;
	while ((fd = accept(l->fd, NULL, NULL)) >= 0) {
		struct connection *c = xcalloc(1, sizeof(*c));
		*c = (struct connection){.next = l->connections, .owner = l, .fd = fd};
		l->connections = c;
		if (pthread_create(&c->thread, NULL, serve_connection, c) != 0)
			abort();
	}
	return NULL;
}

struct loopback *loopback_new(loopback_fn *fn, void *ctx)
{
	struct loopback *l = xcalloc(1, sizeof(*l));
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	*l = (struct loopback){.fn = fn, .ctx = ctx, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	if (l->fd < 0 || bind(l->fd, (struct sockaddr *)&at, size) < 0 || listen(l->fd, 128) < 0 ||
		getsockname(l->fd, (struct sockaddr *)&at, &size) < 0 ||
		pthread_create(&l->thread, NULL, accept_all, l) != 0)
		abort();
	l->port = ntohs(at.sin_port);
	return l;
}

unsigned loopback_port(const struct loopback *l)
{
	return l->port;
}

void loopback_free(struct loopback *l)
{
	shutdown(l->fd, SHUT_RDWR); // accept() fails
	pthread_join(l->thread, NULL);
	close(l->fd);
	struct connection *next;
	for (struct connection *c = l->connections; c; c = next) {
		next = c->next;
		shutdown(c->fd, SHUT_RDWR);
		pthread_join(c->thread, NULL);
		close(c->fd);
		free(c);
	}
	free(l);
}
